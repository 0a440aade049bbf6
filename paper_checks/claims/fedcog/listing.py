"""Algorithm 1 in plain loops, compared with the training engine on a network of 27 parameters and a few samples.

Batches have all samples of a client, so that local steps are deterministic.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..claim import Book, fails, Finding, finding, Grade

FEATURES, HIDDEN, CLASSES = 3, 3, 3
LABELS = ((0, 0, 1, 0, 0), (2, 1, 1, 1, 2), (2, 2, 2, 0, 1))
"""The labels of each client's samples; clients have equally many."""
CLIENTS, SIZE = len(LABELS), len(LABELS[0])
MEMBERS = np.arange(CLIENTS * SIZE).reshape(CLIENTS, SIZE)
SEED, SAMPLES, ROUNDS, STEPS, STEP_SIZE = 3, 6, 2, 3, 0.4


@dataclass(frozen=True)
class Small:
    """Builds a network of a dense layer, tanh, and a dense layer."""

    def __call__(self) -> Any:
        from torch import nn

        from empirics.models.networks.blocks import Split

        return Split(nn.Sequential(nn.Linear(FEATURES, HIDDEN), nn.Tanh()), nn.Linear(HIDDEN, CLASSES))


def toy() -> tuple[Any, Any]:
    """Return the network and its federation, in double precision."""
    import torch

    from empirics.federation.federation import Federation
    from empirics.models.network import Network

    labels = np.concatenate(LABELS)
    inputs = np.random.default_rng(8).normal(size=(len(labels), FEATURES)) + np.eye(CLASSES)[labels]
    federation = Federation.of(torch.tensor(inputs), torch.tensor(labels), list(MEMBERS))
    return Network("small", Small(), dtype=torch.float64), federation


def setting(steps: int = STEPS) -> Any:
    from empirics.training.setting import Setting

    return Setting(ROUNDS, CLIENTS, SIZE, STEP_SIZE, steps, client_weight="samples")


def trained(algorithm: str, steps: int = STEPS) -> Any:
    """Return the server's models after every round, trained by the engine."""
    import torch

    from empirics.algorithms import algorithm as built
    from empirics.training.rounds import rounds

    net, data = toy()
    return torch.stack([state.model for state in rounds(net, data, built(algorithm), setting(steps), SEED)])


def planned(method: Any) -> tuple[Any, Any, Any]:
    """Return the network, its initial model, and the engine's plan of a method's first round."""
    from empirics.training.rounds import plan_round

    net, data = toy()
    start = net.start(SEED)
    state = method.begin(start, CLIENTS)
    return net, start, plan_round(net, data, method, setting(), SEED, state, (np.arange(CLIENTS), np.ones(CLIENTS)))


def _distance(one: Any, other: Any) -> float:
    """Return the largest difference of two tensors."""
    return float((one - other).abs().max())


def _compared(what: str, distance: float, limit: float) -> Finding:
    same = distance <= limit
    # The limit is shown, as the last bits of the distance depend on the processor.
    evidence = f"{what}: the models differ by at most {limit if same else distance:.1e}"
    return finding(same, evidence, grade=Grade.SEARCHED)


# ---- the listing ----


def _outputs(w: Any, x: Any) -> Any:
    """Return the logits of the network whose parameters are the flat vector ``w``."""
    import torch

    first, w = w[: HIDDEN * FEATURES].view(HIDDEN, FEATURES), w[HIDDEN * FEATURES :]
    shift, w = w[:HIDDEN], w[HIDDEN:]
    second, last = w[: CLASSES * HIDDEN].view(CLASSES, HIDDEN), w[CLASSES * HIDDEN :]
    return torch.tanh(x @ first.T + shift) @ second.T + last


def _loss(w: Any, teacher: Any, batch: tuple[Any, Any], inputs: Any, weight: float) -> Any:
    """Return the loss of line 8: task loss on a batch, and distillation from the teacher on generated inputs."""
    import torch

    x, y = batch
    task = -torch.log_softmax(_outputs(w, x), -1)[torch.arange(len(y)), y].mean()
    wanted, own = (torch.log_softmax(_outputs(model, inputs), -1) for model in (teacher, w))
    return task + weight * (wanted.exp() * (wanted - own)).sum(-1).mean()


