"""A user's own log against a bound: seeds, rounds, statistics, uncertain constants, and what is wrong with a file."""

import json
import warnings

import numpy as np
import pytest
from scipy import stats

import fedbounds
from bounds import BOUNDS
from paper_checks.validation import judging

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
WIGGLE = {4: 0.97, 7: 1.04, 9: 1.01}


def bound_at(divergence, gradient):
    """Lemma 2 of FedInit written out."""
    c = CONSTANTS
    K, eta = c["local_steps"], c["step_size"]
    noise = 3 * K**2 * eta**2 * c["gradient_variance"]
    spread = 12 * K**3 * eta**2 * (c["dissimilarity_offset"] + c["dissimilarity_factor"] * gradient)
    return 4 * K * c["relaxation"] ** 2 * divergence + noise + spread


def log(share):
    """Rows whose measured drift is near ``share`` of the bound."""
    lines = ["seed,round,local_drift,divergence,grad_norm_sq,note"]
    for (seed, round_), at in ROWS.items():
        lines.append(f"{seed},{round_},{share * WIGGLE[seed] * bound_at(*at)!r},{at[0]},{at[1]},fine")
    return "\n".join(lines) + "\n"


@pytest.fixture
def judge(tmp_path, capsys):
    """Runs the command on a log: status, output, errors; the results lie in ``tmp_path``."""

    def run(text, *words, name=NAME):
        path = tmp_path / "runs.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        status = fedbounds.main(["validate", name, "--measured", str(path), *words, "-o", str(tmp_path)])
        return status, *capsys.readouterr()

    return run


def test_a_log_inside_the_bound_holds_and_one_beyond_is_violated(judge, tmp_path):
    status, out, err = judge(log(0.4), *WORDS)
    assert (status, err, "2 x holds here" in out) == (0, "", True)
    status, out, _ = judge(log(1.9), *WORDS)
    assert (status, "2 x violated" in out) == (1, True)
    assert "unless one of these does not hold here: every client's loss is L-smooth" in out
    card = json.loads((tmp_path / f"{NAME}.json").read_text())
    assert (card["seed_names"], card["rounds"]) == (["4", "7", "9"], ["0", "1"])
    assert [word for _, word, _ in card["verdicts"]] == ["violated", "violated"]


def test_close_to_the_bound_it_is_undecided(judge):
    status, out, _ = judge(log(1.01), *WORDS)
    assert (status, "2 x undecided" in out) == (0, True)


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


