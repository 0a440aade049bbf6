"""Read the command line with cyclopts, by the signatures and docstrings of the functions behind the verbs.

The source of a function is parsed, not imported, so that help texts and errors do not need the packages that the
function needs. All verbs share a grammar: ``name=value`` means ``--name value``, and a name that is not an option of
the verb is a quantity.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TYPE_CHECKING

from ..errors import SYNONYMS
from .numbers import read_number, whole_word
from .usage import UsageError

if TYPE_CHECKING:
    from cyclopts import App, CycloptsError

ROOT = Path(__file__).resolve().parents[2]
PYTHON_ONLY = {"frame", "height"}
"""Parameters for programs only: a data frame, the height of a frame in a notebook. Callables are excluded, too."""
SHORT = {"output": ("-o", "--output")}
GROUPS = ("Bounds", "Your setting", "Experiments", "Audit", "Getting started")
ASSIGNED = re.compile(r"([A-Za-z_][\w-]*)=(.*)", re.DOTALL)
WIDE = 200
"""The width of help texts in a file or a pipe, so that every example stays on one line."""
STATUS = """exit status: 0 success (a warning is printed where conditions fail); 1 a violation, no solution, or a run
that failed or diverged; 2 a mistake in the command line or in a file it names; 70 a bug of fedbounds, or out of
memory; 130 interrupted"""


class Output(NamedTuple):
    """The option ``-o`` of a verb whose result can be written.

    ``save`` is ``module:function(result, path, command)``. ``usual`` is the default path. ``without`` is a function
    that is called with the result if there is no path. If ``alone``, the result is not printed as well.
    """

    metavar: str
    help: str
    save: str
    endings: tuple[str, ...] = ()
    usual: str = ""
    without: str = ""
    alone: bool = False


class Verb(NamedTuple):
    """A verb of the command line: ``target`` is its function, as ``module:name``; ``notes`` are texts for its help.

    ``check`` is a function that checks options before the work, and ``data`` one that returns plain data for
    ``--json``. ``fails`` says for which results the exit status is 1; by default it is the result's ``status``.
    """

    group: str
    target: str
    help: str
    example: str
    notes: tuple[str, ...] = ()
    output: Output | None = None
    check: str = ""
    data: str = ""
    fails: Callable[[Any], Any] | None = None
    json: bool = True


class Line(NamedTuple):
    """A parsed command line: the arguments of the verb's function, and what to do with its result."""

    arguments: tuple[Any, ...]
    options: dict[str, Any]
    json: bool
    output: Path | None


class Option(NamedTuple):
    """A parameter of a verb's function; ``kind`` is flag, whole, real, path, text or one of ``LISTS``."""

    name: str
    kind: str
    help: str
    place: Any
    required: bool


def named(target: str) -> Any:
    """Import and return what ``module:name`` names."""
    module, _, name = target.partition(":")
    return getattr(import_module(module), name)


# ---- reading signatures ----


class VerbSignature(NamedTuple):
    """The signature of a verb's function, from its source.

    ``open`` is whether it accepts quantities of any name, and ``reports`` whether it accepts a function ``report`` for
    lines that are printed before its result.
    """

    description: str
    options: dict[str, Option]
    open: bool
    reports: bool


@cache
def parsed(module: str) -> list[ast.stmt]:
    """Return the statements of a module, which is not imported."""
    place = ROOT.joinpath(*module.split("."))
    file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    return ast.parse(file.read_text(encoding="utf-8")).body


def text(target: str) -> str:
    """Return the text that ``module:NAME`` is set to, without importing the module."""
    module, _, name = target.partition(":")
    assigned = (node for node in parsed(module) if isinstance(node, ast.Assign))
    found: str = next(ast.literal_eval(node.value) for node in assigned if ast.unparse(node.targets[0]) == name)
    return found


