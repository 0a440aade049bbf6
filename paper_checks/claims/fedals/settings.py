"""Tables 4 and 5 and Section 6 against the theorems: losses, samples, optimizers; does (9) say anything there?"""

from __future__ import annotations

from fractions import Fraction as F

import sympy as sp

from bounds.fedals.letters import C, Delta, K, L, mu, tau, w, Z

from ...reported import table
from ..checkers import Informative, Prints, Readings, resolve, term
from ..checkers.formulas import At
from ..claim import Book, Claim, Defect, fails, Finding, Grade, holds, judged, Kind, Status
from ..rows import rows
from .common import alike, shared
from .tables import CELLS as RESULTS, LLM

CELLS = table("fedals", "Table 4", version="v2")
CNN = {row: F(cell.value) for (row, _), cell in CELLS.items()}
CLIENTS, BATCH, STEPS = (int(CNN[k]) for k in ("number of clients", "batch size per client", "local steps tau"))
TRAINING = {"CIFAR-10": 50_000, "CIFAR-100": 50_000, "SVHN": 73_257, "MNIST": 60_000}
"""Training samples of the public data sets."""
IMAGES, TEXTS = ("Table 4", "v2"), ("Table 5", "v2")
THEORY = "Theorems 4.1 and 4.3 against Section 6"


def _drawn(book: Book) -> Finding:
    drawn = {name: int(CNN[f"iterations {name}"]) * BATCH for name in ("iid", "non-iid")}
    largest = max(TRAINING.values()) // CLIENTS
    said = f"a client draws {drawn['iid']:,} (iid) or {drawn['non-iid']:,} samples of at most {largest:,} that it has"
    return holds(said) if max(drawn.values()) <= largest else fails(said, as_audited=min(drawn.values()) > largest)


FRESH = Claim(
    "fedals.settings.fresh",
    "Every round of the experiments uses samples that no round has used before, as (55) needs.",
    Kind.SETTING.at(*IMAGES),
    _drawn,
    note="Theorem against experiment. The data are gone through 43 times or more (non-iid 87 times or more). "
    "(55) takes each round's samples to be independent of the model that the round starts from.",
    defect=Defect.SETTINGS,
    ours=True,
)


