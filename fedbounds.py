"""Evaluate, measure and check the bounds of federated learning: the ``fedbounds`` command and its Python functions.

Every verb of the command is one Python function, and its options are made from the function's signature. Modules are
imported only when they are needed: ``list`` and ``--help`` load neither torch nor scipy nor matplotlib. ``bounds`` has
the theorems, ``empirics`` trains models, ``paper_checks`` compares theorems with measurements and audits the papers,
and ``figures`` draws.
"""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False  # as in typing, which takes time to load
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from bounds.showing.command_line import Line, Verb

FINE, MISTAKE, INTERRUPTED = 0, 2, 130
PACKAGES = ("bounds", "empirics", "paper_checks", "figures")
OBJECTS = {"Federation": "empirics.federation.federation:Federation", "Scenario": "bounds.scenario:Scenario"}
RENAMED = {
    "quantities": ["list", "quantities"], "data": ["list", "data"], "verdict": ["check", "--summary"],
    "open": ["explore"], "bundle": ["figure", "--bundle"], "worst_case": ["tightness"],
}  # fmt: skip
"""Deprecated verbs and what to write instead; to be removed in the next version."""
DROPPED = {"solve": "--largest", "explore": "--open"}
"""Deprecated options that are now the default."""


def functions() -> dict[str, str]:
    """Return the functions of the verbs, as ``module:name``, by their names and those of the verbs."""
    from bounds.showing.verb_table import SHELL, VERBS

    targets = {name: verb.target for name, verb in VERBS.items() if name != "list" and verb.group != SHELL}
    return targets | {target.partition(":")[2]: target for target in targets.values()}


def __getattr__(name: str) -> Any:
    """Import ``fedbounds.train``, ``fedbounds.Bound``, ... on first use."""
    if name.startswith("_"):  # ``from fedbounds import main`` asks for ``__path__``, which must not import anything
        raise AttributeError(f"module 'fedbounds' has no attribute {name!r}")
    if hidden := _hidden():
        raise ImportError(hidden)
    import bounds
    from bounds.errors import unknown
    from bounds.showing.command_line import named
    from bounds.showing.signatures import with_checked_arguments
    from bounds.showing.usage import to_install

    verbs = functions()
    try:
        if name in verbs:
            return with_checked_arguments(named(verbs[name]))
        if name in OBJECTS:
            return named(OBJECTS[name])
    except ModuleNotFoundError as error:
        if missing := to_install(error):
            raise ImportError(f"fedbounds.{name}: {missing}") from None
        raise
    if name in bounds.__all__:
        return getattr(bounds, name)
    meant = f"write {new}" if (new := RENAMED.get(name, [""])[0]) in verbs else ""
    raise AttributeError(str(unknown("attribute of fedbounds", name, [*verbs, *OBJECTS, *bounds.__all__], meant)))


