"""What a comparison says: numbers that are the bounds' own, states, order, aliases, the verb."""

import json
import math
import re
from dataclasses import replace
from html import unescape
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest

import fedbounds
from bounds import Bound, BOUNDS, Condition, Source
from bounds.anyway import trivial
from bounds.assumptions import LOWER_BOUNDED, SMOOTH
from bounds.classes import AFTER, ClassOf, CONVERSIONS, FOLDED, MEANING, SAID
from bounds.core import About, Statistic
from bounds.errors import BoundsError
from bounds.places import VIRTUAL
from bounds.scenario import Scenario
from bounds.stated import of_weights
from bounds.vocabulary import distance_sq, grad_cap_sq, grad_norm_sq, local_gap, local_steps, smoothness, step_size
from paper_checks.audit.running import CLAIMS
from paper_checks.claims.claim import Status
from paper_checks.comparing import compare
from paper_checks.comparing.advise import advise
from paper_checks.comparing.compare_rows import Failed, RANKED
from paper_checks.comparing.compare_sections import failure, power
from paper_checks.comparing.standing import FAILS, HOLDS, STANDING

ROOT = Path(__file__).resolve().parents[2]
SITES = f"@{ROOT / 'examples' / 'sites.json'}"
CSV = ROOT / "examples" / "patients.csv"
PLAN = ["cohort=10", "local_steps=16", "step_size=0.028", "runtime=20"]
PLANS = {
    "sites": {"cohort": 10, "local_steps": 16, "step_size": 0.028, "runtime": 20},
    "everyone": {"cohort": 40, "local_steps": 2, "step_size": 0.05, "rounds": 4000},
    "small steps": {"cohort": 7, "local_steps": 3, "step_size": 2e-4, "rounds": 900},
    "relaxed": {"cohort": 40, "local_steps": 2, "step_size": 3e-3, "rounds": 900, "relaxation": 0.04},
    "one step": {"cohort": 40, "local_steps": 1, "step_size": 0.1, "rounds": 60_000, "gradient_variance": 1e-6,
                 "client_gradient_variance": [1e-6] * 40},
}  # fmt: skip
MIN = Statistic("min", "rounds", "server model")
FEDAVG = About("fedavg")


def sites(plan="sites"):
    return Scenario.of(SITES, **PLANS[plan])


def own(name, expression, *conditions, statistic=MIN, relation="<=", about=FEDAVG):
    return Bound(name=f"own.{name}", target=grad_norm_sq, terms={"a": expression}, relation=relation, about=about,
                 source=Source("notes", "1"), conditions=conditions, statistic=statistic)  # fmt: skip


def only(bound, scenario, target="grad_norm_sq"):
    """The rows of one bound in its own class."""
    return [r for r in compare(scenario, target, [bound]).rows if r.bound == bound.name]


# ---- numbers ----


@pytest.mark.parametrize("target", ["grad_norm_sq", "optimality_gap", "divergence"])
@pytest.mark.parametrize("plan", PLANS)
def test_every_number_is_that_of_the_bound_alone_times_the_factor(plan, target):
    rows = [row for row in compare(sites(plan), target).rows if row.values]
    for row in rows:
        value = float(BOUNDS[row.bound](**row.values)) if row.state in RANKED else math.nan
        if row.state in RANKED:
            assert row.value == pytest.approx(value * row.factor, rel=1e-12)
            assert sum(row.terms.values()) == pytest.approx(row.value, rel=1e-9)
            assert row.low <= row.value <= row.high
            assert not BOUNDS[row.bound].failed(**row.values)
    if (plan, target) == ("sites", "grad_norm_sq"):
        assert {row.state for row in rows} == {"vacuous", "silent"}


def test_a_class_holds_one_kind_of_number():
    rows = [row for row in compare(sites("everyone"), "grad_norm_sq").rows if row.state in RANKED]
    for row in rows:
        start = ClassOf.of(BOUNDS[row.bound])
        assert row.kind.reading == "intended"
        assert row.kind.algorithm == "fedavg"
        moved = [name for name in ("statistic", "over", "at", "algorithm", "reading", "target")
                 if getattr(start, name) != getattr(row.kind, name)]  # fmt: skip
        assert bool(moved) == bool(row.conversions)
    assert len({row.kind for row in rows}) == 5
    apart = {row.kind.over: row.bound for row in rows if row.kind.statistic == "mean" and row.kind.at == VIRTUAL}
    assert apart[AFTER] == "classics.field_guide_theorem_1" != apart["iterations"]


