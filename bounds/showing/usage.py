"""How the verbs of the ``fedbounds`` command are read: their words, examples, options and help."""

from __future__ import annotations

import argparse
import os
from collections.abc import Container, Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NamedTuple, NoReturn

from ..errors import BoundsError
from .completion import SHELLS
from .files import no_file, refuse_foreign, to_write
from .terminal import print_prose


class UsageError(BoundsError):
    """A command line that cannot be read."""


class Verb(NamedTuple):
    """One verb: its help, an example that works as printed, and its options."""

    words: str
    example: str
    options: str = ""


GAP = "smoothness=1.1 strong_convexity=0.1 client_weight=uniform local_gap=0.03 non_iidness=0.01"
SITES = "@examples/sites.json"
# fmt: off
VERBS = {
    "list": Verb("every bound of the papers", "fedbounds list --paper fedals", "--paper --json"),
    "quantities": Verb("the words that bounds are made of: meaning, unit, letters in the papers, ties, bounds",
                       "fedbounds quantities smoothness", "--json"),
    "show": Verb("a bound: terms, conditions, every quantity", "fedbounds show fedals.one_round",
                 "--latex --json --sensitivity"),
    "eval": Verb("its value and terms at your numbers", f"fedbounds eval fedals.one_round clients=5:50:4 {GAP}",
                 "--outside --zip --json"),
    "minimize": Verb("where it is smallest; without numbers, as a formula",
                     "fedbounds minimize decaying_k.per_rounds over=local_steps", "--zip --json"),
    "solve": Verb("the largest or smallest value of a quantity that keeps it at most a target",
                  f"fedbounds solve fedals.one_round for=clients target=0.1 --smallest {GAP}",
                  "--largest --smallest --zip --json"),
    "plot": Verb("a picture along one quantity: one bound term by term, or several compared",
                 f"fedbounds plot fedals.one_round x=clients=2:40:39 {GAP} -o gap.svg", "--outside -o"),
    "compare": Verb("compare all bounds on one quantity in your setting and show which are informative",
                    f"fedbounds compare grad_norm_sq {SITES} cohort=10 local_steps=16 step_size=0.028 runtime=20"),
    "advise": Verb("recommend local steps and step size by theorems, the quadratic surrogate and training",
                   f"fedbounds advise optimality_gap {SITES} cohort=10 step_size=0.028 runtime=20"),
    "validate": Verb("a measurement held against a bound; without a name, the bounds that can be",
                     "fedbounds validate fedals.one_round"),
    "train": Verb("train a federation and measure it",
                  'fedbounds train --problem "softmax(digits)" --clients 10 --partition "dirichlet(1)" --seeds 3'),
    "constants": Verb("L, mu, sigma^2, G^2, B^2, Gamma of a problem, for eval, solve, plot as @FILE",
                      'fedbounds constants --problem "softmax(digits)" --clients 10 -o c.json'),
    "data": Verb("the data sets: which are here and whole, size, place, licence; with a name, what is in it",
                 "fedbounds data digits"),
    "sweep": Verb("a grid of experiments, run into a store; may be stopped and resumed",
                  "fedbounds sweep examples/beta.toml --workers 0"),
    "results": Verb("what a store holds, as a tidy table or a picture", "fedbounds results quantity=train_loss"),
    "check": Verb("the machine-checked claims of the papers, and their verdicts",
                  "fedbounds check decaying_k.theorem_2"),
    "verdict": Verb("what a referee would say of a paper, on one page; an erratum for it",
                    "fedbounds verdict fedinit"),
    "falsify": Verb("search for an instance that meets every assumption and violates a bound",
                    "fedbounds falsify fedcog.smoothness_step --evaluations 200"),
    "tightness": Verb("a bound beside its exact worst case, and which K is really best; without a name, those in reach",
                      "fedbounds tightness fedcog.theorem rounds=2 local_steps=1:4:4"),
    "rate": Verb("the smallest certified contraction per round of a method, for every number of rounds and of clients",
                 'fedbounds rate "scaffold()" local_steps=5 step_size=0.1 smoothness=1 strong_convexity=0.1'),
    "figure": Verb("the figures and tables of the papers, beside what they report; without a name, their list",
                   "fedbounds figure fedinit.table_3 --scale smoke"),
    "bundle": Verb("one folder: figures, tables, bounds as LaTeX macros, BibTeX, numbers, the audit",
                   "fedbounds bundle --scale smoke -o bundle"),
    "explore": Verb("a page to explore the bounds in the browser, without a server; without a name, all of them",
                    "fedbounds explore fedals.one_round -o one_round.html"),
    "open": Verb("that page in the browser, at a bound; made once and kept among the caches",
                 "fedbounds open decaying_k.per_rounds"),
    "completion": Verb("a script that lets the shell complete verbs, options and names",
                       "fedbounds completion bash"),
}
OPTIONS: dict[str, dict[str, Any]] = {
    "--paper": {"metavar": "P", "help": "only the bounds of one paper"},
    "--json": {"action": "store_true", "help": "print JSON, described below"},
    "--latex": {"action": "store_true", "help": "print the formula in LaTeX"},
    "--sensitivity": {"action": "store_true", "help": "percent of change per percent of every quantity"},
    "--outside": {"action": "store_true", "help": "the formula also where conditions fail, marked OUTSIDE"},
    "--zip": {"action": "store_true", "help": "pair the sweeps instead of combining each with each"},
    "--largest": {"action": "store_true", "help": "the largest such value (default)"},
    "--smallest": {"action": "store_true", "help": "the smallest such value"},
    "-o": {"dest": "output", "metavar": "FILE", "help": "the picture (NAME.svg); a CSV is written beside it"},
}
WORDS = {
    "plot": "NAME ... [x=]QUANTITY=a:b:n quantity=value",
    "minimize": "over=QUANTITY quantity=value",
    "solve": "for=QUANTITY target=NUMBER quantity=value",
}
# fmt: on
WAYS = """four ways, each with a --help of its own:
  fedbounds validate all                           every bound that can be measured, in one table; or "fedinit.*"
  fedbounds validate NAME                          exact expectations, or the experiment that is there for this bound
  fedbounds validate NAME --problem MODEL(DATA)    trained and measured
  fedbounds validate NAME --measured runs.csv quantity=value @file.json    a log of yours"""
