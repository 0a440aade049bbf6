"""Rates for every number of rounds: their numbers, exact worst cases below them, simulated federations, refusals."""

import json
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import fedbounds
from bounds.errors import BoundsError
from empirics.algorithms import algorithm
from empirics.algorithms.algorithm import fedavg, renamed
from empirics.training.setting import Setting
from fedbounds import main
from paper_checks.rates.instances import slowest
from paper_checks.rates.lyapunov import Lyapunov, NotCertified
from paper_checks.rates.one_round import one_round
from paper_checks.rates.search import above, Case, certified
from paper_checks.worst_cases import worst_case

ROOT = Path(fedbounds.__file__).parent

KNOWN = {  # (method, K): smallest contraction, least floor, found by an independent prototype at eta = 1/(2K), mu = 0.1
    ("scaffold()", 2): (0.903688, None),
    ("fedavg()", 2): (0.903688, 0.0602),
    ("fedprox(mu=0.5)", 2): (0.909639, 0.0651),
    ("fedinit(beta=0.1)", 2): (0.903688, 0.0870),
    ("scaffold()", 5): (0.904383, None),
    ("fedavg()", 5): (0.904383, 0.0983),
    ("fedprox(mu=0.5)", 5): (0.913269, 0.0947),
    ("fedinit(beta=0.1)", 5): (0.904383, 0.1349),
}


@pytest.mark.parametrize(("method", "steps"), KNOWN)
def test_the_prototype_and_the_proofs_say_the_same(method, steps):
    contraction, floor = KNOWN[method, steps]
    found = certified(Case(algorithm(method), steps, 0.5 / steps, 1.0, 0.1))
    assert found.contraction == pytest.approx(contraction, abs=3e-6)
    assert (found.least and found.least.floor) == (floor and pytest.approx(floor, abs=1.5e-4))
    assert all(said.proof for said in found.statements)


def test_units_change_nothing_but_units():
    one = certified(Case(algorithm("fedinit(beta=0.15)"), 3, 0.2, 1.0, 0.3))
    other = certified(Case(algorithm("fedinit(beta=0.15)"), 3, 0.2 / 7, 7.0, 2.1))
    assert other.contraction == pytest.approx(one.contraction, rel=1e-7)
    assert other.fastest.floor == pytest.approx(one.fastest.floor / 49, rel=1e-4)


@pytest.mark.parametrize("unit", [0.003, 3000.0])
@pytest.mark.parametrize("more", [{}, {"clients": 5, "noisy": True}, {"clients": 4, "cohort": 2}])
def test_far_away_units_have_the_same_rates_too(unit, more):
    def scaled(L):
        return certified(Case(algorithm("fedavgm(momentum=0.3)"), 2, 0.2 / L, L, 0.13 * L, **more))

    one, other = scaled(1.0), scaled(unit)
    assert other.contraction == pytest.approx(one.contraction, rel=1e-7)
    for said, same in zip(other.statements, one.statements, strict=True):
        assert said.proof is not None
        assert said.start_distance == pytest.approx(same.start_distance, rel=1e-3)
        assert said.floor * unit**2 == pytest.approx(same.floor, rel=1e-3)
        assert said.noise_floor * unit**2 == pytest.approx(same.noise_floor, rel=1e-3)


@pytest.mark.parametrize("more", [{}, {"clients": 900, "cohort": 3}])
def test_a_start_that_is_relaxed_by_nothing_is_fedavg(more):
    """Last models that nothing depends on are no reason for a slower rate: they fade like 1 - 1/300 a round."""
    words = dict(local_steps=2, step_size=0.2, smoothness=1.0, strong_convexity=0.2) | more
    [none], [fedavg] = (fedbounds.rate(m, **words).records() for m in ("fedinit(beta=0)", "fedavg()"))
    assert none["proved"]
    for word in ("contraction", "quadratics", "floor", "least_floor"):
        assert none[word] == (fedavg[word] and pytest.approx(fedavg[word], rel=1e-9))


