"""Claims: one sentence of a paper, where it stands, the check that decides it, and its audited status."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from enum import StrEnum
from fractions import Fraction

import sympy as sp

from bounds.catalog import BOUNDS
from bounds.core import Bound
from bounds.errors import BoundsError, unknown
from bounds.papers import Source


class ClaimError(BoundsError):
    """A claim or a check that is declared wrongly."""


def check_kinds(what: str, **fields: tuple[object, type | tuple[type, ...]]) -> None:
    """Refuse a field of another kind than required: a report would read it wrongly, or not at all."""
    for name, (value, kind) in fields.items():
        if not isinstance(value, kind):
            kinds = " or ".join(k.__name__ for k in (kind if isinstance(kind, tuple) else (kind,)))
            raise ClaimError(f"{what}: {name} must be of type {kinds}; got {value!r}")


def without_floats(formula: object) -> sp.Expr:
    """A formula as SymPy's expression, refused where it holds a float: a claim is about exact numbers."""
    expression = sp.sympify(formula)
    for number in map(float, sorted(expression.atoms(sp.Float))):
        near = Fraction(number).limit_denominator(1000)
        exact = near if float(near) == number else Fraction(repr(number))
        raise ClaimError(
            f"{number!r} is a float: write Rational({exact.numerator}, {exact.denominator}), a claim is exact"
        )
    return expression


def _refuse_floats(part: object, symbolic: bool = False) -> None:
    """Look for floats in the formulas of a check; elsewhere, where numbers are measured, they are welcome."""
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
    """What a check says of the statement as printed."""

    HOLDS = "HOLDS"
    FAILS = "FAILS"
    OPEN = "OPEN"


class Grade(StrEnum):
    """How a finding was reached, and so how it could be wrong."""

    PROVED = "proved"
    """Symbolically, by going through all cases or by a certificate in fractions: wrong only if the encoding is."""
    EXACT = "exact"
    """By exact arithmetic at stated points or instances: a FAILS is final, a HOLDS is about those alone."""
    SEARCHED = "searched"
    """No violation was found in the box that the evidence states; a search never proves."""
    SAMPLED = "sampled"
    """From random runs, with the error rate that the evidence states."""
    READ = "read"
    """Nothing was computed: the reason is given in words."""


class Defect(StrEnum):
    """What is wrong with a statement that fails, the gravest first; reports are sorted by it."""

    REFUTED = "refuted"
    """The conclusion is false in the setting that it is stated for."""
    GAP = "gap"
    """A step of the proof is false; the statement is not shown to be."""
    READING = "reading"
    """It holds in one reading and fails in another; the note or the evidence says in which."""
    SETTINGS = "settings"
    """The experiments lie outside the conditions, or differ from what the text says of them."""
    SLIP = "slip"
    """An index, a sign, a rounding, a notation."""


class Kind(StrEnum):
    """What sort of sentence a claim is."""

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
        """A sentence of this sort at a place of the paper, of its ``version`` where versions differ."""
        return Passage(self, place, version)


@dataclass(frozen=True)
class Passage:
    """What sort of sentence stands at a place of a paper, and in which version."""

    kind: Kind
    place: str
    version: str = ""


@dataclass(frozen=True)
class Finding:
    """What a check found: status, grade, the evidence in words, and the point or instance that shows it.

    ``as_audited`` is False when a statement fails, but not in the way that was audited (another factor, another set of
    failing conditions); such a finding is reported as changed although its status is the same.
    """

    status: Status
    grade: Grade
    evidence: str
    witness: Mapping[str, str] = field(default_factory=dict)
    as_audited: bool = True

    def __post_init__(self) -> None:
        kinds = {
            "status": (self.status, Status),
            "grade": (self.grade, Grade),
            "evidence": (self.evidence, str),
            "witness": (self.witness, Mapping),
            "as_audited": (self.as_audited, bool),
        }
        check_kinds("a finding", **kinds)
        if not self.evidence.strip():
            raise ClaimError("a finding's evidence must say in words what was found; got none")


def holds(evidence: str, grade: Grade = Grade.EXACT, witness: Mapping[str, object] | None = None) -> Finding:
    return judged(True, evidence, witness, grade=grade)


def fails(evidence: str, witness: Mapping[str, object] | None = None, as_audited: bool = True) -> Finding:
    return judged(False, evidence, witness, as_audited)


def judged(
    true: bool,
    evidence: str,
    witness: Mapping[str, object] | None = None,
    as_audited: bool = True,
    grade: Grade = Grade.EXACT,
) -> Finding:
    """HOLDS or FAILS by an exact computation, with the instance that shows it."""
    shown = {name: str(number) for name, number in (witness or {}).items()}
    return Finding(Status.HOLDS if true else Status.FAILS, grade, evidence, shown, as_audited)


