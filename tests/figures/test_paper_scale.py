"""The papers' own scale, which nobody here has the GPUs for: every cell is read, and every kind of one is built."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from loops import cases

from empirics.algorithms import algorithm
from empirics.data.dataset import Dataset
from empirics.experiments.checking import check_words, typical
from empirics.experiments.jobs import train
from empirics.problems import tasks
from empirics.training.rounds import draw_cohort
from figures import substitutes
from figures.catalogue import artefact, select
from figures.decaying_k import grid as decaying_k
from figures.fedals import grid as fedals
from figures.fedcog import grid as fedcog
from figures.fedinit import grid as fedinit
from figures.making import budget_text, cells, minutes, planned

TRAINED = ("train", "continued", "timed")
PARAMETERS = {"resnet20(cifar10)": 292_954, "resnet18(cifar10)": 11_181_642, "resnet18(cifar100)": 11_227_812}
"""ResNet-18 with a stem of 7 x 7, as torchvision counts it for 10 and 100 classes."""


def like(name, shape, classes, groups=0, kind="classification", length=6000, codes=None):
    """A data set of random numbers in the shape of a real one: as many samples of every class and group."""
    draw = np.random.default_rng(7)
    numbers = draw.integers(0, codes, (length, *shape), np.uint8) if codes else draw.normal(size=(length, *shape))
    targets = np.arange(length) % classes
    targets = targets * 2 - 1 if kind == "binary" else targets
    held = np.arange(length) // -(-length // groups) if groups else None
    if name == "cifar100":  # whose groups are coarse classes
        held = targets // (classes // groups)
    names = tuple(f"user {g}" for g in range(groups))
    inputs = numbers if codes else numbers.astype(np.float32)
    test = Dataset(name, inputs[:200], targets[:200], classes, kind, None, source="random", licence="none")
    about = {"groups": held, "group_names": names, "test": test, "source": "random", "licence": "none"}
    return Dataset(name, inputs, targets, classes, kind, **about)


def tokens(*about, **more):
    """The same with the next token after every position as targets."""
    data = like(*about, **more)
    return replace(data, targets=data.inputs, test=replace(data.test, targets=data.test.inputs))


@pytest.fixture
def everything(monkeypatch):
    """The cells of all figures, with data sets of random numbers in the shapes of those that the papers use."""
    monkeypatch.setattr(substitutes, "present", lambda name: True)
    images = {"svhn": like("svhn", (3, 32, 32), 10)}
    images |= {"cifar10": like("cifar10", (3, 32, 32), 10, length=50000, codes=256)}  # some splits need them all
    images |= {name: like(name, (1, 28, 28), 10) for name in ("mnist", "fashion_mnist")}
    images |= {"cifar100": like("cifar100", (3, 32, 32), 100, 20, length=6000)}
    images |= {"femnist": like("femnist", (1, 28, 28), 62, 64, length=64 * 62)}
    texts = {"sent140": like("sent140", (5000,), 2, 55, "binary", length=55 * 10)}
    fakes = {name: (lambda data=data: data) for name, data in (images | texts).items()}
    fakes["shakespeare"] = lambda alphabet="": like("shakespeare", (80,), 79, 12, "sequence", 12 * 160, codes=79)
    fakes["multinli"] = lambda task="", length=9: tokens("multinli", (60,), 128, 5, "sequence", 2000, codes=128)
    for name, fake in fakes.items():
        monkeypatch.setitem(tasks.DATASETS, name, fake)
    train.loaded.cache_clear()
    yield cells(planned(select(["all"]), "paper"))
    train.loaded.cache_clear()


def test_every_cell_can_be_read_and_every_network_is_trained_on_a_gpu(everything):
    assert len({cell.key for cell in everything}) == len(everything) > 2500
    check_words(everything)
    trained = [cell for cell in everything if cell.job in TRAINED]
    convex = ("softmax", "logistic", "ridge", "sent140_linear")
    slow = {
        cell.arguments["problem"]
        for cell in trained
        if cell.arguments.get("engine") != "cuda" and not cell.arguments["problem"].startswith(convex)
    }
    assert not slow
    assert {cell.job for cell in trained if cell.arguments.get("engine") == "cuda"} == set(TRAINED)
    made = planned(select(["fedinit.table_3"]), "paper")
    mine, cost = cells(made), minutes(made, "paper")
    rounds = sum(cell.arguments["rounds"] for cell in mine)
    steps = 10 * 5 * 50000 // 100 // 50  # participants, epochs, samples of one, batch
    rate = sum(cost.values()) * 60 / (rounds * steps)
    assert 0.005 < rate < 0.2  # seconds of a GPU for a step of ResNet-18, as budgeted
    assert f"{rate * rounds * steps / 3600:.3g} hours" in budget_text(cost, mine)


PRINTED = (
    (lambda: fedinit.cells("paper", fedinit.Setup(share="5%-200", split="0.6"), "FedInit")[2], {
        "clients": 200, "cohort": 10, "rounds": 500, "local_epochs": 5, "batch": 50, "step_size": 0.1, "seed": 2,
        "weight_decay": 1e-3, "step_size_decay": 0.998, "clip": 10, "partition": "dirichlet_replaced(0.6)",
        "augment": "fedinit", "problem": "resnet18(cifar10)", "algorithm": "fedinit(beta=0.05)",
    }),
    (lambda: fedinit.cells("paper", fedinit.Setup(data="CIFAR-100"), "FedDyn")[0], {
        "rounds": 800, "step_size_decay": 0.999, "algorithm": "feddyn(alpha=0.01)",
    }),
    (lambda: fedcog.cells("paper", "FedCOG")[0], {
        "clients": 10, "cohort": 10, "local_steps": 400, "step_size": 0.01, "rounds": 70, "after": 50,
        "problem": "fedcog_cnn(cifar10)", "first": "fedavg()",
        "algorithm": "fedcog(after=50, batch=64, disagreement=0.1, distillation=0.01, samples=256, steps=100)",
    }),
    (lambda: fedcog.cells("paper", "FedAvg", fedcog.Setup("CIFAR-100", "NIID-2"))[0], {
        "partition": "classes_per_client(10)", "problem": "fedcog_cifar100_cnn(cifar100)",
    }),
    (lambda: fedals.cells_of("paper", "SVHN", "FedALS", "iid")[0], {
        "problem": "resnet20(svhn)", "partition": "iid", "rounds": 2000, "every": 10, "momentum": 0.9,
        "nesterov": True, "algorithm": "fedals(alpha=10)",
    }),
    (lambda: fedals.cells_of("paper", "MultiNLI", "FedALS+SCAFFOLD", "non-iid")[0], {
        "problem": "opt(multinli(task='next'))", "optimizer": "adamw", "step_size_rule": "harmonic", "rounds": 4000,
    }),
    (lambda: fedals.cells_of("paper", "CIFAR-10", "SCAFFOLD", "non-iid")[0], {"momentum": 0.0}),
    *((lambda task=task: decaying_k.cells("paper", task, "k_error")[0], {
        "cohort": one.cohort, "batch": one.batch, "local_steps": one.local_steps, "step_size": one.step_size,
        "algorithm": "scheduled(fedavg(), patience=100, schedule='k_error', window=100)",
        "seconds": pytest.approx(10_000 * (one.model_size * (1 / 20 + 1 / 5) + one.minibatch_time * one.local_steps)),
    }) for task, one in decaying_k.PRINTED.items()),
)  # fmt: skip


@cases("cell printed", PRINTED)
def test_the_papers_scale_is_the_papers_setting(cell, printed, monkeypatch):
    monkeypatch.setattr(substitutes, "present", lambda name: True)
    given = cell().arguments
    assert {name: given[name] for name in printed} == printed


def test_so_is_how_often_it_is_run(monkeypatch):
    monkeypatch.setattr(substitutes, "present", lambda name: True)
    assert fedinit.PLANS["paper"].seeds == 3
    assert len(artefact("fedinit.table_1").cells("paper")) == 2 * 8 * 7 * 3
    assert len(artefact("fedals.table_3").cells("paper")) == (6 + 2) * 3 * 20
    assert {c.arguments["local_steps"] for c in artefact("fedcog.table_6").cells("paper")} == {200, 400, 600, 800}


def dealing(cell):
    """What decides who holds what."""
    words = cell.arguments
    asked = tuple((name, words[name]) for name in ("client_weight", "local_test", "augment") if name in words)
    return words["problem"], words.get("partition", "iid"), words.get("clients"), asked


@pytest.mark.slow
def test_every_kind_of_run_is_built(everything):
    sizes, kinds = {}, set()
    known = typical(cell for cell in everything if cell.job in TRAINED)
    dealt, before = None, None
    for cell in sorted(known, key=lambda cell: repr(dealing(cell))):  # one federation at a time fits into the memory
        words = dict(cell.arguments)
        if (kind := dealing(cell)) != before:
            problem, partition, clients, asked = kind
            dealt, before = None, kind
            dealt = train.loaded(problem).deal(partition, clients, words["seed"], **dict(asked))
        fields = ("batch", "local_steps", "local_epochs", "step_size", "momentum", "weight_decay", "clip", "sampling")
        shared = {name: words[name] for name in (*train.SHARED, *fields) if name in words}
        plan = train.SharedRun.of(shared).setting_for(words.get("rounds", 3), dealt.clients)
        assert len(draw_cohort(plan, dealt.federation, words["seed"], 0)[0]) == plan.cohort
        for text in {words["algorithm"], words.get("first", words["algorithm"])}:
            assert algorithm(text).begin(torch.zeros(7), 2).model.numel() == 7  # the networks' would fill the memory
        sizes[words["problem"]] = dealt.model.dim
        kinds.add(cell.job)
    assert kinds == set(TRAINED)
    assert {name: sizes[name] for name in PARAMETERS} == PARAMETERS