def test_what_is_printed_is_no_smaller_than_what_is_proved():
    """Rates next to 1 have more digits than are usually shown: cut off, they would be smaller."""
    words = dict(local_steps=1, step_size=1e-6, smoothness=1.0, strong_convexity=0.001)
    found = fedbounds.rate("fedavg()", **words)
    [shown] = [float(line.partition("<= ")[2].partition("^T")[0]) for line in found.lines() if "<=" in line]
    assert shown == found.records()[0]["stated"]
    with pytest.raises(BoundsError, match="step_size must be 1e-06 or more"):
        fedbounds.rate("fedavg()", **(words | dict(step_size=9e-7)))


@pytest.mark.parametrize("method", ["scaffold()", "fedavg()", "fedinit(beta=0.1)"])
def test_exact_worst_cases_are_just_below(method):
    found = certified(Case(algorithm(method), 2, 0.3, 1.3, 0.2))
    given = {"smoothness": 1.3, "strong_convexity": 0.2, "initial_distance_sq": 0.7, "optimum_dissimilarity": 0.4}
    for rounds in (1, 3):
        plan = Setting(rounds=rounds, cohort=2, local_steps=2, step_size=0.3)
        exact = worst_case(method, plan, given, "distance_sq").value
        ratio = found.after(rounds, 0.7, 0.4) / exact
        assert 1 - 1e-5 < ratio < (1.06 if "fedinit" in method else 1.002)


def test_neighbouring_points_lose_nothing(monkeypatch):
    case = Case(algorithm("fedprox(mu=0.4)"), 6, 0.11, 1.0, 0.15)
    few = case.program.solve(0.93, case.weights)
    monkeypatch.setattr("paper_checks.rates.lyapunov.ALL_PAIRS", 9)
    program = Lyapunov(case.round, 1.0, 0.15)
    assert len(program.pairs) > len(case.program.pairs)
    assert program.solve(0.93, case.weights).floor == pytest.approx(few.floor, rel=1e-5)


# ---- federations that are simulated in plain loops ----


def moments(curvature, shift, size, steps, cohort, rounds, variance=0.0, start=1.5):
    """E w_T^2 of FedAvg on q_i/2 w^2 - b_i w, minimiser 0, cohorts enumerated, noise variance per gradient."""
    factor = (1 - size * curvature) ** steps
    move = size * shift * sum((1 - size * curvature) ** j for j in range(steps))
    noise = size**2 * variance * sum((1 - size * curvature) ** (2 * j) for j in range(steps))
    mean, square = start, start**2
    for _ in range(rounds):
        means, squares = [], []
        for chosen in combinations(range(len(curvature)), cohort):
            a, b, n = (x[list(chosen)].mean() for x in (factor, move, noise))
            means.append(a * mean + b)
            squares.append(a**2 * square + 2 * a * b * mean + b**2 + n / cohort)
        mean, square = np.mean(means), np.mean(squares)
    return square


def test_cohorts_of_any_size_stay_below_and_a_smaller_floor_would_not():
    draws, largest = np.random.default_rng(8), 0.0
    said = certified(Case(algorithm("fedavg()"), 3, 0.25, 1.0, 0.2, clients=5, cohort=2))
    for _ in range(60):
        curvature = draws.choice([0.2, 0.21, 0.9, 1.0], 5)
        shift = draws.standard_normal(5)
        shift -= shift.mean()
        zeta = (shift**2).mean()
        for rounds in (1, 4, 90):
            exact = moments(curvature, shift, 0.25, 3, 2, rounds)
            f = said.fastest
            assert exact <= f.contraction**rounds * f.start_distance * 1.5**2 + f.floor * zeta
        largest = max(largest, exact / zeta)
    whole = certified(Case(algorithm("fedavg()"), 3, 0.25, 1.0, 0.2))
    assert whole.fastest.floor < largest < said.fastest.floor  # without the spread of cohorts it is exceeded


@pytest.mark.parametrize("cohort", [1, 2])
def test_who_is_drawn_leaves_a_floor_with_one_local_step_too(cohort):
    said = certified(Case(algorithm("fedavg()"), 1, 0.25, 1.0, 0.1, clients=6, cohort=cohort))
    shift = np.array([1.3, -0.4, 0.2, -1.9, 0.6, 0.2])
    exact = moments(np.full(6, 0.1), shift, 0.25, 1, cohort, 400)
    zeta = (shift**2).mean()
    assert 0.5 * said.statements[-1].floor * zeta < exact <= said.statements[-1].floor * zeta
    assert exact <= said.after(400, 1.5**2, zeta)


