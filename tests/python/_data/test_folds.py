"""Folds: the same meaning wherever a number, labels or a splitter are given."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, KFold, PredefinedSplit, RepeatedKFold, ShuffleSplit, TimeSeriesSplit

import kernsel as ks
from kernsel._data.folds import folds_of_rows, labels_of_folds, splits_of_folds
from kernsel.criteria import GroupsOut


def parts(labels):
    """Return a partition as a set of sets of points."""
    return {frozenset(np.flatnonzero(labels == one).tolist()) for one in np.unique(labels)}


def test_a_number_of_folds_is_shuffled_and_keeps_equal_rows_and_groups_whole(rng):
    X, y = rng.standard_normal((40, 2)), np.zeros(40)
    assert parts(labels_of_folds(4, X, y)) == {
        frozenset(test.tolist()) for _, test in KFold(4, shuffle=True, random_state=0).split(X)
    }
    twice = np.vstack([X, X])
    labels = labels_of_folds(4, twice, np.zeros(80))
    assert np.array_equal(labels[:40], labels[40:])
    assert parts(labels[:40]) == parts(labels_of_folds(4, X, y))
    groups = np.repeat(np.arange(8), 5)
    of_groups = labels_of_folds(4, X, y, groups)
    assert of_groups.max() == 3
    assert all(len(set(of_groups[groups == g])) == 1 for g in range(8))
    assert len(set(labels_of_folds(5, twice[[0, 1, 2, 40, 41, 42]], np.zeros(6)))) == 3  # at most one fold for each row


def test_splitters_of_scikit_learn(rng):
    X, y = rng.standard_normal((30, 2)), np.zeros(30)
    X[20:] = X[:10]
    groups = np.arange(30) % 6
    unequal = labels_of_folds(KFold(3), X, y)
    assert np.array_equal(unequal[20:], unequal[:10])
    assert unequal[:20].tolist() == [0] * 10 + [1] * 10
    assert parts(labels_of_folds(GroupKFold(6), X, y, groups)) == parts(groups)
    told = np.arange(30) % 4
    assert parts(labels_of_folds(told, X, y)) == parts(told)
    assert parts(labels_of_folds(PredefinedSplit(told), np.arange(30.0)[:, None], y)) == parts(told)


@pytest.mark.parametrize(
    ("splitter", "message"),
    [
        (TimeSeriesSplit(4), "never; closed forms need each point to be left out once; kernsel.nested_cv takes any splitter"),
        (RepeatedKFold(n_splits=3, n_repeats=2), "leaves out point 0 2 times"),
        (ShuffleSplit(1, test_size=0.5, random_state=0), "never"),
        ("five", "expected a number, a splitter, a list of splits, or one label"),
        (True, "expected a number, a splitter"),
    ],
)
def test_what_has_no_closed_form_is_refused(splitter, message):
    with pytest.raises(ValueError, match=message):
        labels_of_folds(splitter, np.arange(30.0)[:, None], np.zeros(30))


class _Gap(KFold):
    def split(self, X, *others):
        for train, test in super().split(X, *others):
            yield train[1:], test


def test_folds_that_drop_points_have_no_closed_form():
    X, y = np.arange(12.0)[:, None], np.zeros(12)
    with pytest.raises(ValueError, match=r"fold 1 of .* leaves out 4 of 12 points, but learns from 7 only"):
        labels_of_folds(_Gap(3), X, y)
    assert [len(train) for train, _ in splits_of_folds(_Gap(3), X, y)] == [7, 7, 7]


def test_refits_take_any_splitter_and_learn_from_no_row_that_is_left_out(rng):
    X = np.repeat(rng.standard_normal((12, 1)), 2, axis=0)
    y = np.zeros(24)
    for how in (TimeSeriesSplit(4), ShuffleSplit(5, random_state=0), 4, KFold(4, shuffle=True, random_state=1)):
        splits = splits_of_folds(how, X, y)
        assert len(splits) in (4, 5)
        assert not any(np.isin(X[train], X[test]).any() for train, test in splits)


def test_a_list_of_splits_is_a_splitter(rng):
    X, y = rng.uniform(size=(30, 1)), rng.standard_normal(30)
    splits = list(KFold(5, shuffle=True, random_state=1).split(X))
    expected = labels_of_folds(KFold(5, shuffle=True, random_state=1), X, y)
    assert np.array_equal(labels_of_folds(splits, X, y), expected)
    pairs = [(train.tolist(), test.tolist()) for train, test in splits]
    assert np.array_equal(labels_of_folds(tuple(pairs), X, y), expected)
    kept = np.arange(3, 30)
    assert np.array_equal(labels_of_folds(folds_of_rows(splits, kept, 30), X[kept], y[kept]), expected[kept])
    for model in (ks.KernelRidge("RBF"), ks.KernelRidgeCV("RBF"), ks.GaussianProcessRegressor("RBF"), ks.SVR("RBF")):
        by = [{"folds": f} if isinstance(model, ks.SVR) else {"criterion": GroupsOut(f)} for f in (splits, expected)]
        listed, labelled = (clone(model).set_params(**how).fit(X, y).criterion_value_ for how in by)
        assert listed == labelled
    left = ks.SVR("RBF", folds=splits).fit(X, y, np.arange(30) > 2)
    assert left.criterion_value_ == ks.SVR("RBF", folds=expected).fit(X, y, np.arange(30) > 2).criterion_value_
    assert ks.SVR("RBF", folds=[pairs[0]]).fit(X, y).criterion_value_ > 0  # refits need not leave out all points
    copied = ks.GaussianProcessRegressor(criterion=GroupsOut(np.append(expected, expected[:2])))
    assert len(copied.fit(np.vstack([X, X[:2]]), np.append(y, y[:2])).X_train_) == 32  # labels of rows are of all of them
    for bad, message in (
        (KFold(5).split(X), "give list"),
        (splits[:2], "the list of splits leaves out point"),
        ([(train[1:], test) for train, test in splits], "fold 1 of the list of splits leaves out 6 of 30 points, but"),
        ([(np.arange(30), np.arange(30, 40))], "fold 1 has indices from 0 to 39"),
        (["a", "b"], "a list of splits, or one label for each of 30 points"),
    ):
        with pytest.raises(ValueError, match=message):
            labels_of_folds(bad, X, y)
