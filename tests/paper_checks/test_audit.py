"""The audit as a whole: every claim gives its audited verdict, and running checks hides nothing."""

import re
from dataclasses import replace
from fractions import Fraction

import pytest
import sympy as sp
from checker_toys import speed
from loops import cases

from bounds.catalog import BOUNDS
from bounds.vocabulary import current_loss, initial_loss, iterations, local_steps, rounds, runtime, steps_cubed_ratio
from paper_checks.audit.command import COMMITTED
from paper_checks.audit.records import ordered
from paper_checks.audit.report import files
from paper_checks.audit.running import audit, CLAIMS, REVIEWS, verdict_of
from paper_checks.claims import rows
from paper_checks.claims.checkers import All, Open, Readings, Same
from paper_checks.claims.claim import Book, Claim, ClaimError, Defect, Finding, Grade, Kind, registry, Repair, Status
from paper_checks.claims.review import MOST_FINDINGS, Review
from paper_checks.comparing.audit_status import AUDIT_STATUS, FAILS, REPAIR

SEARCHED = re.compile(
    r"(bound / exact value >= )(\S+) on \d+ instances of .*?(?=; power:|; no machine|; read without|\n)"
)
ROUNDING = re.compile(r"\b\d(?:\.\d+)?e-1[3-9]\b")
"""What a search met on its way, and what is nothing but rounding: another processor sums in another order."""

ASKED_BY_NONE: dict[str, str] = {}
"""Bounds of the catalogue that no claim asks for, with the reason."""

SHOWN_IN_WORDS = {
    "fedals.communication.scaffold": "two ways of computing one vector agree in every round",
    "fedcog.table_3.rounds": "numbers that are said to differ agree to the last digit",
}
"""Failing claims that are refuted by numbers being equal."""


def made(name, check, audited=Status.HOLDS, **more):
    more = {"defect": Defect.SLIP if audited is Status.FAILS else None, **more}
    return Claim(f"toys.{name}", "A sentence.", Kind.EQUATION.at("a note"), check, audited, **more)


TRUE, FALSE = Same(speed, speed), Same(speed, 2 * speed, ratio=sp.Rational(1, 2))


def broken(book):
    raise ZeroDivisionError("planted")


def steady(report):
    """The texts of a report without what depends on the processor; the ratio of a search to two digits."""
    shown = {name: SEARCHED.sub(lambda m: f"{m[1]}{float(m[2]):.2g}", text) for name, text in report.items()}
    return {name: ROUNDING.sub("0", text) for name, text in shown.items()}


@pytest.mark.slow
def test_every_claim_gives_its_audited_verdict(verdicts):
    assert set(verdicts) == set(CLAIMS)
    other = [f"{name}: {v.finding} repair {v.repair}" for name, v in verdicts.items() if not v.as_audited]
    assert not other, "\n".join(other)


@pytest.mark.slow
def test_a_failing_claim_shows_where_it_fails(verdicts):
    """A checker by a point, an instance or the audited difference; a computation of its own by the numbers it names."""
    bare = {
        name
        for name, v in verdicts.items()
        if v.finding.status is Status.FAILS and not (v.finding.witness or _names_the_way(v.claim.check))
        if _is_general(v.claim.check) or not re.search(r"\d", v.finding.evidence)
    }
    assert bare <= set(SHOWN_IN_WORDS)


@pytest.mark.slow
def test_the_committed_report_says_what_the_audit_finds(verdicts):
    told = files(ordered(verdicts.values()), REVIEWS)
    kept = {name: (COMMITTED.parent / name).read_text(encoding="utf-8") for name in told}
    assert steady(told) == steady(kept), "fedbounds check --renew writes the report again"
    assert SEARCHED.search(kept["reports/fedals.md"])
    assert ROUNDING.search(kept["reports/fedcog.md"])


def _names_the_way(check):
    ways = ("ratio", "difference", "off_by", "mixed", "breaks", "wrong", "audited")
    inner = [*getattr(check, "checks", {}).values(), *getattr(check, "readings", {}).values()]
    named = any(getattr(check, way, None) not in (None, (), False) for way in ways)
    return named or any(_names_the_way(c) for c in inner)


def _is_general(check):
    return type(check).__module__.startswith("paper_checks.claims.checkers.") and not isinstance(check, (All, Readings))


@pytest.mark.slow
def test_every_bound_of_the_catalogue_is_asked_for(verdicts):
    assert not [name for v in verdicts.values() for name in v.bounds if name not in BOUNDS]
    asked = {name for v in verdicts.values() for name in v.bounds}
    assert sorted(set(BOUNDS) - asked) == sorted(ASKED_BY_NONE)


