"""Communication: Table 2's numbers of parameters against the network and the listings; the savings of the text."""

from __future__ import annotations

from fractions import Fraction as F

import sympy as sp

from bounds.fedals.letters import alpha, h, phi, T, tau

from ...reported import table
from ..checkers import At, MonotoneIn, Prints, rational, Refuted, Same, TendsTo
from ..claim import Book, Check, Claim, Defect, fails, Finding, holds, Kind
from .algorithms import shown
from .listings import mean, ROUNDS, START, STEP, TAU, trained

EXCHANGED, SENT = "fedals.communicated_parameters_table_2", "fedals.communicated_parameters"
SETTINGS = table("fedals", "Table 4", version="v2")
LOCAL_STEPS = int(SETTINGS["local steps tau", "image classification default"].value)
ITERATIONS = int(SETTINGS["iterations non-iid", "image classification default"].value)


def prints(version: str) -> Check:
    """Table 2's last column, in billions, against the formula at the published settings, parameters counted."""
    column = "communicated parameters per client"
    cells = {row: cell for (row, found), cell in table("fedals", "Table 2", version=version).items() if found == column}
    printed = {row: cell.value.removesuffix("e9") for row, cell in cells.items()}

    def run(book: Book) -> Finding:
        from empirics.models.networks import network

        net = network("resnet20")  # its shortcuts are convolutions of 3x3
        head = sum(c.stop - c.start for name, c in net.layers.items() if name.startswith("head"))
        formula = book[EXCHANGED].expr.subs({h: head, phi: net.dim - head, tau: LOCAL_STEPS, T: ITERATIONS})
        found = {row: rational(formula.subs(alpha, int(row.removeprefix("alpha=")))) / 10**9 for row in printed}
        return Prints(printed, found)(book)

    return run


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


SAVES = Claim(
    "fedals.communication.saves",
    "FedALS saves communication in all setups, the more the larger alpha; the head alone remains.",
    Kind.REMARK.at("Sections 1 and 6.5"),
    {
        "falls": MonotoneIn(EXCHANGED, alpha, up=False, where=(sp.Gt(phi, 0),)),
        "FedAvg": Same(At(EXCHANGED, {alpha: sp.S.One}), 2 * (h + phi) * T / tau),
        "head": TendsTo(EXCHANGED, alpha, sp.oo, 2 * h * T / tau),
        "both ways": Same(EXCHANGED, lambda book: 2 * book[SENT].expr),
    },
    note="The head is 450 times smaller than the extractor in ResNet-20, but 5 times only in OPT-125M, where alpha = 10"
    " saves a factor of 4 at most.",
)


def _line_7(book: Book) -> Finding:
    """The mean of the control variables after every round, against the averaged models before and after it."""
    before, said = START, ""
    for rounds in range(1, ROUNDS + 1):
        run = trained("scaffold()", rounds, TAU)
        shared, move = mean(run.memory["control"]), (before - run.model) / (STEP * TAU)
        before, said = run.model, f"round {rounds}: mean of the control variables {shown(shared)}, move {shown(move)}"
        if (shared != move).any():
            return fails(said)
    return holds(f"equal in fractions after each of {ROUNDS} rounds of {TAU} steps; {said}")


CONTROLS_SENT = Claim(
    "fedals.communication.scaffold",
    "SCAFFOLD sends about twice what FedAvg sends, since it requires control variables of the size of the model to be "
    "sent.",
    Kind.REMARK.at("Sections 6.3 and 6.4; Algorithm 3"),
    Refuted(_line_7),
    note="Where everyone takes part and starts from one model and control variables of zero, a client keeps its own "
    "control variables, and the mean of all of them follows from averaged models that it has: nothing else has to be "
    "sent. Where only some take part, as in the paper that SCAFFOLD comes from, changes of control variables have to "
    "be sent.",
    defect=Defect.REFUTED,
)

LAYERS = {"extractor": 10, "head": 2}
"""OPT-125M: twelve like layers, divided by Table 5."""


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
    _divided,
    note="A gap in the description, minor: embeddings and the last norm are not assigned; the embeddings are tied to "
    "the output, so they are both first and last.",
    defect=Defect.SLIP,
)
