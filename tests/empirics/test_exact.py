"""Exact moments: plain loops in fractions, closed formulas, listed cohorts and orders, and simulation."""

from dataclasses import replace
from fractions import Fraction as Q
from itertools import permutations, product
from math import comb

import numpy as np
import pytest
from loops import cases
from plain_rounds import Client, PlainRun
from scipy import stats

from bounds.weights import Weights
from empirics.algorithms import algorithm
from empirics.errors import EmpiricsError
from empirics.exact import (
    Averaging,
    cohorts,
    DIGITS,
    draw,
    exact_run,
    expected,
    FLOATS,
    FRACTIONS,
    Group,
    NotAffineError,
    Passes,
    play,
)
from empirics.exact.draws import draw_of_cohorts
from empirics.exact.sampled import sampled
from empirics.problems.quadratics import Quadratics, random_quadratics
from empirics.training.setting import Setting


def exact(problem, written, **setting):
    return exact_run(problem, algorithm(written), Setting(**setting))


# ---- plain loops, in fractions, with every cohort listed ----

WRITTEN = {
    "fedavg": "fedavg()", "fedinit listed": "fedinit(beta=0.15)", "fedinit code": "fedinit(beta=0.15, reading='code')",
    "fedinit proof": "fedinit(beta=0.15, reading='proof')", "scaffold": "scaffold()", "fedprox": "fedprox(mu=0.25)",
    "feddyn": "feddyn(alpha=0.25)", "fedcm": "fedcm(alpha=0.25)", "fedavgm": "fedavgm(momentum=0.5)",
}  # fmt: skip
KNOBS = {"fedinit listed": Q(3, 20), "fedinit code": Q(3, 20), "fedinit proof": Q(3, 20), "fedavgm": Q(1, 2)}
LINE = [([[Q(3, 2)]], [Q(1, 3)], Q(1, 2), 1, 1), ([[Q(1, 2)]], [Q(-7, 5)], Q(1, 3), 2, 1)]
"""Curvature, minimum, deviation of the noise, how many clients, and the weight of one."""
PLANE = [([[Q(3, 2), Q(1, 3)], [Q(1, 3), 1]], [Q(1, 3), Q(-1)], Q(1, 2), 1, Q(2)),
         ([[Q(1, 2), Q(-1, 5)], [Q(-1, 5), Q(2)]], [Q(-7, 5), Q(1, 2)], Q(0), 1, Q(1))]  # fmt: skip
FALLING = [Q(1, 5) * Q(5, 2) / (Q(5, 2) + t) for t in range(4)]
PLANS = {
    "one of three": (LINE, 1, False, None), "two of three": (LINE, 2, False, None), "all": (LINE, 3, False, None),
    "two weighted clients of a plane": (PLANE, 2, False, None), "drawn by weight": (PLANE, 2, True, None),
    "step sizes that fall": (PLANE, 2, False, FALLING),
}  # fmt: skip


@cases("method plan", product(WRITTEN, PLANS))
def test_every_quantity_equals_plain_loops_in_fractions(method, plan):
    """In fractions to the last digit; in digits and in floats as far as they go."""
    groups, cohort, again, falling = PLANS[plan]
    alone = [Client(*given[:3], given[4]) for given in groups for _ in range(given[3])]
    start = [Q(7, 10), Q(-1, 2)][: len(groups[0][1])]
    plain = PlainRun(method, alone, start, cohort=cohort, rounds=2, steps=2, sizes=falling or Q(1, 5),
                     knob=KNOBS.get(method, Q(1, 4)), again=again)  # fmt: skip
    setting = Setting(2, cohort, local_steps=2, step_size=Q(1, 5), step_offset=Q(5, 2) if falling else None,
                      sampling="with_replacement" if again else "without_replacement",
                      client_weight="samples")  # fmt: skip
    told = [Group(a, b, d**2, count, weight) for a, b, d, count, weight in groups]
    for kind in (FRACTIONS, DIGITS, FLOATS):
        with kind.precision():
            run = expected(WRITTEN[method], told, start, setting, kind)
            found = {**run.server, **run.rounds}
            along = {name: run.iterations(name) for name in plain.along}
            average = run.average_gap() if cohort == len(alone) and not again else plain.average_gap
        assert set(plain.readings) <= set(found)
        wanted = {**plain.readings, "gradient_drift": [row[:1] + row[-1:] for row in plain.readings["gradient_drift"]]}
        pairs = [(name, found[name], value) for name, value in wanted.items()]
        pairs += [(name, along[name], value) for name, value in plain.along.items()]
        for name, mine, theirs in [*pairs, ("average_gap", np.array([average]), [plain.average_gap])]:
            if kind is FRACTIONS:
                assert (mine == np.array(theirs, dtype=object)).all(), name
            else:
                near = dict(rtol=1e-11, atol=1e-14) if kind is FLOATS else dict(rtol=1e-15, atol=1e-30)
                np.testing.assert_allclose(mine.astype(float), np.array(theirs, dtype=float), **near, err_msg=name)


