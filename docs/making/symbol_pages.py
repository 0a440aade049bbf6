"""The symbols of all papers in one table: a word of the vocabulary, its meaning and unit, and each paper's letter."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from bounds.catalog import BOUNDS
from bounds.papers import PAPERS
from bounds.showing.cards import letters_of
from bounds.stated import ADMISSIBLE, COST, DEFINED, DESIGN, FREE, OUTCOME, QUANTITIES, role_of

from .text import cell_math, entries, page, plain, table, wide

GROUPS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "chosen": ("What a run chooses", "The knobs of a method, and the free constants of proofs.", (DESIGN, FREE)),
    "constants": ("Constants of a problem", "What a theorem assumes to be known of it.", (DEFINED, *ADMISSIBLE)),
    "costs": ("Times and sizes", "What a round costs.", (COST,)),
    "outcomes": ("What is bounded", "The left sides of the bounds.", (OUTCOME,)),
    "measured": ("What is measured", "Outcomes of a run on the right sides of bounds.", (OUTCOME,)),
}
"""By file: the title, a sentence, and the roles of the words on the page."""


@cache
def letters() -> dict[str, dict[str, list[str]]]:
    """By word of the catalogue and by paper: the letters, those of most bounds first."""
    found: dict[str, dict[str, dict[str, int]]] = {}
    for bound in BOUNDS.values():
        for quantity, letter in letters_of(bound).items():
            count = found.setdefault(quantity.name, {}).setdefault(bound.source.paper, {})
            count[letter] = count.get(letter, 0) + 1
    return {
        word: {paper: sorted(count, key=lambda letter: -count[letter]) for paper, count in papers.items()}
        for word, papers in sorted(found.items())
    }


def overview() -> str:
    """Where to find which words, and the letters that mean more than one."""
    said = (
        "One letter is another word in another paper, so values are given by words: `local_steps=8`, never `K=8`. "
        "Each table has the letter of every paper; `fedbounds list quantities WORD` prints a line of it."
    )
    groups = table(
        ["table", "what it holds", "words"],
        ([f"[{title}]({file}.md)", words, str(len(_words(file)))] for file, (title, words, _) in GROUPS.items()),
    )
    rows = ([cell_math(letter), "; ".join(_meanings(words))] for letter, words in sorted(_shared().items()))
    return page(
        "# Symbols of all papers",
        entries("notation", "symbol table", "letters", "symbols", main=True),
        said,
        groups,
        "## Letters with more than one meaning",
        table(["letter", "meanings"], rows),
        ["```{toctree}", ":hidden:", "", *GROUPS, "```"],
    )


def _shared() -> dict[str, dict[str, list[str]]]:
    """By letter: the words that it stands for, with their papers, where there are several."""
    found: dict[str, dict[str, list[str]]] = {}
    for word, papers in letters().items():
        for paper, several in papers.items():
            for letter in several:
                found.setdefault(letter, {}).setdefault(word, []).append(PAPERS[paper].short)
    return {letter: words for letter, words in found.items() if len(words) > 1}


def _meanings(words: dict[str, list[str]]) -> Iterator[str]:
    for word, papers in words.items():
        yield f"`{word}` in {', '.join(papers)}"


def _words(file: str) -> list[str]:
    bounded = {bound.target.name for bound in BOUNDS.values()}
    return [
        word
        for word in letters()
        if role_of(word) in GROUPS[file][2] and (role_of(word) != OUTCOME or (word in bounded) == (file == "outcomes"))
    ]


def of_group(file: str) -> str:
    """The table of one group: a column for each paper, or one for all where words are mostly of one paper."""
    title, said, roles = GROUPS[file]
    shorts = ["letters"] if OUTCOME in roles else [paper.short for paper in PAPERS.values()]
    rows = (
        [
            f"`{word}`",
            plain(QUANTITIES[word].card.meaning),
            plain(str(QUANTITIES[word].card.unit)),
            *(["; ".join(_told(word))] if OUTCOME in roles else (_letters(word, paper) for paper in PAPERS)),
        ]
        for word in _words(file)
    )
    return wide(f"# {title}", said, table(["word", "meaning", "unit", *shorts], rows))


def _letters(word: str, paper: str) -> str:
    return ", ".join(map(cell_math, letters()[word].get(paper, ())))


def _told(word: str) -> Iterator[str]:
    for paper in letters()[word]:
        yield f"{_letters(word, paper)} in {PAPERS[paper].short}"
