"""The last part of the minutes on a GPU: ranked runs of the papers, as many as fit, kept on the way."""

from __future__ import annotations

import gc
import time
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest import mock

import gpu_folder
import torch
from gpu_work import failure, Told

from empirics.algorithms.state import State
from empirics.data.catalogue import DATASETS, present
from empirics.errors import Diverged, EmpiricsError
from empirics.experiments import Cell, Outcome, Store
from empirics.experiments.cells import run
from empirics.experiments.jobs import continued, train
from empirics.experiments.machine import computing, machine
from empirics.experiments.store import packed, RESULTS, unpacked
from empirics.measuring import Row, Run
from empirics.measuring.kept import Keeper, KeptRun, read, write
from empirics.measuring.record import Reached
from empirics.training.threads import single_thread
from figures.catalogue import select
from figures.run_description import data_set
from figures.scale import Budget
from figures.substitutes import assume_present

PLAN = Path(__file__).with_name("gpu_runs.toml")
KEPT = 30.0
"""Seconds between two states of a run."""
SPARE = 1.15
"""How much longer than predicted a run may take."""
START, END = 3.0, 4.0
"""Seconds before the first step of a run, and after the last one of all."""


class Stopped(Exception):
    """The time is up; the run is kept."""


@dataclass(frozen=True)
class Ranked:
    """A run and the first finding that needs it."""

    cell: Cell
    artefact: str
    says: str
    budget: Budget

    @property
    def data(self) -> str:
        return data_set(self.cell.arguments["problem"])

    @property
    def network(self) -> str:
        return str(self.cell.arguments["problem"]).partition("(")[0]

    @property
    def method(self) -> str:
        return f"{self.network} {str(self.cell.arguments['algorithm']).partition('(')[0]}"

    @property
    def name(self) -> str:
        a = self.cell.arguments
        return f"run {self.cell.key}: {a['algorithm']} on {a['problem']}, {a['partition']}, seed {a['seed']}"

    @property
    def assumed(self) -> float:
        """Seconds by the plan's budget."""
        return 60 * self.budget.minutes(self.cell)

    def scale(self, step: float) -> float:
        """Seconds of a step that was measured, over those that the budget assumes."""
        words = sorted(self.budget.step.items(), reverse=True)
        return step / next(seconds for word, seconds in words if word in self.cell.arguments["problem"])


def ranked(plan: Path = PLAN, scale: str = "paper", few: int | None = None) -> list[Ranked]:
    """The runs of the plan in their order, seed after seed; at another scale on whatever data it has.

    ``few``: of so many findings, two runs each.
    """
    found: dict[str, Ranked] = {}
    with assume_present(DATASETS):  # the paper's own runs, not those that stand in for them
        for entry in tomllib.loads(plan.read_text(encoding="utf-8"))["finding"][:few]:
            where = {k: v for k, v in entry["where"].items() if scale == "paper" or k != "problem"}
            (artefact,) = select([entry["artefact"]])
            budget = import_module(f"figures.{artefact.paper}.grid").PLANS[scale].budget
            cells = [cell for cell in artefact.cells(scale) if _meant(cell, where)]
            for cell in sorted(cells, key=lambda cell: cell.arguments["seed"])[: few and 2]:
                if cell.arguments["seed"] < entry.get("seeds", 1 << 30):
                    found.setdefault(cell.key, Ranked(cell, artefact.name, entry["says"], budget))
    return list(found.values())


def _meant(cell: Cell, where: Mapping[str, str | Sequence[str]]) -> bool:
    def has(name: str, parts: str | Sequence[str]) -> bool:
        return any(part in str(cell.arguments.get(name)) for part in ([parts] if isinstance(parts, str) else parts))

    return all(has(name, parts) for name, parts in where.items())