def test_a_weighted_mean_of_iterates_is_that_of_plain_loops():
    weights = Weights(Q(13, 10), Q(5, 2), 2)
    alone = [Client(*given[:3], given[4]) for given in PLANE]
    for falling in (None, FALLING):
        plain = PlainRun("fedavg", alone, [Q(7, 10), Q(-1, 2)], cohort=2, rounds=2, steps=2, sizes=falling or Q(1, 5),
                         shares=weights.shares(4))  # fmt: skip
        setting = Setting(2, 2, local_steps=2, step_size=Q(1, 5), step_offset=Q(5, 2) if falling else None)
        told = [Group(a, b, d**2, count, weight) for a, b, d, count, weight in PLANE]
        assert expected("fedavg()", told, [Q(7, 10), Q(-1, 2)], setting).average_gap(weights) == plain.average_gap
    some = expected(
        "fedavg()", told, [0, 0], Setting(2, 1, local_steps=2, step_size=Q(1, 5), sampling="with_replacement")
    )
    with pytest.raises(EmpiricsError, match="2"):
        some.average_gap()


@cases(
    "written",
    ["fedavg()", *(f"fedinit(beta=0.15, reading='{r}')" for r in ("intended", "proof", "code")), "scaffold()"],
)
def test_rounds_that_are_reached_by_squaring_have_the_readings_of_those_that_are_followed(written):
    told = [Group(*given[:2], given[2] ** 2, given[3]) for given in LINE]
    for kind in (FRACTIONS, DIGITS, FLOATS):
        with kind.precision():
            setting = Setting(9, 2, local_steps=2, step_size=Q(1, 5))
            run = replace(expected(written, told, Q(7, 10), setting, kind), trusted=True)
            near = {"rtol": 0} if kind is FRACTIONS else {"rtol": 1e-9}
            series = {name: x.astype(float) for name, x in (*run.server.items(), *run.rounds.items())}
            states = {"all": slice(None), "last": slice(-2, None), "ends": [0, -2, -1]}
            for selection, at in states.items():
                far = replace(run, selection=selection)
                for name, x in far.server.items():
                    np.testing.assert_allclose(x.astype(float), series[name][at], **near, err_msg=name)
                for name in ("local_drift", "global_step", "gradient_drift") if selection != "ends" else ():
                    here = slice(-1, None) if selection == "last" else at
                    np.testing.assert_allclose(far.rounds[name].astype(float), series[name][here], **near, err_msg=name)
            mean = replace(run, selection="mean")
            assert float(mean.server["optimality_gap"][0]) == pytest.approx(
                series["optimality_gap"][:-1].mean(), rel=1e-9
            )
            assert float(mean.rounds["local_drift"][0]) == pytest.approx(series["local_drift"].mean(), rel=1e-9)
            assert run.finite


# ---- one run, its models given ----


@cases("written", [*WRITTEN.values(), "relaxed(scaffold(), beta=0.05)", "fedals(alpha=2)"])
def test_a_run_that_is_played_is_the_expectation_where_nothing_is_random(written):
    bends, places = (Q(3, 2), Q(1, 2), Q(2)), (Q(1, 3), Q(-7, 5), Q(1))
    gradients = [lambda x, a=a, b=b: a * (x - b) for a, b in zip(bends, places, strict=True)]
    setting = Setting(3, 3, local_steps=2, step_size=Q(1, 5))
    layers = {"head": slice(0, 1)}
    found = play(written, gradients, Q(7, 10), [(0, 1, 2)] * 3, local_steps=2, step_size=Q(1, 5), layers=layers)
    groups = [Group(a, b) for a, b in zip(bends, places, strict=True)]
    run = expected(written, groups, Q(7, 10), setting, layers=layers)
    best = sum(a * b for a, b in zip(bends, places, strict=True)) / sum(bends)
    assert [(at.model[0] - best) ** 2 for at in found] == list(run.server["distance_sq"])
    apart = [sum((x - at.model[0]) ** 2 for x in at.memory["last"][:, 0]) / 3 for at in found]
    assert apart == list(run.server["divergence"])
    assert found[1].paths.shape == (3, 3, 1)


