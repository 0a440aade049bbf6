"""Work at many points: refused when it would take hours."""

import pytest

from bounds.errors import BoundsError
from bounds.showing import waiting


def test_work_of_hours_is_refused_with_its_estimate(monkeypatch):
    now = 7.0
    monkeypatch.setattr(waiting, "perf_counter", lambda: now)

    def done(total, seconds):
        nonlocal now
        for done in waiting.watched(range(total), total):
            now += seconds(done)
        return done + 1

    with pytest.raises(BoundsError, match=r"90000 points .* 50 hours"):
        done(90_000, lambda done: 2.0)
    assert done(20_000, lambda done: 30.0 if done == 0 else 0.01) == 20_000  # the first point tells nothing of others
    assert done(5000, lambda done: 0.1 if done < 600 else 5.0) == 5000  # what becomes slow late is finished