def test_a_planted_bound_is_violated_by_the_log_that_the_true_one_allows(judge, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(
        "from dataclasses import replace\nfrom bounds import BOUNDS\ntrue = BOUNDS['fedinit.lemma_2']\n"
        "cut = replace(true, name='mine.cut', terms={n: t / 1000 for n, t in true.terms.items()})\n"
    )
    assert judge(log(0.4), *WORDS, name=f"{path}:true")[0] == 0
    status, out, _ = judge(log(0.4), *WORDS, name=f"{path}:cut")
    assert (status, "2 x violated" in out) == (1, True)


def test_one_run_gives_no_verdict(judge):
    alone = "\n".join(line for line in log(0.4).splitlines() if line[0] in "s4")
    status, out, _ = judge(alone, *WORDS)
    assert (status, out.count("undecided (one seed)")) == (0, 2)


def test_uncertain_constants_of_a_file_show_an_interval_and_decide_nothing(judge, tmp_path):
    path = tmp_path / "c.json"
    path.write_text(json.dumps({**CONSTANTS, "_interval": {"gradient_variance": [0.7, None], "smoothness": [2.5, 3]}}))
    status, out, _ = judge(log(1.9), f"@{path}")
    assert (status, out.count("gradient_variance is uncertain")) == (0, 2)
    assert ", inf]" in out
    status, out, _ = judge(log(1.9), f"@{path}", "gradient_variance=0.7", "smoothness=2.5")
    assert (status, "2 x violated" in out) == (1, True)


def test_constants_that_are_uncertain_client_by_client_decide_nothing_either(judge, tmp_path):
    bound = BOUNDS["decaying_k.theorem_1"]
    numbers = {q.name: 0.01 if q.name == "step_size" else 2.5 for q in bound.quantities}
    numbers |= {"cohort": 2, "iterations": 40, "client_weight": [0.5, 0.5], "client_gradient_variance": [0.3, 0.4]}
    numbers |= {"strong_convexity": 0.5}
    path = tmp_path / "c.json"
    rows = "".join(f"{seed},{value}\n" for seed, value in ((1, 1.1), (2, 1.3), (3, 1.2)))
    for note, verdict in (({}, "holds here"), ({"client_gradient_variance": [[0.3, 0.4], [0.9, None]]}, "undecided")):
        path.write_text(json.dumps({**numbers, "_interval": note}))
        status, out, _ = judge("seed,grad_norm_sq\n" + rows, f"@{path}", name=bound.name)
        assert (status, f"1 x {verdict}" in out) == (0, True)
        assert ("client_gradient_variance is uncertain" in out) == bool(note)


def test_a_file_that_brings_a_sweep_for_all_rows_is_refused(judge, tmp_path):
    path = tmp_path / "c.json"
    path.write_text(json.dumps({**CONSTANTS, "smoothness": [2.5, 3.5]}))
    status, _, err = judge(log(0.4), f"@{path}")
    assert (status, "smoothness must be one value for all rows of the log" in err) == (2, True)


def test_outside_the_conditions_the_formula_is_marked(judge):
    words = [w for w in WORDS if not w.startswith("step_size")]
    status, out, _ = judge(log(1.9), *words, "step_size=0.9")
    assert (status, out.count("OUTSIDE"), "violated" in out) == (0, 2, False)


MIN = ["smoothness=2.5", "gradient_variance=0.2", "dissimilarity_offset=0.3", "dissimilarity_factor=1.1"]
MIN += ["initial_gap=0.9", "local_steps=2", "rounds=3", "step_size=0.02", "client_weight=uniform", "clients=6"]


def test_a_statistic_over_rounds_folds_the_log(judge, tmp_path):
    """min over t of the means over seeds, not the mean of the minima."""
    gradients = {(1, 1): 5.0, (2, 1): 1.0, (1, 2): 2.9, (2, 2): 3.3, (1, 3): 1.5, (2, 3): 5.5}
    rows = "".join(f"{s},{r},{v}\n" for (s, r), v in gradients.items())
    assert judge("seed,round,grad_norm_sq\n" + rows, *MIN, name="fedcog.theorem")[0] == 0
    table = (tmp_path / "fedcog.theorem.csv").read_text().splitlines()
    assert len(table) == 2
    assert float(table[1].split(",")[1]) == pytest.approx(3.0)
    L, s2, k2, D, tau, T, eta = 2.5, 0.2, 0.3, 0.9, 2, 3, 0.02
    by_hand = 4 * D / (tau * eta * T) + 4 * eta * L * s2 / 6 + 3 * (tau - 1) * eta**2 * s2 * L**2
    by_hand += 6 * tau * (tau - 1) * eta**2 * L**2 * k2
    assert float(table[1].split(",")[3]) == pytest.approx(by_hand, rel=1e-12)


def test_rounds_are_put_in_their_order(judge, tmp_path):
    """The last value is that of the largest number, wherever its row stands."""
    lines = log(0.4).splitlines()
    judge("\n".join([lines[0], *reversed(lines[1:])]), *WORDS)
    places = [line.split(",")[0] for line in (tmp_path / f"{NAME}.csv").read_text().splitlines()[1:]]
    assert places == ["0", "1"]


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\n\n"),
        lambda text: text.replace("\n", " \n   \n"),
        lambda text: "\ufeff" + text.replace("\n", "\r\n"),
        lambda text: text.replace(",", ", "),
        lambda text: text.replace("fine", '"fine, that is"'),
        lambda text: "\n".join(f"{i}," * (i > 0) + "," * (i == 0) + line for i, line in enumerate(text.splitlines())),
        lambda text: text.replace("\n4,1,", "\n04,1.0,").replace("\n9,0", "\n9.0,00"),
    ],
    ids=["blank lines", "lines of spaces", "mark and returns", "spaces", "quotes", "unnamed column", "floats"],
)
def test_other_spellings_of_the_same_table_are_read_alike(judge, tmp_path, change):
    path = tmp_path / f"{NAME}.csv"
    judge(log(0.4), *WORDS)
    plain = path.read_text()
    path.unlink()
    assert judge(change(log(0.4)), *WORDS)[0] == 0
    assert path.read_text() == plain


