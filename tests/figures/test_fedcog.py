"""FedCOG's figures and tables on hand-made runs."""

import math

import pytest
from figure_toys import columns, NOT, outcome, places, verdicts, YES

from empirics.experiments import Outcome
from figures import stand_ins
from figures.catalogue import artefact
from figures.fedcog import accuracies, figure_3, figure_5, figure_6, grid, one_round, reading, settings

from figures.fedcog import table_1, table_2, table_3, table_11  # isort: skip
from figures.fedcog.settings import FEDCOG, KINDS
from figures.runs import Runs
from paper_checks.reported import table

SEEDS = range(grid.PLANS["smoke"].seeds)
FIRST = grid.PLANS["smoke"].counts["first"]
HALF = 0.5


def put(store, cell, percent, clients=None, status="done"):
    """A run at ``percent`` after its last round, at half of that a round after the change.

    ``clients``: by quantity the values of two clients at both rounds.
    """
    end = cell.arguments["rounds"]
    levels = {0: 0.1, end: percent / 100, FIRST + 1: HALF * percent / 100}
    told = outcome({"test_accuracy": sorted(levels.items())}).columns
    rows = list(zip(*told.values(), strict=True))
    rows += [
        (quantity, "", k, None, at, value)
        for at in {FIRST + 1, end}
        for quantity, values in (clients or {}).items()
        for k, value in enumerate(values)
    ]
    store.keep(cell, Outcome(columns(told, rows), {}, status), 0.01)


def fill(store, places, level):
    """Every run of a table at ``level(row, column, seed)``."""
    for (row, column), each in places.items():
        for seed, cell in enumerate(each):
            put(store, cell, level(row, column, seed))


def keep_times(store, cell, jobs):
    """Seconds by job and repetition, as the cell that takes them writes them."""
    store.keep(cell, Outcome(columns(("job", "repeat", "seconds"), jobs)), 0.1)


# ---- tables ----


def test_table_1_shows_last_accuracies_beside_the_printed(store):
    fill(store, table_1.places("smoke"), lambda row, column, seed: 31 + 2.3 * seed + (row == FEDCOG))
    shown = table_1.data(Runs(store), "smoke")
    at = places(shown)
    place = at["FedProx", "digits for Fashion-MNIST NIID-2"]
    assert (place["reported"], place["reported_std"], place["seeds"]) == (64.44, 1.36, 2)
    assert place["ours"] == pytest.approx(31 + 2.3 / 2)
    assert place["ours_error"] == pytest.approx(2.3 / 2)  # half the distance of two values
    assert at["FedGen", "CIFAR-10 NIID-1"]["note"] == reading.ABSENT
    assert math.isnan(at["FedCOG", "Avg."]["ours"])


@pytest.mark.parametrize(("gain", "verdict"), [(2.0, YES), (-2.0, NOT)])
def test_that_fedcog_is_best_is_seen_or_denied(store, gain, verdict):
    fill(store, table_1.places("smoke"), lambda row, c, seed: 40 + 0.01 * seed * len(row) + gain * (row == FEDCOG))
    best, *_ = table_1.data(Runs(store), "smoke").conclusions
    assert best.verdict == verdict
    assert "of 6 comparisons" in best.why  # two settings, three others


def test_table_3_compares_a_round_after_the_change(store):
    wanted = table_3.places("smoke")
    plugged = [cell for (_, method), each in wanted.items() if method == "SCAFFOLD with FedCOG" for cell in each]
    assert {cell.arguments["rounds"] for cell in plugged} == {FIRST + 1}
    ends = {"SCAFFOLD with FedCOG": 41.0, "FedAvg with FedCOG": 82.0}
    fill(store, wanted, lambda row, column, seed: ends.get(column, 38.0) + 0.02 * seed)
    shown = table_3.data(Runs(store), "smoke")
    at = {place: row["ours"] for place, row in places(shown).items()}
    assert at["digits for CIFAR-10, NIID-2", "FedAvg with FedCOG"] == pytest.approx(82.01 * HALF)
    assert at["digits for CIFAR-10, NIID-1", "FedAvg without FedCOG"] == pytest.approx(38.01 * HALF)
    assert shown.conclusions[0].verdict == YES
    assert math.isnan(at["FLAIR O-F1", "FedAvg with FedCOG"])


def fill_one_round(store, better):
    for method in ("FedAvg", "FedProx", FEDCOG):
        gain = better if method == FEDCOG else 0.0
        for seed in SEEDS:
            own = {
                "client_distance_sq": [(3 - gain + 0.01 * seed) ** 2] * 2,
                "local_accuracy_common": [0.3 + 0.01 * gain, 0.4 + 0.01 * gain],
                "local_accuracy_own": [0.7 + 0.01 * gain + 0.001 * seed, 0.8],
            }
            put(store, one_round.runs_of("smoke", method)[seed], 60 + gain, own)


