"""Define ``Claim``: a sentence of a paper, its place, the check that decides it, and its audited status.

A check takes the ``Book`` of bounds and returns a ``Finding``: HOLDS, FAILS or OPEN, with evidence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from enum import StrEnum
from fractions import Fraction

import sympy as sp

from bounds.catalog import BOUNDS
from bounds.core import Bound
from bounds.errors import BoundsError, unknown
from bounds.papers import Source


class ClaimError(BoundsError):
    """A claim or a check is declared wrongly."""


Types = dict[str, type | tuple[type, ...]]


def check_types(what: str, fields: Mapping[str, object], **types: type | tuple[type, ...]) -> None:
    """Raise if a field is not of the type given for its name; ``what`` names the object in the message."""
    for name, allowed in types.items():
        if not isinstance(fields[name], allowed):
            names = " or ".join(t.__name__ for t in (allowed if isinstance(allowed, tuple) else (allowed,)))
            raise ClaimError(f"{what}: {name} must be of type {names}; got {fields[name]!r}")


def without_floats(formula: object) -> sp.Expr:
    """Convert a formula to a SymPy expression; raise if it contains a float, since claims are about exact numbers."""
    expression = sp.sympify(formula)
    for number in map(float, sorted(expression.atoms(sp.Float))):
        near = Fraction(number).limit_denominator(1000)
        exact = near if float(near) == number else Fraction(repr(number))
        raise ClaimError(
            f"{number!r} is a float: write Rational({exact.numerator}, {exact.denominator}); claims use exact numbers"
        )
    return expression


def _refuse_floats(part: object, symbolic: bool = False) -> None:
    """Raise if a formula of a check contains a float; measured numbers, outside of formulas, may be floats."""
    if isinstance(part, sp.Basic) or (symbolic and isinstance(part, float)):
        without_floats(part)
    elif isinstance(part, Mapping):
        for value in part.values():
            _refuse_floats(value, symbolic)
    elif isinstance(part, tuple | list):
        for value in part:
            _refuse_floats(value, symbolic)
    elif is_dataclass(part) and not isinstance(part, Bound | type):
        for each in fields(part):
            _refuse_floats(getattr(part, each.name), symbolic or "Formula" in str(each.type))


class Status(StrEnum):
    """Whether a statement as printed holds, fails, or cannot be decided by machine, in the order of reports.

    REPAIRED is the status of a verdict alone: the statement fails, and its repair holds.
    """

    HOLDS = "HOLDS"
    REPAIRED = "REPAIRED"
    FAILS = "FAILS"
    OPEN = "OPEN"


class Grade(StrEnum):
    """How a finding was reached, and so how strong it is."""

    PROVED = "proved"
    """Symbolically, by going through all cases or by a certificate in fractions: wrong only if the encoding is."""
    EXACT = "exact"
    """By exact arithmetic at stated points or instances: FAILS is final, HOLDS is about those points alone."""
    SEARCHED = "searched"
    """No violation was found in the box that the evidence states, which is not a proof."""
    SAMPLED = "sampled"
    """From random runs, with the error rate that the evidence states."""
    READ = "read"
    """Nothing was computed: the evidence is a reason in words."""


class Defect(StrEnum):
    """What is wrong with a statement that fails, the gravest first; reports are sorted by it."""

    REFUTED = "refuted"
    """The conclusion is false in its stated setting."""
    GAP = "gap"
    """A step of the proof is false; whether the statement is false is not shown."""
    READING = "reading"
    """It holds in one reading and fails in another; the note or the evidence says in which."""
    SETTINGS = "settings"
    """The experiments lie outside the conditions, or differ from the text's description of them."""
    SLIP = "slip"
    """An error in an index, a sign, a rounding or the notation."""


class Kind(StrEnum):
    """The kind of sentence that a claim states."""

    EQUATION = "equation"
    DEFINITION = "definition"
    ASSUMPTION = "assumption"
    THEOREM = "theorem"  # lemmas and corollaries too
    PROOF = "proof step"
    REMARK = "remark"  # sentences that interpret a statement
    ALGORITHM = "algorithm"
    TABLE = "table"
    SETTING = "setting"

    def at(self, place: str, version: str = "") -> Passage:
        """Return the passage: a sentence of this kind at a place of the paper, of ``version`` where versions differ."""
        return Passage(self, place, version)


