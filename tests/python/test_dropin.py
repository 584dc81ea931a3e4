"""The plugin that runs scikit-learn's tests with our classes runs them with ours, or not at all."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import children

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no fork on this system")
TESTS = "sklearn.tests.test_kernel_ridge"
ONE = "test_kernel_ridge_precomputed_kernel_unchanged"


# Runs pytest once for each line that it reads, in a child each time: to import all this takes longer than to run the tests.
PROGRAM = """
import json, os, sys
import matplotlib.pyplot, pytest, kernsel
import sklearn.gaussian_process, sklearn.kernel_ridge, sklearn.svm, sklearn.utils.estimator_checks

for line in sys.stdin:
    folder, arguments = json.loads(line)
    if os.fork() == 0:
        with open(os.path.join(folder, "output"), "w") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        sys.path[:0] = [folder, "."]
        status = pytest.main(arguments)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    print(os.waitstatus_to_exitcode(os.wait()[1]), flush=True)
"""


@pytest.fixture(scope="module")
def runner(tmp_path_factory):
    command = [sys.executable, "-c", PROGRAM]
    root = Path(__file__).parents[2]
    errors = tmp_path_factory.mktemp("dropin") / "errors"
    with (
        errors.open("w") as file,
        subprocess.Popen(
            command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=file, text=True, env=children.environment()
        ) as process,
    ):
        yield process
        process.stdin.close()
    assert process.returncode == 0, errors.read_text()


@pytest.fixture
def run(runner, tmp_path):
    """Return a function that runs pytest with the plugin, and with other plugins before and after it."""

    def with_plugins(*arguments, before="", after=""):
        (tmp_path / "before.py").write_text(before)
        (tmp_path / "after.py").write_text(after)
        plugins = [
            "-p",
            "no:cacheprovider",
            "-p",
            "no:hypothesispytest",
            "-p",
            "before",
            "-p",
            "tests.dropin.plugin",
            "-p",
            "after",
        ]
        given = [str(tmp_path), ["-q", "-n", "0", "--disable-warnings", *plugins, "--pyargs", *arguments]]
        print(json.dumps(given), file=runner.stdin, flush=True)
        status = int(runner.stdout.readline())
        return status, (tmp_path / "output").read_text()

    return with_plugins


def test_it_runs_with_ours_and_counts(run):
    code, text = run(TESTS, "-k", ONE)
    assert code == 0, text
    assert "KernelRidge: 1 tests: 1 passed\n" in text


EXCEPTED = f"import tests.dropin.plugin as plugin\nplugin.EXCEPTIONS = {{'{TESTS}::{ONE}': 'a reason'}}"
FAILING = "import kernsel\nkernsel.KernelRidge.fit = None"


@pytest.mark.parametrize(
    ("before", "status", "message"),
    [("", 1, "1 failed, not as EXCEPTIONS say"), (FAILING, 0, "1 failed, as EXCEPTIONS say")],
)
def test_exceptions_are_strict(run, before, status, message):
    code, text = run(TESTS, "-k", ONE, before=before, after=EXCEPTED)
    assert code == status, text
    assert f"KernelRidge: 1 tests: {message}\n" in text
    assert f"{TESTS}::{ONE}: a reason\n" in text


def test_an_exception_that_names_no_test_is_noticed(run):
    code, text = run(TESTS, after=EXCEPTED.replace(ONE, "test_gone") + "\nplugin.LATEST = (1, 0)")
    assert code != 0, text
    assert f"has no tests {TESTS}::test_gone\n" in text


THEIRS = "import sklearn.kernel_ridge as k\ntheirs = k.KernelRidge\n"


@pytest.mark.parametrize(
    ("before", "message"),
    [
        (f"import {TESTS}", "KernelRidge: too late to replace it"),
        (f"{THEIRS}import kernsel\nkernsel.KernelRidge = theirs", "nothing that would replace it"),
        # Theirs comes back when the tests are about to be imported,
        (f"{THEIRS}def pytest_collection():\n    k.KernelRidge = theirs", "would test scikit-learn's own KernelRidge"),
        # or while they run.
        (
            f"{THEIRS}def pytest_runtest_call(item):\n    item.module.KernelRidge = theirs",
            "scikit-learn's own KernelRidge was about to be tested",
        ),
        (
            "import kernsel\ndel kernsel._MODULES['KernelRidge']",
            "KernelRidge: 10 tests: 10 not run, since kernsel has no such class",
        ),
    ],
)
def test_theirs_is_never_tested(run, before, message):
    code, text = run(TESTS, before=before)
    assert code != 0, text
    assert message in text
    assert " passed" not in text


SHARED = "sklearn.svm.tests.test_svm"


@pytest.mark.slow
def test_of_a_module_with_other_classes_those_tests_that_call_ours(run):
    code, text = run(SHARED, "-vv", "-rN")
    assert code == 0, text
    for name in (
        "test_svr ",
        "test_svr_predict[42] ",
        "test_n_support[SVR] ",
        "test_svm_regressor_sided_sample_weight[estimator0] ",
    ):
        assert name in text
    for name in ("test_linearsvr_fit_sampleweight", "[NuSVR]", "[SVC]", "estimator1", "test_oneclass"):
        assert name not in text
    assert re.search(r"SVR: 1\d tests: .*1\d passed\n", text)


NEW = "import sklearn.svm as k\ntheirs = k.SVR\ntheirs.made = theirs.__init__\n"
BACK = "\n    theirs.__init__ = theirs.made\n"


@pytest.mark.parametrize(
    ("before", "message"),
    [
        (f"import {SHARED}", "SVR: too late to replace it"),
        # Theirs comes back in its module, before the tests are imported or while they run, or as a parameter.
        (f"{NEW}def pytest_collection():\n    k.SVR = theirs{BACK}", "would test scikit-learn's own SVR"),
        (f"{NEW}def pytest_runtest_call(item):\n    k.SVR = theirs", "scikit-learn's own SVR was about to be tested"),
        (
            f"{NEW}def pytest_itemcollected(item):\n    if hasattr(item, 'callspec'): item.callspec.params['Klass'] = theirs",
            "would test scikit-learn's own SVR",
        ),
    ],
)
def test_theirs_is_never_tested_in_a_shared_module(run, before, message):
    code, text = run(SHARED, "-k", "test_svr_coef_sign or test_n_support or test_svr_predict", before=before)
    assert code != 0, text
    assert message in text
    assert " passed" not in text


def test_other_tests_are_refused(run):
    code, text = run("sklearn.tests.test_init")
    assert code != 0, text
    assert f"this plugin is for {TESTS}" in text
