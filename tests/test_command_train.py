"""The verbs that train: text in, lines and a tidy table out."""

import json

import pytest
from measuring_toys import read

import fedbounds
from empirics import verbs
from empirics.experiments.jobs.train import prepared

SMALL = ["--problem", "softmax(iris, regularisation=0.02)", "--clients", "4", "--batch", "10"]


def test_training_prints_a_line_per_seed_and_writes_a_row_per_number(tmp_path, run):
    table = tmp_path / "runs.csv"
    watched = ["--measure", "train_loss", "divergence", "--every", "1"]
    plan = ["--rounds", "3", "--local-steps", "2", "--seeds", "2", "--compare", "scaffold", *watched]
    status, out, err = run("train", *SMALL, *plan, "-o", str(table))
    assert (status, err) == (0, "")
    said = [f"{method}(), seed {seed}" for seed in (0, 1) for method in ("fedavg", "scaffold")]
    assert [line.split(", round")[0] for line in out.splitlines()[:4]] == said
    rows = read(table)
    assert {r.algorithm for r in rows} == {"fedavg()", "scaffold()"}
    losses = [r.value for r in rows if r.quantity == "train_loss" and r.algorithm == "fedavg()" and r.seed == 1]
    assert len(losses) == 4
    assert losses[-1] < losses[0]
    first = [r.value for r in rows if r.quantity == "train_loss" and r.seed == 0 and r.round == 0]
    assert first[0] == first[1]
    before = table.read_text()
    run("train", *SMALL, *plan, "-o", str(table))
    assert table.read_text() == before


def test_runs_that_diverge_are_named_also_while_their_numbers_are_finite(tmp_path, run):
    table, wild = tmp_path / "runs.csv", ["--rounds", "3", "--seeds", "2", "--compare", "fedprox(mu=7e8)"]
    status, out, _ = run("train", *SMALL, *wild, "--step-size", "1e9", "--json", "-o", str(table))
    assert status == 1
    plain = json.loads(out)[0]
    assert all(run["train_loss"] > 1e3 for run in plain["seeds"])
    assert plain["diverged"] == [True, True]
    (calm,) = json.loads(run("train", *SMALL, "--rounds", "2", "--json")[1])
    assert calm["diverged"] == [False]
    lost = ["train", *SMALL, "--rounds", "60", "--step-size", "1e200", "--every", "1"]
    (told,) = json.loads(run(*lost, "--json")[1])
    assert (told["seeds"], told["diverged"]) == ([None], [True])
    status, out, err = run(*lost, "-o", str(table))
    assert (status, err, out.splitlines()[2]) == (1, "", "fedavg()  diverged with 1 of 1 seeds")
    assert read(table)[-1].quantity == "diverged"


NETWORK = ["--problem", "femnist_dnn(digits, pixels=64, classes=10)", "--clients", "4", "--rounds", "2"]


def test_a_convex_model_is_compiled_where_it_is_asked_for_or_the_run_is_long(tmp_path, run, monkeypatch):
    table = tmp_path / "runs.csv"

    def trained(*words):
        """Whether the numbers are compiled ones, and what they are."""
        status, out, err = run("train", *SMALL, "--rounds", "2", *words, "-o", str(table))
        assert (status, err) == (0, "")
        return "numbers by compiled-2\n" in out, [row.value for row in read(table)]

    torchs, ours = trained("--engine", "torch"), trained("--engine", "compiled")
    assert (torchs[0], ours[0]) == (False, True)
    assert ours[1] == pytest.approx(torchs[1], rel=1e-12)
    for least, same in ((2 * 4 * 5, ours), (2 * 4 * 5 + 1, torchs), (verbs.STEPS_WORTH_COMPILING, torchs)):
        monkeypatch.setattr(verbs, "STEPS_WORTH_COMPILING", least)
        assert trained() == same


OWN = """
from dataclasses import replace
import torch
from torch import nn
from empirics.data.catalogue import DATASETS
from empirics.models.network import Network
from empirics.problems.tasks import Task

def served():
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 21), nn.ReLU(), nn.Linear(21, 10))

def other():
    return nn.Sequential(nn.Linear(64, 21), nn.Tanh(), nn.Linear(21, 10))

def task(build):
    network = Network("own", build)
    return Task("own", DATASETS["digits"](), lambda federation: network, linear=False, dtype=torch.float32)

mine, others = task(served), task(other)

flat = DATASETS["digits"]()
images = replace(flat, name="images", inputs=flat.inputs.reshape(-1, 1, 8, 8)[:300], targets=flat.targets[:300])
pictures = Task("pictures", images, lambda federation: Network("own", served), linear=False, dtype=torch.float32)
"""