def test_the_sites_are_told_what_the_design_measured():
    rows = {(r.bound, r.kind.statistic): r for r in compare(sites(), "grad_norm_sq").rows}
    theorem = rows["decaying_k.theorem_1_repaired", "min"]
    constants = json.loads((ROOT / "examples" / "sites.json").read_text())
    L, D, Gamma, G = (constants[w] for w in ("smoothness", "initial_gap", "heterogeneity", "grad_cap_sq"))
    eta, T, kappa, variance = 0.028, 816, L / 0.01, sum(constants["client_gradient_variance"]) / 40**2
    by_hand = 2 * kappa**2 * D / (eta * T) + eta * kappa * L * (variance + 6 * L * Gamma + (8 + 4 / 10) * G * 16**2)
    assert theorem.value == pytest.approx(by_hand, rel=1e-9)
    assert theorem.largest[0] == "drift"
    assert theorem.over_trivial == pytest.approx(by_hand / 0.08745530453742642)
    lemma = rows["decaying_k.lemma_2_repaired", "mean"]
    assert lemma.conversions == ("C3",)
    assert lemma.factor == pytest.approx(1 / (eta * T))
    assert rows["decaying_k.lemma_2_repaired", "min"].conversions == ("C3", "C1")
    assert set(rows["decaying_k.per_rounds", "min"].alias) == {"decaying_k.per_second", "decaying_k.theorem_1"}


# ---- states ----


@pytest.mark.parametrize(("constant", "state"), [(0.02, "speaks"), (0.13, "of the class"), (0.6, "vacuous")])
def test_a_number_speaks_only_below_what_the_start_shows(constant, state):
    row, *_ = only(own("level", constant * smoothness, *map(Condition.assume, (SMOOTH, LOWER_BOUNDED))), sites())
    assert row.value == pytest.approx(constant * 2.22038, rel=1e-5)
    assert row.state == state
    assert row.trivial_here == pytest.approx(0.0874553, rel=1e-5)
    assert row.trivial_class == pytest.approx(2 * 2.22038 * 0.1942623, rel=1e-5)


def test_without_premises_that_give_anything_the_start_alone_decides():
    rows = [only(own("level", constant * smoothness), sites())[0] for constant in (0.02, 0.13)]
    assert [(r.state, r.trivial_class) for r in rows] == [("speaks", math.inf), ("vacuous", math.inf)]


def test_a_bound_that_is_silent_says_both_sides():
    bound = own("short", 0.01 * smoothness, Condition("short steps", step_size * local_steps <= 0.3))
    row, *_ = only(bound, sites())
    assert row.state == "silent"
    assert math.isnan(row.value)
    assert (row.failed[0].words, row.failed[0].left, row.failed[0].right) == ("short steps", pytest.approx(0.448), 0.3)
    assert row.failed[0].margin == pytest.approx(0.448 / 0.3)


def test_a_condition_on_every_client_says_both_sides_of_one_where_it_fails():
    bound = own("gaps", 0.01 * smoothness, Condition("small gaps", local_gap <= 0.3 * smoothness))
    listed = Scenario.of(client_weight=[0.2, 0.5, 0.3], local_gap=[0.1, 0.7, 0.9], smoothness=2)
    row, *_ = only(bound, listed)
    assert (row.state, row.failed[0].left, row.failed[0].right) == ("silent", 0.7, 0.6)


@pytest.mark.parametrize(
    ("bound", "state", "why"),
    [
        (own("order", smoothness, relation="<~"), "order", "constant"),
        (own("other", smoothness, about=About("scaffold")), "unlike", "scaffold"),
        (own("nothing", smoothness, about=None, statistic=None), "unlike", "no method"),
        (own("one_step", smoothness, statistic=Statistic("every", "rounds", "server model")), "unlike", ""),
        (own("run", smoothness**2 * distance_sq), "missing", "distance_sq=NUMBER"),
    ],
    ids=lambda x: getattr(x, "name", ""),
)
def test_what_cannot_be_ranked_says_why(bound, state, why):
    row, *_ = only(bound, sites())
    assert row.state == state
    assert why in row.why


