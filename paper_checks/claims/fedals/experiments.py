"""Section 6: the experiments compared with the theorems, communication, and what the text reads from Tables 1 to 3."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction as F

import sympy as sp

from bounds.fedals.letters import alpha, C, Delta, h, K, phi, T, tau, w, Z
from bounds.operators import equal_clients

from ...reported import Reported, table
from ..checkers import At, Mean, mean, Prints, rational, resolve
from ..claim import Book, fails, Finding, finding, Grade, holds, Status
from .algorithms import ROUNDS, shown, START, STEP, TAU, trained
from .common import BATCH, CLIENTS, CNN, STEPS, with_equal_clients

TRAINING = {"CIFAR-10": 50_000, "CIFAR-100": 50_000, "SVHN": 73_257, "MNIST": 60_000}
"""Training samples of the public data sets."""


def fresh(book: Book) -> Finding:
    drawn = {name: int(CNN[f"iterations {name}"]) * BATCH for name in ("iid", "non-iid")}
    largest = max(TRAINING.values()) // CLIENTS
    evidence = f"a client draws {drawn['iid']:,} (iid) or {drawn['non-iid']:,} samples of at most {largest:,} it has"
    return finding(max(drawn.values()) <= largest, evidence, as_audited=min(drawn.values()) > largest)


def longer_period(book: Book) -> Finding:
    """A client has as many samples as it draws in one extractor period of alpha tau steps, for all periods."""
    own = {name: count // CLIENTS for name, count in TRAINING.items()}
    longer = [
        f"alpha = {a} on {name} ({a * STEPS * BATCH:,} of {own[name]:,})"
        for a in (1, 5, 10, 25, 50, 100)
        for name in ("SVHN", "CIFAR-10")
        if a * STEPS * BATCH > own[name]
    ]
    evidence = f"more samples than a client has: {'; '.join(longer) or 'in no period of Table 2'}"
    return finding(not longer, evidence, as_audited=len(longer) == 4)


def _cross_entropy(logits: tuple[sp.Expr, ...]) -> sp.Expr:
    """Return the cross entropy of the first class."""
    return sp.log(sum(sp.exp(z) for z in logits)) - logits[0]


def flat_outputs(book: Book) -> Finding:
    """Adding a constant to all logits changes the cross entropy; if not, it has no curvature along that direction."""
    a, b, c, s = sp.symbols("a b c s", real=True)
    slope = sp.simplify(sp.diff(_cross_entropy((a + s, b + s, c + s)), s))
    if slope != 0:
        return holds(f"slope along equal logits {slope}")
    return Finding(Status.FAILS, Grade.PROVED, "cross entropy is constant when all logits grow equally, so mu = 0")


def two_layers(book: Book) -> Finding:
    """Cross entropy of two classes with logits p h and 0 and weight decay is convex along p = h at zero."""
    p, h, x = sp.symbols("p h x", real=True)
    loss = _cross_entropy((p * h, sp.S.Zero)) + sp.Rational(CNN["weight decay"]) * (p**2 + h**2) / 2
    curvature = sp.diff(loss.subs({p: x, h: x}), x, 2).subs(x, 0) / 2
    evidence = f"extractor times head, cross entropy with the decay of Table 4: curvature {curvature} at the origin"
    return Finding(Status.FAILS if curvature < 0 else Status.HOLDS, Grade.PROVED, evidence)


def smooth(book: Book) -> Finding:
    """Half the squared error of a product of two parameters has a bounded second derivative in one of them."""
    p, h = sp.symbols("p h", real=True)
    second = sp.diff((1 - p * h) ** 2 / 2, p, 2)
    largest = sp.limit(second, h, sp.oo)
    if largest != sp.oo:
        return holds(f"second derivative at most {largest}")
    evidence = f"extractor times head, half squared error: second derivative {second} in the extractor, unbounded"
    return Finding(Status.FAILS, Grade.PROVED, evidence)


def optimizer(book: Book) -> Finding:
    """Two steps of 1/10 on x^2/2 from 1 by (5) equal those with the momentum of Table 4, Nesterov's or not."""
    rate, beta, x = F(1, 10), CNN["momentum"], F(1)
    plain = x * (1 - rate) ** 2
    first = x - rate * (1 + beta) * x  # PyTorch's Nesterov: gradient plus beta times the velocity
    velocity = beta * x + first
    nesterov = first - rate * (first + beta * velocity)
    heavy = (x - rate * x) - rate * (beta * x + (x - rate * x))
    evidence = f"after two steps {float(plain):.4g} by (5), {float(heavy):.4g} with momentum, "
    evidence += f"{float(nesterov):.4g} (Nesterov)"
    return finding(plain in (heavy, nesterov), evidence)


NETWORK = {C: sp.Integer(292_954), Z: sp.Integer(STEPS * BATCH), tau: sp.Integer(STEPS), w: sp.Rational(1, CLIENTS)}
"""The published settings, as quantities of the bounds; C counts the parameters of the network."""