# ---- equal values ----

SAME = {4: 1.0, 7: 1.0, 9: 1.0}


@pytest.mark.parametrize("share", [0.4, 1.9])
@pytest.mark.parametrize("jitter", [0.0, 1e-16, 1e-9])
def test_runs_that_agree_decide_nothing(judge, share, jitter):
    """Few digits, a copied run, or nothing random: a log does not say, and rounding is no standard error."""
    rows = [f"{s},{r},{share * bound_at(0.3, 2.1) * (1 + jitter * s)!r},0.3,2.1\n" for s in SAME for r in (0, 1)]
    status, out, _ = judge("seed,round,local_drift,divergence,grad_norm_sq\n" + "".join(rows), *WORDS)
    assert (status, out.count("undecided (no spread between seeds, no error can be estimated)")) == (0, 2)


def test_one_value_that_is_equal_leaves_the_others_decided(judge):
    rows = [f"{s},0,{1.9 * w * bound_at(0.3, 2.1)!r},0.3,2.1\n{s},1,1.25,0.3,2.1\n" for s, w in WIGGLE.items()]
    status, out, _ = judge("seed,round,local_drift,divergence,grad_norm_sq\n" + "".join(rows), *WORDS)
    assert (status, "1 x undecided, 1 x violated" in out, out.count("(no spread between seeds")) == (1, True, 1)


@pytest.mark.parametrize(("first", "later", "verdict"), [(900.0, 850.0, "violated"), (900.0, 0.2, "holds here")])
def test_the_common_start_of_different_runs_is_exact(judge, first, later, verdict):
    """A least value over the rounds: at the start all runs agree, which keeps nothing open."""
    words = [*(word for word in MIN if word != "rounds=3"), "rounds=2"]
    rows = [f"{s},0,{first}\n{s},1,{later * w}\n" for s, w in WIGGLE.items()]
    _, out, _ = judge("seed,round,grad_norm_sq\n" + "".join(rows), *words, name="fedcog.theorem")
    assert f"1 x {verdict}" in out
    rows = [f"{s},0,{first}\n{s},1,{later}\n" for s in WIGGLE]
    _, out, _ = judge("seed,round,grad_norm_sq\n" + "".join(rows), *words, name="fedcog.theorem")
    assert "1 x undecided" in out


