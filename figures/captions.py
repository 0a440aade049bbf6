"""The words below a picture or a table, put together from what is so at a scale."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

DIGITS = "scikit-learn's digits in place of every data set"
"""At the smoke scale."""


def caption(*sentences: str | Iterable[str], joint: str = "; ") -> str:
    """Sentences in a row; where one comes in parts, ``joint`` stands between these. What is empty is left out."""
    said = (s if isinstance(s, str) else f"{joint.join(filter(None, s))}." for s in sentences)
    return " ".join(filter(None, said))


def plural(count: int, word: str) -> str:
    """A number of things."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


COUNTED = {"rounds": "rounds", "local_steps": "local steps"}
"""Arguments of runs that come before their name."""
SET = {"batch": "batch", "step_size": "step size", "momentum": "momentum", "weight_decay": "weight decay"}
"""Those that come after it."""
ABSENT = ("momentum", "weight_decay")
"""Those that are 0 where a run does not have them."""


def trained(runs: Mapping[str, Mapping[str, Any]]) -> str:
    """How runs train, by name and arguments: what most of them have, and in parentheses those that differ.

    ``300 rounds (FedAvg iid: 150), 5 local steps, batch 16, step size 0.02, momentum 0.9 (SCAFFOLD: 0)``.
    """
    said = []
    for argument, word in {**COUNTED, **SET}.items():
        if argument not in ABSENT and not any(argument in given for given in runs.values()):
            continue
        values = {name: f"{given.get(argument, 0):g}" for name, given in runs.items()}
        most = Counter(values.values()).most_common(1)[0][0]
        others = {v: [n for n in values if values[n] == v] for v in dict.fromkeys(values.values()) if v != most}
        apart = "; ".join(f"{', '.join(names)}: {value}" for value, names in others.items())
        said.append((f"{most} {word}" if argument in COUNTED else f"{word} {most}") + (f" ({apart})" if apart else ""))
    return ", ".join(said)
