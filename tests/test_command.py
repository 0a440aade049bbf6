"""The ``fedbounds`` command in process: numbers of every verb, what is refused, and files that are left alone."""

import csv
import json
import os
import shlex
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import fedbounds
from bounds import BOUNDS, get
from bounds.errors import BoundsError
from bounds.showing import files
from bounds.showing.cards import document
from bounds.showing.verb_table import VERBS
from paper_checks.falsifier import load_witness

ROOT = Path(__file__).parents[1]
WITNESS = ROOT / "paper_checks" / "counterexamples" / "fedcog_eq_19.json"
MINE = f"{ROOT / 'examples' / 'my_bound.py'}:my_bound"
AT = ["cohort=8", "kept=0.25", "initial_gap=2.3", "smoothness=1.7", "gradient_variance=0.6", "grad_cap_sq=1.4"]
ONE = "fedals.one_round"
GAP = "strong_convexity=0.1 client_weight=uniform local_gap=0.03 non_iidness=0.01"


def mine(step_size, rounds):
    """The formula of the example, computed independently."""
    noise = 1.7 * step_size * 0.6 / 8
    return 2 * 2.3 / (step_size * rounds) + noise + 1.7**2 * step_size**2 * 1.4 * 0.75 / 0.25


def table(file):
    return list(csv.DictReader(file.read_text().splitlines()))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


# ---- help, examples, completion ----

SLOW = {"advise", "check", "tightness"}
TYPED = {verb: about.example for verb, about in VERBS.items()}
TYPED["validate"] = "fedbounds validate fedinit.lemma_2 --instances 1 --rounds 2 --clients 3"  # its example takes long
EXAMPLES = [pytest.param(v, marks=[pytest.mark.slow] if v in SLOW else []) for v in VERBS]


@pytest.mark.parametrize("verb", EXAMPLES)
def test_the_examples_run_as_printed_and_their_json_is_read_by_strict_parsers(run, verb, folder):
    shutil.copytree(ROOT / "examples", folder / "examples")
    for each in ["sweep", verb] if verb == "results" else [verb]:
        words = shlex.split(TYPED[each])[1:]
        status, out, err = run(*words)
        assert (status, err) == (0, "")
        assert out
    if VERBS[verb].json:
        status, out, err = run(*words, "--json")
        assert status == 0, err
        assert json.loads(out, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))


def test_help_of_every_verb_has_its_example_and_a_nonsense_option_is_one_line(run):
    _, start, _ = run()
    assert all(VERBS[name].example in start for name in ("show", "compare", "advise", "check"))
    assert str(len(VERBS)) in start.splitlines()[-1]
    for word in ("--help", "help"):
        status, overview, err = run(word)
        assert (status, err) == (0, "")
        assert [verb for verb in VERBS if f"  {verb}: {VERBS[verb].help}" not in overview] == []
    for verb in VERBS:
        assert run("help", verb) == run(verb, "--help")
        status, out, err = run(verb, "--help")
        assert (status, err) == (0, "")
        assert out.startswith(f"Usage: fedbounds {verb}")
        assert f"example: {VERBS[verb].example}" in out
        assert ("--json" in out) == VERBS[verb].json
        status, out, err = run(verb, "--no-such-option")
        assert (status, err.count("\n"), err[:11]) == (2, 1, "fedbounds: ")


def test_a_verb_of_the_version_before_runs_as_what_replaced_it_and_says_so(run):
    assert fedbounds.RENAMED.keys().isdisjoint(VERBS)
    for old, words, new in (
        ("data", ["iris"], "list data iris"),
        ("quantities", ["smoothness"], "list quantities smoothness"),
        ("verdict", ["fedcog"], "check --summary fedcog"),
    ):
        status, out, err = run(old, *words)
        assert (status, err.count("\n"), f"fedbounds {new}" in err) == (0, 1, True)
        assert out == run(*new.split())[1] != ""


def test_the_shell_completes_verbs_and_options(run):
    status, script, err = run("completion", "bash")
    assert (status, err) == (0, "")
    assert subprocess.run(["bash", "-n"], input=script, text=True).returncode == 0
    assert all(word in script for word in (*VERBS, "--nesterov", "--smallest", "--paper"))
    for shell in ("zsh", "fish"):
        assert "tightness" in run("completion", shell)[1]
    status, _, err = run("completion", "tcsh")
    assert (status, all(shell in err for shell in ("bash", "zsh", "fish"))) == (2, True)


