"""The Python of a report runs."""

import io
import re
from contextlib import redirect_stdout

import numpy as np
import pytest

pytest.importorskip("matplotlib")


@pytest.mark.parametrize("name", ["many", "stacked", "counts"])
def test_python_of_the_page_runs(made, tmp_path, monkeypatch, name):
    found, page = made(name)
    monkeypatch.chdir(tmp_path)
    found.save("model.ksl")
    program = next(pre["text"] for pre in page.all("pre") if "import kernsel" in pre["text"])
    said = io.StringIO()
    with redirect_stdout(said):
        exec(program, {})
    printed = [float(number) for number in re.findall(r"\d[\d.e+-]*|-[\d.e+-]+", said.getvalue())]
    promised = [float(number) for comment in re.findall("# (.*)", program) for number in comment.split(",")]
    np.testing.assert_allclose(printed, promised, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(promised[0], found.model.predict(found.model.X_train_[:1])[0], rtol=1e-4)
    assert any("load_model" in pre["text"] for pre in page.all("pre")) == (name != "stacked")  # C++ reads no mixtures
