"""A user's own log against a bound: seeds, rounds, statistics, uncertain constants, and what is wrong with a file."""

import csv
import json
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from loops import cases
from scipy import stats

from bounds import BOUNDS
from bounds.core import Statistic
from bounds.errors import BoundsError
from paper_checks.validation import Options, validate
from paper_checks.validation.options import LOG

CONSTANTS = {
    "local_steps": 3,
    "step_size": 0.01,
    "smoothness": 2.5,
    "gradient_variance": 0.7,
    "dissimilarity_offset": 0.3,
    "dissimilarity_factor": 1.2,
    "relaxation": 0.06,
}
WORDS = [f"{name}={value}" for name, value in CONSTANTS.items()]
NAME = "fedinit.lemma_2"
ROWS = {  # divergence and gradient norm by (seed, round)
    (4, 0): (0.31, 2.1),
    (4, 1): (0.22, 1.9),
    (7, 0): (0.33, 2.3),
    (7, 1): (0.25, 1.7),
    (9, 0): (0.29, 2.2),
    (9, 1): (0.21, 1.8),
}
HEAD = "seed,round,local_drift,divergence,grad_norm_sq\n"
WIGGLE = {4: 0.97, 7: 1.04, 9: 1.01}


def bound_at(divergence, gradient):
    return float(BOUNDS[NAME](divergence=divergence, grad_norm_sq=gradient, **CONSTANTS))


def log(share):
    """Rows whose measured drift is near ``share`` of the bound."""
    lines = ["seed,round,local_drift,divergence,grad_norm_sq,note"]
    for (seed, round_), at in ROWS.items():
        lines.append(f"{seed},{round_},{share * WIGGLE[seed] * bound_at(*at)!r},{at[0]},{at[1]},fine")
    return "\n".join(lines) + "\n"


@pytest.fixture
def judge(tmp_path, run):
    """Runs the command on a log: status, output, errors; the results lie in ``tmp_path``."""

    def command(text, *words, name=NAME):
        path = tmp_path / "runs.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return run("validate", name, "--measured", path, *words, "-o", tmp_path)

    return command


def test_a_log_inside_the_bound_holds_and_one_beyond_is_violated(judge, tmp_path):
    status, out, err = judge(log(0.4), *WORDS)
    assert (status, err, "2 x holds here" in out) == (0, "", True)
    status, out, _ = judge(log(1.01), *WORDS)
    assert (status, "2 x undecided" in out) == (0, True)
    status, out, _ = judge(log(1.9), *WORDS)
    assert (status, "2 x violated" in out) == (1, True)
    assert "every client's loss is smooth" in out  # unless an assumption does not hold here
    card = json.loads((tmp_path / f"{NAME}.json").read_text())
    assert (card["seed_names"], card["rounds"]) == (["4", "7", "9"], ["0", "1"])
    assert [word for _, word, _ in card["verdicts"]] == ["violated", "violated"]
    apart = [w for w in WORDS if not w.startswith("step_size")]
    status, out, _ = judge(log(1.9), *apart, "step_size=0.9")
    assert (status, out.count("OUTSIDE"), "violated" in out) == (0, 2, False)
    alone = "\n".join(line for line in log(0.4).splitlines() if line[0] in "s4")
    status, out, _ = judge(alone, *WORDS)
    assert (status, out.count("undecided (one seed: add further runs, numbered in a column seed)")) == (0, 2)


def test_means_and_errors_are_over_seeds(judge, tmp_path):
    judge(log(0.4), *WORDS)
    table = (tmp_path / f"{NAME}.csv").read_text().splitlines()
    place, measured, error, bound = table[2].split(",")[:4]
    drift = np.array([0.4 * WIGGLE[s] * bound_at(*ROWS[s, 1]) for s in (4, 7, 9)])
    assert place == "1"
    assert float(measured) == pytest.approx(drift.mean(), rel=1e-12)
    assert float(error) == pytest.approx(stats.sem(drift), rel=1e-12)
    means = np.mean([ROWS[s, 1] for s in (4, 7, 9)], axis=0)
    assert float(bound) == pytest.approx(bound_at(*means), rel=1e-12)


def test_uncertain_constants_of_a_file_show_an_interval_and_decide_nothing(judge, tmp_path):
    path = tmp_path / "c.json"
    path.write_text(json.dumps({**CONSTANTS, "_interval": {"gradient_variance": [0.7, None], "smoothness": [2.5, 3]}}))
    status, out, _ = judge(log(1.9), f"@{path}")
    assert (status, out.count("gradient_variance is uncertain")) == (0, 2)
    assert ", inf]" in out
    status, out, _ = judge(log(1.9), f"@{path}", "gradient_variance=0.7", "smoothness=2.5")
    assert (status, "2 x violated" in out) == (1, True)


