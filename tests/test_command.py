"""The ``fedbounds`` command: every verb, every format, exit statuses."""

import csv
import json
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest

from bounds import BOUNDS, get
from bounds.showing.usage import VERBS
from figures import bundle

ROOT = Path(__file__).parents[1]
MINE = f"{ROOT / 'examples' / 'my_bound.py'}:my_bound"
AT = ["cohort=8", "kept=0.25", "initial_gap=2.3", "smoothness=1.7", "gradient_variance=0.6", "grad_cap_sq=1.4"]
GAP = ["smoothness=1.1", "strong_convexity=.1", "client_weight=.5,.3,.2", "non_iidness=.01,.02,.04"]


def mine(step_size, rounds):
    """The example's formula by hand."""
    noise = 1.7 * step_size * 0.6 / 8
    return 2 * 2.3 / (step_size * rounds) + noise + 1.7**2 * step_size**2 * 1.4 * 0.75 / 0.25


def table(file):
    return list(csv.DictReader(file.read_text().splitlines()))


# ---- list, show ----


def test_without_arguments_it_asks_what_people_come_for(run):
    status, out, err = run()
    assert (status, err) == (0, "")
    asked = [line for line in out.splitlines() if line.endswith("?")]
    assert len(asked) == 4
    assert all(VERBS[name].example in out for name in ("show", "compare", "advise", "check"))
    assert len(out.splitlines()) <= 14
    assert str(len(VERBS)) in out.splitlines()[-1]


@pytest.mark.parametrize("word", ["--help", "help"])
def test_help_prints_an_example_of_every_verb(run, word):
    status, out, err = run(word)
    assert (status, err) == (0, "")
    for verb in VERBS.values():
        assert verb.example in out


NEEDED = {"results": "sweep", "bundle": "figure"}
"""Whose example must have been run before an example, and is tried so."""
SLOW = {"bundle", "tightness"}  # the README runs `tightness` too
SHOWN = "open"
"""A browser would come up; it is tried without one beside the page."""
TRIED = [v for v in VERBS if v not in ("list", "validate", SHOWN, *NEEDED.values())]
EXAMPLES = [pytest.param(v, marks=[pytest.mark.slow] if v in SLOW else []) for v in TRIED]


@pytest.mark.parametrize("verb", EXAMPLES)
def test_the_examples_run_as_printed(run, verb, tmp_path, monkeypatch, request):
    if verb == "bundle":  # the audit in it is the suite's own
        verdicts = request.getfixturevalue("verdicts")
        monkeypatch.setattr(bundle, "audit", lambda claims, *_: [verdicts[claim.name] for claim in claims])
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    for each in filter(None, (NEEDED.get(verb), verb)):
        status, out, err = run(*shlex.split(VERBS[each].example)[1:])
        assert (status, err) == (0, "")
        assert out


@pytest.mark.parametrize("verb", [v for v in VERBS if v != "validate"])
def test_every_verb_has_help_with_its_example(run, verb):
    status, out, err = run(verb, "--help")
    assert (status, err) == (0, "")
    assert VERBS[verb].example in out
    assert "exit status" in out


def test_list_names_every_bound_once(run):
    status, out, _ = run("list")
    assert status == 0
    assert [line.split()[0] for line in out.splitlines()] == list(BOUNDS)


def test_list_of_one_paper_as_json(run):
    entries = json.loads(run("list", "--paper", "fedcog", "--json")[1])
    assert [e["name"] for e in entries] == [n for n in BOUNDS if n.startswith("fedcog.")]
    assert all(set(e) == {"name", "paper", "relation", "target", "source"} for e in entries)
    assert entries[0]["source"] == str(get(entries[0]["name"]).source)


def test_show_prints_card_latex_or_json(run):
    one = get("fedals.one_round")
    assert run("show", "fedals.one_round") == (0, f"{one}\n", "")
    assert run("show", "fedals.one_round", "--latex")[1] == one.latex() + "\n"
    card = json.loads(run("show", "--json", "fedals.one_round")[1])
    assert {q["name"]: q["per_client"] for q in card["quantities"]}["local_gap"] is True


