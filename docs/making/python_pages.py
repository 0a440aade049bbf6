"""The reference of Python: the public names, each with its docstring, as Sphinx reads them."""

from __future__ import annotations

import inspect
from dataclasses import Field, fields, is_dataclass, MISSING
from typing import Any

import bounds
import fedbounds

from .text import alone, docstring, page, table

CATALOGUES = {
    "ASSUMPTIONS": "the assumptions by name: [who assumes what](../assumptions/index.md)",
    "BOUNDS": "every bound by name: [bounds](../bounds/index.md)",
    "PAPERS": "the papers by their short names",
}
"""Mappings, which have no docstring of their own."""
VERBS = tuple(sorted({*fedbounds.FUNCTIONS, *fedbounds.OBJECTS}))
OBJECTS = tuple(name for name in bounds.__all__ if name not in CATALOGUES)


def python() -> str:
    """The list of all public names."""
    said = (
        "`import fedbounds` has every name below; `from bounds import ...` has those of the second table, and loads no "
        "torch. How to use them: [in Python](../../how-to/python.md)"
    )
    return page(
        "# Python",
        said,
        "## Verbs, federations and scenarios",
        table(["name", ""], ([f"[{name}]({name}.md)", _first(name)] for name in VERBS)),
        "## Bounds and what they are made of",
        table(["name", ""], ([f"[{name}]({name}.md)", _first(name)] for name in OBJECTS)),
        "## Catalogues",
        table(["name", ""], ([f"`{name}`", said] for name, said in CATALOGUES.items())),
    )


def _first(name: str) -> str:
    """The first sentence of what a name's docstring says."""
    return " ".join(docstring((inspect.getdoc(getattr(fedbounds, name)) or "").partition("\n\n")[0]).split())


def of_name(name: str) -> str:
    """The page of one name."""
    item = getattr(fedbounds, name)
    if inspect.isclass(item):
        said = [f".. autoclass:: fedbounds.{name}{_fields(item)}", "   :members:", "   :member-order: bysource"]
    else:
        said = [f".. autofunction:: fedbounds.{name}"]
    said = ["```{eval-rst}", *said, "```"]
    return alone(f"# {name}", "[Python](index.md)", said)


def _fields(item: type) -> str:
    """How a record is made, without the types, which its words tell; empty for what is no record."""
    if not is_dataclass(item):
        return ""
    made = [field for field in fields(item) if field.init]
    return f"({', '.join(field.name + _default(field) for field in made)})"


def _default(field: Field[Any]) -> str:
    if field.default is not MISSING:
        return f"={field.default!r}"
    return "" if field.default_factory is MISSING else f"={field.default_factory()!r}"