class Book(Mapping[str, Bound]):
    """The bounds that checks look up by name; it remembers which were requested, and some can be replaced."""

    def __init__(self, replaced: Mapping[str, Bound] | None = None) -> None:
        self._replaced = dict(replaced or {})
        self.asked: set[str] = set()

    def __getitem__(self, name: str) -> Bound:
        self.asked.add(name)
        found = self._replaced.get(name) or BOUNDS.get(name)
        if found is None:
            raise unknown("bound", name, list(self))
        return found

    def __iter__(self) -> Iterator[str]:
        return iter({**BOUNDS, **self._replaced})

    def __len__(self) -> int:
        return len({**BOUNDS, **self._replaced})


Check = Callable[[Book], Finding]
Checks = Check | Mapping[str, Check]
"""One check, or several by name, of which every one must hold (the checker ``All``)."""


def joined(checks: Checks, wrong: tuple[str, ...] = ()) -> Check:
    """The checks as one; ``wrong`` are those audited as failing."""
    from .checkers.plain import All

    return All(checks, wrong) if isinstance(checks, Mapping) else checks


@dataclass(frozen=True)
class Repair:
    """A corrected statement: its words, the check that it holds where the printed one fails, the bound that states it.

    ``bound`` is empty where the repair is not a bound of the catalogue (a number in a table, a line of an algorithm).
    """

    words: str
    checks: Checks
    bound: str = ""

    @property
    def check(self) -> Check:
        return joined(self.checks)


@dataclass(frozen=True)
class Claim:
    """One sentence of a paper.

    ``name`` begins with the paper, ``words`` say the sentence in our own words, ``passage`` where it stands, and
    ``known`` is the audited status of the statement as printed: FAILS where a ``defect`` is given, else HOLDS unless
    stated. ``note`` says what a reader should make of the verdict.
    ``damaged`` names the readings of damaged text that were considered; such claims are to be checked against the PDF.
    ``about`` names bounds that the claim is about beside those that its check uses. ``defect`` is what is wrong with
    a statement that fails; ``ours`` marks a cross-check of our own, which the paper does not
    state in these words.

    >>> Claim("mine.square", "A square is a product.", Kind.EQUATION.at("line 1"), lambda book: ...).source
    Source(paper='mine', place='line 1', version='')
    """

    name: str
    words: str
    passage: Passage
    checks: Checks
    known: Status = Status.HOLDS
    note: str = ""
    repair: Repair | None = None
    damaged: str = ""
    about: tuple[str, ...] = ()
    defect: Defect | None = None
    ours: bool = False
    deep: bool = False
    """Takes minutes: left to ``--deep``."""
    wrong: tuple[str, ...] = ()
    """Which of several checks are audited as failing."""

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z][a-z0-9_]*(\.[a-z0-9_]+)+", self.name):
            raise ClaimError(f"claim {self.name!r}: a name is the paper and words in lower case, joined by '_' and '.'")
        check_kinds(
            f"claim {self.name!r}",
            words=(self.words, str),
            passage=(self.passage, Passage),
            known=(self.known, Status),
            defect=(self.defect, (Defect, type(None))),
            repair=(self.repair, (Repair, type(None))),
            about=(self.about, tuple),
        )
        for checks in (self.checks, *([self.repair.checks] if self.repair is not None else [])):
            for check in checks.values() if isinstance(checks, Mapping) else [checks]:
                if not callable(check) or isinstance(check, Bound):
                    raise ClaimError(
                        f"claim {self.name!r}: a check must be one, such as Same(left, right); got {check!r}"
                    )
                try:
                    _refuse_floats(check)
                except ClaimError as error:
                    raise ClaimError(f"claim {self.name!r}: {error}") from None
        if self.wrong and not isinstance(self.checks, Mapping):
            raise ClaimError(f"claim {self.name!r}: wrong={self.wrong} names some of several checks, and there is one")
        if self.known is Status.OPEN and self.repair is not None:
            raise ClaimError(f"claim {self.name!r} is open: there is nothing to repair")
        if not self.words.strip():
            raise ClaimError(f"claim {self.name!r} needs words: the sentence it is about")
        if self.defect is not None and self.known is Status.HOLDS:
            object.__setattr__(self, "known", Status.FAILS)
        if self.defect is not None and self.known is not Status.FAILS:
            raise ClaimError(f"claim {self.name!r} has a defect ({self.defect}) and yet is audited {self.known}")
        if self.defect is None and self.known is Status.FAILS:
            kinds = ", ".join(Defect)
            raise ClaimError(f"claim {self.name!r} is audited FAILS: say its defect, one of {kinds}")

    @property
    def paper(self) -> str:
        return self.name.partition(".")[0]

    @property
    def kind(self) -> Kind:
        return self.passage.kind

    @property
    def source(self) -> Source:
        return Source(self.paper, self.passage.place, self.passage.version)

    @property
    def check(self) -> Check:
        return joined(self.checks, self.wrong)


def registry(*groups: tuple[Claim, ...]) -> dict[str, Claim]:
    """The claims by name; a name used twice is an error."""
    found: dict[str, Claim] = {}
    for claim in (c for group in groups for c in group):
        if claim.name in found:
            raise ClaimError(f"two claims are called {claim.name!r}")
        found[claim.name] = claim
    return found
