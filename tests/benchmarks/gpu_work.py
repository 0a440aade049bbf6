"""What ``gpu_minutes.py`` has done by processes of their own, which may fail, hang or crash: checks, speed, training.

    python tests/benchmarks/gpu_work.py '{"mode": "checks", ...}'

Every item is told on standard output when it begins and when it has ended, each a line of JSON; items of ``skip`` are
passed over. No network, and neither ``distributed`` nor ``cryptography``: whoever asks for them here is refused.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FORBIDDEN = ("distributed", "dask", "cryptography")
TOLERANCE = {"job": 1e-2}
"""What a check may be apart from the CPU: float32 numbers over several rounds, among them shares of 360 samples."""
EXACT = 1e-6
"""The same of float64 numbers."""
PDEATHSIG = 1
PULSE = 2.0
"""Seconds between two signs of life."""


def alone() -> None:
    """End with whoever started this; refuse what must not be needed."""
    ctypes.CDLL(None).prctl(PDEATHSIG, signal.SIGKILL)
    sys.addaudithook(_refuse)
    for folder in (ROOT / "tests/benchmarks", ROOT / "tests", ROOT):
        sys.path.insert(0, str(folder))


def _refuse(event: str, given: tuple[Any, ...]) -> None:
    if event == "import" and str(given[0]).partition(".")[0] in FORBIDDEN:
        raise ModuleNotFoundError(f"{given[0]} must not be needed here", name=str(given[0]))
    if event == "socket.connect" and not isinstance(given[1], (str, bytes)):
        raise PermissionError(f"no network here: {given[1]}")


class Told:
    """The lines to whoever started this."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.skip, self._alive = set(given["skip"]), 0.0
        self._out = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)  # whatever libraries print

    def say(self, **words: Any) -> None:
        self._out.write(json.dumps(words) + "\n")
        self._out.flush()

    def begin(self, item: str, **more: Any) -> None:
        self.say(begin=item, **more)

    def alive(self) -> None:
        """That what is under way moves on."""
        if time.monotonic() - self._alive > PULSE:
            self._alive = time.monotonic()
            self.say(alive=True)

    def end(self, item: str, ok: bool, text: str, **more: Any) -> None:
        self.say(end=item, ok=ok, text=text, **more)


def failure(error: BaseException) -> str:
    """One line: what was raised, and where in the project."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if str(ROOT) in f.filename]
    where = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}{where}"


# ---- checks ----


def tests(given: dict[str, Any], told: Told) -> None:
    """``pytest -m gpu``, test by test; in a rehearsal one test that needs no GPU."""
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # whatever else is installed there
    import pytest

    class Plugin:
        words: dict[str, str] = {}  # noqa: RUF012

        def pytest_collection_finish(self, session: Any) -> None:
            told.say(items=[f"test {item.nodeid}" for item in session.items])

        def pytest_runtest_logstart(self, nodeid: str, location: Any) -> None:
            told.begin(f"test {nodeid}")

        def pytest_runtest_logreport(self, report: Any) -> None:
            if report.failed:
                self.words[report.nodeid] = " ".join(str(report.longrepr).split())[-300:]
            if report.when == "teardown":
                words = self.words.get(report.nodeid, "")
                told.end(f"test {report.nodeid}", not words, words or "passed")

    if given["pretend"]:
        chosen = [str(ROOT / "tests/empirics/test_pretended_device.py"), "-k", "run_as_graphs"]
    else:
        found = (ROOT / "tests").rglob("test_*.py")
        chosen = ["-m", "gpu", *sorted(str(path) for path in found if "mark.gpu" in path.read_text("utf-8"))]
    gone = [word for item in told.skip if item.startswith("test ") for word in ("--deselect", item[5:])]
    quiet = ["-q", "-p", "no:cacheprovider", "--rootdir", str(ROOT), "--tb", "short"]
    status = pytest.main([*quiet, *gone, *chosen], plugins=[Plugin()])
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED) and not gone:
        told.end("test none", False, f"no test that needs a GPU could run: pytest ended with {status!r}")


def checks(given: dict[str, Any], told: Told) -> None:
    """The checks of one lane, against the CPU."""
    import torch
    from gpu_checks import everything, gpu, pretended

    torch.set_num_threads(given["threads"])
    place, found = pretended if given["pretend"] else gpu, everything(given["pretend"])[given["lane"]]
    told.say(items=list(found))
    if not given["pretend"]:
        torch.zeros(1, device="cuda")
    for name, check in found.items():
        if name in told.skip:
            continue
        told.begin(name)
        try:
            seen = check(place)
            ok = seen.apart < TOLERANCE.get(name.partition(" ")[0], EXACT)  # a NaN is not
            words = f"{seen.apart:.1e} from the CPU" + (f"; not recorded: {seen.refused}" if seen.refused else "")
        except Exception as error:
            ok, words = False, failure(error)
        told.end(name, ok, words)


# ---- speed ----


def speed(given: dict[str, Any], told: Told) -> None:
    """The cases, one way after another."""
    import torch
    from gpu_cases import cases, matmul_rate

    device = torch.device("cpu" if given["pretend"] else "cuda")
    found = cases(given["pretend"])
    told.say(items=[case.name for case in found])
    matmul = 0.0
    size = 64 if given["pretend"] else 8192
    for case in found:
        if case.name in told.skip:
            continue
        told.begin(case.name)
        try:
            matmul = matmul or matmul_rate(device, size)
            words, more = case.measured(device, matmul)
            told.end(case.name, True, words, **more)
        except Exception as error:
            told.end(case.name, False, failure(error))
        if device.type == "cuda":
            torch.cuda.empty_cache()


# ---- training ----


def training(given: dict[str, Any], told: Told) -> None:
    """The ranked runs that fit in what is left of the time."""
    from gpu_training import Trainer

    Trainer(given, told).all()


MODES = {"tests": tests, "checks": checks, "speed": speed, "training": training}


def main() -> None:
    given = json.loads(sys.argv[1])
    alone()
    if os.getppid() != given["parent"]:
        return  # it has ended before it could be noticed
    told = Told(given)
    MODES[given["mode"]](given, told)
    told.say(all=True)


if __name__ == "__main__":
    main()
