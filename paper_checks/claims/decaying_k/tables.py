"""Tables 1, 2 and 4, and the numbers that the text takes from them."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from ...reported import table
from ..checkers import each, exact, Ordered, Prints
from ..checkers.tables import half_unit
from ..claim import Book, Claim, Finding, Grade, Kind, Status
from .measured import NAMES, TASKS

ONE, FOUR = table("decaying_k", "Table 1"), table("decaying_k", "Table 4")
TIMES = table("decaying_k", "Table 2")
DATA, RESULTS = table("decaying_k", "Text 4.1"), table("decaying_k", "Text 4.4")
NETWORKS = {
    "Sent140": "sent140_linear",
    "FEMNIST": "femnist_dnn",
    "CIFAR100": "decaying_k_cnn",
    "Shakespeare": "shakespeare_gru",
}


def _column(column: str) -> dict[str, str]:
    return {name: ONE[name, column].value for name in NAMES}


# ---- Table 1 ----


def _megabits() -> Mapping[str, Fraction]:
    """Parameters of the networks as built, 32 bits each."""
    import torch

    from empirics.models.networks import network

    with torch.device("meta"):
        modules = {name: network(text).build() for name, text in NETWORKS.items()}
    return {name: Fraction(32 * sum(p.numel() for p in m.parameters()), 10**6) for name, m in modules.items()}


SIZES = Claim(
    "decaying_k.table_1_sizes",
    "The sizes of the models for Sent140, FEMNIST and Shakespeare are those of the models described, in megabits with "
    "32 bits a parameter.",
    Kind.TABLE.at("Table 1, model size"),
    Prints({name: size for name, size in _column("Model size").items() if name != "CIFAR100"}, _megabits),
    note="Sent140's with two outputs; with one it would be 0.16 Mb. The text does not fix CIFAR100's channels and "
    "padding: of 16, 32, 64 and 128 channels, 32 and 64 without padding on images of 32 x 32 alone have 40.0 Mb "
    "(decaying_k.table_1_cifar_crop).",
)


def _cnn(side: int, channels: tuple[int, int], padded: bool) -> int:
    """Parameters of two 3x3 convolutions with 2x2 pooling, dense 512 and 100 classes."""
    for _ in range(2):
        side = (side if padded else side - 2) // 2
    first, second = channels
    convolutions = (27 * first + first) + (9 * first * second + second)
    return convolutions + (second * side**2 * 512 + 512) + (512 * 100 + 100)


def _fitting(side: int) -> list[str]:
    """The usual channel counts and paddings that have the printed size on images of this side."""
    printed = ONE["CIFAR100", "Model size"].value
    return [
        f"{a} and {b}{', padded' if padded else ''}"
        for a in (16, 32, 64, 128)
        for b in (16, 32, 64, 128)
        for padded in (False, True)
        if abs(Fraction(32 * _cnn(side, (a, b), padded), 10**6) - exact(printed)) <= half_unit(printed)
    ]


def _crop(book: Book) -> Finding:
    """Undecided while channels are not published; said with what usual counts give."""
    found = {side: _fitting(side) for side in (28, 32)}
    said = "; ".join(f"channels that fit on {s} x {s}: {', '.join(f) or 'none'}" for s, f in found.items())
    audited = found == {28: [], 32: ["32 and 64"]}
    return Finding(Status.OPEN, Grade.EXACT, f"channels and padding are not published; {said}", as_audited=audited)


CROP = Claim(
    "decaying_k.table_1_cifar_crop",
    "The CIFAR100 network of Table 1 sees the 28 x 28 crops that the text describes.",
    Kind.TABLE.at("Table 1, CIFAR100, with Section 4.1"),
    _crop,
    known=Status.OPEN,
    note="No network of that shape with 16, 32, 64 or 128 channels has 40.0 Mb on 28 x 28 images; one has on 32 x 32. "
    "Crops may have been put back to 32 x 32 by padding, which the text does not say.",
)


def _per_client() -> dict[str, Fraction]:
    return {name: exact(DATA[name, "training samples"].value) / TASKS[name].clients for name in NAMES}


def _rounded_alike(column: dict[str, str]) -> dict[str, str]:
    """The printed means; FEMNIST's 170 is taken to be rounded to tens, which the other three are not."""
    return {**column, "FEMNIST": f"{exact(column['FEMNIST']) / 10}e1"}


SAMPLE_SLACK = {
    name: Fraction(unit, 2 * TASKS[name].clients)
    for name, unit in (("Sent140", 1000), ("FEMNIST", 1000), ("CIFAR100", 0), ("Shakespeare", 100_000))
}
"""How far the rounding of the sample totals (336k, 501k, 3.7M) can move the means."""

SAMPLES = Claim(
    "decaying_k.table_1_samples",
    "Table 1 and the text agree: samples per client are the training samples over the clients; the cohorts are 0.2, "
    "2, 5 and 1.5 % of the clients; the clients 22k, 3k, 500 and 660.",
    Kind.TABLE.at("Table 1 with Section 4.1"),
    {
        "samples": Prints(_rounded_alike(_column("Samples per client")), _per_client, slack=SAMPLE_SLACK),
        "participation": Prints(
            {name: DATA[name, "participation"].value for name in NAMES},
            {name: Fraction(100 * t.cohort, t.clients) for name, t in TASKS.items()},
        ),
        "clients": Prints(
            {"Sent140": "22", "FEMNIST": "3", "CIFAR100": "0.500", "Shakespeare": "0.660"},
            {name: Fraction(t.clients, 1000) for name, t in TASKS.items()},
        ),
    },
    note="With FEMNIST's 170 taken as rounded to tens: 501k over 3000 clients are 167. The mean user of Sent140 has "
    "19.7 samples, which fits the least of 10.",
)


# ---- Table 2 ----


def _products() -> dict[str, int]:
    """Multiplications of one forward pass of one minibatch; batches of 32 (8 for Sent140), sequences of 80."""
    gru = sum(3 * 128 * (inputs + 128) for inputs in (8, 128)) + 128 * 79
    convolutions = 30**2 * 27 * 32 + 13**2 * 9 * 32 * 64
    return {
        "Sent140": 8 * 5000 * 2,
        "FEMNIST": 32 * (784 * 200 + 200 * 200 + 200 * 62),
        "CIFAR100": 32 * (convolutions + 2304 * 512 + 512 * 100),
        "Shakespeare": 32 * 80 * gru,
    }


STEP_TIMES = Claim(
    "decaying_k.table_2_order",
    "The times per step of the tasks are in the order of their models' multiplications, the linear model's the least, "
    "the GRU's the most.",
    Kind.TABLE.at("Table 2 and the text after it"),
    {
        "times": Ordered({n: TIMES[n, "beta"] for n in NAMES}, each(" < ".join(NAMES))),
        "multiplications": Ordered(_products(), each(" < ".join(NAMES))),
    },
    note="Of a forward pass; the batch of CIFAR100 is not stated and taken as 32; any from 2 to 80 keeps the order. "
    "In order, not in proportion: from the linear model to the GRU the time grows 288 times, the multiplications "
    "5140 times.",
)