STATUS = """exit status: 0 fine (also outside a theorem's conditions: words on standard error); 1 a finding (a
violation, no solution, no minimum); 2 a mistake in the command line or in a file it names; 70 a bug of fedbounds, or
no memory left; 130 interrupted; 143 ended by SIGTERM"""


class Parser(argparse.ArgumentParser):
    """argparse whose complaints are one line, and that guesses no option and forgets none of two that are given."""

    def __init__(self, **how: Any) -> None:
        super().__init__(**how, allow_abbrev=False)
        self._given: set[argparse.Action] = set()

    def error(self, message: str) -> NoReturn:
        head, found, words = message.partition("unrecognized arguments: ")
        if found:  # argparse names what stands behind the option too
            message = head + found + " ".join(w for w in words.split() if w.startswith("-") or "=" not in w) or words
        raise UsageError(f"{message}; see {self.prog} --help")

    def _print_message(self, message: str, file: Any = None) -> None:
        """Help, folded to the terminal."""
        print_prose(message.rstrip("\n"))

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        """The value of an option, once; Python before 3.13 takes ``--option=--`` for an empty list."""
        option = "/".join(action.option_strings)
        if action.nargs is None and option and arg_strings == ["--"]:
            self.error(f"argument {option}: expected one argument")
        if action in self._given and option and action.nargs != 0 and not isinstance(action, argparse._AppendAction):
            self.error(f"argument {option} is given twice")
        self._given.add(action)
        return super()._get_values(action, arg_strings)


def writable_file(option: str, path: Path, *endings: str) -> None:
    """Refuse a file that could not be written, before time is spent on what would go there; nothing is touched.

    So is a name that says it holds something else, where the ``endings`` say what will be in it.
    """
    if endings and path.suffix.lower() not in ("", *endings):
        raise UsageError(f"{option} writes {' or '.join(endings)}; got {path}: call it {path.with_suffix(endings[0])}")
    folder = path.parent
    if "\0" in str(path):
        wrong = "no file can have this name"
    elif path.is_dir():
        wrong = "Is a directory"
    elif no_file(path):
        wrong = "it is no file that could be written"
    elif not folder.is_dir():
        wrong = "Not a directory" if folder.exists() else "No such file or directory"
    else:
        wrong = "" if os.access(path if path.exists() else folder, os.W_OK) else "Permission denied"
    if wrong:
        raise UsageError(f"{option} {path}: {wrong}")
    to_write(path)


def writable_folder(option: str, folder: Path, own: Mapping[str, str | bytes] | None = None) -> None:
    """Make the folder of ``option`` and try it, before time is spent on what would go there.

    ``own`` says how the files begin that will be written there by names of their own: others of these names are
    somebody else's, and are refused.
    """
    for name, begins in (own or {}).items():
        refuse_foreign(folder / name, begins)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
    except (OSError, ValueError) as error:  # a ValueError is a path no system has, with a NUL in it
        raise UsageError(f"{option} {folder}: {getattr(error, 'strerror', None) or error}") from None


