"""Worker processes: the loop's numbers to the last bit, and nothing left behind however a run ends."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from empirics_toys import Dies, directed, Fails, ragged, small
from refusals import all_refused, refusal

from empirics.algorithms.algorithm import fedavg
from empirics.algorithms.local import scaffold
from empirics.errors import EmpiricsError
from empirics.models.linear import Softmax
from empirics.training.engines import (
    choose,
    ClientLoop,
    device_named,
    Stacked,
    Workers,
    workers,
)
from empirics.training.rounds import rounds
from empirics.training.setting import Setting

ROOT = Path(__file__).parents[2]
SETTING = Setting(rounds=3, cohort=4, batch=8, step_size=0.11, local_epochs=2, momentum=0.4)


def trained(engine, algorithm=fedavg, setting=SETTING, federation=None, seed=3):
    """All models of a run, and the state at its end."""
    states = [(s, s.model.clone()) for s in rounds(small(), federation or ragged(), algorithm, setting, seed, engine)]
    return torch.stack([model for _, model in states]), states[-1][0]


def alive(process: int) -> bool:
    """Whether a process runs, ended ones that nobody has asked about (zombies) aside."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def open_files():
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def await_end(processes, seconds=20.0):
    end = time.monotonic() + seconds
    while any(alive(p) for p in processes) and time.monotonic() < end:
        time.sleep(0.02)
    return not any(alive(p) for p in processes)


def test_shared_and_copied_tensors_give_the_same_bits(two, monkeypatch):
    plain = trained(ClientLoop(), scaffold())[0]
    monkeypatch.setattr(workers, "LARGE", 1)
    assert torch.equal(trained(two, scaffold())[0], plain)

    def full(tensor):
        raise RuntimeError("unable to allocate shared memory")

    monkeypatch.setattr(torch.Tensor, "share_memory_", full)
    assert torch.equal(trained(two, scaffold())[0], plain)


# ---- life and death ----


def test_processes_stay_for_all_runs_whatever_their_parts_and_files_are_closed(two):
    trained(two)
    before, files = [p.pid for p in two._processes], open_files()
    for _ in range(3):
        trained(two, scaffold())
    assert open_files() == files
    other = ragged(cuts=(15, 30, 50, 70, 90))
    for federation, setting in ((ragged(), SETTING), (other, SETTING), (other, Setting(2, 5, 9))):
        models = [trained(engine, scaffold(), setting, federation)[0] for engine in (two, ClientLoop())]
        assert torch.equal(*models)
    assert [p.pid for p in two._processes] == before


def test_a_mistake_of_the_user_keeps_its_words_and_another_error_ends_all_workers(two):
    more = Setting(rounds=9, cohort=6, batch=8)
    refusing = Fails(2, EmpiricsError("another number of rounds is needed; got 9"))
    assert refusal(trained, two, directed(refusing), more) == str(refusing.error)
    trained(two)
    old = [p.pid for p in two._processes]
    with pytest.raises(EmpiricsError, match=r"client 2 .*: ZeroDivisionError: planted") as caught:
        trained(two, directed(Fails(2)), more)
    assert "empirics_toys.py" in str(caught.value.__cause__)
    assert await_end(old)


@pytest.mark.slow
def test_a_killed_worker_is_reported_and_what_cannot_be_sent_is_named(two):
    with pytest.raises(EmpiricsError, match="SIGKILL"):
        trained(two, directed(Dies(os.getpid())))
    assert torch.equal(trained(two)[0], trained(ClientLoop())[0])
    with pytest.raises(EmpiricsError, match="algorithm"):
        trained(two, directed(fedavg.direction, start=Unsendable()))


class Unsendable:
    def __reduce__(self):
        raise TypeError("planted")

    def __call__(self, state, rows):
        return state.model.expand(len(rows), -1).clone()


