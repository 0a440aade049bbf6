"""The papers' step-size rules and how they search for the best constant."""

import math

import numpy as np
import pytest

from empirics.errors import Diverged, EmpiricsError
from empirics.training.step_sizes import best_of, bracketed, geometric, harmonic


def hill(top: float, tried: list | None = None):
    """An accuracy that falls with the distance from ``top`` in powers of two, with a seed's own offset."""

    def measure(size: float, seed: int) -> float:
        if tried is not None:
            tried.append((size, seed))
        return 0.9 - 0.03 * abs(math.log2(size / top)) + 0.01 * seed

    return measure


@pytest.mark.parametrize("power", [-6, -1, 0, 1, 7])
def test_the_search_ends_between_two_worse_neighbours(power):
    tried = []
    found = bracketed(hill(0.01 * 2.0**power, tried), seeds=(2, 5))
    assert found.step_size == pytest.approx(0.01 * 2.0**power, rel=1e-12)
    assert found.mean == pytest.approx(0.9 + 0.035, rel=1e-12)
    sizes = list(found.tried)
    place = sizes.index(found.step_size)
    assert found.tried[sizes[place - 1]] < found.mean > found.tried[sizes[place + 1]]
    assert np.allclose(np.diff(np.log2(sizes)), 1)
    assert len(tried) == len(set(tried)) == 2 * len(sizes)  # every step size once per seed
    assert len(sizes) <= abs(power) + 3


def test_a_top_between_two_powers_gives_the_nearer():
    assert bracketed(hill(0.05), (1,)).step_size == pytest.approx(0.04)
    assert bracketed(hill(0.06), (1,)).step_size == pytest.approx(0.08)


def test_losses_are_minimised():
    found = bracketed(lambda size, seed: 3 + (math.log2(size) + 9) ** 2, (1, 2), lower_is_better=True)
    assert found.step_size == pytest.approx(0.01 / 4, rel=1e-12)
    assert found.mean == pytest.approx(3 + (math.log2(0.0025) + 9) ** 2)


@pytest.mark.parametrize("how", ["raised", "nan"])
def test_step_sizes_that_diverge_are_worse_than_any_other(how):
    """Everything above 0.0004 diverges for one of the seeds: it goes down to where it does not."""

    def measure(size: float, seed: int) -> float:
        if size > 0.0004 and seed == 3:
            if how == "raised":
                raise Diverged(4, "fedavg()", 1e12)
            return float("nan")
        return -1000 - abs(math.log2(size / 0.0002))

    found = bracketed(measure, (2, 3))
    assert found.step_size == pytest.approx(0.01 / 64)
    assert math.isnan(found.tried[0.01])


def test_a_search_without_a_top_gives_up_in_one_line():
    with pytest.raises(
        EmpiricsError, match=r"^no step size lies between two worse ones after 12 trials from 0.01; last"
    ):
        bracketed(lambda size, seed: size, (1,), most=12)
    with pytest.raises(EmpiricsError, match="after 5 trials"):
        bracketed(lambda size, seed: float("nan"), (1,), most=5)


def test_other_starts_and_factors():
    found = bracketed(hill(0.7), (1,), start=0.7 * 3**4, factor=3)
    assert found.step_size == pytest.approx(0.7)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"start": 0}, "start must be > 0; got 0"),
        ({"factor": 1}, "factor must be > 1; got 1"),
        ({"seeds": ()}, "tuning needs at least one seed; got none"),
    ],
)
def test_mistakes_are_one_clear_line(options, said):
    with pytest.raises(EmpiricsError, match=f"^{said}$"):
        bracketed(hill(0.1), **{"seeds": (1,), **options})


def test_the_best_of_a_grid():
    found = best_of(hill(0.4), (1, 2), (1.0, 0.1, 0.5, 0.01))
    assert found.step_size == 0.5
    assert list(found.tried) == [0.01, 0.1, 0.5, 1.0]
    assert best_of(lambda size, seed: size * seed, (1, 2), (0.3, 0.2), lower_is_better=True).step_size == 0.2
    with pytest.raises(EmpiricsError, match=r"^every step size diverged: 0.1, 0.5; try smaller ones$"):
        best_of(lambda size, seed: float("nan"), (1,), (0.5, 0.1))
    with pytest.raises(EmpiricsError, match=r"^tuning needs at least one step size to try; got none$"):
        best_of(hill(0.1), (1,), ())


def test_rules_over_time():
    assert harmonic(3.0, 250) == pytest.approx(3 / 12.5)
    assert harmonic(3.0, np.array([0, 1000])) == pytest.approx([0.3, 0.15])
    assert geometric(0.1, 0.998, 3) == pytest.approx(0.1 * 0.998 * 0.998 * 0.998)
    assert geometric(0.1, 0.5, np.array([0, 2])) == pytest.approx([0.1, 0.025])
