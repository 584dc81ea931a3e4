// A kernel of some columns of the points only.
#include "kernels/nodes/node.hpp"

namespace kernsel {

namespace {

class ColumnsNode final : public OperationNode<ColumnsNode> {
 public:
  ColumnsNode(const Kernel& k, std::vector<Index> columns) : columns_(std::move(columns)) { children = {k.node()}; }
  Status check(Index columns) const override {
    if (columns_.empty()) return Status::invalid("on: name at least one column");
    for (const Index column : columns_)
      if (column < 0 || column >= columns) return Status::invalid("on: a column that the points do not have");
    return {};
  }
  Expression expression() const override { return {"on", {}, {columns_.begin(), columns_.end()}}; }
  const std::vector<Index>* selected_columns() const override { return &columns_; }
  Index columns_inside(Index) const override { return static_cast<Index>(columns_.size()); }
  std::unique_ptr<Step<float>> bind(const Geometry<float>&, Status&) const override { return nullptr; }
  std::unique_ptr<Step<double>> bind(const Geometry<double>&, Status&) const override { return nullptr; }

 private:
  std::vector<Index> columns_;
};

}  // namespace

Kernel on(const Kernel& k, std::vector<Index> columns) { return Kernel(std::make_shared<ColumnsNode>(k, std::move(columns))); }

}  // namespace kernsel
