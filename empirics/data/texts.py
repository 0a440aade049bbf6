"""Data sets of texts: characters of Shakespeare and bytes of MultiNLI for sequence models, tweets as bags of words.

The windows of a speaker of Shakespeare run over all their speeches in order, as in LEAF. Tweets become counts of the
most frequent words of the training texts (split at white space), and tweets without any of these words are omitted,
both as in the released code of Decaying-K. ``Frequencies`` turns counts into shares.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from ..errors import EmpiricsError
from ..numbers import must
from .conversion import Codes, Frequencies
from .dataset import Dataset, numbered, Part, with_test
from .store import damaged, FILES, Files, leaf_users, read, reading

# ---- Shakespeare: predict the character after 80 characters, or after each of them; clients are speakers ----

LETTERS = " !\"&'(),-.0123456789:;>?ABCDEFGHIJKLMNOPQRSTUVWXYZ[]abcdefghijklmnopqrstuvwxyz}"
"""Decaying-K's alphabet: LEAF's without the line feed. Other characters count as a space."""


def tiny_shakespeare(length: int = 80, stride: int = 1, alphabet: str = "own", task: str = "last") -> Dataset:
    """A million characters of the plays; ``alphabet`` is ``"own"`` (the 65 letters of the file) or ``"paper"``.

    With ``task="next"`` targets are ``(n, length)``: the character after every position, for language models.
    """
    files = FILES["tiny_shakespeare"]
    path, speeches = files.one("input.txt"), dict[str, list[str]]()
    with reading(path):
        for block in read(path).decode().split("\n\n"):
            heading, _, text = block.strip("\n").partition("\n")
            if not heading.endswith(":"):
                raise ValueError(f"a block starts with {heading[:30]!r}, not with a heading")
            speeches.setdefault(heading[:-1], []).append(text)
    return _sequences(files, speeches, length, stride, alphabet, task)


def shakespeare(
    length: int = 80, stride: int = 1, alphabet: str = "paper", least_lines: int = 3, task: str = "last"
) -> Dataset:
    """All plays, with a client for every role of a play; roles with fewer lines are omitted (LEAF omits up to 2)."""
    files = FILES["shakespeare"]
    path, speeches = files.one(files.names[0]), dict[str, list[str]]()
    with reading(path):
        for speech in map(json.loads, read(path).decode().splitlines()):
            speeches.setdefault(f"{speech['play']}: {speech['speaker']}", []).append(speech["text"])
    long = {role: texts for role, texts in speeches.items() if sum(t.count("\n") + 1 for t in texts) >= least_lines}
    return _sequences(files, long, length, stride, alphabet, task)


def codes(text: str, letters: str) -> np.ndarray:
    """Return the index of every character in ``letters``; others count as a space (or the first letter)."""
    table = np.full(0x110000, max(letters.find(" "), 0), dtype=np.uint8)
    table[[ord(c) for c in letters]] = np.arange(len(letters))
    return table[np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)]


def _sequences(
    files: Files, speeches: dict[str, list[str]], length: int, stride: int, alphabet: str, task: str
) -> Dataset:
    must(min(length, stride) >= 1, "length and stride", "at least 1", (length, stride))
    must(alphabet in ("own", "paper"), "alphabet", "'own' or 'paper'", alphabet)
    must(task in ("last", "next"), "task", "'last' or 'next'", task)
    texts = {role: "\n".join(parts) for role, parts in speeches.items()}
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
    options = {"group_names": names, "group_word": "role", "prepare": Codes(), "overlap": length // stride}
    return with_test(files, [train], len(letters), kind="sequence", **options)


# ---- MultiNLI ----

ANSWERS = {"entailment": 0, "neutral": 1, "contradiction": 2}


def multinli(length: int = 128, task: str = "label") -> Dataset:
    """MultiNLI, does one sentence follow from another? Prompts of ``length`` bytes, 393k + 9.8k, of five genres.

    Prompts are truncated or padded with 0, and worded as in FedALS's released code. With ``task="label"`` the target is
    the answer (3 classes). With ``task="next"`` the prompt ends with the answer, inputs are all bytes but the last, and
    targets ``(n, length - 1)`` are all but the first, padding included, as in that code. Pairs without an agreed answer
    ("-") are omitted.
    """
    must(length >= 2, "length of multinli", "at least 2", length)
    must(task in ("label", "next"), "task of multinli", "'label' or 'next'", task)
    files, following, parts = FILES["multinli"], task == "next", []
    for path in map(files.one, files.names):
        rows, answers, genres = [], [], []
        with reading(path):
            for pair in map(json.loads, read(path).decode().splitlines()):
                if (label := pair["gold_label"]) == "-":
                    continue
                target = f" {label}" if following else ""
                text = f"mnli hypothesis: {pair['sentence2']} premise: {pair['sentence1']} target:{target}"
                rows.append(text.encode()[:length].ljust(length, b"\0"))
                answers.append(ANSWERS[label])
                genres.append(pair["genre"])
        if not rows:
            raise damaged(path, "no pairs")
        prompts = np.frombuffer(b"".join(rows), np.uint8).reshape(-1, length)
        inputs, targets = (prompts[:, :-1], prompts[:, 1:].astype(np.int64)) if following else (prompts, answers)
        parts.append((inputs, np.asarray(targets), genres))
    kind, classes = ("sequence", 256) if following else ("classification", 3)
    return with_test(files, parts, classes, kind=kind, group_word="genre", prepare=Codes())


# ---- tweets ----

Tweets = tuple[list[str], list[int], list[str]]
"""Texts, labels and users."""
MOODS = {"negative": 0, "neutral": 1, "positive": 2}


def sent140(words: int = 5000) -> Dataset:
    """LEAF's Sentiment140 (train and test of the same users): two moods, bag of the ``words`` most frequent words."""
    files = FILES["sent140"]

    def rows(part: str) -> Iterator[tuple[str, int, str]]:
        for path, user, posts, labels in leaf_users(files, part):
            for post, y in zip(posts, labels, strict=True):  # a tweet is a list [id, date, query, user, text, ...]
                if not isinstance(post, list) or len(post) < 5:
                    raise damaged(path, f"user {user}: a tweet is not a list with its text as the fifth entry")
                yield post[4], int(y), user

    train, test = (_tweets(files.one(part), rows(part)) for part in files.names)
    return _bags(files, train, 2, words, test)


