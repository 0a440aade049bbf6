"""Tweets as bags of words: Sentiment140 in its original CSV, in LEAF's JSON and as samples, and Twitter US Airline.

A text becomes its counts of the most frequent words of the training texts (split at white space, as released code of
Decaying-K does); texts without a known word are left out, as there. ``Frequencies`` turns counts into shares.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..errors import EmpiricsError
from .dataset import Dataset, numbered, Part, with_test
from .leaf import PARTS, users
from .resident import Frequencies
from .store import damaged, Files, read

COPYRIGHT = "none (the texts belong to their authors)"
SENT140 = Files("sent140", "sent140", PARTS, "github.com/TalwalkarLab/leaf", licence=COPYRIGHT)
SENT140_USERS = Files(
    "sent140_users", "tweets", ("sent140_leaf_k30_test.jsonl",), "github.com/TalwalkarLab/leaf", licence=COPYRIGHT
)
SENT140_SAMPLE = Files(
    "sent140_sample", "tweets", ("sent140_20k_sample.csv",), "help.sentiment140.com/for-students", licence=COPYRIGHT
)
SENT140_CSV = Files(
    "sent140_csv",
    "tweets",
    ("training.1600000.processed.noemoticon.csv",),
    "help.sentiment140.com/for-students",
    licence=COPYRIGHT,
)
AIRLINE = Files(
    "airline",
    "tweets",
    ("twitter_us_airline.csv",),
    "www.kaggle.com/datasets/crowdflower/twitter-airline-sentiment",
    licence="CC BY-NC-SA 4.0 (as its page says)",
)
MOODS = {"negative": 0, "neutral": 1, "positive": 2}


class Texts(NamedTuple):
    """Texts with their labels and users."""

    text: list[str]
    label: list[int]
    user: list[str]


def sent140(words: int = 5000) -> Dataset:
    """LEAF's Sentiment140 (train and test of the same users): two moods, bag of the ``words`` most frequent words."""
    parts = [_texts(SENT140.one(part), _posts(part)) for part in PARTS]
    return _bags(SENT140, parts[0], 2, words, parts[1])


def _posts(part: str) -> Iterator[tuple[str, int, str]]:
    """Text, label and user of every tweet; LEAF keeps a tweet as [id, date, query, user, text, ...]."""
    for path, user, posts, labels in users(SENT140, part):
        for post, y in zip(posts, labels, strict=True):
            if not isinstance(post, list) or len(post) < 5:
                raise damaged(path, f"user {user}: a tweet is not a list with its text as the fifth entry")
            yield post[4], int(y), user


def sent140_users(words: int = 5000) -> Dataset:
    """The test part of LEAF's Sentiment140 with at least 30 tweets a user, one JSON line per user: 16,025 tweets."""
    path = SENT140_USERS.one(SENT140_USERS.names[0])

    def rows() -> Iterator[tuple[str, int, str]]:
        for line in _lines(path):
            user = json.loads(line)
            for text, y in zip(user["x"], user["y"], strict=True):
                yield text, int(y), user["user"]

    return _bags(SENT140_USERS, _texts(path, rows()), 2, words)


def sent140_sample(words: int = 5000) -> Dataset:
    """20,000 tweets of Sentiment140 with columns user, label, text; mostly one tweet a user: a common pool."""
    path = SENT140_SAMPLE.one(SENT140_SAMPLE.names[0])
    rows = ((row["text"], int(row["label"]), row["user"]) for row in csv.DictReader(_lines(path)))
    return _bags(SENT140_SAMPLE, _texts(path, rows), 2, words)


def sent140_csv(words: int = 5000) -> Dataset:
    """All 1.6 million tweets in the original CSV: polarity 0 or 4, id, date, query, user, text, no header, Latin-1."""
    path = SENT140_CSV.one(SENT140_CSV.names[0])
    rows = ((row[5], {"0": 0, "4": 1}[row[0]], row[4]) for row in csv.reader(_lines(path, "latin-1")))
    return _bags(SENT140_CSV, _texts(path, rows), 2, words)


def airline(words: int = 5000) -> Dataset:
    """14,640 tweets of 7,701 users about US airlines: negative, neutral, positive."""
    path = AIRLINE.one(AIRLINE.names[0])
    rows = ((row["text"], MOODS[row["sentiment"]], row["user"]) for row in csv.DictReader(_lines(path)))
    return _bags(AIRLINE, _texts(path, rows), 3, words)


def vocabulary(texts: Iterable[str], words: int) -> dict[str, int]:
    """The most frequent words and their columns; words that occur equally often come in alphabetical order."""
    counts = Counter(word for text in texts for word in text.split())
    ranked = sorted(counts, key=lambda word: (-counts[word], word))
    return {word: column for column, word in enumerate(ranked[:words])}


def bags(texts: Sequence[str], columns: dict[str, int]) -> np.ndarray:
    """Counts of the known words ``(texts, words)``; a word counts at most 255 times in a text."""
    counts = np.zeros((len(texts), len(columns)), dtype=np.uint8)
    for row, text in enumerate(texts):
        for word, count in Counter(w for w in text.split() if w in columns).items():
            counts[row, columns[word]] = min(count, 255)
    return counts


def _lines(path: Path, encoding: str = "utf-8") -> io.StringIO:
    try:
        return io.StringIO(read(path).decode(encoding), newline="")
    except UnicodeDecodeError as error:
        raise damaged(path, error) from None


def _texts(path: Path, rows: Iterable[tuple[str, int, str]]) -> Texts:
    """The rows as columns; whatever is wrong with one is the file's fault."""
    try:
        text, label, user = zip(*rows, strict=True)
    except (ValueError, KeyError, IndexError, TypeError, csv.Error) as error:
        raise damaged(path, f"{type(error).__name__}: {error}") from None
    return Texts(list(text), list(label), list(user))


def _bags(files: Files, train: Texts, classes: int, words: int, test: Texts | None = None) -> Dataset:
    if words < 1:
        raise EmpiricsError(f"words must be at least 1; got {words}")
    columns = vocabulary(train.text, words)
    groups, test_groups, names = numbered(train.user, test.user if test else None)

    def known(texts: Texts, users: np.ndarray) -> Part:
        counts = bags(texts.text, columns)
        kept = counts.any(axis=1)
        return counts[kept], np.array(texts.label, dtype=np.int64)[kept], users[kept]

    held_out = known(test, test_groups) if test else None
    about = {"group_names": names, "group_word": "user", "prepare": Frequencies()}
    return with_test(files, known(train, groups), held_out, classes, **about)
