"""Bounds beside exact worst cases: the numbers of tables, what is read off them, constants, the command, mistakes."""

import json
from dataclasses import replace
from math import isnan
from pathlib import Path

import pytest
from loops import cases
from tools.worst_case_tables import full

import bounds.vocabulary as v
from bounds import About, ASSUMPTIONS, Bound, Condition, Source, Statistic
from bounds.catalog import BOUNDS
from empirics.experiments import Cell, Outcome, Store
from paper_checks.claims.checkers import AboveWorstCase
from paper_checks.claims.claim import Book, Grade, Status
from paper_checks.runs.obstacles import obstacle
from paper_checks.runs.origins import WORST
from paper_checks.worst_case.grid_point import GridPoint, NAMES, problem_at, values, why_no_cohort
from paper_checks.worst_case.jobs import proof_seconds, terms, tightness_job
from paper_checks.worst_case.program import WorstCaseError
from paper_checks.worst_case.solve import solve
from paper_checks.worst_case.tightness_table import best_steps, committed, constants, FOLDER, smallest_factors, WHOLE

REACHED = [name for name, bound in BOUNDS.items() if not obstacle(bound, WORST)]
TABLED = [name for name in REACHED if BOUNDS[name].source.paper != "classics"]
"""Those of the audited papers have a table that comes along; worst cases of classic theorems are computed."""


@pytest.fixture
def tight(run):
    return lambda *words: run("tightness", *words)


# ---- numbers ----


def test_the_drift_of_two_steps_is_a_96th_of_lemma_2():
    """With K = 2 and no divergence V_1 = eta^2 mean |g_k|^2 <= eta^2 (G^2 + B^2 |g|^2); (24) has 12 K^3 = 96 of it."""
    bound, place = BOUNDS["fedinit.lemma_2"], GridPoint(rounds=1, local_steps=2, heterogeneity=0.7, grad_norm_sq=1.3)
    asked = problem_at(bound, place)
    step = asked.setting.step_size
    worst = solve(asked)
    assert worst.value == pytest.approx(step**2 * (0.7 + 2.0 * 1.3), rel=1e-6)
    parts, inside = terms(bound, values(bound, place))
    assert inside
    assert sum(parts.values()) / worst.value == pytest.approx(96, rel=1e-6)


@cases("name", REACHED)
def test_every_bound_within_reach_is_above_its_worst_case(name):
    table = tightness_job(name, rounds=2, local_steps=2, heterogeneity=0.6).columns
    assert table["ratio"][0] > 1 - 1e-6
    if name in DRAWN:
        one = {"clients": 2, "cohort": 1, "rounds": 2, "local_steps": 1, "heterogeneity": 0.6, "relaxation": 0.01}
        assert tightness_job(name, **one).columns["ratio"][0] > 1 - 1e-6
    assert table["gap"][0] <= 1e-6 * max(table["worst_case"][0], 0.01)
    shares = [value[0] for column, value in table.items() if column.startswith("share: ")]
    assert all(share > -1e-4 for share in shares)


def test_what_is_out_of_reach_is_said(tight):
    for name, why in (("fedals.one_round", "generalization_gap"), ("fedcog.corollary", "a step size of its own"),
                      ("fedinit.descent", "loss_decrease")):  # fmt: skip
        assert why in obstacle(BOUNDS[name], WORST)
    with pytest.raises(WorstCaseError, match=r"fedals\.one_round"):
        problem_at(BOUNDS["fedals.one_round"], GridPoint())
    status, out, _ = tight()
    assert (status, [line.split()[0] for line in out.splitlines()]) == (0, REACHED)


# ---- where some clients are drawn ----

DRAWN = [
    "fedinit.theorem_1", "fedinit.theorem_2", "fedinit.theorem_2_potential", "classics.li_theorem_3",
    "classics.scaffold_convex", "classics.scaffold_strongly_convex",
]  # fmt: skip