def test_show_sensitivity_prints_elasticities(run):
    status, out, _ = run("show", MINE, "--sensitivity", *AT, "rounds=500", "step_size=0.1")
    assert status == 0
    shares = dict(line.split() for line in out.splitlines()[1:])
    start = 2 * 2.3 / (0.1 * 500)
    assert float(shares["initial_gap"]) == pytest.approx(start / mine(0.1, 500), rel=1e-5)
    assert float(shares["rounds"]) == pytest.approx(-start / mine(0.1, 500), rel=1e-5)


def test_where_the_theorem_is_silent_sensitivity_says_why(run):
    status, out, err = run("show", MINE, "--sensitivity", *AT, "rounds=500", "step_size=2")
    assert status == 0
    assert "nan" in out
    assert "silent here; not met: the step size is at most 1/L" in err


# ---- eval ----


def test_eval_prints_value_and_terms(run):
    status, out, err = run("eval", MINE, *AT, "rounds=500", "step_size=0.1")
    assert (status, err) == (0, "")
    assert out.splitlines()[0] == f"grad_norm_sq <= {mine(0.1, 500):.6g}   [loss^2/parameter^2]"
    assert out.splitlines()[1].split() == ["optimisation", "0.092"]


def test_eval_prints_a_table_of_the_outer_product(run):
    _, out, _ = run("eval", MINE, *AT, "rounds=300,700", "step_size=0.05:0.25:3")
    head, *rows = [line.split() for line in out.splitlines()[1:]]
    assert head[:3] == ["rounds", "step_size", "value"]
    expected = [(r, s, mine(s, r)) for r in (300, 700) for s in (0.05, 0.15, 0.25)]
    np.testing.assert_allclose([[float(c) for c in row[:3]] for row in rows], expected, rtol=1e-5)


def test_eval_json_has_the_documented_shape(run):
    _, out, err = run("eval", MINE, *AT, "rounds=300,700", "step_size=0.05,0.15,0.75", "--json")
    result = json.loads(out)
    assert list(result) == ["name", "relation", "statistic", "unit", "axes", "value", "terms", "holds",
                            "failed_conditions"]  # fmt: skip
    assert result["axes"] == [{"rounds": [300, 700]}, {"step_size": [0.05, 0.15, 0.75]}]
    assert np.shape(result["value"]) == np.shape(result["holds"]) == np.shape(result["terms"]["noise"]) == (2, 3)
    assert [row[2] for row in result["value"]] == [None, None]
    assert result["value"][1][1] == pytest.approx(mine(0.15, 700))
    assert result["holds"] == [[True, True, False]] * 2
    assert result["failed_conditions"] == ["the step size is at most 1/L"]
    assert "silent at 2 of 6 points; not met: the step size is at most 1/L" in err


def test_eval_zip_pairs_sweeps(run):
    _, out, _ = run("eval", MINE, *AT, "rounds=300,700", "step_size=0.05,0.15", "--zip", "--json")
    result = json.loads(out)
    assert result["axes"] == [{"rounds": [300, 700], "step_size": [0.05, 0.15]}]
    np.testing.assert_allclose(result["value"], [mine(0.05, 300), mine(0.15, 700)])


def test_outside_the_conditions_it_is_silent_or_marked(run):
    at = [*AT, "rounds=500", "step_size=0.9"]
    status, out, err = run("eval", MINE, *at)
    assert status == 0
    assert out.startswith("grad_norm_sq <= nan")
    assert "silent here; not met: the step size is at most 1/L" in err
    status, out, err = run("eval", MINE, *at, "--outside")
    assert status == 0
    assert f"{mine(0.9, 500):.6g}" in out.splitlines()[0]
    assert out.splitlines()[0].endswith("OUTSIDE")
    assert "OUTSIDE" in err
    result = json.loads(run("eval", MINE, *at, "--outside", "--json")[1])
    assert result["value"] == pytest.approx(mine(0.9, 500))
    assert result["holds"] is False


