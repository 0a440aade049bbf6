"""The front door: the ``fedbounds`` command, and ``import fedbounds`` for the REPL.

Nothing heavy is imported before a verb needs it: ``list`` loads neither torch nor scipy nor matplotlib.
"""

from __future__ import annotations

import sys
from importlib import import_module
from math import prod

TYPE_CHECKING = False  # as in typing, which takes time to load
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path
    from typing import Any

    from bounds.core import Bound
    from bounds.showing.answers import Ask
    from bounds.showing.values import Grid
    from empirics.progress import Progress

FINE, FINDING, MISTAKE, INTERRUPTED = 0, 1, 2, 130
ROOMS = ("bounds", "empirics", "paper_checks", "figures")
ASKED = {
    "advise": "paper_checks.comparing.api",
    "compare": "paper_checks.comparing.api",
    "constants": "empirics.verbs",
    "explore": "figures.explorer.notebook",
    "Federation": "empirics.federation.federation",
    "rate": "paper_checks.worst_case.rate_table",
    "Scenario": "bounds.scenario",
    "train": "empirics.verbs",
    "validate": "paper_checks.validation.asked",
}
"""Names of ``import fedbounds`` that are no names of ``bounds``: the module that each is loaded from when needed."""


def __getattr__(name: str) -> Any:
    """``fedbounds.train``, ``fedbounds.Bound``, ...: what ``ASKED`` and ``bounds`` hold, loaded once asked for."""
    if name.startswith("_"):  # ``from fedbounds import main`` asks for ``__path__``, which must load nothing
        raise AttributeError(f"module 'fedbounds' has no attribute {name!r}")
    if hidden := _hidden():
        raise ImportError(hidden)
    if name in ASKED:
        return getattr(import_module(ASKED[name]), name)
    import bounds

    if name in bounds.__all__:
        return getattr(bounds, name)
    raise AttributeError(f"module 'fedbounds' has no attribute {name!r}")


def __dir__() -> list[str]:
    import bounds

    return sorted({*globals(), *bounds.__all__, *ASKED})


# ---- the verbs ----


def list_(args: argparse.Namespace) -> int:
    from bounds.index import entries as listed
    from bounds.papers import paper
    from bounds.showing.tables import aligned

    key = None if args.paper is None else paper(args.paper).key
    entries = [e for e in listed() if key in (None, e["paper"])]
    if args.json:
        return _json(entries)
    return _print(aligned([[e["name"], f"{e['target']} {e['relation']}", e["source"]] for e in entries]))


def quantities(args: argparse.Namespace) -> int:
    from bounds.index import quantities as listed
    from bounds.showing.quantities import chosen, lines

    found = chosen(listed(), args.word)
    return _json(found) if args.json else _print(lines(found, args.word))


def show(args: argparse.Namespace) -> int:
    from bounds.showing import cards
    from bounds.showing.loading import load
    from bounds.showing.usage import UsageError

    bound = load(args.name)
    if args.sensitivity:
        from bounds.showing.answers import elastic, evaluate

        span = _grid(bound, args.words)
        with _working("evaluating"):
            remarks = [*evaluate(span).remarks(), *span.remarks()]
        title = "elasticity: percent of the bound per percent of the quantity"
        return _answer(span, elastic(span.bound), remarks, title, keys={} if args.json else None)
    if args.words:
        if all("=" not in word and not word.startswith("@") for word in args.words):
            raise UsageError(f"show takes one name of a bound; got {args.name}, {', '.join(args.words)}")
        raise UsageError("values go with --sensitivity; to evaluate, use fedbounds eval")
    if args.json and args.latex:
        raise UsageError("--json holds the formula in LaTeX too: leave out --latex")
    if args.json:
        return _json(cards.as_json(bound))
    return _print([bound.latex()], raw=True) if args.latex else _print([cards.text(bound)])


