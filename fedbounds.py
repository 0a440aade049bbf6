"""Evaluate, measure and check the bounds of federated learning: the ``fedbounds`` command, and its Python functions.

Each verb is one Python function; the command line is made from its signature. Nothing heavy is imported before it is
needed: ``list`` and ``--help`` load neither torch nor scipy nor matplotlib.
"""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False  # as in typing, which takes time to load
if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Any

    from bounds.showing.command_line import Line, Verb

FINE, MISTAKE, INTERRUPTED = 0, 2, 130
ROOMS = ("bounds", "empirics", "paper_checks", "figures")
FUNCTIONS = {
    "show": "bounds.verbs",
    "evaluate": "bounds.verbs",
    "minimize": "bounds.verbs",
    "solve": "bounds.verbs",
    "plot": "figures.curves",
    "explore": "figures.explorer.command",
    "compare": "paper_checks.comparing.api",
    "advise": "paper_checks.comparing.api",
    "train": "empirics.verbs",
    "constants": "empirics.verbs",
    "validate": "paper_checks.validation.command",
    "sweep": "empirics.experiments.command",
    "results": "figures.results",
    "figure": "figures.command",
    "check": "paper_checks.audit.command",
    "falsify": "paper_checks.falsifier.command",
    "worst_case": "paper_checks.worst_case.tightness",
    "rate": "paper_checks.worst_case.rate",
}
"""The functions of the verbs, and the module that each is loaded from when needed."""
OBJECTS = {"Federation": "empirics.federation.federation", "Scenario": "bounds.scenario"}
SAME = {"tightness": "worst_case", "eval": "evaluate"}
"""Verbs whose functions are better known by another name; the command line takes both."""
RENAMED = {
    "quantities": ["list", "quantities"],
    "data": ["list", "data"],
    "verdict": ["check", "--summary"],
    "open": ["explore"],
    "bundle": ["figure", "--bundle"],
}
"""Verbs of the version before, and what to write instead; they go with the next version."""
DROPPED = {"solve": "--largest", "explore": "--open"}
"""Options of the version before that are the default now."""


