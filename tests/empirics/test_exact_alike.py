"""Federations whose clients are alike in groups: few numbers say what every client listed by itself says."""

import numpy as np
import pytest
from loops import each

from empirics.algorithms import algorithm
from empirics.errors import EmpiricsError
from empirics.exact import after, AlikeRound, cohorts, draw, ENGINES, listed, Work
from empirics.problems.quadratics import Quadratics
from empirics.training.setting import Setting

SIZES = np.array([3.0, 2.0])
KIND = [0, 0, 0, 1, 1]
SHARES = np.array([0.15, 0.275])
"""Of one client of each group; with equal shares 0.2."""
CASES = [
    (Setting(1, 2), np.full(2, 0.2)),
    (Setting(1, 4), np.full(2, 0.2)),
    (Setting(1, 5, client_weight="samples"), SHARES),
    (Setting(1, 3, sampling="with_replacement"), SHARES),
    (Setting(1, 2, sampling="bernoulli"), np.full(2, 0.2)),
]


def enumerated(setting, shares):
    """Every cohort's probability, weights in the average and indicator of work, client by client."""
    each = shares[KIND]
    everybody = setting.cohort == 5 and setting.sampling == "without_replacement"
    for cohort in cohorts(setting, each):
        weights, works = np.zeros(5), np.zeros(5)
        weights[list(cohort.clients)] = np.array(cohort.counts) / sum(cohort.counts)
        works[list(cohort.clients)] = 1
        yield cohort.probability, each if everybody else weights, works


@pytest.mark.parametrize(("setting", "shares"), CASES)
def test_a_draw_has_the_means_and_covariances_of_all_cohorts(setting, shares):
    pairs = [(p, np.stack([a, i], axis=1)) for p, a, i in enumerated(setting, shares)]
    mean = sum(p * x for p, x in pairs)
    both = sum(p * np.einsum("ia,jb->ijab", x - mean, x - mean) for p, x in pairs)
    found = draw(setting, SIZES, shares)
    np.testing.assert_allclose(found.mean, mean[[0, 3]], rtol=1e-12)
    np.testing.assert_allclose(found.own, both[[0, 3], [0, 3]], rtol=1e-11, atol=1e-16)
    for g, h, i, j in ((0, 0, 0, 1), (0, 1, 0, 3), (1, 0, 3, 0), (1, 1, 3, 4)):
        np.testing.assert_allclose(found.other[g, h], both[i, j], rtol=1e-11, atol=1e-16)


def work():
    """A round of generic numbers: two of the server, two of every client, two sent."""
    draws = np.random.default_rng(11)
    noise, gone = draws.standard_normal((2, 4, 4)), draws.standard_normal((2, 2, 2))
    parts = [0.6 * draws.standard_normal(shape) for shape in [(2, 2, 2)] * 6]
    spread = [x @ np.swapaxes(x, 1, 2) for x in (noise, gone)]
    return Work(*parts, *spread, 0.4 * draws.standard_normal((2, 2)), draws.standard_normal((2, 2)))


def one_by_one(work, setting, shares, mean, covariance):
    """Mean and covariance of (x, y_1 .. y_5) a round later, cohort by cohort."""
    size = 12
    maps = []
    for chance, weights, works in enumerated(setting, shares):
        linear, added = np.zeros((size, size)), np.zeros((size, size))
        linear[:2, :2] = work.stays + work.moves @ sum(a * work.sent_x[k] for a, k in zip(weights, KIND, strict=True))
        for i, (a, here, k) in enumerate(zip(weights, works, KIND, strict=True)):
            rows = slice(2 + 2 * i, 4 + 2 * i)
            linear[:2, rows] = a * work.moves @ work.sent_y[k]
            linear[rows, :2] = work.here_x[k] if here else work.gone_x[k]
            linear[rows, rows] = work.here_y[k] if here else work.gone_y[k]
            source = np.zeros((size, 4))
            source[:2, :2], source[rows, 2:] = a * work.moves, here * np.eye(2)
            added += source @ work.noise[k] @ source.T
            added[rows, rows] += (1 - here) * work.gone_noise[k]
        maps.append((chance, linear, added))
    ends = [linear @ mean for _, linear, _ in maps]
    middle = sum(c * end for (c, _, _), end in zip(maps, ends, strict=True))
    spread = sum(
        c * (linear @ covariance @ linear.T + added + np.outer(end - middle, end - middle))
        for (c, linear, added), end in zip(maps, ends, strict=True)
    )
    return middle, spread