def test_cohorts_noise_and_number_of_a_run_that_is_played_are_given():
    slopes = [lambda x: x - 1, lambda x: -x if x < 0 else 2 * x]
    noise = lambda round_, client, step: Q(1, 7) * (client + step)  # noqa: E731
    found = play("fedinit(beta=0.1)", slopes, Q(-1, 2), [(1,), (0, 1)], local_steps=2, step_size=Q(1, 4), noise=noise)
    w = x = Q(-1, 2)
    for step in range(2):
        x = x - Q(1, 4) * (-x + Q(1, 7) * (1 + step) if x < 0 else 2 * x + Q(1, 7) * (1 + step))
    assert found[1].model[0] == x
    assert found[1].memory["last"][:, 0].tolist() == [w, x]
    assert found[1].paths[0, 0, 0] == x + Q(1, 10) * (x - w)
    assert isinstance(
        play("fedavg()", slopes, 1, [(0,)], local_steps=1, step_size=0.5, number=float)[1].model[0], float
    )


@cases(
    "sampling cohort shares",
    [("without_replacement", 2, np.full(2, 0.2)), ("without_replacement", 5, np.array([0.15, 0.275])),
     ("with_replacement", 3, np.array([0.15, 0.275])), ("bernoulli", 2, np.full(2, 0.2))],
)  # fmt: skip
def test_a_draw_has_the_moments_of_all_its_cohorts(sampling, cohort, shares):
    """Of three and two identical clients, each cohort listed once; in fractions the same."""
    group = np.array([0, 0, 0, 1, 1])
    every = cohorts(sampling, cohort, shares[group])
    number = {"without_replacement": comb(5, cohort), "with_replacement": comb(4 + cohort, cohort), "bernoulli": 31}
    assert len({(c.clients, c.counts) for c in every}) == len(every) == number[sampling]
    assert sum(c.probability for c in every) == pytest.approx(1, rel=1e-12)
    whole = cohort == 5 and sampling == "without_replacement"
    weights = [shares[group] if whole else np.array(c.counts) / sum(c.counts) for c in every]
    wanted, found = draw_of_cohorts(every, weights), draw(sampling, cohort, [3, 2], shares)
    np.testing.assert_allclose(found.mean[group], wanted.mean, rtol=1e-12)
    np.testing.assert_allclose(found.own[group], wanted.own, rtol=1e-10, atol=1e-15)
    apart = ~np.eye(5, dtype=bool)
    other = found.other[group[:, None], group]
    np.testing.assert_allclose(other[apart], wanted.other[apart], rtol=1e-9, atol=1e-15)
    if sampling != "bernoulli":
        told = FRACTIONS.array([Q(str(share)) for share in shares])
        exactly = draw(sampling, cohort, [3, 2], told, FRACTIONS)
        for one, two in zip(exactly[:3], found[:3], strict=True):
            np.testing.assert_allclose(FRACTIONS.results(one).astype(float), two, rtol=1e-12, atol=1e-15)


def layered(seed):
    return random_quadratics(seed, 3, 3, layers={"extractor": slice(0, 2), "head": slice(2, 3)})


# ---- what is not linear, or has too many cohorts ----


def test_methods_that_are_not_affine_are_refused():
    following = "scheduled(fedavg(), schedule='k_error')"
    for method in ("fedsam", "fedadam", "fedexp", "layerwise(scaffold(), alpha=2)", "fedavg", following, "moon()"):
        options = {"clip": 10.0} if method == "fedavg" else {}
        with pytest.raises(NotAffineError):
            _ = exact(layered(41), method, rounds=3, cohort=3, local_steps=2, step_size=0.1, **options).states
    bent = algorithm("fedavg()")
    for hook in (lambda work, w, gradient, gradient_at: gradient * gradient, lambda work, w, g, at: g + 1e-3 * w * w):
        with pytest.raises(NotAffineError):
            _ = exact_run(layered(41), replace(bent, direction=hook), Setting(2, 3, step_size=0.1)).states