def test_overflow_is_inf_with_one_line_naming_the_term(run):
    at = [a for a in AT if not a.startswith("initial_gap")]
    status, out, err = run("eval", MINE, *at, "rounds=2", "step_size=0.5", "initial_gap=1.7e308", "--json")
    assert status == 0
    assert json.loads(out)["value"] == "inf"
    assert err.count("\n") == 1
    assert "'optimisation'" in err


def test_a_bound_over_clients_takes_lists_and_constants(run, tmp_path):
    file = tmp_path / "constants.json"
    file.write_text(json.dumps({"local_gap": [0.02, 0.03, 0.05], "seed": 3}))
    status, out, _ = run("eval", "fedals.one_round", *GAP, f"@{file}", "--json")
    one = get("fedals.one_round")
    expected = one(smoothness=1.1, strong_convexity=0.1, client_weight=[0.5, 0.3, 0.2],
                   non_iidness=[0.01, 0.02, 0.04], local_gap=[0.02, 0.03, 0.05])  # fmt: skip
    assert status == 0
    assert json.loads(out)["value"] == pytest.approx(expected)


# ---- minimize, solve ----


def test_minimize_finds_the_best_step_size(run):
    status, out, _ = run("minimize", MINE, "over=step_size", *AT, "rounds=500")
    found = dict(line.split(maxsplit=1) for line in out.splitlines())
    steps = np.linspace(0.01, 0.5, 200_001)
    assert status == 0
    assert float(found["grad_norm_sq"]) == pytest.approx(mine(steps, 500).min(), rel=1e-5)
    assert float(found["step_size"]) == pytest.approx(steps[mine(steps, 500).argmin()], rel=1e-4)


def test_minimize_over_a_sweep_prints_a_table(run):
    _, out, _ = run("minimize", MINE, "over=step_size", *AT, "rounds=100,900")
    rows = [line.split() for line in out.splitlines()]
    assert rows[0][:3] == ["rounds", "step_size", "grad_norm_sq"]
    assert [row[0] for row in rows[1:]] == ["100", "900"]
    assert float(rows[1][2]) > float(rows[2][2])


def test_minimize_without_values_prints_the_formula(run):
    status, out, _ = run("minimize", "decaying_k.per_rounds", "over=local_steps")
    assert status == 0
    assert out.startswith("local_steps = ")
    assert "grad_norm_sq <= " in out
    assert "not looked at: local_steps is a whole number >= 1" in out
    _, out, _ = run("minimize", "decaying_k.per_second", "over=step_size")
    assert "not looked at: the step size is at most 1/(4L)" in out
    assert "runtime holds" not in out


def one_quantity(folder, term):
    file = folder / "own.py"
    file.write_text(
        "import sympy as sp\nfrom bounds import Bound, Source\n"
        "from bounds.vocabulary import grad_norm_sq, smoothness as L\n"
        f"own = Bound(name='own', target=grad_norm_sq, terms={{'a': {term}}}, source=Source('notes', '1'))\n"
    )
    return f"{file}:own"


def test_a_bound_of_one_quantity_is_minimised_without_values(run, tmp_path):
    status, out, err = run("minimize", one_quantity(tmp_path, "L + 4 / L"), "over=smoothness")
    assert (status, err) == (0, "")
    assert out.splitlines()[:2] == ["smoothness     2", "grad_norm_sq   4"]


def test_a_value_that_is_undefined_within_the_conditions_is_remarked(run, tmp_path):
    name = one_quantity(tmp_path, "sp.sqrt(L - 2)")
    assert (
        run("eval", name, "smoothness=1.3")[2]
        == "fedbounds: own has no real value here, though its conditions hold there\n"
    )
    assert " at 2 of 3 points, " in run("eval", name, "smoothness=1.3,1.4,2.9")[2]
    assert run("eval", name, "smoothness=2.9")[2] == ""


