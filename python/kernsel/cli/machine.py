"""A study as a JSON document."""

from __future__ import annotations

import kernsel as ks
from kernsel.cli.words import words_of
from kernsel.report.findings import findings_of
from kernsel.report.inputs import influences, inputs_of
from kernsel.report.parameters import numbers_of
from kernsel.study import Study, plain
from kernsel.study.all_rows import LearntFromAll

__all__ = ["document_of"]


def document_of(study: Study, files: dict[str, str], learnt: LearntFromAll | None = None) -> dict[str, object]:
    """Return a study and its chosen model as values of JSON; None stands for nan and infinity.

    Of stacked processes, the kernel and its numbers are those of the likeliest.

    Parameters
    ----------
    study : Study
    files : dict of str to str
        The files that were written, by "model" and "report".
    learnt : LearntFromAll, optional
        The same with a model of all rows of a file that does not fit into memory.
    """
    lengths = [one for one in numbers_of(study) if one.what == "length scale"]
    chosen = {
        "kernel": study.line.kernel,
        "fitted": str(study.process.kernel_),
        "repr": repr(study.process.kernel_),
        "noise": study.noise,
        "combined": [{"kernel": one.kernel, "fitted": one.fitted, "weight": one.weight} for one in study.combined],
        "words": words_of(study).split("\n"),
        **_left_out(study),
        "approximation": study.approximation,
        "at_bounds": study.process.selection_.at_bounds,
        "inputs": [
            {
                "name": one.input.name,
                "kind": one.input.kind,
                "alone": one.alone,
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
    if learnt is not None:
        values["all_rows"] = plain(
            {
                "rows": learnt.rows,
                "landmarks": learnt.landmarks,
                "missing": learnt.missing,
                "test": learnt.study.test,
                "saved": learnt.is_better,
                "seconds": learnt.seconds,
            }
        )
    return {"kernsel": ks.__version__} | values


def _left_out(study: Study) -> dict[str, object]:
    """Return the leave-one-out scores of the model; None for each if there are none."""
    try:
        found = findings_of(study)
    except ValueError:  # a trend may have no fit without one of the rows
        return dict.fromkeys(("loo_rmse", "loo_rmse_of_mean", "loo_log_density", "explained", "coverage", "verdict"))
    return {
        "loo_rmse": found.rmse,
        "loo_rmse_of_mean": found.rmse_of_mean,
        "loo_log_density": found.log_density,
        "explained": found.explained,
        "coverage": found.within / len(found.truth),
        "verdict": found.verdict,
    }
