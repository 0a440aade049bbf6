"""Algorithm 1 in plain loops beside the training engine, on a network of 27 numbers and clients of a few samples.

Batches hold all of a client's samples, so that a local step is deterministic and the loops need no stream of batches.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..claim import Book, fails, Finding, Grade, judged

FEATURES, HIDDEN, CLASSES = 3, 3, 3
LABELS = ((0, 0, 1, 0, 0), (2, 1, 1, 1, 2), (2, 2, 2, 0, 1))
"""The samples' labels by client; clients hold equally many."""
CLIENTS, SIZE = len(LABELS), len(LABELS[0])
MEMBERS = np.arange(CLIENTS * SIZE).reshape(CLIENTS, SIZE)
SEED, SAMPLES, ROUNDS, STEPS, STEP_SIZE = 3, 6, 2, 3, 0.4


@dataclass(frozen=True)
class Small:
    """Dense, tanh, dense."""

    def __call__(self) -> Any:
        from torch import nn

        from empirics.models.networks.parts import Split

        return Split(nn.Sequential(nn.Linear(FEATURES, HIDDEN), nn.Tanh()), nn.Linear(HIDDEN, CLASSES))


def toy() -> tuple[Any, Any]:
    """The network model and its federation, in double precision."""
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
    """The server's models after every round, by the engine."""
    import torch

    from empirics.algorithms import algorithm as built
    from empirics.training.rounds import rounds

    net, data = toy()
    return torch.stack([state.model for state in rounds(net, data, built(algorithm), setting(steps), SEED)])


def planned(built: Any) -> tuple[Any, Any, Any]:
    """The network, its first model, and what the engine plans for the first round of a method."""
    from empirics.training.rounds import plan_round

    net, data = toy()
    start = net.start(SEED)
    begun = built.begin(start, CLIENTS)
    return net, start, plan_round(net, data, built, setting(), SEED, begun, (np.arange(CLIENTS), np.ones(CLIENTS)))


def _apart(one: Any, other: Any) -> float:
    return float((one - other).abs().max())


def _compared(what: str, apart: float, limit: float) -> Finding:
    same = apart <= limit
    said = f"{what}: the models differ by at most {limit if same else apart:.1e}"  # the last bits are the processor's
    return judged(same, said, grade=Grade.SEARCHED)


# ---- the listing ----


def _outputs(w: Any, x: Any) -> Any:
    """Logits from the flat model, unpacked entry by entry."""
    import torch

    first, w = w[: HIDDEN * FEATURES].view(HIDDEN, FEATURES), w[HIDDEN * FEATURES :]
    shift, w = w[:HIDDEN], w[HIDDEN:]
    second, last = w[: CLASSES * HIDDEN].view(CLASSES, HIDDEN), w[CLASSES * HIDDEN :]
    return torch.tanh(x @ first.T + shift) @ second.T + last


def _loss(w: Any, theirs: Any, batch: tuple[Any, Any], made: Any, weight: float) -> Any:
    """What line 8 differentiates."""
    import torch

    x, y = batch
    task = -torch.log_softmax(_outputs(w, x), -1)[torch.arange(len(y)), y].mean()
    teacher = torch.log_softmax(_outputs(theirs, made), -1)
    return task + weight * (teacher.exp() * (teacher - torch.log_softmax(_outputs(w, made), -1))).sum(-1).mean()


def listing(weight: float, made: Callable[[int, int], Any]) -> Any:
    """Lines 2 to 11: the server's models; ``made(round, client)`` are the generated inputs of line 5."""
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
                loss = _loss(point, theta, (data.inputs[members], data.targets[members]), made(t, k), weight)
                (gradient,) = torch.autograd.grad(loss, point)
                w = w - STEP_SIZE * gradient
            ends.append(w)
        theta = torch.stack(ends).mean(0)
        models.append(theta)
    return torch.stack(models)


def noise(round_: int, client: int) -> Any:
    """The inputs that generation starts from."""
    import torch

    from empirics.streams import stream

    drawn = stream(SEED, "generated inputs", round=round_, client=client)
    return torch.from_numpy(drawn.standard_normal((SAMPLES, FEATURES), dtype="float32")).double()


# ---- findings ----


def lines_6_to_10(book: Book) -> Finding:
    """Without generation steps the generated inputs are the noise, which the loops can draw too."""
    engine = trained(f"fedcog(steps=0, samples={SAMPLES}, distillation=0.7, after=0)")
    return _compared("engine against the listing", _apart(engine, listing(0.7, noise)), 1e-12)


def off_switch(book: Book) -> Finding:
    engine = trained(f"fedcog(steps=2, samples={SAMPLES}, distillation=0, after=0)")
    return _compared("weight 0 against FedAvg", _apart(engine, trained("fedavg()")), 0.0)


def one_step(book: Book) -> Finding:
    """The first local step starts at the teacher, where the distillation loss has no slope."""
    engine = trained(f"fedcog(steps=2, samples={SAMPLES}, distillation=0.7, after=0)", steps=1)
    return _compared("one local step against FedAvg", _apart(engine, trained("fedavg()", steps=1)), 1e-12)