def listing(weight: float, generate: Callable[[int, int], Any]) -> Any:
    """Run lines 2 to 11 and return the server's models; ``generate(round, client)`` returns the inputs of line 5."""
    import torch

    net, data = toy()
    theta = net.start(SEED)
    models = [theta]
    for t in range(ROUNDS):
        ends = []
        for k, members in enumerate(MEMBERS):
            w = theta.clone()
            for _ in range(STEPS):
                point = w.clone().requires_grad_()
                loss = _loss(point, theta, (data.inputs[members], data.targets[members]), generate(t, k), weight)
                (gradient,) = torch.autograd.grad(loss, point)
                w = w - STEP_SIZE * gradient
            ends.append(w)
        theta = torch.stack(ends).mean(0)
        models.append(theta)
    return torch.stack(models)


def noise(round_: int, client: int) -> Any:
    """Return the inputs from which generation starts."""
    import torch

    from empirics.streams import stream

    drawn = stream(SEED, "generated inputs", round=round_, client=client)
    return torch.from_numpy(drawn.standard_normal((SAMPLES, FEATURES), dtype="float32")).double()


# ---- checks ----


def lines_6_to_10(book: Book) -> Finding:
    """The engine has the listing's models. Without generation steps, both start from the same noise as inputs."""
    engine = trained(f"fedcog(steps=0, samples={SAMPLES}, distillation=0.7, after=0)")
    return _compared("engine against the listing", _distance(engine, listing(0.7, noise)), 1e-12)


def off_switch(book: Book) -> Finding:
    engine = trained(f"fedcog(steps=2, samples={SAMPLES}, distillation=0, after=0)")
    return _compared("weight 0 against FedAvg", _distance(engine, trained("fedavg()")), 0.0)


def one_step(book: Book) -> Finding:
    """With one local step FedCOG is FedAvg: the distillation loss has no slope at the teacher, where it starts."""
    engine = trained(f"fedcog(steps=2, samples={SAMPLES}, distillation=0.7, after=0)", steps=1)
    return _compared("one local step against FedAvg", _distance(engine, trained("fedavg()", steps=1)), 1e-12)


def plugged_in(book: Book) -> Finding:
    """Methods of Table 3 do not change if FedCOG is plugged in with weight 0; with another weight, messages do not."""
    from empirics.algorithms import algorithm

    without_weight, with_weight = {}, {}
    for method in ("fedavg()", "fedavgm(momentum=0.1)", "fedprox(mu=0.01)", "scaffold()"):
        plugged = f"with_consensus_data({method}, steps=1, samples={SAMPLES}, distillation={{}})"
        alone = trained(method)
        without_weight[method] = _distance(trained(plugged.format(0)), alone)
        with_weight[method] = _distance(trained(plugged.format(0.7)), alone)
        ours, theirs = algorithm(plugged.format(0.7)), algorithm(method)
        if (ours.uploads, ours.downloads, ours.combine) != (theirs.uploads, theirs.downloads, theirs.combine):
            return fails(f"{method}: other messages or another server step")
    if not all(1e-6 < distance < 10 for distance in with_weight.values()):
        return fails(f"with weight 0.7 the models differ by {with_weight}")
    methods = ", ".join(without_weight)
    return _compared(f"{methods} with and without a weight of 0", max(without_weight.values()), 0.0)


def messages(book: Book) -> Finding:
    """FedCOG sends as many models as FedAvg, and its server step depends on the weighted sum of the models alone."""
    import torch

    from empirics.algorithms import algorithm

    declared = {}
    for text in ("fedcog()", "fedavg()", "scaffold()"):
        built = algorithm(text)
        declared[text] = (built.uploads, built.downloads)
    built = algorithm("fedcog()")
    _, start, work = planned(built)
    ends = start + torch.from_numpy(np.random.default_rng(SEED).normal(size=(CLIENTS, len(start))))
    others = ends + torch.tensor([[1.0], [2.0], [-3.0]], dtype=torch.float64)  # clients of equal weight
    first, second = (built.combine(work, models)[0] for models in (ends, others))
    distance = max(_distance(first, ends.mean(0)), _distance(first, second))
    holds = declared == {"fedcog()": (1, 1), "fedavg()": (1, 1), "scaffold()": (2, 2)} and distance < 1e-12
    sent = ", ".join(f"{name} {up:g} up and {down:g} down" for name, (up, down) in declared.items())
    evidence = f"models a client sends and gets: {sent}; from other models of the same weighted sum the server makes "
    return finding(holds, evidence + ("the same model" if distance < 1e-12 else "another"), grade=Grade.SEARCHED)


