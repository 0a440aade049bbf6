"""The shape of the project: imports flow one way, a light library stays light, files are portable, nothing grows."""

import ast
import json
import re
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from bounds import index

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("bounds", "empirics", "paper_checks", "figures", "fedbounds")
"""In the order imports may flow: a room knows those before it only."""
HEAVY = {"torch", "scipy", "sklearn", "matplotlib"}
MOST_LINES = {"product": 74_900, "tests": 27_150, "benchmarks and tools": 5_450}
"""The project shrinks: each total may only be lowered. A file has no limit of its own; it is one idea, whole."""


def sources(room):
    return sorted((ROOT / room).rglob("*.py")) if (ROOT / room).is_dir() else [ROOT / f"{room}.py"]


def imports(path, types=True):
    """What a file imports, wherever in it, by full names; with what it imports for types alone, or without."""
    package = path.relative_to(ROOT).with_suffix("").parts[:-1]
    tree = ast.parse(path.read_text(encoding="utf-8"))
    ifs = [] if types else [n for n in ast.walk(tree) if isinstance(n, ast.If)]
    typed = {id(n) for block in ifs if "TYPE_CHECKING" in ast.unparse(block.test) for n in ast.walk(block)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import) and id(node) not in typed:
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and id(node) not in typed:
            above = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*above, *filter(None, [node.module])])
            yield from (f"{module}.{alias.name}" for alias in node.names)


def imported_rooms(path):
    return {name.partition(".")[0] for name in imports(path)} & {*ROOMS}


def imports_within(room):
    """For every module of a room those that it imports."""
    files = {".".join(p.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): p
             for p in sorted((ROOT / room).rglob("*.py"))}  # fmt: skip
    found = {}
    for module, path in files.items():
        names = {name if name in files else name.rpartition(".")[0] for name in imports(path)}
        found[module] = (names & files.keys()) - {module}
    return found


def test_modules_of_bounds_import_each_other_one_way():
    assert len(list(TopologicalSorter(imports_within("bounds")).static_order())) > 50  # a circle is an error


def tracked_files():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def modules_after(code):
    """The modules that are loaded once a fresh interpreter has run ``code``."""
    script = f"import sys\n{code}\nprint(*sys.modules, sep='\\n', file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(done.stderr.split())


@pytest.mark.parametrize("room", ROOMS)
def test_imports_flow_one_way(room):
    allowed = set(ROOMS[: ROOMS.index(room) + 1])
    strays = {str(p.relative_to(ROOT)): imported_rooms(p) - allowed for p in sources(room)}
    assert not {path: rooms for path, rooms in strays.items() if rooms}


FLOORS = {
    "empirics": (
        "errors", "job_modules", "numbers", "sizes", "streams", "progress", "spec_strings",
        "data", "models", "federation", "algorithms", "training", "problems", "exact", "measuring", "experiments",
        "verbs",
    ),
    "paper_checks": (
        "reported", "forking", "columns", "falsify_options", "runs", "falsifier", "worst_case",
        "validation", "comparing", "claims", "audit", "listing",
    ),
}  # fmt: skip
"""The rooms of a part from the ground up: each imports from those before it only, but for types and for what a verb
loads once its words are read."""
LATER = {("falsify_options", "falsifier")}
"""Words of verbs, and the work that is loaded after they are read."""


def inner_imports(part):
    """Pairs of rooms of which the first imports from the second when it runs, with the files."""
    found = {}
    for path in sources(part):
        _, room, *_ = path.relative_to(ROOT).with_suffix("").parts
        for name in imports(path, types=False):
            whole, _, rest = name.partition(".")
            other = rest.partition(".")[0]
            if whole == part and other != room and room != "__init__":
                found.setdefault((room, other), []).append(path.name)
    return found


@pytest.mark.parametrize("part", FLOORS)
def test_rooms_stand_on_those_below(part):
    floors = FLOORS[part]
    inside = {p.stem for p in (ROOT / part).iterdir() if p.suffix == ".py" or (p.is_dir() and list(p.glob("*.py")))}
    assert inside - {"__init__"} <= {*floors}, "a room without a floor"
    upwards = {
        pair: files
        for pair, files in inner_imports(part).items()
        if pair not in LATER and {*pair} <= {*floors} and floors.index(pair[0]) < floors.index(pair[1])
    }
    assert not upwards