MIN = ["smoothness=2.5", "gradient_variance=0.2", "dissimilarity_offset=0.3", "dissimilarity_factor=1.1"]
MIN += ["initial_gap=0.9", "local_steps=2", "rounds=3", "step_size=0.02", "client_weight=uniform", "clients=6"]


def test_runs_that_agree_decide_nothing(judge):
    """Few digits, a copied run, or nothing random: a log does not say, and rounding is no standard error."""
    for share, jitter in product((0.4, 1.9), (0.0, 1e-16, 1e-9)):
        rows = [f"{s},{r},{share * bound_at(0.3, 2.1) * (1 + jitter * s)!r},0.3,2.1\n" for s in WIGGLE for r in (0, 1)]
        status, out, _ = judge(HEAD + "".join(rows), *WORDS)
        assert (status, out.count("undecided (no spread between seeds")) == (0, 2)
    rows = [f"{s},0,{1.9 * w * bound_at(0.3, 2.1)!r},0.3,2.1\n{s},1,1.25,0.3,2.1\n" for s, w in WIGGLE.items()]
    status, out, _ = judge(HEAD + "".join(rows), *WORDS)
    assert (status, "1 x undecided, 1 x violated" in out, out.count("(no spread between seeds")) == (1, True, 1)


ROW = "1,2,0.3,0.4,0.5\n"
UNREADABLE = [  # the file, and the names and numbers that the message must have
    ("", "CSV"),
    (HEAD, "line of names"),
    ("seed,round,locl_drift\n1,2,3\n", "local_drift", "'locl_drift'"),
    (HEAD + ROW + "1,3,0.3,oops,0.5\n", "line 3", "divergence", "'oops'"),
    (HEAD + "1,2,0.3,0.4\n", "line 2", "4 cells", "5", "0.5, not 0,5"),
    (HEAD.replace(",", ";") + "1;2;0.3;0.4;0.5\n", "commas"),
    (HEAD + "1,2,1e999,0.4,0.5\n", "line 2", "local_drift", "'1e999'"),
    (HEAD + "1,2,-0.3,0.4,0.5\n", "line 2", "local_drift", ">= 0; got -0.3"),
    (HEAD + "1,2.5,0.3,0.4,0.5\n", "line 2", "round", "'2.5'"),
    (HEAD + "nan,1,0.3,0.4,0.5\n", "line 2", "seed", "'nan'"),
    (HEAD.replace("seed", "Seed") + "1,1,0.3,0.4,0.5\n", "'Seed'", "seed"),
    ("seed,local_drift,divergence,grad_norm_sq\n5,0.1,0.2,1.1\n6,0.2,0.3,1.2\n5,0.3,0.4,1.3\n", "line 4", "seed 5"),
    ("round,local_drift,divergence,grad_norm_sq\n5,0.1,0.2,1.1\n5,0.3,0.4,1.3\n", "line 3", "round 5", "seed"),
    (HEAD + ROW + "01,2.0,0.3,0.4,0.5\n", "line 3", "seed 1, round 2"),
    (HEAD + ROW + "3,4,0.3,0.4,0.5\n", "seed 1", "round 4"),
    (b"\xff\xfe\x00", "CSV"),
]
MISFITTING = [
    (WORDS[1:], "local_steps"),
    ([*WORDS, "divergence=0.3"], "divergence", "twice"),
    ([*WORDS[:-1], "relaxation=0.01:0.05:3"], "relaxation", "0.01:0.05:3"),
    ([*WORDS, "smothness=3"], "'smoothness'"),
]


def test_files_and_values_that_cannot_be_used_are_one_line(judge, refused):
    cases = [(text, WORDS, named) for text, *named in UNREADABLE]
    for text, words, named in cases + [(log(0.4), words, named) for words, *named in MISFITTING]:
        status, out, err = judge(text, *words)
        assert (status, out, err.count("\n")) == (2, "", 1), text
        assert [name for name in named if name not in err] == [], err
    assert "nowhere.csv" in refused("validate", NAME, "--measured", "nowhere.csv")


THEOREM = "fedcog.theorem"
PLAN = ["dissimilarity_factor=1.5", "dissimilarity_offset=0.3", "gradient_variance=0.4", "initial_gap=2",
        "local_steps=2", "smoothness=1.1", "step_size=0.03", "rounds=2", "client_weight=uniform"]  # fmt: skip