@cache
def verb_signature(target: str) -> VerbSignature:
    """Return the parameters and the docstring of a function, from its file."""
    from docstring_parser.google import parse

    module, _, name = target.partition(":")
    function = next(node for node in parsed(module) if isinstance(node, ast.FunctionDef) and node.name == name)
    doc = parse(ast.get_docstring(function) or "")
    helps = {p.arg_name.lstrip("*"): " ".join((p.description or "").split()) for p in doc.params}
    description = "\n\n".join(text for text in (doc.short_description, doc.long_description) if text)
    options, arguments = {}, function.args
    required = len(arguments.args) - len(arguments.defaults)
    for i, parameter in enumerate(arguments.args):
        both = parameter.arg == "problem"  # --problem MODEL(DATA), in every verb that trains
        where = inspect.Parameter.POSITIONAL_OR_KEYWORD if both else inspect.Parameter.POSITIONAL_ONLY
        options[parameter.arg] = _option(parameter, helps, where, i < required)
    if arguments.vararg is not None:
        option = _option(arguments.vararg, helps, inspect.Parameter.VAR_POSITIONAL, False)
        options[option.name] = option._replace(kind="text")
    callbacks = [each.arg for each in arguments.kwonlyargs if "Callable" in ast.unparse(each.annotation or each)]
    for parameter, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if parameter.arg not in (*PYTHON_ONLY, *callbacks):
            options[parameter.arg] = _option(parameter, helps, inspect.Parameter.KEYWORD_ONLY, default is None)
    takes = arguments.kwarg is not None or (arguments.vararg is not None and arguments.vararg.arg == "words")
    return VerbSignature(description.replace("``", ""), options, takes, "report" in callbacks)


def _option(parameter: ast.arg, helps: Mapping[str, str], place: Any, required: bool) -> Option:
    annotation = "" if parameter.annotation is None else ast.unparse(parameter.annotation)
    parts = {part.strip() for part in annotation.split("|")}
    if any(part.startswith("Sequence[") or part in ("Known", "Own") for part in parts):
        kind = "whole list" if "int" in parts else "text or list" if parts & {"str", "Known"} else "list"
    else:
        named = {"bool": "flag", "int": "whole", "float": "real", "Path": "path"}
        kind = next((kind for part, kind in named.items() if part in parts), "text")
    return Option(parameter.arg, kind, helps.get(parameter.arg, "").replace("``", ""), place, required)


# ---- reading a line ----


def verb_app(name: str, verb: Verb) -> App:
    """Return the cyclopts application of one verb; calling it returns the arguments of the verb's function."""
    from cyclopts import App, Parameter

    def collected(*arguments: Any, **options: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return arguments, options

    signature = verb_signature(verb.target)
    added = [Option("json", "flag", "Print JSON.", inspect.Parameter.KEYWORD_ONLY, False)] if verb.json else []
    parameters = []
    for option in (*signature.options.values(), *added):
        typed, how = _typed(option)
        names = SHORT.get(option.name, None if how.pop("positional") else _dashed(option.name))
        note = Parameter(name=names, help=option.help, negative=(), show_default=False, required=option.required, **how)
        empty = inspect.Parameter.empty if option.required or option.place.name == "VAR_POSITIONAL" else None
        parameters.append(
            inspect.Parameter(option.name, option.place, default=empty, annotation=Annotated[typed, note])
        )
    if verb.output is not None:
        note = Parameter(name=["-o", "--output"], help=verb.output.help, negative=(), show_default=False)
        keyword = inspect.Parameter.KEYWORD_ONLY
        parameters.append(inspect.Parameter("output", keyword, default=None, annotation=Annotated[str | None, note]))
    collected.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    collected.__doc__ = f"{signature.description}\n\nexample: {verb.example}"
    notes = [text(note) for note in verb.notes]
    app = App(name=f"fedbounds {name}", help_epilogue="\n\n".join([*notes, STATUS]), **_settings())
    app.default(collected)
    app["--help"].show = False
    return app


def overview_app(verbs: Mapping[str, Verb], whole: bool = False) -> App:
    """Return the application of the whole command, for help, or with all options (``whole``) for completion."""
    from cyclopts import App, Group

    about = "Evaluate, measure and check the theoretical bounds of federated learning."
    epilogue = (
        "A NAME is a bound of the list, or path/file.py:variable for one of your own. name=value means --name value.\n"
        f"fedbounds VERB --help says more; fedbounds --version.\n\n{STATUS}"
    )
    app = App(name="fedbounds", help=about, help_epilogue=epilogue, **_settings())
    groups = {name: Group(name, sort_key=i) for i, name in enumerate(GROUPS)}
    for name, verb in verbs.items():
        if whole:
            one = verb_app(name, verb)
            one.group, one.help = groups[verb.group], verb.help
            app.command(one, name=name)
        else:
            app.command(verb.target, name=name, group=groups[verb.group], help=verb.help)
    app["--help"].show = False
    return app


def _settings() -> dict[str, Any]:
    from rich.console import Console

    from .terminal import on_terminal, raw

    person = on_terminal(sys.stdout)
    return {
        "console": Console(file=raw(sys.stdout), highlight=False, emoji=False, width=None if person else WIDE),
        "help_formatter": "default" if person else "plain",
        "help_format": "plaintext",
        "version_flags": (),
        "exit_on_error": False,
        "print_error": False,
        "help_on_error": False,
        "result_action": "return_value",
    }


def _dashed(name: str) -> str:
    return f"--{name.strip('_').replace('_', '-')}"


def _typed(option: Option) -> tuple[Any, dict[str, Any]]:
    """Return the type of a parameter for cyclopts, and how its texts are parsed."""
    positional = option.place in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL)
    how: dict[str, Any] = {"positional": positional}
    if option.kind == "flag":
        return bool, how
    if option.kind in LISTS:
        how["converter"] = lambda _, tokens: LISTS[option.kind]([token.value for token in tokens])
        return list[str], how
    how["converter"] = lambda _, tokens: READERS[option.kind](tokens[0].value)
    typed = {"whole": int, "real": float}.get(option.kind, str)
    return typed if option.required or option.place.name == "VAR_POSITIONAL" else typed | None, how