HEAD = "seed,round,local_drift,divergence,grad_norm_sq\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty: the first line must name the columns, local_drift among them"),
        (HEAD, "has column names and no rows"),
        ("seed,round,locl_drift\n1,2,3\n", "no column local_drift, which the bound is on; did you mean 'locl_drift'?"),
        ("a,b\n1,2\n", "no column local_drift, which the bound is on; columns: a, b"),
        (HEAD + "1,2,0.3,0.4,0.5\n1,3,0.3,oops,0.5\n", "row 2: divergence must be a finite number; got 'oops'"),
        (HEAD + "1,2,0.3,0.4,\n", "row 1: grad_norm_sq must be a finite number; got ''"),
        (HEAD + "1,2,0.3,0.4\n", "row 1 has 4 fields where the header has 5; write 0.5, not 0,5"),
        (
            HEAD + "1,2,0.3,0.4,0.5\n\n1,3,0,3,0.4,0.5\n",
            "row 2 has 6 fields where the header has 5; write 0.5, not 0,5",
        ),
        (HEAD + "1,2,0.3,0.4,0.5,\n", "row 1 has 6 fields where the header has 5"),
        (HEAD.replace(",", ";") + "1;2;0.3;0.4;0.5\n", "grad_norm_sq; separate the columns by commas"),
        (HEAD.replace(",", "\t") + "1\t2\t0.3\t0.4\t0.5\n", "separate the columns by commas"),
        (HEAD + "1,2,0.3,0.4,0.5\n" + HEAD, "row 2 is the header again"),
        (HEAD + '1,2,0.3,"0,4",0.5\n', "row 1: divergence must be a finite number; got '0,4'; write 0.5, not 0,5"),
        (HEAD + "1,2,1_000,0.4,0.5\n", "row 1: local_drift must be a finite number; got '1_000'; write 0.5"),
        (HEAD + "1,2,0x1p3,0.4,0.5\n", "row 1: local_drift must be a finite number; got '0x1p3'"),
        (HEAD + "1,2,\u0663,0.4,0.5\n", "row 1: local_drift must be a finite number; got '\u0663'"),
        (
            HEAD + "1,2,1e999,0.4,0.5\n",
            "row 1: local_drift must be of a size that a floating-point number can have; got '1e999'",
        ),
        (
            HEAD + "1,2,9007199254740993,0.4,0.5\n",
            "local_drift must be a whole number that a float holds, such as 9007199254740992; got '9007199254740993'",
        ),
        (HEAD + "1,2,-0.3,0.4,0.5\n", "row 1: local_drift must be >= 0; got -0.3"),
        (HEAD + "1,2,0.3,0.4,0.5\n01,2.0,0.3,0.4,0.5\n", "row 2: seed 1, round 2 comes twice"),
        (HEAD + "1,2.5,0.3,0.4,0.5\n", "row 1: round must be a whole number >= 0; got '2.5'"),
        (HEAD + "1,last,0.3,0.4,0.5\n", "row 1: round must be a whole number >= 0; got 'last'"),
        (HEAD + "1,-1,0.3,0.4,0.5\n", "row 1: round must be a whole number >= 0; got '-1'"),
        (HEAD + "nan,1,0.3,0.4,0.5\n", "row 1: seed must be a whole number >= 0 or a name of a run; got 'nan'"),
        (HEAD + ",1,0.3,0.4,0.5\n", "row 1: seed must be a whole number >= 0 or a name of a run; got ''"),
        (HEAD.replace("seed", "Seed") + "1,1,0.3,0.4,0.5\n", "column 'Seed' would not be read; write seed"),
        (
            "seed,local_drift,divergence,grad_norm_sq\n5,0.1,0.2,1.1\n6,0.2,0.3,1.2\n5,0.3,0.4,1.3\n",
            "row 3: seed 5 comes again; add a column round (which moment of it), or aggregate the rows of a run",
        ),
        (
            "round,local_drift,divergence,grad_norm_sq\n5,0.1,0.2,1.1\n5,0.3,0.4,1.3\n",
            "row 2: there is another row of round 5; add a column seed (which run)",
        ),
        (
            HEAD[11:] + "0.1,0.2,1.1\n0.3,0.4,1.3\n",
            "row 2: there is another row; add a column seed (which run) or round",
        ),
        (HEAD + "1,2,nan,0.4,0.5\n", "row 1: local_drift must be a finite number; got 'nan'"),
        (HEAD + "1,2,0.3,0.4,0.5\n1,2,0.3,0.4,0.5\n", "row 2: seed 1, round 2 comes twice"),
        (HEAD + "1,2,0.3,0.4,0.5\n3,4,0.3,0.4,0.5\n", "seed 1 has no round 4; every run needs the same rounds"),
        ("local_drift,local_drift\n1,2\n", "column local_drift comes twice"),
        (HEAD + "1,2,0.3,-0.4,0.5\n", "divergence must be >= 0; got -0.4"),
        (b"\xff\xfe\x00", "is no CSV"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_line(judge, text, said):
    status, out, err = judge(text, *WORDS)
    assert (status, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (WORDS[1:], "needs local_steps: a column of the log, or quantity=value"),
        ([*WORDS, "divergence=0.3"], "divergence is given twice"),
        ([*WORDS[:-1], "relaxation=0.01:0.05:3"], "relaxation must be one value for all rows of the log"),
        ([*WORDS, "smothness=3"], "did you mean 'smoothness'"),
        ([*WORDS, "@none.json"], "none.json"),
    ],
)
def test_values_that_do_not_fit_are_one_line(judge, words, said):
    status, out, err = judge(log(0.4), *words)
    assert (status, out) == (2, "")
    assert said in err


def test_a_missing_file_is_one_line(capsys):
    assert fedbounds.main(["validate", NAME, "--measured", "nowhere.csv"]) == 2
    assert "nowhere.csv: No such file" in capsys.readouterr().err


def test_a_bound_that_no_run_here_measures_can_be_judged_by_a_log(judge):
    bound = BOUNDS["fedinit.lemma_1"]
    assert {q.name for q in bound.quantities} == {"stability"}
    text = "seed,generalization_gap,stability\n1,0.11,0.3\n2,0.12,0.31\n3,0.1,0.29\n"
    status, out, _ = judge(text, name="fedinit.lemma_1")
    assert (status, "1 x holds here" in out) == (0, True)


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


