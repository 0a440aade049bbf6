"""FedCOG's figures and tables: settings against the print, and findings that are judged in their regime alone."""

import pytest
from figure_toys import outcome, YES

from empirics.experiments import Outcome
from figures import substitutes
from figures.catalogue import artefact
from figures.fedcog import figures, grid, tables
from figures.fedcog.grid import FEDCOG, Setup
from figures.runs import Runs


def test_figure_5_draws_the_stored_pixels(store):
    (cell,) = artefact("fedcog.figure_5").cells("smoke")
    pixels = [[0.0, 2.0, 4.0, 1.0], [5.0, 5.0, 5.0, 5.0], [3.0, -1.0, 1.0, 0.0]]
    store.keep(cell, Outcome({"steps": [-1, 0, 100], "label": [0, 0, 0], "pixels": pixels}, {"shape": [4]}), 0.1)
    shown = figures.images(Runs(store), "smoke")
    assert figures.image(shown.rows[0]).tolist() == [[0, 128], [255, 64]]
    assert figures.image(shown.rows[1]).max() == 0  # all alike
    coloured = {"pixels": "00ff10", "channels": 3, "side": 1}
    assert figures.image(coloured).tolist() == [[[0, 255, 16]]]


@pytest.fixture
def everything_here(monkeypatch):
    monkeypatch.setattr(substitutes, "present", lambda name: True)


# ---- guards: planted runs at the paper's own length ----


LEVELS = {("FedAvg", 1): 64.4, ("FedAvg", 2): 50.6, (FEDCOG, 1): 66.5, (FEDCOG, 2): 56.5, ("SCAFFOLD", 2): 47.0}
ALIKE = 72.0
"""What methods reach in NIID-1 and 2, others a point less than FedAvg; and FedAvg with clients alike."""


def plant(store, scale="overnight", shift=0.0, harm=ALIKE, rise=0.0):
    """Runs of Table 1 at these levels plus ``shift``; the last third gains ``rise``."""
    ran = {
        (m, c): grid.runs(scale, m, tables.setup_of(c)) for c in tables.SETTINGS for m in tables.methods_of(scale, c)
    }
    wanted = [*ran.items(), (("FedAvg", ""), grid.runs(scale, "FedAvg", Setup(dirichlet=max(grid.DIRICHLETS))))]
    for (method, column), each in wanted:
        split = int(column[-1]) if column else 0
        level = LEVELS.get((method, split), LEVELS["FedAvg", max(split, 1)] - 1) if split else harm
        for seed, cell in enumerate(each):
            noise, end = 0.03 * (seed * 7 + len(method)) % 0.2, cell.arguments["rounds"]
            before = [rise * min(1.0, 3 * (1 - r / end)) for r in range(end + 1)]
            values = [(level + shift + noise - x) / 100 for x in before]
            store.keep(cell, outcome({"test_accuracy": values}), 0.01)


def judged(store, scale="overnight"):
    """Verdicts and the guards that fail, of Table 1's three findings."""
    found = artefact("fedcog.table_1").data(Runs(store), scale).conclusions
    return [str(j.verdict) for j in found], [" ".join(r.words for r in j.regimes if r.missed) for j in found]


def test_planted_runs_in_the_papers_regime_are_judged(store, everything_here):
    plant(store)
    assert judged(store) == ([YES] * 3, [""] * 3)


def test_findings_outside_their_regime_are_not_judged(store, everything_here):
    for planted, words, judged_still in (
        ({"harm": 64.3}, "loses to non-iid clients", [1]),  # nothing that FedCOG could cure
        ({"shift": -7.0}, "points between FedAvg here (57", []),
        ({"shift": 8.0}, "points by which the task is easier", []),
    ):
        plant(store, **planted)
        found, missed = judged(store)
        assert [i for i, v in enumerate(found) if v != "not judged: regime"] == judged_still, words
        assert any(words in one for one in missed), words
