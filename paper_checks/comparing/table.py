"""The result of ``compare``: all bounds on one quantity of a federation, ranked, with evidence and a conclusion."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np

from bounds.bounded_quantity import MEANING
from bounds.scenario import Scenario
from bounds.scenario_values import QUANTITIES, Role, role_of, ScenarioValue
from bounds.showing.tables import aligned, number, plain
from bounds.trivial_bounds import START_VALUES

from ..columns import abridged, Columns, ColumnTable, digits3, FEW, section, with_aliases
from .goal import number_of, UNIT_PLAN
from .rows import EvidenceKind, EvidenceSet, FormulaValue, numbers_of, RANKED, Row, ServerReadings, State

COMPARE_JSON = """\
--json prints one object: target, method, trivial (premises, start), conclusion, scenario (by quantity: value, low,
high, provenance, how), rows, server_model (label; least, mean, last, gap at the server model: number and standard
error, or null), remarks, formulas (formula, quantity, value, low, high, printed, source) and
exceeded (bound, class, by). A row has bound, alias, class (target, statistic, over, at, algorithm,
reading, weights), state (informative, below premises, vacuous, conditions not met, order, other quantity, missing),
conclusive, conversions, factor, value, low, high, failed (condition, formula, left, right, why), met, assumed,
trivial_premises, trivial_start, over_trivial, terms, values, provenance, how, lower_estimates, missing, why, audit,
source; over_exact, over_surrogate, over_worst_case and over_measured are high over that evidence, null without it;
evidence (by kind: value, what, error, seeds, via, upper: the class's own number is at most that value);
minimum_rounds (rounds, local_steps, step_size, cohort), null without --of. NaN is null, infinity "inf" or "-inf"."""
SYMBOLS = {"L": "smoothness", "mu": "strong_convexity", "D": "initial_gap", "sigma^2": "gradient_variance",
           "G^2": "grad_cap_sq"}  # fmt: skip


@dataclass(frozen=True, eq=False)
class ComparisonTable(ColumnTable):
    """The rows of a comparison in order, with evidence.

    ``trivial`` has the target's bound from the premises alone and its value before training. ``of`` are the names that
    the comparison is restricted to, ``kinds`` the requested kinds of evidence.
    """

    target: str
    scenario: Scenario
    rows: tuple[Row, ...]
    trivial: tuple[float, float]
    of: tuple[str, ...] = ()
    how: bool = False
    kinds: tuple[EvidenceKind, ...] = ()
    server_model: tuple[ServerReadings, ...] = ()
    remarks: tuple[str, ...] = ()
    formulas: tuple[FormulaValue, ...] = ()

    def beside(self, evidence: Iterable[EvidenceSet]) -> ComparisonTable:
        """The table with every kind of evidence on its rows."""
        sets = list(evidence)

        def with_evidence(row: Row) -> Row:
            values = {one.kind: one.for_row(row) for one in sets} if row.state in RANKED else {}
            return replace(row, evidence={kind: value for kind, value in values.items() if value is not None})

        return replace(
            self,
            rows=tuple(map(with_evidence, self.rows)),
            kinds=tuple(one.kind for one in sets),
            server_model=tuple(one.server_model for one in sets if one.server_model is not None),
            remarks=tuple(remark for one in sets for remark in one.remarks),
        )

    def best(self) -> tuple[Row, ...]:
        """For every bounded quantity the first row that is certainly informative.

        Refuted bounds are left out, and so are those that evidence contradicts in any quantity.
        """
        wrong = {row.bound for row in self.exceeded}
        sound = [r for r in self._in(State.INFORMATIVE) if r.conclusive and not r.refuted and r.bound not in wrong]
        return tuple(next(group) for _, group in groupby(sound, key=lambda row: row.quantity))

    @property
    def exceeded(self) -> tuple[Row, ...]:
        """Rows that evidence exceeds (measured values: significantly): the theorem is false, or a check is wrong."""
        return tuple(row for row in self.rows if self._exceeding(row))

    def _exceeding(self, row: Row) -> tuple[EvidenceKind, ...]:
        """The kinds of evidence that contradict a row; never the surrogate, which is another federation.

        All rows that are compared with measurements share one error rate.
        """
        together = max(1, sum(EvidenceKind.MEASURED in row.evidence for row in self.rows))
        if row.state not in RANKED or not row.conclusive:
            return ()
        exceeding = (kind for kind, one in row.evidence.items() if one.exceeds(row.high, together))
        return tuple(kind for kind in exceeding if kind != EvidenceKind.SURROGATE)

    @property
    def unknown_start(self) -> str:
        """The quantity that is the target's value before training, if it is unknown; else an empty string."""
        return "" if math.isfinite(self.trivial[1]) else START_VALUES.get(self.target, "")

    def other_pair(self, row: Row) -> str:
        """The dissimilarity constants of a row as arguments, if they are other admissible ones than the given ones."""
        pair = {word: x for word, x in row.values.items() if role_of(word) == Role.PAIR and word in self.scenario}
        if all(value == self.scenario[word].safe for word, value in pair.items()):
            return ""
        return " ".join(f"{word}={number(value)}" for word, value in pair.items())

    @property
    def _winners(self) -> list[str]:
        return [f"{row.bound}: at most {number(row.high, FEW)} ({row.quantity})" for row in self.best()]

    @property
    def conclusion(self) -> str:
        """The conclusion of the comparison in one sentence."""
        if winners := self._winners:
            return f"Informative: {'; '.join(winners)}."
        if not self.shown() and (lacking := self._in(State.MISSING)):
            return _what_to_add(lacking)
        if self.unknown_start and self.shown():
            return f"Undecided what is informative: add {self.unknown_start}=NUMBER, the value before training."
        exceeded = {row.bound for row in self.exceeded}
        reasons: dict[str, dict[str, None]] = {}
        for row in self._in(State.INFORMATIVE):
            why = ("but the audit refuted it as printed" if row.refuted
                   else "but the evidence contradicts it" if row.bound in exceeded
                   else "if its lower estimates were the constants")  # fmt: skip
            reasons.setdefault(why, {})[row.bound] = None
        more = "".join(f"; {', '.join(names)} would be, {why}" for why, names in sorted(reasons.items()))
        return f"No theorem is informative here{more}."

    def shown(self) -> list[Row]:
        return [row for row in self.rows if row.state in RANKED]

    def _in(self, state: State) -> list[Row]:
        return [row for row in self.rows if row.state == state]

    def columns(self) -> Columns:
        def ratio(kind: EvidenceKind, row: Row) -> str:
            return digits3(row.over(kind))

        def rounds(row: Row) -> str:
            return rounded_up(row.minimum_rounds.rounds) if row.minimum_rounds else "-"

        return {
            "bound": lambda row: with_aliases(row.bound, row.alias),
            "quantity": lambda row: str(row.quantity),
            "via": lambda row: " ".join(row.conversions) or "-",
            "from": lambda row: digits3(row.low),
            "to": lambda row: digits3(row.high) + "*" * bool(self.other_pair(row)),
            "x premises" if self.unknown_start else "x start": lambda row: digits3(row.over_trivial),
            **{f"x {kind}": partial(ratio, kind) for kind in self.kinds},
            **({"min rounds": rounds} if any(row.minimum_rounds is not None for row in self.rows) else {}),
            "largest term": lambda row: "{} {:.0%}".format(*row.largest) if row.largest[0] else "-",
            "state": lambda row: row.state + "?" * (not row.conclusive) + " (refuted)" * row.refuted,
        }

    def table(self) -> Iterator[str]:
        """The table in text, with the bounded quantities as headings."""
        columns = {head: cell for head, cell in self.columns().items() if head != "quantity"}
        head, *body = aligned([[cell(row) for cell in columns.values()] for row in self.shown()], list(columns), gap=2)
        if body:
            yield f"  {head}"
        for quantity, group in groupby(zip(self.shown(), body, strict=True), key=lambda pair: pair[0].quantity):
            yield str(quantity)
            yield from (f"  {line}" for _, line in group)

    def before(self) -> Iterator[str]:
        s = self.scenario

        def of(word: str) -> str:
            return number(s[word].value, FEW) if word in s else "?"

        everyone = number_of(s, "clients") == number_of(s, "cohort")
        run = f"{of('rounds')} rounds of {of('local_steps')} step{'s' * (of('local_steps') != '1')}"
        run += f" ({of('runtime')} s)" if "runtime" in s else ""

        def interval(stated: ScenarioValue) -> str:
            if stated.certain or np.ndim(stated.value):
                return number(float(np.max(stated.value)), FEW)
            return f"[{number(stated.low, FEW)}, {number(stated.high, FEW)}]"

        constants = " ".join(f"{symbol} {interval(s[word])}" for symbol, word in SYMBOLS.items() if word in s)
        plan = f"{of('clients')} clients, {'all' if everyone else of('cohort')} per round, {run}, {s.method}"
        yield f"{plan}, step size {of('step_size')}. {constants}".rstrip()
        premises, start = (number(x, FEW) if math.isfinite(x) else "unknown" for x in self.trivial)
        add = f" (add {self.unknown_start}=NUMBER)" if self.unknown_start else ""
        yield f"{self.target}; without a theorem: {premises} from the premises, {start} before training{add}"

    def after(self) -> Iterator[str]:
        shown, single = self.shown(), len(self.of) == 1
        used = {name for row in shown for name in row.conversions}
        if meanings := [f"{name} {meaning}" for name, meaning in MEANING.items() if name in used]:
            yield f"via: {'; '.join(meanings)}"
        others = ((row.bound, pair) for row in shown if (pair := self.other_pair(row)))
        yield from section(
            "* with these constants of dissimilarity, which hold here too, not with the given ones", others
        )
        if self.server_model:
            head = ("server model", "min over rounds", "mean over rounds", "last", "f-gap")
            yield from aligned([[run.label, *map(_reading, run[1:])] for run in self.server_model], head, gap=2)
        for kind in self.kinds:
            compared = [(row.bound, row.evidence[kind]) for row in shown if kind in row.evidence]
            via = {name: f"by {one.via} a lower estimate: the minimum at the server is larger"
                   for name, one in compared if one.via}  # fmt: skip
            what = ((name, one.what) for name, one in compared if kind in (EvidenceKind.EXACT, EvidenceKind.WORST))
            yield from section(f"x {kind}", (*what, *via.items()))
        yield from self.remarks
        if single:
            yield from details(self.rows)
        else:
            yield from section("conditions not met", ((row.bound, reason(row)) for row in self._in(State.NOT_MET)))
        yield from section("up to a constant: slopes can be compared, levels cannot",
                           ((row.bound, "") for row in self._in(State.ORDER)))  # fmt: skip
        yield from section("about another quantity", ((row.bound, row.why) for row in self._in(State.OTHER)))
        add = ((row.bound, row.why if single else f"add {numbers_of(row)}") for row in self._in(State.MISSING))
        yield from section("missing values", add)
        if not single:
            yield from section("assumed without check", ((r.bound, words) for r in shown for words in r.assumed))
        if self.formulas:
            yield "what the papers' formulas recommend here"
            yield from (f"  {line}" for line in aligned(map(_formula, self.formulas), gap=2))
        if words := sorted({word for row in shown for word in row.lower_estimates}):
            yield (f"{', '.join(words)}: only lower estimates are known, and so are the bounds: vacuous "
                   "is certain, informative is not")  # fmt: skip
        for row, kind in [(each, kind) for each in self.exceeded for kind in self._exceeding(each)]:
            one = row.evidence[kind]
            error = f" ± {number(one.error, 1)} ({one.seeds} seeds)" if one.seeds else ""
            known = "; the audit has refuted it as printed" if row.refuted else ""
            assumed = f"; assumed: {', '.join(row.assumed)}" if row.assumed else ""
            yield (f"EXCEEDED: {row.bound} gives at most {number(row.high, FEW)} for {row.quantity}; "
                   f"{kind}: {number(one.value, FEW)}{error}{known}{assumed}")  # fmt: skip
        if self.how:
            yield "every quantity: value; provenance: source"
            yield from (f"  {self.scenario.how(word)}" for word in sorted(self.scenario))
            constants = {row.bound: [f"{word} = {x:.6g} ({row.how[word]})" for word, x in row.values.items()
                                     if role_of(word) in (Role.PAIR, Role.FREE)] for row in self.rows}  # fmt: skip
            pairs = ((name, "; ".join(each)) for name, each in constants.items() if each)
            yield from section("chosen, the best that hold", pairs)
        yield from ["Informative:", *(f"  {one}" for one in self._winners)] if self.best() else [self.conclusion]

    def as_json(self) -> dict[str, Any]:
        """The object that ``fedbounds compare --json`` prints."""
        keys = ("value", "low", "high", "provenance", "how")
        data: dict[str, Any] = plain(
            {
                "target": self.target,
                "method": self.scenario.method,
                "trivial": dict(zip(("premises", "start"), self.trivial, strict=True)),
                "conclusion": self.conclusion,
                "scenario": {word: {key: getattr(s, key) for key in keys} for word, s in self.scenario.items()},
                "rows": [row.as_json() for row in self.rows],
                "server_model": [one._asdict() for one in self.server_model],
                "remarks": list(self.remarks),
                "formulas": [one._asdict() for one in self.formulas],
                "exceeded": [{"bound": row.bound, "class": str(row.quantity), "by": self._exceeding(row)}
                             for row in self.exceeded],
            }
        )  # fmt: skip
        return data

    def records(self) -> list[dict[str, Any]]:
        """One dictionary per row with a number or text per column; lists are joined."""
        records = []
        for row in self.rows:
            data = row.as_json() | {"failed": tuple(one.condition for one in row.failed)}
            cells = {key: "; ".join(x) if isinstance(x, tuple) else x for key, x in data.items()}
            records.append({**data["class"], **{key: x for key, x in cells.items() if not isinstance(x, dict)}})
        return records


def details(rows: Iterable[Row]) -> Iterator[str]:
    """Lines on every bound: state, conditions (both sides if they fail), assumptions, and minimum rounds."""
    first: dict[str, Row] = {}
    for row in rows:
        if row.state in (*RANKED, State.NOT_MET):
            first.setdefault(row.bound, row)
    for row in first.values():
        yield f"{with_aliases(row.bound, row.alias)}: {row.state}; {row.source}"
        yield from (f"  met: {words}" for words in row.met)
        yield from (f"  NOT met: {one}" for one in row.failed)
        yield from (f"  assumed: {words}" for words in row.assumed)
        if (minimum := row.minimum_rounds) is not None:
            plan = f"K = {minimum.local_steps}, step size {number(minimum.step_size, FEW)}, cohort {minimum.cohort:g}"
            yield (f"  informative from R = {rounded_up(minimum.rounds)} with {plan}" if math.isfinite(minimum.rounds)
                   else "  informative at no plan within reach")  # fmt: skip


def reason(row: Row) -> str:
    """The first failed condition with both sides, and the others in words."""
    if not row.failed:
        return "it has no value here"
    first, *others = row.failed
    return "; ".join([str(first), *(one.condition for one in others)])


def rounded_up(rounds: float) -> str:
    """A number of rounds with two digits, rounded up: 25, 700, 1.3e4."""
    if not math.isfinite(rounds):
        return "never"
    unit = 10 ** max(math.floor(math.log10(max(rounds, 1))) - 1, 0)
    enough = math.ceil(rounds / unit) * unit
    if enough < 1000:
        return str(enough)
    digits, _, exponent = f"{enough:.1e}".partition("e")
    return f"{float(digits):g}e{int(exponent)}"


def _what_to_add(lacking: Sequence[Row]) -> str:
    """A sentence with quantities, preferably of the plan, that would give most theorems a value, and these."""
    by_names: dict[tuple[str, ...], dict[str, None]] = {}
    for row in lacking:
        by_names.setdefault(tuple(sorted(row.missing)), {})[row.bound] = None

    def effort(names: tuple[str, ...]) -> tuple[int, int, int, int]:
        outcomes = sum(name in QUANTITIES and role_of(name) == Role.OUTCOME for name in names)
        return outcomes, len({*names} - {*UNIT_PLAN}), -len(by_names[names]), len(names)

    bounds = by_names[min(by_names, key=effort)]
    lacks = next(row for row in lacking if row.bound in bounds)
    return f"Values are missing: add {numbers_of(lacks)} to evaluate {abridged(bounds)}."


def _reading(read: tuple[float, float] | None) -> str:
    if read is None or math.isnan(read[0]):
        return "-"
    return digits3(read[0]) + (f" ± {number(read[1], 1)}" if read[1] else "")


def _formula(one: FormulaValue) -> list[str]:
    ends = "" if math.isclose(one.low, one.high, rel_tol=1e-6) else f"[{one.low:.{FEW}g}, {one.high:.{FEW}g}]"
    printed = "as printed" if one.printed else "derived"
    return [one.formula, f"{one.quantity} {number(one.value, FEW)}", ends, printed, one.source]