SCRIPT = """
import sys, time
sys.path[:0] = [{root!r}, {toys!r}]
import torch
from torch import nn
from empirics_toys import ragged
from empirics.algorithms.algorithm import fedavg
from empirics.training.engines import ClientLoop, Workers
from empirics.models.network import Network
from empirics.training.setting import Setting
from empirics.training.rounds import plan, rounds

class Mine(nn.Linear):
    def forward(self, x):
        time.sleep({nap})
        return super().forward(x.flatten(1))

engine = Workers(2)
net = Network("mine", lambda: Mine(64, 4))
setting = Setting(rounds={rounds}, cohort=5, batch=8)
models = []
for state in rounds(net, ragged(), fedavg, setting, 1, engine):
    models.append(state.model)
    print(*[p.pid for p in engine._processes], flush=True)
"""


def script(**values):
    text = SCRIPT.format(root=str(ROOT), toys=str(ROOT / "tests"), **values)
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, start_new_session=True,
    ), text  # fmt: skip


def begun(process, text):
    """Start the script from its standard input; the workers' numbers once the first round is over."""
    process.stdin.write(text)
    process.stdin.close()
    process.stdout.readline()
    return [int(word) for word in process.stdout.readline().split()]


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL, signal.SIGTERM])
def test_workers_end_with_a_process_that_is_stopped(how):
    process, text = script(nap=0.05, rounds=10_000)
    with process:
        children = begun(process, text)
        assert all(alive(child) for child in children)
        os.killpg(process.pid, how) if how == signal.SIGINT else process.send_signal(how)
        process.wait(30)
        assert await_end(children)
        errors = process.stderr.read()
        assert errors.count("Traceback") == (how == signal.SIGINT), errors


# ---- what is chosen ----


def test_what_is_chosen(monkeypatch):
    monkeypatch.setattr("empirics.training.engines.cores", lambda: 6)
    assert isinstance(choose(Softmax(3, 2)), Stacked)
    assert choose(small()).pays > 0
    assert isinstance(choose(small(), workers=1), ClientLoop)
    assert isinstance(choose(small(), workers=2), Workers)
    assert choose(small(), workers=2) is choose(small(), workers=2)
    assert type(choose(small(), "cuda")).__name__ == "Graphs"
    monkeypatch.setattr("empirics.training.engines.cores", lambda: 1)
    assert isinstance(choose(small()), ClientLoop)
    all_refused([(lambda: choose(small(), workers=0), "workers 1 0"), (lambda: Workers(-2), "workers 1 -2")])


def test_devices_by_name(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert device_named("auto") == device_named("cpu") == torch.device("cpu")
    all_refused([(lambda: device_named("cuda"), "cuda GPU"), (lambda: device_named("coda"), "auto cpu 'coda'")])
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert device_named("auto") == torch.device("cuda")


@pytest.mark.slow
def test_workers_are_started_when_the_work_ahead_pays_and_the_numbers_stay(two, monkeypatch):
    two.close()
    monkeypatch.setattr(two, "pays", 1e9)
    assert torch.equal(trained(two)[0], trained(ClientLoop())[0])
    assert not two.ready, "work of milliseconds is not worth processes"
    monkeypatch.setattr(two, "pays", -1.0)
    used = []
    monkeypatch.setattr(two, "_round", lambda work, run=two._round: used.append(1) or run(work))
    monkeypatch.setattr(Workers, "WORTH", 0.0)
    model, run = small(), []
    for state in rounds(model, ragged(), fedavg, Setting(rounds=40, cohort=4, batch=8), 3, two):
        run.append(state.model)
        if len(run) == 4:
            while not two.ready:
                time.sleep(0.05)
    assert 30 < len(used) < 40, "the loop first, then the workers"
    plain = [s.model for s in rounds(model, ragged(), fedavg, Setting(rounds=40, cohort=4, batch=8), 3, ClientLoop())]
    assert all(torch.equal(a, b) for a, b in zip(run, plain, strict=True))
