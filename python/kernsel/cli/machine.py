"""A study as machines read it."""

from __future__ import annotations

from typing import Any

import kernsel as ks
from kernsel.cli.words import words_of
from kernsel.report.findings import findings_of
from kernsel.report.inputs import influences, inputs_of
from kernsel.report.parameters import numbers_of
from kernsel.study import Study, plain

__all__ = ["document_of"]


def document_of(study: Study, files: dict[str, str]) -> dict[str, Any]:
    """Return all that is known of a study, as JSON has it: what is no number is null.

    Parameters
    ----------
    study : Study
    files : dict of str to str
        What was written, by what it is.
    """
    lengths = [one for one in numbers_of(study) if one.what == "length scale"]
    chosen = {
        "kernel": study.lines[study.criterion][0].kernel,
        "fitted": str(study.model.kernel_),
        "repr": repr(study.model.kernel_),
        "noise": float(study.model.noise_),
        "words": words_of(study).split("\n"),
        **_left_out(study),
        "at_bounds": study.model.selection_.at_bounds,
        "inputs": [
            {
                "name": one.input.name,
                "kind": one.input.kind,
                "share": one.share,
                "length_scales": [
                    {"kernel": length.part, "column": length.column, "value": length.value}
                    for length in lengths
                    if length.column in [study.names[place] for place in one.input.places]
                ],
            }
            for one in influences(study, inputs_of(study))
        ],
    }
    values = study.as_json() | {"chosen": plain(chosen), "files": files}
    return {"kernsel": ks.__version__} | values


def _left_out(study: Study) -> dict[str, Any]:
    """Return what leaving rows out says of the model; nulls if that cannot be done."""
    try:
        found = findings_of(study)
    except ValueError:  # of a trend that needs each of the rows, say
        return dict.fromkeys(("loo_rmse", "loo_rmse_of_mean", "explained", "coverage", "verdict"))
    return {
        "loo_rmse": found.rmse,
        "loo_rmse_of_mean": found.rmse_of_mean,
        "explained": found.explained,
        "coverage": found.within / len(found.truth),
        "verdict": found.verdict,
    }
