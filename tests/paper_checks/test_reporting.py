"""Reports: Markdown and JSON say the same of every claim, whatever stands in it."""

import json
import re

import pytest
import sympy as sp
from checker_toys import speed

from paper_checks.audit.records import as_json, ordered
from paper_checks.audit.report import files, lines
from paper_checks.audit.running import audit
from paper_checks.claims.checkers import Open, Same
from paper_checks.claims.claim import Claim, Defect, Finding, Grade, Kind, Repair, Status
from paper_checks.claims.review import Review

REVIEWS = {
    "fedals": Review(
        summary=("Look at [fedals.holds] and [fedals.gone].",),
        theorems={
            "Theorem 1": {"listing": "fedals.repaired", "proof": "fedals.holds"},
            "Theorem 2": {"proof": "fedals.gone"},
        },
        findings={"fedals.slip": "", "fedals.repaired": "The sum is x_2 = 7, not 5."},
        survives=("[fedals.holds] stands.",),
    )
}
NASTY = 'a < b & "c" <script>alert(1)</script> | x_1 * y_2\nsecond line \\ end'


def saying(status, evidence, **witness):
    return lambda book: Finding(status, Grade.EXACT, evidence, witness)


def made(name, check, known, paper="fedals", **more):
    return Claim(f"{paper}.{name}", f"Says that {NASTY}", Kind.EQUATION.at("eq. (1)"), check, known, **more)


@pytest.fixture(scope="module")
def verdicts():
    repair = Repair(NASTY, Same(speed, speed), "b.c")
    return audit(
        [
            made("holds", Same(speed, speed), Status.HOLDS, note=NASTY),
            made("ours", Same(speed, speed), Status.HOLDS, ours=True),
            made("ours_fails", saying(Status.FAILS, "3 of 4"), Status.FAILS, defect=Defect.REFUTED, ours=True),
            made("slip", saying(Status.FAILS, "no"), Status.FAILS, defect=Defect.SLIP),
            made("damaged", saying(Status.FAILS, NASTY, x=NASTY), Status.FAILS, damaged="1 or l", defect=Defect.SLIP),
            made("repaired", saying(Status.FAILS, "no"), Status.FAILS, defect=Defect.GAP, repair=repair),
            made("changed", saying(Status.FAILS, "no"), Status.HOLDS),
            made("open", Open("nobody knows"), Status.OPEN, paper="fedcog"),
            made("own", Same(speed, 2 * speed), Status.FAILS, paper="my_notes", defect=Defect.SLIP),
        ],
        workers=1,
    )


def test_markdown_counts_links_and_keeps_each_entry_on_its_line(verdicts):
    told = files(ordered(verdicts), REVIEWS)
    lines = told.pop("REPORT.md").splitlines()
    assert "| FedALS | of the paper | 5 | 1 | 1 | 3 | 0 | 0 | 1 | 0 | 0 | 2 | 1 proved |" in lines
    text = "\n".join(told.values())
    lines = text.splitlines()
    anchors = {re.sub(r"[^\w -]", "", line[5:]).strip().lower() for line in lines if line.startswith("#### ")}
    links = set(re.findall(r"\]\(#([^)]*)\)", text))
    assert links == anchors
    assert len(links) == len(verdicts)
    evidence = [line for line in lines if line.startswith("- Evidence: a < b")]
    assert len(evidence) == 1
    assert "second line" in evidence[0]
    assert r"x\_1 \* y\_2" in evidence[0]


def test_records_are_json_and_hold_no_timings(verdicts):
    told = json.loads(as_json(ordered(verdicts)))
    byname = {r["name"]: r for r in told}
    assert byname["fedals.repaired"]["verdict"] == "REPAIRED"
    assert byname["fedals.repaired"]["repair_bound"] == "b.c"
    assert byname["fedals.changed"]["expected"] is False
    assert byname["fedals.damaged"]["witness"] == {"x": NASTY}
    assert byname["fedals.holds"]["command"] == "fedbounds check fedals.holds"
    assert not any("second" in key for r in told for key in r)


def test_the_terminal_shows_what_differs(verdicts):
    out = "\n".join(lines(verdicts))
    own = "2 of our own (1 HOLDS, 1 FAILS)"
    assert f"9 claims: 7 of the paper (1 HOLDS, 1 REPAIRED, 4 FAILS, 1 OPEN), {own}" in out
    assert "differs from the audit: fedals.changed: FAILS, audited HOLDS" in out
    assert "differs from the audit: fedals.holds" not in out
    shown = [v for v in verdicts if v.claim.name in ("fedals.damaged", "fedals.repaired", "fedals.ours")]
    out = "\n".join(lines(shown, in_full=True))
    assert "witness: x = a < b" in out
    assert "REPAIRED, gap (exact)  fedals.repaired" in out
    assert "fedals.ours  [FedALS, eq. (1)]  (ours)" in out
    other = made("other", Same(speed, 3 * speed, ratio=sp.Rational(1, 2)), Status.FAILS, defect=Defect.SLIP)
    assert any("in another way" in line for line in lines(audit([other], workers=1)))
