"""Jobs: what a run computes, by a short name and a version, and functions in files of the user's own.

A job is declared above its function, ``@job("train", version=1)``. Declarations are read from the text of the
registered modules: keys are made and unknown names refused without importing anything, and nothing that a user's file
names is imported. A key has a job's name and version, not the place of its code.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from inspect import isfunction
from pathlib import Path
from typing import Any, TypeVar

from bounds.errors import unknown

from ..errors import EmpiricsError
from ..job_modules import MODULES
from .sources import source_digest

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Job:
    """Something that a run can compute.

    ``version`` is raised when the numbers change for the same arguments; of a function in a user's file it is a digest
    of the file and of those beside it that it imports.
    ``home`` is ``module:function`` or ``path/file.py:function``. ``defaults`` are those of its arguments.
    ``setting`` is what else takes its arguments: see ``job``. ``goes_on``: its function takes the path of a file as
    ``state``, in which it keeps the end of a run and from which it goes on.
    """

    name: str
    version: str
    home: str
    defaults: Mapping[str, Any] = field(default_factory=dict)
    setting: str = ""
    goes_on: bool = False


def job(name: str, version: int, setting: str = "", goes_on: bool = False) -> Callable[[F], F]:
    """Declare the function below as a job; its arguments are JSON data, it returns an ``Outcome``.

    What it takes as ``**setting`` are arguments of the functions and fields of the classes that ``setting`` names, each
    ``module:name``; ``goes_on`` is as in ``Job``. All are written out, for ``of_module``.
    """
    return lambda function: function


def jobs() -> dict[str, Job]:
    """Every registered job by name."""
    return {declared.name: declared for module in MODULES for declared in of_module(module)}


def known_job(text: str) -> Job:
    """The job that ``text`` names, or the function ``path/file.py:name``, which is not imported."""
    registered = jobs()
    if text in registered:
        return registered[text]
    path, _, name = text.rpartition(":")
    if path.endswith(".py") and re.fullmatch(r"[A-Za-z_]\w*", name):
        return _of_file(Path(path), name)
    raise EmpiricsError(f"{unknown('job', text, registered)}; a function of your own is path/file.py:name")


def resolved(home: str) -> Callable[..., Any]:
    """The function of a job; one in a user's file must be defined there and be annotated to return an ``Outcome``."""
    place, _, name = home.rpartition(":")
    if not place.endswith(".py"):
        found: Callable[..., Any] = getattr(import_module(place), name)
        return found
    from bounds.showing.loading import run_file

    module = run_file(Path(place))
    own = {n: f for n, f in vars(module).items() if isfunction(f) and f.__module__ == module.__name__}
    if name not in own:
        raise unknown(f"function in {place}", name, own)
    if str(own[name].__annotations__.get("return", "")).rpartition(".")[2].rstrip("'>") != "Outcome":
        raise EmpiricsError(f"{name} in {place} is not a job: write def {name}(...) -> Outcome")
    return own[name]


# ---- reading declarations ----


@cache
def of_module(module: str) -> tuple[Job, ...]:
    """The jobs that the text of a module declares, each by ``@job("name", version=..., ...)``."""
    found = []
    for function in _functions(_text(module)):
        for mark in function.decorator_list:
            if isinstance(mark, ast.Call) and isinstance(mark.func, ast.Name) and mark.func.id == job.__name__:
                words = {str(k.arg): ast.literal_eval(k.value) for k in mark.keywords}
                name, version = ast.literal_eval(mark.args[0]), str(words.pop("version"))
                defaults = _defaults(function, words.get("setting", ""))
                found.append(Job(name, version, f"{module}:{function.name}", defaults, **words))
    return tuple(found)


def _text(module: str) -> str:
    """The text of a module, found without importing its package."""
    package, *inner = module.split(".")
    (folder,) = find_spec(package).submodule_search_locations  # type: ignore[union-attr, misc]
    return Path(folder, *inner).with_suffix(".py").read_text(encoding="utf-8")


def _functions(text: str) -> Iterator[ast.FunctionDef]:
    return (node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef))


def _defaults(function: ast.FunctionDef, setting: str = "") -> dict[str, Any]:
    """The defaults of the function's arguments, and of the fields that its ``**setting`` takes, as far as literal."""
    given = function.args
    places = given.posonlyargs + given.args
    pairs = [*zip(places[len(places) - len(given.defaults) :], given.defaults, strict=True)]
    pairs += [(a, d) for a, d in zip(given.kwonlyargs, given.kw_defaults, strict=True) if d is not None]
    found = _literals((a.arg, default) for a, default in pairs)
    own = {a.arg for a in places + given.kwonlyargs}  # one of them without a default has none
    for place in setting.split():
        module, _, name = place.partition(":")
        for node in ast.parse(_text(module)).body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == name:
                more = _defaults(node) if isinstance(node, ast.FunctionDef) else _fields(node)
                found = {**{n: default for n, default in more.items() if n not in own}, **found}
    return found


def _fields(node: ast.ClassDef) -> dict[str, Any]:
    """The defaults of a dataclass's fields, as far as literal, and those in its ``DEFAULTS``."""
    fields = (field for field in node.body if isinstance(field, ast.AnnAssign) and field.value is not None)
    found = _literals((ast.unparse(field.target), field.value) for field in fields)
    return {**found, **found.pop("DEFAULTS", {})}


def _literals(pairs: Iterable[tuple[str, ast.expr | None]]) -> dict[str, Any]:
    """The values of those that are literal, by name."""
    found = {}
    for name, node in pairs:
        with suppress(ValueError):
            found[name] = ast.literal_eval(node)  # type: ignore[arg-type]
    return found


def _of_file(path: Path, name: str) -> Job:
    """A function in a user's file, which is not run."""
    try:
        functions = {function.name: function for function in _functions(path.read_text(encoding="utf-8"))}
    except OSError as error:
        raise EmpiricsError(f"{path}, the file of a job: {error.strerror}") from None
    except (SyntaxError, ValueError):  # reported when it is run
        functions = {}
    defaults = _defaults(functions[name]) if name in functions else {}
    home = f"{path}:{name}"
    return Job(home, source_digest(path), home, defaults)
