"""The last sections of a report: how to use the model in Python, in C++ and on the command line; and the versions."""

from __future__ import annotations

import json
import platform
import shlex
from datetime import UTC, datetime

import numpy as np
import scipy
import sklearn

from kernsel import _core
from kernsel.report.formats import count
from kernsel.report.markup import Html, Table, code, join, paragraph, program, section
from kernsel.study import Study

__all__ = ["made_by", "use"]

_NAMED = 40  # columns whose names are listed


def use(study: Study, file: str) -> Html:
    """Return the section with programs that load the model and predict the first row of the data."""
    x = [float(f"{v:.6g}") for v in study.model.X_train_[0]]
    row = ", ".join(f"{v:g}" for v in x)
    mean, std = study.model.predict([x], return_std=True, noisy=False)
    name = json.dumps(file, ensure_ascii=False)
    python = f"""import kernsel as ks

model = ks.load({file!r})
mean, std = model.predict([[{row}]], return_std=True, noisy=False)
print(mean, std)  # {mean[0]:.6g}, {std[0]:.6g}
"""
    cpp = f"""#include <cstdio>
#include <vector>

#include <kernsel/model.hpp>

int main() {{
  kernsel::Model model;
  kernsel::Status status = kernsel::load_model({name}, model);
  const std::vector<double> x{{{row}}};
  double mean = 0.0, deviation = 0.0;
  if (status.ok()) {{
    status = model.predict(kernsel::rows(x.data(), 1, {len(x)}), kernsel::rows(&mean, 1, 1), kernsel::rows(&deviation, 1, 1));
  }}
  if (!status.ok()) {{
    std::fprintf(stderr, "%s\\n", status.message);
    return 1;
  }}
  std::printf("%g %g\\n", mean, deviation);  // {mean[0]:.6g} {std[0]:.6g}
}}
"""
    if study.likelihood is not None:
        python, cpp = _of_likelihood(study, x, row, file, name)
    cmake = """find_package(kernsel REQUIRED)  # -Dkernsel_DIR=$(python -c "import kernsel; print(kernsel.get_cmake_dir())")
target_link_libraries(program PRIVATE kernsel::core)
"""
    shell = f"kernsel predict {shlex.quote(file)} new.csv --output predictions.csv --intervals 95\n"
    in_cpp = [paragraph("From C++, without Python:"), program(cpp, "C++"), program(cmake, "CMake")]
    if study.is_stacked:
        in_cpp = [paragraph("C++ reads single processes only: save one of model.estimators_ for it.", kind="note")]
    names = join([code(name) for name in study.names[:_NAMED]], ", ")
    more = f" and {count(len(study.names) - _NAMED)} more" if len(study.names) > _NAMED else ""
    return section(
        "use",
        "Use the model",
        join(
            [
                paragraph("For a file with the same columns, on the command line:"),
                program(shell, "Command line"),
                paragraph(
                    "From Python. The columns of X are {}{}. The first row that was learnt from gives what the comment says; "
                    "{}",
                    names,
                    more,
                    "the standard deviation is that of the function, without noise; noisy=True gives that of a new row."
                    if study.likelihood is None
                    else "the quantiles are of new rows.",
                ),
                program(python, "Python"),
                *in_cpp,
            ]
        ),
    )


def _of_likelihood(study: Study, x: list[float], row: str, file: str, name: str) -> tuple[str, str]:
    """Return programs in Python and C++ that predict observations of a likelihood."""
    mean = float(study.model.predict([x])[0])
    low, high = study.process.predict_quantiles([x], [0.05, 0.95])[0]
    python = f"""import kernsel as ks

model = ks.load({file!r})
print(model.predict([[{row}]]))  # {mean:.6g}
print(model.predict_quantiles([[{row}]], [0.05, 0.95]))  # {low:.6g}, {high:.6g}
"""
    cpp = f"""#include <cstdio>
#include <vector>

#include <kernsel/model.hpp>

int main() {{
  kernsel::Model model;
  kernsel::Status status = kernsel::load_model({name}, model);
  const std::vector<double> x{{{row}}};
  double mean = 0.0, variance = 0.0;
  std::vector<double> quantiles(2);
  const auto X = kernsel::rows(x.data(), 1, {len(x)});
  if (status.ok()) status = model.predict_observations(X, nullptr, &mean, &variance);
  if (status.ok()) status = model.predict_quantiles(X, nullptr, {{0.05, 0.95}}, kernsel::rows(quantiles.data(), 1, 2));
  if (!status.ok()) {{
    std::fprintf(stderr, "%s\\n", status.message);
    return 1;
  }}
  std::printf("%g %g %g\\n", mean, quantiles[0], quantiles[1]);  // {mean:.6g} {low:.6g} {high:.6g}
}}
"""
    return python, cpp


def made_by(command: str) -> Html:
    """Return the section with the command and the versions that made the page."""
    rows = [
        ["kernsel", _core.version()],
        ["Python", platform.python_version()],
        ["NumPy", np.__version__],
        ["SciPy", scipy.__version__],
        ["scikit-learn", sklearn.__version__],
        ["instruction set", _core.isa()],
        ["made", datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")],
    ]
    repeat = Html("")
    if command:
        repeat = program(command + "\n", "Command") + paragraph(
            "The same command on the same file gives the same model.", kind="note"
        )
    return section("made", "How this was made", repeat + Table("Versions", ["what", "version"], rows).html())
