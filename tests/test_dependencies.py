"""What is installed: the list of pins, its lock of hashes, the declared dependencies, and what the code imports."""

import ast
import re
import sys
import tomllib
from importlib.metadata import distribution, packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
ROOMS = ("bounds", "empirics", "paper_checks", "figures")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
TORCH = "torch"
"""Its builds have no hashes in common, so the lock leaves it out; those for GPUs bring libraries of their own."""
ENTRY = re.compile(r"^(\S.*?)((?: \\\n    --hash=sha256:[0-9a-f]{64})+)\n", flags=re.MULTILINE)


def requirements(text):
    """The pins of a list, by name: version and marker."""
    found = [Requirement(line) for line in text.splitlines() if line and not line.startswith("#")]
    return {canonicalize_name(one.name): (str(one.specifier), str(one.marker or "")) for one in found}


@pytest.fixture(scope="module")
def pins():
    return requirements((ROOT / "constraints.txt").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def lock():
    return (ROOT / "requirements.lock").read_text(encoding="utf-8")


def test_the_lock_holds_the_pins_and_nothing_else(pins, lock):
    entries = ENTRY.findall(lock)
    assert ENTRY.sub("", lock) == ""  # not a line besides: no option, no address
    locked = requirements("\n".join(entry for entry, _ in entries))
    assert len(locked) == len(entries) > 100
    assert locked == {name: pin for name, pin in pins.items() if name != TORCH}
    assert [name for name, (version, _) in pins.items() if not re.fullmatch(r"==[0-9][0-9a-z.]*", version)] == []


def closure(name, extras):
    """Everything that this distribution needs here, by name, its own name left out."""
    found, left = set(), [(name, frozenset(extras))]
    done = set()
    while left:
        one, wanted = left.pop()
        for needed in map(Requirement, distribution(one).requires or ()):
            if needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in wanted or {""}):
                step = canonicalize_name(needed.name), frozenset(needed.extras)
                found.add(step[0])
                if step not in done:
                    done.add(step)
                    left.append(step)
    return found - {name}


def test_the_pins_cover_whatever_the_project_needs_and_torch(pins):
    needed = closure("fedbounds", ["dev"]) | closure(TORCH, [])
    gpu = {name for name in needed if name.startswith(("nvidia-", "cuda-", "triton"))}
    assert needed - gpu - set(pins) == set()
    assert {"numpy", "importlib-metadata" if sys.version_info < (3, 12) else "numpy", "jinja2", TORCH} <= needed


def test_what_is_declared_allows_the_pins(pins):
    extras = PROJECT["project"]["optional-dependencies"]
    declared = [*PROJECT["project"]["dependencies"], *(one for names in extras.values() for one in names)]
    for one in map(Requirement, declared):
        if one.name != "fedbounds":
            assert one.specifier.contains(pins[canonicalize_name(one.name)][0].removeprefix("==")), one


def imported(room):
    """The packages outside the standard library that a room imports, wherever in a file."""
    found = set()
    for path in (ROOT / room).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                found.add(node.module.partition(".")[0])
    return found - sys.stdlib_module_names - {*ROOMS, "fedbounds"}


PARTS = {"mpmath", "dask", "docstring_parser"}
"""Of sympy, of distributed and of cyclopts, which cannot be had without."""


def test_whatever_the_rooms_import_is_declared():
    extras = PROJECT["project"]["optional-dependencies"]
    declared = [
        *PROJECT["project"]["dependencies"],
        *(one for n in ("train", "cluster", "data", "exact") for one in extras[n]),
    ]
    known = {canonicalize_name(Requirement(one).name) for one in declared}
    homes = packages_distributions()
    names = set().union(*map(imported, ROOMS)) - PARTS
    assert {"numpy", TORCH, "sklearn", "PIL"} <= names
    assert [n for n in sorted(names) if not {canonicalize_name(d) for d in homes.get(n, ())} & known] == []
