"""kernsel examples."""


def test_examples_are_listed_and_run(run):
    from kernsel import examples

    out = run("examples")[1]
    assert all(name in out for name in examples.names())
    code, out, _ = run("examples", "stopping_distances")
    assert code == 0
    assert out
