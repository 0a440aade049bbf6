"""Uncertain constants of a file: ``eval`` prints the interval of the bound, the other verbs say what they did."""

import json

import pytest

import fedbounds
from bounds import get
from bounds.points import POINTS

VALUES = {
    "smoothness": 1.3,
    "strong_convexity": 0.4,
    "client_weight": [0.3, 0.7],
    "local_gap": [0.31, 0.47],
    "non_iidness": [0.12, 0.23],
}


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def command(*words, interval=None, **changes):
        held = {n: v for n, v in {**VALUES, **changes}.items() if v is not None}
        held |= {"_interval": interval or {}, "_how": {"smoothness": "by eye"}}
        (tmp_path / "c.json").write_text(json.dumps(held))
        status = fedbounds.main([str(w) for w in words])
        out, err = capsys.readouterr()
        return status, out, err

    return command


def at(**changes):
    return get("fedals.one_round")(**{**VALUES, **changes})


UNCERTAIN = {"smoothness": [1.1, 1.9], "strong_convexity": [0.3, 0.5]}
ENDS = (at(smoothness=1.1, strong_convexity=0.5), at(smoothness=1.9, strong_convexity=0.3))


def test_eval_prints_the_interval(run):
    status, out, err = run("eval", "fedals.one_round", "@c.json", interval=UNCERTAIN)
    assert (status, err) == (0, "")
    assert out.startswith(f"generalization_gap <= {at():.6g}")
    low, high = ENDS
    assert out.endswith(f"from {low:.6g} to {high:.6g} as uncertain constants vary: smoothness, strong_convexity\n")


def test_every_point_of_a_sweep_has_its_own(run):
    sweep = ["eval", "fedals.one_round", "@c.json", "strong_convexity=0.3,0.5"]
    _, out, _ = run(*sweep, interval=UNCERTAIN)
    head, *rows = out.splitlines()[1:]
    assert head.split()[:4] == ["strong_convexity", "value", "low", "high"]
    for row, mu in zip(rows, (0.3, 0.5), strict=True):
        wanted = [mu, *(at(smoothness=smooth, strong_convexity=mu) for smooth in (1.3, 1.1, 1.9))]
        assert [float(cell) for cell in row.split()[:4]] == pytest.approx(wanted, rel=1e-5)
    _, out, _ = run(*sweep, "--json", interval=UNCERTAIN)
    shown = json.loads(out)
    assert shown["low"] == pytest.approx([at(smoothness=1.1, strong_convexity=mu) for mu in (0.3, 0.5)], rel=1e-12)
    assert shown["high"] == pytest.approx([at(smoothness=1.9, strong_convexity=mu) for mu in (0.3, 0.5)], rel=1e-12)


def test_a_constant_without_an_end(run):
    _, out, _ = run("eval", "fedals.one_round", "@c.json", interval={"local_gap": [VALUES["local_gap"], [None, None]]})
    assert out.endswith(f"from {at():.6g} to inf as uncertain constants vary: local_gap\n")
    _, out, _ = run("eval", "fedals.one_round", "@c.json", "--json", interval={"smoothness": [1.3, None]})
    assert json.loads(out)["high"] == "inf"


def test_an_end_at_infinity_is_the_limit_and_not_a_number_far_out(run):
    """K* falls with G^2 to 0: the interval must not end at K* of a G^2 that is a million times as large."""
    others = POINTS["decaying_k.k_star"]
    held = {"grad_cap_sq": [others["grad_cap_sq"], None]}
    _, out, _ = run("eval", "decaying_k.k_star", "@c.json", interval=held, **others)
    highest = get("decaying_k.k_star")(**others)
    assert out.endswith(f"\nfrom 0 to {highest:.6g} as uncertain constants vary: grad_cap_sq\n")


