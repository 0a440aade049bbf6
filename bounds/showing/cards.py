"""Display a bound: terminal card, LaTeX, notebook card and JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

import sympy as sp

from ..operators import ClientMean, ClientSum
from ..quantities import quantities_of, Quantity
from ..statement import Condition, Statement
from ..vocabulary import client_weight
from . import printing
from .notebook import card, formula
from .prose import typeset
from .tables import aligned, number, plain
from .unicode_letters import in_unicode

RELATION_WORDS = {"<=": "", "=": "", ">=": "", "<~": "up to a constant: rates can be compared, values cannot"}
RELATION_SIGNS = {"<=": "≤", "=": "=", ">=": "≥", "<~": "≲"}
RELATION_LATEX = {"<=": r"\leq", "=": "=", ">=": r"\geq", "<~": r"\lesssim"}
KINDS = {"numeric": "checked from the numbers", "assumption": "assumed", "words": "assumed"}
SHOW_JSON = """\
--json prints one object: name, paper, source, relation, target, statistic, about, terms and where (each string and
latex), conditions (words, kind, relation), quantities (name, letter, meaning, unit, domain, per_client, axis), given,
latex, note."""
WIDE = 72
"""The length up to which formulas set the column of the terms' names."""


# ---- the terminal card ----


def text(bound: Statement) -> str:
    """Return the terminal card: source, named terms, every quantity, every condition."""
    lines = [f"{bound.name}   [{bound.source}]"]
    lines += [f"  {label}: {fact}" for label, fact in _facts(bound)]
    lines += ["", f"  {bound.target.name} {bound.relation}", *_term_lines(bound)]
    lines += ["", f"  in letters:  {statement(bound)}"]
    lines += ["", "  where", *_where_lines(bound)]
    if bound.given:
        given = {name: number(x) if isinstance(x, (int, float)) else x for name, x in bound.given.items()}
        lines += ["", "  with", *(f"    {name} = {value}" for name, value in given.items())]
    if bound.conditions:
        lines += ["", "  if", *(f"    {_condition_line(c)}" for c in bound.conditions)]
    return "\n".join([*lines, *(["", f"  note: {bound.note}"] if bound.note else [])])


def _facts(bound: Statement) -> list[tuple[str, str]]:
    facts = [
        ("about", str(bound.about) if bound.about else ""),
        ("statistic", str(bound.statistic) if bound.statistic else ""),
        ("unit", str(bound.target.card.unit)),
        ("relation", RELATION_WORDS[bound.relation]),
    ]
    return [(label, fact) for label, fact in facts if fact]


def _term_lines(bound: Statement) -> list[str]:
    rows = []
    for i, (label, term) in enumerate(bound.terms.items()):
        sign, body = printing.split_sign(term)
        rows.append([" " if i == 0 and sign == "+" else sign, printing.words(body), f"({label})"])
    width = max((len(body) for _, body, _ in rows if len(body) <= WIDE), default=WIDE)
    return [f"    {sign} {body.ljust(width)}   {label}" for sign, body, label in rows]


def statement(bound: Statement) -> str:
    """Return the statement in one line of Unicode, with the paper's letters."""
    letters = letters_of(bound)
    parts = [in_unicode(letters[bound.target]), RELATION_SIGNS[bound.relation]]
    for i, term in enumerate(bound.terms.values()):
        sign, body = printing.split_sign(term)
        formula = printing.signs(body, letters)
        parts += [sign, formula] if i else [formula if sign == "+" else f"-{formula}"]
    return " ".join(parts)


def _where_lines(bound: Statement) -> list[str]:
    letters = {q: in_unicode(letter) for q, letter in letters_of(bound).items()}
    lines = [
        f"    {q.name} = {printing.words(body)}   {letters[q]}; {q.card.meaning}" for q, body in bound.where.items()
    ]
    if _has_mean(bound):
        lines.append("    E_k[x] = sum_k[client_weight*x]   the mean over the clients")
    rows = [[q.name, letters[q], str(q.card.unit), domain_words(q), q.card.meaning] for q in explained(bound)]
    return [*lines, *(f"    {line}" for line in aligned(rows, gap=2))]