@pytest.mark.parametrize(("better", "verdict"), [(1.0, YES), (-1.0, NOT)])
def test_figure_2_shows_means_over_clients(store, better, verdict):
    fill_one_round(store, better)
    shown = one_round.figure(Runs(store), "smoke")
    assert set(verdicts(shown)) == {verdict}
    at = {(r["panel"], r["curve"]): r for r in shown.rows}
    distance, common, own = one_round.MEASURES.values()
    assert at[distance, "FedAvg"]["y"] == pytest.approx(3.005)
    assert at[common, FEDCOG]["y"] == pytest.approx(35 + better)
    assert at[own, FEDCOG]["error"] == pytest.approx(0.05 / 2)


def test_table_4_takes_the_time_of_all_rounds(store):
    fill_one_round(store, 1.0)
    (timed,) = one_round.times("smoke", settings.COMPARED)
    seconds = {"FedAvg": [2.0, 4.0], "FedProx": [3.0, 6.4], "MOON": [4.0, 8.4], FEDCOG: [2.6, 5.6]}
    jobs = [(m, i + 1, each[i]) for i in range(2) for m, each in seconds.items()]
    keep_times(store, timed, jobs)
    shown = one_round.table_4(Runs(store), "smoke")
    at = places(shown)
    assert at["MOON", one_round.TIME]["ours"] == pytest.approx((2.0 + 2.1) / 2)
    assert at[FEDCOG, one_round.TIME]["ours"] == pytest.approx(((FIRST + 1.3) + (FIRST + 1.4)) / 2 / (FIRST + 1))
    assert at[FEDCOG, one_round.TIME]["reported"] == pytest.approx(1001 / 983)
    assert verdicts(shown) == [YES, YES]


@pytest.mark.parametrize(("gain", "verdict"), [(3.0, YES), (-3.0, NOT)])
def test_ablations_of_table_5(store, gain, verdict):
    fill(store, accuracies.parts("smoke"), lambda row, column, seed: 50 + 0.1 * seed + gain * (row == accuracies.FULL))
    plain = {("FedAvg", kind): each for kind, each in accuracies.plain("smoke").items()}
    fill(store, plain, lambda row, column, seed: 50 + gain + 0.1 * seed)
    assert verdicts(artefact("fedcog.table_5").data(Runs(store), "smoke")) == [verdict, verdict]


def test_diverged_runs_count_as_nothing_right(store):
    for (_, column), each in accuracies.generated("smoke").items():
        for seed, cell in enumerate(each):
            put(store, cell, 55 + seed / 9, status="diverged" if column == "500" else "done")
    shown = artefact("fedcog.table_10").data(Runs(store), "smoke")
    assert {r["row"]: r["ours"] for r in shown.rows}["15 for 500"] == 0


def test_table_9_reads_own_models(store):
    for (_, column), each in accuracies.personal("smoke").items():
        for seed, cell in enumerate(each):
            own = 0.8 + 0.01 * seed if column == accuracies.TUNED else 0.6 + 0.01 * seed
            put(store, cell, 50, {"local_accuracy_own": [own, own + 0.1]})
    shown = artefact("fedcog.table_9").data(Runs(store), "smoke")
    assert {r["row"]: r["ours"] for r in shown.rows}["Ditto"] == pytest.approx(65.5)
    assert shown.conclusions[0].verdict == YES


def test_table_11_divides_by_the_fewest_samples(store):
    (cell,) = table_11.cells("smoke")
    jobs = [(n, i, (1 + 0.1 * i) * (1 + 0.004 * int(n))) for i in (1, 2) for n in table_11.NUMBERS]
    keep_times(store, cell, jobs)
    shown = table_11.data(Runs(store), "smoke")
    at = {r["row"]: r for r in shown.rows}
    assert at["64"]["ours"] == pytest.approx((1 + 0.256) / (1 + 0.064))
    assert at["1024"]["reported"] == pytest.approx(1.27 / 0.72)
    assert verdicts(shown) == [YES, NOT]


def test_table_2_has_the_reported_numbers_alone(store):
    shown = table_2.data(Runs(store), "paper")
    assert len(shown.rows) == len(table("fedcog", "2"))
    assert all(math.isnan(r["ours"]) for r in shown.rows)
    assert shown.unavailable == "FLAIR: data not available"


# ---- figures ----


def test_figure_3_has_a_point_for_every_weight(store):
    best = {figure_3.APART: 0.1, figure_3.DISTILLED: 1.0}
    for (panel, curve, x), each in figure_3.points("smoke").items():
        for seed, cell in enumerate(each):
            if panel in best or curve != FEDCOG:
                put(store, cell, 60 + 5 * (best.get(panel) == x) + 0.02 * seed)
    for kind in KINDS:  # the default run lies on both weight panels: as good as the best of one, worse in the other
        for seed in SEEDS:
            put(store, grid.runs("smoke", FEDCOG, grid.Setup(kind=kind))[seed], 61 + 0.02 * seed)
    shown = figure_3.data(Runs(store), "smoke")
    assert {r["x"] for r in shown.rows if r["panel"] == figure_3.APART} == {0.1, 10.0}
    assert len([r for r in shown.rows if r["panel"] == figure_3.DISTILLED]) == 4
    assert verdicts(shown)[-2:] == [YES, NOT]