def test_bounds_on_drawn_clients_take_a_cohort():
    assert [name for name in REACHED if not why_no_cohort(BOUNDS[name])] == DRAWN
    place = GridPoint(clients=3, cohort=2, rounds=1, local_steps=2, heterogeneity=0.3)
    asked = problem_at(BOUNDS["classics.li_theorem_3"], place)
    assert (asked.clients, asked.setting.cohort, asked.draws_cohort) == (3, 2, True)
    assert values(BOUNDS["classics.li_theorem_3"], place)["cohort"] == 2
    assert GridPoint.from_row(place.as_row()) == place
    assert replace(place, cohort=3) == replace(place, cohort=0)


def test_a_cohort_is_an_option_of_the_command(tight, tmp_path):
    words = ("classics.li_theorem_3", "clients=2", "rounds=2", "local_steps=1", "heterogeneity=0.5", "--workers", "0")
    where = ("--store", tmp_path / "s", "-o", tmp_path)
    status, out, _ = tight(*words, "cohort=1,2", *where)
    assert status == 0
    head, *body = (line.split() for line in out.splitlines()[:3])
    assert [row[head.index("cohort")] for row in body] == ["1", "all"]
    assert float(body[0][head.index("worst_case")]) > float(body[1][head.index("worst_case")])
    assert [row["cohort"] for row in committed("classics.li_theorem_3", tmp_path)] == [1, 0]
    status, _, err = tight(*words, "cohort=1", "--certify", *where)
    assert (status, "all clients in every round" in err) == (1, True)


# ---- what a table says ----


def _row(k, bound, worst, **terms_):
    said = {"bound": bound, "worst_case": worst, "inside": True, "exact": True}
    return {**GridPoint(local_steps=k).as_row(), **said, **terms_}


def test_best_steps_and_smallest_factors_are_those_of_plain_arithmetic():
    rows = [_row(1, 7.0, 3.0), _row(2, 5.0, 2.5), _row(3, 6.0, 2.0), {**_row(4, 1.0, 0.1), "inside": False}]
    assert best_steps([_row(1, 2.0, 0.0), _row(2, 3.0, 0.0)]) == []  # a metric that is 0 has no best steps
    (best,) = best_steps(rows)
    assert (best.by_bound, best.by_worst_case) == (2, 3)
    assert best.regret == pytest.approx(0.25)
    rows = [
        _row(2, 5.0, 2.5, **{"term: a": 1.5, "term: b": 3.5}),
        _row(3, 6.0, 5.4, **{"term: a": 4.0, "term: b": 2.0}),
    ]
    assert smallest_factors(rows) == pytest.approx({"bound": 0.9, "a": (5.4 - 2.0) / 4.0, "b": (5.4 - 4.0) / 2.0})


# ---- the tables that come along ----


def test_every_bound_within_reach_has_a_table_with_its_card():
    assert {path.stem for path in FOLDER.glob("*.csv")} == set(TABLED)
    for name in TABLED:
        card = json.loads((FOLDER / f"{name}.json").read_text())
        assert card["bound"] == name
        assert card["command"] == f"python tests/tools/worst_case_tables.py {name}"
        rows = committed(name)
        grid = [place.as_row() for place in full(BOUNDS[name])]
        assert all({n: row[n] for n in NAMES} in grid for row in rows)
        assert len(rows) + card["refused"] == len(grid)
        assert card["refused"] < len(grid) / 5  # places so ill-conditioned that no number is sure
        assert (card["estimate"] == "exact") == all(row["exact"] for row in rows)