def objective_of_first_step(book: Book, distillation: float | None, balanced: bool) -> Finding:
    """The server's first step is minus the step size times the weighted task gradients, if clients take one step.

    ``balanced``: client k's task loss also has the weight N_real/(N_real + N_gen) of A.2.2.
    """
    import torch

    counts = [np.bincount(labels, minlength=CLASSES) for labels in LABELS]
    weights = [Fraction(int(c.sum()), int(c.max()) * CLASSES) if balanced else Fraction(1) for c in counts]
    shares = [w / CLIENTS for w in weights]
    models = trained(f"fedcog(steps=2, samples={SAMPLES}, distillation={distillation}, after=0)", steps=1)
    (_, data), point = toy(), models[0].clone().requires_grad_()
    losses = [torch.nn.functional.cross_entropy(_outputs(point, data.inputs[k]), data.targets[k]) for k in MEMBERS]
    total = sum(float(share) * loss for share, loss in zip(shares, losses, strict=True))
    (gradient,) = torch.autograd.grad(torch.as_tensor(total), point)
    distance = _distance(models[1], models[0] - STEP_SIZE * gradient)
    evidence = f"clients of weights {', '.join(map(str, shares))}: off the engine's first step by "
    evidence += "nothing" if distance < 1e-12 else f"{distance:.3g}"
    return finding(distance < 1e-12, evidence, {"clients' labels": str(LABELS), "seed": str(SEED)})


def generated(book: Book, targets: str, disagreement: float, shared: bool) -> Finding:
    """All clients generate the same inputs from the initial model."""
    from empirics.algorithms import algorithm

    options = f"samples={SAMPLES}, steps=4, after=0"
    built = algorithm(f"fedcog(targets={targets!r}, disagreement={disagreement}, shared={shared}, {options})")
    net, _, work = planned(built)
    generate = built.objective.generate  # type: ignore[attr-defined]
    inputs = [generate(net, work.part(slice(k, k + 1)), (FEATURES,))[0] for k in range(CLIENTS)]
    distance = max(_distance(inputs[0], other) for other in inputs)
    seeds = "one seed" if shared else "seeds of their own"
    evidence = f"{targets} labels, {seeds}: inputs differ by at most {distance:.3g}"
    witness = {"clients' labels": str(LABELS), "seed": str(SEED), "algorithm": built.name}
    return finding(distance < 1e-9, evidence, witness)


def first_round(book: Book) -> Finding:
    """Every local model that the listing reads was written in an earlier round."""
    written = {(t, k) for t in range(ROUNDS) for k in range(CLIENTS)}
    unwritten = [(t - 1, k) for t in range(ROUNDS) for k in range(CLIENTS) if (t - 1, k) not in written]
    read = "; ".join(f"line 5 reads the local model of client {k} after round {t}" for t, k in unwritten)
    evidence = read or "every model that is read was written"
    return finding(not unwritten, evidence, {"round": "0", "line": "5"}, grade=Grade.PROVED)


def indices(book: Book, first: int, last: int) -> Finding:
    """Line 10 sums over the clients of line 4's loop from 0 to K - 1; the sum is from ``first`` to ``last``."""
    trained_clients, summed = list(range(CLIENTS)), list(range(first, last + 1))
    sets = {"trained": str(trained_clients), "averaged": str(summed)}
    evidence = ", ".join(f"{name}: {clients}" for name, clients in sets.items())
    return finding(trained_clients == summed, evidence, sets, grade=Grade.PROVED)