def eval_(args: argparse.Namespace) -> int:
    from bounds.showing.answers import evaluate
    from bounds.showing.loading import load

    span = _grid(load(args.name), args.words, paired=args.zip)
    with _working("evaluating"):
        result = evaluate(span, args.outside)
    _remark(result.remarks())
    return _json(result.as_json()) if args.json else _print(result.lines())


def minimize(args: argparse.Namespace) -> int:
    from bounds.showing.answers import keys_of, over_intervals, smallest
    from bounds.showing.loading import load

    bound = load(args.name)
    over, words = _take("over", args.words, "QUANTITY")
    if not words and any(q.name != over for q in bound.quantities):
        return _closed_form(bound, over, args.json)
    span = _grid(bound, words, paired=args.zip, free=[over])
    keys = keys_of(bound, over) if args.json else None
    return _answer(span, *over_intervals(span, smallest(span.bound, over)), keys=keys)


def _closed_form(bound: Bound, over: str, as_json: bool) -> int:
    from bounds.showing.printing import words

    with _working("minimising"):
        best: Any = bound.minimize(over)
    requires = [words(relation) for relation in best.requires]
    spoken = zip(bound.numeric_conditions, bound.relations, strict=True)
    left = [c.words for c, relation in spoken if best.over in relation.free_symbols]
    left += [f"{over} is {best.over.card.domain.words}"] if best.over.card.domain.whole else []
    if as_json:
        told = {"name": bound.name, "over": over, "at": words(best.at), "value": words(best.value)}
        return _json({**told, "requires": requires, "not_looked_at": left})
    lines = [f"{over} = {words(best.at)}", f"{bound.target.name} {bound.relation} {words(best.value)}"]
    return _print([*lines, *(f"if {said}" for said in requires), *(f"not looked at: {said}" for said in left)])


def solve(args: argparse.Namespace) -> int:
    from bounds.showing.answers import keys_of, over_intervals, solved
    from bounds.showing.loading import load
    from bounds.showing.values import parse_number

    bound = load(args.name)
    wanted, words = _take("for", args.words, "QUANTITY")
    target, words = _take("target", words, "NUMBER")
    span = _grid(bound, words, paired=args.zip, free=[wanted])
    side = "smallest" if args.smallest else "largest"
    keys = keys_of(bound, wanted, side) if args.json else None
    ask = solved(span.bound, wanted, parse_number("target", target, ""), side)
    return _answer(span, *over_intervals(span, ask), keys=keys)


def plot(args: argparse.Namespace) -> int:
    from bounds.showing.loading import load
    from bounds.showing.usage import UsageError
    from bounds.showing.values import read, stand_ins, taken_as_they_are

    names = [word for word in args.words if "=" not in word and not word.startswith("@")]
    if not names:
        raise UsageError("plot needs the name of a bound")
    bounds = [load(name) for name in names]
    words = [word for word in args.words if word not in names]
    ranges = [word for word in words if ":" in word and not word.startswith(("@", "x="))]
    if len(ranges) == 1 and not any(word.startswith("x=") for word in words):  # it is what the others hold for
        words[words.index(ranges[0])] = f"x={ranges[0]}"
    swept, words = _take("x", words, "QUANTITY=a:b:n")
    quantity, equals, _ = swept.partition("=")
    if not equals:
        raise UsageError(f"x must be QUANTITY=a:b:n; got x={swept}")
    if args.output == "":
        raise UsageError("-o needs the name of a file, such as picture.svg")
    from pathlib import Path

    from figures import curves

    path, _ = curves.places(Path(args.output or "-vs-".join(b.name for b in bounds) + ".svg"))
    with _working("drawing"):
        given = read([swept, *words])
        picture = curves.data(bounds, quantity, given)
        written = curves.write(picture, path, outside=args.outside)
    _remark([*curves.notes(picture, args.outside), *taken_as_they_are(bounds, given), *stand_ins(bounds, given)])
    _print([f"wrote {file}" for file in written])
    return _print(curves.sparklines(picture, args.outside)) if _shows_signs() else FINE


