"""The journeys that the documentation tells: the command calls the functions that are named, one after the other."""

import json
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "explanation" / "architecture.md").read_text(encoding="utf-8")
*LONG, SHORT = PAGE.split("\n## ")[1:]
JOURNEYS = [
    (
        re.search(r"^`fedbounds (.*)`$", text, flags=re.M)[1],
        re.findall(r"^\| `(\S+\.py)` \| `(\S+)` \|", text, flags=re.M),
    )
    for text in LONG
]
JOURNEYS += [
    (words, re.findall(r"`(\S+\.py):(\S+)`", row))
    for words, row in re.findall(r"^\| `fedbounds (.*?)` \| \d \| (.*) \|$", SHORT, flags=re.M)
]
FILES = (8, 12, 9, 7, *map(int, re.findall(r"^\| `.*?` \| (\d) \|", SHORT, flags=re.M)))

WATCHED = """
import itertools, json, sys
from pathlib import Path

import {modules}
import fedbounds

root, met, clock = sys.argv[1], {{}}, itertools.count()

def called(frame, event, _):
    if frame.f_code.co_filename.startswith(root):
        now = next(clock)
        met[frame.f_code] = (met.get(frame.f_code, (now,))[0], now)

sys.setprofile(called)
status = fedbounds.main(sys.argv[2:])
sys.setprofile(None)
met = {{
    f"{{Path(code.co_filename).relative_to(root).as_posix()}}:{{code.co_qualname}}": when for code, when in met.items()
}}
print(json.dumps([status, met]))
"""


@pytest.mark.parametrize(("journey", "files"), list(zip(JOURNEYS, FILES, strict=True)))
def test_a_journey_passes_the_files_it_names(journey, files, tmp_path):
    typed, rows = journey
    modules = {path.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for path, _ in rows}
    assert len(modules) == files
    words = [part.strip('"') for part in re.findall(r'"[^"]*"|\S+', typed)]
    code = [sys.executable, "-c", WATCHED.format(modules=", ".join(modules)), str(ROOT), *words]
    done = subprocess.run(code, capture_output=True, text=True, cwd=tmp_path, check=True)
    status, called = json.loads(done.stdout.splitlines()[-1])
    assert status == 0
    named = [f"{path}:{function}" for path, function in rows]
    assert [name for name in named if name not in called] == []
    for first, then in pairwise(named):  # a state is measured before the first round, too
        assert called[first][0] < called[then][1], (first, then)