def test_a_theorem_on_the_average_itself_stays_where_no_mean_meets_it():
    known = Scenario.of(
        clients=7, cohort=7, local_steps=4, rounds=2000, step_size=0.005, smoothness=2, strong_convexity=0.1,
        initial_gap=0.5, initial_distance_sq=2, optimum_dissimilarity=0.05, gradient_variance=0,
    )  # fmt: skip
    name = "classics.local_gd_theorem_1"
    (row,) = compare(known, "optimality_gap", of=name).rows
    assert row.bound == name
    assert row.value == pytest.approx(2 * 2 / (0.005 * 8000) + 24 * 0.005**2 * 0.05 * 4**2 * 2)
    assert "average of the iterates" in str(row.kind)


def test_a_theorem_on_another_number_is_refused_where_it_alone_is_asked_for():
    with pytest.raises(
        BoundsError, match=r"^fedinit.theorem_3 is about \w+, from which nothing follows for grad_norm_sq"
    ):
        compare(Scenario.of(clients=3), "grad_norm_sq", of="fedinit.theorem_3")


def test_rounds_are_rounded_up():
    assert [power(x) for x in (3, 25, 99.2, 101, 12245, 6e4, np.inf)] == [
        "3",
        "25",
        "100",
        "110",
        "1.3e4",
        "6e4",
        "never",
    ]


@pytest.mark.parametrize(
    ("left", "right", "told"),
    [(0.187, 0.1415, "0.187 > 0.141"), (0.18714, 0.18749, "0.1871 < 0.1875"), (0.3, 0.3, "0.3 = 0.3"),
     (0.3, np.nextafter(0.3, 1), "0.29999999999999999 < 0.30000000000000004")],
)  # fmt: skip
def test_sides_of_a_condition_are_told_apart(left, right, told):
    assert failure(Failed("short", left, right)) == f"short: {told}"


def test_predicates_and_words_about_the_plan_decide_too():
    rows = {row.bound: row for row in compare(sites(), "grad_norm_sq").rows}
    printed = rows["fedcog.corollary_printed"]
    assert printed.state == "silent"
    said = {f.words: (f.left, f.right) for f in printed.failed}
    assert said["the step size is 1/sqrt(tau T)"] == (0.028, pytest.approx(1 / math.sqrt(816)))
    assert "all clients take part in every round" in said
    s = Scenario.of(SITES, cohort=40, local_steps=4, rounds=100, step_size=0.05)
    there = [row for row in compare(s, "grad_norm_sq").rows if row.bound == "fedcog.corollary_printed"]
    assert all(row.state in RANKED for row in there)


def test_unequal_weights_silence_a_repair_for_equal_ones():
    weights = [0.5 / 39] * 39 + [0.5]
    given = {word: stated for word, stated in sites().items() if stated.support == {word}}  # not what follows
    told = {word: stated for word, stated in given.items() if of_weights(word) and word != "current_loss"}
    rows = compare(sites().at(client_weight=weights, **told), "grad_norm_sq").rows
    row = next(r for r in rows if r.bound == "decaying_k.theorem_1_repaired")
    assert row.state == "silent"
    assert ("all clients weigh the same, 1/C", 0.5, 0.025) in [(f.words, f.left, f.right) for f in row.failed]
    plain = next(r for r in rows if r.bound == "fedinit.theorem_1")  # its mean over the clients is plain, unsaid
    assert plain.failed[-1].words == "all clients weigh the same, 1/C"
    everyone = compare(sites("everyone").at(client_weight=weights, **told), "grad_norm_sq").rows
    assert next(r for r in everyone if r.bound == "fedcog.theorem_sharp").state in RANKED  # which knows the weights


def test_constants_of_other_weights_are_asked_for_again():
    rows = compare(sites().at(client_weight=[0.5 / 39] * 39 + [0.5]), "grad_norm_sq").rows
    row = next(r for r in rows if r.bound == "decaying_k.theorem_1_repaired")
    assert row.state == "missing"
    assert "heterogeneity=NUMBER" in row.why
    assert "is for other weights of the clients" in row.why


def test_who_is_drawn_twice_keeps_another_one_out():
    """The divergence of all clients is that of FedAvg only where all of them run."""
    s = sites("small steps").at(cohort=40)
    kinds = {r.state for r in compare(s, "divergence").rows if r.bound == "fedinit.theorem_4"}
    assert kinds <= {*RANKED, "silent"}
    again = compare(s.at(sampling="with_replacement"), "divergence").rows
    assert {r.state for r in again if r.bound == "fedinit.theorem_4"} == {"unlike"}


