"""CONTRIBUTING's recipes, followed to the letter in a scratch copy: each leaves the tests that it names green."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

pytestmark = pytest.mark.slow

BOUND = '''"""A bound for the recipe's test."""

from ..core import Bound
from ..papers import Source
from ..vocabulary import cohort as N, grad_norm_sq, gradient_variance as sigma2, smoothness as L, step_size as eta

recipe = Bound(
    name="fedcog.recipe",
    target=grad_norm_sq,
    terms={"noise": L * eta * sigma2 / N},
    source=Source("fedcog", "Section 5, for the recipe"),
)
'''

TWIN = '''

def recipe(v):
    """Section 5, for the recipe."""
    return v.smoothness * v.step_size * v.gradient_variance / v.cohort
'''

POINT = """
POINTS["fedcog.recipe"] = {"cohort": 7, "gradient_variance": 1.9, "smoothness": 1.7, "step_size": 0.031}
"""

CONTRACT = """
import inspect, sys
sys.path[:0] = ["tests"]
import test_every_bound as contract
row = {"name": "fedcog.recipe", "bound": contract.BOUNDS["fedcog.recipe"], "point": contract.POINTS["fedcog.recipe"]}
tests = [test.one for test in vars(contract).values() if hasattr(test, "one")]
for test in tests:
    test(**{name: row[name] for name in inspect.signature(test).parameters})
print(len(tests))
"""

CLAIM = """
[settings."settings.recipe"]
words = "A square is a product."
setting = "Section 6.1"
check = "local_steps**2 == local_steps*local_steps"
note = "Ours, for the recipe."
"""

FIGURE = '''"""A table for the recipe's test: no runs, two numbers."""

from __future__ import annotations

from ..artefact import Content
from ..runs import Runs


def data(runs: Runs, scale: str) -> Content:
    rows = [{"row": "a", "column": "b", "ours": 2.5}, {"row": "c", "column": "b", "ours": 3.5}]
    return Content("Two numbers.", rows, [["", "b"], ["a", "2.5"], ["c", "3.5"]], [])

'''


class Scratch:
    """A copy of the tracked files, to be changed at will."""

    def __init__(self, folder):
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
        if listed.returncode:
            pytest.skip("not a git checkout")
        for name in filter(None, listed.stdout.split("\0")):
            if (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes((ROOT / name).read_bytes())
        self.folder = folder

    def write(self, name, text):
        assert not (self.folder / name).exists()
        (self.folder / name).write_text(text, encoding="utf-8")

    def append(self, name, text):
        path = self.folder / name
        path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")

    def replace(self, name, old, new):
        path = self.folder / name
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{name}: {old}"
        path.write_text(text.replace(old, new), encoding="utf-8")

    def run(self, *command):
        environment = {**os.environ, "PYTHONPATH": str(self.folder)}
        done = subprocess.run(
            [sys.executable, *command], cwd=self.folder, env=environment, capture_output=True, text=True, check=False
        )
        assert not done.returncode, done.stdout[-3000:] + done.stderr[-3000:]
        return done.stdout

    def test(self, *chosen):
        out = self.run("-m", "pytest", "-q", "-p", "no:cacheprovider", *chosen)
        assert " passed" in out


@pytest.fixture
def scratch(tmp_path):
    return Scratch(tmp_path)


def test_a_bound_is_added_as_the_recipe_says(scratch):
    scratch.write("bounds/fedcog/recipe.py", BOUND)
    scratch.replace("bounds/catalog.py", "proof method", "proof method recipe")
    scratch.append("bounds/points/fedcog.py", POINT)
    scratch.append("tests/twins/fedcog.py", TWIN)
    assert "fedcog.recipe" in scratch.run("-m", "fedbounds", "list", "--paper", "fedcog")  # the index builds itself
    scratch.test("tests/test_every_bound.py", "tests/test_architecture.py", "-k", "point_and_a_twin or index or rooms")
    assert int(scratch.run("-c", CONTRACT)) > 15


def test_a_claim_is_added_as_the_recipe_says(scratch):
    scratch.append("paper_checks/claims/fedcog/claims.toml", CLAIM)
    # the committed report is renewed by the whole audit, which takes minutes: here by this claim alone, elsewhere
    scratch.run("-m", "fedbounds", "check", "fedcog.settings.recipe", "--report", "report")
    assert "#### fedcog.settings.recipe" in (scratch.folder / "report/reports/fedcog.md").read_text(encoding="utf-8")


def test_a_figure_is_added_as_the_recipe_says(scratch):
    scratch.write("figures/ours/table_recipe.py", FIGURE)
    first = "ENTRIES = {\n"
    entry = '    "table_recipe": Artefact("two numbers", lazy("table_recipe.data"), reads=no_runs),\n'
    scratch.replace("figures/ours/__init__.py", first, first + entry)
    scratch.run("-m", "fedbounds", "figure", "ours.table_recipe", "--scale", "laptop", "-o", "figures/laptop")
    tests = ("tests/figures/test_every_artefact.py", "tests/figures/test_committed.py")
    scratch.test(*tests, "-k", "recipe or nothing_else or report_is_made")