def __dir__() -> list[str]:
    return sorted({target.partition(":")[2] for target in functions().values()})


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit status."""
    try:
        if hidden := _hidden():
            print(f"fedbounds: {hidden}", file=sys.stderr)
            return MISTAKE
        from bounds.showing.process import guarded

        words = list(sys.argv[1:] if arguments is None else arguments)
        return guarded(lambda: _run(words), alone=arguments is None)
    except KeyboardInterrupt:  # before ``guarded`` was entered
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
    if arguments[0] == "help" and len(arguments) > 1:
        arguments = [*arguments[1:], "--help"]
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
    name = next((verb for verb in VERBS if VERBS[verb].target.endswith(f":{name}")), name)
    if name == "show" and "--sensitivity" in rest:
        remark(["show --sensitivity is deprecated: write fedbounds eval NAME --elasticity"])
        name, rest = "eval", [("--elasticity" if word == "--sensitivity" else word) for word in rest]
    if (option := DROPPED.get(name)) in rest:
        remark([f"{name} {option} is deprecated: it is the default now"])
        rest = [word for word in rest if word != option]
    if name not in VERBS:
        raise unknown("verb", arguments[0], [*VERBS, "--help", "--version"], lists="fedbounds --help")
    verb = VERBS[name]
    line = read_line(name, verb, rest)
    if line is None:
        return FINE
    if verb.target == COMPLETION:
        if line.arguments[0] not in SHELLS:
            raise unknown("shell", line.arguments[0], SHELLS)
        print(overview_app(VERBS, whole=True).generate_completion(prog_name="fedbounds", shell=line.arguments[0]))
        return FINE
    return _run_verb(verb, line, [name, *rest])


def _run_verb(verb: Verb, line: Line, words: Sequence[str]) -> int:
    """Call the function of a verb, print its result, write it to ``-o``, and return the exit status."""
    import shlex
    from contextlib import nullcontext

    from bounds.errors import UnknownNameError
    from bounds.showing.command_line import named, verb_signature
    from bounds.showing.process import remark
    from bounds.showing.tables import to_json
    from bounds.showing.terminal import print_lines
    from bounds.showing.usage import UsageError, writable_file, writable_folder
    from empirics.progress import progress

    reported: list[str] = []

    def report(line: str) -> None:
        reported.append(line)
        print_lines([line], flush=True)

    options, output = line.options, verb.output
    if output is not None and line.output is not None:
        if output.metavar == "DIR":
            writable_folder("-o", line.output)
        else:
            writable_file("-o", line.output, *output.endings)
    if verb.check:
        named(verb.check)(options)
    if verb_signature(verb.target).reports and not line.json:
        options = {**options, "report": report}
    of_bounds = verb.target.startswith(("bounds.", "figures.curves"))
    with progress("loading", brief=True):
        if not of_bounds:
            import_module("paper_checks")  # registers its jobs
        function = named(verb.target)
    try:
        with progress("working", brief=True) if of_bounds else nullcontext():  # other verbs report their own progress
            result = function(*line.arguments, **options)
    except UnknownNameError as failure:
        from paper_checks.audit.running import CLAIMS

        if failure.name in CLAIMS:
            raise UsageError(f"{failure.name} is a claim, not a bound: fedbounds check {failure.name}") from None
        raise
    remark(getattr(result, "remarks", ()))
    command = shlex.join(["fedbounds", *words])
    if line.json:
        print(to_json(named(verb.data)(result, command) if verb.data else result.as_json()))
    elif output is None or not output.alone or (line.output is None and not output.without):
        method = getattr(result, "lines", None)
        lines = list(method()) if callable(method) else str(result).split("\n")
        while reported and lines and lines[0] == reported[0]:
            lines, reported = lines[1:], reported[1:]
        print_lines(lines)
    wrote = list(getattr(result, "wrote", ()))
    interrupted = getattr(result, "interrupted", "")
    if output is not None and line.output is not None and not interrupted:
        wrote += named(output.save)(result, line.output, command)
    elif output is not None and output.without:
        print_lines(named(output.without)(result))
    if wrote:
        print(*(f"wrote {path}" for path in wrote), sep="\n", file=sys.stderr if line.json else sys.stdout)
    if interrupted:
        raise KeyboardInterrupt(interrupted)
    if error := getattr(result, "error", None):
        raise error
    return int(bool(verb.fails(result))) if verb.fails else int(getattr(result, "status", FINE))


def _hidden() -> str:
    """A message on a file of another project that Python would import in place of one of our packages; usually empty.

    In ``python -m fedbounds`` and in notebooks the current folder comes before installed packages.
    """
    from importlib.util import find_spec
    from pathlib import Path

    for package in PACKAGES:
        spec = find_spec(package)
        origin = Path((spec and spec.origin) or "nothing")
        if origin.resolve().parents[1] != Path(__file__).resolve().parent:
            return f"{origin} hides fedbounds' package {package}: rename that file, or work in another folder"
    return ""


if __name__ == "__main__":
    sys.exit(main())
