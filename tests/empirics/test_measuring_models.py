"""Gradients, distances, losses, gaps and stability of a tiny federation against plain loops and sums."""

from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
import torch
from loops import cases
from measuring_toys import (
    by_hand,
    INPUTS,
    logistic,
    mean_loss,
    PARTS,
    ridge,
    rows_of,
    series,
    SETTING,
    SHARES,
    slope,
    TESTS,
)
from refusals import all_refused
from torch import nn

from empirics.algorithms import algorithm
from empirics.algorithms.algorithm import fedavg
from empirics.errors import EmpiricsError
from empirics.federation.augment import Recipe
from empirics.federation.federation import Federation, Fresh
from empirics.measuring import Exactness, measurement, MEASUREMENTS, pair_rows, paired_runs, Run, Swap, swaps
from empirics.measuring.stability import client_swaps, PAIRS
from empirics.models.linear import Softmax
from empirics.models.network import Network
from empirics.problems import evaluation
from empirics.problems.evaluation import Samples
from empirics.problems.tasks import task
from empirics.training.rounds import rounds
from empirics.training.setting import Setting

PROBLEMS = pytest.mark.parametrize("make", [ridge, logistic])


def steepness(problem, w):
    """``||grad F||^2`` by finite differences."""
    total = sum(p * slope(problem, w, PARTS[k]) for k, p in enumerate(problem.weights.tolist()))
    return float(total @ total)


def population_risk(problem, w, client):
    return sum(float(SHARES[client, j]) * mean_loss(problem, w, [j]) for j in range(6))


def by_definition(problem, setting):
    """What is measured of a run, by definition: (quantity, round, step, client, layer) -> value."""
    server, paths = by_hand(problem, setting, 3)
    p, best, found = problem.weights.tolist(), problem.optimal_loss, {}
    norms = [steepness(problem, w) for w in server]
    ends = [[], *(path[:, -1] for path in paths)]
    apart = [0.0, *(np.mean(((own - w) ** 2).sum(1)) for own, w in zip(ends[1:], server[1:], strict=True))]
    for r, w in enumerate(server):
        train, risk = (
            sum(q * of(k) for k, q in enumerate(p))
            for of in (lambda k, w=w: mean_loss(problem, w, PARTS[k]), lambda k, w=w: population_risk(problem, w, k))
        )
        at = {"grad_norm_sq": norms[r], "divergence": apart[r], "train_loss": train, "generalization_gap": risk - train}
        at |= {"optimality_gap": train - best, "excess_risk": risk - best}
        if r:  # a mean over the states before: the start counts, the present state does not
            at |= {"mean_grad_norm_sq": np.mean(norms[:r]), "mean_divergence": np.mean(apart[:r])}
            at |= {"active_divergence": apart[r], "global_step": ((w - server[r - 1]) ** 2).sum()}
            at["local_drift"] = ((paths[r - 1][:, :-1] - server[r - 1]) ** 2).sum((1, 2)).mean()
        found |= {(name, r, None, None, ""): value for name, value in at.items()}
        for k, own in enumerate(ends[r]):
            fits, least = mean_loss(problem, own, PARTS[k]), mean_loss(problem, problem.local_minimisers[k], PARTS[k])
            at = {"local_gap": population_risk(problem, own, k) - fits, "local_suboptimality": fits - least}
            at |= {"non_iidness": mean_loss(problem, w, PARTS[k]) - fits, "client_distance_sq": ((own - w) ** 2).sum()}
            found |= {(name, r, None, k, ""): value for name, value in at.items()}
        for step in (1, 2) if r else ():
            here = paths[r - 1][:, step]
            middle = sum(q * x for q, x in zip(p, here, strict=True))
            found["virtual_grad_norm_sq", r, step, None, ""] = steepness(problem, middle)
            spread = sum(q * ((x - middle) ** 2).sum() for q, x in zip(p, here, strict=True))
            found |= {("consensus_distance", r, step, None, layer): spread for layer in ("", "linear")}
    return found


MEASURED = ["grad_norm_sq", "mean_grad_norm_sq", "virtual_grad_norm_sq", "consensus_distance_steps", "divergence",
            "mean_divergence", "active_divergence", "local_drift", "global_step", "train_loss", "generalization_gap",
            "optimality_gap", "excess_risk", "local_gap", "non_iidness", "local_suboptimality",
            "client_distance_sq"]  # fmt: skip