def test_a_statement_that_the_audit_refuted_is_never_the_best(monkeypatch):
    s = Scenario.of(SITES, cohort=40, local_steps=1, rounds=10**7, step_size=10**-3.5, gradient_variance=1e-9,
                    client_gradient_variance=[1e-9] * 40)  # fmt: skip
    table = compare(s, "grad_norm_sq")
    printed = [r for r in table.rows if r.bound == "fedcog.corollary_printed"]
    assert printed[0].state == "speaks"
    assert printed[0].printed
    sound = {r.bound for r in table.best()}
    assert sound
    assert not any(STANDING[name].word == FAILS for name in sound if name in STANDING)
    alone = replace(table, rows=tuple(printed))
    assert not alone.best()
    assert "refuted" in alone.conclusion


def test_lower_estimates_are_conclusive_where_a_bound_is_vacuous_alone():
    notes = {"_provenance": {"grad_cap_sq": "lower"}}
    bound = own("cap", grad_cap_sq)
    small = Scenario.of({"grad_cap_sq": 0.02, **notes}, initial_grad_norm_sq=0.5, smoothness=2.5, initial_gap=0.7)
    row, *_ = only(bound, small)
    assert (row.state, row.conclusive, row.high) == ("speaks", False, math.inf)
    assert not compare(small, "grad_norm_sq", [bound]).best()
    large = Scenario.of({"grad_cap_sq": 20.5, **notes}, initial_grad_norm_sq=0.5, smoothness=2.5, initial_gap=0.7)
    row, *_ = only(bound, large)
    assert (row.state, row.conclusive) == ("vacuous", True)


def test_rows_of_a_class_are_in_order_of_the_end_that_is_safe():
    ranked = [r for r in compare(sites("everyone"), "grad_norm_sq").rows if r.state in RANKED]
    for one, other in pairwise(ranked):
        if (one.kind, one.printed) == (other.kind, other.printed):
            assert one.high <= other.high


def test_a_relaxed_method_is_compared_with_its_own_theorems_alone():
    rows = compare(sites("relaxed"), "grad_norm_sq").rows
    ranked = {r.bound for r in rows if r.state in (*RANKED, "silent")}
    assert ranked
    assert all(BOUNDS[name].about.algorithm == "fedinit" for name in ranked)
    assert {r.kind.at for r in rows if r.state in RANKED} <= {"server model"}


# ---- data that names things ----


@pytest.mark.parametrize("cohort", [1, 3, 5])
def test_no_divergence_of_clients_exceeds_what_is_known_anyway(cohort):
    """Every cohort of 5 clients that go in directions that cancel, the farthest of them as far as G lets them."""
    ways = np.array([1.0, -1.0, 1.0, -1.0, 0.0])
    s = Scenario.of(clients=5, cohort=cohort, local_steps=3, step_size=0.1, rounds=7, grad_cap_sq=2.3)
    reach = 3 * 0.1 * math.sqrt(2.3)
    drawn = [ways[list(some)].mean() for some in combinations(range(5), cohort)]
    exact = reach**2 * np.mean([((ways - server) ** 2).mean() for server in drawn])
    of_class, _ = trivial("divergence", s)
    assert exact <= of_class <= 1.26 * exact


def test_of_two_methods_at_once_no_theorem_on_one_speaks():
    relaxed = sites("relaxed")
    assert [row for row in compare(relaxed, "grad_norm_sq").rows if row.state in RANKED]
    for knob in ({"distillation_weight": 0.3}, {"adaptation": 2}):
        rows = compare(relaxed.at(**knob), "grad_norm_sq").rows
        assert not [row.bound for row in rows if row.state in RANKED]


def test_conditions_in_words_are_those_of_the_catalogue():
    words = {c.words for bound in BOUNDS.values() for c in bound.conditions if c.kind == "words"}
    assert set(SAID) <= words


def test_words_with_a_statistic_of_their_own_have_the_one_that_their_bounds_declare():
    for bound in BOUNDS.values():
        if bound.target.name in FOLDED and bound.statistic is not None and bound.statistic.over:
            _, kind, over = FOLDED[bound.target.name]
            over = "iterations" if over == AFTER else over  # a bound cannot declare more than that
            assert (bound.statistic.kind, bound.statistic.over) == (kind, over), bound.name


