"""Bounds against training on real data: statistics, verdicts that can say no, doubts that keep verdicts open."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from bounds import BOUNDS
from empirics.federation.federation import Federation
from empirics.measuring import measurement, paired_runs, Run, swaps
from empirics.measuring.stability import PAIRS
from empirics.models.linear import Logistic
from empirics.problems.problem import FederatedProblem
from empirics.progress import Silent
from paper_checks.runs.obstacles import obstacle
from paper_checks.runs.origins import RUNS
from paper_checks.validation.command import validate
from paper_checks.validation.measurement_plan import plan
from paper_checks.validation.options import Options
from paper_checks.validation.trained import compare_training
from paper_checks.validation.training_plan import plan_training
from paper_checks.validation.verdicts import Data, differences, lines

SMALL = ["--problem", "softmax(digits, regularisation=0.1)", "--clients", "5", "--rounds", "4", "--seeds", "3"]
SMALL += ["--partition", "dirichlet(1)", "--local-steps", "3"]


def small(*words):
    """The small training, with these options in place of its own."""
    pairs = zip(SMALL[::2], SMALL[1::2], strict=True)
    return [*(part for pair in pairs if pair[0] not in words for part in pair), *words]


@pytest.fixture
def command(tmp_path, run):
    """Runs ``fedbounds validate``: status, output, errors; results go to a folder of the test."""
    return lambda *words: run("validate", *words, "-o", tmp_path)


def training(name_or_bound, *words):
    bound = BOUNDS[name_or_bound] if isinstance(name_or_bound, str) else name_or_bound
    pairs = small(*words)
    given = {
        n[2:].replace("-", "_"): int(v) if v.isdecimal() else v for n, v in zip(pairs[::2], pairs[1::2], strict=True)
    }
    return plan_training(bound, Options.of(RUNS, **given), {})


UNMEASURED = {
    "next_separation": "fedinit.lemma_6",
    "takes_part": "decaying_k.theorem_1_appendix",
    "does not assume that the step size": "classics.hardt_3_8",
    "a step size of its own": "fedcog.corollary",
    "of each of the clients": "fedals.gaussian_mean_local_gap",
    "for no trained model": "fedals.gaussian_mean_gap",
}
MEASURED = """
decaying_k.per_rounds decaying_k.runtime decaying_k.theorem_1 fedals.consensus_distance fedals.one_round_inexact
fedals.optimization_rate fedals.participation_gap fedals.rounds_v2 fedals.lemma_b1 fedcog.theorem fedinit.descent
fedinit.excess_risk_split fedinit.lemma_1 fedinit.lemma_2 fedinit.theorem_1 fedinit.theorem_3 fedinit.theorem_5
"""


def test_every_bound_of_the_catalogue_is_measurable_or_says_why_not():
    measurable = {name for name, bound in BOUNDS.items() if not obstacle(bound, RUNS)}
    assert measurable >= set(MEASURED.split())
    for name, bound in BOUNDS.items():
        assert plan(bound).measurements if name in measurable else obstacle(bound, RUNS), name
    for reason, name in UNMEASURED.items():
        assert reason in obstacle(BOUNDS[name], RUNS)


def test_the_statistic_is_that_of_the_means_over_seeds():
    """min over t of E||grad F||^2 at the server, from runs made here by hand."""
    made = training("fedcog.theorem")
    found = compare_training(made, Silent())
    by_hand = []
    for seed in range(3):
        run = Run(made.base, made.method, made.setting, seed, [measurement("grad_norm_sq")], every=1)
        by_hand.append([row.value for row in run.rows()])
    means = np.array(by_hand)[:, :-1].mean(0)
    assert [line.place for line in found.rows] == [("all",)]
    assert float(found.rows[0].measured.value) == pytest.approx(means.min(), rel=1e-12)
    error = np.array(by_hand)[:, means.argmin()].std(ddof=1) / 3**0.5
    assert float(found.rows[0].measured.error) == pytest.approx(error, rel=1e-12)


def test_a_bound_by_rounds_pairs_each_round_with_the_state_it_starts_from():
    made = training("fedinit.lemma_2")
    found = compare_training(made, Silent())
    assert [line.place for line in found.rows] == [("1",), ("2",), ("3",), ("4",)]
    words = ("divergence", "grad_norm_sq")
    runs = [Run(made.base, made.method, made.setting, s, list(map(measurement, words)), 1).rows() for s in range(3)]
    at = {w: np.mean([r.value for run in runs for r in run if (r.quantity, r.round) == (w, 2)]) for w in words}
    values = {name: known.value for name, known in made.values.items()} | at
    expected = made.bound(**{q.name: values[q.name] for q in made.bound.quantities})
    assert found.rows[2].bound == pytest.approx(float(expected), rel=1e-9)


def test_every_bound_gets_the_smoothness_that_its_assumption_names():
    """Clients' mean losses for a theorem on convergence, single samples' losses for FedALS; both of their models."""
    clients, samples = training("fedinit.lemma_2"), training("fedals.rounds_noise_sharp")
    model = samples.base.model
    inputs = samples.base.federation.inputs.double()
    squares = (inputs**2).sum(-1)
    assert samples.values["smoothness"].value == pytest.approx(
        model.curvature * float(squares.max()) + model.regularisation, rel=1e-6
    )
    tops = []
    for k in range(clients.base.clients):
        x = clients.base.federation.samples(k)[0].double()
        tops.append(float(torch.linalg.eigvalsh(x.T @ x / len(x))[-1]))
    assert clients.values["smoothness"].value == pytest.approx(
        model.curvature * max(tops) + model.regularisation, rel=1e-6
    )
    assert clients.values["smoothness"].value < samples.values["smoothness"].value
    assert samples.setting.step_size <= 2 / (samples.values["smoothness"].value + model.regularisation)
    assert not any(held.doubt for held in (*clients.values.values(), *samples.values.values()))


def test_iterations_are_counted_at_the_average_of_all_clients():
    made = training("decaying_k.per_rounds", "--cohort", "2")
    assert made.everyone
    found = compare_training(made, Silent())
    one = training("decaying_k.per_rounds", "--cohort", "2", "--local-steps", "1")
    assert float(found.rows[0].measured.value) > 0
    assert found.rows[0].verdict == "holds here"
    # With one local step the averages before the steps are the server models.
    ones = compare_training(one, Silent())
    rows = [Run(one.base, one.method, one.setting, s, [measurement("grad_norm_sq")], 1).rows() for s in range(3)]
    means = np.mean([[r.value for r in run][:-1] for run in rows], axis=0)
    assert float(ones.rows[0].measured.value) == pytest.approx(means.min(), rel=1e-9)


PLANTED = """
from dataclasses import replace
from bounds import BOUNDS
true = replace(BOUNDS["fedinit.theorem_4_recursion"], name="mine.true")
cut = replace(true, name="mine.cut", terms={n: t / CUT for n, t in true.terms.items()})
"""


def test_a_planted_bound_is_violated_by_training_and_the_true_one_holds(command, tmp_path):
    path = tmp_path / "planted.py"
    path.write_text(PLANTED.replace("CUT", "1e9"))
    status, out, _ = command(f"{path}:true", *SMALL)
    assert (status, "4 x holds here" in out) == (0, True)
    status, out, _ = command(f"{path}:cut", *SMALL)
    assert (status, "4 x violated" in out) == (1, True)
    assert "all clients run their local steps" in out  # unless an assumption does not hold here
    rows = list(csv.DictReader((tmp_path / "mine.cut.csv").read_text().splitlines()))
    assert {row["verdict"] for row in rows} == {"violated"}
    card = json.loads((tmp_path / "mine.cut.json").read_text())
    assert card["seed_range"] == [0, 2]
    assert card["command"].startswith(f"fedbounds validate {path}:cut --problem")
    assert {"python", "torch"} <= set(card["versions"])
    status, out, _ = command(f"{path}:cut", *SMALL, "--sampling", "with_replacement")
    assert (status, "4 x undecided" in out) == (0, True)  # an assumption is not met
    assert "NOT met: participants are drawn uniformly without replacement" in out
    assert command(f"{path}:cut", *SMALL, "--algorithm", "fedavg()")[0] == 2  # it has no relaxation


def test_a_lower_estimate_decides_nothing_and_outside_the_conditions_only_a_trend_is_judged(command):
    """Squared errors have gradients of unbounded variance: sigma^2 is only known along a run."""
    words = [w if not w.startswith("softmax") else "ridge(iris, regularisation=2)" for w in SMALL]
    status, out, _ = command("fedinit.lemma_2", *words, "--batch", "7")
    assert (status, "4 x undecided" in out, ", inf]" in out) == (0, True, True)
    assert "undecided (gradient_variance " in out
    assert "Trend: over 4 rounds" in out
    status, out, _ = command("fedinit.lemma_2", *SMALL, "--step-size", "0.6")
    assert (status, out.count("OUTSIDE"), "violated" in out) == (0, 4, False)
    assert "NOT met: the step size is at most 1/(2 sqrt(2) K L)" in out
    assert "rank correlation" in out


def test_the_error_of_a_difference_is_the_textbook_one_where_the_bound_is_linear():
    target = np.array([[3.1, 2.7], [3.3, 2.9], [3.2, 2.85], [2.7, 3.4]])
    moving = np.array([[1.2, 0.3], [1.9, 0.8], [1.1, 1.4], [0.6, 0.9]])
    found = differences(Data(Linear(0.7), target, {"y": moving}, {}, {}))
    difference = target - 0.7 * moving
    np.testing.assert_allclose(found.excess, difference.mean(0), rtol=1e-12)
    np.testing.assert_allclose(found.errors, difference.std(0, ddof=1) / 2, rtol=1e-12)


def test_an_equality_holds_to_rounding_and_a_false_one_is_violated():
    target = np.array([[3.1, 2.7], [3.3, 2.9], [3.2, 2.85]])

    def verdicts(factor):
        data = Data(Linear(factor), target, {"y": target / 2}, {}, {})
        return [str(line.verdict) for line in lines(data, ["1", "2"])]

    assert verdicts(2.0) == ["holds here"] * 2
    assert verdicts(2.3) == ["violated"] * 2


class Linear:
    """Stands for an equality ``target = factor y``."""

    relation, quantities, name = "=", (), "toy"

    def __init__(self, factor):
        self.factor = factor

    def __call__(self, y):
        return self.factor * np.asarray(y)

    formula = __call__


def test_mistakes_are_one_line(refused, tmp_path):
    for name, options, *named in (
        ("fedinit.lemma_6", [], "next_separation"),
        ("fedals.one_round_inexact", [], "--rounds 4"),
        ("fedinit.lemma_2", ["smothness=2"], "'smoothness'"),
        ("fedinit.lemma_2", ["--cohort", "0"], "cohort", ">= 1; got 0"),
        ("fedinit.lemma_2", ["--samples", "2.5"], "--samples", "'2.5'"),
        ("fedinit.lemma_2", ["--cohort", "9"], "cohort", "clients"),
        ("fedals.consensus_distance", [], "head"),
        ("fedinit.lemma_2", ["relaxation=-3"], "relaxation", "> -1 and < 1; got -3"),
        # the plan of the runs is not given a second time: rounds=9 and --rounds 9 are the same
        ("fedcog.theorem", ["rounds=9"], "--rounds"),
        ("decaying_k.runtime_fixed", ["upload_rate=3"], "upload_rate"),
    ):
        said = refused("validate", name, *small(*options), "-o", tmp_path)
        assert [word for word in named if word not in said] == [], said
    assert "--problem" in refused("validate", "fedals.rounds_v1")


def test_the_plan_decides_conditions_in_words():
    same, whole = "all clients weigh the same", "its iterations are a multiple of the local steps"
    problem = {"problem": "softmax(iris, regularisation=0.5)", "clients": 3, "partition": "power_law_sizes(1.5)"}
    for name, weights, words, standing in (
        ("decaying_k.lemma_1_sharp", "samples", same, "NOT met"),
        ("decaying_k.lemma_1_sharp", "uniform", same, "met"),
        ("classics.li_theorem_1", "samples", whole, "met"),
    ):
        found = validate(name, **problem, client_weight=weights, rounds=2, local_steps=3, seeds=2, batch=200)
        (line,) = [line for line in found.conditions if words in line]
        assert line.startswith(f"{standing}: ")
        assert all(line.outside for line in found.rows) == (standing == "NOT met")
        noise = [line for line in found.conditions if "bounded variance" in line]
        assert noise
        assert all(line.startswith("met: ") for line in noise)


def coins(clients):
    """Logistic regression without penalty, whose loss is Lipschitz, on classes that no model separates."""
    draw = np.random.default_rng(5)
    x = torch.from_numpy(draw.normal(size=(120, 3)))
    y = torch.from_numpy(np.where(draw.random(120) < 0.5, 1.0, -1.0))
    parts = np.array_split(np.arange(120), clients)
    return FederatedProblem(Logistic(3, 1, 0.0), Federation.of(x, y, parts), name="coins")


def paired_training(bound, clients, **plan):
    told = {"clients": clients, "samples": 30, "rounds": 3, "local_steps": 4, "batch": 5, "seeds": 4, **plan}
    return plan_training(bound, Options.of(RUNS, problem=coins(clients), **told), {})


@pytest.mark.parametrize(
    ("name", "clients"), [("classics.hardt_3_7", 1), ("fedinit.stability_separation", 4), ("fedinit.lemma_1", 4)]
)
def test_stability_is_held_against_its_bounds_where_the_conditions_hold(name, clients):
    made = paired_training(BOUNDS[name], clients)
    found = compare_training(made, Silent())
    (line,) = found.rows
    assert not line.outside
    assert not any(said.startswith("NOT met") for said in found.conditions)
    values, apart = [], BOUNDS[name].target.name == "separation"
    for seed in range(4):
        drawn = made.problem(seed)
        pairs = paired_runs(drawn, made.method, made.setting, seed, swaps(drawn, seed, PAIRS))
        values.append((pairs.separations if apart else np.abs(pairs.changes))[:, -1].mean())
    if name == "fedinit.lemma_1":
        assert line.bound == pytest.approx(np.mean(values), rel=1e-9)
        return
    assert float(line.measured.value) == pytest.approx(np.mean(values), rel=1e-9)
    assert line.verdict == "holds here"
    for factor, verdict in ((0.2, "violated"), (5.0, "holds here")):
        cut = np.mean(values) * factor / line.bound
        planted = replace(BOUNDS[name], terms={n: t * cut for n, t in BOUNDS[name].terms.items()})
        assert compare_training(paired_training(planted, clients), Silent()).rows[0].verdict == verdict