def norms(**columns):
    """Three runs of two rounds, with further columns by (seed, round)."""
    lines = [",".join(["seed", "round", "grad_norm_sq", *columns])]
    for seed, round_ in ((s, r) for s in range(3) for r in range(2)):
        more = [f"{value(seed, round_)}" for value in columns.values()]
        lines.append(",".join([f"{seed}", f"{round_}", f"{0.1 + 0.01 * seed + 0.02 * round_:.3f}", *more]))
    return "\n".join(lines) + "\n"


def test_runs_of_different_plans_are_no_seeds_of_one(judge):
    words = [*(w for w in PLAN if not w.startswith("local_steps")), "clients=7"]
    for column, of, told in (
        ("local_steps", lambda seed, round_: 2 + 2 * (seed == 1), words),
        ("algorithm", lambda seed, round_: "ab"[seed % 2], [*PLAN, "clients=7"]),
        ("learning_rate", lambda seed, round_: 0.3 + seed % 2, [*PLAN, "clients=7"]),
    ):
        status, _, err = judge(norms(**{column: of}), *told, name=THEOREM)
        assert (status, err.count("\n"), f"{column} differs between" in err) == (2, 1, True)
    decays = norms(learning_rate=lambda seed, round_: 0.3 / (1 + round_))  # may change with the rounds
    status, out, _ = judge(decays, *PLAN, "clients=7", name=THEOREM)
    assert (status, "learning_rate" in out) == (0, True)


GIVEN = {
    "smoothness": 2.5, "gradient_variance": 0.2, "dissimilarity_offset": 0.3, "dissimilarity_factor": 1.1,
    "initial_gap": 0.9, "local_steps": 2, "step_size": 0.002, "clients": 6, "cohort": 3, "relaxation": 0.01,
    "pl_constant": 0.4, "contraction": 0.3, "initial_loss": 2.3, "current_loss": 2.3, "optimal_loss": 0.2,
    "strong_convexity": 0.5,
    "grad_cap_sq": 1.7, "heterogeneity": 0.4, "initial_divergence": 0.3, "final_divergence": 0.1,
}  # fmt: skip
LISTS = {"client_weight": "uniform", "client_gradient_variance": "[" + ",".join(["0.3"] * 6) + "]"}
LEAST, LAST, ENDS = "fedcog.theorem", "fedinit.theorem_2", "fedinit.theorem_5"
MEANS = ("fedinit.theorem_1", "fedinit.theorem_4")
ITERATED = "decaying_k.per_rounds"


def given(bound, **told):
    asked = {q.name for q in bound.quantities} | ({"clients"} if bound.axis else set())
    given = {name: value for name, value in {**GIVEN, **LISTS}.items() if name in asked}
    return tuple(f"{name}={value}" for name, value in {**given, **told}.items())


def table(path, bound, numbers, values, column=None):
    """Three runs with a little spread; ``column`` are the numbers of a column ``rounds``."""
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["seed", "round", bound.target.name, *(["rounds"] if column else [])])
        for seed, share in ((3, 0.98), (5, 1.01), (8, 1.03)):
            for i, (number, value) in enumerate(zip(numbers, values, strict=True)):
                rows.writerow([seed, number, share * value, *([column[i]] if column else [])])
    return path


@pytest.fixture
def judged(tmp_path):
    """The lines for a log of these rounds and values."""

    def lines(bound, numbers, values, /, column=None, **told):
        bound = BOUNDS[bound] if isinstance(bound, str) else bound
        path = table(tmp_path / "runs.csv", bound, numbers, values, column)
        found = validate(bound, LOG, Options.of(LOG, measured=path, words=given(bound, **told)))
        return [(*line.place, str(line.verdict), line.why) for line in found.rows]

    return lines


LARGE, SMALL = 1e9, 1e-9