def validate_(arguments: Sequence[str]) -> int:
    """The rest of the line belongs to the validation, which has options of its own."""
    from bounds.showing.usage import bare_parser, UsageError, WAYS

    name = "" if not arguments or arguments[0].startswith("-") else arguments[0]
    if not name and {"-h", "--help"} & set(arguments):
        parser = bare_parser("validate", WAYS)
        parser.usage = "fedbounds validate [NAME ...]"
        return _print([parser.format_help().rstrip()])
    if not name and arguments:
        raise UsageError("validate needs the name of a bound before its options; see fedbounds validate --help")
    validation = _loaded("paper_checks.validation")
    if not name:
        return _print(validation.usage())
    return validation.run(name, arguments[1:], _drawing(name))


def _drawing(name: str) -> Callable[[Any, Path], list[Path]] | None:
    """What draws the result of this validation, if there is a figure of it."""
    from figures import VALIDATION_FIGURES

    def draw(result: Any, folder: Path) -> list[Path]:
        return list(import_module(VALIDATION_FIGURES[name]).save(result, folder))

    return draw if name in VALIDATION_FIGURES else None


def results(arguments: Sequence[str]) -> int:
    """The rest of the line belongs to the reading of the store."""

    def draw(table: Any, axes: Any, path: Path | None) -> list[Path]:
        return list(import_module("figures.results").write(table, axes, path))

    status: int = _loaded("empirics.experiments.results_command").results(arguments, draw)
    return status


def completion(args: argparse.Namespace) -> int:
    """Options are read off the help of every verb, names off the lists that there are."""
    import io
    from contextlib import redirect_stdout

    from bounds.index import entries, quantities as listed
    from bounds.papers import PAPERS
    from bounds.showing.completion import options, script, SHELLS

    bounds, words = [e["name"] for e in entries()], [f"{e['name']}=" for e in listed()]
    valued = (*bounds, *words)
    names: dict[str, Iterable[str]] = {
        **dict.fromkeys(("show", "eval", "minimize", "solve", "plot", "validate", "falsify", "tightness"), valued),
        "quantities": [word.rstrip("=") for word in words],
        **dict.fromkeys(("compare", "advise"), (*dict.fromkeys(e["target"] for e in entries()), *words)),
        "rate": _loaded("paper_checks.worst_case.words").RATE,
        **dict.fromkeys(("explore", "open"), bounds),
        "verdict": PAPERS,
        "check": [*_loaded("paper_checks.audit.running").CLAIMS, *bounds],
        "figure": ["all", *PAPERS, *_loaded("figures.catalogue").NAMES],
        "data": _loaded("empirics.data.command").NAMES,
        "completion": SHELLS,
    }
    follow: dict[str, list[str]] = {}
    for verb in (*VERBS, *DRAWN, *ELSEWHERE):
        with redirect_stdout(io.StringIO()) as told:
            _run([verb, "--help"])
        follow[verb] = [*options(told.getvalue()), *names.get(verb, ())]
    return _print([script(args.shell, follow).rstrip()], raw=True)


# ---- what the verbs share ----


def _grid(bound: Bound, words: Sequence[str], paired: bool = False, free: Iterable[str] = ()) -> Grid:
    from bounds.showing.values import grid, read, stand_ins

    with _working("reading the values"):
        given = read(words)
        span = grid(bound, given, paired=paired, free=free)
    _remark(stand_ins([bound], given))
    return span


def _loaded(module: str) -> Any:
    """The module, of which some take seconds with all that they need."""
    from bounds.showing.loading import loading

    with _working("loading"), loading():
        return import_module(module)


def _working(what: str) -> AbstractContextManager[Progress]:
    """Says what is being done where it takes longer than a second."""
    from empirics.progress import progress

    return progress(what, brief=True)


def _take(key: str, words: Sequence[str], form: str) -> tuple[str, list[str]]:
    """The value of the one word ``key=...`` and the other words."""
    from bounds.showing.usage import UsageError

    found = [word for word in words if word.startswith(f"{key}=")]
    if len(found) != 1 or found[0] == f"{key}=":
        raise UsageError(f"give {key}={form} once")
    return found[0].partition("=")[2], [word for word in words if word != found[0]]