def sent140_users(words: int = 5000) -> Dataset:
    """The test part of LEAF's Sentiment140 with at least 30 tweets per user, one JSON line per user: 16,025 tweets."""

    def rows(lines: io.StringIO) -> Iterator[tuple[str, int, str]]:
        for user in map(json.loads, lines):
            for text, y in zip(user["x"], user["y"], strict=True):
                yield text, int(y), user["user"]

    return _from_lines("sent140_users", rows, words)


def sent140_sample(words: int = 5000) -> Dataset:
    """20,000 tweets of Sentiment140 with columns user, label, text; most users have one tweet: a common pool."""
    return _from_lines(
        "sent140_sample", lambda lines: ((r["text"], int(r["label"]), r["user"]) for r in csv.DictReader(lines)), words
    )


def sent140_csv(words: int = 5000) -> Dataset:
    """All 1.6 million tweets in the original CSV: polarity 0 or 4, id, date, query, user, text, no header, Latin-1."""
    polarity = {"0": 0, "4": 1}
    return _from_lines(
        "sent140_csv", lambda lines: ((r[5], polarity[r[0]], r[4]) for r in csv.reader(lines)), words, "latin-1"
    )


def airline(words: int = 5000) -> Dataset:
    """14,640 tweets of 7,701 users about US airlines: negative, neutral, positive."""
    return _from_lines(
        "airline", lambda lines: ((r["text"], MOODS[r["sentiment"]], r["user"]) for r in csv.DictReader(lines)), words,
        classes=3,
    )  # fmt: skip


def vocabulary(texts: Iterable[str], words: int) -> dict[str, int]:
    """Return the most frequent words with their columns; ties are in alphabetical order."""
    counts = Counter(word for text in texts for word in text.split())
    ranked = sorted(counts, key=lambda word: (-counts[word], word))
    return {word: column for column, word in enumerate(ranked[:words])}


def bags(texts: Sequence[str], columns: dict[str, int]) -> np.ndarray:
    """Count the words of ``columns`` in every text, up to 255 each ``(texts, len(columns))``."""
    counts = np.zeros((len(texts), len(columns)), dtype=np.uint8)
    for row, text in enumerate(texts):
        for word, count in Counter(w for w in text.split() if w in columns).items():
            counts[row, columns[word]] = min(count, 255)
    return counts


def _from_lines(
    name: str,
    rows: Callable[[io.StringIO], Iterable[tuple[str, int, str]]],
    words: int,
    encoding: str = "utf-8",
    classes: int = 2,
) -> Dataset:
    """Return the set whose single file ``rows`` parses into texts, labels and users."""
    path = FILES[name].one(FILES[name].names[0])
    with reading(path):
        lines = io.StringIO(read(path).decode(encoding), newline="")
    return _bags(FILES[name], _tweets(path, rows(lines)), classes, words)


def _tweets(path: Path, rows: Iterable[tuple[str, int, str]]) -> Tweets:
    """Return the columns of rows that are parsed from the file ``path``."""
    with reading(path):
        text, label, user = zip(*rows, strict=True)
    return list(text), list(label), list(user)


def _bags(files: Files, train: Tweets, classes: int, words: int, test: Tweets | None = None) -> Dataset:
    """Return the set of bags of words, without tweets that contain no word of the vocabulary."""
    must(words >= 1, "words", "at least 1", words)
    columns = vocabulary(train[0], words)
    groups, test_groups, names = numbered(train[2], test[2] if test else None)

    def part(tweets: Tweets, users: np.ndarray) -> Part:
        counts = bags(tweets[0], columns)
        nonempty = counts.any(axis=1)
        return counts[nonempty], np.array(tweets[1], dtype=np.int64)[nonempty], users[nonempty]

    parts = [part(train, groups), *([part(test, test_groups)] if test else [])]
    return with_test(files, parts, classes, group_names=names, group_word="user", prepare=Frequencies())