# ---- list, show ----


def test_list_names_every_bound_once_and_those_of_one_paper_as_json(run):
    status, out, _ = run("list")
    assert status == 0
    assert [line.split()[0] for line in out.splitlines()] == list(BOUNDS)
    entries = json.loads(run("list", "--paper", "fedcog", "--json")[1])
    assert [e["name"] for e in entries] == [n for n in BOUNDS if n.startswith("fedcog.")]
    assert all(set(e) == {"name", "paper", "relation", "target", "source"} for e in entries)
    assert entries[0]["source"] == str(get(entries[0]["name"]).source)


def test_a_word_lists_the_bounds_quantities_and_claims_that_contain_it(run):
    found = json.loads(run("list", "drift", "--json")[1])
    assert {"fedinit.lemma_2", "fedcog.descent_with_drift"} <= found["bounds"].keys()
    assert {"local_drift", "contraction"} <= found["quantities"].keys()  # by name, by meaning
    assert "fedals.algorithm_3.drift" in found["claims"]
    assert run("list", "drift")[1].count("\nquantities:\n") == 1


def test_show_prints_card_latex_or_json_and_eval_elasticities(run):
    assert run("show", ONE) == (0, f"{get(ONE)}\n", "")
    assert run("show", ONE, "--latex")[1] == "\n".join(document(get(ONE))) + "\n"
    card = json.loads(run("show", "--json", ONE)[1])
    assert {q["name"]: q["per_client"] for q in card["quantities"]}["local_gap"] is True
    _, out, _ = run("eval", MINE, "--elasticity", *AT, "rounds=500", "step_size=0.1")
    shares = dict(line.split() for line in out.splitlines()[1:])
    assert float(shares["rounds"]) == pytest.approx(-2 * 2.3 / (0.1 * 500) / mine(0.1, 500), rel=1e-5)


# ---- eval ----


def test_eval_json_has_the_documented_shape_and_zip_pairs_sweeps(run):
    _, out, err = run("eval", MINE, *AT, "rounds=300,700", "step_size=0.05,0.15,0.75", "--json")
    result = json.loads(out)
    assert list(result) == ["name", "relation", "statistic", "unit", "axes", "value", "terms", "holds",
                            "failed_conditions"]  # fmt: skip
    assert result["axes"] == [{"rounds": [300, 700]}, {"step_size": [0.05, 0.15, 0.75]}]
    assert np.shape(result["value"]) == np.shape(result["holds"]) == np.shape(result["terms"]["noise"]) == (2, 3)
    assert [row[2] for row in result["value"]] == [None, None]
    assert result["value"][1][1] == pytest.approx(mine(0.15, 700))
    assert result["holds"] == [[True, True, False]] * 2
    (failed,) = result["failed_conditions"]
    assert (failed["condition"], failed["left"]) == ("the step size is at most 1/L", 1.275)
    assert failed["formula"] == "smoothness*step_size <= 1"
    assert "2 of 6" in err
    result = json.loads(run("eval", MINE, *AT, "rounds=300,700", "step_size=0.05,0.15", "--zip", "--json")[1])
    np.testing.assert_allclose(result["value"], [mine(0.05, 300), mine(0.15, 700)])


def test_outside_the_conditions_there_is_no_value_or_it_is_marked(run):
    at = [*AT, "rounds=500", "step_size=0.9"]
    status, out, err = run("eval", MINE, *at)
    assert (status, out.startswith("grad_norm_sq <= nan"), "smoothness*step_size <= 1" in err) == (0, True, True)
    status, out, err = run("eval", MINE, *at, "--outside")
    assert status == 0
    assert f"{mine(0.9, 500):.6g}" in out.splitlines()[0]
    assert out.splitlines()[0].endswith("OUTSIDE")
    assert "OUTSIDE" in err


def one_quantity(folder, term):
    (folder / "own.py").write_text(
        "import sympy as sp\nfrom bounds import Bound, Source\n"
        "from bounds.vocabulary import grad_norm_sq, smoothness as L\n"
        f"own = Bound(name='own', target=grad_norm_sq, terms={{'a': {term}}}, source=Source('notes', '1'))\n"
    )
    return "own.py:own"