def _condition_line(condition: Condition) -> str:
    relation = "" if condition.relation is None else f":  {printing.words(condition.relation)}"
    return f"[{KINDS[condition.kind]}] {condition.words}{relation}"


def domain_words(quantity: Quantity) -> str:
    """Describe the domain, the quantity that is never exceeded, and the axis."""
    card = quantity.card
    limit = f", <= {card.at_most.name}" if card.at_most is not None else ""
    axis = {"": "", "clients": "; per client", "classes": "; per class"}[card.axis]
    return f"{card.domain.words}{limit}{axis}"


# ---- LaTeX ----


def latex(bound: Statement) -> str:
    """Return the statement in LaTeX with the paper's letters, every term over its name.

    Abbreviations and fixed values follow. Only LaTeX that matplotlib's mathtext understands is used.
    """
    definitions = abbreviations(bound)
    where = r" \quad \text{where} \quad " + r",\; ".join(definitions) if definitions else ""
    return " ".join(latex_parts(bound)) + where


def latex_parts(bound: Statement) -> list[str]:
    """Return the left side with the relation, then every term over its name, with its sign."""
    letters = letters_of(bound)
    parts = [f"{letters[bound.target]} {RELATION_LATEX[bound.relation]}"]
    for i, (label, term) in enumerate(bound.terms.items()):
        sign, body = printing.split_sign(term)
        named = rf"\underset{{\text{{{label.replace('_', ' ')}}}}}{{{printing.latex(body, letters)}}}"
        parts.append(named if i == 0 and sign == "+" else f"{sign} {named}")
    return parts


def abbreviations(bound: Statement) -> list[str]:
    """Return the definitions of abbreviations, and fixed numbers, in LaTeX."""
    letters = letters_of(bound)
    given = [(q, bound.given[q.name]) for q in bound.all_quantities if q.name in bound.given]
    numbers = [(q, sp.sympify(value)) for q, value in given if isinstance(value, (int, float))]
    return [f"{letters[q]} = {printing.latex(body, letters)}" for q, body in (*bound.where.items(), *numbers)]


def displayed(bound: Statement) -> list[str]:
    """Return the formula as a display with a line for each term, and the definitions of abbreviations."""
    first, *terms = latex_parts(bound)
    if len(terms) == 1:  # a single term needs no name
        sign, body = printing.split_sign(*bound.terms.values())
        terms = [f"{'-' * (sign == '-')}{printing.latex(body, letters_of(bound))}"]
    rows = [rf"{first} {{}}& {terms[0]}", *(f"& {{}} {term}" for term in terms[1:])]
    definitions = abbreviations(bound)
    where = [f"where ${'$, $'.join(definitions)}$."] if definitions else []
    return [r"\begin{align*}", " \\\\\n".join(rows), r"\end{align*}", *where]


def document(bound: Statement) -> list[str]:
    """Return the lines of a LaTeX document (amsmath, amssymb): formula, statistic, conditions, letters."""
    letters = letters_of(bound)
    conditions = [
        typeset(c.words) + ("" if c.relation is None else f": ${printing.latex(c.relation, letters)}$")
        for c in bound.conditions
    ]
    target_first = sorted(letters, key=lambda q: q != bound.target)
    named = [f"${letters[q]}$: {typeset(q.card.meaning)}" for q in target_first]
    if _has_mean(bound):
        named.append(rf"${ClientMean.symbol}[x] = {ClientSum.symbol} {letters[client_weight]} x$: mean over clients")
    return [
        f"% {bound.source}; needs amsmath and amssymb",
        *displayed(bound),
        *([f"Statistic: {typeset(str(bound.statistic))}."] if bound.statistic else []),
        *_items("It holds if", conditions),
        *_items("Its letters:", named),
    ]


def _has_mean(bound: Statement) -> bool:
    """Whether the weighted mean over the clients occurs in a term or in a condition."""
    return any(e.has(ClientMean) for e in (*bound.spelled_terms.values(), *bound.relations))


def _items(head: str, items: list[str]) -> list[str]:
    return [head, r"\begin{itemize}", *(rf"\item {item}" for item in items), r"\end{itemize}"] if items else []


