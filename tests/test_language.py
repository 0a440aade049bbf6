"""Plain language: private words do not occur in what a user reads."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from loops import cases

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("bounds", "empirics", "paper_checks", "figures", "docs/making")
PRIVATE = {
    r"\brooms?\b": "package",
    r"\b(speaks?|spoken|speaking) (of|about|here)\b|\b(bound|theorem|lemma|it)s? speaks?\b": "applies, is about",
    r"\b(is|are|falls?|stays?) silent\b": "does not apply",
    r"\b(holds?|held) [^.;:]{0,30}\bagainst\b": "compares with",
    r"\btwins?\b": "quadratic surrogate, reference implementation",
    r"\bfringe\b": "weakened assumption",
    r"\bsharper\b": "improved",
    r"\bpeople\b": "clients, users",
    r"\bunlikeness\b|\balike\b(?!=)|\bunlike (?!the|a|an|in|those|any|most|gradients$)": "different, identical, equal",
    r"\bladder\b": "ranking",
    r"\bon trust\b": "assumed",
    r"(?<!\.)\bartefacts?\b(?!=)": "figure or table",
    r"\bso many\b": "N, that many",
    r"\b(un)?settle[sd]?\b": "decide, converge",
    r"\blook(s|ed|ing)? at\b": "check, use",
    r"\bnobody\b": "no client, no one",
    r"(?<![tT]here )(?<!where )\b(is|are) no (?!longer|more|less|such|other|larger|smaller|further)\w+": "is not a",
    r"(?<!\.)\btold\b": "given",
    r"\basked (for|of)\b": "requested, needed",
}
"""What grew here, as patterns, and what the field says."""
QUOTED = re.compile(r"`[^`]*`|'[^']*'|\"[^\"]*\"|\{[^}]*\}")
"""Code and quotations keep their words."""


def strings(path: Path) -> Iterator[tuple[int, str]]:
    """The texts of a module that are not documentation: messages, helps, notes."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documentation = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        shown = isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation
        if shown and " " in node.value:
            yield node.lineno, node.value


def private(text: str) -> list[str]:
    """The private words of a text, each with what to write instead."""
    plain = QUOTED.sub("", " ".join(text.split()))
    found = ((match, instead) for word, instead in PRIVATE.items() for match in re.finditer(word, plain))
    return [f"{plain[max(0, m.start() - 40) : m.end() + 20]!r}: write {instead}" for m, instead in found]


MODULES = [ROOT / "fedbounds.py", *(path for part in PACKAGES for path in sorted((ROOT / part).rglob("*.py")))]
PAGES = [
    ROOT / "README.md",
    *(p for p in sorted((ROOT / "docs").rglob("*.md")) if not {"_build", "reference"} & {*p.parts}),
    *sorted((ROOT / "figures" / "explorer" / "web").glob("*.[jh][st]*")),
    *sorted((ROOT / "paper_checks" / "claims").glob("*/*.toml")),
    *sorted((ROOT / "docs" / "making" / "templates").iterdir()),
]


@cases("path", MODULES)
def test_messages_helps_and_notes_are_in_the_words_of_the_field(path):
    bad = [f"line {line}: {words}" for line, text in strings(path) for words in private(text)]
    assert not bad, "\n".join(bad)


@cases("path", PAGES)
def test_pages_are_in_the_words_of_the_field(path):
    text = re.sub(r"/\*.*?\*/|<[^>]*>|\{[^}]*\}+", " ", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    texts = re.findall(r"\"([^\"\n]* [^\"\n]*)\"", text) if path.suffix == ".js" else [text]
    bad = [words for one in texts for words in private(one)]
    assert not bad, "\n".join(bad)
