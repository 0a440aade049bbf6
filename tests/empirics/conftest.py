"""What tests of this room begin with: empty folders."""

import pytest

from empirics.experiments.store import Store


@pytest.fixture
def root(tmp_path, monkeypatch):
    """An empty folder of data sets."""
    monkeypatch.setenv("FEDBOUNDS_DATA", str(tmp_path))
    return tmp_path


@pytest.fixture
def store(tmp_path):
    """An empty store of results."""
    return Store(tmp_path / "store")
