"""kernsel demo."""

from kernsel.study import Study

from commands import CARS


def test_demo(run, folder):
    before = set(folder.iterdir())
    code, out, err = run("demo")
    assert code == 0
    assert "31 rows have the inputs of an earlier one" in err
    assert f"kernsel select {CARS} --target dist" in out
    assert "Mixed, by likelihood and by rows left out: " in out
    assert "kernsel demo --save cars.ksl --report cars.html" in out
    assert set(folder.iterdir()) == before
    assert run("demo", "--save", "demo.ksl", "--kernel", "RBF", "--quiet")[0] == 0
    assert Study.load("demo.ksl").names == ["speed"]