@PROBLEMS
def test_every_measurement_is_what_its_definition_gives(make):
    for weight in ("uniform", "samples"):
        problem, setting = make(population=True, client_weight=weight), replace(SETTING, client_weight=weight)
        rows = rows_of(problem, MEASURED, setting)
        found = {(r.quantity, r.round, r.step, r.client, r.layer): r.value for r in rows}
        assert found == pytest.approx(by_definition(problem, setting), rel=1e-5, abs=1e-9), weight


def test_partial_participation_keeps_last_models_and_calls_them_a_proxy():
    setting = replace(SETTING, cohort=1, rounds=5)
    problem = ridge()
    run = Run(problem, fedavg, setting, 4, [measurement(n) for n in ("divergence", "client_distance_sq")], every=1)
    last, expected = np.zeros((2, 2)), []
    for state, rows in run:
        for row in rows:
            if row.quantity == "client_distance_sq":
                assert row.value == pytest.approx(0, abs=1e-30)  # one participant: the average is its model
                last[row.client] = state.model.numpy()
        expected.append(np.mean(((last - state.model.numpy()) ** 2).sum(1)))
    rows = run.rows()
    np.testing.assert_allclose(series(rows, "divergence"), expected, rtol=1e-12)
    assert {r.exactness for r in rows if r.quantity == "divergence"} == {"proxy"}
    assert measurement("divergence").exactness(problem, fedavg, SETTING) is Exactness.EXACT
    proof = algorithm("fedinit(beta=0.1, reading='proof')")  # everyone trains, whoever is drawn
    assert measurement("divergence").exactness(problem, proof, setting) is Exactness.EXACT


def test_listening_changes_no_number_whatever_the_steps():
    """Local epochs on clients of unlike size: rows of a chunk stop at different steps."""
    problem = ridge()
    setting = Setting(rounds=4, cohort=2, batch=1, local_epochs=2, step_size=0.07)
    quiet = Run(problem, fedavg, setting, 9, [measurement("train_loss")], every=1)
    heard = Run(problem, fedavg, setting, 9, [measurement(n) for n in ("train_loss", "local_drift")], every=1)
    assert series(quiet.rows(), "train_loss") == series(heard.rows(), "train_loss")
    rows = rows_of(problem, ["virtual_grad_norm_sq", "consensus_distance_steps", "consensus_distance"], setting, seed=9)
    assert sorted({r.step for r in rows if r.round == 2 and r.step}) == [1, 2, 3, 4, 5, 6]
    for r in (1, 2, 3, 4):  # after the last step the path is at the ends
        (at_end,) = series(rows, "consensus_distance", round=r, step=None, layer="")
        assert series(rows, "consensus_distance_steps", round=r, step=6, layer="") == [at_end]


# ---- losses, gaps and excess risk ----


def test_test_samples_stand_for_the_population_and_say_so():
    problem = logistic(tests=True)
    rows = rows_of(problem, ["test_loss", "test_accuracy", "generalization_gap", "local_accuracy_own", "local_gap"])
    server, paths = by_hand(problem, SETTING, 3)
    everything = np.concatenate(TESTS)
    np.testing.assert_allclose(
        series(rows, "test_loss"), [mean_loss(problem, w, everything) for w in server], rtol=1e-7
    )
    gap = [np.mean([mean_loss(problem, w, TESTS[k]) - mean_loss(problem, w, PARTS[k]) for k in (0, 1)]) for w in server]
    np.testing.assert_allclose(series(rows, "generalization_gap"), gap, rtol=1e-6, atol=1e-9)

    def right(w, samples):
        margins = [float(problem.federation.targets[j]) * float(problem.federation.inputs[j] @ w) for j in samples]
        return np.mean(np.array(margins) > 0)

    accuracy = [right(torch.from_numpy(w), everything) for w in server]
    np.testing.assert_allclose(series(rows, "test_accuracy"), accuracy)
    own = [right(torch.from_numpy(paths[2][k][-1]), TESTS[k]) for k in (0, 1)]
    np.testing.assert_allclose(series(rows, "local_accuracy_own", round=3), own)
    local = [paths[2][k][-1] for k in (0, 1)]
    gaps = [mean_loss(problem, w, TESTS[k]) - mean_loss(problem, w, PARTS[k]) for k, w in enumerate(local)]
    np.testing.assert_allclose(series(rows, "local_gap", round=3), gaps, rtol=1e-6)
    assert {r.exactness for r in rows} == {"sampled"}