def test_a_value_that_is_undefined_within_the_conditions_is_remarked(run, folder):
    name = one_quantity(folder, "sp.sqrt(L - 2)")
    assert run("eval", name, "smoothness=1.3")[2].startswith("fedbounds: own ")
    assert "2 of 3" in run("eval", name, "smoothness=1.3,1.4,2.9")[2]
    assert run("eval", name, "smoothness=2.9")[2] == ""


# ---- minimize, solve ----


def test_minimize_without_values_prints_the_formula_and_what_it_leaves_out(run, folder):
    status, out, _ = run("minimize", "decaying_k.per_rounds", "over=local_steps")
    assert status == 0
    assert out.startswith("local_steps = ")
    assert "grad_norm_sq <= " in out
    assert get("decaying_k.per_rounds").quantity("local_steps").card.domain.words in out
    _, out, _ = run("minimize", "decaying_k.per_second", "over=step_size")
    assert "1/(4L)" in out
    assert "runtime holds" not in out
    status, out, err = run("minimize", one_quantity(folder, "L + 4 / L"), "over=smoothness")
    assert (status, err, out.splitlines()[:2]) == (0, "", ["smoothness     2", "grad_norm_sq   4"])


def test_solve_finds_the_fewest_rounds(run):
    solve = ["solve", MINE, "for=rounds", "--smallest", *AT]
    status, out, _ = run(*solve, "target=0.3", "step_size=0.1")
    fewest = next(r for r in range(1, 10_000) if mine(0.1, r) <= 0.3)
    assert (status, out.splitlines()[0].split()) == (0, ["smallest", "rounds", str(fewest)])
    status, out, err = run(*solve, "target=0.3", "step_size=0.1,0.5")
    assert (status, "step_size=0.5" in err, "step_size=0.1" in err) == (1, True, False)
    for words in ([*solve, "target=1e-6", "step_size=0.1"], ["minimize", MINE, "over=step_size"]):
        status, out, err = run(*words)
        assert (status, out, err.count("\n")) == (1, "", 1)


# ---- plot, validate ----


def test_plot_writes_a_picture_and_its_numbers(run, folder):
    status, out, err = run("plot", MINE, "x=step_size=0.02:0.9:45", *AT, "rounds=500")
    assert status == 0
    assert out.splitlines() == [f"wrote mine.sparse_sgd.{end}" for end in ("svg", "csv", "caption.md")]
    assert "1/L" in err
    assert (folder / "mine.sparse_sgd.svg").read_text().startswith("<?xml")
    total = [r for r in table(folder / "mine.sparse_sgd.csv") if r["part"] == "total"]
    assert len(total) == 45
    np.testing.assert_allclose([float(r["value"]) for r in total], [mine(float(r["step_size"]), 500) for r in total])
    assert {r["holds"] for r in total if float(r["step_size"]) > 1 / 1.7} == {"False"}
    drawn = (folder / "mine.sparse_sgd.csv").read_bytes()
    assert run("plot", MINE, "step_size=0.02:0.9:45", *AT, "rounds=500")[0] == 0  # the one range is what is drawn along
    assert (folder / "mine.sparse_sgd.csv").read_bytes() == drawn


def test_validate_lists_what_there_is(run):
    status, out, err = run("validate")
    assert (status, err) == (0, "")
    assert {ONE, "decaying_k.theorem_1"} <= set(out.split())


# ---- constants of a file, and their intervals ----

CONSTANTS = {
    "smoothness": 1.3,
    "strong_convexity": 0.4,
    "client_weight": [0.3, 0.7],
    "local_gap": [0.31, 0.47],
    "non_iidness": [0.12, 0.23],
}
UNCERTAIN = {"smoothness": [1.1, 1.9], "strong_convexity": [0.3, 0.5]}
STEPS = {
    "dissimilarity_factor": 2.3, "dissimilarity_offset": 0.83, "initial_gap": 3.7, "gradient_variance": 1.9,
    "local_steps": 5, "rounds": 240,
}  # fmt: skip


def one_round(**changes):
    return get(ONE)(**{**CONSTANTS, **changes})


