"""FedInit's settings against its grid, its budgets, and what a round costs."""

import pytest

from empirics.experiments.jobs import BLOCKS
from empirics.experiments.jobs.wall import seconds
from figures.catalogue import chosen
from figures.fedinit import costs, grid, listing, settings, table_1, table_8
from figures.fedinit.settings import HOME, METHODS, Setup
from paper_checks.reported import table

ALL = chosen(["fedinit"])


@pytest.fixture
def here(monkeypatch):
    """CIFAR-10 on disk, Omniglot in place of CIFAR-100."""
    monkeypatch.setattr(grid, "found", lambda name: {"cifar10": "cifar10", "cifar100": "omniglot"}[name])


# ---- the grid ----


def test_tables_and_figures_read_the_same_runs(here):
    for scale in ("laptop", "overnight", "paper"):
        keys = {a.name: {c.key for c in a.cells(scale)} for a in ALL}
        accuracy = keys["fedinit.table_1"]
        for name in ("figure_2", "figure_3", "table_9"):
            assert keys[f"fedinit.{name}"] <= accuracy
        assert keys["fedinit.figure_1b"] == keys["fedinit.table_3"]
        assert len(keys["fedinit.table_11"] - accuracy) == 1
        assert keys["fedinit.figure_6"] <= keys["fedinit.table_3"]
        assert keys["fedinit.table_3"] & accuracy
        assert keys["fedinit.figure_7"] & keys["fedinit.table_2"]


def test_the_papers_scale_is_the_papers_setting(here):
    given = grid.runs("paper", Setup(share="5%-200", split="0.6"), "FedInit")[2].arguments
    printed = {
        "clients": 200, "cohort": 10, "rounds": 500, "local_epochs": 5, "batch": 50, "step_size": 0.1, "seed": 2,
        "weight_decay": 1e-3, "step_size_decay": 0.998, "clip": 10, "partition": "dirichlet_replaced(0.6)",
        "augment": "fedinit", "problem": "resnet18(cifar10)",
    }  # fmt: skip
    assert {k: given[k] for k in printed} == printed
    assert grid.runs("paper", Setup(data="CIFAR-100"), "FedDyn")[0].arguments["rounds"] == 800
    assert grid.runs("paper", HOME, "FedDyn")[0].arguments["step_size_decay"] == 0.999
    assert grid.PLANS["paper"].seeds == 3
    assert len(table_1.cells("paper")) == 2 * 8 * 7 * 3


def test_methods_are_written_with_the_coefficients_of_table_7():
    fewer, other = Setup(share="5%-200"), Setup(data="CIFAR-100")
    assert [settings.written(m, HOME) for m in METHODS] == [
        "fedavg()", "fedadam(server_step_size=0.1)", "fedsam(rho=0.1)", "scaffold()", "feddyn(alpha=0.1)",
        "fedcm(alpha=0.1)", "fedinit(beta=0.1)",
    ]  # fmt: skip
    assert settings.written("FedSAM", fewer) == "fedsam(rho=0.01)"
    assert settings.written("FedDyn", other) == "feddyn(alpha=0.01)"
    assert settings.written("FedInit", fewer) == "fedinit(beta=0.05)"
    assert settings.written("SCAFFOLD", HOME, 0.02) == "relaxed(scaffold(), beta=0.02)"
    assert settings.written("FedInit", HOME, 0.0) == "fedavg()"


def test_the_settings_tables_say_what_the_grid_runs(here):
    shown = listing.hyperparameters(None, "laptop")
    at = {row["row"]: row for row in shown.rows}
    given = grid.runs("laptop", HOME, "FedAvg")[0].arguments
    for row, word in (("minibatch", "batch"), ("weight decay", "weight_decay"), ("local learning rate", "step_size")):
        assert float(at[f"CIFAR-10, {row}"]["ours, laptop"]) == given[word]
        assert float(at[f"CIFAR-10, {row}"]["ours, paper"]) == settings.chosen("CIFAR-10", row)
    assert at["CIFAR-10, communication round T"]["ours, laptop"] == str(given["rounds"])
    assert at["CIFAR-10, local interval K"]["ours, paper"] == "5 epochs"
    assert at["CIFAR-100, minibatch"]["ours, laptop"] == "not run"
    own = {row["row"]: row for row in listing.coefficients(None, "laptop").rows}
    for method, (_, row) in settings.TABLE_7.items():
        assert f"{settings.coefficient(method, HOME):g}" in own[row.replace("/", ", ")]["best"]


# ---- costs ----


def test_costs_are_counted_off_the_methods():
    found = {m: costs.costs(settings.written(m, HOME)) for m in METHODS}
    assert {m: c.gradients for m, c in found.items()} == {m: 2 if m == "FedSAM" else 1 for m in METHODS}
    assert (found["SCAFFOLD"].communication, found["FedCM"].communication) == (2, 1.5)
    assert [found[m].vectors for m in METHODS] == [1, 1, 1, 3, 2, 2, 2]
    assert [found[m].kept for m in METHODS] == [0, 0, 0, 1, 1, 0, 1]


def test_table_8_has_the_printed_multiples_by_the_cost_model():
    printed = table("fedinit", "Table 8")
    for (method, column), at in printed.items():
        cost = next(k for k, words in table_8.COLUMNS.items() if words == column)
        first = at.value[0]
        assert table_8.modelled(method, cost) == (int(first) if first.isdigit() else 1)
    assert [str(j.verdict) for j in table_8.data(None, "smoke").conclusions] == [
        "reproduced", "contradicted", "reproduced", "contradicted",
    ]  # fmt: skip


def test_rounds_of_all_methods_take_turns():
    found = seconds("softmax(held_out(digits))", ["fedavg()", "scaffold()"], 2, 0, "iid", 6, 2, local_steps=1)
    assert found.columns["algorithm"] == ["fedavg()", "scaffold()"] * (2 * BLOCKS)
    assert found.columns["block"] == [b for b in range(BLOCKS) for _ in range(4)]
    assert min(found.columns["seconds"]) > 0
