"""How far long work is: plain lines on a pipe, nothing where nobody listens."""

import sys
import threading
from types import SimpleNamespace

import pytest

from empirics import progress as said
from empirics.progress import progress


@pytest.fixture
def soon(monkeypatch):
    """Lines at once; a test waits for them, not for a clock."""
    monkeypatch.delenv(said.SILENCE, raising=False)
    monkeypatch.setattr(said, "FIRST", 0.0)
    monkeypatch.setattr(said, "EVERY", 0.01)


class Heard:
    """A standard error that tells when a line with certain words has come, and may be gone by then."""

    def __init__(self, wanted, gone=False):
        self.wanted, self.gone, self.lines, self.came = wanted, gone, [], threading.Event()

    def isatty(self):
        return False

    def write(self, text):
        self.lines.append(text)
        if self.wanted in text:
            self.came.set()
        if self.gone:
            raise BrokenPipeError

    def flush(self):
        pass


def test_on_a_pipe_long_work_says_what_it_is_without_being_asked(soon, monkeypatch):
    heard, now = Heard("7 of 16 done, about 1.5 min left, rounds=3"), [0.0]
    monkeypatch.setattr(sys, "stderr", heard)
    monkeypatch.setattr(said, "time", SimpleNamespace(monotonic=lambda: now[0]))
    with progress("worst cases of fedcog.theorem") as bar:
        bar.start(16)
        bar.doing("rounds=3")
        for _ in range(7):
            bar.step()
        now[0] = 70.0
        assert heard.came.wait(30)  # no step is made meanwhile: the line comes all the same
    assert any(text.startswith("fedbounds: worst cases of fedcog.theorem: 7 of 16 ") for text in heard.lines)


@pytest.mark.parametrize("gone", [False, True])
def test_progress_ends_where_the_work_fails_or_nobody_listens_any_more(soon, monkeypatch, gone):
    heard = Heard("doomed", gone)
    monkeypatch.setattr(sys, "stderr", heard)
    before = threading.active_count()

    def stopped():
        with progress("doomed"):
            assert heard.came.wait(30)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert threading.active_count() == before
