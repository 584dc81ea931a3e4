"""What tests of saving share."""

import pytest

import kernsel as ks


@pytest.fixture
def again(tmp_path):
    def saved_and_loaded(model, **options):
        path = tmp_path / "model.ksl"
        ks.save(model, path, **options)
        return ks.load(path)

    return saved_and_loaded
