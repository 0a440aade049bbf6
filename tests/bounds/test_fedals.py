"""FedALS: one test per statement or remark, against arithmetic by hand (the enumerations have their own file)."""

from typing import Any

import numpy as np
import pytest

from bounds.fedals.catalog import BOUNDS
from bounds.points.fedals import POINTS
from bounds.vocabulary import clients, cohort

BY_NAME = {b.name.removeprefix("fedals."): b for b in BOUNDS}


def point(name: str) -> dict[str, Any]:
    return dict(POINTS[f"fedals.{name}"])


# ---- Theorem 4.1 and its discussion ----


@pytest.mark.parametrize("name", ["one_round", "participation_case1", "participation_case2"])
@pytest.mark.parametrize("word", ["local_gap", "non_iidness"])
def test_a_negative_measurement_leaves_the_theorem_silent(name: str, word: str) -> None:
    v = point(name)
    v[word] = [v[word][0], -v[word][1], v[word][2]]
    with pytest.warns(match="silent"):
        assert np.isnan(BY_NAME[name](**v))
    assert len(BY_NAME[name].failed(**v)) == 1


# ---- Theorem C.1, Theorem 4.3 ----


def test_inexact_solvers_admit_a_slightly_negative_non_iidness() -> None:
    v = point("one_round_inexact") | {"non_iidness": [-0.003, 0.029, 0.071]}
    assert np.isfinite(BY_NAME["one_round_inexact"](**v))
    with pytest.warns(match="silent"):
        assert np.isnan(BY_NAME["one_round_inexact"](**v | {"non_iidness": [-0.004, 0.029, 0.071]}))


# ---- partial participation ----


def test_case_two_with_everyone_taking_part_is_the_full_bound() -> None:
    full, partial = BY_NAME["one_round"], BY_NAME["participation_case2"]
    for name, term in full.terms.items():
        assert partial.terms[name].subs(cohort, clients) == term
        assert partial.terms[name] != term