def letters_of(bound: Statement) -> dict[Quantity, str]:
    """Return the LaTeX letter of the target and every quantity: the paper's own, or that of the vocabulary."""
    expressions: list[sp.Basic] = [
        bound.target,
        *bound.where,
        *bound.where.values(),
        *bound.all_quantities,
        *bound.terms.values(),
    ]
    return {q: bound.letters.get(q, q.card.letter) for q in quantities_of(expressions)}


def explained(bound: Statement) -> list[Quantity]:
    """Return the target, then every quantity that needs a value."""
    return [bound.target, *(q for q in bound.quantities if q != bound.target)]


# ---- the notebook card ----


def html(bound: Statement) -> str:
    """Return the notebook card as HTML, with formulas in MathML."""
    letters = letters_of(bound)
    facts = " &middot; ".join(f"{escape(label)}: {escape(fact)}" for label, fact in _facts(bound))
    where = ", &nbsp; ".join(map(formula, abbreviations(bound)))
    first, *others = latex_parts(bound)
    parts = [first, *(f"{{}} {part}" for part in others)]  # so that the sign is spaced as a binary operator
    rows = (
        [escape(q.name), formula(letters[q]), *map(escape, (str(q.card.unit), domain_words(q), q.card.meaning))]
        for q in explained(bound)
    )
    conditions = "".join(f"<li>{_html_condition(c, letters)}</li>" for c in bound.conditions)
    return card(
        f'<div><span class="name">{escape(bound.name)}</span> &nbsp; <i>{escape(str(bound.source))}</i></div>',
        f'<div class="soft">{facts}</div>',
        f'<div class="formula">{"".join(f"<span>{formula(part)}</span>" for part in parts)}</div>',
        f"<p>where &nbsp; {where}</p>" if where else "",
        _html_table(("quantity", "letter", "unit", "domain", "meaning"), rows),
        f"<p>if</p><ul>{conditions}</ul>" if conditions else "",
        f'<p class="soft">{escape(bound.note)}</p>' if bound.note else "",
    )


def _html_condition(condition: Condition, letters: Mapping[Quantity, str]) -> str:
    words = f'<span class="soft">{KINDS[condition.kind]}:</span> {escape(condition.words)}'
    relation = condition.relation
    return words if relation is None else f"{words} &nbsp; {formula(printing.latex(relation, letters))}"


def _html_table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    top = "".join(f"<th>{escape(h)}</th>" for h in head)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


# ---- JSON ----


def as_json(bound: Statement) -> dict[str, Any]:
    """Return the object that ``fedbounds show --json`` prints; ``string`` is SymPy code with the quantities' names."""
    letters = letters_of(bound)
    return {
        "name": bound.name,
        "paper": bound.source.paper,
        "source": str(bound.source),
        "relation": bound.relation,
        "target": quantity_card(bound.target, letters[bound.target]),
        "statistic": str(bound.statistic) if bound.statistic else None,
        "about": str(bound.about) if bound.about else None,
        "terms": {label: _formula(term, letters) for label, term in bound.terms.items()},
        "where": {q.name: _formula(body, letters) | {"meaning": q.card.meaning} for q, body in bound.where.items()},
        "conditions": [
            {"words": c.words, "kind": c.kind, "relation": None if c.relation is None else str(c.relation)}
            for c in bound.conditions
        ],
        "quantities": [quantity_card(q, letters[q]) for q in bound.quantities],
        "given": plain(dict(bound.given)),
        "latex": latex(bound),
        "note": bound.note,
    }


def summary(bound: Statement) -> dict[str, str]:
    """Return one entry of ``fedbounds list --json``."""
    return {
        "name": bound.name,
        "paper": bound.source.paper,
        "relation": bound.relation,
        "target": bound.target.name,
        "source": str(bound.source),
    }


def _formula(expression: sp.Expr, letters: Mapping[Quantity, str]) -> dict[str, str]:
    return {"string": str(expression), "latex": printing.latex(expression, letters)}


def quantity_card(quantity: Quantity, letter: str) -> dict[str, Any]:
    """Return the JSON object of a quantity."""
    card = quantity.card
    limit = f", <= {card.at_most.name}" if card.at_most is not None else ""
    return {
        "name": card.name,
        "letter": letter,
        "meaning": card.meaning,
        "unit": str(card.unit),
        "domain": card.domain.words + limit,
        "per_client": card.per_client,
        "axis": card.axis or None,
    }