def test_declarations_are_complete():
    for name, c in CLAIMS.items():
        if isinstance(c.check, Open):
            assert len(c.check.reason) > 40, name
            assert c.audited is Status.OPEN, name
        if isinstance(c.check, Readings):  # damaged text fails only if every reading does
            assert c.damaged or len(c.check.readings) > 1, name
        if c.repair is not None and c.repair.bound:
            assert c.repair.bound in BOUNDS, name
        assert c.audited is not Status.FAILS or c.note or name == "fedinit.settings.feddyn_decay", name


def test_reviews_and_notes_speak_of_claims_that_exist():
    assert set(REVIEWS) == {c.paper for c in CLAIMS.values()}
    for paper, review in REVIEWS.items():
        spoken = set(review.claims())
        assert len(spoken) > 10
        assert not spoken - set(CLAIMS)
        assert {name.split(".")[0] for name in spoken} == {paper}
    pattern = rf"\b(?:{'|'.join(REVIEWS)})\.[a-z0-9_]+(?:\.[a-z0-9_]+)*"
    for c in CLAIMS.values():
        assert not set(re.findall(pattern, c.note)) - set(CLAIMS) - set(BOUNDS), c.name
        assert not re.search(r"{[a-z_]{3,}}", c.words + c.note), f"{c.name} names a text that the file does not have"


NUMBER = re.compile(r"(?<![\w.^])-?\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?(?:/\d+)?")
BY_ARITHMETIC = {
    "fedcog.theorem.settings": {Fraction(1, 400), Fraction(1, 800)},
    "classics.local_gd_theorem_1.relaxed": {Fraction(10, 16), Fraction(1, 2)},
}
"""Numbers of a finding that its check does not print; the test computes with them."""


def numbers(text):
    whole, _, below = text.replace(",", "").partition("/")
    return Fraction(whole) / Fraction(below or 1)


def shown(verdict):
    """The numbers that a check shows, those of its parts too, and those of the sentence itself."""
    parts = getattr(verdict.claim.check, "checks", {}).values() if verdict.claim.audited is Status.FAILS else ()
    found = [verdict.finding, *(part(Book()) for part in parts)]
    texts = [verdict.claim.words, str(verdict.claim.source), *(f.evidence for f in found)]
    texts += [f"{name} = {value}" for f in found for name, value in f.witness.items()]
    return {numbers(n) for text in texts for n in NUMBER.findall(text)}


@pytest.mark.slow
@cases("paper", REVIEWS)
def test_findings_fail_and_their_numbers_are_those_of_the_check(paper, verdicts):
    found = REVIEWS[paper].sentences
    assert len(found) == (MOST_FINDINGS if paper != "classics" else 6)
    for name, said in found.items():
        assert verdicts[name].finding.status is Status.FAILS, name
        cited = re.findall(r"\[([a-z0-9_.]+)\]", said)
        known = {n for c in (name, *cited) for n in shown(verdicts[c])} | BY_ARITHMETIC.get(name, set())
        told = [n for n in NUMBER.findall(re.sub(r"\[[a-z0-9_.]+\]", "", said)) if numbers(n) not in known | {0, 1, 2}]
        assert not told, (name, told)
        assert re.search(r"\d", said), name
    assert Fraction(1, 100) * Fraction(1, 4) == Fraction(1, 400) > Fraction(1, 2 * 400) == Fraction(1, 800)
    assert 2 * 5 * Fraction(1, 4) ** 2 == Fraction(10, 16) > Fraction(1, 2)  # 2 L of Lemma 2, gamma L H = 1/4


@cases(
    "declaration said",
    [
        (lambda: registry((made("a", TRUE), made("a", FALSE))), "toys.a"),
        (lambda: Claim("toys", "A sentence.", Kind.EQUATION.at("a note"), TRUE), "toys"),
        (lambda: Claim("toys.a", " ", Kind.EQUATION.at("a note"), TRUE), "words"),
        (lambda: made("a", Open("why"), Status.OPEN, repair=Repair("words", TRUE)), "toys.a"),
        (lambda: made("a", TRUE, Status.OPEN, defect=Defect.GAP), "gap"),
        (lambda: Review(("Long.",), findings=tuple(f"fedals.claim_{i}" for i in range(11))), "10 findings; got 11"),
        (lambda: Review(("Long.",), findings={"fedals.slip": 3}), "findings['fedals.slip']"),
        (lambda: Finding(Status.HOLDS, Grade.READ, "read", witness=3), "witness"),
        (lambda: rows.CHECKS["check"]({"x": {"order": [], "odd": 0}}, {}, "fedals", rows.Row("noise", "", {})), "odd"),
    ],
)
def test_what_is_declared_wrongly_is_refused(declaration, said):
    with pytest.raises(ClaimError) as error:
        declaration()
    assert said in str(error.value)