@pytest.mark.parametrize(("setting", "shares"), CASES)
def test_three_rounds_of_groups_are_those_of_all_clients(setting, shares):
    played = AlikeRound(work(), draw(setting, SIZES, shares), SIZES)
    mean, covariance = np.array([1.3, -0.7, *[0.4, 1.1] * 3, *[-0.6, 0.2] * 2]), np.zeros((12, 12))
    u = np.array([1.3, -0.7, 0.4, 1.1, -0.6, 0.2])
    state = played.flat(np.outer(u, u), np.zeros((2, 2, 2)))
    matrix, constant = played.affine
    for _ in range(3):
        mean, covariance = one_by_one(work(), setting, shares, mean, covariance)
        state = matrix @ state + constant
    raw = covariance + np.outer(mean, mean)
    groups = np.zeros((6, 12))
    groups[:2, :2] = np.eye(2)
    for i, k in enumerate(KIND):
        groups[2 + 2 * k : 4 + 2 * k, 2 + 2 * i : 4 + 2 * i] = np.eye(2) / SIZES[k]
    s, v = played.blocks(state)
    np.testing.assert_allclose(s, groups @ raw @ groups.T, rtol=1e-10, atol=1e-12)
    for k in range(2):
        mine = [slice(2 + 2 * i, 4 + 2 * i) for i in range(5) if KIND[i] == k]
        whole = sum(raw[x, x] for x in mine) / SIZES[k]
        middle = groups[2 + 2 * k : 4 + 2 * k]
        np.testing.assert_allclose(v[k], whole - middle @ raw @ middle.T, rtol=1e-9, atol=1e-12)


def test_any_horizon_is_reached_by_squaring():
    draws = np.random.default_rng(5)
    matrix, constant, start = 0.3 * draws.standard_normal((4, 4)), draws.standard_normal(4), draws.standard_normal(4)
    states = listed(matrix, constant, start, 37)
    for rounds in (1, 2, 23, 37):
        last, total = after(matrix, constant, start, rounds)
        np.testing.assert_allclose(last, states[rounds], rtol=1e-12)
        np.testing.assert_allclose(total, states[:rounds].sum(0), rtol=1e-12)
    rest = np.linalg.solve(np.eye(4) - matrix, constant)
    np.testing.assert_allclose(after(matrix, constant, start, 2**40)[0], rest, rtol=1e-10)


# ---- read off the methods' own hooks ----

METHODS = ("fedavg()", "fedinit(beta=0.07)", "fedinit(beta=0.07, reading='proof')", "scaffold()", "fedprox(mu=0.3)",
           "feddyn(alpha=0.4)", "fedcm(alpha=0.3)", "fedavgm(momentum=0.5)")  # fmt: skip


def five_clients(noise=0.4):
    draws = np.random.default_rng(9)
    curves = np.array([[[1.2, 0.2], [0.2, 0.7]], [[0.9, -0.1], [-0.1, 1.4]]])
    kind = [0, 1, 0, 1, 1]
    return Quadratics(
        curves[kind], draws.standard_normal((2, 2))[kind], noise * curves[kind] / 3, start=np.array([1.1, -0.3])
    )


@each(METHODS, lambda written: {"written": written})
def test_groups_say_what_all_cohorts_say(written):
    curve = np.array([[[1.2, 0.2], [0.2, 0.7]]])
    alone = Quadratics(curve, np.array([[0.4, -0.9]]), 0.3 * curve, start=np.array([1.1, -0.3]))
    for problem, cohort in ((five_clients(), 2), (five_clients(), 5), (alone, 1)):
        setting = Setting(rounds=2, cohort=cohort, local_steps=2, step_size=0.11)
        one, two = (ENGINES[name](problem, algorithm(written), setting) for name in ("groups", "moments"))
        for mine, other in ((one.server, two.server), (one.rounds, two.rounds)):
            for word in set(mine) & set(other):
                np.testing.assert_allclose(mine[word], other[word], rtol=1e-8, atol=1e-13, err_msg=word)
        for word in ("grad_norm_sq", "distance_sq"):
            np.testing.assert_allclose(one.iterations(word), two.iterations(word), rtol=1e-8, err_msg=word)


def test_a_thousand_clients_of_whom_ten_take_part_are_followed_without_listing_a_cohort():
    kind = np.arange(1000) % 2
    curves, minima = np.array([[[1.2]], [[0.7]]]), np.array([[0.3], [-1.1]])
    problem = Quadratics(curves[kind], minima[kind], 0.5 * curves[kind], start=np.array([0.9]))
    setting = Setting(rounds=4, cohort=10, local_steps=2, step_size=0.1)
    run = ENGINES["groups"](problem, algorithm("fedavg()"), setting)
    ends = minima[:, 0] + (1 - 0.1 * curves[:, 0, 0]) ** 2 * (0.9 - minima[:, 0])
    apart = ends.var() * 1000 / 999 * (1 / 10 - 1 / 1000)
    noise = np.mean([0.01 * 0.5 * h * (1 + (1 - 0.1 * h) ** 2) for h in curves[:, 0, 0]]) / 10
    wanted = (ends.mean() - problem.minimiser[0]) ** 2 + apart + noise
    assert run.server["distance_sq"][1] == pytest.approx(wanted, rel=1e-9)


def test_draws_that_groups_cannot_follow_are_refused():
    with pytest.raises(EmpiricsError, match="with_replacement"):
        ENGINES["groups"](five_clients(), algorithm("fedavg()"), Setting(2, 2, sampling="with_replacement"))
    with pytest.raises(EmpiricsError, match=r"cohort .*6 > 5"):
        draw(Setting(1, 6), SIZES, SHARES)
