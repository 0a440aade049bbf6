"""Methods for networks: each against plain loops, by hand, and the same numbers wherever clients train."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
import torch
from loops import cases
from network_toys import CLASSES, FEATURES, FEDERATION, HIDDEN, models, NET, SEED, SETTING
from torch import nn, Tensor
from training_toys import many_classes

from empirics.algorithms import algorithm
from empirics.algorithms.contrast import Decorrelated
from empirics.algorithms.fedgen import Layers
from empirics.algorithms.network_methods import generator
from empirics.algorithms.virtual import virtual_samples
from empirics.errors import EmpiricsError
from empirics.federation.shuffles import orders
from empirics.models.network import Network
from empirics.streams import stream
from empirics.training.engines import ClientLoop
from empirics.training.rounds import draw_cohort, rounds, shares
from empirics.training.setting import Setting

# ---- plain loops ----


def hidden(w: Tensor, x: Tensor) -> Tensor:
    """Representation of one sample."""
    rows = [torch.tanh((w[3 * i : 3 * i + 3] * x).sum() + w[12 + i]) for i in range(HIDDEN)]
    return torch.stack(rows)


def head(w: Tensor, z: Tensor) -> Tensor:
    return torch.stack([(w[16 + 4 * c : 20 + 4 * c] * z).sum() + w[28 + c] for c in range(CLASSES)])


def logits(w: Tensor, x: Tensor) -> Tensor:
    return head(w, hidden(w, x))


def cross_entropy(output: Tensor, y: int) -> Tensor:
    return torch.log(torch.exp(output).sum()) - output[y]


def softmax(output: Tensor) -> Tensor:
    return torch.exp(output) / torch.exp(output).sum()


def kl(p: Tensor, q: Tensor) -> Tensor:
    return sum(p[c] * (torch.log(p[c]) - torch.log(q[c])) for c in range(len(p)))


def mean(values: list[Tensor]) -> Tensor:
    return sum(values) / len(values)


@dataclass
class Step:
    """What a local loss may look at."""

    client: int
    round: int
    step: int
    start: Tensor
    last: Tensor
    batch: list[tuple[Tensor, int]]
    counts: list[int]
    kept: dict[Any, Any]
    "Lives as long as the run."


def plain_loss(w: Tensor, now: Step) -> Tensor:
    return mean([cross_entropy(logits(w, x), y) for x, y in now.batch])


def slope(function: Callable[[Tensor], Tensor], at: Tensor) -> Tensor:
    """Gradient of a function of one tensor."""
    point = at.detach().clone().requires_grad_()
    return torch.autograd.grad(function(point), point)[0]


def plain_step(loss: Callable[[Tensor, Step], Tensor], w: Tensor, now: Step, eta: float) -> Tensor:
    return w - eta * slope(lambda p: loss(p, now), w)


@dataclass
class Twin:
    """FedAvg with a local loss, or a local step, and something for the server to do with the clients' ends."""

    loss: Callable[[Tensor, Step], Tensor] = plain_loss
    take: Callable[..., Tensor] = plain_step
    serve: Callable[..., None] = field(default=lambda *_: None)
    setting: Setting = SETTING

    def path(self) -> Tensor:
        """The server's models after every round."""
        setting, data = self.setting, [FEDERATION.samples(k) for k in range(FEDERATION.clients)]
        weights = shares(setting, FEDERATION)
        server = NET.start(SEED)
        last, kept, path = [server] * FEDERATION.clients, {}, []
        for r in range(setting.rounds):
            cohort = [int(k) for k in draw_cohort(setting, FEDERATION, SEED, r)[0]]
            ends = []
            for k in cohort:
                w = server
                for s, chosen in enumerate(self.batches(k, r, len(data[k][1]))):
                    batch = [(data[k][0][i], int(data[k][1][i])) for i in chosen]
                    counts = [int((data[k][1] == c).sum()) for c in range(CLASSES)]
                    now = Step(k, r, s, server, last[k], batch, counts, kept)
                    w = self.take(self.loss, w, now, setting.step_size)
                ends.append(w)
            self.serve(r, cohort, ends, kept)
            for k, end in zip(cohort, ends, strict=True):
                last[k] = end
            total = sum(weights[k] for k in cohort)
            server = sum(weights[k] / total * end for k, end in zip(cohort, ends, strict=True))
            path.append(server)
        return torch.stack(path)

    def batches(self, k: int, round_: int, size: int) -> list[list[int]]:
        order = orders(SEED, round_, np.array([k]), np.array([size]), self.setting.steps)[0]
        b = self.setting.batch
        return [list(p[i : i + b]) for p in order for i in range(0, size, b)][: self.setting.steps]


