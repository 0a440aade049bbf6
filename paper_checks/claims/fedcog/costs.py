"""Tables 4 and 11 and A.4.3: seconds compared with counted passes, and numbers of learnable values."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from bounds.vocabulary import generated_batch, generated_samples, generation_steps, local_steps, real_batch

from ..checkers import noise, Ordered, Prints, SlopeIs, term
from ..checkers.numbers import value
from ..checkers.trends import Curve
from ..claim import Book, Finding, finding
from .tables import CELLS

FOUR, ELEVEN = CELLS[4], CELLS[11]
SAMPLES = [key.removeprefix("Time, ") for key in ELEVEN]
LOCAL_SECONDS, GENERATION_SECONDS = Decimal("14.81"), Decimal("0.81")
ROUNDS, BEFORE = 51, 50
PIXELS = {"CIFAR-10": 3 * 32 * 32, "Fashion-MNIST": 28 * 28}
DEFAULT = {generated_samples: 256, generation_steps: 100, local_steps: 400, real_batch: 64, generated_batch: 64}
"""The published setting; only the batch size of 64 is the released code's."""


def seconds(method: str) -> Decimal:
    return Decimal(FOUR[f"{method}, Local Time"].value)


FEDAVG_ROUND = seconds("FedAvg") / ROUNDS
FEDCOG_ROUND = seconds("FedCOG") - BEFORE * FEDAVG_ROUND
"""Seconds of the one round of FedCOG, if the other 50 of the 51 are FedAvg's."""


def passes(book: Book, *parts: str, **changes: int) -> float:
    """Return the counted passes of a round at the published setting with these changes."""
    by_name = {q.name: q for q in DEFAULT}
    point = {**DEFAULT, **{by_name[name]: number for name, number in changes.items()}}
    return float(value(term("fedcog.sample_passes", *parts)(book), point))


def per_sample_seconds(book: Book) -> Curve:
    """Return the curve of seconds of generation over its counted passes."""
    counted = [passes(book, "generation", generated_samples=int(n)) for n in SAMPLES]
    return counted, [float(ELEVEN[f"Time, {n}"].value) for n in SAMPLES]


def share_of_training(book: Book) -> Finding:
    """Generation over local training is similar in passes and in seconds."""
    counted = passes(book, "generation") / passes(book, "local training")
    measured = float(GENERATION_SECONDS / LOCAL_SECONDS)
    evidence = f"{counted:.3g} of the passes of local training, {measured:.3g} of its seconds"
    similar = 0.5 < counted / measured < 2
    witness = {"passes": f"{counted:.3g}", "seconds": f"{measured:.3g}"}
    return finding(similar, evidence, witness, as_audited=abs(counted - 2) < 1e-9)


def a_round_of_fedcog(book: Book) -> Finding:
    ratio = float(FEDCOG_ROUND / FEDAVG_ROUND)
    counted = passes(book, "generation", "distillation", "local training") / passes(book, "local training")
    evidence = f"a round of FedCOG took {ratio:.3g} times a round of FedAvg; counted in passes {counted:.3g} times"
    witness = {"FedAvg": f"{FEDAVG_ROUND:.4g} s a round", "FedCOG": f"{FEDCOG_ROUND:.4g} s"}
    return finding(ratio < 1.1, evidence, witness, as_audited=abs(counted - 4) < 1e-9)


def a_round_within_noise(book: Book) -> Finding:
    limit = noise(*(FOUR[f"{m}, Local Time"].std for m in ("FedCOG", "FedAvg")))
    difference = float(seconds("FedCOG") - seconds("FedAvg"))
    evidence = f"the two totals are {difference:.3g} s apart, {limit:.3g} s are noise"
    return finding(float(FEDCOG_ROUND) - limit < 1.1 * float(FEDAVG_ROUND), evidence)


def networks() -> Mapping[str, int]:
    from empirics.models.networks import network

    net = network("fedcog_cifar100_cnn")
    return {"CIFAR-100 network": net.dim, "one picture": PIXELS["CIFAR-10"]}


def inputs_against_model(book: Book) -> Finding:
    """The default 256 generated pictures have at most as many learnable numbers as the network."""
    from empirics.models.networks import network

    models = {"CIFAR-10": network("fedcog_cnn").dim, "Fashion-MNIST": network("fedcog_cnn(channels=1, side=28)").dim}
    inputs = {name: DEFAULT[generated_samples] * PIXELS[name] for name in models}
    larger = {name: f"{inputs[name]:,} against {models[name]:,}" for name in models if inputs[name] > models[name]}
    evidence = "; ".join(f"{name}: {text}" for name, text in larger.items()) or "fewer than the model has"
    return finding(not larger, evidence, larger)


local_training = Prints(
    {"51 rounds": FOUR["FedAvg, Local Time"].value},
    {"51 rounds": ROUNDS * LOCAL_SECONDS},
    {"51 rounds": noise(FOUR["FedAvg, Local Time"].std)},
)
proportional = SlopeIs(per_sample_seconds, 1.0)
parameters = Prints({"CIFAR-100 network": "69380", "one picture": "3072"}, networks)
parameters_trained = Prints({"CIFAR-100 network": "3072"}, networks)
lightweight = Ordered(
    {"linear layer": str(257 * 8192), "CIFAR-10 network": "62006"}, ("linear layer < CIFAR-10 network",)
)