@dataclass(frozen=True)
class Passage:
    """The kind of a sentence, its place in the paper, and the version of the paper (empty where all agree)."""

    kind: Kind
    place: str
    version: str = ""


@dataclass(frozen=True)
class Finding:
    """The result of a check: status, grade, the evidence in words, and the point or instance that shows it (witness).

    ``as_audited`` is False if a statement fails, but not in the audited way (by another factor, in other conditions);
    such a finding is reported as changed although its status is the same.
    """

    status: Status
    grade: Grade
    evidence: str
    witness: Mapping[str, str] = field(default_factory=dict)
    as_audited: bool = True

    def __post_init__(self) -> None:
        types: Types = {"status": Status, "grade": Grade, "evidence": str, "witness": Mapping, "as_audited": bool}
        check_types("a finding", vars(self), **types)
        if not self.evidence.strip():
            raise ClaimError("a finding's evidence must say in words what was found; got none")


def holds(evidence: str, grade: Grade = Grade.EXACT, witness: Mapping[str, object] | None = None) -> Finding:
    """Return the finding HOLDS."""
    return finding(True, evidence, witness, grade=grade)


def fails(evidence: str, witness: Mapping[str, object] | None = None, *, as_audited: bool = True) -> Finding:
    """Return the finding FAILS, by an exact computation."""
    return finding(False, evidence, witness, as_audited=as_audited)


def finding(
    true: bool,
    evidence: str,
    witness: Mapping[str, object] | None = None,
    *,
    as_audited: bool = True,
    grade: Grade = Grade.EXACT,
) -> Finding:
    """Return HOLDS if ``true``, else FAILS, by an exact computation unless ``grade`` is another."""
    shown = {name: str(number) for name, number in (witness or {}).items()}
    return Finding(Status.HOLDS if true else Status.FAILS, grade, evidence, shown, as_audited)


class Book(Mapping[str, Bound]):
    """The catalogue of bounds as checks see it; ``requested`` collects the names looked up, ``replaced`` overrides.

    Replacing a bound by one with a planted error shows which checks notice the error.
    """

    def __init__(self, replaced: Mapping[str, Bound] | None = None) -> None:
        self._replaced = dict(replaced or {})
        self.requested: set[str] = set()

    def __getitem__(self, name: str) -> Bound:
        self.requested.add(name)
        bound = self._replaced.get(name) or BOUNDS.get(name)
        if bound is None:
            raise unknown("bound", name, list(self))
        return bound

    def __iter__(self) -> Iterator[str]:
        return iter({**BOUNDS, **self._replaced})

    def __len__(self) -> int:
        return len({**BOUNDS, **self._replaced})


Check = Callable[[Book], Finding]
WEAKEST = (Grade.READ, Grade.SAMPLED, Grade.SEARCHED, Grade.EXACT, Grade.PROVED)


def run_checks(checks: Mapping[str, Check], book: Book, names: tuple[str, ...]) -> dict[str, Finding]:
    """Run the checks; raise if there are none, or if ``names`` has others."""
    if not checks:
        raise ClaimError("no checks are given")
    if unknown := set(names) - set(checks):
        raise ClaimError(f"there is no check {', '.join(sorted(unknown))}; checks: {', '.join(checks)}")
    return {name: check(book) for name, check in checks.items()}


def weakest(findings: Mapping[str, Finding]) -> Grade:
    return min((f.grade for f in findings.values()), key=WEAKEST.index)


def with_status(findings: Mapping[str, Finding], status: Status) -> set[str]:
    return {name for name, f in findings.items() if f.status is status}


@dataclass(frozen=True)
class All:
    """States that every one of the named checks holds; if not, the finding is that of the first that does not.

    ``wrong`` are the checks audited as failing; if given, another set of failing checks is not as audited.
    """

    checks: Mapping[str, Check]
    wrong: tuple[str, ...] = ()

    def __call__(self, book: Book) -> Finding:
        findings = run_checks(self.checks, book, self.wrong)
        as_audited = all(f.as_audited for f in findings.values())
        failing = with_status(findings, Status.FAILS)
        for status in (Status.FAILS, Status.OPEN):
            for name, found in findings.items():
                if found.status is status:
                    others = f"; {', '.join(sorted(failing - {name}))} too" if failing - {name} else ""
                    as_audited &= not self.wrong or failing == set(self.wrong)
                    evidence = f"{name}: {found.evidence}{others}"
                    return Finding(status, found.grade, evidence, found.witness, as_audited)
        evidence = "; ".join(f"{name}: {f.evidence}" for name, f in findings.items())
        return Finding(Status.HOLDS, weakest(findings), evidence, as_audited=as_audited)