@pytest.fixture
def with_file(run, folder):
    """Run a command line beside c.json, which holds these constants and intervals."""

    def command(*words, interval=None, **changes):
        held = {n: v for n, v in {**CONSTANTS, **changes}.items() if v is not None}
        held |= {"_interval": interval or {}, "_how": {"smoothness": "by eye"}, "seed": 3}
        (folder / "c.json").write_text(json.dumps(held))
        return run(*words, "@c.json")

    return command


def test_eval_prints_the_interval_of_the_bound(with_file):
    status, out, err = with_file("eval", ONE, interval=UNCERTAIN)
    low, high = one_round(smoothness=1.1, strong_convexity=0.5), one_round(smoothness=1.9, strong_convexity=0.3)
    assert (status, err) == (0, "")
    assert out.startswith(f"generalization_gap <= {one_round():.6g}")
    assert f"\nfrom {low:.6g} to {high:.6g} " in out
    assert out.endswith(": smoothness, strong_convexity\n")
    shown = json.loads(with_file("eval", ONE, "strong_convexity=0.3,0.5", "--json", interval=UNCERTAIN)[1])
    wanted = [[one_round(smoothness=L, strong_convexity=mu) for mu in (0.3, 0.5)] for L in (1.1, 1.9)]
    np.testing.assert_allclose([shown["low"], shown["high"]], wanted, rtol=1e-12)


def test_minimize_and_solve_carry_the_intervals_through(with_file):
    interval = {"smoothness": [1.1, 1.9], "gradient_variance": [1.2, 2.6]}
    status, out, err = with_file("minimize", "fedcog.theorem", "over=step_size", interval=interval, **STEPS)
    assert (status, err.count("\n")) == (0, 1)
    assert "smoothness, gradient_variance" in err
    bound, others = get("fedcog.theorem"), {**STEPS, "client_weight": CONSTANTS["client_weight"]}
    corners = [{"smoothness": L, "gradient_variance": v} for L in (1.1, 1.9) for v in (1.2, 2.6)]
    best = [bound.minimize("step_size", **{**others, **corner}) for corner in corners]
    shown = {line.rsplit("  ", 1)[0].strip(): line.rsplit("  ", 1)[1].strip() for line in out.splitlines()}
    for name, found in (("step_size", [b.at for b in best]), ("grad_norm_sq", [b.value for b in best])):
        low, high = map(float, shown[f"{name}, at least"].split(" to "))
        assert (low, high) == pytest.approx((min(found), max(found)), rel=1e-4)
        assert low < float(shown[name]) < high
    solve = ["solve", ONE, "for=strong_convexity", "--smallest", "target=0.9"]
    _, out, _ = with_file(*solve, interval={"smoothness": [1.1, 1.9]}, strong_convexity=None)
    held = {n: v for n, v in CONSTANTS.items() if n != "strong_convexity"}
    ends = [get(ONE).solve("strong_convexity", target=0.9, side="smallest", **held | {"smoothness": L}).at
            for L in (1.1, 1.9)]  # fmt: skip
    assert f" {ends[0]:.6g} to {ends[1]:.6g}\n" in out


def test_a_bound_on_single_samples_takes_their_smoothness_of_a_file_and_says_so(with_file):
    def evaluated(*words, **changes):
        status, out, err = with_file("eval", *words, "--json", **changes)
        assert status == 0
        return json.loads(out), err

    found, err = evaluated(ONE, sample_smoothness=2.9)
    assert found["value"] == pytest.approx(one_round(smoothness=2.9), rel=1e-12)
    assert all(word in err for word in ("smoothness", ONE, "sample_smoothness", "c.json", "2.9"))
    found, err = evaluated(ONE, "smoothness=1.7", sample_smoothness=2.9)  # a typed value has priority
    assert (found["value"], err) == (pytest.approx(one_round(smoothness=1.7), rel=1e-12), "")


# ---- what is refused: in one line, status 2, and every file stays as it is ----

