"""What a bundle says of itself to others: ``codecheck.yml`` for who runs it again, an RO-Crate for archives.

Both name every file, the command that makes each figure, this machine and its versions. Formats: CODECHECK's
configuration file 1.0 (https://codecheck.org.uk/spec/config/1.0/) and RO-Crate 1.1 (https://w3id.org/ro/crate/1.1).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, UTC
from pathlib import Path
from typing import Any
from urllib.parse import quote

from bounds.errors import BoundsError
from bounds.papers import PAPERS
from bounds.showing.files import write_whole

from .artefact import Artefact
from .report import card

CODECHECK, CRATE = "codecheck.yml", "ro-crate-metadata.json"
CONFIGURATION = "https://codecheck.org.uk/spec/config/1.0/"
PROFILE = "https://w3id.org/ro/crate/1.1"
LICENCE = "https://spdx.org/licenses/Apache-2.0"
PROJECT = "fedbounds: evaluate, measure and check the theoretical bounds of federated learning"
DEVELOPERS = "The fedbounds developers"
OPEN = f"""\
# Yours: title, authors (with ORCID) and a reference of the paper that these files belong to.
paper:
  title: "{PROJECT}"
  authors:
    - name: "{DEVELOPERS}"

# Added by who checks: codechecker (name, ORCID) and report (where it is published)."""
"""What people complete by hand."""
YAML = "%YAML 1.1\n---"
"""How CODECHECK's file begins."""
FIGURES = "figures"
KINDS = {
    ".csv": "text/csv", ".json": "application/json", ".md": "text/markdown", ".tex": "application/x-tex",
    ".parquet": "application/vnd.apache.parquet", ".pdf": "application/pdf", ".png": "image/png",
    ".svg": "image/svg+xml", ".bib": "application/x-bibtex", ".yml": "application/yaml", ".xz": "application/x-xz",
}  # fmt: skip
Entity = dict[str, Any]


@dataclass(frozen=True)
class Made:
    """One figure or table of a bundle: its files, what it is, the command that makes it, and the card of its runs."""

    name: str
    words: str
    command: str
    files: Sequence[str]
    card: Mapping[str, Any]


