"""How to go on: the model in Python, in C++ and on the command line; and what made this page."""

from __future__ import annotations

import platform
from datetime import UTC, datetime

import numpy as np
import scipy
import sklearn

from kernsel import _core
from kernsel.report.formats import count
from kernsel.report.markup import Html, Table, code, join, paragraph, program, section
from kernsel.study import Study

__all__ = ["made_by", "use"]


def use(study: Study, file: str) -> Html:
    """Return how to load the model, with a row of the data to try."""
    x = [float(f"{v:.6g}") for v in study.model.X_train_[0]]
    row = ", ".join(f"{v:g}" if len(x) > 6 else repr(v) for v in x)
    d = len(x)
    python = f'''import kernsel as ks

model = ks.load({file!r})
mean, std = model.predict([[{row}]], return_std=True)
'''
    cpp = f'''#include <cstdio>
#include <vector>

#include <kernsel/model.hpp>

int main() {{
  const std::vector<double> x{{{row}}};
  return 0;  // {d} {file}
}}
'''
    shell = f"kernsel predict {file} new.csv --output predictions.csv --intervals 95\n"
    names = join([code(name) for name in study.names[:40]], ", ")
    more = f" and {count(len(study.names) - 40)} more" if len(study.names) > 40 else ""
    return section(
        "use",
        "Use the model",
        join(
            [
                paragraph("For a file with the same columns:"),
                program(shell, "Command line"),
                paragraph("From Python; the columns are {}{}:", names, more),
                program(python, "Python"),
                paragraph("From C++, without Python:"),
                program(cpp, "C++"),
            ]
        ),
    )


def made_by(study: Study, command: str) -> Html:
    """Return what made this page."""
    rows = [
        ["kernsel", _core.version()],
        ["Python", platform.python_version()],
        ["NumPy", np.__version__],
        ["SciPy", scipy.__version__],
        ["scikit-learn", sklearn.__version__],
        ["instruction set", _core.isa()],
        ["made", datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")],
    ]
    said = paragraph("Command:") + program(command + "\n", "Command") if command else Html("")
    return section("made", "How this was made", said + Table("Versions", ["what", "version"], rows).html())
