// A covariance with its derivatives along one direction of each argument: the numbers v + a s + b t + c s t with s^2 = t^2 = 0.
#pragma once

namespace kernsel {

struct Jet {
  double v = 0.0, x = 0.0, z = 0.0, xz = 0.0;  // k, dk/dx_i, dk/dz_j, d^2k / dx_i dz_j

  Jet& operator+=(const Jet& other) {
    v += other.v;
    x += other.x;
    z += other.z;
    xz += other.xz;
    return *this;
  }
};

inline double dot(const Jet& a, const Jet& b) { return a.v * b.v + a.x * b.x + a.z * b.z + a.xz * b.xz; }
inline Jet operator*(double factor, const Jet& a) { return {factor * a.v, factor * a.x, factor * a.z, factor * a.xz}; }
inline Jet operator*(const Jet& a, const Jet& b) {
  return {a.v * b.v, a.x * b.v + a.v * b.x, a.z * b.v + a.v * b.z, a.xz * b.v + a.x * b.z + a.z * b.x + a.v * b.xz};
}

// The weights dJ/da of a factor a of a product a b, for weights W = dJ/d(a b).
inline Jet pull_factor(const Jet& W, const Jet& b) {
  return {dot(W, b), W.x * b.v + W.xz * b.z, W.z * b.v + W.xz * b.x, W.xz * b.v};
}

// A function g with its first three derivatives at some number.
struct Taylor {
  double g, g1, g2, g3;
};

// g(u) for g and its derivatives at u.v. Where u does not change, higher derivatives of g may be anything finite.
inline Jet compose(const Taylor& g, const Jet& u) { return {g.g, g.g1 * u.x, g.g1 * u.z, g.g2 * u.x * u.z + g.g1 * u.xz}; }

// The weights dJ/du for weights W = dJ/dg(u).
inline Jet pull_composed(const Jet& W, const Taylor& g, const Jet& u) {
  return {W.v * g.g1 + W.x * g.g2 * u.x + W.z * g.g2 * u.z + W.xz * (g.g3 * u.x * u.z + g.g2 * u.xz),
          W.x * g.g1 + W.xz * g.g2 * u.z, W.z * g.g1 + W.xz * g.g2 * u.x, W.xz * g.g1};
}

}  // namespace kernsel
