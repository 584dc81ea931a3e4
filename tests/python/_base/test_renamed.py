"""Every refused name raises an error that says the name in use, wherever it may be given; files that hold it are read."""

import importlib
import json
import pickle

import numpy as np
import pytest
from sklearn.base import clone

import kernsel as ks
from kernsel import criteria
from kernsel._base import renamed
from kernsel.cli import main
from kernsel.estimators.interpolator import OF_SIZE, OF_SPREAD
from kernsel.kernels import RBF
from kernsel.plotting import PathDisplay
from kernsel.saving.container import read_container, write_container

X = np.linspace(0.0, 5.0, 25)[:, None]
y = np.sin(X[:, 0])


def path(**options):
    return ks.RegularizationPath(RBF(1.0), y, X=X, **options)


REFUSED_CRITERION = {
    "evaluate": lambda name: ks.evaluate(name, RBF(1.0), X, y, noise=0.1, sigma=0.1),
    "select": lambda name: ks.select(X, y, ["RBF"], name),
    "a path": lambda name: path(sigma=0.1).best(name),
    "a Gaussian process": lambda name: ks.GaussianProcessRegressor(criterion=name).fit(X, y),
    "KernelRidge": lambda name: ks.KernelRidge(alpha="auto", criterion=name, sigma=0.1).fit(X, y),
    "KernelRidgeCV": lambda name: ks.KernelRidgeCV(criterion=name, sigma=0.1).fit(X, y),
    "RidgeRegression": lambda name: ks.RidgeRegression(criterion=name, sigma=0.1).fit(X, y),
    "a plot": lambda name: PathDisplay(path=path(sigma=0.1), rules=[name]),
}


@pytest.mark.parametrize(("old", "new"), renamed.CRITERIA.items())
@pytest.mark.parametrize("where", REFUSED_CRITERION)
def test_criteria(old, new, where):
    with pytest.raises(ValueError, match=f'^(criterion|rule|rules): "{old}" is called "{new}"$'):
        REFUSED_CRITERION[where](old)


@pytest.mark.parametrize(("old", "new"), renamed.CRITERIA.items())
def test_criteria_on_the_command_line(old, new, capsys):
    with pytest.raises(SystemExit):
        main(["select", "some.csv", "--target", "y", "--criterion", old])
    assert f'"{old}" is called "{new}"' in capsys.readouterr().err


def test_arguments():
    for made in (path, lambda **options: ks.RegularizationPath.from_features(X, y, **options)):
        with pytest.raises(TypeError, match=r"^noise_std: this argument is called sigma$"):
            made(noise_std=0.1)
    with pytest.raises(TypeError, match="unexpected keyword argument 'nois'"):
        path(nois=0.1)


@pytest.mark.parametrize(
    ("made", "old", "new"),
    [
        (lambda: path(sigma=0.1), "noise_std", "sigma"),
        (lambda: ks.KernelRidgeCV().fit(X, y), "best_score_", "criterion_value_"),
        (lambda: ks.RidgeRegression().fit(X, y), "best_score_", "criterion_value_"),
    ],
)
def test_attributes(made, old, new):
    one = made()
    assert isinstance(getattr(one, new), float)
    with pytest.raises(AttributeError, match=f"^{old}: this attribute is called {new}$"):
        getattr(one, old)
    with pytest.raises(AttributeError, match=f"^{old}: this attribute is called {new}$"):
        getattr(type(one), old)
    assert not hasattr(one, old)


def test_estimators_with_refused_attributes_are_cloned_and_pickled():
    model = ks.KernelRidgeCV().fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert again.criterion_value_ == model.criterion_value_
    assert not hasattr(clone(model), "criterion_value_")


@pytest.mark.parametrize(("old", "new"), renamed.CRITERION_CLASSES.items())
def test_classes(old, new):
    with pytest.raises(AttributeError, match=f"^kernsel.criteria.{old}: is {new}$"):
        getattr(criteria, old)
    assert new in criteria.__all__
    assert isinstance(getattr(criteria, new)(), criteria.Criterion)
    with pytest.raises(AttributeError, match="has no attribute 'Anything'"):
        criteria.Anything  # noqa: B018


def with_refused_names(file, names):
    """Write the file of a model again, with the refused name for each of these."""
    container = read_container(file)
    text, arrays = container.metadata["model"], {name: np.array(container.array(name)) for name in container.tensors}
    for old, new in names.items():
        assert json.dumps(new) in text
        text = text.replace(json.dumps(new), json.dumps(old))
        arrays = {name.replace(new, old): values for name, values in arrays.items()}
    write_container(file, arrays, container.metadata | {"model": text})


VALUE = {"best_score_": "criterion_value_"}


@pytest.mark.parametrize(
    ("model", "names"),
    [
        (ks.KernelRidge("rbf", alpha="auto", criterion="risk", sigma=0.1), renamed.CRITERIA),
        (ks.KernelRidgeCV("rbf", criterion="risk", sigma=0.1), renamed.CRITERIA | VALUE),
        (ks.KernelRidgeCV("rbf", alpha_per_target=True), VALUE),
        (ks.RidgeRegression(criterion="risk", sigma=0.1), renamed.CRITERIA | VALUE),
        (ks.RidgeRegression(alpha_per_target=True), VALUE),
        (ks.GaussianProcessRegressor(criterion=criteria.MaximumAPosteriori()), renamed.CRITERION_CLASSES),
    ],
)
def test_files_with_refused_names_are_read(model, names, tmp_path):
    file = tmp_path / "model.ksl"
    model = clone(model).fit(X, np.column_stack([y, y**2]) if getattr(model, "alpha_per_target", False) else y)
    ks.save(model, file)
    with_refused_names(file, names)
    again = ks.load(file)
    assert again.get_params() == model.get_params()
    assert np.array_equal(again.criterion_value_, model.criterion_value_)
    assert again.predict(X) == pytest.approx(model.predict(X))


def test_a_file_of_an_interpolator_without_targets_is_read(tmp_path):
    file = tmp_path / "model.ksl"
    model = ks.KernelInterpolator().fit(X, y)
    ks.save(model, file)
    container = read_container(file)
    arrays = {name: np.array(container.array(name)) for name in container.tensors if not name.endswith("targets")}
    assert len(arrays) == len(container.tensors) - 1
    write_container(file, arrays, container.metadata)
    again = ks.load(file)
    assert np.linalg.norm(again.y_fit_ - y) <= OF_SPREAD * np.linalg.norm(y - y.mean()) + OF_SIZE * np.linalg.norm(y)
    assert np.array_equal(again.predict(X + 0.1), model.predict(X + 0.1))


@pytest.mark.parametrize("name", renamed.TOP_LEVEL)
def test_names_of_the_package(name):
    with pytest.raises(AttributeError, match=rf"^kernsel\.{name}: is ") as raised:
        getattr(ks, name)
    assert renamed.TOP_LEVEL[name] in str(raised.value)
    if " " not in renamed.TOP_LEVEL[name]:
        importlib.import_module(renamed.TOP_LEVEL[name].rpartition(".")[0])
    assert name not in dir(ks)


def test_few_names_at_the_top():
    assert len(ks.__all__) <= 43
    assert all(hasattr(ks, name) for name in ks.__all__)
    with pytest.raises(AttributeError, match="module 'kernsel' has no attribute 'gramm'"):
        _ = ks.gramm