@pytest.mark.parametrize(
    "method",
    ["relaxed(scaffold(), beta=0.1)", "fedinit(beta=0.2, reading='code')", "fedinit(beta=0.2, reading='proof')"],
)
def test_a_cohort_of_clients_that_keep_something_else_is_refused(method):
    with pytest.raises(NotCertified, match="clients of this one keep"):
        certified(Case(algorithm(method), 2, 0.2, 1.0, 0.2, clients=5, cohort=2))


class Counting:
    """A server that goes as far as its cohort is large: FedAvg where all take part."""

    def __call__(self, work, ends):
        share = float((work.counts > 0).sum()) / work.total
        return work.state.model + share * (work.mean(ends) - work.state.model), {}


def test_a_round_that_counts_who_takes_part_has_no_rate_with_cohorts():
    counting = renamed(fedavg, "counting()", combine=Counting())
    whole = certified(Case(counting, 2, 0.2, 1.0, 0.2))
    assert whole.contraction == pytest.approx(certified(Case(fedavg, 2, 0.2, 1.0, 0.2)).contraction, rel=1e-9)
    with pytest.raises(BoundsError, match="how many take part"):
        certified(Case(counting, 2, 0.2, 1.0, 0.2, clients=5, cohort=2))


def test_noise_stays_below_and_half_of_its_floor_would_not():
    said = certified(Case(algorithm("fedavg()"), 3, 0.25, 1.0, 0.2, clients=4, noisy=True)).fastest
    flat = moments(np.full(4, 0.2), np.zeros(4), 0.25, 3, 4, 200, variance=0.6)
    assert said.noise_floor * 0.6 / 2 < flat <= said.noise_floor * 0.6


@pytest.mark.parametrize("method", ["scaffold()", "fedavgm(momentum=0.3)", "fedinit(beta=0.2)"])
def test_the_map_on_two_quadratics_is_the_method(method):
    """One-dimensional clients trained by the hooks, step by step, against the certificate of the same federation."""
    import torch

    from empirics.exact.maps import Tracing
    from empirics.training.rounds import play
    from paper_checks.rates.instances import round_map
    from paper_checks.worst_cases.recording import Members, Oracle

    round_ = one_round(algorithm(method), 3, 0.4)
    curvature = np.array([0.3, 1.1])

    class Quadratics(Oracle):
        def gradient(self, w, batch):
            return torch.from_numpy(curvature)[:, None] * w

    setting = Setting(rounds=4, cohort=2, local_steps=3, step_size=0.4)
    chosen = algorithm(method)
    state = chosen.begin(torch.full((1,), 1.7, dtype=torch.float64), 2)
    model = Quadratics(2, torch.zeros(1, 1, dtype=torch.float64), 0)
    seen = []
    for _ in range(4):
        everyone = np.arange(2), np.ones(2)
        state = play(model, Members(2), chosen, setting, 0, Tracing(), state, cohort=everyone)
        seen.append(float(state.model))
    step = round_map(round_, np.array([0.7]), np.array([-0.4]))[0]
    vector = np.concatenate([1.7 * round_.start, np.zeros(len(round_.apart))])
    for expected in seen:
        vector = step @ vector
        assert vector[0] == pytest.approx(expected, rel=1e-9)
    assert slowest(round_, 1.1, 0.3) >= np.abs(np.linalg.eigvals(step)).max() ** 2 * (1 - 1e-3)


# ---- what is refused, and the verb ----


@pytest.mark.parametrize(
    ("method", "words"),
    [
        ("fedsam()", "add and scale"),
        ("fedavgm(momentum=0.3, reading='code')", "first round is unlike"),
        ("ditto()", "own"),
    ],
)
def test_what_is_no_linear_round_is_refused_in_one_line(method, words):
    with pytest.raises(BoundsError, match=words) as error:
        fedbounds.rate(method, local_steps=2, step_size=0.2, smoothness=1.4, strong_convexity=0.3)
    assert "\n" not in str(error.value)


class Pull:
    """Weight decay."""

    def __call__(self, work, w, gradient, gradient_at):
        return gradient + 0.3 * w