def refuse_idle(parser: argparse.ArgumentParser, found: argparse.Namespace, names: Container[str], why: str) -> None:
    """Refuse those of the options that were given although they change nothing here, for the reason ``why``."""
    options = [a for a in parser._actions if a.option_strings and a.dest in names]
    given = [a.option_strings[-1] for a in options if getattr(found, a.dest) != a.default]
    if given:
        raise UsageError(f"{why}: leave out {', '.join(given)}")


def version() -> str:
    """What ``fedbounds --version`` prints."""
    from importlib.metadata import PackageNotFoundError, version
    from platform import python_version

    try:
        own = version("fedbounds")
    except PackageNotFoundError:  # run from its folder, not installed
        own = "(not installed)"
    return f"fedbounds {own}, Python {python_version()}"


TASKS = {
    "what does a theorem say?": "show",
    "which theorem says anything of my federation?": "compare",
    "what should I run?": "advise",
    "does a paper's claim hold?": "check",
}
"""Why people come, and the verb that answers."""


def start() -> str:
    """What ``fedbounds`` alone prints: a few lines for who comes first."""
    lines = ["The bounds of federated learning: evaluated, measured, compared, checked.", ""]
    for question, name in TASKS.items():
        lines += [question, f"  {VERBS[name].example}"]
    return "\n".join([*lines, "", f"fedbounds --help lists all {len(VERBS)} verbs; fedbounds VERB --help says more."])


def overview() -> str:
    """What ``fedbounds --help`` prints: every verb with an example."""
    lines = ["usage: fedbounds VERB ...", "", "Evaluate, measure and check the bounds of federated learning.", ""]
    for name, verb in VERBS.items():
        lines += [f"  {name:<9} {verb.words}", f"{'':12}{verb.example}", ""]
    return "\n".join([*lines, "NAME is a bound of the list, or path/file.py:variable for one of your own.",
                      "fedbounds VERB --help says more; fedbounds --version.", "", STATUS])  # fmt: skip


def bare_parser(name: str, *more: str, below: Iterable[str] = (), status: str = STATUS) -> Parser:
    """A verb's parser without arguments; ``more`` stands under its example, ``below`` under its options."""
    verb = VERBS[name]
    return Parser(
        prog=f"fedbounds {name}",
        description="\n\n".join([verb.words, f"example: {verb.example}", *more]),
        epilog="\n\n".join([*below, status]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def parser_of(name: str) -> Parser:
    """The parser of one verb."""
    verb = VERBS[name]
    parser = bare_parser(name, below=_details(name))
    if name in ("show", "eval", "minimize", "solve"):
        parser.add_argument("name", metavar="NAME")
    if name == "quantities":
        parser.add_argument("word", nargs="?", metavar="WORD", help="a quantity, or a letter of the papers; none: all")
    elif name == "completion":
        parser.add_argument("shell", choices=SHELLS, help='eval "$(fedbounds completion bash)"')
    elif name != "list":
        # Without a default, argparse would count words that may be left out among the required ones.
        parser.add_argument("words", nargs="*", default=[], metavar=WORDS.get(name, "quantity=value"))
    alone = {"show": ("--latex", "--sensitivity"), "solve": ("--largest", "--smallest")}.get(name, ())
    one_of = parser.add_mutually_exclusive_group() if alone else parser
    for option in verb.options.split():
        (one_of if option in alone else parser).add_argument(option, **OPTIONS[option])
    return parser


def _details(name: str) -> list[str]:
    """The grammar of values and the JSON formats, for the verbs that have them."""
    if name == "list":
        return ["--json prints a list of objects with name, paper, relation, target and source."]
    if name == "completion":
        return ["It holds the names that there are now: write it again after an update."]
    if name == "quantities":
        from .quantities import QUANTITIES_JSON

        return [QUANTITIES_JSON]
    from .answers import EVAL_JSON, MINIMIZE_JSON, SENSITIVITY_JSON, SOLVE_JSON
    from .cards import SHOW_JSON
    from .values import GRAMMAR

    formats = {
        "show": [SHOW_JSON, SENSITIVITY_JSON],
        "eval": [EVAL_JSON],
        "minimize": [MINIMIZE_JSON],
        "solve": [SOLVE_JSON],
    }
    return [GRAMMAR, *formats.get(name, [])]
