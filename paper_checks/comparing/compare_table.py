"""The table of a comparison, as people and programs read it: text, HTML, JSON, a data frame."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from html import escape
from itertools import chain, groupby, product
from string import ascii_lowercase
from typing import Any

import numpy as np

from bounds.classes import MEANING
from bounds.scenario import Scenario
from bounds.showing.latex_tables import booktabs
from bounds.showing.notebook import card
from bounds.showing.tables import aligned, number, plain
from bounds.showing.tabular import Tabular

from .compare_rows import (
    Beside,
    EXACT,
    MEASURED,
    MISSING,
    ORDER,
    Price,
    RANKED,
    Recommended,
    Row,
    SPEAKS,
    UNLIKE,
    WORST,
)
from .compare_sections import (
    beside_lines,
    by_reason,
    details,
    FEW,
    flat,
    formula_lines,
    html_row,
    power,
    section,
    silent,
    tails,
    three,
    together,
    trusted,
)

COMPARE_JSON = """\
--json prints one object: target, method, trivial (class, here), conclusion, scenario (by word: value, low, high,
provenance, how), rows, beside (label; least, mean, last, gap at the server model: number and standard error, or null),
remarks, recommended (formula, word, value, low, high, printed, source), first_to_speak (a sentence) and exceeded
(bound, class, by). A row has bound, alias, class (target, statistic, over, at, algorithm, reading, weights),
state (speaks, of the class, vacuous, silent, order, unlike, missing), conclusive, conversions, factor, value, low,
high, failed (words,
left, right, margin), met, trusted, trivial, over_trivial, terms, values, provenance, how, floor, why, audit, source;
over_exact, over_twin, over_worst_case and over_measured are high over that evidence, null where there is none;
evidence (by kind: value, what, error, seeds, via, above: the class's own number is at most that value); price (rounds,
at local_steps, step_size, cohort), null unless asked for. NaN is null, infinity is "inf" or "-inf"."""
MEANT = {
    "grad_norm_sq": "squared gradient norm",
    "optimality_gap": "loss above its smallest value",
    "divergence": "divergence of the clients' models",
    "distance_sq": "squared distance to the minimiser",
}
UP_TO = "up to a constant: slopes can be compared, levels cannot"
BEFORE, AFTER = ("bound", "via", "from", "to", "x here"), ("largest", "state")
PAPERS = {"fedals": "FedALS", "fedinit": "FedInit", "decaying_k": "Decaying-K", "fedcog": "FedCOG"}
"""What papers are called in a sentence."""
ADVICE = "no theorem says anything here"


@dataclass(frozen=True, eq=False)
class Compared(Tabular):
    """The rows of a comparison, those of one class together, the smallest safe end first; and what is known anyway.

    ``trivial`` is (from the premises of the theorems alone, at the start of this federation). ``of`` are the papers or
    bounds that alone are meant.
    """

    target: str
    scenario: Scenario
    rows: tuple[Row, ...]
    trivial: tuple[float, float]
    of: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    beside: tuple[Beside, ...] = ()
    remarks: tuple[str, ...] = ()
    recommended: tuple[Recommended, ...] = ()

    # ---- what it says ----

    def best(self) -> tuple[Row, ...]:
        """The first row of every class that speaks for certain, of bounds neither refuted by the audit nor exceeded.

        A bound that is exceeded in one class is wrong in all of them.
        """
        wrong = {r.bound for r in self.exceeded}
        certain = [r for r in self.rows if r.state == SPEAKS and r.conclusive and not r.printed]
        sound = [r for r in certain if r.bound not in wrong]
        return tuple(next(group) for _, group in groupby(sound, key=lambda r: r.kind))

    @property
    def exceeded(self) -> tuple[Row, ...]:
        """Rows that something exact, or measured beyond its error, exceeds: a violated theorem, or a broken check."""
        return tuple(row for row in self.rows if row.exceeded_by(self._together))

    @property
    def _together(self) -> int:
        """How many rows stand beside something measured: they share one error rate."""
        return max(1, sum(MEASURED in row.evidence for row in self.rows))

    @property
    def first_to_speak(self) -> str:
        """One sentence: by paper, the least rounds at which a sound statement of it would speak."""
        clients, cohort = (float(self.scenario[w].value) if w in self.scenario else math.nan
                           for w in ("clients", "cohort"))  # fmt: skip
        prices: dict[str, Price] = {}
        for row in self.rows:
            paper = row.bound.partition(".")[0]
            if row.price is not None and not row.printed and math.isfinite(row.price.rounds):
                prices[paper] = min(prices.get(paper, row.price), row.price)
        told = [
            f"{PAPERS.get(paper, paper)} {'at R = ' if first else ''}{power(one.rounds)}"
            + (f" (all {clients:g} take part)" if one.cohort == clients != cohort else "")
            for first, (paper, one) in zip(
                (True, *(False for _ in prices)), sorted(prices.items(), key=lambda p: p[1].rounds), strict=False
            )
        ]
        return f"First to speak: {', '.join(told)}." if told else ""

    @property
    def conclusion(self) -> str:
        """One sentence, from the rows."""
        best = self.best()
        if best:
            said = "; ".join(f"{r.bound}: at most {number(r.high, FEW)} ({r.kind})" for r in best)
            return f"What speaks: {said}."
        printed = [r.bound for r in self.rows if r.state == SPEAKS and r.printed]
        exceeded = {r.bound for r in self.exceeded}
        speaking = [r.bound for r in self.rows if r.state == SPEAKS and not r.printed]
        wrong = [name for name in dict.fromkeys(speaking) if name in exceeded]
        doubted = [r.bound for r in self.rows if r.state == SPEAKS and not r.printed and r.bound not in wrong]
        more = f"; {', '.join(printed)} would, but the audit refuted it as printed" if printed else ""
        more += f"; {', '.join(wrong)} would, but it is exceeded" if wrong else ""
        more += f"; {', '.join(doubted)} would, if its lower estimates were the constants" if doubted else ""
        return f"{ADVICE[0].upper()}{ADVICE[1:]}{more}."

    # ---- as text ----

    def lines(self) -> Iterator[str]:
        """The table in lines of text."""
        yield self._federation()
        yield self._known_anyway()
        ranked = [r for r in self.rows if r.state in RANKED]
        yield from self._ranked(ranked)
        yield from self._via(ranked)
        yield from beside_lines(self.beside)
        yield from self._of_evidence(ranked)
        if len(self.of) == 1:
            yield from details(self.rows)
        else:
            yield from section("silent", silent(self.rows))
        orders = [row.bound for row in self.rows if row.state == ORDER]
        yield from section(UP_TO, [[together(orders)]] * bool(orders))
        yield from section("about another number", by_reason(self.rows, UNLIKE))
        yield from section("lacking words", by_reason(self.rows, MISSING))
        if len(self.of) != 1:
            yield from section("not decided, and taken on trust", trusted(ranked))
        yield from section("what the papers' formulas recommend here", formula_lines(self.recommended))
        yield from self._floors()
        yield from self._prices()
        yield from self._exceeding()
        yield self.conclusion

    def _ranked(self, ranked: list[Row]) -> Iterator[str]:
        """The rows that have a number, by class, those that are printed and refuted apart."""
        body: list[list[str]] = []
        titles: dict[int, str] = {}
        for kind, group in groupby(ranked, key=lambda r: r.kind):
            titles[len(body)] = str(kind)
            for printed, part in groupby(group, key=lambda r: r.printed):
                if printed:
                    titles[len(body)] = "\n".join(
                        filter(None, (titles.get(len(body)), "  as printed; refuted by the audit"))
                    )
                body += [self._cells(row) for row in part]
        if body:
            head, *shown = aligned(body, self.head, gap=2)
            yield f"  {head}"
            for i, line in enumerate(shown):
                if i in titles:
                    yield titles[i]
                yield f"  {line}"

    @staticmethod
    def _via(ranked: list[Row]) -> Iterator[str]:
        """What the conversions say that led to these classes."""
        used = {name for row in ranked for name in row.conversions}
        if told := [f"{name} {meaning}" for name, meaning in MEANING.items() if name in used]:
            yield f"via: {'; '.join(told)}"

    @property
    def head(self) -> tuple[str, ...]:
        """The columns: those of evidence where something of the kind was asked for."""
        prices = any(row.price is not None for row in self.rows)
        return (*BEFORE, *(f"x {kind}" for kind in self.kinds), *(("price",) if prices else ()), *AFTER)

    def _cells(self, row: Row, mark: str = "", led: bool = True) -> list[str]:
        """The cells of a row; its evidence without letters where no lines below are ``led`` to."""
        name, share = row.largest
        alias = f" = {', '.join(tails(row.alias))}" if row.alias else ""
        numbers = [row.low, row.high, row.over_trivial]
        price = [power(row.price.rounds) if row.price is not None else "-"] if "price" in self.head else []
        cells = [*map(three, numbers), *(self._beside(row, kind, led) for kind in self.kinds)]
        state = row.state + ("" if row.conclusive else "?") + mark
        return [row.bound + alias, " ".join(row.conversions) or "-", *cells, *price,
                f"{name} {share:.0%}" if name else "-", state]  # fmt: skip

    @cached_property
    def _marks(self) -> dict[str, dict[str, str]]:
        """By kind what stands beside rows, with the letter that its rows carry where there are several."""
        found = {}
        for kind in self.kinds:
            ranked = (row for row in self.rows if row.state in RANKED and kind in row.evidence)
            told = dict.fromkeys(row.evidence[kind].what for row in ranked if kind in (EXACT, WORST))
            letters = map("".join, chain.from_iterable(product(ascii_lowercase, repeat=n) for n in (1, 2)))
            found[kind] = dict(zip(told, letters, strict=False)) if len(told) > 1 else dict.fromkeys(told, "")
        return found

    def _beside(self, row: Row, kind: str, led: bool) -> str:
        """The cell of a row in a column of evidence."""
        mark = self._marks[kind].get(row.evidence[kind].what, "") if led and kind in row.evidence else ""
        return f"{three(row.over(kind))} {mark}".rstrip()

    def _of_evidence(self, ranked: list[Row]) -> Iterator[str]:
        """What stands in the columns of evidence, and what could not be had."""
        for kind in self.kinds:
            yield from (f"x {kind}{f' {mark}' if mark else ''}: {what}" for what, mark in self._marks[kind].items())
        evidence = [one for row in ranked for one in row.evidence.values()]
        if above := dict.fromkeys(one.via for one in evidence if one.via):
            kinds = {k for row in ranked for k, one in row.evidence.items() if one.via}
            columns = ", ".join(f"x {kind}" for kind in self.kinds if kind in kinds)
            yield f"{columns}, by {', '.join(above)}: at least so much, for the server's least is above"
        yield from self.remarks

    def _prices(self) -> Iterator[str]:
        if self.first_to_speak and not self.best():
            yield self.first_to_speak

    def _exceeding(self) -> Iterator[str]:
        for row in self.exceeded:
            for kind in row.exceeded_by(self._together):
                one = row.evidence[kind]
                error = f" ± {number(one.error, 1)} ({one.seeds} seeds)" if one.seeds else ""
                known = "; the audit has refuted it as printed" if row.printed else ""
                trust = f"; taken on trust: {', '.join(row.trusted)}" if row.trusted else ""
                yield (
                    f"EXCEEDED: {row.bound} says at most {number(row.high, FEW)} for {row.kind}, and {kind} is "
                    f"{number(one.value, FEW)}{error}{known}{trust}"
                )

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
        run = f"{of('rounds')} rounds of {of('local_steps')} step{'s' * (of('local_steps') != '1')}"
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
                "beside": [one._asdict() for one in self.beside],
                "remarks": list(self.remarks),
                "recommended": [one.as_json() for one in self.recommended],
                "first_to_speak": self.first_to_speak,
                "exceeded": [
                    {"bound": row.bound, "class": str(row.kind), "by": list(row.exceeded_by(self._together))}
                    for row in self.exceeded
                ],
            }
        )
        return found

    def records(self) -> list[dict[str, Any]]:
        return [flat(row) for row in self.rows]

    def to_latex(self) -> str:
        """The rows that have a number as a ``tabular`` for booktabs, the class of each in its second column."""
        head = ("bound", "class", *self.head[1:])
        body = []
        for row in self.rows:
            if row.state in RANKED:
                first, *others = self._cells(row, " (as printed; refuted)" if row.printed else "", led=False)
                body.append([first, str(row.kind), *others])
        words = len(BEFORE[:2]) + 1
        return "\n".join(booktabs(head, body, "l" * words + "r" * (len(head) - words - len(AFTER)) + "ll")) + "\n"

    def _repr_html_(self) -> str:
        parts = [f"<p>{escape(self._federation())}<br>{escape(self._known_anyway())}</p>", "<table>"]
        parts.append(html_row("th", self.head))
        ranked = [r for r in self.rows if r.state in RANKED]
        for kind, group in groupby(ranked, key=lambda r: r.kind):
            parts.append(f'<tr><th colspan="{len(self.head)}">{escape(str(kind))}</th></tr>')
            marked = ((row, " (as printed; refuted)" if row.printed else "") for row in group)
            parts += [html_row("td", self._cells(row, mark)) for row, mark in marked]
        parts.append("</table>")
        under = [*beside_lines(self.beside), *self._of_evidence(ranked)]
        parts += [f"<pre>{escape(chr(10).join(under))}</pre>"] if under else []
        lines = [f"<li>{escape(' '.join(line))}</li>" for line in silent(self.rows)]
        parts += ["<p>silent</p><ul>", *lines, "</ul>"] if lines else []
        last = [*self._prices(), *self._exceeding(), self.conclusion]
        return card(*parts, f"<p>{escape(' '.join(last))}</p>")


LETTERS = (("L", "smoothness"), ("mu", "strong_convexity"), ("D", "initial_gap"), ("sigma^2", "gradient_variance"),
           ("G^2", "grad_cap_sq"))  # fmt: skip


def _interval(stated: Any) -> str:
    if stated.certain or np.ndim(stated.value):
        return number(float(np.max(stated.value)), FEW)
    return f"[{number(stated.low, FEW)}, {number(stated.high, FEW)}]"