def nearly(book: Book) -> Finding:
    expression = resolve(At(with_equal_clients("fedals.gaussian_mean_gap"), {K: sp.Integer(CLIENTS)}), book)
    share = expression / equal_clients(Delta)
    return Prints({"gap over local gap": "0.04"}, {"gap over local gap": F(int(share.p), int(share.q))})(book)


IMAGES, LLM = ("SVHN", "CIFAR-10", "CIFAR-100", "MNIST"), "MultiNLI"
"""The results of ``IMAGES`` are accuracies, those of ``LLM`` losses."""
FIRST, SECOND, THIRD = (table("fedals", name, version="v1") for name in ("Table 1", "Table 2", "Table 3"))
CELLS: Mapping[str, Reported] = {
    **{f"{row.rpartition('/')[2]} {column}": cell for (row, column), cell in FIRST.items()},
    **{f"{column} {row}": cell for (row, column), cell in (*SECOND.items(), *THIRD.items()) if cell.std},
}
"""Results by data set and method (Table 1), alpha (Table 2) or length of the extractor (Table 3)."""
LOSSES = {key.removeprefix(f"{LLM} "): cell.value for key, cell in CELLS.items() if key.startswith(LLM)}

# ---- communication ----


def communicated(book: Book, version: str) -> Finding:
    """Table 2's last column, in billions, is the formula at the published settings with parameters counted."""
    from empirics.models.networks import network

    column = "communicated parameters per client"
    cells = {row: cell for (row, name), cell in table("fedals", "Table 2", version=version).items() if name == column}
    printed = {row: cell.value.removesuffix("e9") for row, cell in cells.items()}
    net = network("resnet20")  # its shortcuts are convolutions of 3x3
    head = sum(c.stop - c.start for name, c in net.layers.items() if name.startswith("head"))
    settings = {h: head, phi: net.dim - head, tau: STEPS, T: int(CNN["iterations non-iid"])}
    formula = book["fedals.communicated_parameters_table_2"].expr.subs(settings)
    computed = {row: rational(formula.subs(alpha, int(row.removeprefix("alpha=")))) / 10**9 for row in printed}
    return Prints(printed, computed)(book)


def line_7(book: Book) -> Finding:
    """The mean of the control variables after a round is the move of the averaged model, over eta tau."""
    before, evidence = START, ""
    for rounds in range(1, ROUNDS + 1):
        run = trained("scaffold()", rounds, TAU)
        control, move = run.memory["control"].sum(0) / 2, (before - run.model) / (STEP * TAU)
        evidence = f"round {rounds}: mean of the control variables {shown(control)}, move {shown(move)}"
        if (control != move).any():
            return fails(evidence)
        before = run.model
    return holds(f"equal in fractions after each of {ROUNDS} rounds of {TAU} steps; {evidence}")


LAYERS = {"extractor": 10, "head": 2}
"""Numbers of layers in each part of OPT-125M, by Table 5; the twelve layers have equal sizes."""
OPT_LAYER = 12 * 768**2 + 13 * 768
"""Parameters of one layer."""
OPT_REST = 50_272 * 768 + 2_050 * 768 + 2 * 768
"""Parameters of the embeddings of tokens and positions and of the last norm."""


def opt_split(book: Book) -> Finding:
    layers = sum(LAYERS.values()) * OPT_LAYER
    share = F(OPT_REST, layers + OPT_REST)
    evidence = f"{OPT_REST:,} of {layers + OPT_REST:,} parameters ({float(share):.0%}) are in neither part"
    return fails(evidence, as_audited=layers + OPT_REST == 125_239_296) if share > 0 else holds(evidence)


# ---- Tables 1 to 3 ----


def _gain(data: str, setting: str) -> Mean:
    """Return the improvement of FedALS over FedAvg, positive if it is better in accuracy or in loss."""
    fedavg, fedals = (mean(CELLS[f"{data} {method} {setting}"]) for method in ("FedAvg", "FedALS"))
    return fedavg.less(fedals) if data == LLM else fedals.less(fedavg)


GAINS = {f"{data}, gain {setting}": _gain(data, setting) for data in (*IMAGES, LLM) for setting in ("iid", "non-iid")}
NUMBERS = {"experiments": {**CELLS, **GAINS, **LOSSES, "one": "1"}}


def _rounded(what: str) -> Prints:
    """Compare values or deviations (``what``) of Table 1 in version 2, as far as readable, with version 1."""
    second = sorted(table("fedals", "Table 1", version="v2").items())
    printed = {f"{row} {column}": getattr(cell, what) for (row, column), cell in second if cell.value}
    return Prints(printed, {f"{row} {column}": getattr(cell, what) for (row, column), cell in FIRST.items()})


rounded_values, rounded_deviations = _rounded("value"), _rounded("std")


def _cells(version: str) -> dict[str, str]:
    return {
        f"{row} {column} {what}": getattr(cell, what)
        for name in ("Table 2", "Table 3")
        for (row, column), cell in table("fedals", name, version=version).items()
        for what in ("value", "std")
        if getattr(cell, what)
    }


versions = Prints(_cells("v2"), _cells("v1"), wrong=("alpha=25 SVHN std",))
