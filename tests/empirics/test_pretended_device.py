"""Everything that would run on a GPU, run on a device that pretends to be one: the CPU's numbers, and all recorded."""

import gpu_checks
import numpy as np
import pytest
import torch
from network_toys import NET
from pretended import pretended

from empirics.algorithms import algorithm, ALGORITHMS
from empirics.experiments.jobs import train
from empirics.measuring import measurement, MEASUREMENTS, Run
from empirics.measuring.constants import constants
from empirics.models.networks import NETWORKS
from empirics.problems.tasks import task
from empirics.training.engines import choose
from empirics.training.engines.graphs import Graphs
from empirics.training.setting import Setting


@pytest.mark.parametrize(
    "local", [pytest.param(local, marks=pytest.mark.slow if local != "steps" else ()) for local in gpu_checks.LOCAL]
)
@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_algorithm_is_recorded_and_gives_the_cpus_numbers(name, local):
    found = gpu_checks.of_algorithm(name, local, pretended)
    assert found.apart < 1e-12
    assert not found.refused
    if local == "steps":
        assert found.replayed > 0


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow if n in gpu_checks.LARGE else ()) for n in NETWORKS]
)
def test_every_network_is_recorded_and_gives_the_cpus_numbers(name):
    found = gpu_checks.of_network(name, pretended)
    assert found.apart < 1e-9
    assert not found.refused
    assert found.replayed > 0


def test_networks_on_another_device_run_as_graphs():
    with pretended() as device:
        assert isinstance(choose(NET, device), Graphs)


def test_the_pretended_device_notices_what_a_gpu_would():
    """Without this nothing above would show anything."""
    with pretended() as device:
        there, here = torch.randn(4, 3).to(device), torch.randn(4, 3)
        assert torch.equal((there @ there.T).cpu(), there.cpu() @ there.cpu().T)
        for mistake in (lambda: there + here, lambda: torch.cat([there, here]), lambda: there.numpy()):
            with pytest.raises(RuntimeError):
                mistake()
        assert (there * torch.tensor(2.0)).device == device, "a number may lie on the CPU"
        copied = here.to(device)
        here.zero_()
        assert float(copied.abs().sum()) > 0, "what lies there is a copy"


WRITTEN = {"runtime": "runtime(upload_rate=2)", "average_gap": "average_gap(growth=1.01)"}
FEW = ("train_loss", "test_accuracy", "divergence", "grad_norm_sq", "local_gap", "consensus_distance")
PROBLEMS = {
    "softmax(digits, regularisation=0.1)": (MEASUREMENTS, 1e-9),
    "ridge(diabetes, regularisation=0.1)": (MEASUREMENTS, 1e-9),
    "femnist_dnn(iris)": (FEW, 1e-4),
}
"""What is measured of each, and how exactly."""


@pytest.mark.parametrize("text", PROBLEMS)
def test_every_measurement_is_the_cpus(text):
    names, exact = PROBLEMS[text]
    measured = [WRITTEN.get(name, name) for name in names if name != "training_seconds"]  # the clock's

    def read(device=None):
        problem = task(text).deal("dirichlet(1.0)" if "digits" in text else "iid", 5, 1, local_test="held_out")
        problem = problem if device is None else problem.to(device)
        plan = Setting(rounds=3, cohort=3, batch=8, step_size=0.05, local_steps=3)
        run = Run(problem, algorithm("scaffold()"), plan, 2, [measurement(name) for name in measured], 1)
        return {row[:-2]: row.value for _, rows in run for row in rows}

    with pretended() as device:
        there = read(device)
    here = read()
    assert {place[-1] for place in here} >= {measurement(name).word for name in measured}
    assert there == pytest.approx(here, rel=exact, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("text", PROBLEMS)
def test_constants_are_the_cpus(text):
    def found(device=None):
        problem = task(text).deal("iid", 4, 1)
        return constants(problem if device is None else problem.to(device), 8, quick=True)

    with pretended() as device:
        there = found(device)
    here = found()
    assert there.keys() == here.keys()
    for name, constant in here.items():
        np.testing.assert_allclose(there[name].value, constant.value, rtol=1e-5, err_msg=name)


@pytest.mark.parametrize("name", gpu_checks.CELLS)
def test_cells_that_ask_for_a_gpu_compute_there(name, monkeypatch):
    """The three jobs that train, with the arguments of a cell, against the same cells on the CPU."""
    asked = []
    monkeypatch.setattr(train, "device_named", lambda name: asked.append(name) or torch.device("meta"))
    assert gpu_checks.of_job(name, pretended).apart < 1e-4
    assert set(asked) == {"cuda"}
