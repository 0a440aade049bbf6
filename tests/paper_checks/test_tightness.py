"""Bounds beside exact worst cases: the numbers of tables, what is read off them, the command and its mistakes."""

import json
from dataclasses import fields, replace

import pytest
from tools.worst_case_tables import full

import fedbounds
from bounds.catalog import BOUNDS
from bounds.core import Bound
from empirics.experiments import Outcome
from paper_checks.claims.checkers import AboveWorstCase
from paper_checks.claims.claim import Book, Grade, Status
from paper_checks.runs.can import can
from paper_checks.runs.words import WORST
from paper_checks.tightness_options import NAMES
from paper_checks.worst_cases import answer, worst_case, WorstCaseError
from paper_checks.worst_cases.jobs import terms, tightness
from paper_checks.worst_cases.places import moot, Place, question, undrawn, values, word_of
from paper_checks.worst_cases.sizes import proof_time
from paper_checks.worst_cases.tables import best_steps, committed, FOLDER, places, smallest_factors, write

REACHED = [name for name, bound in BOUNDS.items() if not can(bound, WORST)]
TABLED = [name for name in REACHED if BOUNDS[name].source.paper != "classics"]
"""Those of the audited papers have a table that comes along; worst cases of classic theorems are computed."""


def run(capsys, *words):
    status = fedbounds.main(["tightness", *words])
    said = capsys.readouterr()
    return status, said.out, said.err


# ---- numbers ----


def test_the_drift_of_two_steps_is_a_96th_of_lemma_2():
    """With K = 2 and no divergence V_1 = eta^2 mean |g_k|^2 <= eta^2 (G^2 + B^2 |g|^2); (24) has 12 K^3 = 96 of it."""
    bound, place = BOUNDS["fedinit.lemma_2"], Place(rounds=1, local_steps=2, heterogeneity=0.7, grad_norm_sq=1.3)
    asked = question(bound, place)
    step = asked.setting.step_size
    worst = answer(asked)
    assert worst.value == pytest.approx(step**2 * (0.7 + 2.0 * 1.3), rel=1e-6)
    parts, inside = terms(bound, values(bound, place))
    assert inside
    assert sum(parts.values()) / worst.value == pytest.approx(96, rel=1e-6)


def test_a_single_step_of_lemma_1_contracts_by_the_class():
    """K = 1: gradient descent, |x - x*|^2 shrinks by (1 - eta mu)^2 whatever the heterogeneity."""
    place = Place(rounds=1, local_steps=1, heterogeneity=0.3, condition_number=7.0, grad_cap_sq=50.0)
    asked = question(BOUNDS["decaying_k.lemma_1"], place)
    assert answer(asked).value == pytest.approx((1 - asked.setting.step_size / 7) ** 2, rel=1e-6)


@pytest.mark.parametrize("name", REACHED)
def test_every_bound_within_reach_is_above_its_worst_case(name):
    table = tightness(name, rounds=2, local_steps=2, heterogeneity=0.6).columns
    assert table["ratio"][0] > 1 - 1e-6
    assert table["gap"][0] <= 1e-6 * max(table["worst_case"][0], 0.01)
    shares = [value[0] for column, value in table.items() if column.startswith("share: ")]
    assert all(share > -1e-4 for share in shares)


def test_what_is_out_of_reach_is_said():
    reasons = {name: can(BOUNDS[name], WORST) for name in ("fedals.one_round", "fedcog.corollary", "fedinit.descent")}
    assert "nothing reads generalization_gap off a worst case" in reasons["fedals.one_round"]
    assert "put in a step size of its own" in reasons["fedcog.corollary"]
    assert "loss_decrease" in reasons["fedinit.descent"]
    with pytest.raises(WorstCaseError, match=r"fedals\.one_round has no exact worst case: "):
        question(BOUNDS["fedals.one_round"], Place())


# ---- where some clients are drawn ----