EVAL = f"eval {ONE} {GAP}"
BUSY = "--problem softmax(iris) --clients 4"
PLOT = f"plot {ONE} {GAP} clients=3"
BUNDLED = ("README.md", "references.bib", "bounds.tex")
LINES = [
    # values
    (f"{EVAL} smothness=2", "smothness 'smoothness'"),
    (f"eval {ONE}", f"{ONE} client_weight local_gap non_iidness smoothness strong_convexity"),
    (f"{EVAL} clients=3 smoothness=much", "smoothness 'much' a:b:n:log"),
    (f"{EVAL} clients=3 smoothness=@absent.json", "absent.json"),
    (f"{EVAL} clients=3 smoothness=@", "@ JSON"),
    (f"{EVAL} clients=3 smoothness=1 smoothness=2", "smoothness"),
    (f"{EVAL} smoothness", "quantity=value @file.json 'smoothness'"),
    (f"{EVAL} clients=3 smoothness=1,05", "smoothness '05'"),
    (f"{EVAL} clients=3 smoothness=3%", "smoothness '3%' 0.03"),
    (f"train {BUSY} --rounds 60s", "--rounds '60s' 60;"),
    (f"train {BUSY} --step-size 0,5", "--step-size '0,5' 0.5;"),
    (f"train {BUSY} --rounds 5min", "--rounds '5min' unit"),
    ("list drift --paper fedals", "--paper"),
    ("list algorithms scaffold", "fedbounds list scaffold"),
    ("check drift", "fedbounds list claims"),
    ("zzz", "'zzz' fedbounds --help"),
    ("--verison", "--version"),
    (f"{EVAL} clients=5,", "clients '5,'"),
    (f"compare {ONE}", f"generalization_gap --of {ONE}"),
    (f"tightness {ONE}", "fedbounds tightness"),
    (["falsify", MINE], "kept validate --measured"),
    (["validate", MINE], "kept --measured"),
    ('rate "fedavg()" local_steps=2 step_size=0.2 L=1', "'L' smoothness"),
    ("figure fedinit.table_3 --scale paper --no-sweep -o new/folder", "fedinit.table_3"),
    # names and options
    (f"evaluates {ONE}", "'evaluates'"),
    ("eval fedals.one_rond", "'fedals.one_rond' 'fedals.one_round'"),
    ("eval xxxxx", f"'xxxxx' {len(BOUNDS)}"),
    (f"eval {'x' * 9000}", "xxx"),
    ("eval", "NAME --help"),
    (f"solve {ONE} for=clients target=0.1 --outside smoothness=1.1 {GAP}", "--outside; --help"),
    ("list --paper fedasl", "'fedasl' 'fedals'"),
    (f"show {ONE} smoothness=1", "smoothness=1 eval"),
    (f"show {ONE} fedcog.theorem", "fedcog.theorem --help"),
    (f"minimize {ONE}", "--over over=local_steps"),
    (f"minimize {ONE} over=clients", "clients"),
    (f"solve {ONE} for=smoothness", "--target target=0.1"),
    (f"solve {ONE} for=smoothness target=low", "target 'low'"),
    ("plot x=smoothness=1:2:3", "plot"),
    (f"plot {ONE}", "x=QUANTITY=a:b:n"),
    (f"plot {ONE} x=smoothness", "QUANTITY=a:b:n x=smoothness"),
    (f"plot {ONE} decaying_k.runtime_fixed x=smoothness=1:2:3 {GAP}", "loss second"),
    ("validate fedals.one_rond", ONE),
    ("show fedinit.theorem_2.weighted_decreases", "claim fedbounds check fedinit.theorem_2.weighted_decreases"),
    (f"validate {ONE} --seed 3", "'seed' 'seeds'"),
    ("validate fedcog.theorem --problem softmax(iris) -o . @c.json", "@c.json"),
    (f"validate {ONE} --problem softmax(iris) --measured r.csv --clients 4", "--problem --measured"),
    # what a beginner types
    ("show fedals", "list --paper fedals"),
    (f"eval {ONE} clients 5", "clients=VALUE"),
    (f"eval {ONE} c.json", "@c.json"),
    (f"plot {ONE} clients=2:40", "2:40:N"),
    ("advise --goal optimality_gap", "GOAL --goal optimality_gap"),
    (f"train {BUSY} --lr 0.1", "--lr --step-size"),
    (f"train {BUSY} --algorithm eta_rounds", "scheduled(fedavg(), schedule='eta_rounds')"),
    ("train --problem softmax", "softmax(data=...)"),
    ("train --problem iris", "softmax(iris)"),
    # options that are given twice, or would change nothing
    ("sweep g.toml --workers 0 --workers 1", "--workers"),
    (f"falsify --replay {WITNESS} --seed 3", "--seed"),
    ("tightness fedcog.theorem --committed --store s", "--store"),
    ("tightness fedcog.theorem --workers 3", "--workers"),
    ("figure --scale smoke", "--scale"),
    ("figure fedinit.table_3 --no-sweep --workers 3", "--workers"),
    ("figure fedinit.table_3 --workers 3 --scheduler tcp://127.0.0.1:9", "--workers"),
    ("sweep g.toml --status --workers 2", "--workers"),
    ("sweep g.toml --scheduler nonsense --workers 3", "--workers"),
    (["sweep", "g.toml", "--scheduler", ""], "--scheduler"),
    ("sweep g.toml --workers 1_0 --status", "workers"),
    # commas in calls, seeds, devices
    (f"train {BUSY} --partition dirichlet(1,5)", "'dirichlet(1,5)' 1.5"),
    (f"train {BUSY} --engine jax", "'jax' auto compiled torch"),
    (f"train {BUSY} --device coda", "coda"),
    ("sweep seed.toml --workers 0 --store s", f"{2**53}"),
    (f"falsify fedcog.theorem --seed {30 * '7'}", 18 * "9"),
    # files that are written
    (f"train {BUSY} -o t.json", "t.csv"),
    (f"constants {BUSY} -o c.csv", "c.json"),
    ("falsify fedcog.theorem -o /dev/full", "/dev/full"),
    ("explore own.py:mine -o page.html", "own.py"),
    ("check --summary fedcog -o other.py", "other.py other.md"),
    ("check fedcog --erratum -o fedcog.md", "fedcog.md fedcog.tex"),
    ("check --report loop decaying_k.eq_24", "loop"),
    *((f"{PLOT} x=smoothness=1:2:3 -o {path}", path) for path in ("folder", "no/such/folder.svg")),
    (f"{PLOT} x=smoothness=1:2:3 -o numbers.svg", "numbers.csv"),
    (f"plot {ONE} {GAP} x=clients=2:9:3 @gap.svg -o gap.svg", "gap.svg"),
    ("figure fedinit.table_6 --scale smoke --no-sweep --store store -o foreign", "REPORT.md"),
    *((f"figure --bundle --scale smoke --store store -o {name}", name) for name in BUNDLED),
    # stores
    ("sweep g.toml --status --store loop", "loop"),
    ("sweep g.toml --status --store g.toml/below", "below"),
]  # fmt: skip
GRID = '[fixed]\nproblem = "softmax(iris)"\nalgorithm = "fedavg()"\nrounds = 2\nmeasure = ["train_loss"]\n'
HELD = {
    "c.json": '{"smoothness": 1.3}',
    "g.toml": f"{GRID}seed = 3\n",
    "seed.toml": f'{GRID}clients = 3\npartition = "iid()"\nseed = {30 * "7"}\n',
    "own.py": "from bounds import get\nmine = get('fedals.one_round')\n",
    "runs.csv": "round,train_loss\n1,0.7\n",
    "gap.svg": '{"smoothness": 1.3}',
    "foreign/REPORT.md": "mine",
    **{f"{name}/{name}": "mine" for name in BUNDLED},
}


