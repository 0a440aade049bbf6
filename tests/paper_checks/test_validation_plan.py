"""One validation for every kind of evidence: one plan, one parser, one comparison, one printer."""

import ast
import csv
import json
from pathlib import Path

import pytest

import fedbounds
from bounds import BOUNDS
from bounds.errors import BoundsError
from bounds.showing import files
from bounds.showing.usage import UsageError
from empirics.errors import EmpiricsError
from paper_checks.validation import Comparison, FINDERS, logged, Options, planned, run, validate
from paper_checks.validation.comparison import write
from paper_checks.validation.options import ASKED, DRAWS, EXACT, LOG, MANY, parsed, RUNS

VALIDATION = Path(__file__).resolve().parents[2] / "paper_checks" / "validation"
TYPED = {
    DRAWS: ("fedals.one_round", ["--clients", "7,2", "--workers", "3"], {"clients": (2, 7), "workers": 3}),
    EXACT: ("fedinit.lemma_2", ["--rounds", "4", "--noise", "0.7"], {"rounds": 4, "noise": 0.7}),
    RUNS: (
        "fedinit.lemma_2",
        ["--problem", "ridge(iris)", "smoothness=3"],
        {"problem": "ridge(iris)", "words": ("smoothness=3",)},
    ),
    LOG: (
        "fedinit.lemma_1",
        ["--measured", "a.csv", "stability=0.3"],
        {"measured": Path("a.csv"), "words": ("stability=0.3",)},
    ),
}


@pytest.mark.parametrize("evidence", FINDERS)
def test_typed_words_and_the_record_make_the_same_plan(evidence):
    name, typed, told = TYPED[evidence]
    plan = parsed(BOUNDS[name], evidence, typed)
    assert isinstance(plan, Options)
    assert plan == Options.of(evidence, **told)
    assert plan != Options.of(evidence, **{**told, "words": ("other=5",)})


@pytest.mark.parametrize(
    ("evidence", "name", "typed", "said"),
    [
        (
            EXACT,
            "decaying_k.per_rounds",
            ["--relaxation", "0.1"],
            "changes nothing: decaying_k.per_rounds is about fedavg",
        ),
        (
            EXACT,
            "fedcog.theorem",
            ["--relaxation", "0.06"],
            "changes nothing: fedcog.theorem is about fedcog",
        ),
        (
            RUNS,
            "fedinit.lemma_2",
            ["--samples", "9"],
            "changes nothing: fedinit.lemma_2 speaks of no population",
        ),
        (RUNS, "fedals.rounds_inexact", ["--samples", "9"], "is on new samples in every round"),
    ],
)
def test_a_typed_option_that_the_bound_has_no_use_for_is_refused(evidence, name, typed, said):
    problem = ["--problem", "ridge(iris)"] if evidence == RUNS else []
    assert parsed(BOUNDS[name], evidence, problem) is not None
    with pytest.raises(UsageError) as caught:
        parsed(BOUNDS[name], evidence, [*problem, *typed])
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("evidence", "name", "typed"),
    [
        (EXACT, "fedinit.theorem_1", ["--relaxation", "0.1"]),
        (RUNS, "fedals.one_round", ["--problem", "ridge(iris)", "--samples", "9"]),
    ],
)
def test_the_same_option_is_taken_where_it_counts(evidence, name, typed):
    option, value = typed[-2].strip("-"), float(typed[-1])
    assert getattr(parsed(BOUNDS[name], evidence, typed), option) == value


@pytest.mark.parametrize("evidence", FINDERS)
def test_an_empty_folder_is_not_the_one_we_are_in(evidence):
    name, typed, _ = TYPED[evidence]
    with pytest.raises(UsageError, match="argument -o: must not be empty"):
        parsed(BOUNDS[name], evidence, [*typed, "-o", ""])


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["--cohort", "99"], "cohort must be <= clients; got 99 > 10"),
        (["--clients", "4", "--cohort", "7"], "cohort must be <= clients; got 7 > 4"),
        (["--sampling", "sometimes"], "sampling must be one of"),
        (["--algorithm", "fedavgg"], "did you mean 'fedavg'"),
    ],
)
def test_a_plan_that_cannot_be_kept_is_refused_before_any_data_are_read(typed, said, monkeypatch):
    monkeypatch.setattr(planned, "task", lambda text: pytest.fail("it reads the data first"))
    plan = parsed(BOUNDS["fedinit.lemma_2"], RUNS, ["--problem", "softmax(digits)", *typed])
    with pytest.raises(BoundsError, match=said):
        validate(BOUNDS["fedinit.lemma_2"], RUNS, plan)


