"""What is installed: a wheel built as ``.ci/run`` does, used from the unpacked archive alone."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from figures.making import COMMITTED, LONGEST_FIRST, RUNS

ROOT = COMMITTED.parents[1]
FOLDERS = ("bounds", "empirics", "paper_checks", "figures", "examples")
FILES = ("fedbounds.py", "setup.py", "pyproject.toml", "README.md", "LICENSE")


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The folder of an unpacked wheel, built beside the working tree."""
    source, made = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("made")
    for name in FOLDERS:
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in FILES:
        shutil.copy(ROOT / name, source)
    line = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(made), str(source)]
    subprocess.run(line, check=True, capture_output=True)
    (wheel,) = made.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(made / "unpacked")
    return made / "unpacked"


def drawn(installed, folder, *words):
    """Status and errors of ``fedbounds figure`` by what is installed, without data."""
    environment = {k: v for k, v in os.environ.items() if k != "FEDBOUNDS_DATA"} | {"PYTHONPATH": str(installed)}
    line = [sys.executable, "-m", "fedbounds", "figure", *words, "--no-sweep", "--store", "s", "-o", "out"]
    done = subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True)
    return done.returncode, [row for row in done.stderr.splitlines() if "drawing" not in row]


@pytest.mark.slow
def test_the_runs_that_are_kept_are_installed_and_drawn_from(installed, tmp_path):
    here = {p.relative_to(ROOT) for scale in LONGEST_FIRST for p in (ROOT / "figures" / scale).glob(f"{RUNS}/*")}
    assert len(here) > 40
    assert here == {path.relative_to(installed) for path in Path(installed, "figures").rglob(f"{RUNS}/*")}
    assert drawn(installed, tmp_path, "fedinit.figure_1b", "fedcog.figure_6") == (0, [])
    for name in ("fedinit.figure_1b", "fedcog.figure_6"):
        ours = (COMMITTED / f"{name}.csv").read_text()
        assert (tmp_path / "out" / f"{name}.csv").read_text() == ours
    assert {p.name for p in (installed / "bounds" / "examples").glob("*.*")} >= {"sites.json", "my_bound.py"}
    status, said = drawn(installed, tmp_path, "fedinit.figure_1b", "--scale", "smoke")
    assert (status, len(said)) == (2, 1)
    assert "fedinit.figure_1b" in said[0]