def test_a_network_of_served_layers_is_recognised_by_itself(tmp_path, run, own):
    assert "numbers by" not in run("train", *SMALL, "--rounds", "1")[1]
    assert run("train", *NETWORK)[1].endswith("numbers by compiled-2\n")
    problem = ["--problem", f"{own}:mine", *NETWORK[2:]]
    tables = {engine: tmp_path / f"{engine}.csv" for engine in ("auto", "compiled", "torch")}
    said = {engine: run("train", *problem, "--engine", engine, "-o", str(table)) for engine, table in tables.items()}
    assert {(status, err) for status, _, err in said.values()} == {(0, "")}
    text = {engine: table.read_text() for engine, table in tables.items()}
    assert text["auto"] == text["compiled"] != text["torch"]
    assert said["auto"][1].splitlines()[-2:] == ["numbers by compiled-2", f"wrote {tables['auto']}"]
    assert "numbers by" not in said["torch"][1]


def test_a_network_with_another_layer_trains_on_torch_and_says_which_once(run, own):
    words = ["train", "--problem", f"{own}:others", *NETWORK[2:], "--seeds", "2", "--engine"]
    _, torch_, _ = run(*words, "torch")
    for engine in ("auto", "compiled"):
        status, out, err = run(*words, engine)
        assert (status, out, err.count("\n"), "Tanh" in err) == (0, torch_, 1, True)


PAPERS = {
    "fedals": ({"step_size_rule": "harmonic", "step_size": 1.3, "optimizer": "adamw", "beta1": 0.7}, ""),
    "adamw": ({"optimizer": "adamw", "beta2": 0.95, "epsilon": 1e-3, "weight_decay": 0.02}, ""),
    "nesterov": ({"momentum": 0.8, "nesterov": True}, ""),
    "unbiased": ({"average": "unbiased", "sampling": "bernoulli", "cohort": 2}, ""),
    "augment": ({"augment": "fedinit"}, "pictures"),
}
"""What the papers set, and the problem of ``OWN`` where the usual one has no place for it."""


@pytest.mark.parametrize("name", PAPERS)
def test_the_papers_settings_mean_in_the_shell_and_in_python_what_they_mean_in_a_cell(name, tmp_path, run, own):
    told, other = PAPERS[name]
    problem = f"{own}:{other}" if other else "softmax(iris, regularisation=0.02)"
    shared = {"problem": problem, "clients": 4, "rounds": 3, "batch": 7}
    words = [f"--{n.replace('_', '-')}" + ("" if v is True else f"={v}") for n, v in (shared | told).items()]
    table = tmp_path / "runs.csv"
    status, _, err = run("train", *words, "--engine=torch", "--measure", "train_loss", "-o", str(table))
    assert (status, err) == (0, "")
    cell = prepared(**shared, **told, algorithm="fedavg", seed=0, measure=["train_loss"]).rows()
    python = fedbounds.train(**shared, **told, engine="torch", measure=["train_loss"]).rows
    plain = fedbounds.train(**shared, engine="torch", measure=["train_loss"]).rows
    assert read(table)[-1].value == python[-1].value == cell[-1].value
    assert abs(plain[-1].value - cell[-1].value) > 1e-4
    if name == "fedals":
        kept = ["--engine=torch", "--keep-state", str(tmp_path / "run.pt")]
        assert [run("train", *words, *kept)[0] for _ in range(2)] == [0, 0]
        fewer = [word for word in words if word.lstrip("-").split("=")[0].replace("-", "_") not in told]
        assert run("train", *fewer, *kept)[0] == 2


def test_a_run_computes_on_the_device_that_it_is_given(run, monkeypatch):
    asked = []

    def to(problem, device):
        asked.append(str(device))
        return problem

    monkeypatch.setattr("empirics.problems.problem.FederatedProblem.to", to)
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    assert run("train", *SMALL, "--rounds", "1", "--device", "cuda:1")[0] == 0
    assert asked == ["cuda:1"]
