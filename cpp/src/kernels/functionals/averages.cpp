#include "kernels/functionals/averages.hpp"

#include <algorithm>
#include <cmath>

namespace kernsel {

namespace {

// m and its first three derivatives at some u, and if asked for its integrals F_1, which is odd, and F_2, F_2' = F_1.
struct Orders {
  double f[6];  // F_2, F_1, m, m', m'', m'''
  // The derivative of order r of m; -1 and -2 are the integrals.
  double of(int r) const { return f[r + 2]; }
};

Orders orders(LineKernel kernel, double u, bool integrals) {
  if (kernel == LineKernel::rbf) {
    const double m = std::exp(-0.5 * u * u);
    Orders all{{0.0, 0.0, m, -u * m, (u * u - 1.0) * m, (3.0 - u * u) * u * m}};
    if (integrals) {
      all.f[1] = 1.2533141373155003 * std::erf(u / std::sqrt(2.0));  // times (pi / 2)^(1/2)
      all.f[0] = u * all.f[1] + m;
    }
    return all;
  }
  const double sign = u > 0.0 ? 1.0 : u < 0.0 ? -1.0 : 0.0;
  const double c = kernel == LineKernel::matern12 ? 1.0 : kernel == LineKernel::matern32 ? std::sqrt(3.0) : std::sqrt(5.0);
  const double a = c * std::abs(u), e = std::exp(-a), c2 = c * c, c3 = c2 * c;
  double first = 0.0, second = 0.0;  // F_1 at |u|, and F_2
  if (kernel == LineKernel::matern12) {
    if (integrals) first = 1.0 - e, second = a + e;
    return {{second, sign * first, e, -sign * e, e, -sign * e}};
  }
  if (kernel == LineKernel::matern32) {
    if (integrals) first = (2.0 - (2.0 + a) * e) / c, second = (2.0 * a + (3.0 + a) * e) / c2;
    return {{second, sign * first, (1.0 + a) * e, -sign * c * a * e, -c2 * (1.0 - a) * e, sign * c3 * (2.0 - a) * e}};
  }
  if (integrals) {
    first = (8.0 - (8.0 + a * (5.0 + a)) * e) / (3.0 * c);
    second = (8.0 * a + (15.0 + a * (7.0 + a)) * e) / (3.0 * c2);
  }
  constexpr double third = 1.0 / 3.0;
  return {{second, sign * first, (1.0 + a + third * a * a) * e, -sign * c * third * a * (1.0 + a) * e,
           -c2 * third * (1.0 + a - a * a) * e, sign * c3 * third * a * (3.0 - a) * e}};
}

// Nodes and weights of Gauss's rule of ten points for the average over (-1, 1), one half of them.
constexpr double nodes[] = {0.14887433898163122, 0.43339539412924719, 0.67940956829902441, 0.86506336668898451,
                            0.97390652851717172};
constexpr double shares[] = {0.14776211235737644, 0.13463335965499818, 0.10954318125799102, 0.07472567457529030,
                             0.03333567215434407};

struct End {
  double t, density;
};

// Adds the part of the averages for t = x - z between two ends, between which the density of t is linear and m is smooth. With
// p + q t for the density and F_n the n-th integral of the derivative of order r,
//
//     int (p + q t) F_0 = [(p + q t) F_1] - q [F_2]
//
// and, since d/dlog l of the derivative is -r F_0 - t F_-1, by parts -[(p + q t) t F_0] + int ((1 - r) p + (2 - r) q t) F_0.
// The difference of integrals loses digits over an interval that is short beside l, where Gauss's rule has all of them.
void add_piece(LineKernel kernel, double l, const End& a, const End& b, int highest, LineAverages& to) {
  const double width = b.t - a.t;
  if (!(width > 0.0)) return;
  if (width <= l) {
    for (int i = 0; i < 10; ++i) {
      const double place = 0.5 + (i < 5 ? 0.5 : -0.5) * nodes[i % 5];
      const double t = a.t + place * width, density = a.density + place * (b.density - a.density);
      const double share = shares[i % 5] * width * density;
      const Orders at = orders(kernel, t / l, false);
      double power = 1.0;  // l^-r
      for (int r = 0; r <= highest; ++r, power /= l) {
        to.mean[r] += share * power * at.of(r);
        to.in_log_length[r] -= share * power * (r * at.of(r) + t / l * at.of(r + 1));
      }
    }
    return;
  }
  const Orders at_a = orders(kernel, a.t / l, true), at_b = orders(kernel, b.t / l, true);
  const double slope = (b.density - a.density) / width;
  double power = l;  // l^(1 - r)
  for (int r = 0; r <= highest; ++r, power /= l) {
    const auto integral = [&](double density_a, double density_b, double q) {
      return power * (density_b * at_b.of(r - 1) - density_a * at_a.of(r - 1)) -
             power * l * q * (at_b.of(r - 2) - at_a.of(r - 2));
    };
    to.mean[r] += integral(a.density, b.density, slope);
    const double edges = (b.density * b.t * at_b.of(r) - a.density * a.t * at_a.of(r)) * power / l;
    to.in_log_length[r] -= edges;
    to.in_log_length[r] += integral((1 - r) * a.density + slope * a.t, (1 - r) * b.density + slope * b.t, (2 - r) * slope);
  }
}

// As add_piece(), where m may have a kink at zero.
void add_line(LineKernel kernel, double l, const End& a, const End& b, int highest, LineAverages& to) {
  if (!(a.t < 0.0 && b.t > 0.0)) return add_piece(kernel, l, a, b, highest, to);
  const End middle{0.0, a.density + (b.density - a.density) * (a.t / (a.t - b.t))};
  add_piece(kernel, l, a, middle, highest, to);
  add_piece(kernel, l, middle, b, highest, to);
}

}  // namespace

LineAverages line_averages(LineKernel kernel, double l, const Interval& x, const Interval& z, int highest) {
  LineAverages all;
  if (!(x.width() > 0.0) && !(z.width() > 0.0)) {
    const double u = (x.lower - z.lower) / l;
    const Orders at = orders(kernel, u, false);
    double power = 1.0;
    for (int r = 0; r <= highest; ++r, power /= l) {
      all.mean[r] = power * at.of(r);
      all.in_log_length[r] = -power * (r * at.of(r) + u * at.of(r + 1));
    }
    return all;
  }
  // The density of x - z is a trapezoid.
  const double highest_density = 1.0 / std::max(x.width(), z.width());
  const double corner = x.lower - z.lower, other = x.upper - z.upper;
  const End ends[] = {{x.lower - z.upper, 0.0},
                      {std::min(corner, other), highest_density},
                      {std::max(corner, other), highest_density},
                      {x.upper - z.lower, 0.0}};
  for (int i = 0; i < 3; ++i) add_line(kernel, l, ends[i], ends[i + 1], highest, all);
  return all;
}

}  // namespace kernsel
