"""MultiNLI: does one sentence follow from another? In its JSON lines, read as bytes; groups are the five genres."""

from __future__ import annotations

import json

import numpy as np

from ..errors import EmpiricsError
from .dataset import Dataset, numbered, Part, with_test
from .resident import Codes
from .store import damaged, Download, Files, read

ANSWERS = {"entailment": 0, "neutral": 1, "contradiction": 2}
MULTINLI = Files(
    "multinli",
    "multinli",
    ("multinli_1.0_train.jsonl", "multinli_1.0_dev_matched.jsonl"),
    "cims.nyu.edu/~sbowman/multinli",
    (
        Download(
            (
                "https://cims.nyu.edu/~sbowman/multinli/multinli_1.0.zip",
                "https://www.nyu.edu/projects/bowman/multinli/multinli_1.0.zip",
            ),
            "049f507b9e36b1fcb756cfd5aeb3b7a0cfcb84bf023793652987f7e7e0957822",
        ),
    ),
    "OANC's, CC BY-SA 3.0 and others by genre, as its paper says",
)


def multinli(length: int = 128, task: str = "label") -> Dataset:
    """Prompts of ``length`` bytes (cut or padded with 0), as FedALS's released code words them, 393k + 9.8k.

    ``task="label"``: the target is the answer (3 classes). ``task="next"``: the prompt ends with the answer, inputs are
    all bytes but the last and targets ``(n, length - 1)`` all but the first, padding included, as in that code.
    """
    if length < 2 or task not in ("label", "next"):
        raise EmpiricsError(f"multinli takes length >= 2 and task 'label' or 'next'; got {length} and {task!r}")
    train, test = (_prompts(name, length, task) for name in MULTINLI.names)
    groups, test_groups, names = numbered(train[2], test[2])
    following = task == "next"
    kind, classes = ("sequence", 256) if following else ("classification", 3)
    train_part, test_part = _part(train, groups, following), _part(test, test_groups, following)
    about = {"group_names": names, "group_word": "genre", "prepare": Codes()}
    return with_test(MULTINLI, train_part, test_part, classes, kind=kind, **about)


def _part(read: tuple[np.ndarray, np.ndarray, list[str]], groups: np.ndarray, following: bool) -> Part:
    prompts, answers, _ = read
    return (prompts[:, :-1], prompts[:, 1:].astype(np.int64), groups) if following else (prompts, answers, groups)


def _prompts(name: str, length: int, task: str) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Prompts as bytes, answers and genres; pairs without an agreed answer ("-") are left out."""
    path = MULTINLI.one(name)
    rows, answers, genres = [], [], []
    try:
        for line in read(path).decode().splitlines():
            pair = json.loads(line)
            if (label := pair["gold_label"]) == "-":
                continue
            target = f" {label}" if task == "next" else ""
            text = f"mnli hypothesis: {pair['sentence2']} premise: {pair['sentence1']} target:{target}"
            rows.append(text.encode()[:length].ljust(length, b"\0"))
            answers.append(ANSWERS[label])
            genres.append(pair["genre"])
    except (ValueError, KeyError, TypeError) as error:
        raise damaged(path, f"{type(error).__name__}: {error}") from None
    if not rows:
        raise damaged(path, "no pairs")
    return np.frombuffer(b"".join(rows), np.uint8).reshape(-1, length), np.array(answers), genres
