"""An empty store; the page of the explorer with every bound, in a browser that all tests share."""

import os

import pytest
from explorer_browser import browser
from figure_toys import MemoryStore


@pytest.fixture
def store():
    """An empty store of runs, in memory."""
    return MemoryStore()


@pytest.fixture(scope="session")
def file(tmp_path_factory):
    """The page of the whole catalogue, made once in a run of the suite, whichever process asks first."""
    from filelock import FileLock

    from figures.explorer.command import entries
    from figures.explorer.page import page as made

    folder = tmp_path_factory.getbasetemp()
    path = (folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder) / "explorer.html"
    with FileLock(f"{path}.lock"):
        if not path.exists():
            path.write_text(made(entries([])), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def shared():
    """A browser, with whatever the test before left in it."""
    with browser() as page:
        page.driver.set_script_timeout(300)  # a script draws thousands of times, on a busy machine too
        yield page


@pytest.fixture
def whole(shared, file):
    """The page just opened without its first story, the map drawn; it complains of nothing, and asks for nothing but
    itself."""
    shared.open(file, "#v=2")
    shared.complaints(), shared.requests()
    yield shared
    assert not shared.complaints()
    assert not [url for url in shared.requests() if not url.startswith((file.as_uri(), "data:", "about:", "blob:"))]