class Trainer:
    """Runs one after another, in the order of their rank; the numbers of ``given`` are those of ``gpu_minutes.py``."""

    def __init__(self, given: dict[str, Any], told: Told) -> None:
        self.told, self.pretend, self.deadline = told, given["pretend"], given["deadline"] - END
        self.device, self.rates, self.often = given["device"], dict(given["rates"]), 0.0 if self.pretend else KEPT
        self.folder = gpu_folder.Folder(Path(given["out"]), Path(given["scratch"]))
        self.store = Store(self.folder.scratch / "store")
        self.kept_at, self.large = time.monotonic(), False
        if given["commit"] and not machine()["commit"]:  # a copy without its history
            machine()["commit"] = given["commit"]
        if content := self.folder.read(gpu_folder.RUNS):
            self.store.write(unpacked(content, gpu_folder.RUNS))
        self.begun = lru_cache(maxsize=continued.BEGUN)(self._begun)
        self.before = self._before()

    def all(self) -> None:
        """Go through the list until nothing that is left fits."""
        runs = ranked(scale="smoke", few=4) if self.pretend else ranked()
        here = [one for one in runs if present(one.data)]
        absent = sorted(
            {data_set(one.cell.arguments["problem"]) for one in runs}
            - {data_set(o.cell.arguments["problem"]) for o in here}
        )
        if absent:
            self.told.say(note=f"{len(runs) - len(here)} runs are passed over: no data of {', '.join(absent)}")
        self.told.say(items=[one.name for one in here])
        left = [one for one in here if one.name not in self.told.skip and not self.store.has(one.cell)]
        left.sort(key=lambda one: not self._going_on(one))
        self.told.say(note=f"{len(here) - len(left)} of {len(here)} runs are done or have failed, {len(left)} to do")
        while (one := next((one for one in left if self._fits(one)), None)) is not None:
            left.remove(one)
            self._one(one)
            gc.collect()
            torch.cuda.empty_cache()  # nothing where there is no GPU
        for says in dict.fromkeys(one.says for one in left):
            known = [seconds for one in left if one.says == says and (seconds := self._seconds(one)) is not None]
            why = f"the shortest takes {min(known):.0f} s at the measured rate" if known else "no rate was measured"
            self.told.say(note=f"{sum(one.says == says for one in left)} runs not started ({why}): {says}")

    # ---- what fits ----

    def _seconds(self, one: Ranked) -> float | None:
        """How long it will take, by what was measured; None where nothing was."""
        scale = self.rates.get(one.method, self.rates.get(f"run {one.network}"))
        if scale is None and one.network in self.rates:
            scale = one.scale(self.rates[one.network])
        if scale is None:
            return None
        return START + scale * one.assumed * (1 - self._going_on(one))

    def _fits(self, one: Ranked) -> bool:
        seconds = self._seconds(one)
        return seconds is not None and SPARE * seconds < self.deadline - time.time()

    def _before(self) -> dict[str, int]:
        """The run that was kept before, and after which round."""
        try:
            runs, words, versions = read(self.folder.path / gpu_folder.STATE)
        except EmpiricsError:
            return {}
        mine = words.get("device") == self.device and versions == computing()
        return {words["run"]: max(run.reached.state.round for run in runs.values())} if mine else {}

    def _going_on(self, one: Ranked) -> float:
        """The share of its rounds that a kept state saves."""
        return self.before.get(one.cell.key, 0) / float(one.cell.arguments["rounds"])

    # ---- one run ----

    def _one(self, one: Ranked) -> None:
        predicted = self._seconds(one) or 0.0
        self.told.begin(one.name, limit=5 * predicted + 60, finding=one.says)
        began, fresh = time.perf_counter(), not self._going_on(one)
        self.before = {}  # whatever is kept from here on takes its place
        try:
            with single_thread(), mock.patch.object(continued, "begun", self.begun):
                outcome = self._train(one.cell) if one.cell.job == "train" else run(one.cell.home, one.cell.arguments)
        except Stopped as stop:
            self.told.say(note=f"the time is up, kept after round {stop}: {one.name}")
            return
        except Diverged as stop:
            outcome = Outcome({}, {"round": stop.round, "largest": stop.largest}, "diverged")
        except Exception as error:
            self.told.end(one.name, False, failure(error))
            return
        seconds = time.perf_counter() - began
        self.store.keep(one.cell, outcome, seconds / 60)
        if not self.folder.put(gpu_folder.RUNS, packed(kept for kept in self.store if kept.status in RESULTS)):
            self.told.end(
                one.name, False, "no room for its result: the packed runs would be larger than what comes back"
            )
            return
        if one.cell.job == "train":
            (self.folder.path / gpu_folder.STATE).unlink(missing_ok=True)
        more: dict[str, Any] = {}
        if fresh:
            scale = max(seconds - START, 0.1 * seconds) / one.assumed
            more = {"rates": {one.method: scale, f"run {one.network}": scale}}
            self.rates |= more["rates"]
        words = f"{outcome.status} in {seconds:.1f} s (predicted {predicted:.1f} s)"
        self.told.end(one.name, True, words, key=one.cell.key, **more)

    def _train(self, cell: Cell) -> Outcome:
        run = train.prepared(**cell.arguments)
        return train.outcome(run, self._kept(run, cell.key)[1])

    def _begun(
        self, plan: continued.SharedRun, first: str, after: int, every: int, measure: tuple[str, ...]
    ) -> continued.FirstRounds:
        """What several runs begin with, kept on the way as well."""
        state, rows = self._kept(
            continued.beginning(plan, first, after, every, measure), f"{plan}, {first}, {after}, {every}, {measure}"
        )
        diverged = any(row.quantity == "diverged" for row in rows)
        return continued.FirstRounds(None if diverged else state, tuple(rows))

    def _words(self, name: str) -> dict[str, str]:
        return {"run": name, "device": self.device}

    def _kept(self, run: Run, name: str) -> tuple[State | None, list[Row]]:
        """The last state and all rows, from where the run is kept on."""
        path, words, who = self.folder.path / gpu_folder.STATE, self._words(name), (run.algorithm.name, run.seed)
        rows: list[Row] = []
        try:
            keeper = Keeper(path, words, computing())
            if who in keeper.runs and not keeper.changed_packages:
                run, rows = keeper.resumed(run)
                self.told.say(note=f"goes on after round {keeper.runs[who].reached.state.round}")
        except EmpiricsError:  # of another run, card or version
            pass
        end, state = run.setting.rounds, run.resume_from.state if run.resume_from else None

        def due() -> bool:
            self.told.alive()
            return time.monotonic() - self.kept_at >= self.often or time.time() > self.deadline

        def keep(reached: Reached) -> None:
            beside = self.folder.scratch / gpu_folder.STATE
            write(beside, {who: KeptRun(reached, list(rows))}, words, computing())
            if not self.folder.take(gpu_folder.STATE, beside) and not self.large:
                self.large = True
                self.told.say(note="its state is larger than what comes back, and is not kept")
            self.kept_at = time.monotonic()
            if reached.state.round < end and time.time() > self.deadline:
                raise Stopped(reached.state.round)

        self.kept_at = time.monotonic()
        for reached, told in replace(run, keep=keep, keep_now=due):
            state = reached
            rows += told
        return state, rows
