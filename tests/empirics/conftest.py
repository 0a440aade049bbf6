"""What tests of this room begin with: folders, and worker processes, which take seconds to start."""

import pytest

from empirics.experiments.store import Store
from empirics.training.engines import Workers


@pytest.fixture
def root(tmp_path, monkeypatch):
    """An empty folder of data sets."""
    monkeypatch.setenv("FEDBOUNDS_DATA", str(tmp_path))
    return tmp_path


@pytest.fixture
def store(tmp_path):
    """An empty store of results."""
    return Store(tmp_path / "store")


@pytest.fixture(scope="session")
def two():
    """Two worker processes; a test that ends them leaves it to the next to start others."""
    with Workers(2) as engine:
        yield engine