def test_a_pull_to_the_origin_is_refused():
    with pytest.raises(BoundsError, match="origin"):
        one_round(renamed(fedavg, "pulled()", direction=Pull()), 2, 0.3)


@pytest.mark.parametrize(
    "words",
    [
        dict(strong_convexity=2.0), dict(step_size=0), dict(local_steps=2.5), dict(local_steps=70), dict(cohort=3),
        dict(clients=4, cohort=5), dict(gradient_variance=0.5), dict(smothness=2),
    ],
)  # fmt: skip
def test_values_that_are_none_are_refused(words):
    with pytest.raises(BoundsError):
        fedbounds.rate("fedavg()", **(dict(local_steps=2, step_size=0.2, smoothness=1.4, strong_convexity=0.3) | words))


def test_a_step_that_is_too_large_has_no_rate_and_says_why(capsys):
    words = ["fedavg()", "local_steps=3", "step_size=1.9", "smoothness=1.2", "strong_convexity=0.3"]
    assert main(["rate", *words]) == 1
    assert "does not contract" in capsys.readouterr().out
    with pytest.raises(NotCertified):
        certified(Case(algorithm("feddyn(alpha=0.3)"), 2, 0.25, 1.0, 0.1))


def test_the_verb_says_what_python_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = dict(local_steps=3, step_size=0.2, smoothness=1.4, strong_convexity=0.3)
    more = dict(rounds=6, initial_distance_sq=2.3, optimum_dissimilarity=0.7)
    table = fedbounds.rate("fedavg()", **words, **more)
    assert main(["rate", "fedavg()", *(f"{k}={v}" for k, v in (words | more).items()), "--json", "-o", "own.json"]) == 0
    assert json.loads(capsys.readouterr().out) == table.as_json()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["own-least.json", "own-rounds.json", "own.json"]
    row = table.records()[0]
    assert row["proved"]
    assert row["least_floor"] < row["floor"]
    assert row["contraction"] < row["stated"]
    assert row["bound"] < row["stated"] ** 6 * row["start_distance"] * 2.3 + row["floor"] * 0.7
    sweep = fedbounds.rate("fedavg()", **(words | dict(step_size=[0.1, 0.3])))
    assert [r["contraction"] for r in sweep.records()] == pytest.approx([(1 - 0.03) ** 6, (1 - 0.09) ** 6], abs=2e-6)
    assert len(str(sweep).splitlines()) == 4


SMALL = ["fedavg()", "local_steps=2", "step_size=0.2", "smoothness=1.4", "strong_convexity=0.3"]


def test_a_file_that_is_read_or_is_somebody_elses_is_not_replaced(tmp_path, monkeypatch, capsys):
    """Before anything is computed: neither the input nor another's file loses a byte, and nothing is written."""
    monkeypatch.chdir(tmp_path)
    read, foreign = tmp_path / "dd-least.json", tmp_path / "own-rounds.json"
    read.write_text('{"smoothness": 1.4, "strong_convexity": 0.3}')
    foreign.write_text('{"theirs": 1}')
    there = {path: path.read_bytes() for path in (read, foreign)}
    rest = ["local_steps=2", "step_size=0.2"]
    monkeypatch.setattr("paper_checks.rates.asked.place", None)
    assert main(["rate", "fedavg()", *rest, f"@{read.name}", "-o", "dd.json"]) == 2
    assert "dd-least.json is what this command reads" in capsys.readouterr().err
    assert main(["rate", *SMALL, "-o", "own.json"]) == 2
    assert "own-rounds.json would be replaced" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == there


def test_on_a_full_disk_nothing_is_left_and_what_was_there_stays(tmp_path):
    old = tmp_path / "own.json"
    old.write_text('{"kind":"rate"}')
    shell = f"ulimit -f 1; exec '{sys.executable}' -m fedbounds rate " + " ".join(f"'{word}'" for word in SMALL)
    done = subprocess.run(["bash", "-c", f"{shell} -o '{old}'"], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("fedbounds: ")
    assert "File too large" in done.stderr
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("own.json", '{"kind":"rate"}')]


def test_numbers_are_shown_rounded_up():
    assert [above(x, 3) for x in (0.0123412, 2.0, 417.01, 0.0)] == [0.0124, 2.0, 418.0, 0.0]