def _path(text: str) -> Path:
    """Return the path in an option; an empty one would mean the current folder."""
    if not text:
        raise ValueError("must not be empty")
    return Path(text)


READERS: Mapping[str, Callable[[str], Any]] = {"whole": whole_word, "real": read_number, "path": _path, "text": str}
"""The parsers of options, by kind."""


def _integers(texts: Sequence[str]) -> int | tuple[int, ...]:
    """Return the different integers in texts such as ``2,5,10``, sorted; a single one alone."""
    numbers = tuple(sorted({whole_word(part.strip()) for text in texts for part in text.split(",")}))
    return numbers[0] if len(numbers) == 1 else numbers


LISTS: Mapping[str, Callable[[list[str]], Any]] = {
    "list": list, "text or list": lambda texts: texts[0] if len(texts) == 1 else texts, "whole list": _integers,
}  # fmt: skip
"""The parsers of options that take several values, as in ``--measure train_loss divergence``, by kind."""


def read_line(name: str, verb: Verb, tokens: Sequence[str]) -> Line | None:
    """Parse a command line; None if it requests help, which is printed."""
    from cyclopts import CycloptsError

    signature = verb_signature(verb.target)
    known = {_dashed(option): kind for option, (_, kind, *_) in signature.options.items()} | {"--json": "flag"}
    known |= {short: known[dashed] for short, dashed in SHORT.values() if dashed in known}
    known |= {"--output": "path", "-o": "path", "--help": "flag", "-h": "flag"}
    try:
        found = verb_app(name, verb)(_plain(tokens, known, signature.open))
    except CycloptsError as error:
        raise UsageError(f"{_mistake(error, verb)}; see fedbounds {name} --help") from None
    if found is None:
        return None
    arguments, options = found
    as_json = options.pop("json", False)
    output = None
    if verb.output is not None:
        given = options.pop("output", None)
        if given == "":
            raise UsageError(f"-o needs the name of a {verb.output.metavar.lower()}; see fedbounds {name} --help")
        output = Path(given) if given else Path(verb.output.usual) if verb.output.usual else None
    return Line(arguments, options, as_json, output)