@pytest.mark.parametrize("everyone", [False, True])
def test_participants_are_those_drawn_and_weigh_what_they_weigh_in_the_average(everyone):
    """Unbiased weights do not sum to 1, and an algorithm may train clients that are not drawn."""
    problem = ridge(population=True, client_weight="samples")
    setting = replace(SETTING, cohort=1, client_weight="samples", average="unbiased", rounds=6)
    method = replace(fedavg, everyone=everyone)
    measured = [measurement(name) for name in ("participation_gap", "out_of_sample_gap", "local_gap")]
    rows = Run(problem, method, setting, 3, measured, every=1).rows()
    states = list(rounds(problem.model, problem.federation, method, setting, 3))
    drawn = []
    for r, state in enumerate(states[1:], 1):
        (client,) = [row.client for row in rows if row.quantity == "local_gap" and row.round == r]
        drawn.append(client)
        w = state.model.numpy()
        risks = [population_risk(problem, w, k) for k in (0, 1)]
        assert series(rows, "participation_gap", round=r) == [
            pytest.approx(0.4 * risks[0] + 0.6 * risks[1] - risks[client], rel=1e-6)
        ]
        here = mean_loss(problem, w, PARTS[client])
        assert series(rows, "out_of_sample_gap", round=r) == [pytest.approx(risks[client] - here, rel=1e-6)]
    assert set(drawn) == {0, 1}


def test_gap_over_the_samples_of_each_round():
    """Fresh samples: equation (8) with Z of one round against plain sums, running mean over rounds."""
    problem = task("ridge(digits, regularisation=0.4)").pool("iid", clients=2, samples=13).problem(seed=5)
    problem = replace(problem, federation=Fresh.from_(problem.federation, per_round=6))
    setting = Setting(rounds=2, cohort=2, batch=3, local_steps=2, step_size=0.05)
    rows = rows_of(problem, ["round_averaged_gap", "train_loss"], setting, every=1)
    states = list(rounds(problem.model, problem.federation, fedavg, setting, 3))
    gaps, seen = [], [set(), set()]
    for r, state in enumerate(states[1:]):
        used = problem.federation.draw(3, r, np.arange(2), np.array([2, 2]), 3).index.reshape(2, -1)
        risks = problem.population.risks(problem.model, state.model.unsqueeze(0))[0]
        here = []
        for k in (0, 1):
            places = used[k].tolist()
            assert len(set(places)) == len(places)
            assert not seen[k] & set(places)
            x, y = problem.federation.inputs[places], problem.federation.targets[places]
            losses = problem.model.evaluate(state.model.unsqueeze(0), x.unsqueeze(0), y.unsqueeze(0))[0]
            here.append(float(risks[k] - losses.mean()))
            seen[k] |= set(places)
        gaps.append(np.mean(here))
    np.testing.assert_allclose(series(rows, "round_averaged_gap"), [gaps[0], np.mean(gaps)], rtol=1e-9)


def test_fresh_samples_run_out():
    fresh = Fresh.from_(ridge().federation, per_round=1)
    for round_, steps, named in ((2, [1, 1], "round 3 .*3 samples of client 0.*2"), (0, [2, 2], "2 steps .*1 samples")):
        with pytest.raises(EmpiricsError, match=named):
            fresh.draw(7, round_, np.array([0, 1]), np.array(steps), 1)


@cases("name", MEASUREMENTS)
def test_without_test_samples_it_is_refused_before_training_or_measured_to_the_end(name):
    try:
        made, said = rows_of(ridge(), [name]), "no need of test samples"
    except EmpiricsError as error:
        made, said = rows_of(ridge(tests=True), [name]), str(error)
    assert "test samples" in said
    assert len(made) > 2


# ---- paired runs on data that differ in one sample, against two runs in plain loops ----

NEW = torch.tensor([[-0.7, 0.45], [1.2, -0.85]], dtype=torch.float64)
TARGETS = torch.tensor([1.0, -1.0], dtype=torch.float64)


@pytest.mark.parametrize("make", [ridge, logistic])
@pytest.mark.parametrize("places", [[2], [2, 0]])
def test_pairs_equal_two_runs_in_plain_loops(make, places):
    problem, new, targets = make(population=True), NEW[: len(places)], TARGETS[: len(places)]
    found = paired_runs(problem, fedavg, SETTING, 3, [Swap(1, np.array(places), new, targets)])
    twin = make(population=True)
    x, y = INPUTS.clone(), problem.federation.targets.clone()
    for place, row, target in zip(places, new, targets, strict=True):
        x[2 + place], y[2 + place] = row, target  # client 1 holds samples 2 to 4
    twin = replace(twin, federation=Federation.of(x, y, [np.array([0, 1]), np.array([2, 3, 4])]))
    servers, paths = by_hand(problem, SETTING, 3)
    with _inputs(x):
        other_servers, other_paths = by_hand(twin, SETTING, 3)
    after = [2 + place for place in places]
    for r in (0, 1, 2):
        apart = np.mean([np.linalg.norm(a[-1] - b[-1]) for a, b in zip(paths[r], other_paths[r], strict=True)])
        assert found.separations[0, r] == pytest.approx(apart, rel=1e-5)
        with _inputs(x):
            before, now = (mean_loss(twin, models[r + 1], after) for models in (servers, other_servers))
        assert found.changes[0, r] == pytest.approx(before - now, rel=1e-4)
    assert found.separations[0, -1] > 0