def test_every_option_of_every_evidence_is_in_the_record():
    assert {*FINDERS, MANY} == set(ASKED)
    for asked in ASKED.values():
        assert set(asked) <= set(Options.__dataclass_fields__)
        for name, option in asked.items():
            if isinstance(option.usual, int | float):
                assert option.help.endswith((f"({option.usual})", f"(default {option.usual})")), name


def test_the_command_line_ends_at_the_parser():
    """Nothing below takes a namespace, and no flags are put together again as text."""
    for path in sorted(VALIDATION.glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
        assert ("argparse" in imported) == (path.name == "options.py"), path.name
        flags = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
        rebuilt = [text for text in flags if text.startswith("--") and text.endswith(("=", "-"))]
        assert path.name == "options.py" or not rebuilt


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "runs.csv"
    path.write_text("seed,generalization_gap\n1,0.11\n2,0.12\n3,0.1\n")
    return path


def test_evidence_of_every_kind_is_one_comparison_with_one_table(log, tmp_path, capsys):
    plans = {
        EXACT: ("fedinit.lemma_2", Options.of(EXACT, instances=1, rounds=2, clients=3)),
        LOG: ("fedinit.lemma_1", Options.of(LOG, measured=log, words=("stability=0.3",))),
    }
    for evidence, (name, plan) in plans.items():
        found = validate(BOUNDS[name], evidence, plan)
        assert isinstance(found, Comparison)
        print(found)
        assert "holds here" in capsys.readouterr().out
        table = list(csv.DictReader(write(found, tmp_path, "the command")[0].read_text().splitlines()))
        assert [float(row["bound"]) for row in table] == [line.bound for line in found.lines]
        assert {row["verdict"] for row in table} == {"holds here"}


def test_each_file_of_a_log_is_read_once(log, tmp_path, monkeypatch, capsys):
    """A pipe is empty the second time."""
    constants = tmp_path / "c.json"
    constants.write_text(json.dumps({"stability": 0.3}))
    heard = []

    def once(path, *rest):
        heard.append(str(path))
        return Path(path).read_bytes()

    for module in (files, logged):
        monkeypatch.setattr(module, "content", once)
    words = ["--measured", str(log), f"@{constants}", "-o", str(tmp_path)]
    assert fedbounds.main(["validate", "fedinit.lemma_1", *words]) == 0
    assert sorted(heard) == sorted([str(log), str(constants)])
    capsys.readouterr()


CUT = """
from dataclasses import replace
from bounds import BOUNDS
true = BOUNDS["fedinit.lemma_2"]
cut = replace(true, name="mine.cut", terms={n: t / 1e6 for n, t in true.terms.items()})
"""


def test_an_exact_violation_is_exit_status_one(tmp_path, capsys):
    path = tmp_path / "mine.py"
    path.write_text(CUT)
    small = ["--instances", "1", "--rounds", "2", "--clients", "3", "-o", str(tmp_path)]
    assert run(f"{path}:true", small) == 0
    assert run(f"{path}:cut", small) == 1
    assert "2 x violated. Exact expectations" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("relation", "hint"),
    [
        ("sp.Eq(cohort, clients)", "no step size mends that: give another --cohort"),
        ("step_size >= 1e9", "give --step-size"),
    ],
)
def test_a_silence_says_what_could_end_it(tmp_path, relation, hint):
    path = tmp_path / "mine.py"
    path.write_text(
        CUT
        + f"""
import sympy as sp
from bounds import Condition
from bounds.vocabulary import clients, cohort, step_size
silent = replace(true, name="mine.silent", conditions=(*true.conditions, Condition("more", {relation})))
"""
    )
    asked = ["--problem", "ridge(iris)", "--clients", "5", "--cohort", "2", "--rounds", "2"]
    with pytest.raises(EmpiricsError, match=hint):
        run(f"{path}:silent", [*asked, "-o", str(tmp_path)])