@pytest.mark.parametrize("name", STANDING)
def test_standings_are_those_of_the_audit(name):
    claim, word = STANDING[name]
    known = CLAIMS[claim]
    assert name in BOUNDS
    if word == HOLDS:
        assert known.known is Status.HOLDS
    elif word == FAILS:
        assert known.known is Status.FAILS
        assert known.repair is None or known.repair.bound != name
    else:
        assert known.known is Status.FAILS
        assert known.repair is not None
        assert known.repair.bound == name


# ---- looks ----


def test_as_json_it_is_whole_and_strict():
    table = compare(sites(), "grad_norm_sq")
    found = json.loads(table.to_json(), parse_constant=lambda word: pytest.fail(word))
    assert len(found["rows"]) == len(table.rows)
    row = next(r for r in found["rows"] if r["bound"] == "decaying_k.theorem_1_repaired")
    assert row["class"] == {"target": "grad_norm_sq", "statistic": "min", "over": "iterations", "algorithm": "fedavg",
                            "at": "virtual average of all clients", "reading": "intended", "weights": ""}  # fmt: skip
    assert row["provenance"]["grad_cap_sq"] == "proved"
    assert BOUNDS[row["bound"]](**row["values"]) == pytest.approx(row["value"])
    assert row["over_measured"] is None
    assert found["scenario"]["rounds"]["value"] == 51


def test_in_a_notebook_it_is_a_table_of_the_same_numbers():
    table = compare(sites(), "grad_norm_sq")
    html = unescape(table._repr_html_())
    cells = re.findall(r"<td>(.*?)</td>", html)
    assert "decaying_k.theorem_1_repaired" in cells
    assert "4.22e+06" in cells
    assert table.conclusion in html


def test_as_a_data_frame_it_has_a_row_per_row():
    pytest.importorskip("pandas")
    table = compare(sites(), "grad_norm_sq")
    frame = table.to_pandas()
    assert len(frame) == len(table.rows)
    np.testing.assert_array_equal(frame["value"], [row.value for row in table.rows])
    assert {"bound", "statistic", "state", "trivial_here"} <= set(frame.columns)


# ---- the verb ----


@pytest.fixture
def run(capsys):
    def typed(*words):
        status = fedbounds.main(["compare", *words])
        found = capsys.readouterr()
        return status, found.out, found.err

    return typed


def test_the_verb_prints_what_python_computes(run):
    status, out, _ = run("grad_norm_sq", SITES, *PLAN)
    assert (status, out.rstrip("\n")) == (0, str(compare(sites(), "grad_norm_sq")))
    assert "51 rounds of 16 steps (20 s)" in out
    assert "the step size is at most N/(2CKL): 0.028 > 0.00352; +2" in out
    assert out.endswith("No theorem says anything here.\n")
    status, out, _ = run("grad_norm_sq", SITES, *PLAN, "--json")
    assert json.loads(out)["rows"] == compare(sites(), "grad_norm_sq").as_json()["rows"]


def test_it_says_where_every_word_comes_from(run):
    _, out, _ = run("grad_norm_sq", SITES, *PLAN, "--how")
    assert "  iterations = 816; chosen: local_steps*rounds" in out
    assert "  cohort = 10; chosen: typed" in out
    assert re.search(r"  heterogeneity = 0.142984; exact: .*sites.json: all minimised", out)


