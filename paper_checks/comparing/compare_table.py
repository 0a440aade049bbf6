"""The table of a comparison, as people and programs read it: text, HTML, JSON, a data frame."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from itertools import groupby
from typing import Any

import numpy as np

from bounds.scenario import Scenario
from bounds.showing.tables import aligned, number, plain
from bounds.showing.tabular import Tabular

from .compare_rows import MISSING, ORDER, RANKED, Row, SILENT, SPEAKS, UNLIKE

COMPARE_JSON = """\
--json prints one object: target, method, trivial (class, here), conclusion, scenario (by word: value, low, high,
provenance, how) and rows. A row has bound, alias, class (target, statistic, over, at, algorithm, reading), state
(speaks, of the class, vacuous, silent, order, unlike, missing), conclusive, conversions, factor, value, low, high,
failed (words, left, right, margin), trusted, trivial, over_trivial, terms, values, provenance, how, floor, why,
audit, source; over_exact, over_twin, over_measured and price are null where nothing of the kind was computed.
NaN is null, infinity is "inf" or "-inf"."""
MEANT = {
    "grad_norm_sq": "squared gradient norm",
    "optimality_gap": "loss above its smallest value",
    "divergence": "divergence of the clients' models",
    "distance_sq": "squared distance to the minimiser",
}
UP_TO = "up to a constant: slopes can be compared, levels cannot"
HEAD = ("bound", "via", "from", "to", "x here", "largest", "state")
FEW = 3
"""Digits of a number in the table."""
ADVICE = "no theorem says anything here"


@dataclass(frozen=True, eq=False)
class Compared(Tabular):
    """The rows of a comparison, those of one class together, the smallest safe end first; and what is known anyway.

    ``trivial`` is (from the premises of the theorems alone, at the start of this federation).
    """

    target: str
    scenario: Scenario
    rows: tuple[Row, ...]
    trivial: tuple[float, float]

    # ---- what it says ----

    def best(self) -> tuple[Row, ...]:
        """The first row of every class that speaks for certain; a statement that the audit refuted never is one."""
        sound = [r for r in self.rows if r.state == SPEAKS and r.conclusive and not r.printed]
        return tuple(next(group) for _, group in groupby(sound, key=lambda r: r.kind))

    @property
    def exceeded(self) -> tuple[Row, ...]:
        """Rows that something exact or measured exceeds: a violated theorem, or a broken check. Nothing is, so far."""
        return ()

    @property
    def conclusion(self) -> str:
        """One sentence, from the rows."""
        best = self.best()
        if best:
            said = "; ".join(f"{r.bound}: at most {number(r.high, FEW)} ({r.kind})" for r in best)
            return f"What speaks: {said}."
        printed = [r.bound for r in self.rows if r.state == SPEAKS and r.printed]
        doubted = [r.bound for r in self.rows if r.state == SPEAKS and not r.printed]
        more = f"; {', '.join(printed)} would, but the audit refuted it as printed" if printed else ""
        more += f"; {', '.join(doubted)} would, if its lower estimates were the constants" if doubted else ""
        return f"{ADVICE[0].upper()}{ADVICE[1:]}{more}."

    # ---- as text ----

    def lines(self) -> Iterator[str]:
        """The table in lines of text."""
        yield self._federation()
        yield self._known_anyway()
        ranked = [r for r in self.rows if r.state in RANKED]
        body: list[list[str]] = []
        titles: dict[int, str] = {}
        for kind, group in groupby(ranked, key=lambda r: r.kind):
            titles[len(body)] = str(kind)
            for printed, part in groupby(group, key=lambda r: r.printed):
                if printed:
                    titles[len(body)] = "\n".join(
                        filter(None, (titles.get(len(body)), "  as printed; refuted by the audit"))
                    )
                body += [_cells(row) for row in part]
        if body:
            head, *shown = aligned(body, HEAD, gap=2)
            yield f"  {head}"
            for i, line in enumerate(shown):
                if i in titles:
                    yield titles[i]
                yield f"  {line}"
        yield from _section("silent", _silent(self.rows))
        orders = [row.bound for row in self.rows if row.state == ORDER]
        yield from _section(
            "up to a constant: slopes can be compared, levels cannot", [[_together(orders)]] * bool(orders)
        )
        yield from _section("about another number", _by_reason(self.rows, UNLIKE))
        yield from _section("lacking words", _by_reason(self.rows, MISSING))
        yield from _section("not decided, and taken on trust", _trusted(ranked))
        yield from self._floors()
        yield self.conclusion

    def __str__(self) -> str:
        return "\n".join(self.lines())

    __repr__ = __str__

    def _federation(self) -> str:
        """Who trains how long, and the constants, in one line."""
        s = self.scenario

        def of(word: str) -> str:
            return number(s[word].value, FEW) if word in s else "?"

        everyone = {"clients", "cohort"} <= s.keys() and s["clients"].value == s["cohort"].value
        who = f"{of('clients')} clients, {'all' if everyone else of('cohort')} a round"
        run = f"{of('rounds')} rounds of {of('local_steps')} steps"
        run += f" ({of('runtime')} s)" if "runtime" in s else ""
        constants = [f"{letter} {_interval(s[word])}" for letter, word in LETTERS if word in s]
        return f"{who}, {run}, {s.method}, step size {of('step_size')}. {' '.join(constants)}"

    def _known_anyway(self) -> str:
        of_class, here = (number(x, FEW) if math.isfinite(x) else "not known" for x in self.trivial)
        return (
            f"{MEANT.get(self.target, self.target)}; without a theorem: {of_class} by its premises, {here} at the start"
        )

    def _floors(self) -> Iterator[str]:
        if words := sorted({word for row in self.rows if row.state in RANKED for word in row.floor}):
            yield (
                f"{', '.join(words)}: no safe end is known, so these rows say at least so much: vacuous is certain, "
                "speaks is not"
            )

    # ---- for programs ----

    def as_json(self) -> dict[str, Any]:
        """The object that ``fedbounds compare --json`` prints."""
        stated = {
            word: {"value": s.value, "low": s.low, "high": s.high, "provenance": s.provenance, "how": s.how}
            for word, s in self.scenario.items()
        }
        found: dict[str, Any] = plain(
            {
                "target": self.target,
                "method": self.scenario.method,
                "trivial": dict(zip(("class", "here"), self.trivial, strict=True)),
                "conclusion": self.conclusion,
                "scenario": stated,
                "rows": [row.as_json() for row in self.rows],
            }
        )
        return found

    def records(self) -> list[dict[str, Any]]:
        return [_flat(row) for row in self.rows]

    def _repr_html_(self) -> str:
        parts = [f"<p>{escape(self._federation())}<br>{escape(self._known_anyway())}</p>", "<table>"]
        parts.append(_html_row("th", HEAD))
        for kind, group in groupby((r for r in self.rows if r.state in RANKED), key=lambda r: r.kind):
            parts.append(f'<tr><th colspan="{len(HEAD)}" style="text-align:left">{escape(str(kind))}</th></tr>')
            parts += [_html_row("td", _cells(row, " (as printed; refuted)" if row.printed else "")) for row in group]
        parts.append("</table>")
        silent = [f"<li>{escape(' '.join(line))}</li>" for line in _silent(self.rows)]
        parts += ["<p>silent</p><ul>", *silent, "</ul>"] if silent else []
        return "".join([*parts, f"<p>{escape(self.conclusion)}</p>"])


LETTERS = (("L", "smoothness"), ("mu", "strong_convexity"), ("D", "initial_gap"), ("sigma^2", "gradient_variance"),
           ("G^2", "grad_cap_sq"))  # fmt: skip


def _interval(stated: Any) -> str:
    if stated.certain or np.ndim(stated.value):
        return number(float(np.max(stated.value)), FEW)
    return f"[{number(stated.low, FEW)}, {number(stated.high, FEW)}]"


# ---- pieces ----


def _cells(row: Row, mark: str = "") -> list[str]:
    name, share = row.largest
    largest = f"{name} {share:.0%}" if name else "-"
    alias = f" = {', '.join(_tails(row.alias))}" if row.alias else ""
    certain = "" if row.conclusive else "?"
    numbers = [number(x, FEW) if not math.isnan(x) else "-" for x in (row.low, row.high, row.over_trivial)]
    return [row.bound + alias, " ".join(row.conversions) or "-", *numbers, largest, row.state + certain + mark]


def _tails(names: Iterable[str]) -> list[str]:
    return [name.partition(".")[2] or name for name in names]


def _section(title: str, rows: Iterable[list[str]]) -> Iterator[str]:
    if table := list(rows):
        yield title
        yield from (f"  {line}" for line in aligned(table, gap=2))


def _silent(rows: Iterable[Row]) -> list[list[str]]:
    """Names that fail for the same reasons in one line: the first condition with both sides, then how many others."""
    by_reason: dict[str, list[str]] = {}
    for row in rows:
        if row.state == SILENT:
            by_reason.setdefault(_reason(row), []).append(row.bound)
    return [[_together(names), why] for why, names in by_reason.items()]


def _reason(row: Row) -> str:
    if not row.failed:
        return "it has no value here"
    first, *others = row.failed
    said = first.words
    if not math.isnan(first.left):
        sign = ">" if first.left > first.right else "<"
        said += f": {number(first.left, FEW)} {sign} {number(first.right, FEW)}"
    counted = sum(not math.isnan(f.left) for f in others)
    named = [f.words for f in others if math.isnan(f.left)]
    return "; ".join([said, *([f"+{counted}"] if counted else []), *named])


def _together(names: list[str]) -> str:
    """``fedcog.theorem, corollary``: what belongs to one paper is named once."""
    said = []
    for paper, group in groupby(names, key=lambda name: name.partition(".")[0]):
        first, *others = group
        said.append(", ".join([first, *(name.removeprefix(f"{paper}.") for name in others)]))
    return ", ".join(said)


def _by_reason(rows: Iterable[Row], state: str) -> list[list[str]]:
    by_why: dict[str, list[str]] = {}
    for row in rows:
        if row.state == state:
            by_why.setdefault(row.why, []).append(row.bound)
    return [[_together(names), why] for why, names in by_why.items()]


def _trusted(rows: Iterable[Row]) -> list[list[str]]:
    by_words: dict[str, list[str]] = {}
    for row in rows:
        for words in row.trusted:
            names = by_words.setdefault(words, [])
            names += [row.bound] if row.bound not in names else []
    return [[_together(names), words] for words, names in by_words.items()]


def _flat(row: Row) -> dict[str, Any]:
    """A row with one number or word to a column."""
    found = row.as_json()
    nested = {f"trivial_{name}": x for name, x in found.pop("trivial").items()}
    kind = {name: word for name, word in found.pop("class").items()}
    joined = {
        name: "; ".join(item["words"] if isinstance(item, dict) else str(item) for item in value)
        for name, value in found.items()
        if isinstance(value, list)
    }
    simple = {name: value for name, value in found.items() if not isinstance(value, (list, dict))}
    return {**kind, **simple, **nested, **joined}


def _html_row(tag: str, cells: Iterable[str]) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"