@contextmanager
def _inputs(changed):
    """The plain loops read the module's inputs, so these are changed for the while."""
    before = INPUTS.clone()
    INPUTS.copy_(changed)
    try:
        yield
    finally:
        INPUTS.copy_(before)


def test_rows_of_a_run_are_means_over_its_pairs_and_clients():
    problem = ridge(population=True)
    rows = pair_rows(problem, fedavg, SETTING, 3, ["swap_gap", "stability"])
    several = swaps(problem, 3, PAIRS)
    singly = np.stack([paired_runs(problem, fedavg, SETTING, 3, [swap]).changes[0] for swap in several])
    assert [row.value for row in rows if row.quantity == "stability"] == pytest.approx(np.abs(singly).mean(0))
    assert (np.abs(singly).mean(0) > np.abs(singly.mean(0))).any()
    clients = paired_runs(problem, fedavg, SETTING, 3, client_swaps(problem, 3)).changes
    found = {(row.client, row.round): row.value for row in rows if row.quantity == "swap_gap"}
    assert found == {(k, r + 1): pytest.approx(clients[k, r]) for k in (0, 1) for r in range(3)}
    assert {row.quantity for row in rows} == {"swap_gap", "stability", "separation"}


def test_mistakes_are_named():
    beyond = Swap(0, np.array([2]), NEW[:1], TARGETS[:1])
    all_refused(
        [
            (lambda: swaps(ridge(), 1, 2), "population test samples"),
            (lambda: paired_runs(ridge(population=True), fedavg, SETTING, 3, [beyond]), "client 0 1 [2]"),
        ]
    )


# ---- one model on everybody's samples, many models on their own ----

LABELS = torch.tensor([0, 1, 2, 1, 0, 2])
ROWS = torch.randn(2, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(5))
LINEAR = Softmax(2, 3)
NETWORK = Network("flat", lambda: nn.Linear(2, 3, bias=False), dtype=torch.float64)
WEIGHTS = torch.tensor([0.3, 0.7], dtype=torch.float64)


def samples():
    return Samples(Federation.of(INPUTS, LABELS, PARTS))


def everything(model, held):
    """All that is evaluated, in one list of tensors."""
    clients = np.array([1, 0])
    return [
        *evaluation.one_model(model, ROWS[0], held),
        *evaluation.own_models(model, ROWS, clients, held),
        *evaluation.every_model(model, ROWS, held),
        evaluation.client_gradients(model, ROWS[0], held),
        evaluation.gradient(model, ROWS, held, WEIGHTS),
        *evaluation.per_sample(model, ROWS[1], held),
    ]


def alike(model, held, other, other_held, rtol=0.0, atol=0.0):
    for a, b in zip(everything(model, held), everything(other, other_held), strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=atol)


def test_networks_have_the_numbers_of_closed_forms_and_chunks_and_forgetting_change_nothing(monkeypatch):
    whole = samples()
    alike(LINEAR, whole, NETWORK, samples(), rtol=1e-12, atol=1e-15)
    expected = everything(LINEAR, whole)
    monkeypatch.setattr(evaluation, "CHUNK", 2)
    monkeypatch.setattr(evaluation, "MOST_CACHED", 8)  # nothing is kept, and every group of clients has one
    assert samples()._cached is None
    for model in (LINEAR, NETWORK):
        for a, b in zip(expected, everything(model, samples()), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-15)


def halved(batch):
    return batch.double() / 2


def test_a_prepared_pool_is_evaluated_on_model_inputs_and_samples_in_another_precision_on_the_models():
    whole = torch.round(2 * INPUTS).to(torch.int8)
    plain = Federation.of(whole.double() / 2, LABELS, PARTS)
    raw = Federation.of(whole, LABELS, PARTS)
    prepared = replace(raw, recipe=Recipe(convert=halved))
    alike(LINEAR, Samples(plain), LINEAR, Samples(prepared))
    single = Samples(Federation.of(INPUTS.float(), LABELS, PARTS))
    alike(LINEAR, single, LINEAR, Samples(Federation.of(INPUTS.float().double(), LABELS, PARTS)))
    assert single.like(ROWS) is single.like(ROWS)