def test_no_minimum_is_a_finding(run):
    status, out, err = run("minimize", MINE, "over=step_size")
    assert (status, out) == (1, "")
    assert err.count("\n") == 1


def test_solve_finds_the_fewest_rounds(run):
    status, out, _ = run("solve", MINE, "for=rounds", "target=0.3", "--smallest", *AT, "step_size=0.1")
    fewest = next(r for r in range(1, 10_000) if mine(0.1, r) <= 0.3)
    assert status == 0
    assert out.splitlines()[0].split() == ["smallest", "rounds", str(fewest)]


def test_solve_without_a_solution_is_a_finding(run):
    status, out, err = run("solve", MINE, "for=rounds", "target=1e-6", "--smallest", *AT, "step_size=0.1")
    assert (status, out) == (1, "")
    assert err.count("\n") == 1


def test_solve_over_a_sweep_tells_where_there_is_no_solution(run):
    status, out, err = run("solve", MINE, "for=rounds", "target=0.3", "--smallest", *AT, "step_size=0.1,0.5")
    assert status == 1
    assert len(out.splitlines()) == 1 or "0.1" in out
    assert "step_size=0.5: " in err


# ---- plot ----


def test_plot_writes_a_picture_and_its_numbers(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status, out, err = run("plot", MINE, "x=step_size=0.02:0.9:45", *AT, "rounds=500")
    assert status == 0
    assert out.splitlines() == ["wrote mine.sparse_sgd.svg", "wrote mine.sparse_sgd.csv"]
    assert "not met: the step size is at most 1/L" in err
    assert (tmp_path / "mine.sparse_sgd.svg").read_text().startswith("<?xml")
    rows = table(tmp_path / "mine.sparse_sgd.csv")
    total = [r for r in rows if r["part"] == "total"]
    assert len(total) == 45
    np.testing.assert_allclose([float(r["value"]) for r in total], [mine(float(r["step_size"]), 500) for r in total])
    assert {r["holds"] for r in total if float(r["step_size"]) > 1 / 1.7} == {"False"}
    drawn = (tmp_path / "mine.sparse_sgd.csv").read_bytes()
    assert run("plot", MINE, "step_size=0.02:0.9:45", *AT, "rounds=500")[0] == 0  # the one range is what is drawn along
    assert (tmp_path / "mine.sparse_sgd.csv").read_bytes() == drawn


def test_plot_compares_bounds_in_the_format_of_the_file(run, tmp_path):
    picture = tmp_path / "two.png"
    names = ["decaying_k.k_star", "decaying_k.k_star_printed"]
    used = {q.name for n in names for q in get(n).quantities} - {"step_size"}
    values = {"current_loss": 2.3, "optimal_loss": 0.4, "cohort": 7}
    words = [f"{q}={values.get(q, 1.3)}" for q in used if q != "strong_convexity"] + ["strong_convexity=0.7"]
    status, out, _ = run("plot", *names, "x=step_size=1e-3:0.1:12:log", *words, "-o", picture)
    assert status == 0, out
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert {r["bound"] for r in table(picture.with_suffix(".csv"))} == set(names)


# ---- validate ----


def test_validate_names_what_there_is(run):
    status, out, err = run("validate", "fedals.one_rond")
    assert (status, out) == (2, "")
    assert "fedals.one_round" in err
    status, out, err = run("validate")
    assert (status, err) == (0, "")
    assert "fedals.one_round" in out
    assert "decaying_k.theorem_1" in out
    assert run("validate", "--quick")[0] == 2


def test_validate_passes_the_rest_of_the_line_on(run, monkeypatch):
    from paper_checks import validation

    heard = []

    def spy(name, arguments, draw):
        heard.append((name, arguments, draw))
        return 1

    monkeypatch.setattr(validation, "run", spy)
    assert run("validate", "test.spy", "--seeds", "4")[0] == 1
    assert heard == [("test.spy", ["--seeds", "4"], None)]