def beginning(path):
    with path.open("rb") as file:
        return file.read(9999)


def contents(folder):
    """Every file below a folder, with how it begins."""
    return {path.relative_to(folder): beginning(path) for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def refuse(run, folder):
    """Run command lines that must be refused in one line that names these words, while every file stays as it is."""

    def check(cases):
        wrong, before = [], contents(folder)
        for line, names in cases:
            status, out, err = run(*(line if isinstance(line, list) else shlex.split(line)))
            told = (status, out, err.count("\n"), err[:11]) == (2, "", 1, "fedbounds: ") and len(err) < 600
            if not told or any(name not in err for name in names.split()):
                wrong.append(f"{str(line)[:200]}\n    {status} {out[:200]!r} {err[:1000]!r} lacks one of {names}")
            if contents(folder) != before:
                wrong.append(f"{line} changes {set(contents(folder).items()) ^ set(before.items())}")
                before = contents(folder)
        assert not wrong, "\n".join(wrong)

    return check


def test_a_mistake_is_one_line_that_names_it_and_changes_no_file(refuse, folder):
    for name, text in HELD.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    for name in ("folder", "numbers.csv", "store"):
        (folder / name).mkdir()
    (folder / "loop").symlink_to(folder / "loop")
    (folder / "page.html").symlink_to(folder / "own.py")
    refuse(LINES)


READERS = ["eval {} @{}", "show link.py:mine", "validate {} --measured {}", "sweep {1}", "falsify --replay {1}"]
"""Every way to name a file that is read."""


def test_what_is_no_file_is_refused_before_it_is_opened_by_every_reader(refuse, folder):
    os.mkfifo(folder / "pipe")
    (folder / "place").mkdir()
    (folder / "huge").touch()
    os.truncate(folder / "huge", 2**40)
    for path in ("/dev/zero", "pipe", "place", "huge"):
        (folder / "link.py").unlink(missing_ok=True)
        (folder / "link.py").symlink_to(path)
        refuse([(line.format(ONE, path), path if "link" not in line else "link.py") for line in READERS])
    (folder / "numbers.json").write_bytes(b"7" * 41)
    assert files.content(folder / "numbers.json", 41) == b"7" * 41
    with pytest.raises(BoundsError, match=r"numbers\.json"):  # it may grow while it is read
        files.content(folder / "numbers.json", 40)


def test_what_is_written_takes_the_place_of_a_file_alone_and_follows_links(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with (tmp_path / "stream").open("w") as stream:
        number = stream.fileno()
        streams = [Path(f"/dev/fd/{number}"), Path(f"/proc/self/fd/{number}")]
        for place in (tmp_path / "pipe", Path("/dev/null"), tmp_path, *streams):
            with pytest.raises(BoundsError):
                files.write_whole(place, "words")
    (tmp_path / "link.json").symlink_to(tmp_path / "target.json")
    for words in ("first", "second"):
        files.write_whole(tmp_path / "link.json", words)
        assert (tmp_path / "link.json").is_symlink()
        assert (tmp_path / "target.json").read_text() == words
    with pytest.raises(BoundsError, match="null"):
        load_witness(WITNESS).save(tmp_path / "a\0b")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.json", "pipe", "stream", "target.json"]


# ---- files with Python of one's own ----

RAISES = "class Stop(BaseException): pass\nclass Silent(Exception):\n    __str__ = None\ndef f(g):\n    {}\nf(f)\n"
PYTHON = [
    ("x = 1\nif x\n", "2: ':'"),
    ("x = 1\n\ny = x / 0\n", "3: ZeroDivisionError"),
    ("import no_such_module_here\n", "1: ModuleNotFoundError"),
    ("def f():\n    raise KeyError('a\\nb')\n\nf()\n", "2: KeyError"),
    ("from bounds import quantity\nquantity('a b', 'a', 'no word')\n", "2: 'a"),
    ("class E(BaseException):\n    def __str__(self):\n        raise self\nraise E()\n", "4: E"),
    ("x = 1\0", "own.py"),
    ("from bounds import get\nmine = get('fedals.one_round')\n", "'my_bound' mine"),
    ("from bounds import get\nmein = get('fedals.one_round')\nmy_bound = 3\n", "int Bound"),
    (RAISES.format("raise SystemExit"), "5: SystemExit"),
    (RAISES.format("raise Stop('here')"), "5: Stop: here"),
    (RAISES.format("raise Silent"), "5: Silent"),
    (RAISES.format("return f(f)"), "5: RecursionError"),
]  # fmt: skip


def test_a_file_of_ones_own_that_does_not_work_is_named_with_the_line(refuse, run, folder):
    own = folder / "own.py"
    for text, names in PYTHON:
        own.write_text(text)
        refuse([("eval own.py:my_bound smoothness=1.3,2.7", f"own.py {names}")])
    own.write_text(HELD["own.py"])
    refuse([("show own.py", "mine"), ("show own.py:mime", "'mine'"), ("show absent.py:mine", "absent.py")])
    (folder / "my_neighbour.py").write_text("NAME = 'fedals.one_round'\nprint('hello')\n")
    own.write_text("from bounds import get\nfrom my_neighbour import NAME\nmine = get(NAME)\n")
    assert run("show", "own.py:mine", "--latex") == (0, "\n".join(document(get(ONE))) + "\n", "hello\n")
    own.write_text("import signal\nsignal.raise_signal(signal.SIGINT)\n")
    assert run("show", "own.py:mine") == (130, "", "fedbounds: interrupted\n")


OWN = """\
from dataclasses import dataclass
from empirics.algorithms.algorithm import fedavg, renamed

class Stop(BaseException):
    pass

def fail():
    raise ValueError("deep")

class Step:
    def __call__(self, work, w, gradient, gradient_at):
        BODY

class Keeps:
    def __init__(self, begun, found):
        self.begun, self.found = begun, found

    def begin(self, model, clients):
        return self.begun

    def __call__(self, work, ends, model):
        return self.found

class Steps:
    needs_loss = False

    def __init__(self, found):
        self.found = found

    def __call__(self, state, steps, step_size):
        return self.found

mine = renamed(fedavg, HOOKS)
"""
BODIES = [
    ("raise Stop", "12:"),
    ("return fail()", "8: deep"),
    *((body, "mine: direction 15)") for body in ("return gradient * 2j", "yield gradient")),
]  # fmt: skip
HOOKS = [
    ("'x', start=lambda *a: None", "x: start 15) None"),
    ("'x', steps=Steps((0, 0.3))", "x: steps (0, 0.3)"),
    ("'x', steps=lambda *a: (3, 0.3)", "x: steps needs_loss"),
    ("'x', objective=lambda *a: 3", "objective tensor"),
    ("'x', combine=lambda work, ends: (ends, {})", "x: combine model (15,)"),
    ("'x', combine=lambda work, ends: (ends[0], None)", "x: combine vectors"),
    ("'x', remember=(Keeps(None, {}),)", "x: memory (rows, vectors) None"),
    ("'x', remember=Keeps(({}, {}), {})", "x: remember tuple"),
    ("'x', remember=(Steps(3),)", "x: remember (work, ends, model) begin"),
    ("'x', moves=lambda *a: 3", "x: moves (15,) int"),
    ("'x', direction=Steps", "x: direction Steps()"),
    ("'x', direction=None", "x: direction (work, w, gradient, gradient_at) None"),
    ("'x', combine=Steps(3)", "x: combine (work, ends) Steps 'step_size'"),
    ("'x', also=7", "x: also 7"),
    ("'x', personal='mine'", "x: personal 'mine'"),
    ("''", "name ''"),
]


def test_a_hook_that_raises_or_returns_something_else_is_named_with_its_file(refuse, folder):
    line = f"train {BUSY} --algorithm own.py:mine"
    for body, names in BODIES:
        (folder / "own.py").write_text(OWN.replace("BODY", body).replace("HOOKS", "'mine', direction=Step()"))
        refuse([(line, names)])
    for hooks, names in HOOKS:
        (folder / "own.py").write_text(OWN.replace("BODY", "return gradient").replace("HOOKS", hooks))
        refuse([(line, names)])


def test_options_may_stand_before_or_between_the_other_words(run):
    words = ["clients=3", "smoothness=1.1", *GAP.split()]
    status, out, _ = run("eval", ONE, *words, "--json")
    assert status == 0
    assert run("eval", "--json", ONE, *words)[1] == run("eval", ONE, *words[:2], "--json", *words[2:])[1] == out
    assert run("eval", ONE, "--clients", "3", "--smoothness=1.1", *GAP.split(), "--json")[1] == out
    setting = ["cohort=3", "smoothness=2.3", "step_size=0.05"]
    table = run("compare", "grad_norm_sq", *setting, "clients=5", "--json")[1]
    assert run("compare", "--json", "grad_norm_sq", "clients=5", *setting)[1] == table != ""


def test_a_paper_is_listed_by_its_name_or_number_in_any_case(run):
    listed = run("list", "--paper", "fedals")[1]
    for words in (["FedALS"], ["2404.11754"], ["--paper", "arXiv:2404.11754"]):
        assert run("list", *words)[1] == listed