def _answer(
    span: Grid, ask: Ask, remarks: Iterable[str], title: str = "", keys: Mapping[str, str] | None = None
) -> int:
    """Print the answers, as JSON where ``keys`` name their columns for machines."""
    from bounds.showing.answers import answer

    with _working("looking for answers") as heard:
        heard.start(prod(span.shape))

        def told(**values: Any) -> dict[str, Any]:
            try:
                return ask(**values)
            finally:
                heard.step()

        answers = answer(span, told)
    _remark(remarks)
    if keys is not None:
        _json(answers.as_json(span.bound, keys))
    else:
        lines = answers.lines()
        _print([title, *lines] if title and lines else lines)
    _remark(answers.findings)
    return FINDING if answers.findings else FINE


def _print(lines: Iterable[str], raw: bool = False) -> int:
    """``raw`` lines are for programs: they are not folded."""
    from bounds.showing.terminal import print_lines

    if raw:
        print(*lines, sep="\n")
    else:
        print_lines(lines)
    return FINE


def _json(item: Any) -> int:
    from bounds.showing.tables import to_json

    return _print([to_json(item)], raw=True)


def _shows_signs() -> bool:
    """Whether a person looks at standard output, and it knows signs beyond ASCII."""
    from bounds.showing.spelling import speaks_unicode
    from bounds.showing.terminal import on_terminal

    return on_terminal(sys.stdout) and speaks_unicode()


def _remark(lines: Iterable[str]) -> None:
    from bounds.showing.process import remark

    remark(lines)


# ---- the command line ----


def _run(arguments: list[str]) -> int:
    from bounds.errors import unknown
    from bounds.showing.usage import overview, parser_of, start, version

    if not arguments:
        return _print([start()])
    if arguments[0] in ("-h", "--help", "help"):
        return _print([overview()])
    if arguments[0] == "--version":
        return _print([version()])
    verb, *rest = arguments
    if verb not in (*VERBS, *DRAWN, *ELSEWHERE):
        raise unknown("verb", verb, (*VERBS, *DRAWN, *ELSEWHERE))
    if verb not in VERBS:
        import_module("paper_checks")  # its jobs are known to every verb
    if verb in DRAWN:
        return DRAWN[verb](rest)
    if verb in ELSEWHERE:
        module, _, function = ELSEWHERE[verb].partition(":")
        status: int = getattr(_loaded(module), function)(rest)
        return status
    try:
        args = parser_of(verb).parse_intermixed_args(rest)
    except SystemExit:  # --help
        return FINE
    return VERBS[verb](args)


ELSEWHERE = {
    "train": "empirics.command:train",
    "constants": "empirics.command:constants_",
    "data": "empirics.data.command:data",
    "sweep": "empirics.experiments.command:sweep_",
    "compare": "paper_checks.comparing.command:compare_",
    "advise": "paper_checks.comparing.command:advise_",
    "check": "paper_checks.audit.command:check",
    "verdict": "paper_checks.audit.verdict:verdict",
    "falsify": "paper_checks.falsify_options:main",
    "tightness": "paper_checks.worst_case.tightness:main",
    "rate": "paper_checks.worst_case.rate:main",
    "figure": "figures.command:figure",
    "bundle": "figures.bundle:bundle",
    "explore": "figures.explorer.command:explore",
    "open": "figures.explorer.opening:open_",
}
"""Verbs whose options are read where their work is done: ``module:function``, called with the rest of the line."""

DRAWN: dict[str, Callable[[Sequence[str]], int]] = {"validate": validate_, "results": results}
"""Verbs whose pictures come from a later room than their work."""

VERBS: dict[str, Callable[[Any], int]] = {
    "list": list_,
    "quantities": quantities,
    "show": show,
    "eval": eval_,
    "minimize": minimize,
    "solve": solve,
    "plot": plot,
    "completion": completion,
}


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