def write(
    folder: Path, others: Mapping[str, str], artefacts: Sequence[Artefact], scale: str, machine: Mapping[str, Any]
) -> None:
    """Both files of a bundle: of ``others`` (path and what it holds) and of what its figures consist of."""
    made = [_made(folder, artefact, scale) for artefact in artefacts]
    write_whole(folder / CODECHECK, _codecheck(others, made, scale, machine))
    entities = _crate(folder, {**others, CODECHECK: "how to check the computations"}, made, machine)
    content = {"@context": f"{PROFILE}/context", "@graph": entities}
    write_whole(folder / CRATE, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def refuse_completed(folder: Path) -> None:
    """Refuse a folder whose configuration file somebody has completed by hand, which would be lost."""
    path = folder / CODECHECK
    if path.is_file() and OPEN not in path.read_text(encoding="utf-8", errors="replace"):
        raise BoundsError(f"{path} was completed by hand, and would be replaced: move it, or write elsewhere with -o")


def _made(folder: Path, artefact: Artefact, scale: str) -> Made:
    files = [path for path in sorted((folder / FIGURES).rglob(f"{artefact.name}.*")) if path.suffix in KINDS]
    return Made(
        artefact.name,
        f"{artefact.source or 'Ours'}: {artefact.title}",
        f"fedbounds figure {artefact.name} --scale {scale} -o {FIGURES}",
        [path.relative_to(folder).as_posix() for path in files],
        card(folder / FIGURES / f"{artefact.name}.json"),
    )


# ---- CODECHECK ----


def _codecheck(others: Mapping[str, str], made: Sequence[Made], scale: str, machine: Mapping[str, Any]) -> str:
    """The configuration file; who checks adds ``codechecker`` and ``report``. JSON's texts are YAML's in quotes."""
    lines = [YAML, f"version: {CONFIGURATION}", "", "manifest:"]
    for one in made:
        for file in one.files:
            if not file.endswith(".json"):  # a card says when and where, which no second run repeats
                lines += _item(file, f"{one.words}; {one.card['minutes']:g} minutes of runs; made by: {one.command}")
    for file, words in others.items():
        lines += _item(file, f"{words}; made by: fedbounds bundle --scale {scale}")
    lines += [
        "",
        OPEN,
        "",
        "fedbounds:",
        *(f"  {name}: {_quoted(machine[name])}" for name in ("python", "system", "processor", "device", "commit")),
        "  versions:",
        *(f"    {_quoted(name)}: {_quoted(version)}" for name, version in machine["versions"].items()),
        "  commands:",
        *(f"    {_quoted(one.name)}: {_quoted(one.command)}" for one in made),
    ]
    return "\n".join(lines) + "\n"


def _item(file: str, comment: str) -> list[str]:
    return [f"  - file: {_quoted(file)}", f"    comment: {_quoted(comment)}"]


def _quoted(words: str) -> str:
    return json.dumps(words, ensure_ascii=False)


# ---- RO-Crate ----


def _crate(folder: Path, others: Mapping[str, str], made: Sequence[Made], machine: Mapping[str, Any]) -> list[Entity]:
    """The entities: the bundle, its files, what made each figure and by which software where, papers, licence."""
    words = {**others, **{file: one.words for one in made for file in one.files}}
    files = [_file(folder / file, file, text) for file, text in words.items()]
    here = _tools(
        {name: [version] for name, version in machine["versions"].items()},
        [machine["python"]],
        [machine["processor"] or machine["system"]],
    )
    tools = {one.name: _of_runs(one.card) or here for one in made}
    actions = [_action(one, tools[one.name]) for one in made if one.files]
    known = {tool["@id"]: tool for each in (here, *tools.values()) for tool in each}
    papers = [_paper(key) for key in PAPERS]
    root = {
        "@id": "./",
        "@type": "Dataset",
        "name": "A bundle of fedbounds",
        "description": "Figures, tables and numbers about bounds of federated learning, and the audit of their papers.",
        "datePublished": datetime.now(UTC).date().isoformat(),
        "license": {"@id": LICENCE},
        "author": {"@id": "#developers"},
        "citation": _links(papers),
        "hasPart": _links(files),
        "mentions": _links(actions),
    }
    descriptor = {"@id": CRATE, "@type": "CreativeWork", "conformsTo": {"@id": PROFILE}, "about": {"@id": "./"}}
    developers = {"@id": "#developers", "@type": "Organization", "name": DEVELOPERS}
    licence = {"@id": LICENCE, "@type": "CreativeWork", "name": "Apache License 2.0"}
    return [descriptor, root, *files, *actions, *known.values(), developers, licence, *papers]


def _links(entities: Iterable[Entity]) -> list[Entity]:
    return [{"@id": entity["@id"]} for entity in entities]


def _file(path: Path, relative: str, words: str) -> Entity:
    return {
        "@id": quote(relative),
        "@type": "File",
        "name": path.name,
        "description": words,
        "encodingFormat": KINDS[path.suffix],
        "contentSize": str(path.stat().st_size),
    }


def _action(made: Made, tools: Sequence[Entity]) -> Entity:
    return {
        "@id": f"#make-{made.name}",
        "@type": "CreateAction",
        "name": made.words,
        "description": made.command,
        "instrument": _links(tools),
        "result": [{"@id": quote(file)} for file in made.files],
    }


def _of_runs(card: Mapping[str, Any]) -> list[Entity]:
    """The software and the machines of the runs that a figure reads; nothing where it reads none."""
    return _tools(card["versions"], card["python"], card["processors"])


def _tools(versions: Mapping[str, Sequence[str]], pythons: Sequence[str], processors: Sequence[str]) -> list[Entity]:
    named = {**versions, "Python": pythons}
    return [
        *(
            {"@id": f"#{quote(f'{name}-{version}')}", "@type": "SoftwareApplication", "name": name, "version": version}
            for name, each in named.items()
            for version in filter(None, each)
        ),
        *({"@id": f"#{quote(name)}", "@type": "IndividualProduct", "name": name} for name in filter(None, processors)),
    ]


def _paper(key: str) -> Entity:
    paper = PAPERS[key]
    return {
        "@id": f"#{key}",
        "@type": "ScholarlyArticle",
        "name": paper.title,
        "author": list(paper.authors),
        "datePublished": str(paper.year),
        "publisher": paper.venue,
    }
