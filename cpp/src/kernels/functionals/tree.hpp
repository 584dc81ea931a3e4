// An expression of kernels between functionals: a list of operations, children first, that computes a covariance of two
// functionals with its derivatives, and back.
#pragma once

#include "kernels/functionals/leaf.hpp"

namespace kernsel {

class FunctionalTree {
 public:
  // Makes the operations of a kernel of d columns. Returns what is wrong with it, or nullptr.
  const char* make(const Kernel& kernel, Index columns);

  // Returns what is wrong with the kernel for functionals that have an extent in some columns, and derivatives along some, or
  // nullptr; `boxed` and `along` have one entry for each column.
  const char* problem(const std::vector<char>& boxed, const std::vector<char>& along) const;

  std::size_t room() const { return 2 * operations_.size() + columns_; }
  // Returns the covariance, with derivatives where functionals have a column of one. `room` has place for room() jets.
  double value(const Functional& x, const Functional& z, Jet* room) const;
  // Adds the derivatives in the hyperparameters, multiplied by a weight.
  void pull(const Functional& x, const Functional& z, double weight, Jet* room, const Sums& to) const;

 private:
  enum class Kind : std::uint8_t { leaf, constant, sum, product, scale, power, exp };
  struct Operation {
    Kind kind;
    double number = 0.0;       // that of a constant, a scale or a power
    std::size_t a = 0, b = 0;  // children
    Index first_parameter = 0;
    std::unique_ptr<Leaf> leaf = {};
    std::vector<char> sees = {};  // whether the value depends on each of the columns
  };

  const char* add(const KernelNode& node, const std::vector<Index>& columns, Index first_parameter,
                  const std::vector<std::size_t>& children);
  void forward(const Functional& x, const Functional& z, Jet* room) const;
  static Taylor taylor(const Operation& operation, double u);

  std::vector<Operation> operations_;
  std::size_t columns_ = 0;
};

}  // namespace kernsel