DRAWN = [
    "fedinit.theorem_1", "fedinit.theorem_2", "fedinit.theorem_2_potential", "classics.li_theorem_3",
    "classics.scaffold_convex", "classics.scaffold_strongly_convex",
]  # fmt: skip


def test_bounds_on_drawn_clients_take_a_cohort():
    assert [name for name in REACHED if not undrawn(BOUNDS[name])] == DRAWN
    place = Place(clients=3, cohort=2, rounds=1, local_steps=2, heterogeneity=0.3)
    asked = question(BOUNDS["classics.li_theorem_3"], place)
    assert (asked.clients, asked.setting.cohort, asked.drawn) == (3, 2, True)
    assert values(BOUNDS["classics.li_theorem_3"], place)["cohort"] == 2
    assert Place.of_row(place.as_row()) == place
    assert replace(place, cohort=3) == replace(place, cohort=0)
    assert "cohort" not in replace(place, cohort=3).as_row()


@pytest.mark.parametrize("name", DRAWN)
def test_a_bound_on_drawn_clients_is_above_the_worst_case_in_the_mean(name):
    place = {"clients": 2, "cohort": 1, "rounds": 2, "local_steps": 1, "heterogeneity": 0.6, "relaxation": 0.01}
    drawn = tightness(name, **place).columns
    asked = question(BOUNDS[name], Place(**place))
    again = worst_case(
        asked.algorithm, asked.setting, asked.assumptions, asked.metric, asked.statistic, clients=2, symmetric=False
    )
    assert drawn["worst_case"][0] == pytest.approx(again.value, rel=1e-4)
    assert drawn["ratio"][0] > 1 - 1e-6


def test_a_cohort_is_a_word_of_the_terminal(capsys, tmp_path):
    words = ("classics.li_theorem_3", "clients=2", "rounds=2", "local_steps=1", "heterogeneity=0.5", "--workers", "0")
    where = ("--store", str(tmp_path / "s"), "-o", str(tmp_path))
    status, out, _ = run(capsys, *words, "cohort=1,2", *where)
    assert status == 0
    head, *body = (line.split() for line in out.splitlines()[:3])
    assert [row[head.index("cohort")] for row in body] == ["1", "all"]
    assert float(body[0][head.index("worst_case")]) > float(body[1][head.index("worst_case")])
    assert "where a cohort is drawn from the clients in every round, the mean over all draws" in out
    assert [word_of(row, "cohort") for row in committed("classics.li_theorem_3", tmp_path)] == [1, 0]
    status, _, err = run(capsys, *words, "cohort=1", "--certify", *where)
    assert status == 1
    assert "certificates are made where all clients take part, not where some are drawn" in err


@pytest.mark.parametrize("name", ["fedcog.theorem.csv", "fedcog.theorem.json", "fedcog.theorem-2.json"])
def test_a_file_of_somebody_else_is_not_replaced(tmp_path, capsys, monkeypatch, name):
    """Nobody typed its name: it is refused before anything is computed. Files of ours, as of a run before, are not."""
    monkeypatch.setattr("paper_checks.worst_cases.command._computed", lambda *_: ([], ["not computed"]))
    words = ("fedcog.theorem", "rounds=1,2", "local_steps=1", "heterogeneity=0.4", "--workers", "0", "--certify")
    where = ("--store", str(tmp_path / "s"), "-o", str(tmp_path))
    begins = {"csv": "clients,rounds,local_steps\n", "json": '{"kind":"worst case"}'}
    ours = tmp_path / name
    ours.write_text('{\n  "bound": "x"}' if name == "fedcog.theorem.json" else begins[name.rpartition(".")[2]])
    assert "not computed" in run(capsys, *words, *where)[2]
    ours.write_text("theirs")
    status, _, err = run(capsys, *words, *where)
    assert (status, ours.read_text()) == (2, "theirs")
    assert f"{name} would be replaced" in err


# ---- what a table says ----