def __getattr__(name: str) -> Any:
    """``fedbounds.train``, ``fedbounds.Bound``, ...: loaded when they are first used."""
    if name.startswith("_"):  # ``from fedbounds import main`` looks for ``__path__``, which must load nothing
        raise AttributeError(f"module 'fedbounds' has no attribute {name!r}")
    if hidden := _hidden():
        raise ImportError(hidden)
    name = SAME.get(name, name)
    if name in FUNCTIONS or name in OBJECTS:
        try:
            return getattr(import_module({**FUNCTIONS, **OBJECTS}[name]), name)
        except ModuleNotFoundError as error:
            from bounds.showing.extras import to_install

            if missing := to_install(error):
                raise ImportError(f"fedbounds.{name}: {missing}") from None
            raise
    import bounds

    if name in bounds.__all__:
        return getattr(bounds, name)
    raise AttributeError(f"module 'fedbounds' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(FUNCTIONS)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit status."""
    try:
        if hidden := _hidden():
            print(f"fedbounds: {hidden}", file=sys.stderr)
            return MISTAKE
        from bounds.showing.process import guarded

        words = list(sys.argv[1:] if arguments is None else arguments)
        return guarded(lambda: _run(words), alone=arguments is None)
    except KeyboardInterrupt:  # before there was anything to guard
        print("fedbounds: interrupted", file=sys.stderr)
        return INTERRUPTED


def _run(arguments: list[str]) -> int:
    from bounds.errors import unknown
    from bounds.showing.command_line import overview_app, read_line
    from bounds.showing.process import remark
    from bounds.showing.terminal import print_lines
    from bounds.showing.usage import version
    from bounds.showing.verb_table import COMPLETION, SHELLS, START, VERBS

    if not arguments:
        print_lines([START])
        return FINE
    if arguments[0] in ("-h", "--help", "help"):
        overview_app(VERBS)(["--help"])
        return FINE
    if arguments[0] == "--version":
        print(version())
        return FINE
    if arguments[0] in RENAMED:
        new = RENAMED[arguments[0]]
        remark([f"{arguments[0]} is deprecated: write fedbounds {' '.join([*new, *arguments[1:]])}"])
        arguments = [*new, *arguments[1:]]
    name, rest = arguments[0].lower(), arguments[1:]
    name = next((verb for verb, function in SAME.items() if function == name), name)
    if name == "show" and "--sensitivity" in rest:
        remark(["show --sensitivity is deprecated: write fedbounds eval NAME --elasticity"])
        name, rest = "eval", [("--elasticity" if word == "--sensitivity" else word) for word in rest]
    if (option := DROPPED.get(name)) in rest:
        remark([f"{name} {option} is deprecated: it is the default now"])
        rest = [word for word in rest if word != option]
    if name not in VERBS:
        raise unknown("verb", arguments[0], VERBS)
    verb = VERBS[name]
    line = read_line(name, verb, rest)
    if line is None:
        return FINE
    if verb.target == COMPLETION:
        if line.arguments[0] not in SHELLS:
            raise unknown("shell", line.arguments[0], SHELLS)
        print(overview_app(VERBS, whole=True).generate_completion(prog_name="fedbounds", shell=line.arguments[0]))
        return FINE
    return _done(verb, line, [name, *rest])


def _done(verb: Verb, line: Line, words: Sequence[str]) -> int:
    """Call the function of a verb, print its result, write it where ``-o`` says so; the exit status."""
    import shlex
    from contextlib import nullcontext

    from bounds.showing.command_line import named, source
    from bounds.showing.loading import loading
    from bounds.showing.process import remark
    from bounds.showing.tables import to_json
    from bounds.showing.terminal import print_lines
    from empirics.progress import progress

    reported: list[str] = []

    def report(told: str) -> None:
        reported.append(told)
        print_lines([told], flush=True)

    options, output = line.options, verb.output
    made: Any = None
    if output is not None and line.output is not None:
        made = _checked_output(line.output, output.endings, folder=output.metavar == "DIR")
    if verb.check:
        named(verb.check)(options)
    if source(verb.target).reports and not line.json:
        options = {**options, "report": report}
    of_bounds = verb.target.startswith(("bounds.", "figures.curves"))
    with progress("loading", brief=True), loading():
        if not of_bounds:
            import_module("paper_checks")  # its jobs are known to every verb
        function = named(verb.target)
    own = nullcontext() if not of_bounds else progress("working", brief=True)  # the others report their own progress
    try:
        with own:
            result = function(*line.arguments, **options)
    except BaseException:
        if made is not None:
            made.rmdir()
        raise
    remarks = getattr(result, "remarks", ())
    if of_bounds or type(result).__name__ == "Report":
        remark(remarks() if callable(remarks) else remarks)
    command = shlex.join(["fedbounds", *words])
    if line.json:
        print(to_json(named(verb.data)(result, command) if verb.data else result.as_json()))
    elif output is None or not output.alone or (line.output is None and not output.without):
        told = getattr(result, "lines", None)
        lines = list(told()) if callable(told) else str(result).split("\n")
        while reported and lines and lines[0] == reported[0]:
            lines, reported = lines[1:], reported[1:]
        print_lines(lines)
        for flag in line.flags:
            print_lines(named(verb.flags[flag][1])(result))
    wrote = list(getattr(result, "wrote", ()))
    interrupted = getattr(result, "interrupted", "")
    if output is not None and line.output is not None and not interrupted:
        wrote += named(output.save)(result, line.output, command)
    elif output is not None and output.without:
        print_lines(named(output.without)(result))
    if wrote:
        print(*(f"wrote {path}" for path in wrote), sep="\n", file=sys.stderr if line.json else sys.stdout)
    if made is not None and not any(made.iterdir()):
        made.rmdir()
    if interrupted:
        raise KeyboardInterrupt(interrupted)
    if error := getattr(result, "error", None):
        raise error
    return int(bool(verb.finding(result))) if verb.finding else int(getattr(result, "status", FINE))


def _checked_output(path: Path, endings: tuple[str, ...], folder: bool) -> Path | None:
    """Refuse what could not be written before the work; returns the folder that is made for it."""
    from bounds.showing.usage import writable_file, writable_folder

    if not folder:
        writable_file("-o", path, *endings)
        return None
    there = path.exists()
    writable_folder("-o", path)
    return None if there else path


def _hidden() -> str:
    """The file of another project that Python would load in place of one of our packages, in words; usually none.

    The folder one is in comes before everything installed in ``python -m fedbounds`` and in notebooks.
    """
    from importlib.util import find_spec
    from pathlib import Path

    for room in ROOMS:
        found = find_spec(room)
        origin = Path((found and found.origin) or "nothing")
        if origin.resolve().parents[1] != Path(__file__).resolve().parent:
            return f"{origin} hides fedbounds' package {room}: rename that file, or work in another folder"
    return ""


if __name__ == "__main__":
    sys.exit(main())
