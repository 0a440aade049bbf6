"""The verbs ``list`` (of bounds, quantities, data sets, algorithms), ``completion`` (for shells) and ``examples``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bounds.errors import BoundsError, unknown
from bounds.papers import known_paper, PAPERS
from bounds.showing.command_line import Report
from bounds.showing.files import write_whole
from bounds.showing.tables import aligned
from bounds.showing.usage import refuse_unused, UsageError, writable_folder

LIST_JSON = """\
--json prints a list of objects. For bounds: name, paper, relation, target, source. For quantities: name, letter
(LaTeX), meaning, unit, domain, per_client, axis (clients, classes or null), letters (by paper), bounds (that need its
value), bounded (the bounds on it), follows (formulas for it in other quantities: =, <= or >=; := is a default) and
gives (the quantities that follow from it). For algorithms: name, options. For data sets it prints one object: root
(their folder), sets (set, here, size, place, licence, bytes) and damaged (paths); with names, a list of objects with
set, about, files (path, bytes, state), damaged, samples, tests (null: no test part), shape, kind, classes, groups,
group_word, source, licence. For claims it prints one object, their sentences by name; for a word
one of bounds, quantities and claims, each by name."""
KINDS = ("bounds", "quantities", "claims", "data", "algorithms")


def list_(kind: str = "bounds", *names: str, paper: str | None = None, verify: bool = False) -> Report:
    """List the bounds of the papers, the quantities, the data sets or the algorithms.

    Args:
        kind: What to list: bounds, quantities, claims, data or algorithms; a paper, whose bounds are listed; or any
            other word, to list the bounds, quantities and claims that contain it (bounds).
        names: A quantity, or a letter of the papers, to describe; data sets to read, check and describe.
        paper: List only the bounds of one paper.
        verify: Check the files of the data sets against their hashes.
    """
    kind = f"{kind.lower()}s" if f"{kind.lower()}s" in KINDS else kind.lower()
    if kind not in KINDS and paper is None and (known := known_paper(kind)):
        kind, paper = "bounds", known.key
    if kind not in KINDS:
        refuse_unused("a word is looked up in all papers", paper=paper, verify=verify)
        return _containing(" ".join([kind, *names]))
    if kind != "bounds":
        refuse_unused(f"{kind} do not belong to one paper", paper=paper)
    if kind != "data":
        refuse_unused("only data sets have files", verify=verify)
    if names and kind in ("bounds", "claims", "algorithms"):
        raise UsageError(f"list {kind} takes no names; fedbounds list {names[0]} lists what contains this word")
    if kind == "data":
        from empirics.data.command import data

        return data(names, verify)
    if kind == "bounds":
        return _bounds(paper)
    if kind == "claims":
        words = _described()[kind]
        return Report(aligned(list(map(list, words.items()))), words)
    return _quantities(names) if kind == "quantities" else _algorithms()


def _bounds(paper_name: str | None) -> Report:
    from bounds.index import entries as all_entries
    from bounds.papers import paper

    key = None if paper_name is None else paper(paper_name).key
    entries = [e for e in all_entries() if key in (None, e["paper"])]
    return Report(aligned([[e["name"], f"{e['target']} {e['relation']}", e["source"]] for e in entries]), entries)


def _described() -> dict[str, dict[str, str]]:
    """Return the descriptions of all bounds, quantities and claims by name."""
    from bounds.index import entries, quantities

    from .audit.running import CLAIMS

    return {
        "bounds": {e["name"]: f"{e['target']} {e['relation']}  {e['source']}" for e in entries()},
        "quantities": {q["name"]: q["meaning"] for q in quantities()},
        "claims": {name: claim.words for name, claim in CLAIMS.items()},
    }


def _containing(word: str) -> Report:
    """Return the bounds, quantities and claims whose name or description contains a word."""
    found = {
        kind: {name: text for name, text in texts.items() if word.lower() in f"{name} {text}".lower()}
        for kind, texts in _described().items()
    }
    if not any(found.values()):
        raise unknown("list, paper or word", word, (*KINDS, *PAPERS))
    lines = []
    for kind, texts in found.items():
        lines += [f"{kind}:", *(f"  {line}" for line in aligned(list(map(list, texts.items()))))] if texts else []
    return Report(lines, found)


def _quantities(names: tuple[str, ...]) -> Report:
    from bounds.index import quantities
    from bounds.showing.vocabulary_table import chosen, lines

    if len(names) > 1:
        raise BoundsError(f"list quantities describes one quantity; got {', '.join(names)}")
    name = names[0] if names else None
    selected = chosen(quantities(), name)
    return Report(lines(selected, name), selected)


def _algorithms() -> Report:
    from inspect import Parameter, signature

    from empirics.algorithms import ALGORITHMS

    entries: list[dict[str, Any]] = []
    for name, make in sorted(ALGORITHMS.items()):
        options = [p for p in signature(make).parameters.values() if p.name != "algorithm"] if callable(make) else []
        texts = [p.name if p.default is Parameter.empty else f"{p.name}={p.default!r}" for p in options]
        entries.append({"name": name, "options": texts})
    return Report(aligned([[each["name"], ", ".join(each["options"])] for each in entries]), entries)


def completion(shell: str) -> None:
    """Print a script that lets the shell complete verbs and options: bash, zsh or fish.

    Args:
        shell: bash, zsh or fish, as in eval "$(fedbounds completion bash)".
    """


def examples(folder: Path | str = "examples") -> Report:
    """Copy the examples into a folder: a bound, an algorithm, data, a paper and a sweep of your own, and constants.

    Args:
        folder: The folder to write; existing files are kept (examples).
    """
    root = Path(__file__).resolve().parents[1]
    source = next(path for path in (root / "examples", root / "bounds" / "examples") if path.is_dir())
    target = Path(folder)
    writable_folder("the folder", target)
    kept, wrote = [], []
    for path in sorted(path for path in source.iterdir() if path.is_file()):
        copy = target / path.name
        if copy.exists():
            kept.append(copy)
        else:
            wrote.append(write_whole(copy, path.read_text("utf-8")))
    lines = [f"{path} exists and was kept" for path in kept]
    return Report(lines, {"wrote": list(map(str, wrote)), "kept": list(map(str, kept))}, wrote=wrote)