EVERY = replace(BOUNDS[LEAST], name="mine.every", statistic=Statistic("every", "rounds", "server model"))
MEAN = replace(BOUNDS[LEAST], name="mine.mean", statistic=Statistic("mean", "rounds", "server model"))
STEPPED = replace(BOUNDS[ITERATED], name="mine.stepped", statistic=replace(BOUNDS[ITERATED].statistic, kind="mean"))
TURNED = replace(BOUNDS[LEAST], name="mine.turned", relation=">=")
TWO = {"rounds": 2, "local_steps": 2}
VIOLATED, HOLDS = [("all", "violated", "")], [("all", "holds here", "")]
DECIDED = [  # a bound, rounds and values of a log, what is given; the lines (place, verdict, why) or a refusal
    # The least of all rounds is at most that of some.
    (LEAST, (1, 2, 3), (LARGE,) * 3, {"rounds": 100}, [("all", "undecided", "97 of 100 rounds are not in the log")]),
    (LEAST, (1, 2, 3), (LARGE, SMALL, LARGE), {"rounds": 100}, HOLDS),
    # Numbers from 1 are rounds, from 0 models; the last model is none that opens a round, however small it is.
    (LEAST, (1, 2, 3), (LARGE, LARGE, LARGE), {"rounds": 3}, VIOLATED),
    (LEAST, (0, 1, 2, 3), (LARGE, LARGE, LARGE, SMALL), {"rounds": 3}, VIOLATED),
    (ITERATED, range(5), (LARGE,) * 5, TWO, VIOLATED),
    (ITERATED, range(1, 5), (LARGE,) * 4, TWO, [("all", "undecided", "1 of 5 iterations are not in the log")]),
    (ITERATED, range(3), (LARGE, SMALL, LARGE), TWO, HOLDS),
    (STEPPED, range(5), (SMALL, SMALL, SMALL, SMALL, LARGE), TWO, HOLDS),
    (STEPPED, range(1, 5), (LARGE, SMALL, SMALL, SMALL), TWO, VIOLATED),
    # Bounded from below, one round can violate.
    (TURNED, (1, 2), (LARGE, LARGE), {"rounds": 9}, [("all", "undecided", "7 of 9 rounds are not in the log")]),
    (TURNED, (1, 2), (LARGE, SMALL), {"rounds": 9}, VIOLATED),
    (MEAN, (1, 2, 4), (LARGE,) * 3, {"rounds": 6}, "round 3 and 2 more"),
    (MEAN, (1, 2, 3), (LARGE,) * 3, {"rounds": 3}, VIOLATED),
    (MEAN, (0, 1, 2, 3), (SMALL, SMALL, SMALL, LARGE), {"rounds": 3}, HOLDS),
    (EVERY, (1, 2, 3), (5, 5, 5), {"rounds": 2}, "round 3 beyond the run of 2"),
    *((name, range(61), (5,) * 61, {"rounds": 3}, "rounds 4, 5, 6, ..., 60 beyond the run of 3")
      for name in (LEAST, LAST, ENDS, *MEANS)),
    # Of a statement on a whole run only the row of its end is judged.
    *((name, (1, 5, 7), (SMALL, SMALL, LARGE), {"rounds": 7}, [("7", "violated", "")])
      for name in (LAST, ENDS, *MEANS)),
    *((name, (1, 2, 3), (SMALL,) * 3, {"rounds": 100}, "round 100 is not in the log") for name in (LAST, ENDS, *MEANS)),
    # Where the bound does not say how long a run is, the log does.
    ("fedinit.lemma_1", (1, 2, 90), (LARGE, LARGE, SMALL), {"stability": 0.3}, [("90", "holds here", "")]),
    # A column of rounds makes each row its own run where it is the row's round.
    *((name, (1, 2, 3), (LARGE, SMALL, LARGE), {"column": (1, 2, 3)},
       [("1", "violated", ""), ("2", "holds here", ""), ("3", "violated", "")]) for name in (ENDS, *MEANS, EVERY)),
    (ENDS, (1, 2, 3), (5, 5, 5), {"column": (1, 2, 9)}, "the row's own round"),
    (LEAST, (1, 2), (5, 5), {"column": (1, 2)}, "the same in all rows"),
    (LAST, (1, 2, 3, 4), (5,) * 4, {"column": (2,) * 4}, "rounds 3, 4 beyond the run of 2"),
]  # fmt: skip


@cases("bound numbers values told expected", DECIDED)
def test_the_rounds_of_a_statistic_decide(bound, numbers, values, told, expected, judged):
    if isinstance(expected, str):
        with pytest.raises(BoundsError) as caught:
            judged(bound, numbers, values, **told)
        assert expected in str(caught.value)
    else:
        assert judged(bound, numbers, values, **told) == expected


def test_without_a_column_of_rounds_a_row_is_what_was_made_of_a_whole_run(tmp_path):
    for name in (LEAST, LAST, ENDS, *MEANS):
        bound = BOUNDS[name]
        path = tmp_path / "runs.csv"
        path.write_text(f"seed,{bound.target.name}\n1,1.1e9\n2,1.2e9\n4,1.3e9\n")
        found = validate(bound, LOG, Options.of(LOG, measured=path, words=given(bound, rounds=100)))
        assert [str(line.verdict) for line in found.rows] == ["violated"], name
