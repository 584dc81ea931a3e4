"""What all acquisition functions have in common: derivatives, shapes, refusals."""

from functools import partial

import numpy as np
import pytest

from kernsel import design

import reference

R = np.random.default_rng(5).uniform(-1, 1, (6, 2))
ALL = {
    "LogExpectedImprovement": design.LogExpectedImprovement,
    "ExpectedImprovement": design.ExpectedImprovement,
    "with a margin": partial(design.ExpectedImprovement, margin=0.1),
    "with a best value": partial(design.LogExpectedImprovement, best=0.3),
    "ProbabilityOfImprovement": design.ProbabilityOfImprovement,
    "UpperConfidenceBound": design.UpperConfidenceBound,
    "KnowledgeGradient": design.KnowledgeGradient,
    "KnowledgeGradient, points": partial(design.KnowledgeGradient, points=R),
    "Variance": design.Variance,
    "VarianceReduction": partial(design.VarianceReduction, points=R),
}


@pytest.mark.parametrize("maximize", [True, False])
@pytest.mark.parametrize("name", ALL)
def test_derivatives(process, rng, name, maximize):
    acquisition = ALL[name](process(), maximize=maximize)
    Z = rng.uniform(-1, 1, (4, 2))
    value, slopes = acquisition.value_and_gradient(Z)
    assert (value.shape, slopes.shape) == ((4,), (4, 2))
    assert acquisition(Z) == pytest.approx(value, rel=1e-12)
    if acquisition.is_positive and not acquisition.is_logarithm:
        assert (value >= 0).all()
    differences, error = reference.central_differences(lambda z: acquisition(z.reshape(4, 2)).sum(), Z.ravel())
    assert (np.abs(slopes.ravel() - differences) <= 10 * error).all()


def test_bad_input(process):
    gp = process()
    with pytest.raises(ValueError, match=r"^X: expected 2 columns, as the process has, got 3$"):
        design.ExpectedImprovement(gp)(np.zeros((1, 3)))
    with pytest.raises(ValueError, match="NaN"):
        design.ExpectedImprovement(gp)([[0.0, np.nan]])
    for make, argument in (
        (partial(design.ExpectedImprovement, best=np.inf), "best"),
        (partial(design.ProbabilityOfImprovement, margin=-1.0), "margin"),
        (partial(design.UpperConfidenceBound, kappa="2"), "kappa"),
        (partial(design.KnowledgeGradient, noise=-1.0), "noise"),
    ):
        with pytest.raises(ValueError, match=f"^{argument}: expected a"):
            make(gp)
