"""What is sent: Table 2's numbers of parameters against the network and the listings; the savings of the text."""

from __future__ import annotations

from fractions import Fraction as F
from functools import cache

import sympy as sp

from bounds.vocabulary import (
    adaptation as alpha,
    extractor_size as phi,
    head_size as h,
    iterations as T,
    local_steps as tau,
)

from ...reported import table
from ..checkers import At, Computed, MonotoneIn, Ordered, Prints, Same, TendsTo
from ..checkers.tables import Number
from ..claim import Book, Claim, fails, Finding, holds, judged, Kind, Status
from .algorithms import version_2
from .by_hand.listings import FedAls, HEAD, PHI

EXCHANGED, SENT = "fedals.communicated_parameters_table_2", "fedals.communicated_parameters"
ALPHAS = (1, 5, 10, 25, 50, 100)
SETTINGS = table("fedals", "Table 4", version="v2")
LOCAL_STEPS = int(SETTINGS["local steps tau", "image classification default"].value)
ITERATIONS = int(SETTINGS["iterations non-iid", "image classification default"].value)


def printed(version: str) -> dict[str, str]:
    """Table 2's last column, in billions as it is printed."""
    cells = table("fedals", "Table 2", version=version)
    column = "communicated parameters per client"
    return {f"alpha={a}": cells[f"alpha={a}", column].value.removesuffix("e9") for a in ALPHAS}


@cache
def resnet20() -> tuple[int, int]:
    """Parameters of head and extractor, counted in the network with 3x3-convolution shortcuts."""
    from empirics.models.networks import network

    net = network("resnet20")
    head = sum(c.stop - c.start for name, c in net.layers.items() if name.startswith("head"))
    return head, net.dim - head


def billions(book: Book, name: str) -> dict[str, F]:
    """A formula of the catalogue at the published settings."""
    head, body = resnet20()
    expression = book[name].expr
    values = {h: head, phi: body, tau: LOCAL_STEPS, T: ITERATIONS}
    found = {a: expression.subs({**values, alpha: a}) for a in ALPHAS}
    return {f"alpha={a}": F(int(v.p), int(v.q)) / 10**9 for a, v in found.items()}


def prints(version: str) -> Computed:
    """The printed column against numbers that are computed when the check runs."""
    return Computed("Table 2 against counts", lambda book: Prints(printed(version), billions(book, EXCHANGED))(book))


BOTH_WAYS = Claim(
    "fedals.table_2.parameters",
    "The communicated parameters are those of ResNet-20, head and extractor sent every 5 and 5 alpha of 20,000 steps.",
    Kind.TABLE.at("Table 2, communicated parameters"),
    {v: prints(v) for v in ("v1", "v2")},
    note="Uploads and downloads, with 3x3 convolutions as shortcuts (head 650, extractor 292,304) and without running "
    "statistics of batch norms, to the last digit. The paper states none of this; the usual shortcuts give an "
    "extractor of 269,072 or 271,824. What v1's own listing sends, heads alone (fedals.algorithm_1.else_if), would be "
    "0.005 billion in every row.",
)


def _counted(book: Book) -> Finding:
    """Averages counted in the listing's own tests, for whole periods."""
    for steps, a, periods in ((3, 2, 4), (5, 4, 3), (2, 7, 2)):
        run: FedAls = version_2(tau=steps, alpha=a)
        run.run(a * periods)
        found = 650 * len(run.sent[HEAD]) + 292_304 * len(run.sent[PHI])
        values = {h: 650, phi: 292_304, tau: steps, alpha: a, T: steps * a * periods}
        stated = book[SENT].expr.subs(values)
        if found != stated:
            return fails(f"tau = {steps}, alpha = {a}: {found} counted, {stated} stated")
    return holds("head and extractor sent as often as the formula says, three settings of whole periods")


LISTED = Claim(
    "fedals.algorithm_1.sent",
    "A client sends its head T/tau times and its extractor T/(alpha tau) times.",
    Kind.ALGORITHM.at("Algorithm 1", "v2"),
    {
        "counted": Computed("sends of the listing against the formula", _counted),
        "both ways": Same(EXCHANGED, lambda book: 2 * book[SENT].expr),
    },
)

SAVES = Claim(
    "fedals.communication.saves",
    "FedALS saves communication in all setups, the more the larger alpha; the head alone remains.",
    Kind.REMARK.at("Sections 1 and 6.5"),
    {
        "falls": MonotoneIn(EXCHANGED, alpha, up=False, where=(sp.Gt(phi, 0),)),
        "FedAvg": Same(At(EXCHANGED, {alpha: sp.S.One}), 2 * (h + phi) * T / tau),
        "head": TendsTo(EXCHANGED, alpha, sp.oo, 2 * h * T / tau),
    },
)


def _doubles(book: Book) -> Finding:
    """What the algorithms that are trained here send and receive, in models per round."""
    from empirics.algorithms.algorithm import fedavg
    from empirics.algorithms.local import scaffold

    made = scaffold()
    ratio = (made.uploads + made.downloads) / (fedavg.uploads + fedavg.downloads)
    return judged(ratio == 2, f"{ratio:g} times")


DOUBLE = Claim(
    "fedals.communication.scaffold",
    "SCAFFOLD communicates about twice as much as FedAvg: a control variable has the size of a model.",
    Kind.REMARK.at("Sections 6.3 and 6.4; Algorithm 3"),
    Computed("vectors that go up and down in a round", _doubles),
)

LAYERS = {"extractor": 10, "head": 2}
"""OPT-125M: twelve like layers, divided by Table 5."""


def _parts(book: Book) -> Finding:
    head, body = resnet20()
    ratios = {"ResNet-20": F(body, head), "OPT-125M, per Table 5": F(LAYERS["extractor"], LAYERS["head"])}
    numbers: dict[str, Number] = {**ratios, "one": 1}
    return Ordered(numbers, tuple(("one", name) for name in ratios))(book)


COMPLEXITY = Claim(
    "fedals.section_5.complexity",
    "The head is simpler than the extractor, by number of parameters.",
    Kind.SETTING.at("Section 5", "v1"),
    Computed("parameters of the parts", _parts),
    note="450 times for ResNet-20, but 5 times only for the two last layers of OPT-125M, so that alpha = 10 saves a "
    "factor of 4 at most there. v2 argues with similarity in place of simplicity.",
)

OPT_LAYER = 12 * 768**2 + 13 * 768
OPT_REST = 50_272 * 768 + 2_050 * 768 + 2 * 768
"""Embeddings of tokens and positions, and the last norm."""


def _divided(book: Book) -> Finding:
    layers = sum(LAYERS.values()) * OPT_LAYER
    share = F(OPT_REST, layers + OPT_REST)
    said = f"{OPT_REST:,} of {layers + OPT_REST:,} parameters ({float(share):.0%}) are in neither part"
    return fails(said, as_audited=layers + OPT_REST == 125_239_296) if share > 0 else holds(said)


OPT_SPLIT = Claim(
    "fedals.table_5.split",
    "The first ten and the last two attention layers are all of OPT-125M: every parameter is in one of the two parts.",
    Kind.SETTING.at("Section 3.4 and Table 5"),
    Computed("parameters outside of the twelve layers", _divided),
    Status.FAILS,
    note="A gap in the description, minor: embeddings and the last norm are not assigned; the embeddings are tied to "
    "the output, so they are both first and last.",
)