class Adam:
    """Torch's Adam on one tensor."""

    def __init__(self, x: Tensor, beta1: float, ridge: float = 0.0) -> None:
        self.held = x.clone()
        self.optimizer = torch.optim.Adam([self.held], betas=(beta1, 0.999), weight_decay=ridge)

    def __call__(self, gradient: Tensor, eta: float) -> Tensor:
        self.held.grad, self.optimizer.param_groups[0]["lr"] = gradient, eta
        self.optimizer.step()
        return self.held.clone()


def agree(text: str, twin: Twin, least: float = 1e-4) -> None:
    """The method equals its twin, and is not FedAvg."""
    found, expected = models(text, twin.setting), twin.path()
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-10)
    assert (found - models("fedavg()", twin.setting)).abs().max() > least


# ---- methods ----


def cosine(a, b):
    return (a * b).sum() / ((a * a).sum() * (b * b).sum()) ** 0.5


def moon_loss(mu, temperature):
    def loss(w, now: Step):
        terms = []
        for x, y in now.batch:
            z = hidden(w, x)
            near = torch.exp(cosine(z, hidden(now.start, x)) / temperature)
            far = torch.exp(cosine(z, hidden(now.last, x)) / temperature)
            terms.append(cross_entropy(head(w, z), y) - mu * torch.log(near / (near + far)))
        return mean(terms)

    return loss


def decorr_loss(beta, code):
    def loss(w, now: Step):
        z = [hidden(w, x) for x, _ in now.batch]
        n, d = len(z), len(z[0])
        penalty = 0.0
        if n > 1:
            middle = mean(z)
            spread = [sum((one[i] - middle[i]) ** 2 for one in z) / (n - 1) + 1e-8 for i in range(d)]
            for i in range(d):
                for j in range(d):
                    covariance = sum((one[i] - middle[i]) * (one[j] - middle[j]) for one in z)
                    r = covariance / (spread[i] * spread[j]) ** 0.5
                    if not code:
                        penalty = penalty + (r / (n - 1)) ** 2 / d**2
                    elif i != j:
                        penalty = penalty + r**2 / (d * (d - 1)) / n
        return mean([cross_entropy(head(w, one), y) for one, (_, y) in zip(z, now.batch, strict=True)]) + beta * penalty

    return loss


@pytest.mark.parametrize("reading", ["intended", "code"])
def test_single_samples_and_dead_columns_correlate_with_nothing(reading):
    measure = Decorrelated(1.0, reading).correlation
    z = torch.tensor([[[0.5, 0.0], [0.7, 0.0]]], requires_grad=True)
    alone, dead = measure(z[:, :1], None), measure(z, None)
    assert alone.item() == 0
    assert dead.item() == pytest.approx(0.25 if reading == "intended" else 0.0, abs=1e-6)
    assert torch.autograd.grad((alone + dead).sum(), z)[0].isfinite().all()