def _row(k, bound, worst, **terms_):
    return {
        **Place(local_steps=k).as_row(),
        "bound": bound,
        "worst_case": worst,
        "inside": True,
        "exact": True,
        **terms_,
    }


def test_best_steps_and_what_following_the_bound_costs():
    rows = [_row(1, 7.0, 3.0), _row(2, 5.0, 2.5), _row(3, 6.0, 2.0), {**_row(4, 1.0, 0.1), "inside": False}]
    assert best_steps([_row(1, 2.0, 0.0), _row(2, 3.0, 0.0)]) == []  # a metric that is 0 has no best steps
    (best,) = best_steps(rows)
    assert (best.by_bound, best.by_worst_case) == (2, 3)
    assert best.regret == pytest.approx(0.25)


def test_the_smallest_factors_of_a_bound_and_of_a_term():
    rows = [
        _row(2, 5.0, 2.5, **{"term: a": 1.5, "term: b": 3.5}),
        _row(3, 6.0, 5.4, **{"term: a": 4.0, "term: b": 2.0}),
    ]
    found = smallest_factors(rows)
    assert found["bound"] == pytest.approx(0.9)
    assert found["a"] == pytest.approx((5.4 - 2.0) / 4.0)
    assert found["b"] == pytest.approx((5.4 - 4.0) / 2.0)


# ---- the tables that come along ----


def test_every_bound_within_reach_has_a_table_with_its_card():
    assert {path.stem for path in FOLDER.glob("*.csv")} == set(TABLED)
    for name in TABLED:
        card = json.loads((FOLDER / f"{name}.json").read_text())
        assert card["bound"] == name
        assert card["command"] == f"python tests/tools/worst_case_tables.py {name}"
        rows = committed(name)
        grid = [place.as_row() for place in full(BOUNDS[name])]
        assert all({n: row[n] for n in NAMES if n in row} in grid for row in rows)
        assert len(rows) + card["refused"] == len(grid)
        assert card["refused"] < len(grid) / 5  # places so ill-conditioned that no number is sure
        assert (card["estimate"] == "exact") == all(row["exact"] for row in rows)


