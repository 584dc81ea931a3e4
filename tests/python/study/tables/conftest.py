"""Files that tests of tables read."""

import pytest


@pytest.fixture
def put(tmp_path):
    def write(text, name="data.csv", encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
        return str(path)

    return write