def test_a_weight_that_moves_nothing_has_no_best_value(store):
    for each in figure_3.points("smoke").values():
        for seed, cell in enumerate(each):
            put(store, cell, 60 + 0.02 * seed)
    shown = figure_3.data(Runs(store), "smoke")
    assert [str(v) for v in verdicts(shown)[-2:]] == ["regime not reached"] * 2


def test_figure_5_draws_the_stored_pixels(store):
    (cell,) = figure_5.cells("smoke")
    pixels = [[0.0, 2.0, 4.0, 1.0], [5.0, 5.0, 5.0, 5.0], [3.0, -1.0, 1.0, 0.0]]
    store.keep(cell, Outcome({"steps": [-1, 0, 100], "label": [0, 0, 0], "pixels": pixels}, {"shape": [4]}), 0.1)
    shown = figure_5.data(Runs(store), "smoke")
    assert figure_5.image(shown.rows[0]).tolist() == [[0, 128], [255, 64]]
    assert figure_5.image(shown.rows[1]).max() == 0  # all alike
    coloured = {"pixels": "00ff10", "channels": 3, "side": 1}
    assert figure_5.image(coloured).tolist() == [[[0, 255, 16]]]


def test_figure_6_draws_the_runs_of_table_1(store):
    for i, (method, each) in enumerate(figure_6.runs_of("smoke").items()):
        for seed, cell in enumerate(each):
            put(store, cell, 40 + 3 * i + 0.1 * seed)
        assert each == table_1.places("smoke")[method, "Fashion-MNIST NIID-1"]
    shown = figure_6.data(Runs(store), "smoke")
    last = {r["curve"]: r["y"] for r in shown.rows}
    assert last["FedProx"] == pytest.approx(43.05)
    assert verdicts(shown) == [YES, NOT]  # they double in the last round


# ---- the grid ----


@pytest.fixture
def everything_here(monkeypatch):
    monkeypatch.setattr(stand_ins, "present", lambda name: True)


def test_the_papers_scale_is_the_papers_setting(everything_here):
    cell = grid.runs("paper", FEDCOG)[0]
    wanted = {"clients": 10, "cohort": 10, "local_steps": 400, "step_size": 0.01, "rounds": 70, "after": 50}
    assert {k: cell.arguments[k] for k in wanted} == wanted
    assert cell.arguments["problem"] == "fedcog_cnn(cifar10)"
    for words in ("samples=256", "steps=100", "disagreement=0.1", "distillation=0.01", "after=50"):
        assert words in cell.arguments["algorithm"]
    taus = {c.arguments["local_steps"] for c in artefact("fedcog.table_6").cells("paper")}
    assert taus == {200, 400, 600, 800}
    labels = grid.runs("paper", "FedAvg", table_1.setup_of("CIFAR-100 NIID-2"))[0]
    assert labels.arguments["partition"] == "classes_per_client(10)"
    assert labels.arguments["problem"] == "fedcog_cifar100_cnn(cifar100)"


def test_scaffold_takes_plain_steps(everything_here):
    with_momentum, plain = (grid.runs("paper", m)[0].arguments for m in ("FedProx", "SCAFFOLD"))
    assert plain["momentum"] == 0
    assert plain["step_size"] == pytest.approx(with_momentum["step_size"] / (1 - with_momentum["momentum"]))


def test_what_a_plan_tunes_is_run_and_said(everything_here):
    for scale in ("laptop", "overnight"):
        for text, size in (("SCAFFOLD", 0.05), (grid.consensus(scale, "scaffold()"), 0.05), ("FedGen", 0.003)):
            assert grid.runs(scale, text)[0].arguments["step_size"] == size
        assert "distillation=1," in grid.runs(scale, FEDCOG)[0].arguments["algorithm"]
        assert "distillation=0.01," in grid.runs(scale, FEDCOG, distillation=0.01)[0].arguments["algorithm"]
        assert (
            grid.tuned(scale)
            == "step size of SCAFFOLD 0.05, of FedExp 0.003, of FedGen 0.003; SCAFFOLD without momentum"
        )
    assert "distillation=0.01," in grid.runs("paper", FEDCOG)[0].arguments["algorithm"]


def test_settings_name_every_printed_row():
    assert (*settings.METHODS, FEDCOG) == settings.rows("1")
    assert set(settings.COMPARED) == set(settings.rows("4")) == set(settings.rows("6"))
    assert {f"{m} {w}" for m in settings.PLUGGED for w in (table_3.WITH, table_3.WITHOUT)} == set(settings.columns("3"))
    assert settings.rows("5") == tuple(accuracies.VARIANTS)