def test_runs_that_leave_the_numbers_and_cohorts_that_are_too_many_are_refused():
    with pytest.raises(EmpiricsError, match="step size"):
        _ = exact(random_quadratics(31, 3, 2), "fedavg", rounds=2000, cohort=3, local_steps=3, step_size=30.0).states
    uneven = random_quadratics(3, 20, 1, weights=np.arange(1, 21) / 210)
    with pytest.raises(EmpiricsError, match=r"184,756 .*2,000"):
        exact(uneven, "fedavg", rounds=1, cohort=10, client_weight="samples")
    with pytest.raises(EmpiricsError, match=r"cohort .*6 > 5"):
        draw("without_replacement", 6, [3, 2], np.full(2, 0.2))
    with pytest.raises(EmpiricsError, match="1 of 2"):
        expected("fedavg()", [Group(1, 0, weight=2), Group(1, 1)], 0, Setting(1, 1))
    for weights, cohort, named in (([0.2, 0.5, 0.3], 2, "2 of 3"), (None, 4, "cohort .*4")):
        with pytest.raises(EmpiricsError, match=named):
            Averaging(random_quadratics(3, clients=3, dim=2, weights=weights), cohort)


# ---- readings by their definitions ----


def test_a_thousand_clients_of_whom_ten_take_part_are_followed_without_listing_a_cohort():
    kind = np.arange(1000) % 2
    curves, minima = np.array([[[1.2]], [[0.7]]]), np.array([[0.3], [-1.1]])
    problem = Quadratics(curves[kind], minima[kind], 0.5 * curves[kind], start=np.array([0.9]))
    run = exact(problem, "fedavg()", rounds=4, cohort=10, local_steps=2, step_size=0.1)
    ends = minima[:, 0] + (1 - 0.1 * curves[:, 0, 0]) ** 2 * (0.9 - minima[:, 0])
    apart = ends.var() * 1000 / 999 * (1 / 10 - 1 / 1000)
    noise = np.mean([0.01 * 0.5 * h * (1 + (1 - 0.1 * h) ** 2) for h in curves[:, 0, 0]]) / 10
    wanted = (ends.mean() - problem.minimiser[0]) ** 2 + apart + noise
    assert run.server["distance_sq"][1] == pytest.approx(wanted, rel=1e-9)
    assert len(run.clients.sizes) == 2


# ---- plain averaged SGD without cohorts ----

STEP_SIZES = np.array([0.07, 0.31])
WORDS = ("optimality_gap", "grad_norm_sq", "distance_sq")


@pytest.mark.parametrize(
    ("dim", "cohort", "sampling", "weights"),
    [
        (2, 2, "without_replacement", None),
        (3, 1, "without_replacement", None),
        (8, 4, "without_replacement", [0.1, 0.3, 0.25, 0.35]),
        (9, 2, "with_replacement", [0.1, 0.3, 0.25, 0.35]),
        (3, 2, "bernoulli", None),
    ],
)
def test_equal_to_listing_all_cohorts(dim, cohort, sampling, weights):
    """Below and above the size up to which rounds are doubled; at the average of all clients before every step too."""
    problem = random_quadratics(11, 4, dim, noise=0.4, weights=weights)
    runs = Averaging(problem, cohort, sampling)
    found = runs.readings(3, STEP_SIZES, 4)
    for i, size in enumerate(STEP_SIZES):
        plan = Setting(rounds=4, cohort=cohort, sampling=sampling, local_steps=3, step_size=size)
        setting = replace(plan, client_weight="uniform" if weights is None else "samples")
        listed, whole = exact_run(problem, algorithm("fedavg"), setting), runs.run(3, size, 4)
        for word in WORDS:
            assert found[word][:, i] == pytest.approx(listed.server[word], rel=1e-10)
            assert whole.server[word] == pytest.approx(listed.server[word], rel=1e-10)
            assert whole.iterations(word) == pytest.approx(listed.iterations(word), rel=1e-10)
        assert whole.rounds["grad_cap_sq"] == pytest.approx(listed.rounds["grad_cap_sq"], rel=1e-10)
        assert ("divergence" in whole.server) == (cohort == 4)
        if cohort == 4:
            assert whole.server["divergence"] == pytest.approx(listed.server["divergence"], rel=1e-10)


def test_step_sizes_taken_one_after_another_give_the_same_and_what_diverges_is_infinite(monkeypatch):
    runs = Averaging(random_quadratics(3, clients=6, dim=3), 2)
    together = runs.readings(5, STEP_SIZES, 4)
    found = runs.readings(60, [0.2, 900.0], 40)["grad_norm_sq"][-1]
    assert np.isfinite(found).tolist() == [True, False]
    assert found[1] == np.inf
    monkeypatch.setattr("empirics.exact.averaging.AT_ONCE", 1)
    apart = runs.readings(5, STEP_SIZES, 4)
    assert all(apart[word] == pytest.approx(together[word], rel=1e-12) for word in WORDS)


