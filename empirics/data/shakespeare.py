"""Shakespeare, character by character: 80 of them, and the one that follows them or each of them; clients are speakers.

The windows of a speaker run over all their speeches in order, as in LEAF. The alphabet of Decaying-K has 79 letters
(LEAF's without the line feed); anything else counts as a space.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from ..errors import EmpiricsError
from .dataset import Dataset, numbered, with_test
from .resident import Codes
from .store import damaged, Download, Files, read

LETTERS = " !\"&'(),-.0123456789:;>?ABCDEFGHIJKLMNOPQRSTUVWXYZ[]abcdefghijklmnopqrstuvwxyz}"
LICENCE = "public domain (the texts)"
TINY = Files(
    "tiny_shakespeare",
    "shakespeare",
    ("input.txt",),
    "github.com/karpathy/char-rnn",
    (
        Download(
            ("https://raw.githubusercontent.com/karpathy/char-rnn/master/data/tinyshakespeare/input.txt",),
            "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed",
        ),
    ),
    LICENCE,
)
SPEECHES = Files(
    "shakespeare",
    "shakespeare",
    ("plays_speeches.jsonl",),
    "github.com/martin-gorner/tensorflow-rnn-shakespeare (parsed into one JSON line per speech)",
    licence=LICENCE,
)


def tiny_shakespeare(length: int = 80, stride: int = 1, alphabet: str = "own", task: str = "last") -> Dataset:
    """A million characters of the plays with headings "Speaker:"; ``alphabet`` is its own 65 letters or the paper's.

    With ``task="next"`` targets are ``(n, length)``: the character after every position, for language models.
    """
    path = TINY.one("input.txt")
    said: dict[str, list[str]] = {}
    for block in _decoded(path).split("\n\n"):
        heading, _, text = block.strip("\n").partition("\n")
        if not heading.endswith(":"):
            raise damaged(path, f"a block starts with {heading[:30]!r}, not with a heading")
        said.setdefault(heading[:-1], []).append(text)
    return _sequences(TINY, said, length, stride, alphabet, task)


def shakespeare(
    length: int = 80, stride: int = 1, alphabet: str = "paper", least_lines: int = 3, task: str = "last"
) -> Dataset:
    """All plays, a client for every role of a play; roles with fewer lines are left out (LEAF drops those up to 2)."""
    path = SPEECHES.one("plays_speeches.jsonl")
    said: dict[str, list[str]] = {}
    try:
        for line in _decoded(path).splitlines():
            speech = json.loads(line)
            said.setdefault(f"{speech['play']}: {speech['speaker']}", []).append(speech["text"])
    except (ValueError, KeyError, TypeError) as error:
        raise damaged(path, f"{type(error).__name__}: {error}") from None
    long = {role: texts for role, texts in said.items() if sum(t.count("\n") + 1 for t in texts) >= least_lines}
    return _sequences(SPEECHES, long, length, stride, alphabet, task)


def codes(text: str, letters: str) -> np.ndarray:
    """The place of every character in ``letters``; others count as a space (or the first letter)."""
    table = np.full(0x110000, max(letters.find(" "), 0), dtype=np.uint8)
    table[[ord(c) for c in letters]] = np.arange(len(letters))
    return table[np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)]


def _decoded(path: Path) -> str:
    try:
        return read(path).decode()
    except UnicodeDecodeError as error:
        raise damaged(path, error) from None


def _sequences(files: Files, said: dict[str, list[str]], length: int, stride: int, alphabet: str, task: str) -> Dataset:
    if length < 1 or stride < 1:
        raise EmpiricsError(f"length and stride must be at least 1; got {length} and {stride}")
    if alphabet not in ("own", "paper"):
        raise EmpiricsError(f"alphabet must be 'own' or 'paper'; got {alphabet!r}")
    if task not in ("last", "next"):
        raise EmpiricsError(f"task must be 'last' or 'next'; got {task!r}")
    texts = {role: "\n".join(parts) for role, parts in said.items()}
    letters = LETTERS if alphabet == "paper" else "".join(sorted(set("".join(texts.values()))))
    texts = {role: text for role, text in texts.items() if len(text) > length}
    if not texts:
        raise EmpiricsError(f"no speaker of {files.set} says more than {length} characters")
    coded = [codes(text, letters) for text in texts.values()]
    windows = [np.lib.stride_tricks.sliding_window_view(c, length + 1)[::stride] for c in coded]
    groups, _, names = numbered(list(texts))
    pool = np.concatenate([w[:, :-1] for w in windows])
    targets = np.concatenate([w[:, 1:] if task == "next" else w[:, -1] for w in windows]).astype(np.int64)
    train = pool, targets, np.repeat(groups, [len(w) for w in windows])
    about = {"group_names": names, "group_word": "role", "prepare": Codes(), "overlap": length // stride}
    return with_test(files, train, None, len(letters), kind="sequence", **about)