def _mistake(error: CycloptsError, verb: Verb) -> str:
    """Describe an error in a command line, with an example if something is missing."""
    from cyclopts import exceptions

    argument = error.argument
    if isinstance(error, exceptions.UnusedCliTokensError):
        unused = error.unused_tokens or []
        value = next((word for word in unused if ASSIGNED.fullmatch(word)), "")
        hint = f", and takes no values: fedbounds eval NAME {value} evaluates a bound" if value else ""
        return f"one argument too many: {' '.join(unused)}{hint}"
    if isinstance(error, exceptions.UnknownOptionError) and error.token is not None:
        option = error.token.keyword or error.token.value
        word = option.lstrip("-").partition("=")[0].replace("-", "_")
        options = verb_signature(verb.target).options
        if word in options:
            return f"{word.upper()} is given without {option.partition('=')[0]}, as in {verb.example}"
        if SYNONYMS.get(word) in options:
            return f"unknown option {option}; write {_dashed(SYNONYMS[word])}"
    if isinstance(error, exceptions.RepeatArgumentError) and argument is not None:
        return f"{argument.name} is given twice"
    if isinstance(error, exceptions.MissingArgumentError) and argument is not None:
        what = argument.name if argument.name.startswith("-") else argument.name.upper()
        missing = f"{what} needs a value" if error.keyword else f"{what} is missing"
        return f"{missing}, as in {verb.example}"
    return " ".join(str(error).split()).rstrip(".?").replace(". Did you", "; did you")


def _plain(tokens: Sequence[str], known: Mapping[str, str], takes_quantities: bool) -> list[str]:
    """Return the tokens in the grammar of cyclopts: ``name=value`` and other arguments first, then ``--name=value``."""
    words: list[str] = []
    options: list[str] = []
    left = list(tokens)
    while left:
        token = left.pop(0)
        if token == "--":
            return [*options, token, *words, *left]
        option, equals, value = token.partition("=")
        option = option.replace("_", "-") if option.startswith("--") else option
        if token.startswith("-") and option in known:
            if known[option] == "flag" or equals:
                options.append(option + equals + value)
            elif left:
                options.append(f"{option}={left.pop(0)}")
                while known[option] in ("list", "text or list") and left and _item(left[0], known, takes_quantities):
                    options.append(f"{option}={left.pop(0)}")
            else:
                options.append(option)
        elif token.startswith("--") and takes_quantities and (equals or (left and _is_value(left[0]))):
            words.append(f"{option[2:].replace('-', '_')}={value if equals else left.pop(0)}")
        elif (found := ASSIGNED.fullmatch(token)) and _dashed(found[1]) in known:
            options.append(f"{_dashed(found[1])}={found[2]}")
        else:
            (options if token.startswith("-") else words).append(token)
    return [*words, *options]


def _is_value(token: str) -> bool:
    return not token.startswith(("--", "@")) and not ASSIGNED.fullmatch(token)


def _item(token: str, known: Mapping[str, str], takes_quantities: bool) -> bool:
    """Whether a token continues a list of values, as in ``--measure train_loss divergence``."""
    if token.startswith(("-", "@")):
        return False
    found = ASSIGNED.fullmatch(token)
    return found is None or (_dashed(found[1]) not in known and not takes_quantities)


# ---- results ----


class Report:
    """The result of a verb without a class of its own: text lines, plain data, an exit status and remarks."""

    def __init__(
        self, lines: Iterable[str], data: Any, status: int = 0, remarks: Iterable[str] = (), wrote: Iterable[Any] = ()
    ) -> None:
        self._lines, self._data, self.status = tuple(lines), data, status
        self.remarks, self.wrote, self.interrupted = tuple(remarks), tuple(wrote), ""
        self.error: Exception | None = None
        """An error after the result was complete, such as a full disk; raised once the result is printed."""

    def lines(self) -> tuple[str, ...]:
        """Return the lines that the command prints."""
        return self._lines

    def add(self, line: str) -> None:
        """Append a line."""
        self._lines = (*self._lines, line)

    def as_json(self) -> Any:
        """Return the plain data that ``--json`` prints."""
        return self._data

    def __repr__(self) -> str:
        return "\n".join(self._lines)
