"""Settings for all tests: one thread per process (the suite runs one process per core), figures without a display.

Tests marked ``data("name", ...)`` need these sets on disk, those marked ``gpu`` or ``browser`` one; where it is absent
they are deselected, and the end of the report says so.
"""

import os
import pickle
import signal
from functools import cache
from importlib.util import find_spec
from shutil import which

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
os.environ["MPLBACKEND"] = "Agg"
os.environ["FEDBOUNDS_PROGRESS"] = "none"  # what is said depends on how fast the machine is
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in background jobs, whose children would be deaf
    signal.signal(signal.SIGINT, signal.default_int_handler)

import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402

# The same examples in every run, and no deadline: a shared machine is slow at times.
settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=60)
settings.load_profile("repeatable")

ABSENT = pytest.StashKey[dict[str, int]]()


@cache
def there(mark, name):
    """Whether a data set, a GPU or a browser is on this machine."""
    if mark == "gpu":
        import torch

        return torch.cuda.is_available()
    if mark == "browser":
        return bool(find_spec("selenium") and all(which(program) for program in ("chromium", "chromedriver")))
    from empirics.data.catalogue import present

    return present(name)


def pytest_collection_modifyitems(config, items):
    """Slow tests first, so that no process waits long for another's last; none without its data, GPU or browser."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
    gone, absent = [], config.stash.setdefault(ABSENT, {})
    for item in items:
        marks = [mark for mark in item.iter_markers() if mark.name in ("data", "gpu", "browser")]
        needed = [(mark.name, name) for mark in marks for name in mark.args or (mark.name,)]
        lacking = [name for mark, name in needed if not there(mark, name)]
        for name in lacking:
            absent[name] = absent.get(name, 0) + 1
        gone += [item] if lacking else []
    left_out = set(gone)
    items[:] = [item for item in items if item not in left_out]
    if gone:
        config.hook.pytest_deselected(items=gone)
    if hasattr(config, "workeroutput"):
        config.workeroutput["absent"] = absent


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node, error):
    """Take over what a worker deselected; all workers collect the same."""
    node.config.stash[ABSENT] = getattr(node, "workeroutput", {}).get("absent", {})


def pytest_terminal_summary(terminalreporter, config):
    """Name what is absent."""
    for name, tests in sorted(config.stash.get(ABSENT, {}).items()):
        terminalreporter.write_line(f"{name} is not on this machine: {tests} tests deselected")


@pytest.fixture(scope="session")
def verdicts(tmp_path_factory):
    """Every claim of the papers, checked once in a run of the suite, whichever process asks first."""
    from filelock import FileLock

    from paper_checks.audit.running import audit, CLAIMS, Verdict

    folder = tmp_path_factory.getbasetemp()
    kept = (folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder) / "verdicts.pickle"
    with FileLock(f"{kept}.lock"):
        if not kept.exists():
            found = audit(CLAIMS.values(), workers=2)
            outcomes = [(v.claim.name, v.finding, v.repair, v.bounds, v.seconds, v.crashed) for v in found]
            kept.write_bytes(pickle.dumps(outcomes))
    return {name: Verdict(CLAIMS[name], *outcome) for name, *outcome in pickle.loads(kept.read_bytes())}


@pytest.fixture
def run(capsys):
    """Run a command line; returns its status, standard output and standard error."""

    def command(*words):
        import fedbounds

        status = fedbounds.main([str(w) for w in words])
        return (status, *capsys.readouterr())

    return command


@pytest.fixture
def refused(run):
    """Run a command line that must be refused; returns the one line it says."""

    def command(*words):
        status, out, err = run(*words)
        assert (status, out, err.count("\n"), err[:11]) == (2, "", 1, "fedbounds: "), err
        return err

    return command


@pytest.fixture
def own(request, tmp_path):
    """A file of Python, the text ``OWN`` of the test's module."""
    path = tmp_path / "own.py"
    path.write_text(request.module.OWN, encoding="utf-8")
    return path