@pytest.mark.parametrize("clients", ["4,5", "4,5,6", "2:9:3", "[4]"])
def test_a_log_is_of_one_number_of_clients(judge, clients):
    status, out, err = judge(norms(), *PLAN, f"clients={clients}", name=THEOREM)
    assert (status, out) == (2, "")
    assert "clients must be one value for all rows of the log" in err


def test_a_column_of_clients_is_read(judge, tmp_path):
    found = []
    for text, words in ((norms(), ["clients=7"]), (norms(clients=lambda seed, round_: 7), [])):
        assert judge(text, *PLAN, *words, name=THEOREM)[0] == 0
        found.append((tmp_path / "fedcog.theorem.csv").read_bytes())
    assert found[0] == found[1]
    status, _, err = judge(norms(clients=lambda seed, round_: 7), *PLAN, "clients=9", name=THEOREM)
    assert (status, err.count("\n")) == (2, 1)
    assert "clients is given twice: as a column and as clients=..." in err


def test_runs_of_different_plans_are_no_seeds_of_one(judge):
    words = [*(w for w in PLAN if not w.startswith("local_steps")), "clients=7"]
    status, _, err = judge(norms(local_steps=lambda seed, round_: 2 + 2 * (seed == 1)), *words, name=THEOREM)
    assert (status, err.count("\n")) == (2, 1)
    assert "local_steps differs between seeds" in err


@pytest.mark.parametrize(
    "name",
    ["mean", "Std", "average", "all", "mean±std", "25%", "s.d.", "std dev", "Std. Error", "mean (n=3)", "ci95", "#N/A",
     "avg/seed", "count", "-", "n/a", "95% CI", "standard deviation", "½", "StdDev", "seedMeans", "AVERAGES", "best",
     "Mittelwert", "moyenne", "MAX", "stdev", "gap_std", "errors"],
)  # fmt: skip
@pytest.mark.parametrize("names", ["012", ["anna", "Bert", "clara"]])
def test_a_row_that_sums_up_all_runs_is_no_further_run(judge, name, names):
    told = norms()
    for seed, run in enumerate(names):
        told = told.replace(f"\n{seed},", f"\n{run},")
    status, _, err = judge(told + f"{name},0,0.11\n{name},1,0.13\n", *PLAN, "clients=7", name=THEOREM)
    assert (status, err.count("\n")) == (2, 1)
    assert f"row 7: seed must be a whole number >= 0 or a name of a run; got {name!r}" in err


RUNS = ["run-{}", "seed {}", "otter.{}", "host/{}"]


@pytest.mark.parametrize(
    "names",
    [[run.format(n) for n in (3, 4, 11)] for run in RUNS] + [["A", "été", "calm_otter"], ["Summer", "Alma", "Mina"]],
)
def test_a_run_may_have_a_name_of_words(judge, names):
    told = norms()
    for seed, name in enumerate(names):
        told = told.replace(f"\n{seed},", f"\n{name},")
    assert judge(told, *PLAN, "clients=7", name=THEOREM)[0] == 0


@pytest.mark.parametrize("name", ["top", "Q3", "p95", "Werte"])
@pytest.mark.parametrize("run", ["{}", "s{}"])
def test_a_run_that_is_named_unlike_the_others_is_none(judge, run, name):
    told = norms()
    for seed in range(3):
        told = told.replace(f"\n{seed},", f"\n{run.format(seed)},")
    status, _, err = judge(told + f"{name},0,0.11\n{name},1,0.13\n", *PLAN, "clients=7", name=THEOREM)
    assert (status, err.count("\n")) == (2, 1)
    assert f"row 7: seed must be named as the others are, such as {run.format(7)}" in err


@pytest.mark.parametrize("column", ["algorithm", "split", "client"])
def test_rows_of_different_plans_are_no_seeds_of_one_without_a_quantity_for_it_either(judge, column):
    more = {column: lambda seed, round_: "ab"[seed % 2]}
    status, _, err = judge(norms(**more), *PLAN, "clients=7", name=THEOREM)
    assert (status, err.count("\n")) == (2, 1)
    assert f"{column} differs between rows, which are runs of one plan" in err


