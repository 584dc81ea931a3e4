// Models from files: JSON, kernels as JSON, predictions against formulas, and files that are damaged or malicious.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "base/numbers.hpp"
#include "check.hpp"
#include "kernsel/functionals.hpp"
#include "kernsel/gram.hpp"
#include "kernsel/kernel_json.hpp"
#include "kernsel/model.hpp"
#include "model_file.hpp"

using kernsel::Index;
using kernsel::Json;
using kernsel::Kernel;
using kernsel::Model;
using kernsel::Status;
using kernsel::View;

namespace {

const char* const path = "test_model.ksl";

bool is_json(const std::string& text) {
  Json value;
  return kernsel::parse_json(text, value).ok();
}

void test_json() {
  Json value;
  CHECK(kernsel::parse_json(R"( {"a" : [1, -2.5e-3, true, false, null], "b\u00e9\ud83d\ude00\n": {}} )", value).ok());
  CHECK(value.find("a") != nullptr && value.find("a")->items.size() == 5);
  CHECK(value.find("a")->items[1].number == -2.5e-3);
  CHECK(value.find("b\xC3\xA9\xF0\x9F\x98\x80\n") != nullptr);
  CHECK(value.find("c") == nullptr);
  for (const char* text : {"0", "-0", "0e-999", "1e5", "1E+5", "0.5", "4e-320", "\"\"", "[]", "{}", " null "})
    CHECK(is_json(text));
  for (const char* text : {"",
                           " ",
                           "01",
                           "1.",
                           ".5",
                           "+1",
                           "-",
                           "1e",
                           "0x1",
                           "inf",
                           "NaN",
                           "1e999",
                           "1e-999",
                           "nul",
                           "[1,]",
                           "[,]",
                           "[1 2]",
                           "{1:2}",
                           "{\"a\"}",
                           "{\"a\":}",
                           "{\"a\":1,}",
                           "\"",
                           "\"\n\"",
                           "\"\\x\"",
                           "\"\\u12\"",
                           "\"\\u12g4\"",
                           "\"\\ud800\"",
                           "\"\\udc00\"",
                           "\"\\ud800\\u0041\"",
                           "1 2",
                           "[",
                           "{",
                           "{\"a\":1",
                           "]",
                           "\"\\",
                           R"({"a":1,"a":2})"})
    CHECK(!is_json(text));
  CHECK(is_json(std::string(200, '[') + std::string(200, ']')));
  CHECK(!is_json(std::string(300, '[') + std::string(300, ']')));
  CHECK(!is_json(std::string(1'000'000, '[')));
  std::string many = "[0";
  for (int i = 0; i < 1'000'000; ++i) many += ",0";
  CHECK(!is_json(many + "]"));
  for (const double number : {0.1, -1.0 / 3.0, 5e-324, 1.7976931348623157e308, 123456789.0}) {
    std::string text;
    kernsel::append_number(text, number);
    CHECK(kernsel::parse_json(text, value).ok() && value.number == number);
  }
}

std::vector<double> matrix(const Kernel& k, const std::vector<double>& X, Index n) {
  std::vector<double> K(static_cast<std::size_t>(n * n));
  CHECK(kernsel::gram<double>(k, kernsel::rows(X.data(), n, 2), kernsel::rows(K.data(), n, n)).ok());
  return K;
}

void test_kernels() {
  const Index n = 7;
  std::vector<double> X = random_numbers<double>(2 * n, 3);
  const Kernel base = kernsel::rbf({0.7, 1.5});
  const std::vector<Kernel> kernels = {
      2.0 * base + kernsel::white(0.1),
      (base + kernsel::constant(0.5)) * kernsel::matern(0.8, {2.0}) * kernsel::brownian(),
      kernsel::pow(base, 0.3) + kernsel::pow(kernsel::dot_product(0.3), 3.0) + kernsel::exp(kernsel::polynomial(0.0, 2)),
      kernsel::series({1.0, 0.0, 0.5}, kernsel::on(kernsel::rational_quadratic(0.4, {1.0}), {1})),
      kernsel::compose(kernsel::exponential({2.0}), kernsel::normalize(kernsel::polynomial(0.5, 2, {3.0}))),
      kernsel::quadratic_form({1.0, -0.5, 0.2, 0.3}, 2) + kernsel::transform(base, {1.0, 0.0, 0.3, 1.0}, 2),
      kernsel::product_matern(1.5, {0.3, 0.4}) + kernsel::product_matern(3.25, {1.0}) + kernsel::wendland(2, {4.0}),
      kernsel::arc_cosine(2, 0.1, {1.0}) + kernsel::radial_pair({2.0}) + kernsel::sigmoid(-0.2, {3.0}),
      base * kernsel::on(kernsel::exchangeable(0.3), {0}),
      kernsel::periodic(1.2, {2.0}) + kernsel::spectral_mixture({1.0, 0.5}, {{1.0}, {2.0}}, {{3.0}, {4.0}}),
  };
  for (const Kernel& k : kernels) {
    std::string json, again;
    Kernel read = kernsel::constant(1.0);
    CHECK(kernsel::kernel_to_json(k, json).ok());
    CHECK(kernsel::kernel_from_json(json, read).ok());
    CHECK(matrix(read, X, n) == matrix(k, X, n));
    CHECK(read.theta() == k.theta());
    CHECK(kernsel::kernel_to_json(read, again).ok() && again == json);
  }
  std::string json;
  // Slopes at 0 and 0.5, of one column. A kernel in many places is computed once.
  Kernel shared = kernsel::rbf({0.7});
  for (int i = 0; i < 60; ++i) shared = 0.1 * (kernsel::exp(shared) * shared);
  for (const Kernel& k : {kernsel::functionals(2.0 * kernsel::matern52({0.7})), kernsel::functionals(shared)}) {
    const std::vector<double> of_slopes = {0.0, 0.0, 1.0, 0.5, 0.5, 1.0};
    std::vector<double> values(4);
    CHECK(k.check(3).ok() && !k.check(2).ok());
    CHECK(kernsel::gram<double>(k, kernsel::rows(of_slopes.data(), 2, 3), kernsel::rows(values.data(), 2, 2)).ok());
    CHECK(values[0] > 0.0 && values[0] == values[3]);
  }
  CHECK(kernsel::kernel_to_json(kernsel::functionals(base), json).ok() && json == R"(["functionals",["rbf",[0.7,1.5]]])");
  Kernel of_rows = base;
  CHECK(kernsel::kernel_from_json(json, of_rows).ok() && of_rows.check(5).ok());
  CHECK(of_rows.with_theta({0.0, 0.1}).theta() == base.with_theta({0.0, 0.1}).theta());
  CHECK(!kernsel::functionals(kernsel::white(1.0)).check(3).ok());
  CHECK(kernsel::kernel_to_json(2.0 * base + kernsel::white(0.1), json).ok());
  CHECK(json == R"(["sum",["scale",2,["rbf",[0.7,1.5]]],["white",0.1]])");
  const std::vector<double> K = {1.0, 0.5, 0.5, 1.0};
  Kernel read = base;
  CHECK(kernsel::kernel_to_json(kernsel::precomputed(kernsel::rows(K.data(), 2, 2)), json).ok());
  CHECK(kernsel::kernel_from_json(json, read).ok() && json == R"(["precomputed",2,[1,0.5,0.5,1]])");

  // Functions of the caller, infinite numbers, and expressions that are too deep or too long for a reader cannot be written.
  CHECK(!kernsel::kernel_to_json(base + kernsel::function({}), json).ok());
  CHECK(!kernsel::kernel_to_json(kernsel::rbf({std::numeric_limits<double>::infinity()}), json).ok());
  Kernel deep = base, wide = base, doubled = base;
  for (int i = 0; i < 300; ++i) deep = kernsel::exp(deep);
  for (int i = 0; i < 3000; ++i) wide = wide + base;
  for (int i = 0; i < 60; ++i) doubled = kernsel::exp(doubled) * doubled;
  CHECK(!kernsel::kernel_to_json(deep, json).ok());
  CHECK(!kernsel::kernel_to_json(doubled, json).ok());
  CHECK(kernsel::kernel_to_json(wide, json).ok());
  CHECK(kernsel::kernel_from_json(json, read).ok() && read.parameters() == 6002);

  for (const char* text :
       {"3", "[]", "[3]", "[\"rfb\",[1]]", "[\"rbf\"]", "[\"rbf\",1]", "[\"rbf\",[\"1\"]]", "[\"rbf\",[1],2]", "[\"white\"]",
        "[\"white\",[1]]", "[\"scale\",2]", "[\"scale\",2,3]", "[\"sum\",[\"white\",1]]", "[\"sum\"]",
        "[\"exp\",[\"white\",1],[\"white\",1]]", "[\"on\",0,[\"white\",1]]", "[\"function\"]", "[\"warp\",[\"white\",1]]"})
    CHECK(!kernsel::kernel_from_json(text, read).ok());
  // These texts are kernels, but with parameters that are not allowed for points with two columns.
  for (const char* text : {"[\"rbf\",[]]",
                           "[\"rbf\",[-1]]",
                           "[\"matern\",5e-324,[1]]",
                           "[\"product_matern\",0,[1]]",
                           "[\"matern\",1e300,[1]]",
                           "[\"polynomial\",0,1e300,[]]",
                           "[\"polynomial\",0,-1,[]]",
                           "[\"wendland\",0.5,[1]]",
                           "[\"arc_cosine\",1e18,0,[1]]",
                           "[\"on\",[1e300],[\"rbf\",[1]]]",
                           "[\"on\",[-1],[\"rbf\",[1]]]",
                           "[\"project\",1e300,[1],[\"rbf\",[1]]]",
                           "[\"project\",0,[1],[\"rbf\",[1]]]",
                           "[\"precomputed\",1e9,[1]]",
                           "[\"precomputed\",2,[1]]",
                           "[\"precomputed\",0,[]]",
                           "[\"warped_inputs\",1,1,[1,1,0],[\"rbf\",[1]]]",
                           "[\"warped_inputs\",9,1,[1],[\"rbf\",[1]]]",
                           "[\"warped_inputs\",1,1,[1,1,2,1],[\"rbf\",[1]]]",
                           "[\"warped_inputs\",1,1,[-1,1,0,1],[\"rbf\",[1]]]",
                           "[\"compose\",[\"white\",1],[\"rbf\",[1]]]",
                           "[\"series\",[],[\"rbf\",[1]]]",
                           "[\"pow\",-1,[\"rbf\",[1]]]"}) {
    CHECK(kernsel::kernel_from_json(text, read).ok());
    CHECK(!read.check(2).ok());
  }
  // So are these, of levels, for points with one column.
  for (const char* text :
       {"[\"exchangeable\",1.5]", "[\"grouped_levels\",2,0.5,[0,0]]", "[\"grouped_levels\",0.5,0.5,[]]",
        "[\"correlated_levels\",0,[1,2]]", "[\"correlated_levels\",1e300,[1,2]]", "[\"correlated_levels\",2,[1,2,3]]",
        "[\"coregion\",1,[1,2,3]]", "[\"coregion\",-1,[1,2]]", "[\"coregion\",0,[1,-2]]", "[\"loadings\",[]]",
        "[\"ordered_levels\",2,[1]]", "[\"ordered_levels\",0.5,[-1]]", "[\"ordered_levels\",0.5,[]]"}) {
    CHECK(kernsel::kernel_from_json(text, read).ok());
    CHECK(!read.check(1).ok());
  }
}

Status load(const std::string& bytes, Model& model) {
  std::ofstream(path, std::ios::binary) << bytes;
  return kernsel::load_model(path, model);
}

// A Gaussian process with two points, compared with formulas in which the inverse of the 2 x 2 matrix is written out.
void test_process() {
  Model model;
  CHECK(load(file_of(process, process_arrays()), model).ok());
  CHECK(model.estimator() == "GaussianProcessRegressor" && model.points() == 2 && model.columns() == 1 && model.outputs() == 1);
  CHECK(model.has_deviations() && model.kernel().theta() == (2.0 * kernsel::rbf({0.8})).theta());
  const auto k = [](double x, double z) { return 2.0 * std::exp(-0.5 * (x - z) * (x - z) / 0.64); };
  const double a = k(0.3, 0.3) + 0.1, b = k(0.3, 1.1), c = k(1.1, 1.1) + 0.2, det = a * c - b * b;
  const std::vector<double> z = {-0.4, 0.3, 2.5};
  std::vector<double> mean(3), deviation(3);
  const auto to = [](std::vector<double>& values) { return kernsel::rows(values.data(), 3, 1); };
  CHECK(model.predict(kernsel::rows(z.data(), 3, 1), to(mean), to(deviation)).ok());
  for (std::size_t i = 0; i < 3; ++i) {
    const double u = k(z[i], 0.3), v = k(z[i], 1.1);
    const double expected = (0.7 * u - 0.7 * v + 0.4) * 3.0 + 10.0;
    CHECK_BELOW(std::abs(mean[i] - expected), 1e3 * epsilon<double>() * 10.0);
    const double solved_u = (c * u - b * v) / det, solved_v = (a * v - b * u) / det;  // K~^-1 k(X, z)
    const double r = 1.0 - (solved_u + solved_v), information = (a + c - 2.0 * b) / det;
    const double variance = 2.0 - (u * solved_u + v * solved_v) + r * r / information;
    CHECK_BELOW(std::abs(deviation[i] - std::sqrt(variance * 1.5) * 3.0), 1e3 * epsilon<double>() * 10.0);
  }
  CHECK(!model.predict(kernsel::rows(z.data(), 1, 3), to(mean)).ok());
  CHECK(!model.predict(kernsel::rows(z.data(), 2, 1), to(mean)).ok());
  CHECK(!model.predict(kernsel::rows(z.data(), 3, 1), to(mean), kernsel::rows(deviation.data(), 1, 3)).ok());
  CHECK(model.predict(kernsel::rows(z.data(), 0, 1), kernsel::rows(mean.data(), 0, 1), kernsel::rows(mean.data(), 0, 1)).ok());
  const Model none;
  CHECK(none.estimator().empty() && !none.predict(kernsel::rows(z.data(), 3, 1), to(mean)).ok());
}

void test_linear() {
  Model model;
  const std::string text = R"({"estimator":"RidgeRegression","columns":2,"core_kernel":["polynomial",0,1,[]],"features":null})";
  CHECK(load(file_of(text, {{"coefficients", {2, 2}, {1.0, 2.0, 3.0, 4.0}}, {"offset", {2}, {5.0, 6.0}}}), model).ok());
  const std::vector<double> z = {1.0, 10.0};
  std::vector<double> mean(2);
  CHECK(model.predict(kernsel::rows(z.data(), 1, 2), kernsel::rows(mean.data(), 1, 2)).ok());
  CHECK(mean == (std::vector<double>{36.0, 48.0}));
  CHECK(!model.predict(kernsel::rows(z.data(), 1, 2), kernsel::rows(mean.data(), 1, 2), kernsel::rows(mean.data(), 1, 2)).ok());
}

// Loads a file and predicts with the model: returns whether both succeed, and must not crash if they fail.
bool survives(const std::string& bytes) {
  Model model;
  if (!load(bytes, model).ok()) return false;
  std::vector<double> z(static_cast<std::size_t>(3 * model.columns())), mean(static_cast<std::size_t>(3 * model.outputs())),
      deviation(mean);
  const auto Z = kernsel::rows(z.data(), 3, model.columns());
  const auto to = kernsel::rows(mean.data(), 3, model.outputs()), spread = kernsel::rows(deviation.data(), 3, model.outputs());
  return (model.has_deviations() ? model.predict(Z, to, spread) : model.predict(Z, to)).ok();
}

// Loads `count` variants of a valid file, each with up to four random changes: of a bit, of a byte, or parts copied over
// others.
void test_random_files(int count) {
  const std::string valid = file_of(process, process_arrays());
  std::mt19937 generator(5);
  const auto below = [&](std::size_t bound) { return static_cast<std::size_t>(generator() % bound); };
  for (int i = 0; i < count; ++i) {
    std::string mixed = valid;
    for (std::size_t change = 0; change <= below(4); ++change) {
      const std::size_t length = below(40), from = below(valid.size() - 40), to = below(valid.size() - 40);
      switch (below(4)) {
        case 0:
          mixed[below(valid.size())] ^= static_cast<char>(1 << below(8));
          break;
        case 1:
          mixed[below(valid.size())] = static_cast<char>(below(256));
          break;
        case 2:
          mixed[below(valid.size())] = "0123456789-+.e[]{}\",:"[below(22)];
          break;
        default:
          std::memmove(&mixed[to], &valid[from], length);
      }
    }
    (void)survives(mixed);
  }
}

void test_hostile_files() {
  const std::vector<Numbers> arrays = process_arrays();
  const std::string valid = file_of(process, arrays);
  CHECK(survives(valid));
  for (std::size_t length = 0; length < valid.size(); ++length) CHECK(!survives(valid.substr(0, length)));
  CHECK(!survives(valid + '\0'));
  for (std::size_t at = 0; at < valid.size(); ++at)
    for (const int bit : {0, 3, 6, 7}) {
      std::string flipped = valid;
      flipped[at] = static_cast<char>(flipped[at] ^ 1 << bit);
      (void)survives(flipped);
    }
  const std::string text = process;
  const auto with = [&](const std::string& old, const std::string& other) {
    std::string changed = text;
    return file_of(changed.replace(changed.find(old), old.size(), other), arrays);
  };
  for (const char* trend : {"\"cubic\"", "3", "[]", "\"linear\"", "\"quadratic\"", "null"})
    (void)survives(with("\"constant\"", trend));
  CHECK(!survives(with("\"constant\"", "\"linear\"")));
  for (const char* columns : {"0", "-1", "2", "0.5", "1e300", "9007199254740993", "\"1\"", "null"})
    CHECK(!survives(with("\"columns\":1", std::string("\"columns\":") + columns)));
  for (const char* jitter : {"-1", "null", "\"0\""}) CHECK(!survives(with("0.0", jitter)));
  for (const char* kernel : {"null", "3", "[\"rbf\",[1,2]]", "[\"on\",[1],[\"rbf\",[1]]]", "[\"precomputed\",1,[1]]",
                             "[\"constant\",1e308]", "[\"polynomial\",1e200,100,[]]"})
    CHECK(!survives(with("[\"scale\",2,[\"rbf\",[0.8]]]", kernel)));
  CHECK(!survives(with("[0.8]", "[" + std::string(100'000, '[') + "]")));

  for (std::size_t i = 0; i < arrays.size(); ++i) {
    std::vector<Numbers> other = arrays;
    other.erase(other.begin() + static_cast<std::ptrdiff_t>(i));
    (void)survives(file_of(process, other));
    for (const double value :
         {-1.0, 0.0, 1e308, 1e-320, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
      other = arrays;
      other[i].values[0] = value;
      const bool survived = survives(file_of(process, other));
      CHECK(!survived || std::isfinite(value));
    }
    for (const std::vector<Index>& shape : std::vector<std::vector<Index>>{{},
                                                                           {0},
                                                                           {-1},
                                                                           {1, 1, 2},
                                                                           {2, 2},
                                                                           {Index{1} << 62, 4},
                                                                           {Index{1} << 53},
                                                                           {Index{1} << 32, Index{1} << 32, 2},
                                                                           {0, Index{1} << 53}}) {
      other = arrays;
      other[i].shape = shape;
      (void)survives(file_of(process, other));
    }
    other = arrays;
    other[i].shape[0] = 0;
    other[i].values.clear();
    (void)survives(file_of(process, other));
  }
  Model model;
  CHECK(!kernsel::load_model("there is no such file", model).ok());
  CHECK(!kernsel::load_model(".", model).ok());
}

// Observations of a likelihood, whose latent function has the posterior of test_process: predictions are those of the
// likelihood for its means and variances. A model with it is written and read again, and what a file may say of one is in
// doubt.
void test_likelihoods() {
  const std::string text = process;
  const auto with = [&](const std::string& likelihood) {
    return file_of(text.substr(0, text.size() - 1) + R"(,"observed":{"core_likelihood":)" + likelihood + "}}",
                   process_arrays());
  };
  const std::vector<double> z = {-0.4, 0.3, 2.5}, exposure = {1.0, 2.0, 0.5}, levels = {0.1, 0.9};
  const auto Z = kernsel::rows(z.data(), 3, 1);
  namespace of = kernsel::likelihoods;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::pair<const char*, std::shared_ptr<const kernsel::Likelihood>> forms[] = {
      {R"(["gaussian",0.5])", of::gaussian(0.5)},
      {R"(["censored_gaussian",0.5,null,11])", of::censored_gaussian(0.5, -infinity, 11.0)},
      {R"(["censored_gaussian",0.5,9,null])", of::censored_gaussian(0.5, 9.0, infinity)},
      {R"(["student_t",0.5,4])", of::student_t(0.5, 4.0)},
      {R"(["laplace",0.5])", of::laplace(0.5)},
      {R"(["asymmetric_laplace",0.5,0.9])", of::asymmetric_laplace(0.5, 0.9)},
      {R"(["bernoulli_logit"])", of::bernoulli_logit()},
      {R"(["bernoulli_probit"])", of::bernoulli_probit()},
      {R"(["binomial"])", of::binomial()},
      {R"(["ordinal",-1,2.5])", of::ordinal({-1.0, 2.5})},
      {R"(["poisson"])", of::poisson()},
      {R"(["negative_binomial",2])", of::negative_binomial(2.0)},
      {R"(["gamma",3])", of::gamma(3.0)},
      {R"(["beta",5])", of::beta(5.0)},
      {R"(["log_normal",0.5,10])", of::log_normal(0.5, 10.0)},
      {R"(["logit_normal",0.5,2,0,20])", of::logit_normal(0.5, 2.0, 0.0, 20.0)},
      {R"(["box_cox",0.5,10,0.3])", of::box_cox(0.5, 10.0, 0.3)},
      {R"(["yeo_johnson",0.5,2,10,0.3])", of::yeo_johnson(0.5, 2.0, 10.0, 0.3)},
      {R"(["spline_normal",0.5,9,11,9,12,1,2])", of::spline_normal(0.5, {9.0, 11.0}, {9.0, 12.0}, {1.0, 2.0})},
  };
  for (const auto& [form, expected] : forms) {
    Model read, again;
    CHECK(load(with(form), read).ok());
    CHECK(kernsel::save_model(path, read).ok() && kernsel::load_model(path, again).ok());
    std::vector<double> f(3), deviation(3), mean(3), variance(3), quantiles(6), found(3);
    for (const Model* model : {&read, &again}) {
      CHECK(model->likelihood() && model->likelihood()->name() == expected->name());
      CHECK(model->predict(Z, kernsel::vector(f.data(), 3), kernsel::vector(deviation.data(), 3)).ok());
      std::vector<double> spread(3);
      for (std::size_t i = 0; i < 3; ++i) spread[i] = deviation[i] * deviation[i];
      const bool sized = expected->name() == "poisson";
      const double* size = sized ? exposure.data() : nullptr;
      CHECK(model->predict_observations(Z, size, mean.data(), variance.data()).ok());
      CHECK(model->predict_quantiles(Z, size, levels, kernsel::rows(quantiles.data(), 3, 2)).ok());
      const kernsel::LatentNormal latent{3, f.data(), spread.data(), size};
      CHECK(expected->predict(latent, found.data(), deviation.data()).ok());
      for (std::size_t i = 0; i < 3; ++i) {
        // Variances are squares of rounded roots here, by which means of exp(f) change relatively as much.
        CHECK_BELOW(std::abs(mean[i] / found[i] - 1.0), 1e3 * epsilon<double>());
        CHECK_BELOW(std::abs(variance[i] - deviation[i]), 1e3 * epsilon<double>() * (variance[i] + deviation[i]));
      }
      for (std::size_t k = 0; k < 2; ++k) {
        CHECK(expected->predict_quantile(latent, std::vector<double>(3, levels[k]).data(), found.data()).ok());
        for (std::size_t i = 0; i < 3; ++i)
          CHECK_BELOW(std::abs(quantiles[2 * i + k] - found[i]), 1e-9 * std::max(std::abs(found[i]), 1.0));  // of its search
      }
    }
    CHECK(!read.append(Z, kernsel::vector(z.data(), 3), kernsel::vector(exposure.data(), 3)).ok() && !read.remove(0).ok());
  }
  for (const char* wrong : {"null",
                            "3",
                            "[]",
                            "[3]",
                            R"(["poison"])",
                            R"(["poisson",1])",
                            R"(["student_t",1])",
                            R"(["student_t",1,1])",
                            R"(["student_t",-1,4])",
                            R"(["gamma",0])",
                            R"(["gamma",null])",
                            R"(["gamma","1"])",
                            R"(["ordinal"])",
                            R"(["ordinal",1,1])",
                            R"(["ordinal",null])",
                            R"(["censored_gaussian",1,2,2])",
                            R"(["censored_gaussian",1,2])",
                            R"(["asymmetric_laplace",1,1])",
                            R"(["log_normal",1,0])",
                            R"(["logit_normal",1,1,2,2])",
                            R"(["box_cox",1,1,2.5])",
                            R"(["yeo_johnson",1,1,null,1])",
                            R"(["spline_normal",1,0,0,0,1,1,1])",
                            R"(["spline_normal",1,0,1,0])",
                            R"(["spline_normal",1,0,1,0,1,1,0])",
                            R"({"poisson":1})"}) {
    Model model;
    CHECK(!load(with(wrong), model).ok());
  }
  Model none;
  CHECK(load(file_of(process, process_arrays()), none).ok() && !none.likelihood());
  std::vector<double> mean(3), variance(3);
  CHECK(!none.predict_observations(Z, nullptr, mean.data(), variance.data()).ok());
  CHECK(none.set_likelihood(of::poisson()).ok());
  CHECK(none.predict_observations(Z, nullptr, mean.data(), variance.data()).ok());
  const std::vector<double> negative(3, -1.0);
  CHECK(!none.predict_observations(Z, negative.data(), mean.data(), variance.data()).ok());
  CHECK(!none.predict_quantiles(Z, nullptr, {0.0}, kernsel::vector(mean.data(), 3)).ok());
  CHECK(!none.predict_quantiles(Z, nullptr, levels, kernsel::vector(mean.data(), 3)).ok());
  kernsel::LikelihoodFunctions own;
  own.name = "own";
  CHECK(none.set_likelihood(of::of_functions(own)).ok() && !kernsel::save_model(path, none).ok());
  CHECK(!Model().set_likelihood(of::poisson()).ok());
}

// A posterior by neighbours and inducing points is in the file with its landmarks, and predicts the same.
void test_inducing_points() {
  const std::vector<double> x = random_numbers<double>(80, 7), z = random_numbers<double>(10, 8);
  std::vector<double> y(40), noise(40, 0.02);
  for (std::size_t i = 0; i < 40; ++i) y[i] = std::sin(x[2 * i]) + x[2 * i + 1];
  const auto X = kernsel::rows(x.data(), 40, 2), Z = kernsel::rows(z.data(), 5, 2);
  for (const kernsel::Basis::Kind trend : {kernsel::Basis::Kind::none, kernsel::Basis::Kind::linear}) {
    kernsel::VecchiaOptions options;
    options.neighbours = 6;
    options.inducing = 5;
    kernsel::VecchiaPosterior posterior;
    const Kernel k = 2.0 * kernsel::matern52({1.0, 2.0});
    CHECK(
        posterior.condition({k, X, kernsel::vector(y.data(), 40), kernsel::vector(noise.data(), 40), trend}, options, 8).ok());
    const Model model(std::move(posterior), {{3.0}, {10.0}, {1.5}}, 1e-12);
    CHECK(kernsel::save_model(path, model).ok());
    Model again;
    CHECK(kernsel::load_model(path, again).ok());
    std::vector<double> here(10), there(10);
    CHECK(model.predict(Z, kernsel::vector(here.data(), 5), kernsel::vector(here.data() + 5, 5)).ok());
    CHECK(again.predict(Z, kernsel::vector(there.data(), 5), kernsel::vector(there.data() + 5, 5)).ok());
    CHECK(here == there);
  }
}

// A posterior by landmarks is in the file with sums over its rows, which need not be kept, and predicts the same to the last
// bit; also after points were added.
void test_landmarks() {
  const std::vector<double> x = random_numbers<double>(80, 7), z = random_numbers<double>(10, 8);
  std::vector<double> y(40), noise(40, 0.02);
  for (std::size_t i = 0; i < 40; ++i) y[i] = std::sin(x[2 * i]) + x[2 * i + 1];
  const auto X = kernsel::rows(x.data(), 40, 2), Z = kernsel::rows(z.data(), 5, 2);
  const Kernel k = 2.0 * kernsel::matern52({1.0, 2.0});
  const auto predictions = [&](const Model& of) {
    std::vector<double> both(10);
    CHECK(of.predict(Z, kernsel::vector(both.data(), 5), kernsel::vector(both.data() + 5, 5)).ok());
    return both;
  };
  for (const kernsel::Basis::Kind trend : {kernsel::Basis::Kind::none, kernsel::Basis::Kind::linear})
    for (const bool keeps_rows : {true, false}) {
      kernsel::NystromOptions options;
      options.landmarks = 7;
      kernsel::NystromPosterior posterior;
      CHECK(posterior.condition({k, X, kernsel::vector(y.data(), 40), kernsel::vector(noise.data(), 40), trend}, options).ok());
      if (!keeps_rows) {
        const View<const double> landmarks = posterior.landmarks(), none{nullptr, 0, 2, 2, 1};
        options.given.assign(landmarks.data, landmarks.data + landmarks.rows * landmarks.cols);
        const kernsel::NystromSums sums = posterior.sums();
        CHECK(posterior.assume({k, none, {}, {}, trend}, options, sums).ok());
      }
      Model model(std::move(posterior), {{3.0}, {10.0}, {1.5}}, 1e-12), again;
      CHECK(kernsel::save_model(path, model).ok());
      CHECK(kernsel::load_model(path, again).ok());
      CHECK(again.points() == 40 && again.has_deviations());
      CHECK(predictions(again) == predictions(model));
      for (Model* one : {&model, &again})
        CHECK(one->append(Z.block(0, 0, 1, 2), kernsel::vector(y.data(), 1), kernsel::vector(noise.data(), 1)).ok());
      CHECK(again.points() == 41);
      CHECK(predictions(again) == predictions(model));
      CHECK(again.remove(40).ok() == keeps_rows);
    }

  // Sums that do not fit to the landmarks, or that are none.
  std::ifstream stream(path, std::ios::binary);
  const std::string file((std::istreambuf_iterator<char>(stream)), {});
  stream.close();  // Windows replaces no file that is open
  const auto changed = [&](const std::string& from, const std::string& to) {
    const auto found = file.find(from);
    CHECK(found != std::string::npos && from.size() == to.size());
    return survives(std::string(file).replace(found, from.size(), to));
  };
  CHECK(changed(R"(\"rows\":40)", R"(\"rows\":50)"));  // any number of rows that are not there
  CHECK(!changed(R"(\"rows\":40)", R"(\"rows\": 0)"));
  CHECK(!changed(R"(\"rows\":40)", R"(\"rows\":-1)"));
  CHECK(!changed(R"(\"bound\":true)", R"(\"bound\":1234)"));
  CHECK(!changed("\"landmark_moments\"", "\"landmark_Moments\""));
  CHECK(!changed("\"landmark_moments\":{\"dtype\":\"F64\",\"shape\":[10,10]",
                 "\"landmark_moments\":{\"dtype\":\"F64\",\"shape\":[50, 2]"));
  std::string negative = file;
  const std::size_t moments = file.size() - 8 * (9 + 1 + 10 + 100);  // after them: products, squares, and those of the trend
  for (std::size_t i = 0; i < 100; ++i) negative[moments + 8 * i + 7] = static_cast<char>(0xC0);
  CHECK(!survives(negative));

  // Refined means are those of the whole kernel matrix, and deviations stay.
  const kernsel::Conditioning given{k, X, kernsel::vector(y.data(), 40), kernsel::vector(noise.data(), 40), {}};
  kernsel::NystromOptions few;
  few.landmarks = 7;
  kernsel::NystromPosterior coarse;
  kernsel::Solution solution;
  CHECK(coarse.condition(given, few).ok());
  CHECK(kernsel::solve_by_conjugate_gradients(given, few, {}, solution).ok());
  Model of_few(std::move(coarse)), loaded;
  const std::vector<double> before = predictions(of_few);
  CHECK(of_few.refine(solution).ok());
  CHECK(kernsel::save_model(path, of_few).ok());
  CHECK(kernsel::load_model(path, loaded).ok());
  kernsel::DensePosterior exact;
  CHECK(exact.condition(given).ok());
  const std::vector<double> of_all = predictions(Model(std::move(exact))), after = predictions(of_few);
  CHECK(predictions(loaded) == after);
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(std::abs(after[i] - of_all[i]) < 1e-5);  // the residual, times the condition of a noise of 0.02
    CHECK(after[5 + i] == before[5 + i]);
  }
  CHECK(!loaded.remove(0).ok() && !loaded.append(Z, kernsel::vector(y.data(), 5), kernsel::vector(noise.data(), 5)).ok());
  solution.c.pop_back();
  CHECK(!of_few.refine(solution).ok() && !Model().refine(solution).ok());
}

// A model that was made in C++ is written, read and updated; its derivatives are compared with central differences.
void test_own_models() {
  const std::vector<double> x = random_numbers<double>(60, 5), z = random_numbers<double>(10, 6);
  std::vector<double> y(30), noise(30, 0.02);
  for (std::size_t i = 0; i < 30; ++i) y[i] = std::sin(x[2 * i]) + x[2 * i + 1];
  const auto X = kernsel::rows(x.data(), 30, 2), Z = kernsel::rows(z.data(), 5, 2);
  const Kernel k = 2.0 * kernsel::matern52({1.0, 2.0});
  kernsel::DensePosterior posterior;
  CHECK(posterior
            .condition({k, X, kernsel::vector(y.data(), 30), kernsel::vector(noise.data(), 30), kernsel::Basis::Kind::linear})
            .ok());
  const Model model(std::move(posterior), {{3.0}, {10.0}, {1.5}}, 1e-12);
  CHECK(kernsel::save_model(path, model).ok());
  Model again;
  CHECK(kernsel::load_model(path, again).ok());
  CHECK(again.points() == 30 && again.columns() == 2 && again.outputs() == 1 && again.has_deviations());
  const auto predictions = [&](const Model& of, View<const double> at) {
    std::vector<double> both(10);
    CHECK(of.predict(at, kernsel::vector(both.data(), 5), kernsel::vector(both.data() + 5, 5)).ok());
    return both;
  };
  const std::vector<double> here = predictions(model, Z), there = predictions(again, Z);
  for (std::size_t i = 0; i < 10; ++i) CHECK_BELOW(std::abs(here[i] - there[i]), 1e-10);

  std::vector<double> of_mean(10), of_deviation(10);
  CHECK(again.predict_gradient(Z, kernsel::rows(of_mean.data(), 5, 2), kernsel::rows(of_deviation.data(), 5, 2)).ok());
  for (std::size_t j = 0; j < 2; ++j) {
    std::vector<double> ahead = z, behind = z;
    for (std::size_t i = 0; i < 5; ++i) {
      ahead[2 * i + j] += 1e-5;
      behind[2 * i + j] -= 1e-5;
    }
    const std::vector<double> a = predictions(again, kernsel::rows<const double>(ahead.data(), 5, 2)),
                              b = predictions(again, kernsel::rows<const double>(behind.data(), 5, 2));
    for (std::size_t i = 0; i < 5; ++i) {
      CHECK_BELOW(std::abs((a[i] - b[i]) / 2e-5 - of_mean[2 * i + j]), 1e-6);
      CHECK_BELOW(std::abs((a[5 + i] - b[5 + i]) / 2e-5 - of_deviation[2 * i + j]), 1e-5);
    }
  }

  // After a point is appended and removed again, predictions are as before.
  const double target = 0.3, variance = 0.02;
  CHECK(again.append(Z.block(0, 0, 1, 2), kernsel::vector(&target, 1), kernsel::vector(&variance, 1)).ok());
  CHECK(again.points() == 31);
  CHECK_BELOW(1e-3, std::abs(predictions(again, Z)[0] - there[0]));
  CHECK(again.remove(30).ok());
  const std::vector<double> back = predictions(again, Z);
  for (std::size_t i = 0; i < 10; ++i) CHECK_BELOW(std::abs(back[i] - there[i]), 1e-8);

  CHECK(!kernsel::save_model("no/such/folder/model.ksl", model).ok());
  CHECK(!kernsel::save_model(path, Model()).ok());
  kernsel::DensePosterior of_function;
  kernsel::KernelFunction f;
  f.value = [](View<const double>, View<const double>, View<double> values) {
    for (Index i = 0; i < values.rows; ++i)
      for (Index j = 0; j < values.cols; ++j) values(i, j) = 1.0;
  };
  CHECK(of_function.condition({kernsel::function(f) + kernsel::white(1.0), X, kernsel::vector(y.data(), 30), {}}).ok());
  CHECK(!kernsel::save_model(path, Model(std::move(of_function))).ok());
}

}  // namespace

// The argument is the number of random files to try; a million takes some minutes.
int main(int argc, char** argv) {
  test_json();
  test_kernels();
  test_process();
  test_linear();
  test_likelihoods();
  test_own_models();
  test_hostile_files();
  test_inducing_points();
  test_landmarks();
  test_random_files(argc > 1 ? std::atoi(argv[1]) : 2000);
  std::remove(path);
  return report("model");
}