def test_an_interval_without_a_proof_says_at_least(run):
    crossing = {"smoothness": [1.1, 1.9], "strong_convexity": [0.3, 1.2]}  # L/mu may not fall below 1
    _, out, err = run("eval", "fedals.one_round", "@c.json", interval=crossing)
    assert "\nat least from " in out
    assert "for want of a proof" in err
    _, out, _ = run("eval", "fedals.one_round", "@c.json", "--json", interval=crossing)
    assert json.loads(out)["proven"] is False
    _, out, _ = run("eval", "fedals.one_round", "@c.json", "--json", interval=UNCERTAIN)
    assert json.loads(out)["proven"] is True


STEPS = {
    "dissimilarity_factor": 2.3, "dissimilarity_offset": 0.83, "initial_gap": 3.7, "gradient_variance": 1.9,
    "local_steps": 5, "rounds": 240,
}  # fmt: skip


def test_minimize_carries_the_intervals_through(run):
    interval = {"smoothness": [1.1, 1.9], "gradient_variance": [1.2, 2.6]}
    status, out, err = run("minimize", "fedcog.theorem", "over=step_size", "@c.json", interval=interval, **STEPS)
    assert (status, err.count("\n")) == (0, 1)
    assert "intervals over smoothness, gradient_variance are at least so wide" in err
    bound, others = get("fedcog.theorem"), {**STEPS, "client_weight": VALUES["client_weight"]}
    corners = [{"smoothness": L, "gradient_variance": v} for L in (1.1, 1.9) for v in (1.2, 2.6)]
    best = [bound.minimize("step_size", **{**others, **corner}) for corner in corners]
    shown = {line.rsplit("  ", 1)[0].strip(): line.rsplit("  ", 1)[1].strip() for line in out.splitlines()}
    for name, found in (("step_size", [b.at for b in best]), ("grad_norm_sq", [b.value for b in best])):
        low, high = map(float, shown[f"{name}, at least"].split(" to "))
        assert (low, high) == pytest.approx((min(found), max(found)), rel=1e-4)
        assert low < float(shown[name]) < high


def test_an_endless_constant_takes_a_minimum_to_its_limit(run):
    interval = {"gradient_variance": [1.9, None]}
    _, out, _ = run("minimize", "fedcog.theorem", "over=step_size", "@c.json", interval=interval, **STEPS)
    best = get("fedcog.theorem").minimize(
        "step_size", **{**{n: VALUES[n] for n in ("smoothness", "client_weight")}, **STEPS}
    )
    assert f"step_size, at least      0 to {best.at:.6g}\n" in out
    assert f"grad_norm_sq, at least   {best.value:.6g} to inf\n" in out


def test_solve_carries_them_through_and_says_where_there_is_none(run):
    solve = ["solve", "fedals.one_round", "for=strong_convexity", "--smallest", "@c.json"]
    values = {"strong_convexity": None}
    _, out, _ = run(*solve, "target=0.9", interval={"smoothness": [1.1, 1.9]}, **values)
    bound, others = get("fedals.one_round"), {n: v for n, v in VALUES.items() if n != "strong_convexity"}
    ends = [bound.solve("strong_convexity", target=0.9, side="smallest", **{**others, "smoothness": L}).at
            for L in (1.1, 1.9)]  # fmt: skip
    assert f"smallest strong_convexity, at least   {ends[0]:.6g} to {ends[1]:.6g}\n" in out
    assert "none at some" not in out
    _, out, _ = run(*solve, "target=0.9", interval={"local_gap": [[0.1, 0.2], [5.5, 6.5]]}, **values)
    assert "none at some of the constants" in out


def test_values_that_are_typed_are_certain(run):
    _, out, _ = run("eval", "fedals.one_round", "@c.json", "smoothness=1.4", interval={"smoothness": [1.1, 1.9]})
    assert "from" not in out
    _, out, _ = run("eval", "fedals.one_round", "@c.json", "--json")
    assert "low" not in json.loads(out)