def test_a_bound_of_ones_own_stands_beside_them(run, tmp_path):
    file = tmp_path / "own.py"
    file.write_text(
        "from bounds import About, Bound, quantity, Source, Statistic\n"
        "from bounds.vocabulary import grad_norm_sq, initial_gap as D, rounds as R, step_size as eta\n"
        "luck = quantity('luck', 'q', 'what one has')\n"
        "own = Bound(name='own.lucky', target=grad_norm_sq, terms={'a': 1e-6 * luck * D / eta / R},\n"
        "            source=Source('notes', '1'), about=About('fedavg'),\n"
        "            statistic=Statistic('min', 'rounds', 'server model'))\n"
    )
    status, out, _ = run("grad_norm_sq", SITES, *PLAN, "--own", f"{file}:own", "luck=2.5")
    assert status == 0
    value = 1e-6 * 2.5 * 0.19426228939790335 / 0.028 / 51
    assert f"What speaks: own.lucky: at most {value:.3g}" in out
    assert "lacking words" in run("grad_norm_sq", SITES, *PLAN, "--own", f"{file}:own")[1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["grad_norm"], "unknown target of a comparison 'grad_norm'; did you mean 'grad_norm_sq'"),
        ([], "the following arguments are required: TARGET"),
        ([SITES], "compare needs what is bounded"),
        (["grad_norm_sq", "steps=3"], "unknown word of a scenario 'steps'"),
        (["grad_norm_sq", "local_steps=1:4:4"], "local_steps is one number here"),
        (["grad_norm_sq", "@none.json"], "none.json"),
        (["grad_norm_sq", f"@{CSV}"], "a file of samples is given with --csv FILE --target COLUMN"),
        (["grad_norm_sq", SITES, "algorithm=fedinit"], "fedinit is fedavg with relaxation=NUMBER"),
        (["grad_norm_sq", SITES, "clients=7"], "clients"),
        (["grad_norm_sq", SITES, "initial_loss=5"], "two sources of initial_gap disagree"),
        (["grad_norm_sq", SITES, "--own", "fedals.none"], "unknown bound 'fedals.none'"),
        (["grad_norm_sq", SITES, "local_steps=0"], "local_steps must be a whole number >= 1; got 0"),
    ],
    ids=lambda x: " ".join(x)[-30:] if isinstance(x, list) else "",
)
def test_bad_input_is_one_line_and_status_2(run, words, said):
    status, out, err = run(*words)
    assert (status, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


def test_a_bound_of_ones_own_does_not_replace_another_one():
    theorem = BOUNDS["fedinit.theorem_1"]
    assert len(compare(sites(), "grad_norm_sq", [theorem]).rows) == len(compare(sites(), "grad_norm_sq").rows)
    for pair in ([replace(theorem, note="mine")], [own("twice", smoothness), own("twice", smoothness**2)]):
        with pytest.raises(BoundsError, match="as another one is: give it another name") as caught:
            compare(sites(), "grad_norm_sq", pair)
        assert "\n" not in str(caught.value)
        with pytest.raises(BoundsError, match="as another one is"):
            advise(sites("small steps"), own=pair)


def test_a_target_that_nothing_bounds_is_refused():
    with pytest.raises(BoundsError, match="unknown target"):
        compare(sites(), "test_accuracy")


def test_of_a_start_that_is_known_within_an_interval_the_low_end_is_what_nobody_needs_a_theorem_for():
    s = Scenario.of({"initial_gap": 3, "smoothness": 1.7, "_interval": {"initial_gap": [2.5, 5]}})
    assert trivial("optimality_gap", s) == (5, 2.5)


# ---- what is chosen, and what is said of it ----


def test_bounds_of_ones_own_stand_beside_those_that_are_named():
    mine = own("mine", 3.1 * grad_cap_sq)
    nameless = own("nameless", 2.7 * grad_cap_sq, about=None)
    unsaid = own("unsaid", 2.9 * grad_cap_sq, statistic=None)
    chosen = ("own", "fedinit.theorem_1_sharp", "decaying_k.theorem_1_sharp")
    table = compare(sites("everyone"), "grad_norm_sq", [mine, nameless, unsaid], of=chosen)
    assert {row.bound for row in table.rows} == {mine.name, nameless.name, unsaid.name, *chosen[1:]}
    priced = {row.bound for row in table.rows if row.price is not None}
    assert set(chosen[1:]) <= priced  # what is named has a price, and so has each of several
    text = str(table)
    assert "First to speak: " in text
    assert "NOT met" not in text
    assert "about=About(" in next(line for line in text.splitlines() if nameless.name in line)
    assert "statistic=Statistic(" in next(line for line in text.splitlines() if unsaid.name in line)


def test_conversions_that_were_used_are_explained_and_no_others():
    text = str(compare(sites("everyone"), "grad_norm_sq", of=("decaying_k.theorem_1_sharp", "fedinit.theorem_1_sharp")))
    told = text[text.index("via: ") :]
    assert "C1 the least is at most the mean" in told
    assert "C7 " not in told
    assert {c.name for c in CONVERSIONS} | {"C15"} == set(MEANING)


def test_rows_that_rounding_alone_keeps_apart_are_in_order_of_their_names():
    first, last = own("b", 0.3 * grad_cap_sq), own("a", 0.3 * grad_cap_sq * (1 + 3e-16))
    names = [row.bound for row in compare(sites(), "grad_norm_sq", [first, last]).rows if row.bound.startswith("own.")]
    assert names[0] == "own.a"