@pytest.mark.parametrize("name", TABLED)
def test_a_committed_table_is_computed_again(name):
    rows = [row for row in committed(name) if row["rounds"] * row["local_steps"] <= 4]
    for row in rows[:: max(1, len(rows) // 3)]:
        again = tightness(name, **{n: row[n] for n in NAMES if n in row}).columns
        for column in ("step_size", "bound", "worst_case"):
            assert again[column][0] == pytest.approx(row[column], rel=2e-5, abs=1e-7), (row, column)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["fedinit.theorem_1", "decaying_k.theorem_1_repaired", "fedcog.theorem"])
def test_a_large_place_of_a_committed_table_is_computed_again(name):
    row = max(committed(name), key=lambda row: row["rounds"] * row["local_steps"] * (row["local_steps"] < 8))
    again = tightness(name, **{n: row[n] for n in NAMES if n in row}).columns
    assert again["worst_case"][0] == pytest.approx(row["worst_case"], rel=2e-5)


def _mutated(name: str, factor: float) -> Bound:
    bound = BOUNDS[name]
    return replace(bound, terms={word: term * factor for word, term in bound.terms.items()})


def test_the_checker_catches_a_bound_below_the_exact_worst_case(monkeypatch):
    name = "decaying_k.lemma_1"
    least = min(row["ratio"] for row in committed(name) if row["inside"])
    whole = AboveWorstCase(name, least)(Book())
    assert whole.status is Status.HOLDS
    assert whole.as_audited
    low = AboveWorstCase(name, least)(Book({name: _mutated(name, 0.9 / least)}))
    assert low.status is Status.FAILS
    assert low.grade is Grade.PROVED
    assert "refuted, proved: a federation in fractions attains" in low.evidence
    assert float(low.witness["step_size"]) > 0
    for below, status in ((0.9998, Status.FAILS), (0.99995, Status.FAILS), (1.0001, Status.HOLDS)):  # by proofs
        assert AboveWorstCase(name, least)(Book({name: _mutated(name, below / least)})).status is status
    rows = [{k: v for k, v in row.items() if k not in ("proved", "attained")} for row in committed(name)]
    monkeypatch.setattr("paper_checks.worst_cases.tables.committed", lambda _: rows)
    for below, status in ((0.9998, Status.FAILS), (0.99995, Status.HOLDS)):  # in floats known to 1e-4
        assert AboveWorstCase(name, least)(Book({name: _mutated(name, below / least)})).status is status
    assert not AboveWorstCase(name, least)(Book({name: _mutated(name, 1.1)})).as_audited


def test_an_upper_estimate_cannot_refute():
    name = "fedcog.theorem"
    assert AboveWorstCase(name, 1.0)(Book({name: _mutated(name, 0.01)})).status is Status.OPEN


# ---- the command ----

SMALL = ("rounds=1", "local_steps=1,2", "heterogeneity=0.5", "--workers", "0")


def test_the_command_prints_writes_and_goes_on(capsys, tmp_path):
    words = ("decaying_k.lemma_1", *SMALL, "--store", str(tmp_path / "s"))
    status, out, err = run(capsys, *words, "-o", str(tmp_path / "t"))
    assert (status, err) == (0, "")
    assert out.splitlines()[0].split() == [
        "local_steps", "step_size", "bound", "worst_case", "ratio", "dominating_term", "dominating_assumption",
    ]  # fmt: skip
    assert "K* by bound" in out
    assert "could be multiplied by" in out
    assert len(committed("decaying_k.lemma_1", tmp_path / "t")) == 2
    before = {path.stat().st_mtime_ns for path in (tmp_path / "s").glob("*.json")}
    status, again, _ = run(capsys, *words, "--json")
    told = json.loads(again)
    assert (status, len(told["rows"]), told["estimate"]) == (0, 2, "exact")
    assert before == {path.stat().st_mtime_ns for path in (tmp_path / "s").glob("*.json")}


def test_without_a_name_the_command_lists_what_is_within_reach(capsys):
    status, out, _ = run(capsys)
    assert status == 0
    assert [line.split()[0] for line in out.splitlines()] == REACHED


def test_a_bound_with_a_table_answers_with_it_and_says_how_to_compute_another(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr("paper_checks.worst_cases.command.sweep", lambda *_, **__: pytest.fail("computed"))
    _, asked_for, silent = run(capsys, "decaying_k.theorem_1", "--committed")
    status, out, err = run(capsys, "decaying_k.theorem_1", "-o", str(tmp_path))
    assert (status, silent) == (0, "")
    *table, wrote = out.splitlines()
    assert table == asked_for.splitlines()
    assert wrote.startswith("wrote ")
    assert str(committed("decaying_k.theorem_1", tmp_path)) == str(committed("decaying_k.theorem_1"))
    assert err.count("\n") == 1
    assert "took 1.4 min of one core" in err


def test_long_work_says_beforehand_how_long_it_takes(capsys, monkeypatch, tmp_path):
    def stops(wanted, store, *_, **__):
        store.keep(wanted[3], Outcome({"value": [0.7]}), 0.1)
        raise KeyboardInterrupt

    monkeypatch.setattr("paper_checks.worst_cases.command.sweep", stops)
    words = ("decaying_k.theorem_1", "rounds=2,4", "--workers", "1", "--store", str(tmp_path / "s"))
    status, out, err = run(capsys, *words)
    assert (status, out) == (130, "")
    told, stopped = err.splitlines()
    assert "16 places to compute, about " in told
    assert "on one core; what is done is kept" in told
    assert stopped == (
        f"fedbounds: interrupted: 1 of 16 worst cases are kept in {tmp_path / 's'}: the same command goes on from there"
    )


def test_proofs_say_beforehand_how_long_they_take(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr("paper_checks.worst_cases.command.sweep", lambda *_, **__: [])
    store = ("--store", str(tmp_path / "s"), "--workers", "1")
    _, _, err = run(capsys, "decaying_k.lemma_1", "--committed", "--certify", *store)
    said = err.splitlines()[0]
    assert said.startswith("fedbounds: 72 places to prove, about ")
    assert said.endswith(" s on one core; what is done is kept")
    assert proof_time(13) > 2 * proof_time(4) > 0.4
    cubes, fifths = (17**3 + 16**3) / 40**3, (17**5 + 16**5) / 27**5
    assert proof_time(16) == pytest.approx(0.2 + 2.5 * (cubes + fifths))


def test_proofs_that_are_refused_or_fail_say_why(capsys, monkeypatch, tmp_path):
    words = ("decaying_k.lemma_1", "rounds=1", "local_steps=2", "heterogeneity=0.4", "--certify", "--workers", "0")
    status, _, err = run(capsys, *words, "clients=1", "--store", str(tmp_path / "s"))
    assert (status, err.count("\n")) == (1, 1)
    assert "1 place without a proof: refused: a single client has no certificate" in err
    monkeypatch.setattr("paper_checks.worst_cases.certificates.certify.certify", lambda *_: {}["no proof"])
    status, _, err = run(capsys, *words, "--store", str(tmp_path / "s"))
    assert status == 1
    assert "1 place without a proof: KeyError: 'no proof'" in err


def test_a_store_that_cannot_be_written_is_found_before_anything_is_computed(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr("paper_checks.worst_cases.command.sweep", lambda *_, **__: pytest.fail("computed"))
    status, out, err = run(capsys, "fedcog.theorem", *SMALL, "--store", "/proc/none")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("fedbounds: --store /proc/none: ")


def test_a_quantity_is_moot_where_neither_side_asks_for_it():
    place = Place(rounds=3, local_steps=2, heterogeneity=0.7)
    assert moot(BOUNDS["decaying_k.lemma_1"], place, NAMES) == [
        "dissimilarity_factor", "relaxation", "divergence", "grad_norm_sq", "step_offset", "initial_distance_sq",
        "step_sizes", "cohort",
    ]  # fmt: skip
    assert moot(BOUNDS["fedinit.lemma_2"], replace(place, rounds=1), ["divergence", "relaxation"]) == ["divergence"]


@pytest.mark.parametrize(
    ("held", "said"),
    [
        ({"heterogeneity": 0.7, "grad_cap_sq": 0.3}, "grad_cap_sq would change nothing"),
        ({"step_share": 0.3, "fixed_step_size": 0.1}, "step_share would change nothing"),
        ({"heterogeneity": 0.7, "smoothness": 2.3}, "unknown quantity of a tightness table 'smoothness'"),
        ({"heterogeneity": 0.7, "_interval": {"heterogeneity": [0.4, 0.9]}}, "leave its _interval out"),
    ],
)
def test_a_file_says_no_more_than_could_be_typed(capsys, monkeypatch, tmp_path, held, said):
    monkeypatch.setattr("paper_checks.worst_cases.command._computed", lambda *_: pytest.fail("refused after the work"))
    (tmp_path / "c.json").write_text(json.dumps(held))
    typed = [f"{name}={value}" for name, value in held.items() if name != "_interval"]
    for words in ([f"@{tmp_path / 'c.json'}"], *([typed] if "_interval" not in held else [])):
        status, out, err = run(capsys, "fedcog.theorem", *words, "rounds=2", "local_steps=1")
        assert (status, out, err.count("\n")) == (2, "", 1)
        assert said in err


def test_the_committed_table_is_shown_without_a_solver(capsys, monkeypatch):
    monkeypatch.setattr("paper_checks.worst_cases.program.solver", lambda: pytest.fail("solved"))
    status, out, _ = run(capsys, "fedcog.theorem", "--committed")
    assert status == 0
    assert "upper estimates" in out
    assert "gradient dissimilarity holds at the visited models" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["fedcog.theorm"], "did you mean 'fedcog.theorem'"),
        (["fedals.one_round"], "fedals.one_round has no exact worst case: "),
        (["fedcog.theorem", "round=2"], "did you mean 'rounds'"),
        (["fedcog.theorem", "rounds=0"], "rounds must be a whole number >= 1 and <= 1e+09; got 0"),
        (["fedcog.theorem", "rounds=1.5"], "rounds must be a whole number >= 1 and <= 1e+09; got 1.5"),
        (["fedcog.theorem", "rounds=1_0"], "rounds must be a number, a range a:b:n or a:b:n:log, or a list; got '1_0'"),
        (["fedcog.theorem", "rounds=\uff11\uff12"], "rounds must be a number, a range"),
        (["fedcog.theorem", "--patience=--"], "--patience: expected one argument"),
        ([""], "unknown bound ''"),
        (["--patience", "7"], "leave out --patience"),
        (["fedcog.theorem", "-o", "a\0b"], "embedded null byte"),
        (["fedcog.theorem", "rounds=nan"], "rounds must be a whole number >= 1 and <= 1e+09; got nan"),
        (["fedcog.theorem", "local_steps=2,inf"], "local_steps must be a whole number >= 1 and <= 1e+09; got inf"),
        (["fedcog.theorem", "clients=nan"], "clients must be a whole number >= 1 and <= 100; got nan"),
        (["fedcog.theorem", "clients=1e15"], "clients must be a whole number >= 1 and <= 100; got 1e+15"),
        (["fedcog.theorem", "clients=1e6"], "clients must be a whole number >= 1 and <= 100; got 1e+06"),
        (["fedcog.theorem", "rounds=1e300"], "rounds must be a whole number >= 1 and <= 1e+09; got 1e+300"),
        (["fedcog.theorem", "step_share=1e300"], "step_share must be > 0 and <= 1e+09; got 1e+300"),
        (["fedcog.theorem", "condition_number=1"], "condition_number must be > 1 and <= 1e+09; got 1"),
        (["fedcog.theorem", "heterogeneity=0:1:900000"], "the grid has 7200000 places, which would take at least "),
        (["fedcog.theorem", "cohort=1"], "fedcog.theorem takes no cohort: it does not assume that participants are"),
        (["fedcog.theorem", "cohort=2"], "cohort would change nothing: neither fedcog.theorem nor its"),
        (["decaying_k.lemma_1", "cohort=1"], "decaying_k.lemma_1 takes no cohort: it is on distance_sq, every over it"),
        (["fedinit.theorem_1", "cohort=3"], "cohort must be a whole number from 1 to the 2 clients (0: all of"),
        (["fedinit.theorem_1", "cohort=nan"], "cohort must be a whole number from 1 to the 2 clients"),
        (["fedinit.theorem_1", "cohort=1", "rounds=1e6"], "more server models than the 2000 for which there is room"),
        (["fedcog.theorem", "relaxation=0.3"], "relaxation would change nothing: neither fedcog.theorem nor its"),
        (["fedcog.theorem", "fixed_step_size=0.2", "step_share=0.7"], "step_share would change nothing"),
        (["fedcog.theorem", "rounds=700", "local_steps=3", "--patience", "inf"], "room for 4000 gradients"),
        (["fedcog.theorem", "heterogeneity=-1"], "heterogeneity must be >= 0 and <= 1e+09; got -1"),
        (["fedcog.theorem", "heterogeneity=1e300"], "heterogeneity must be >= 0 and <= 1e+09; got 1e+300"),
        (["fedcog.theorem", "local_steps=1e9"], "local_steps=1000000000 would take about "),
        (["fedinit.theorem_1", "relaxation=0.5"], "leave no contraction (lambda) at step size"),
        (["fedcog.theorem", "step_share=nan"], "nan"),
        (["fedcog.theorem", "rounds=50", "local_steps=50"], "rounds=50 local_steps=50 would take about "),
        (["fedcog.theorem", "rounds=2", "--patience", "0"], "patience must be > 0 seconds; got 0"),
        (["fedcog.theorem", "--patience", "nan"], "--patience: must be a number; got 'nan'"),
        (["fedcog.theorem", "--committed", "rounds=2"], "--committed has a grid of its own"),
        (["fedcog.theorem", "--workers", "-1"], "--workers: must be a whole number from 0 to 1024; got '-1'"),
        (["fedcog.theorem", "--workers", "30000"], "--workers: must be a whole number from 0 to 1024; got '30000'"),
        (["fedcog.theorem", "--workers", "1_0"], "--workers: must be a whole number from 0 to 1024; got '1_0'"),
        (["fedals.one_round", "--committed", "-o", "/proc/nothing"], "there is no table of fedals.one_round"),
        (["../../worst_cases/tables/fedcog.theorem", "--committed"], "unknown bound '../../worst_cases/tables/"),
        (["fedals.one_round", "--committed"], "there is no table of fedals.one_round"),
        (["fedcog.theorem", *SMALL, "-o", "/proc/nothing"], "-o /proc/nothing"),
    ],
)
def test_mistakes_are_one_line(capsys, tmp_path, words, said):
    stored = ["--store", str(tmp_path)] if any("=" in word for word in words) else []
    status, out, err = run(capsys, *words, *stored)
    assert (status, out) == (2, "")
    assert err.startswith("fedbounds: ")
    assert err.count("\n") == 1
    assert said in err


def test_without_the_extra_the_command_says_how_to_get_it(capsys, monkeypatch, tmp_path):
    monkeypatch.setitem(__import__("sys").modules, "clarabel", None)
    status, out, err = run(capsys, "fedcog.theorem", *SMALL, "--store", str(tmp_path))
    assert (status, out) == (2, "")
    assert "pip install 'fedbounds[exact]'" in err


def test_a_place_outside_the_conditions_is_marked(capsys, tmp_path):
    status, out, _ = run(capsys, "fedcog.theorem", *SMALL, "fixed_step_size=0.6", "--store", str(tmp_path))
    assert status == 0
    assert "* outside the bound's conditions" in out


def test_a_bound_of_ones_own(capsys, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(
        "from dataclasses import replace\nfrom bounds.catalog import BOUNDS\n"
        "mine = replace(BOUNDS['decaying_k.lemma_1'], name='mine.lemma')\n"
        "low = replace(mine, terms={n: t / 20 for n, t in mine.terms.items()})\n"
    )
    store = ("--store", str(tmp_path / "s"))
    assert run(capsys, f"{file}:mine", *SMALL, *store)[0] == 0
    status, _, _ = run(capsys, f"{file}:low", *SMALL, *store)
    assert status == 1  # the exact worst case is above it


def test_tables_are_read_as_they_were_written(tmp_path):
    rows = [{**Place().as_row(), "bound": 1.5, "inside": True, "exact": False, "dominating_term": "a b"}]
    write(rows, {}, "x", tmp_path)
    assert committed("x", tmp_path) == rows
    assert len(places({"rounds": (1.0, 2.0), "heterogeneity": (0.1,)})) == 2


def test_what_may_vary_in_a_table_is_a_place():
    assert tuple(field.name for field in fields(Place)) == NAMES


def test_a_false_bound_of_ones_own_is_called_violated(tmp_path, capsys):
    path = tmp_path / "mine.py"
    path.write_text(
        "from dataclasses import replace\nfrom bounds import BOUNDS\n"
        "true = BOUNDS['decaying_k.lemma_1']\n"
        "low = replace(true, name='mine.low', terms={n: 0.5 * x for n, x in true.terms.items()})\n"
    )
    status, out, _ = run(capsys, f"{path}:low", "rounds=1", "local_steps=1", "heterogeneity=0.1,10")
    assert status == 1
    assert "VIOLATED: at 2 of 2 places" in out
    assert "the bound must be multiplied by" in out