@dataclass(frozen=True)
class Repair:
    """A corrected statement: its words, the check that it holds, and the bound of the catalogue that states it.

    ``bound`` is empty if no bound states the repair (of a number in a table, or a line of an algorithm).
    """

    words: str
    check: Check
    bound: str = ""


@dataclass(frozen=True)
class Claim:
    """One sentence of a paper with the check that decides it.

    Attributes:
        name: The paper and further words, joined by dots.
        words, passage: The sentence in our own words, and its kind and place in the paper.
        check: What decides the sentence; ``All`` if there are several checks.
        audited, defect: The audited status of the statement as printed: FAILS with a defect, else HOLDS unless given.
        note: How to understand the verdict.
        repair: A corrected statement.
        damaged: The readings of damaged text that were considered; such claims should be checked against the PDF.
        about: Bounds that the claim is about, in addition to those that its check uses.
        ours: Whether it is a cross-check of our own, which the paper does not state in these words.
        command: The argument of ``fedbounds check`` that runs it again; its name, unless a user's file declares it.

    >>> Claim("mine.square", "A square is a product.", Kind.EQUATION.at("line 1"), lambda book: ...).source
    Source(paper='mine', place='line 1', version='')
    """

    name: str
    words: str
    passage: Passage
    check: Check
    audited: Status = Status.HOLDS
    note: str = ""
    repair: Repair | None = None
    damaged: str = ""
    about: tuple[str, ...] = ()
    defect: Defect | None = None
    ours: bool = False
    command: str = ""

    def __post_init__(self) -> None:
        if not self.command:
            object.__setattr__(self, "command", self.name)
        if not re.fullmatch(r"[a-z][a-z0-9_]*(\.[a-z0-9_]+)+", self.name):
            raise ClaimError(f"claim {self.name!r}: a name is the paper and words in lower case, joined by '_' and '.'")
        types: Types = {"words": str, "passage": Passage, "audited": Status, "about": tuple}
        types |= {"defect": (Defect, type(None)), "repair": (Repair, type(None))}
        check_types(f"claim {self.name!r}", vars(self), **types)
        for check in (self.check, *([self.repair.check] if self.repair is not None else [])):
            if not callable(check) or isinstance(check, Bound):
                raise ClaimError(
                    f"claim {self.name!r}: a check must be a function or a checker such as Same(left, right), or "
                    f"All({{name: check}}) of several; got {check!r}"
                )
            try:
                _refuse_floats(check)
            except ClaimError as error:
                raise ClaimError(f"claim {self.name!r}: {error}") from None
        if self.audited is Status.OPEN and self.repair is not None:
            raise ClaimError(f"claim {self.name!r} is open: leave out the repair")
        if not self.words.strip():
            raise ClaimError(f"claim {self.name!r} needs words: the sentence that it states")
        if self.defect is not None and self.audited in (Status.HOLDS, Status.REPAIRED):
            object.__setattr__(self, "audited", Status.FAILS)
        if self.defect is not None and self.audited is not Status.FAILS:
            raise ClaimError(f"claim {self.name!r} has a defect ({self.defect}) and yet is audited {self.audited}")
        if self.defect is None and self.audited in (Status.FAILS, Status.REPAIRED):
            kinds = ", ".join(Defect)
            raise ClaimError(f"claim {self.name!r} is audited {self.audited}: give its defect, one of {kinds}")

    @property
    def paper(self) -> str:
        return self.name.partition(".")[0]

    @property
    def kind(self) -> Kind:
        return self.passage.kind

    @property
    def source(self) -> Source:
        return Source(self.paper, self.passage.place, self.passage.version)


def registry(claims: Iterable[Claim]) -> dict[str, Claim]:
    """Return the claims by name; raise if a name is used twice."""
    by_name: dict[str, Claim] = {}
    for claim in claims:
        if claim.name in by_name:
            raise ClaimError(f"two claims are called {claim.name!r}")
        by_name[claim.name] = claim
    return by_name
