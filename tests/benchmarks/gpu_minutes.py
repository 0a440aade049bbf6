"""Ten minutes of a GPU in one command: whether its numbers are right, how fast it is, and as many runs as fit.

    python tests/benchmarks/gpu_minutes.py --seconds 560 --out DIR [--resume [FROM]] [--pretend]
    python tests/benchmarks/gpu_minutes.py --pack-data carry/data [--sets fashion_mnist,mnist]
    python tests/benchmarks/gpu_minutes.py --import DIR [--store STORE]

First the tests that need a GPU, and every algorithm, network and job against the CPU: the verdict is written first,
line by line. Then the cases of ``gpu_cases.py``. Then training runs of the papers, by rank (``gpu_runs.toml``), each
started only where the rate that was measured says that it fits; a run is kept on its way, and its result is packed
as soon as it is there. Everything is in DIR: six files, each whole at every moment. What is finished is not repeated
with ``--resume`` (from the folder FROM, if it is another one). Work is done by processes of their own: one that fails,
hangs or crashes is told and passed over. ``--pretend`` is a rehearsal on a CPU, tiny, with the same steps.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import selectors
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import gpu_folder
from gpu_folder import FILES, LOG, PROGRESS, SPEED, VERDICT

ROOT = Path(__file__).resolve().parents[2]
WORK = Path(__file__).with_name("gpu_work.py")
DATA = ROOT / "carry/data"
"""Ignored by git, and may travel with a checkout."""
ENDS = {"checks": 40 / 560, "speed": 130 / 560, "training": 1.0}
"""When each part ends, as shares of the time."""
REHEARSED = {"checks": 0.5, "speed": 0.7, "training": 1.0}
"""The same in a rehearsal, whose time goes into starting processes."""
LIMIT = {"tests": 20, "checks": 20, "speed": 30, "training": 90}
"""Seconds of an item, of 560; a run says its own."""
LANES = ("steps", "epochs", "networks", "large", "jobs")
STARTS = 3
"""How often a process is started that ends before its first item."""
STARTING = "start of"
MIB = 1 << 20


class Minutes:
    """The time, the folder, and what is finished, which every text in the folder is written from."""

    def __init__(self, seconds: float, out: Path, resume: bool, pretend: bool, commit: str) -> None:
        self.began, self.seconds, self.pretend, self.commit = time.time(), seconds, pretend, commit
        self.folder = gpu_folder.opened(out)
        self.device = "pretended" if pretend else card()
        self.done: dict[str, Any] = {"device": self.device, "log": []}
        before = json.loads(self.folder.read(PROGRESS) or b"{}")
        if before and not resume:
            sys.exit(f"gpu_minutes.py: {out} holds results: go on from them with --resume, or name another folder")
        if before.get("device") == self.device:  # another card is asked everything, and takes over the runs alone
            self.done = before
        for part in ("checks", "speed"):
            found = self.done.setdefault(part, {"items": [], "found": {}})["found"]
            for name in [name for name in found if name.startswith(STARTING)]:
                del found[name]  # it is started again
        self.done["training"] = {"items": [], "found": {}}  # the packed results say what is done
        self.rates: dict[str, float] = self.done.setdefault("rates", {})
        self.over: list[str] = self.done.setdefault("over", [])
        self.say(f"{'goes on' if before else 'begins'}: {self.device}, {seconds:g} s")

    # ---- what is told ----

    def say(self, line: str) -> None:
        """A line of the log, which is on disk before it is printed."""
        self.done["log"].append(f"{time.time() - self.began:6.1f} s  {line}")
        self._write()
        print(self.done["log"][-1], flush=True)

    def hear(self, part: str, words: dict[str, Any]) -> None:
        """What a process tells."""
        mine = self.done[part]
        if "items" in words:
            mine["items"] += [name for name in words["items"] if name not in mine["items"]]
        if "end" in words:
            name = words.pop("end")
            mine["found"][name] = {"ok": words["ok"], "text": words["text"]}
            if words.get("rate_of"):
                self.rates[words["rate_of"]] = words["seconds_per_step"]
            self.rates |= words.get("rates", {})
            self.say(f"{'finished' if words['ok'] else 'FAILED'} {name}: {words['text']}")
        if "note" in words:
            self.say(words["note"])

    def _write(self) -> None:
        self.folder.put(PROGRESS, json.dumps(self.done, indent=1).encode())
        self.folder.put(LOG, "".join(f"{line}\n" for line in self.done["log"][-20000:]).encode())
        for name, part, good, bad in ((VERDICT, "checks", "agrees", "FAILS "), (SPEED, "speed", "timed ", "FAILS ")):
            if part in self.done:
                self.folder.put(name, self._text(part, good, bad).encode())

    def _text(self, part: str, good: str, bad: str) -> str:
        found, items = self.done[part]["found"], self.done[part]["items"]
        wrong = [name for name, one in found.items() if not one["ok"]]
        right = [name for name, one in found.items() if one["ok"]]
        open_ = [name for name in items if name not in found]
        head = f"{self.device}: {len(found)} {part}, {len(wrong)} failed, {len(open_)} not reached"
        lines = [f"{bad} {name}: {found[name]['text']}" for name in wrong]
        lines += [f"{good} {name}: {found[name]['text']}" for name in right]
        return "\n".join([head, *lines, *(f"not reached {name}" for name in open_)]) + "\n"

    # ---- the parts ----

    def all(self) -> int:
        """Go through the parts; 1 where a check has failed."""
        for part, modes in (("checks", self._checks()), ("speed", [("speed", "")]), ("training", [("training", "")])):
            lanes = [Lane(self, part, mode, lane) for mode, lane in modes if f"{mode} {lane}" not in self.over]
            Lanes(lanes, self.began + self.seconds * (REHEARSED if self.pretend else ENDS)[part]).work()
            self.say(f"{part}: over")
        wrong = [name for name, one in self.done["checks"]["found"].items() if not one["ok"]]
        self.say(f"everything is over; {len(wrong)} checks failed")
        shutil.rmtree(self.folder.scratch, ignore_errors=True)
        return bool(wrong)

    def _checks(self) -> list[tuple[str, str]]:
        return [("tests", ""), *(("checks", lane) for lane in (("all",) if self.pretend else LANES))]

    def given(self, part: str, mode: str, lane: str) -> dict[str, Any]:
        """The words to a process."""
        threads = 1 if self.pretend else max(1, (os.cpu_count() or 1) // (len(LANES) + 1))
        return {
            "mode": mode, "lane": lane, "skip": list(self.done[part]["found"]), "pretend": self.pretend,
            "parent": os.getpid(), "threads": threads, "rates": self.rates,
            "out": str(self.folder.path), "scratch": str(self.folder.scratch), "device": self.device,
            "deadline": self.began + self.seconds, "commit": self.commit,
        }  # fmt: skip


class Lane:
    """One process after another that works off the items of a mode, each within its time."""

    def __init__(self, minutes: Minutes, part: str, mode: str, lane: str) -> None:
        self.minutes, self.part, self.mode, self.lane = minutes, part, mode, lane
        self.whole = 4.0 if minutes.pretend else max(0.5, minutes.seconds / 560)
        self.all = self.over = False
        self.starts, self.empty, self.item, self.begun, self.limit = 0, 0, "", 0.0, 0.0

    def start(self) -> None:
        self.starts += 1
        self.item, self.begun, self.limit, self._rest = "", time.time(), 90.0, b""
        given = self.minutes.given(self.part, self.mode, self.lane)
        threads = {"OMP_NUM_THREADS": str(given["threads"])} if self.part == "checks" or given["pretend"] else {}
        self.errors = (self.minutes.folder.scratch / f"{self.mode}{self.lane}.{self.starts}").open("wb")
        self.process = subprocess.Popen(
            [sys.executable, str(WORK), json.dumps(given)],
            stdout=subprocess.PIPE, stderr=self.errors, cwd=ROOT, env=os.environ | threads,
        )  # fmt: skip
        assert self.process.stdout is not None
        self.pipe = self.process.stdout

    def read(self) -> None:
        """What the process has told; at its end, whether it was the end."""
        content = os.read(self.pipe.fileno(), 1 << 16)
        *lines, self._rest = (self._rest + content).split(b"\n")
        for line in lines:
            with contextlib.suppress(ValueError):  # a line that something else has written
                self._hear(json.loads(line))
        if not content:
            self._ended()

    def _hear(self, words: dict[str, Any]) -> None:
        if "begin" in words:
            self.item, self.begun = words["begin"], time.time()
            self.limit = words.get("limit", LIMIT[self.mode] * self.whole)
        if "end" in words:
            self.item, self.begun, self.limit = "", time.time(), 90.0
        if "alive" in words:
            self.begun = time.time()
        if "all" in words:
            self.all = True
            if self.mode != "training":  # what did not fit may fit the next time
                self.minutes.over.append(f"{self.mode} {self.lane}")
        self.minutes.hear(self.part, words)

    def _ended(self) -> None:
        code = self.process.wait()
        self._close()
        if self.all:
            self.over = True
            return
        tail = " ".join(Path(self.errors.name).read_text("utf-8", errors="replace").split())[-300:]
        what = self.item or f"{STARTING} {self.mode} {self.lane}".strip()
        self._failed(what, f"its process ended with {code}: {tail}")

    def _failed(self, what: str, why: str) -> None:
        """Told as failed and passed over; where nothing is ever under way, the lane ends."""
        self.minutes.hear(self.part, {"end": what, "ok": False, "text": why})
        self.empty = 0 if self.item else self.empty + 1
        self.over = self.empty >= STARTS
        if not self.over:
            self.start()

    def late(self) -> bool:
        return time.time() > self.begun + self.limit

    def hangs(self) -> None:
        """End the process, and go on after what hangs."""
        self._kill()
        if self.all:
            self.over = True
            return
        what = self.item or f"{STARTING} {self.mode} {self.lane}".strip()
        self._failed(what, f"it took longer than {self.limit:.0f} s")

    def stop(self) -> None:
        """The time is up."""
        self._kill()
        if self.item:
            self.minutes.say(f"not finished in time: {self.item}")
        self.over = True

    def _kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self._close()

    def _close(self) -> None:
        self.pipe.close()
        self.errors.close()


class Lanes:
    """Side by side until all are over, or the time is."""

    def __init__(self, lanes: Sequence[Lane], until: float) -> None:
        self.lanes, self.until = lanes, until

    def work(self) -> None:
        for lane in self.lanes:
            lane.start()
        while running := [lane for lane in self.lanes if not lane.over]:
            if time.time() > self.until - 1:
                for lane in running:
                    lane.stop()
                return
            with selectors.DefaultSelector() as selector:
                for lane in running:
                    selector.register(lane.pipe, selectors.EVENT_READ, lane)
                for key, _ in selector.select(0.2):
                    key.data.read()
            for lane in running:
                if not lane.over and lane.late():
                    lane.hangs()


def card() -> str:
    """The name of the GPU; an end where there is none."""
    asked = (
        ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"],
        [sys.executable, "-c", "import torch; print(torch.cuda.get_device_name())"],
    )
    for command in asked:
        try:
            said = subprocess.run(command, capture_output=True, text=True, timeout=60)
        except (OSError, subprocess.TimeoutExpired):
            continue
        if said.returncode == 0 and said.stdout.strip():
            return said.stdout.splitlines()[0].strip()
    sys.exit("gpu_minutes.py: there is no NVIDIA GPU here; --pretend goes through all of it on a CPU")


# ---- data ----


def find_data(folder: Path, scratch: Path) -> None:
    """Let the data sets be found: those of ``FEDBOUNDS_DATA``, else those that were packed, whatever their parts."""
    if "FEDBOUNDS_DATA" in os.environ or not folder.is_dir():
        return
    for part in sorted(folder.iterdir()):
        for path in part.rglob("*"):
            if path.is_file():
                link = scratch / "data" / path.relative_to(part)
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(path)
    os.environ["FEDBOUNDS_DATA"] = str(scratch / "data")


def pack_data(folder: Path, sets: Iterable[str], most: int) -> None:
    """Write the files of these sets into ``folder/1``, ``folder/2``, ...: each part at most ``most`` MiB."""
    import lzma

    sys.path.insert(0, str(ROOT))
    from empirics.data.catalogue import FILES as sets_of_files
    from empirics.data.store import read

    if folder.is_dir() and any(folder.iterdir()):
        sys.exit(f"gpu_minutes.py: {folder} is not empty: name another one, or empty it")
    part, size = 1, 0
    for files in (sets_of_files[name] for name in sets):
        for path in (path for name in files.names for path in files.some(name)):
            content = lzma.compress(read(path), preset=9)
            if size and size + len(content) > most * MIB:
                part, size = part + 1, 0
            name = path.name if path.suffix not in (".gz", ".bz2", ".xz") else path.stem
            target = folder / str(part) / files.folder / f"{name}.xz"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            size += len(content)
            print(f"{target}: {len(content) / MIB:.1f} MiB, the part {size / MIB:.1f} MiB", flush=True)


def import_runs(folder: Path, store: Path) -> int:
    """Take the results of a folder over into a store; how many these were."""
    sys.path.insert(0, str(ROOT))
    from empirics.experiments import Store
    from empirics.experiments.store import unpacked

    taken, target = 0, Store(store)
    for kept in unpacked((folder / gpu_folder.RUNS).read_bytes(), gpu_folder.RUNS):
        if kept.cell.key != kept.card["key"]:
            print(f"left out, made by another version of its job: {kept.card['key']}")
        elif not target.has(kept.cell):
            target.write([kept])
            taken += 1
    print(f"{taken} results taken over into {store}")
    return taken


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=560.0)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--resume", nargs="?", type=Path, const=Path(), metavar="FROM")
    parser.add_argument("--pretend", action="store_true")
    parser.add_argument("--commit", default="", help="what the code is, where it is a copy without its history")
    parser.add_argument("--pack-data", type=Path, metavar="FOLDER")
    parser.add_argument("--sets", default="fashion_mnist,mnist")
    parser.add_argument("--most", type=int, default=42, metavar="MIB", help="size of a part of the packed data")
    parser.add_argument("--import", dest="imported", type=Path, metavar="DIR")
    parser.add_argument("--store", type=Path, default=Path("fedbounds-store"))
    asked = parser.parse_args(arguments)
    if asked.pack_data:
        pack_data(asked.pack_data, asked.sets.split(","), asked.most)
        return 0
    if asked.imported:
        import_runs(asked.imported, asked.store)
        return 0
    if asked.out is None:
        parser.error("--out DIR is needed")
    if asked.resume and asked.resume.resolve() != asked.out.resolve():
        asked.out.mkdir(parents=True, exist_ok=True)
        for name in FILES:
            if (asked.resume / name).is_file():
                shutil.copyfile(asked.resume / name, asked.out / name)
    minutes = Minutes(asked.seconds, asked.out, asked.resume is not None, asked.pretend, asked.commit)
    find_data(DATA, minutes.folder.scratch)
    return minutes.all()


if __name__ == "__main__":
    sys.exit(main())