def _within_period(book: Book) -> Finding:
    """The samples of one extractor period, alpha tau steps, against a client's data."""
    held = {name: count // CLIENTS for name, count in TRAINING.items()}
    over = [
        f"alpha = {a} on {name} ({a * STEPS * BATCH:,} of {held[name]:,})"
        for a in (1, 5, 10, 25, 50, 100)
        for name in ("SVHN", "CIFAR-10")
        if a * STEPS * BATCH > held[name]
    ]
    if not over:
        return holds("every period of Table 2 fits into a client's data")
    return fails(f"more samples than a client has: {'; '.join(over)}", as_audited=len(over) == 4)


PERIOD = Claim(
    "fedals.settings.period",
    "A longer period between averages of the extractor means more samples in it (Table 2: alpha up to 100).",
    Kind.SETTING.at("Section 5; Table 2"),
    _within_period,
    note="Section 5 argues with more steps and more samples. From alpha = 50 a period uses samples twice: the local "
    "steps go on growing, the samples do not.",
    defect=Defect.SETTINGS,
)


def _shifted(logits: tuple[sp.Expr, ...]) -> sp.Expr:
    """Cross entropy of the first class."""
    return sp.log(sum(sp.exp(z) for z in logits)) - logits[0]


def _flat_outputs(book: Book) -> Finding:
    """Adding a constant to all logits changes nothing: no curvature along that direction."""
    a, b, c, s = sp.symbols("a b c s", real=True)
    moved = sp.simplify(sp.diff(_shifted((a + s, b + s, c + s)), s))
    if moved != 0:
        return holds(f"slope along equal logits {moved}")
    return Finding(Status.FAILS, Grade.PROVED, "cross entropy is constant when all logits grow alike, so mu = 0")


def _two_layers(book: Book) -> Finding:
    """Cross entropy of two classes with logits p h and 0, both parameters decayed: curvature along p = h at zero."""
    p, h, x = sp.symbols("p h x", real=True)
    loss = _shifted((p * h, sp.S.Zero)) + sp.Rational(CNN["weight decay"]) * (p**2 + h**2) / 2
    curvature = sp.diff(loss.subs({p: x, h: x}), x, 2).subs(x, 0) / 2
    said = f"extractor times head, cross entropy with the decay of Table 4: a curvature of {curvature} at the origin"
    return Finding(Status.FAILS if curvature < 0 else Status.HOLDS, Grade.PROVED, said)


CONVEX = Claim(
    "fedals.settings.convex",
    "The loss of the experiments, cross entropy, is strongly convex in the model.",
    Kind.SETTING.at(THEORY),
    Readings({"in the outputs": _flat_outputs, "in the parameters": _two_layers}),
    note="Theorem against experiment.",
    defect=Defect.SETTINGS,
    ours=True,
)


def _curvature(book: Book) -> Finding:
    """Half squared error of a product of two parameters: the second derivative in one is the square of the other."""
    p, h = sp.symbols("p h", real=True)
    second = sp.diff((1 - p * h) ** 2 / 2, p, 2)
    top = sp.limit(second, h, sp.oo)
    if top != sp.oo:
        return holds(f"second derivative at most {top}")
    said = f"extractor times head, half squared error: the second derivative in the extractor is {second}, unbounded"
    return Finding(Status.FAILS, Grade.PROVED, said)


SMOOTH = Claim(
    "fedals.settings.smooth",
    "Losses of networks made of an extractor and a head are smooth with one constant for all parameters.",
    Kind.SETTING.at(THEORY),
    _curvature,
    note="Theorem against experiment, even without ReLU. Section 6.3 holds this assumption against SCAFFOLD's "
    "analysis; both theorems make it too.",
    defect=Defect.SETTINGS,
    ours=True,
)


def _momentum(book: Book) -> Finding:
    """Two steps of 1/10 on x^2/2 from 1: (5) against momentum as Table 4 has it, Nesterov's or not."""
    rate, beta, x = F(1, 10), CNN["momentum"], F(1)
    plain = x * (1 - rate) ** 2
    first = x - rate * (1 + beta) * x  # PyTorch's Nesterov: gradient plus beta times the velocity
    velocity = beta * x + first
    nesterov = first - rate * (first + beta * velocity)
    heavy = (x - rate * x) - rate * (beta * x + (x - rate * x))
    said = (
        f"after two steps {float(plain):.4g} by (5), {float(heavy):.4g} with momentum, {float(nesterov):.4g} (Nesterov)"
    )
    return judged(plain in (heavy, nesterov), said)


OPTIMIZER = Claim(
    "fedals.settings.optimizer",
    "Local models come from the SGD steps (5), as Theorem 4.3 has it.",
    Kind.SETTING.at("Tables 4 and 5 against Theorem 4.3"),
    _momentum,
    note="Theorem against experiment. Momentum 0.9 and weight decay for images, AdamW with a falling step size "
    "for the language model.",
    defect=Defect.SETTINGS,
    ours=True,
)

NETWORK = {C: sp.Integer(292_954), Z: sp.Integer(STEPS * BATCH), tau: sp.Integer(STEPS), w: sp.Rational(1, CLIENTS)}

VACUOUS = Claim(
    "fedals.settings.vacuous",
    "At the paper's own setting for FedAvg (9) says something about the accuracy of ResNet-20.",
    Kind.SETTING.at("Theorem 4.3 at the settings of Table 4", "v2"),
    Informative(At(term("fedals.rounds_v2", "model class"), {L: mu}), sp.S.One, given=NETWORK),
    note="Theorem against experiment. Hidden constants one, complexity the number of parameters, 5 clients, 320 "
    "samples a round: with the best of constants, L = mu, the first term alone is 2.4, and no gap of two accuracies "
    "exceeds 1.",
    defect=Defect.SETTINGS,
    ours=True,
)


def _iid_factor(book: Book) -> Finding:
    expression = resolve(At(alike("fedals.gaussian_mean_gap"), {K: sp.Integer(CLIENTS)}), book)
    share = expression / shared(Delta)
    return Prints({"gap over local gap": "0.04"}, {"gap over local gap": F(int(share.p), int(share.q))})(book)


NEARLY = Claim(
    "fedals.settings.iid_factor",
    "For iid data a factor 1/K^2 makes population and empirical risk nearly agree: 1/25 of a local gap for 5 clients.",
    Kind.REMARK.at("Section 6.2"),
    _iid_factor,
    note="A fifth of it, for squared distances. The text states the factor 1/K^2, the numbers are ours; a consequence "
    "of fedals.discussion.one_over_k_squared.",
    defect=Defect.REFUTED,
)

LOSSES = {key.removeprefix(f"{LLM} "): cell.value for key, cell in RESULTS.items() if key.startswith(LLM)}

ROWS = rows("fedals", "settings", {**LOSSES, "one": 1})