@pytest.mark.parametrize(
    "code",
    ["import bounds", "import fedbounds", "import fedbounds; fedbounds.main(['list'])"],
    ids=["library", "command", "list"],
)
def test_reading_the_catalogue_loads_nothing_heavy(code):
    loaded = modules_after(f"try:\n    {code}\nexcept SystemExit as end:\n    assert not end.code")
    assert {"bounds", "fedbounds"} & loaded
    assert not HEAVY & loaded


def test_help_of_every_verb_loads_nothing_heavy():
    code = f"""
import fedbounds, json
from bounds.showing.verb_table import VERBS
loaded = {{}}
for verb in VERBS:
    before = set(sys.modules)
    assert fedbounds.main([verb, "--help"]) == 0
    loaded[verb] = sorted((set(sys.modules) - before) & {HEAVY | {"distributed", "pyarrow", "pandas", "clarabel"}!r})
print(json.dumps(loaded), file=sys.stderr)
"""
    script = [sys.executable, "-c", f"import sys\n{code}"]
    done = subprocess.run(script, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "Usage: fedbounds train" in done.stdout
    assert not {verb: names for verb, names in json.loads(done.stderr).items() if names}


@pytest.mark.parametrize("checkout", [True, False])
def test_a_stale_index_is_built_again_and_written_in_a_checkout_alone(checkout, tmp_path, monkeypatch):
    told = index.text()
    stale = tmp_path / "index.json"
    stale.write_text(told.replace(index.digest(), "0" * 20).replace("fedals.one_round", "fedals.forgotten"))
    for name in index.DECLARED:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).symlink_to(index.PATH.parent / name)
    monkeypatch.setattr(index, "PATH", stale)
    monkeypatch.setattr(index, "CHECKOUT", tmp_path / "pyproject.toml")
    if checkout:
        (tmp_path / "pyproject.toml").touch()
    written = stale.read_bytes()
    assert "fedals.one_round" in {entry["name"] for entry in index.entries()}
    if not checkout:
        assert stale.read_bytes() == written
        return
    assert stale.read_text(encoding="utf-8") == told
    monkeypatch.setattr(index, "text", lambda: pytest.fail("a fresh index is read, not built"))
    assert len(index.entries()) > 100


def test_every_folder_of_a_room_is_a_package():
    # Otherwise it would be missing from the wheel.
    folders = {path.parent for room in ROOMS[:-1] for path in sources(room)}
    assert len(folders) > len(ROOMS)
    assert not [str(f.relative_to(ROOT)) for f in folders if not (f / "__init__.py").exists()]


def test_the_project_does_not_grow():
    lines = dict.fromkeys(MOST_LINES, 0)
    for path in tracked_files():
        name = path.relative_to(ROOT).as_posix()
        room = name.split("/")[0].removesuffix(".py")
        apart = name.startswith(("tests/benchmarks/", "tests/tools/"))
        kind = "benchmarks and tools" if apart else "product" if room in ROOMS else room
        if path.suffix == ".py" and kind in lines:
            lines[kind] += len(path.read_text(encoding="utf-8").splitlines())
    assert not {kind: count for kind, count in lines.items() if count > MOST_LINES[kind]}
    assert all(count > MOST_LINES[kind] - 2_500 for kind, count in lines.items()), f"lower the totals: {lines}"


def test_tracked_files_name_no_path_of_one_machine():
    machine_path = re.compile(r"(?<![\w.<])/(?:home|root|Users|work|opt|mnt|tmp)/\w")
    found = []
    for path in tracked_files():
        if path.suffix in {".py", ".md", ".toml", ".txt", ".cff", ".csv", ".json", ".yml", ""}:
            lines = path.read_text(encoding="utf-8").splitlines()
            found += [f"{path.relative_to(ROOT)}:{i}" for i, line in enumerate(lines, 1) if machine_path.search(line)]
    assert not found