@cases("name", TABLED)
def test_a_committed_table_is_computed_again(name):
    rows = [row for row in committed(name) if row["rounds"] * row["local_steps"] <= 4]
    for row in rows[:: max(1, len(rows) // 3)]:
        again = tightness_job(name, **{n: row[n] for n in NAMES}).columns
        for column in ("step_size", "bound", "worst_case"):
            assert again[column][0] == pytest.approx(row[column], rel=1e-4, abs=1e-7), (row, column)


@pytest.mark.slow
def test_a_large_place_of_a_committed_table_is_computed_again():
    for name in ("fedinit.theorem_1", "decaying_k.theorem_1_repaired", "fedcog.theorem"):
        row = max(committed(name), key=lambda row: row["rounds"] * row["local_steps"] * (row["local_steps"] < 8))
        again = tightness_job(name, **{n: row[n] for n in NAMES}).columns
        assert again["worst_case"][0] == pytest.approx(row["worst_case"], rel=1e-4), name


def _mutated(name: str, factor: float) -> Bound:
    bound = BOUNDS[name]
    return replace(bound, terms={word: term * factor for word, term in bound.terms.items()})


def test_the_checker_catches_a_bound_below_the_exact_worst_case(monkeypatch):
    name = "decaying_k.lemma_1"
    least = min(row["ratio"] for row in committed(name) if row["inside"])

    def checked(factor):
        return AboveWorstCase(name, least)(Book({name: _mutated(name, factor)}))

    whole = AboveWorstCase(name, least)(Book())
    assert (whole.status, whole.as_audited) == (Status.HOLDS, True)
    low = checked(0.9 / least)
    assert (low.status, low.grade) == (Status.FAILS, Grade.PROVED)
    assert float(low.witness["step_size"]) > 0
    for below, status in ((0.9998, Status.FAILS), (0.99995, Status.FAILS), (1.0001, Status.HOLDS)):  # by proofs
        assert checked(below / least).status is status
    rows = [{k: x for k, x in row.items() if k not in ("proved", "attained")} for row in committed(name)]
    with monkeypatch.context() as patch:
        patch.setattr("paper_checks.worst_case.tightness_table.committed", lambda _: rows)
        for below, status in ((0.9998, Status.FAILS), (0.99995, Status.HOLDS)):  # in floats known to 1e-4
            assert checked(below / least).status is status
        assert not checked(1.1).as_audited
    name, least = "fedcog.theorem", 1.0  # an upper estimate cannot refute
    assert checked(0.01).status is Status.OPEN


# ---- the command ----

SMALL = ("rounds=1", "local_steps=1,2", "heterogeneity=0.5", "--workers", "0")
TWO = ("rounds=2", "local_steps=2")


def test_the_command_prints_writes_and_goes_on(tight, tmp_path):
    words = ("decaying_k.lemma_1", *SMALL, "--store", tmp_path / "s")
    status, out, err = tight(*words, "-o", tmp_path / "t")
    assert (status, err) == (0, "")
    assert out.splitlines()[0].split() == [
        "local_steps", "step_size", "bound", "worst_case", "ratio", "dominating_term", "dominating_assumption",
    ]  # fmt: skip
    assert "K* by bound" in out
    assert len(committed("decaying_k.lemma_1", tmp_path / "t")) == 2
    before = {path.stat().st_mtime_ns for path in (tmp_path / "s").glob("*.json")}
    status, again, _ = tight(*words, "--json")
    told = json.loads(again)
    assert (status, len(told["rows"]), told["estimate"]) == (0, 2, "exact")
    assert before == {path.stat().st_mtime_ns for path in (tmp_path / "s").glob("*.json")}
    status, out, _ = tight("fedcog.theorem", *SMALL, "fixed_step_size=0.6", "--store", tmp_path / "s")
    assert (status, "* outside the bound's conditions" in out) == (0, True)


def test_a_bound_with_a_table_answers_with_it_without_a_solver(tight, monkeypatch, tmp_path):
    monkeypatch.setattr("paper_checks.worst_case.tightness.run_missing", lambda *_, **__: pytest.fail("computed"))
    _, asked_for, silent = tight("decaying_k.theorem_1", "--committed")
    status, out, err = tight("decaying_k.theorem_1", "-o", tmp_path)
    assert (status, silent) == (0, "")
    *table, rows, card = out.splitlines()
    assert (table, rows[:6], card[:6]) == (asked_for.splitlines(), "wrote ", "wrote ")
    assert str(committed("decaying_k.theorem_1", tmp_path)) == str(committed("decaying_k.theorem_1"))
    assert (err.count("\n"), "1.4 min" in err) == (1, True)
    _, out, _ = tight("fedcog.theorem", "--committed")
    assert all(named in out for named in ("upper estimates", "gradient dissimilarity", "visited models"))


def test_long_work_says_beforehand_how_long_it_takes(tight, monkeypatch, tmp_path):
    def stops(_, arguments, *__):
        Store(tmp_path / "s").keep(Cell("tightness", arguments), Outcome({"value": [0.7]}), 0.1)
        raise KeyboardInterrupt

    store = ("--store", tmp_path / "s", "--workers", "0")
    monkeypatch.setattr("empirics.experiments.running.attempt", stops)
    status, out, err = tight("decaying_k.theorem_1", "rounds=2,4", *store)
    assert (status, out) == (130, "")
    told, stopped = err.splitlines()
    assert "16 points to compute, about " in told
    assert "1 of 16" in stopped
    assert str(tmp_path / "s") in stopped
    monkeypatch.setattr("paper_checks.worst_case.tightness.run_missing", lambda *_, **__: [])
    _, _, err = tight("decaying_k.lemma_1", "--committed", "--certify", *store)
    assert "72 points to prove, about " in err.splitlines()[0]
    cubes, fifths = (17**3 + 16**3) / 40**3, (17**5 + 16**5) / 27**5
    assert proof_seconds(16) == pytest.approx(0.2 + 2.5 * (cubes + fifths))


def test_proofs_that_are_refused_or_fail_say_why(tight, monkeypatch, tmp_path):
    words = ("decaying_k.lemma_1", "rounds=1", "local_steps=2", "heterogeneity=0.4", "--certify", "--workers", "0")
    status, _, err = tight(*words, "clients=1", "--store", tmp_path / "s")
    assert (status, err.count("\n"), "1 point" in err, "single client" in err) == (1, 1, True, True)
    monkeypatch.setattr("paper_checks.worst_case.jobs.certify", lambda *_: {}["no proof"])
    status, _, err = tight(*words, "--store", tmp_path / "s")
    assert (status, "KeyError: 'no proof'" in err) == (1, True)


THEOREM = "fedcog.theorem"
MISTAKES = [  # what is typed, and the names and numbers that the message must have
    (["fedcog.theorm"], f"'{THEOREM}'"),
    ([THEOREM, "round=2"], "'rounds'"),
    (["--patience", "7"], "--patience"),
    ([THEOREM, "clients=nan"], "clients", "got NaN"),
    ([THEOREM, "step_share=1e300"], "step_share", "<= 1e+09; got 1e+300"),
    ([THEOREM, "heterogeneity=0:1:900000"], "7200000"),
    ([THEOREM, "cohort=1"], THEOREM, "cohort"),
    (["fedinit.theorem_1", "cohort=3"], "cohort", "2 clients"),
    (["fedinit.theorem_1", "cohort=1", "rounds=1e6"], "180"),
    ([THEOREM, "relaxation=0.3"], "relaxation would change nothing"),
    ([THEOREM, "smoothness=2.3"], "'smoothness'"),
    ([THEOREM, "rounds=700", "local_steps=3", "--patience", "inf"], "4000"),
    (["fedinit.theorem_1", "relaxation=0.5"], "contraction"),
    ([THEOREM, "--committed", "rounds=2"], "--committed"),
    (["../../worst_case/tables/fedcog.theorem", "--committed"], "'../../worst_case/tables/"),
    (["decaying_k.lemma_1", "rounds=1", "--constants"], "--certify"),
    (["decaying_k.lemma_2", *TWO, "step_sizes=0.3,0.1,0.2"], "4 local steps", "2 rounds; got 3"),
    (["decaying_k.lemma_2", *TWO, "step_sizes=0.1:0.3:2"], "step_sizes"),
    (["decaying_k.lemma_2", *TWO, "step_sizes=0.3,0.1", "step_share=0.7"], "step_share would change nothing"),
    (["decaying_k.theorem_1", *TWO, "step_sizes=0.3,0.1"], "single step size"),
    (["decaying_k.theorem_1", *TWO, "step_size=0.1"], "fixed_step_size"),
    (["decaying_k.theorem_1", *TWO, "strong_convexity=0.1"], "1/condition_number"),
    (["fedinit.theorem_1", *TWO, "K=3"], "local_steps is given twice", "K"),
]


def test_mistakes_are_one_line(refused, tmp_path, monkeypatch):
    monkeypatch.setattr("paper_checks.worst_case.tightness.run_missing", lambda *_, **__: pytest.fail("computed"))
    for words, *named in MISTAKES:
        stored = ["--store", tmp_path] if any("=" in word for word in words) and "--store" not in words else []
        said = refused("tightness", *words, *stored)
        assert [name for name in named if name not in said] == [], said
    path = tmp_path / "c.json"
    path.write_text(json.dumps({"heterogeneity": 0.7, "_interval": {"heterogeneity": [0.4, 0.9]}}))
    assert "_interval" in refused("tightness", THEOREM, f"@{path}", "rounds=2", "local_steps=1")
    path.write_text(json.dumps({"client_weight": [0.4, 0.6], "clients": 2, "smoothness": 2.3}))  # one that has no place
    assert "'smoothness'" in refused("tightness", THEOREM, f"@{path}", "rounds=2", "local_steps=1")


# ---- step sizes of their own, and starts that are bounded twice ----


def test_a_false_bound_is_caught_by_every_verb_and_each_names_its_setting(run, tight, tmp_path):
    file = Path(__file__).parents[2] / "examples" / "false_bound.py"
    false = f"{file}:claim"
    for line, setting in (
        (("falsify", false), "noise and cohorts"),
        (("validate", false, "-o", tmp_path), "2 of 4 clients, without_replacement; 5 rounds of 3 steps"),
        (("tightness", false, *TWO, "--store", tmp_path / "s", "--workers", "0"),
         "2 clients, all in every round; 2 rounds of 2 local steps; without gradient noise"),
    ):  # fmt: skip
        status, out, _ = run(*line)
        assert (status, setting in out, "violated" in out.lower()) == (1, True, True), line
    (tmp_path / "own.py").write_text(file.read_text().replace(', Condition.assume("convex")', ","))
    status, out, _ = tight(f"{tmp_path / 'own.py'}:claim", *TWO, "--store", tmp_path / "s", "--workers", "0")
    assert (status, "VIOLATED" in out, "NOT PROVED" in out) == (0, False, True)


def test_a_list_of_step_sizes_is_a_run_and_lists_of_lists_are_several(tight, tmp_path):
    words = ("decaying_k.lemma_2", *TWO, "heterogeneity=0.3", "--workers", "0", "--store", tmp_path / "s", "--json")
    rows = json.loads(tight(*words, "step_sizes=[[0.3,0.1],[0.2,0.15]]", "-o", tmp_path)[1])["rows"]
    assert [row["step_sizes"] for row in rows] == ["0.3 0.1", "0.2 0.15"]
    asked = problem_at(BOUNDS["decaying_k.lemma_2"], GridPoint.from_row(rows[1]))
    assert asked.step_sizes == (0.2, 0.2, 0.15, 0.15)
    assert rows[1]["worst_case"] == pytest.approx(solve(asked).value, rel=1e-6)
    (alone,) = json.loads(tight(*words, "step_sizes=0.2,0.2,0.15,0.15")[1])["rows"]
    assert alone["worst_case"] == pytest.approx(rows[1]["worst_case"], rel=1e-9)
    drift = rows[1]["term: drift"] / rows[0]["term: drift"]
    assert drift == pytest.approx((0.2**2 + 0.15**2) / (0.3**2 + 0.1**2))
    kept = committed("decaying_k.lemma_2", tmp_path)
    assert [GridPoint.from_row(row).step_sizes for row in kept] == [(0.3, 0.1), (0.2, 0.15)]


START = {"gap": v.initial_gap / v.rounds, "drift": v.step_size * v.optimum_dissimilarity}
AWAY = {**START, "distance": v.initial_distance_sq * v.smoothness}


def own(terms, *assumed, target=v.optimality_gap):
    small = Condition("the step size is at most 1/L", v.step_size * v.smoothness <= 1)
    conditions = (*(Condition.assume(ASSUMPTIONS[name]) for name in assumed), small)
    return Bound(
        name="mine.start", target=target, terms=terms, conditions=conditions, source=Source("mine", "note"),
        about=About("fedavg"), statistic=Statistic("last", "rounds"),
    )  # fmt: skip


def test_the_distance_of_the_start_is_a_quantity_beside_its_gap():
    values = []
    for distance in (0.7, 1.9, 90.0):
        place = GridPoint(rounds=2, local_steps=2, heterogeneity=0.3, initial_distance_sq=distance)
        asked = problem_at(own(AWAY, "convex"), place)
        assert (asked.assumptions["initial_distance_sq"], asked.assumptions["initial_gap"]) == (distance, 1.0)
        assert GridPoint.from_row(place.as_row()) == place
        values.append(solve(asked).value)
    assert values[0] < values[1] < values[2]
    far = replace(asked, assumptions={w: x for w, x in asked.assumptions.items() if w != "initial_gap"})
    assert solve(far).value > 3 * values[2]  # the gap is what holds the last one


def test_a_bound_that_speaks_of_a_minimiser_is_told_what_to_assume():
    for said, target in (
        (AWAY, v.optimality_gap),
        ({"gap": v.initial_gap / v.smoothness}, v.distance_sq),
        ({"gap": v.initial_gap * (1 - v.step_size * v.strong_convexity)}, v.optimality_gap),
    ):
        with pytest.raises(WorstCaseError, match=r'ASSUMPTIONS\["strongly_convex"\]'):
            problem_at(own(said, target=target), GridPoint())
        assert (
            problem_at(own(said, "strongly_convex", target=target), GridPoint()).assumptions["strong_convexity"] == 0.1
        )


# ---- the best constants, beside plain arithmetic on the written numbers ----

LEMMA = BOUNDS["decaying_k.lemma_1"]


def proved_row(steps, attained, proved, contraction, drift, **more):
    parts = {"term: contraction": contraction, "term: drift": drift}
    others = {f"term: {name}": 0.0 for name in LEMMA.terms if f"term: {name}" not in parts}
    return _row(steps, contraction + drift, proved, proved=proved, attained=attained, **parts, **others) | more


def test_the_constants_of_two_places_are_those_of_plain_arithmetic():
    rows = [proved_row(2, 2.4, 2.5, 1.5, 3.5), proved_row(3, 5.3, 5.4, 4.0, 2.0)]
    rows.append(proved_row(4, 9.0, 9.5, 1.0, 1.0, inside=False))
    whole, contraction, drift = constants(LEMMA, rows)
    assert (whole.term, whole.proved, whole.places, whole.where) == (WHOLE, 2, 2, {"local_steps": 3})
    for one, attained, proved in ((whole, 5.3 / 6, 0.9), (contraction, 3.3 / 4, 3.4 / 4), (drift, 1.3 / 2, 1.4 / 2)):
        assert attained * (1 - 1e-5) <= one.not_below <= attained  # rounded to the safe side
        assert proved * (1 - 1e-9) <= one.suffices <= proved * (1 + 1e-5)
    assert (contraction.printed, drift.printed) == (1, 8)
    larger, *_ = constants(LEMMA, [proved_row(2, 5.5, 5.6, 1.5, 3.5)])  # a federation exceeds the bound
    assert larger.not_below == pytest.approx(1.1, rel=1e-5)


def test_what_is_not_proved_decides_nothing():
    nothing = {"proved": float("nan"), "attained": float("nan")}
    rows = [proved_row(2, 2.4, 2.5, 1.5, 3.5), proved_row(3, 5.3, 5.4, 4.0, 2.0) | nothing]
    (whole, *_) = constants(LEMMA, rows)
    assert (whole.proved, whole.places, whole.suffices) == (1, 2, pytest.approx(0.5, rel=1e-5))
    (estimated, *_) = constants(LEMMA, [proved_row(2, 2.4, 2.5, 1.5, 3.5, exact=False)])
    assert isnan(estimated.not_below)  # its federation meets the assumptions at the visited models alone
    assert estimated.suffices == pytest.approx(0.5, rel=1e-5)
    with pytest.raises(WorstCaseError, match="--certify"):
        constants(LEMMA, [{k: x for k, x in rows[0].items() if k != "proved"}])