def plugged_in(book: Book) -> Finding:
    """As a plug-in with weight 0 every method of Table 3 is itself; with another its messages stay the same."""
    from empirics.algorithms import algorithm

    apart, acting = {}, {}
    for method in ("fedavg()", "fedavgm(momentum=0.1)", "fedprox(mu=0.01)", "scaffold()"):
        plugged = f"with_consensus_data({method}, steps=1, samples={SAMPLES}, distillation={{}})"
        alone = trained(method)
        apart[method], acting[method] = (_apart(trained(plugged.format(weight)), alone) for weight in (0, 0.7))
        ours, theirs = algorithm(plugged.format(0.7)), algorithm(method)
        if (ours.uploads, ours.downloads, ours.combine) != (theirs.uploads, theirs.downloads, theirs.combine):
            return fails(f"{method}: other messages or another server step")
    if not all(1e-6 < distance < 10 for distance in acting.values()):
        return fails(f"with weight 0.7 the models differ by {acting}")
    return _compared(f"{', '.join(apart)} with and without a weight of 0", max(apart.values()), 0.0)


def messages(book: Book) -> Finding:
    """What is declared to be sent, and the server's step on models that have one weighted sum."""
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
    made, again = (built.combine(work, models)[0] for models in (ends, others))
    apart = max(_apart(made, ends.mean(0)), _apart(made, again))
    right = declared == {"fedcog()": (1, 1), "fedavg()": (1, 1), "scaffold()": (2, 2)} and apart < 1e-12
    sent = ", ".join(f"{name} {up:g} up and {down:g} down" for name, (up, down) in declared.items())
    said = f"models a client sends and gets: {sent}; from other models of the same weighted sum the server makes "
    return judged(right, said + ("the same model" if apart < 1e-12 else "another"), grade=Grade.SEARCHED)


def objective_of_first_step(book: Book, distillation: float | None, balanced: bool) -> Finding:
    """The server's first step where clients take one, beside minus the step size times the weighted task gradients.

    ``balanced``: client k's task loss also has the weight N_real/(N_real + N_gen) of A.2.2.
    """
    import torch

    counts = [np.bincount(labels, minlength=CLASSES) for labels in LABELS]
    weights = [Fraction(int(c.sum()), int(c.max()) * CLASSES) if balanced else Fraction(1) for c in counts]
    shares = [w / CLIENTS for w in weights]
    models = trained(f"fedcog(steps=2, samples={SAMPLES}, distillation={distillation}, after=0)", steps=1)
    (_, data), point = toy(), models[0].clone().requires_grad_()
    losses = [torch.nn.functional.cross_entropy(_outputs(point, data.inputs[k]), data.targets[k]) for k in MEMBERS]
    whole = sum(float(share) * loss for share, loss in zip(shares, losses, strict=True))
    (gradient,) = torch.autograd.grad(torch.as_tensor(whole), point)
    apart = _apart(models[1], models[0] - STEP_SIZE * gradient)
    said = f"clients of weights {', '.join(map(str, shares))}: off the engine's first step by "
    shown = "nothing" if apart < 1e-12 else f"{apart:.3g}"
    return judged(apart < 1e-12, said + shown, {"clients' labels": str(LABELS), "seed": str(SEED)})


def generated(book: Book, targets: str, disagreement: float, shared: bool) -> Finding:
    """Whether all clients make the same inputs from the first model."""
    from empirics.algorithms import algorithm

    options = f"samples={SAMPLES}, steps=4, after=0"
    built = algorithm(f"fedcog(targets={targets!r}, disagreement={disagreement}, shared={shared}, {options})")
    net, _, work = planned(built)
    make = built.objective.generate  # type: ignore[attr-defined]
    made = [make(net, work.part(slice(k, k + 1)), (FEATURES,))[0] for k in range(CLIENTS)]
    apart = max(_apart(made[0], other) for other in made)
    said = f"{targets} labels, {'one seed' if shared else 'seeds of their own'}: inputs differ by at most {apart:.3g}"
    witness = {"clients' labels": str(LABELS), "seed": str(SEED), "algorithm": built.name}
    return judged(apart < 1e-9, said, witness)


def first_round(book: Book) -> Finding:
    """The listing's reads of local models, against those that were written before: of rounds before the current one."""
    written = {(t, k) for t in range(ROUNDS) for k in range(CLIENTS)}
    unwritten = [(t - 1, k) for t in range(ROUNDS) for k in range(CLIENTS) if (t - 1, k) not in written]
    read = "; ".join(f"line 5 reads the local model of client {k} after round {t}" for t, k in unwritten)
    said = read or "every model that is read was written"
    return judged(not unwritten, said, {"round": "0", "line": "5"}, grade=Grade.PROVED)


def indices(book: Book, first: int, last: int) -> Finding:
    """Line 10's sum over clients ``first`` to ``last`` against line 4's loop over 0 to K - 1."""
    trained_, summed = list(range(CLIENTS)), list(range(first, last + 1))
    sets = {"trained": str(trained_), "averaged": str(summed)}
    said = ", ".join(f"{name}: {clients}" for name, clients in sets.items())
    return judged(trained_ == summed, said, sets, grade=Grade.PROVED)
