"""Jobs: functions that runs call, registered by name and version, or in the user's own files.

A job is declared by a decorator of its function, ``@job("train", version=1)``. Declarations are read from the text of
the registered modules, so that keys can be computed and names checked without importing modules or the user's files.
Keys contain a job's name and version, not the location of its code.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from inspect import isfunction
from pathlib import Path
from typing import Any, TypeVar

from bounds.errors import unknown
from bounds.showing.command_line import parsed
from bounds.showing.files import content, MOST_SOURCE

from ..errors import EmpiricsError
from ..job_modules import MODULES
from .sources import source_digest

F = TypeVar("F", bound=Callable[..., Any])
SHARED_OPTIONS = "empirics.experiments.jobs.train:SharedRun empirics.training.setting:Setting"
"""What declares the options that all training runs share."""


@dataclass(frozen=True)
class Job:
    """A function that runs can call.

    ``version`` is raised when the numbers change for the same arguments; for a function in a user's file it is a digest
    of the file and the files beside it that it imports. ``home`` is ``module:function`` or ``path/file.py:function``.
    ``defaults`` are those of its arguments. ``accepts`` names what else takes arguments (see ``job``); ``resumable``:
    its function has an argument ``state``, the path of a file in which it stores the end of a run to continue it.
    """

    name: str
    version: str
    home: str
    defaults: Mapping[str, Any] = field(default_factory=dict)
    accepts: str = ""
    resumable: bool = False


def job(name: str, version: int, accepts: str = "", shared: bool = False, resumable: bool = False) -> Callable[[F], F]:
    """Declare a function as a job; its arguments must be JSON data, and it must return an ``Outcome``.

    ``accepts`` names functions and dataclasses, each as ``module:name``, whose arguments and fields the job accepts as
    ``**options``; a ``shared`` job accepts those of ``SHARED_OPTIONS``. ``resumable`` is as in ``Job``. All arguments
    must be literals, as ``of_module`` reads the text.
    """
    return lambda function: function


def jobs() -> dict[str, Job]:
    """Every registered job by name."""
    return {declared.name: declared for module in MODULES for declared in of_module(module)}


def find_job(text: str) -> Job:
    """Return the job that ``text`` names, or that of the function ``path/file.py:name``, which is not imported."""
    registered = jobs()
    if text in registered:
        return registered[text]
    path, _, name = text.rpartition(":")
    if path.endswith(".py") and re.fullmatch(r"[A-Za-z_]\w*", name):
        return _of_file(Path(path), name)
    raise EmpiricsError(f"{unknown('job', text, registered)}; a function of your own is path/file.py:name")


def resolved(home: str) -> Callable[..., Any]:
    """Import the function of a job; one in a user's file must be annotated to return an ``Outcome``."""
    place, _, name = home.rpartition(":")
    if not place.endswith(".py"):
        function: Callable[..., Any] = getattr(import_module(place), name)
        return function
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
    declared = []
    for function in _functions(parsed(module)):
        for mark in function.decorator_list:
            if isinstance(mark, ast.Call) and isinstance(mark.func, ast.Name) and mark.func.id == job.__name__:
                options = {str(k.arg): ast.literal_eval(k.value) for k in mark.keywords}
                name, version = ast.literal_eval(mark.args[0]), str(options.pop("version"))
                accepts = (
                    f"{options.pop('accepts', '')} {SHARED_OPTIONS if options.pop('shared', False) else ''}".strip()
                )
                defaults = _defaults(function, accepts)
                declared.append(Job(name, version, f"{module}:{function.name}", defaults, accepts, **options))
    return tuple(declared)


def _functions(body: Iterable[ast.stmt]) -> Iterator[ast.FunctionDef]:
    return (node for node in body if isinstance(node, ast.FunctionDef))


def _defaults(function: ast.FunctionDef, accepts: str = "") -> dict[str, Any]:
    """The literal defaults of a function's arguments, and of those that ``accepts`` adds."""
    arguments = function.args
    positional = arguments.posonlyargs + arguments.args
    pairs = [*zip(positional[len(positional) - len(arguments.defaults) :], arguments.defaults, strict=True)]
    pairs += [(a, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is not None]
    defaults = _literals((a.arg, default) for a, default in pairs)
    own = {a.arg for a in positional + arguments.kwonlyargs}  # these take no defaults from ``accepts``
    for place in accepts.split():
        module, _, name = place.partition(":")
        for node in parsed(module):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == name:
                more = _defaults(node) if isinstance(node, ast.FunctionDef) else _fields(node)
                defaults = {**{n: default for n, default in more.items() if n not in own}, **defaults}
    return defaults


def _fields(node: ast.ClassDef) -> dict[str, Any]:
    """The literal defaults of a dataclass's fields, and those in its ``DEFAULTS``."""
    fields = (field for field in node.body if isinstance(field, ast.AnnAssign) and field.value is not None)
    defaults = _literals((ast.unparse(field.target), field.value) for field in fields)
    return {**defaults, **defaults.pop("DEFAULTS", {})}


def _literals(pairs: Iterable[tuple[str, ast.expr | None]]) -> dict[str, Any]:
    """The values of the expressions that are literals, by name."""
    values = {}
    for name, node in pairs:
        with suppress(ValueError):
            values[name] = ast.literal_eval(node)  # type: ignore[arg-type]
    return values


def _of_file(path: Path, name: str) -> Job:
    """The job of a function in a user's file, which is not run."""
    try:
        body = ast.parse(content(path, MOST_SOURCE)).body
    except (SyntaxError, ValueError):  # reported when it is run
        body = []
    defaults = next((_defaults(function) for function in _functions(body) if function.name == name), {})
    home = f"{path}:{name}"
    return Job(home, source_digest(path), home, defaults)