def vhl_loss(alpha, weight, epochs, size, per_class):
    def loss(w, now: Step):
        pool = virtual_samples(SEED, CLASSES, per_class, (FEATURES,)).double()
        places = stream(SEED, "virtual batches", round=now.round, client=now.client).integers(
            CLASSES * per_class, size=(SETTING.local_steps, size)
        )[now.step]
        made = [(pool[i], int(i) // per_class) for i in places]
        both = [(hidden(w, x), y) for x, y in (*now.batch, *made)]
        own = [cross_entropy(head(w, z), y) for z, y in both]
        total = mean(own[: len(now.batch)]) + alpha * mean(own[len(now.batch) :])
        if now.step < epochs * -(-sum(now.counts) // SETTING.batch):
            total = total + weight * alignment(both)
        return total

    return loss


def alignment(samples):
    unit = [(z / (z * z).sum() ** 0.5, y) for z, y in samples]
    total = 0.0
    for i, (z, y) in enumerate(unit):
        others = [(torch.exp((z * o).sum() / 0.07), label) for j, (o, label) in enumerate(unit) if j != i]
        same = [-torch.log(e / sum(e for e, _ in others)) for e, label in others if label == y]
        total = total + (mean(same) if same else 0.0)
    return total / len(unit)


def fedreg_step(gamma, iterations, size, code):
    def take(_, w, now: Step, eta):
        low = min(float(x.min()) for x, _ in now.batch)
        high = max(float(x.max()) for x, _ in now.batch)

        def made(x, y, step):
            for _ in range(iterations):
                g = slope(lambda p: cross_entropy(logits(now.start, p), y), x)
                x = x + step * g.sign() if code else torch.clamp(x - step * g.sign(), low, high)
            return x

        pseudo = [made(x, y, size) for x, y in now.batch]
        soft = [(x, softmax(logits(now.start, x)).detach()) for x in pseudo]
        perturbed = [(made(x, y, size / 100), y) for x, y in now.batch]
        first = w - eta * slope(lambda p: plain_loss(p, now), gamma * w + (1 - gamma) * now.start)
        near = (first + now.start) / 2
        g2 = slope(lambda p: mean([kl(t, softmax(logits(p, x))) for x, t in soft]), near)  # an entropy away from CE
        g3 = slope(lambda p: mean([cross_entropy(logits(p, x), y) for x, y in perturbed]), near)
        delta = first - now.start
        a = max(0.0, float((delta * g2).sum() / (g2 * g2).sum()))
        b = max(0.0, float(((delta - a * g2) * g3).sum() / (g3 * g3).sum()))
        return first - a * g2 - b * g3

    return take


def test_an_uneven_step_size_is_divided_out():
    """The second stage has no step size: under the harmonic rule the direction is divided by that of its own step."""
    setting = replace(SETTING, step_size=3.0, step_size_rule="harmonic", rounds=2)
    constant = replace(SETTING, step_size=0.3, rounds=2)
    text = "fedreg(iterations=2, made_step_size=0.1)"
    assert (models(text, setting) - models(text, constant)).abs().max() < 0.01


NOISE, WIDE, STEPS, BATCH = 2, 5, 4, 3
FEDGEN = f"fedgen(weight=2, batch={BATCH}, noise={NOISE}, hidden={WIDE}, generator_steps={STEPS})"


def generated(v, noise, y):
    """The generator, layer by layer: two dense layers with a normalisation over the hidden numbers between."""
    x = torch.cat([noise, torch.eye(CLASSES, dtype=v.dtype)[y]])
    n, at = len(x), WIDE * len(x)
    first = [(v[n * i : n * i + n] * x).sum() + v[at + i] for i in range(WIDE)]
    middle = mean(first)
    spread = (mean([(h - middle) ** 2 for h in first]) + 1e-5) ** 0.5
    gain, shift = v[at + WIDE : at + 2 * WIDE], v[at + 2 * WIDE : at + 3 * WIDE]
    active = torch.stack([torch.relu((h - middle) / spread * gain[i] + shift[i]) for i, h in enumerate(first)])
    last = v[at + 3 * WIDE :]
    out = [(last[WIDE * j : WIDE * j + WIDE] * active).sum() + last[WIDE * HIDDEN + j] for j in range(HIDDEN)]
    return torch.stack(out)


def serve(round_, cohort, ends, kept):
    """The server's part: Adam on the generator, from the heads of those who took part."""
    if "generator" not in kept:
        kept["generator"] = generator(Layers(NOISE + CLASSES, WIDE, HIDDEN), torch.float64).start(SEED)
        kept["adam"] = Adam(kept["generator"], 0.9, ridge=0.01)
    counts = {k: [int((FEDERATION.samples(k)[1] == c).sum()) for c in range(CLASSES)] for k in cohort}
    totals = [sum(counts[k][c] for k in cohort) for c in range(CLASSES)]
    held = [c for c in range(CLASSES) if totals[c]]
    draws = stream(SEED, "generator", round=round_)
    for _ in range(STEPS):
        labels = [held[i] for i in draws.integers(len(held), size=BATCH)]
        noise = torch.tensor(draws.random((BATCH, NOISE)))

        def loss(v, labels=labels, noise=noise):
            z = [generated(v, e, y) for e, y in zip(noise, labels, strict=True)]
            total = torch.zeros((), dtype=v.dtype)
            for k, end in zip(cohort, ends, strict=True):
                shares = [counts[k][y] / totals[y] for y in labels]
                wrong = [cross_entropy(head(end, one), y) for one, y in zip(z, labels, strict=True)]
                total = total + mean([share * one for share, one in zip(shares, wrong, strict=True)])
            pairs = [
                mean(list((noise[i] - noise[j]) ** 2)) * mean(list((z[i] - z[j]).abs()))
                for i in range(BATCH)
                for j in range(BATCH)
            ]
            return total + torch.exp(-mean(pairs))

        kept["generator"] = kept["adam"](slope(loss, kept["generator"]), 3e-4 * 0.98**round_)


def fedgen_loss(w, now: Step):
    own = mean([cross_entropy(head(w, hidden(w, x)), y) for x, y in now.batch])
    if now.round == 0:
        return own
    v, b = now.kept["generator"], SETTING.batch
    draws = stream(SEED, "generated representations", round=now.round, client=now.client)
    labels = draws.integers(CLASSES, size=(SETTING.local_steps, BATCH))[now.step]
    noise = draws.random((SETTING.local_steps, b + BATCH, NOISE), dtype="float32")[now.step]
    noise = torch.tensor(noise, dtype=torch.float64)
    latent = mean(
        [
            kl(softmax(head(w, generated(v, noise[i], y))).detach(), softmax(head(w, hidden(w, x))))
            for i, (x, y) in enumerate(now.batch)
        ]
    )
    taught = mean([cross_entropy(head(w, generated(v, noise[b + i], int(y))), int(y)) for i, y in enumerate(labels)])
    return own + 2 * 0.98**now.round * (BATCH / b * taught + latent)


def test_labels_that_no_active_client_holds_are_not_drawn_and_shares_stay_finite():
    """The fourth client has label 1 alone."""
    setting = replace(SETTING, cohort=1, rounds=8)
    states = list(rounds(NET, FEDERATION, algorithm(FEDGEN), setting, SEED))
    assert all(state.model.isfinite().all() for state in states)
    assert states[-1].server["generator"].isfinite().all()


SAMPLES, ADAM = 5, 3
COG = f"disagreement=0.4, distillation=0.5, samples={SAMPLES}, steps={ADAM}"


def allocated(counts, floors):
    lack = [max(counts) - c for c in counts]
    lack = lack if any(lack) else [1] * CLASSES
    exact = [SAMPLES * n / sum(lack) for n in lack]
    taken = [int(e) for e in exact]
    while not floors and sum(taken) < SAMPLES:
        taken[max(range(CLASSES), key=lambda c: (round(exact[c] - taken[c], 9), -c))] += 1
    return [c for c in range(CLASSES) for _ in range(taken[c])]


def made(now: Step, disagreement, code=False, shared=False):
    """The generated inputs and target labels of a client, once a round."""
    if (now.round, now.client) in now.kept:
        return now.kept[now.round, now.client]
    labels = allocated(now.counts, code)
    noise = stream(SEED, "generated inputs", round=now.round, client=0 if shared else now.client)
    x = torch.tensor(noise.standard_normal((SAMPLES, FEATURES), dtype="float32"), dtype=torch.float64)[: len(labels)]

    def limited(p):
        return torch.clamp(p, 0.01, 0.99) if code else p

    def loss(x):
        pairs = [[limited(softmax(logits(w, one))) for w in (now.start, now.last)] for one in x]
        middles = [limited((p + q) / 2) for p, q in pairs]
        if code:
            js = mean([(kl(m, p) + kl(m, q)) / 2 for (p, q), m in zip(pairs, middles, strict=True)])
        else:
            js = mean([(kl(p, m) + kl(q, m)) / 2 for (p, q), m in zip(pairs, middles, strict=True)])
        task = mean([cross_entropy(logits(now.start, one), y) for one, y in zip(x, labels, strict=True)])
        return task + disagreement * (1 - js)

    adam = Adam(x, 0.5)
    for _ in range(ADAM):
        x = adam(slope(loss, x), 1e-2)
    now.kept[now.round, now.client] = x, labels
    return x, labels


def cog_loss(disagreement=0.4, weight=0.5, after=0, code=False, shared=False, supervision="soft", base=plain_loss):
    def loss(w, now: Step):
        own = base(w, now)
        if now.round < after:
            return own
        x, labels = made(now, disagreement, code, shared)
        if supervision == "soft":
            apart = mean([kl(softmax(logits(now.start, one)), softmax(logits(w, one))) for one in x])
        else:
            best = [int(logits(now.start, one).argmax()) for one in x]
            wanted = labels if supervision == "target" else best
            apart = mean([cross_entropy(logits(w, one), y) for one, y in zip(x, wanted, strict=True)])
        if weight is not None:
            return own + weight * apart
        whole = CLASSES * max(now.counts)
        return sum(now.counts) / whole * own + (whole - sum(now.counts)) / whole * apart

    return loss


def near_the_start(w, now: Step):
    """FedProx's loss with a weight of 0.4."""
    return plain_loss(w, now) + 0.2 * ((w - now.start) ** 2).sum()


TWINS = {
    "moon(mu=0.7, temperature=0.4)": Twin(moon_loss(0.7, 0.4)),
    "feddecorr(beta=0.3)": Twin(decorr_loss(0.3, False)),
    "feddecorr(beta=0.3, reading='code')": Twin(decorr_loss(0.3, True)),
    # one pass is two or three of the four steps: clients leave the alignment at times of their own
    "vhl(alpha=0.6, weight=0.3, epochs=0, batch=3, per_class=2)": Twin(vhl_loss(0.6, 0.3, 0, 3, 2)),
    "vhl(alpha=0.6, weight=0.3, epochs=1, batch=3, per_class=2)": Twin(vhl_loss(0.6, 0.3, 1, 3, 2)),
    # three signed steps of 0.3 reach the range's limits; a batch's range leaves out its padding
    "fedreg(gamma=0.5, iterations=3, made_step_size=0.3)": Twin(take=fedreg_step(0.5, 3, 0.3, False)),
    "fedreg(gamma=0.7, iterations=3, made_step_size=0.3, reading='code')": Twin(take=fedreg_step(0.7, 3, 0.3, True)),
    "fedreg(gamma=1.0, iterations=3, made_step_size=0.05)": Twin(take=fedreg_step(1.0, 3, 0.05, False)),
    FEDGEN: Twin(fedgen_loss, serve=serve),
    f"fedcog({COG}, after=0)": Twin(cog_loss()),
    f"fedcog({COG}, after=1, reading='code')": Twin(cog_loss(after=1, code=True)),
    f"fedcog({COG.replace('0.5', 'None')}, after=0, supervision='predicted')": Twin(
        cog_loss(weight=None, supervision="predicted")
    ),
    f"fedcog({COG.replace('0.4', '0')}, after=0, shared=True, supervision='target')": Twin(
        cog_loss(disagreement=0.0, shared=True, supervision="target")
    ),
    f"with_consensus_data(fedprox(mu=0.4), {COG})": Twin(cog_loss(base=near_the_start)),
}


@cases("text", TWINS)
def test_every_method_equals_plain_loops(text):
    agree(text, TWINS[text])


METHODS = [
    "moon(mu=0.5)",
    "feddecorr(beta=0.4)",
    "vhl(batch=3, epochs=1)",
    "fedreg(made_step_size=0.1, iterations=2)",
    "fedgen(batch=3, noise=2, hidden=5, generator_steps=3)",
    "fedcog(samples=6, steps=3, after=1, distillation=0.5)",
    "fedcog(samples=6, steps=3, after=0, distillation=None, batch=4, reading='code')",
    "with_consensus_data(scaffold(), samples=6, steps=3, distillation=0.5)",
    "with_consensus_data(moon(mu=0.5), samples=6, steps=3, distillation=0.5)",
    "with_consensus_data(fedreg(iterations=2), samples=6, steps=3, distillation=0.5)",
    "ditto(moon(), weight=0.2)",
    "relaxed(fedgen(batch=3, noise=2, hidden=5, generator_steps=3), beta=0.1)",
    "scheduled(vhl(batch=3), 'k_error', window=1)",
]
RAGGED = replace(SETTING, local_steps=None, local_epochs=1, momentum=0.5)
"""Two or three local steps, as many as the client's samples fill batches."""


def test_threads_find_the_numbers_of_the_loop_and_hooks_pickle_after_use():
    for text in METHODS:
        built = algorithm(text)
        alone = list(rounds(NET, FEDERATION, built, RAGGED, 4, engine=ClientLoop()))[-1]
        again = pickle.loads(pickle.dumps(built))
        assert again == built
        shared = list(rounds(NET, FEDERATION, again, RAGGED, 4, engine=ClientLoop(threads=3)))[-1]
        assert shared.losses == alone.losses
        assert len(set(alone.losses)) == (RAGGED.rounds if built.steps.needs_loss else 0)
        for ours, theirs in ((shared.memory, alone.memory), (shared.server, alone.server)):
            assert ours.keys() == theirs.keys()
            assert all(torch.equal(ours[name], theirs[name]) for name in theirs), text
        assert torch.equal(alone.model, shared.model), text


def test_networks_and_inputs_that_a_method_cannot_take_are_refused():
    softmax, federation = many_classes((5, 6))
    headless = Network("headless", lambda: nn.Sequential(nn.Linear(3, 3)), dtype=torch.float64)
    tokens = replace(FEDERATION, inputs=FEDERATION.inputs.long())
    numbers = replace(FEDERATION, targets=FEDERATION.inputs.round())
    for text, named, given in (
        ("moon()", "moon .*Softmax", {"net": softmax, "data": federation}),
        ("fedgen()", "fedgen .*dense", {"net": headless}),
        ("vhl()", "vhl .*int64", {"data": tokens}),
        ("fedcog(after=0)", "real numbers.*int64", {"data": tokens}),
        ("fedcog(after=0)", "class numbers as targets", {"data": numbers}),
        ("fedcog(after=0, generator=True)", "square images", {}),
        ("fedcog(generator=1)", "fedcog: generator .*1", {}),
    ):
        with pytest.raises(EmpiricsError, match=named):
            models(text, replace(SETTING, cohort=2, rounds=1), **given)
