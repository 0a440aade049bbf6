"""The list of bounds without building them: ``index.json``. ``python -m bounds.index`` remakes it; a test compares."""

from __future__ import annotations

import json
from pathlib import Path

PATH = Path(__file__).with_name("index.json")


def entries() -> list[dict[str, str]]:
    """What ``fedbounds list`` prints of every bound, in the order of the catalogue."""
    found: list[dict[str, str]] = json.loads(PATH.read_text(encoding="utf-8"))
    return found


def text() -> str:
    """What the file has to say: one line per bound of the catalogue."""
    from .catalog import BOUNDS
    from .showing.cards import summary

    lines = (json.dumps(summary(bound), ensure_ascii=False) for bound in BOUNDS.values())
    return "[\n" + ",\n".join(lines) + "\n]\n"


if __name__ == "__main__":
    PATH.write_text(text(), encoding="utf-8")