@pytest.mark.parametrize("column", ["learning_rate", "batch_size", "cohort"])
def test_knobs_without_a_quantity_may_change_with_the_rounds_and_not_with_the_seeds(judge, column):
    decays = norms(**{column: lambda seed, round_: 0.3 / (1 + round_)})
    assert judge(decays, *PLAN, "clients=7", name=THEOREM)[0] == 0
    status, _, err = judge(norms(**{column: lambda seed, round_: 0.3 + seed % 2}), *PLAN, "clients=7", name=THEOREM)
    assert (status, err.count("\n")) == (2, 1)
    assert f"{column} differs between seeds, the runs of one plan" in err


@pytest.mark.parametrize("size", [1e-170, 1.0, 1e170])
def test_a_verdict_does_not_depend_on_the_unit(judge, size):
    rows = ((1, 0.3, 0.5), (2, 1.7, 0.5), (3, 0.1, 0.5))
    apart = "seed,generalization_gap,stability\n" + "".join(f"{s},{g * size!r},{b * size!r}\n" for s, g, b in rows)
    status, out, _ = judge(apart, name="fedinit.lemma_1")
    assert (status, "undecided" in out) == (0, True)


def test_columns_that_are_not_read_are_named(judge):
    status, out, _ = judge(norms(lr=lambda seed, round_: 0.3), *PLAN, "clients=7", name=THEOREM)
    assert (status, "columns that fedcog.theorem has no use for: lr" in out) == (0, True)


def test_the_table_of_a_comparison_does_not_take_the_place_of_the_log(tmp_path, capsys):
    log = tmp_path / f"{THEOREM}.csv"
    log.write_text(norms(), encoding="utf-8")
    words = ["validate", THEOREM, "--measured", str(log), "-o", str(tmp_path), *PLAN, "clients=7"]
    assert (fedbounds.main(words), log.read_text(encoding="utf-8")) == (2, norms())
    assert "is what this command reads" in capsys.readouterr().err


@pytest.mark.parametrize("moment", ["epoch", "step", "t"])
def test_rows_of_one_run_at_several_moments_are_no_runs(judge, moment):
    lines = [line.split(",") for line in log(0.6).splitlines()]
    rows = [[row[0], row[2], row[3], row[4]] for row in lines[1::2]]
    header = f"seed,{moment},local_drift,divergence,grad_norm_sq\n"
    apart = header + "".join(f"{r[0]},{10 * i},{','.join(r[1:])}\n" for i, r in enumerate(rows, 1))
    status, out, err = judge(apart, *WORDS)
    assert (status, out) == (2, "")
    assert f"{moment} differs between runs at one moment" in err
    together = header + "".join(f"{r[0]},30,{','.join(r[1:])}\n" for r in rows)
    status, out, _ = judge(together, *WORDS)
    assert status == 0
    assert "3 runs" in out
    assert "3 runs, " not in out  # of how many rounds nobody said


# ---- many seeds ----


def test_what_is_left_out_is_one_seed_of_those_that_have_a_value():
    rng = np.random.default_rng(5)
    values = rng.normal(3.0, 0.7, (6, 2, 4))
    values[[1, 4, 4], [0, 1, 1], [2, 0, 3]] = np.nan
    values[:5, 1, 1] = np.nan  # a client that a single seed has drawn
    wanted = [np.delete(values, i, 0) for i in range(6)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # means of nothing
        means = np.stack([np.nanmean(rest, 0) for rest in wanted])
    np.testing.assert_allclose(judging._but_one(values), means, rtol=1e-13)


def test_a_bound_is_evaluated_as_often_for_many_seeds_as_for_few(judge, monkeypatch):
    """Else a log takes as long as the square of its rows."""
    counts = []

    def counted(*words):
        counts.append(words)
        return evaluate(*words)

    evaluate = judging.evaluate
    monkeypatch.setattr(judging, "evaluate", counted)
    lines = log(0.4).splitlines()
    judge("\n".join(lines), *WORDS)
    few = len(counts)
    more = [f"{place + 10}{row[1:]}" for place, row in enumerate(lines[1:] * 9) if row.split(",")[1] == "0"]
    status, out, _ = judge("\n".join([lines[0], *more]), *WORDS)
    assert (status, f"{len(more)} seeds" in out) == (0, True)
    assert len(counts) == 2 * few