def test_where_the_bound_is_silent_there_is_no_interval(run):
    theorem = ["eval", "fedcog.theorem", "@c.json", "rounds=240", "local_steps=5,500", "step_size=0.031", "--json"]
    others = {"dissimilarity_factor": 2.3, "dissimilarity_offset": 0.83, "initial_gap": 3.7, "gradient_variance": 1.9}
    _, out, _ = run(*theorem, interval={"gradient_variance": [1.7, 2.1]}, **others)
    shown = json.loads(out)
    assert shown["value"][1] is shown["low"][1] is shown["high"][1] is None
    assert shown["low"][0] < shown["value"][0] < shown["high"][0]


def test_verbs_that_take_values_alone_say_so(run):
    said = "fedbounds: uncertain constants were taken at their values, not over their intervals: smoothness\n"
    interval = {"smoothness": [1.1, 1.9]}
    assert run("show", "fedals.one_round", "@c.json", "--sensitivity", interval=interval)[2] == said
    status, _, err = run("plot", "fedals.one_round", "x=strong_convexity=0.2:0.6:3", "@c.json", interval=interval)
    assert (status, err) == (0, said)


@pytest.mark.parametrize(
    ("interval", "says"),
    [
        ([1, 2], "c.json: _interval must hold [low, high] by quantity"),
        ({"smoothness": 3}, "c.json: _interval of smoothness must be [low, high], null where there is no end; got 3"),
        ({"smoothness": [1, 2, 3]}, "c.json: _interval of smoothness must be [low, high]"),
        (
            {"smoothness": ["1", 2]},
            'c.json: _interval of smoothness must hold numbers, or lists of one length; got ["1"',
        ),
        ({"smoothness": [1.9, 1.1]}, "c.json: _interval of smoothness must have its low end below its high end"),
        (
            {"smoothness": [[1, 2], [3, 4, 5]]},
            "c.json: _interval of smoothness must hold numbers, or lists of one length",
        ),
    ],
)
def test_an_interval_that_is_none_is_refused_in_one_line(interval, says, run):
    status, out, err = run("eval", "fedals.one_round", "@c.json", interval=interval)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert says in err


# ---- constants that a bound takes under another name ----


def test_a_bound_on_single_samples_takes_their_smoothness_of_a_file_and_says_so(run):
    status, out, err = run("eval", "fedals.one_round", "@c.json", "--json", sample_smoothness=2.9)
    assert (status, json.loads(out)["value"]) == (0, pytest.approx(at(smoothness=2.9), rel=1e-12))
    assert err == (
        "fedbounds: smoothness of fedals.one_round is sample_smoothness of c.json, 2.9: the loss of every sample is "
        "L-smooth\n"
    )
    interval = {"sample_smoothness": [2.2, 3.6]}
    status, out, _ = run("eval", "fedals.one_round", "@c.json", "--json", interval=interval, sample_smoothness=2.9)
    held = json.loads(out)
    assert (held["low"], held["high"]) == pytest.approx((at(smoothness=2.2), at(smoothness=3.6)), rel=1e-12)


def test_a_typed_value_goes_before_it_and_a_file_without_it_is_read_as_before(run):
    typed = run("eval", "fedals.one_round", "@c.json", "smoothness=1.7", "--json", sample_smoothness=2.9)
    assert (json.loads(typed[1])["value"], typed[2]) == (pytest.approx(at(smoothness=1.7), rel=1e-12), "")
    plain = run("eval", "fedals.one_round", "@c.json", "--json")
    assert (json.loads(plain[1])["value"], plain[2]) == (pytest.approx(at(), rel=1e-12), "")


def test_other_bounds_keep_the_smoothness_of_the_clients(run):
    name = "fedinit.step_size_cap_lemma_3"
    status, out, err = run("eval", name, "@c.json", "local_steps=3", "--json", sample_smoothness=2.9)
    assert (status, json.loads(out)["value"], err) == (0, pytest.approx(1 / (3 * 1.3), rel=1e-12), "")


def test_plots_take_it_too(run):
    words = ("plot", "fedals.one_round", "x=strong_convexity=0.2:0.6:3", "@c.json")
    status, _, err = run(*words, sample_smoothness=2.9)
    assert (status, "is sample_smoothness of c.json, 2.9" in err) == (0, True)
