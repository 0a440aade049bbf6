"""An empty store; the page of the explorer with every bound, in a browser that the tests of a file share."""

import os

import pytest
from explorer_browser import browser, SINGLE

from empirics.experiments import Store
from figures.explorer.command import entries
from figures.explorer.page import page as made
from figures.regimes import Regime


@pytest.fixture
def store(tmp_path):
    """An empty store of runs."""
    return Store(tmp_path / "store")


@pytest.fixture
def in_regime(monkeypatch):
    """Hand-made runs are judged although they are short."""
    monkeypatch.setattr(Regime, "missed", False)


@pytest.fixture(scope="session")
def file(tmp_path_factory):
    """The page of the whole catalogue, made once in a run of the suite, whichever process asks first."""
    from filelock import FileLock

    folder = tmp_path_factory.getbasetemp()
    path = (folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder) / "explorer.html"
    with FileLock(f"{path}.lock"):
        if not path.exists():
            path.write_text(made(entries([])), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def shared():
    """A browser, with whatever the test before left in it."""
    with browser() as page:
        page.driver.set_script_timeout(300)  # a script draws thousands of times, on a busy machine too
        yield page


@pytest.fixture
def used(shared, file):
    """The page as the test before left it, complaining of nothing: for tests that choose a bound, and so begin anew."""
    if not shared.driver.current_url.startswith(file.as_uri()):
        shared.open(file, SINGLE)
    shared.complaints()
    yield shared
    assert not shared.complaints()


@pytest.fixture
def page(shared, file):
    """A freshly opened page at its first bound, which complains of nothing and asks for nothing but itself."""
    shared.open(file, SINGLE)
    shared.complaints(), shared.requests()
    yield shared
    assert not shared.complaints()
    assert not [url for url in shared.requests() if not url.startswith((file.as_uri(), "data:", "about:"))]