def sample_gradients(rng, sizes, dim):
    """Gradients of single samples at the minimiser: around each client's, which sum to nothing over the clients."""
    return [rng.standard_normal((n, dim)) @ rng.standard_normal((dim, dim)) for n in sizes]


def of_samples(problem, drawn):
    """The federation whose single samples vary as these do."""
    away = [x - x.mean(0) for x in drawn]
    return replace(problem, noise=np.stack([x.T @ x / len(x) for x in away])), away


def test_a_round_of_shuffled_passes_equals_the_list_of_all_orders():
    rng = np.random.default_rng(5)
    sizes, batch, steps, eta = (3, 4), 3, 3, 0.23  # a client of one batch a pass, and one whose second batch is short
    problem, away = of_samples(random_quadratics(2, clients=2, dim=2), sample_gradients(rng, sizes, 2))
    found = Averaging(problem, 1, passes=Passes(np.array(sizes), batch)).readings(steps, [eta], 1)
    gaps = []
    for k, noise in enumerate(away):
        orders = list(permutations(range(len(noise))))
        cut = -(-len(noise) // batch)
        each = []
        for passes in product(orders, repeat=-(-steps // cut)):
            batches = [list(order[i : i + batch]) for order in passes for i in range(0, len(order), batch)]
            w = problem.start.copy()
            for chosen in batches[:steps]:
                w = w - eta * (problem.curvatures[k] @ (w - problem.minima[k]) + noise[chosen].mean(0))
            each.append(problem.loss(w) - problem.optimal_loss)
        gaps.append(np.mean(each))
    assert found["optimality_gap"][1, 0] == pytest.approx(np.mean(gaps), rel=1e-12)


# ---- training by the real loop, over many seeds ----

SEEDS, ERROR_RATE = 200, 1e-3
LAYERS = {"extractor": slice(0, 1), "head": slice(1, 2)}
UNEVEN = np.array([0.45, 0.2, 0.35])


def noisy(**options):
    return random_quadratics(61, 3, 2, noise=0.8, layers=LAYERS, **options)


def sample(quadratics, written, setting):
    """Readings of all seeds: name -> (seeds, entries); the drift only where all clients train in every round."""
    runs = [sampled(quadratics, algorithm(written), setting, seed) for seed in range(SEEDS)]
    found = {name: np.stack([run.server[name] for run in runs]) for name in runs[0].server}
    drift = np.stack([run.rounds["local_drift"] for run in runs])
    return found if np.isnan(drift).any() else {**found, "local_drift": drift}


def worst(sample, trajectory):
    """The largest distance in standard errors, and the limit it should keep to."""
    away = []
    for name, values in sample.items():
        exact = trajectory.server.get(name, trajectory.rounds.get(name))
        assert exact.shape == values.shape[1:], name
        error = values.std(0, ddof=1) / np.sqrt(len(values))
        certain = error <= 1e-12 * (1 + np.abs(exact))
        assert values.mean(0)[certain] == pytest.approx(exact[certain], rel=1e-10, abs=1e-14), name
        away += list(np.abs(values.mean(0) - exact)[~certain] / error[~certain])
    return max(away), stats.norm.isf(ERROR_RATE / 2 / len(away))


SAMPLED = {
    "Bernoulli, weighted": ("fedavg", {"sampling": "bernoulli", "client_weight": "samples"}),
    "falling step size, momentum": ("fedprox(mu=0.7)", {"step_size_decay": 0.8, "momentum": 0.4}),
    "falling local steps": ("scheduled(fedavg(), schedule='k_rounds')", {"local_steps": 4}),
    "layers": ("fedals(alpha=2)", {"cohort": 3, "rounds": 3}),
    "unbiased, weighted": ("fedavg", {"client_weight": "samples", "average": "unbiased"}),
}
"""What the plain loops above leave out."""


@pytest.mark.parametrize("case", SAMPLED)
def test_sampled_training_agrees_with_the_exact_moments(case):
    written, options = SAMPLED[case]
    setting = Setting(**{"rounds": 2, "cohort": 2, "local_steps": 2, "step_size": 0.25, **options})
    quadratics = noisy(**({"weights": UNEVEN} if "weighted" in case else {}))
    trajectory = exact_run(quadratics, algorithm(written), setting)
    away, limit = worst(sample(quadratics, written, setting), trajectory)
    assert away < limit