@cases("check", [broken, lambda book: None, lambda book: exit(3), Same("toys.none", speed)])
def test_a_check_that_breaks_is_open_and_not_as_audited(check):
    for known in (Status.HOLDS, Status.FAILS, Status.OPEN):
        verdict = verdict_of(made("a", check, known))
        assert (verdict.finding.status, verdict.crashed, verdict.as_audited) == (Status.OPEN, True, False)


def test_a_verdict_is_expected_if_status_way_and_repair_are():
    fixed = Repair("twice as much", TRUE)
    assert verdict_of(made("a", TRUE)).as_audited
    assert not verdict_of(made("a", TRUE, Status.FAILS)).as_audited
    assert verdict_of(made("a", FALSE, Status.FAILS)).as_audited
    assert made("a", FALSE, Status.REPAIRED, defect=Defect.SLIP, repair=fixed).audited is Status.FAILS
    assert not verdict_of(made("a", Same(speed, 3 * speed, ratio=sp.Rational(1, 2)), Status.FAILS)).as_audited
    repaired = verdict_of(made("a", FALSE, Status.FAILS, repair=fixed))
    assert (repaired.status, repaired.as_audited) == (Status.REPAIRED, True)
    botched = verdict_of(made("a", FALSE, Status.FAILS, repair=Repair("three times", FALSE)))
    assert (botched.status, botched.as_audited) == (Status.FAILS, False)
    assert not verdict_of(made("a", FALSE, Status.FAILS, repair=Repair("breaks", broken))).as_audited


def test_verdicts_keep_the_order_of_the_claims_whatever_the_workers():
    claims = [made("a", TRUE), made("b", broken), made("c", FALSE, Status.FAILS), made("a", FALSE), made("d", TRUE)]
    heard: list[str] = []
    runs = [audit(claims, workers, lambda v: heard.append(v.claim.name)) for workers in (1, 2, 3)]
    for run in runs:
        assert [v.claim for v in run] == claims
        assert [(v.finding, v.as_audited) for v in run] == [(v.finding, v.as_audited) for v in runs[0]]
    assert sorted(heard) == sorted([c.name for c in claims] * 3)
    assert audit([], 2) == []


# ---- the claim that a bound stands by is about that bound: its check reads it, and refuses one that is too small ----

SAME_AS = {"decaying_k.per_rounds": "decaying_k.theorem_1", "decaying_k.per_second": "decaying_k.theorem_1"}
"""Bounds that are the formula of another one, by whose claim they stand."""
SOUND = [name for name, standing in AUDIT_STATUS.items() if standing.verdict != FAILS]


def deciding(name):
    """The check that decides: that of the claim, or of its repair."""
    known, word = AUDIT_STATUS[name]
    found = CLAIMS[known]
    return found.repair.check if word == REPAIR else found.check


@pytest.mark.slow
@cases("name", SOUND)
def test_the_check_does_not_let_a_bound_pass_that_is_fifty_times_too_small(name):
    bound = BOUNDS[name]
    small = replace(bound, terms={label: term / 50 for label, term in bound.terms.items()})
    assert deciding(name)(Book({name: small})).status is not Status.HOLDS


@cases("name", [name for name in AUDIT_STATUS if name not in (*SOUND, *SAME_AS)])
def test_the_check_of_a_bound_that_fails_reads_it(name):
    book = Book()
    deciding(name)(book)
    assert name in book.requested


@cases("name other", SAME_AS.items())
def test_what_stands_by_the_claim_of_another_bound_is_its_formula(name, other):
    """With K R iterations, K local steps in every round, the run's own start, and R rounds in the runtime."""
    one, same = BOUNDS[name], BOUNDS[other]
    fields = ("target", "relation", "statistic", "about")
    assert [getattr(one, f) for f in fields] == [getattr(same, f) for f in fields]
    plan = {iterations: local_steps * rounds, steps_cubed_ratio: local_steps**2, initial_loss: current_loss}
    a, b = one.expr, same.expr.subs(plan)
    if a.has(runtime):
        words = {q.name: q for q in one.quantities}
        each = words["model_size"] / words["download_rate"] + words["model_size"] / words["upload_rate"]
        a = a.subs(runtime, rounds * (each + local_steps * words["minibatch_time"]))
    assert sp.simplify(a - b) == 0
    assert sp.simplify(a - b.subs(rounds, 2 * rounds)) != 0


@cases("name", [name for name in AUDIT_STATUS if AUDIT_STATUS[name].verdict == REPAIR])
def test_a_repair_is_of_the_same_number_as_what_is_printed(name):
    printed = [other for other, s in AUDIT_STATUS.items() if s.claim == AUDIT_STATUS[name].claim and s.verdict == FAILS]
    for other in printed:
        one, same = BOUNDS[name], BOUNDS[other]
        for field in ("target", "relation", "statistic", "about"):
            assert getattr(one, field) == getattr(same, field)
