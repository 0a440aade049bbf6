"""FedGen: losses and shares by hand, plain loops of server and clients, and what it asks of a network."""

from dataclasses import dataclass, replace

import pytest
import torch
from network_toys import (
    Adam,
    agree,
    CLASSES,
    cross_entropy,
    FEDERATION,
    head,
    HIDDEN,
    hidden,
    kl,
    mean,
    models,
    NET,
    SEED,
    SETTING,
    slope,
    softmax,
    Step,
    Twin,
)
from torch import nn

from empirics.algorithms import algorithm
from empirics.algorithms.fedgen import layers
from empirics.errors import EmpiricsError
from empirics.models.network import Network
from empirics.streams import stream
from empirics.training.rounds import rounds

NOISE, WIDE, STEPS, BATCH = 2, 5, 4, 3
TEXT = f"fedgen(weight=2, batch={BATCH}, noise={NOISE}, hidden={WIDE}, generator_steps={STEPS})"


# ---- plain loops ----


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
        kept["generator"] = layers(NOISE + CLASSES, WIDE, HIDDEN, torch.float64).start(SEED)
        kept["adam"] = Adam(3e-4, 0.9, ridge=0.01)
    counts = {k: [int((FEDERATION.samples(k)[1] == c).sum()) for c in range(CLASSES)] for k in cohort}
    totals = [sum(counts[k][c] for k in cohort) for c in range(CLASSES)]
    held = [c for c in range(CLASSES) if totals[c]]
    draws = stream(SEED, "generator", round=round_)
    kept["adam"].eta = 3e-4 * 0.98**round_
    for _ in range(STEPS):
        labels = [held[i] for i in draws.integers(len(held), size=BATCH)]
        noise = torch.tensor(draws.random((BATCH, NOISE)))

        def loss(v, labels=labels, noise=noise):
            z = [generated(v, e, y) for e, y in zip(noise, labels, strict=True)]
            teaching = sum(
                mean(
                    [
                        counts[k][y] / totals[y] * cross_entropy(head(end, one), y)
                        for one, y in zip(z, labels, strict=True)
                    ]
                )
                for k, end in zip(cohort, ends, strict=True)
            )
            pairs = [
                mean(list((noise[i] - noise[j]) ** 2)) * mean(list((z[i] - z[j]).abs()))
                for i in range(BATCH)
                for j in range(BATCH)
            ]
            return teaching + torch.exp(-mean(pairs))

        kept["generator"] = kept["adam"](kept["generator"], slope(loss, kept["generator"]))


def loss(w, now: Step):
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


def test_fedgen_equals_plain_loops():
    agree(TEXT, Twin(loss, serve=serve))


# ---- the rest ----


def test_labels_that_no_active_client_holds_are_not_drawn_and_shares_stay_finite():
    """The fourth client has label 1 alone."""
    setting = replace(SETTING, cohort=1, rounds=8)
    states = list(rounds(NET, FEDERATION, algorithm(TEXT), setting, SEED))
    assert all(state.model.isfinite().all() for state in states)
    assert states[-1].server["generator"].isfinite().all()


def test_switched_off_fedgen_is_fedavg():
    assert (models(TEXT.replace("weight=2", "weight=0")) - models("fedavg()")).abs().max() < 1e-12


@dataclass(frozen=True)
class Headless:
    def __call__(self):
        return nn.Sequential(nn.Linear(3, 3))


def test_a_network_without_a_dense_head_is_one_clear_line():
    net = Network("headless", Headless(), dtype=torch.float64)
    with pytest.raises(EmpiricsError, match=r"^fedgen needs a network whose head begins with a dense layer$"):
        models("fedgen()", net=net)
