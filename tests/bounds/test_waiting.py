"""Work at many points: refused when it would take hours."""

import pytest

from bounds.errors import BoundsError
from bounds.showing import waiting
from bounds.showing.waiting import watched


@pytest.fixture
def clock(monkeypatch):
    """A clock that goes on by so many seconds with each item."""

    class Clock:
        now = 7.0

    monkeypatch.setattr(waiting, "perf_counter", lambda: Clock.now)
    return Clock


def worked(clock, seconds, total, first=0.0):
    done = 0
    for _ in watched(range(total), total):
        clock.now += seconds + (first if not done else 0.0)
        done += 1
    return done


def test_work_of_hours_is_refused_with_its_estimate(clock):
    with pytest.raises(BoundsError, match=r"90000 points would take about 50 hours, at 2 seconds each; give fewer"):
        worked(clock, 2.0, 90_000)


def test_the_first_point_tells_nothing_of_the_others(clock):
    assert worked(clock, 0.01, 20_000, first=30.0) == 20_000


def test_work_that_becomes_slow_late_is_finished(clock):
    done = 0
    for _ in watched(range(5000), 5000):
        clock.now += 0.1 if done < 600 else 5.0
        done += 1
    assert done == 5000
