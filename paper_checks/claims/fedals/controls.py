"""Algorithms 3 and 4, with control variables: what their lines do, against what the text says they do."""

from __future__ import annotations

from ..checkers import Computed
from ..claim import Book, Claim, fails, Finding, holds, judged, Kind, Repair, Status
from .algorithms import ALPHA, ROUNDS, same, sends, TAU, version_2
from .by_hand import listings as lines
from .by_hand.listings import HEAD, Vector

ELSE_IF_4 = Claim(
    "fedals.algorithm_4.else_if",
    "Algorithm 4 of v1 averages the extractor every alpha tau steps.",
    Kind.ALGORITHM.at("Algorithm 4", "v1"),
    sends,
    Status.FAILS,
    note="The same slip as in Algorithm 1 (fedals.algorithm_1.else_if), mended in v2 too.",
)

ZERO_CONTROLS = Claim(
    "fedals.algorithm_3.fedavg",
    "With control variables that stay at zero SCAFFOLD is FedAvg.",
    Kind.ALGORITHM.at("Appendix E.4 (v1: D); Algorithm 3"),
    same(
        "Algorithm 3 without line 7 against Algorithm 2",
        lambda: lines.scaffold(ROUNDS, TAU, learn=False)[0],
        lambda: lines.fedavg(ROUNDS, TAU),
    ),
    note="Line 7 moves them away from zero in the first round.",
)


def _drift_free(book: Book) -> Finding:
    best = lines.optimum()

    def off(model: Vector) -> float:
        return max(abs(float(model[i] - best[i])) for i in (0, 1))

    plain, corrected = off(lines.fedavg(25, TAU)), off(lines.scaffold(25, TAU)[0])
    said = f"after 25 rounds FedAvg is {plain:.2g} from the optimum, SCAFFOLD {corrected:.2g}"
    return judged(corrected < 1e-3 < 1e-1 < plain, said)


DRIFT_FREE = Claim(
    "fedals.algorithm_3.drift",
    "SCAFFOLD as listed converges to the global optimum where FedAvg drifts to another point.",
    Kind.ALGORITHM.at("Sections 2 and 6.3; Algorithm 3"),
    Computed("both listings on two unlike quadratics, in fractions", _drift_free),
)


def _head_walk(book: Book) -> Finding:
    """Lines 6 and 7 of Algorithm 4: the walk h_{k,r,0} - h_{k,r,t} wherever the test of line 6 lets it be taken."""
    run = version_2()
    run.run(ROUNDS)
    theta, walks = run.iterates, []
    for r in range(ROUNDS):
        for t in range(TAU):
            if (r * TAU + t) % TAU == 0:
                walks += [theta[k, r, 0][HEAD] - theta[k, r, t][HEAD] for k in lines.CLIENTS]
    if any(walks):
        return holds(f"{len(walks)} walks, not all zero")
    return fails(f"all {len(walks)} walks that line 7 takes are zero: its test lets t = 0 pass only")


def _later_walk(book: Book) -> Finding:
    run = version_2()
    run.run(ROUNDS)
    walks = [run.iterates[k, r, 0][HEAD] - run.iterates[k, r, TAU][HEAD] for r in range(ROUNDS) for k in lines.CLIENTS]
    return holds(f"{len(walks)} walks of tau steps, none zero") if all(walks) else fails("a walk is zero")


HEAD_CONTROL = Claim(
    "fedals.algorithm_4.head",
    "Line 7 of Algorithm 4 renews the head's control variables from the walk of the local steps.",
    Kind.ALGORITHM.at("Algorithm 4"),
    _head_walk,
    Status.FAILS,
    note="A slip of an index: the walk is measured from t = 0 to t, and the line is reached at t = 0 only, wherever "
    "the exchange stands. To the letter control variables that start at zero stay there: the head is trained without "
    "SCAFFOLD.",
    repair=Repair("measure it when tau steps are done", _later_walk),
)


def _early_index(book: Book) -> Finding:
    missing = []
    for r in range(1, ROUNDS + 1):
        for t in range(TAU):
            count = r * TAU + t
            back = count - ALPHA * TAU
            if count % (ALPHA * TAU) == 0 and back // TAU < 1:
                missing.append((r, t, back // TAU, back % TAU))
    if not missing:
        return holds("every iterate that is referred to exists")
    r, t, q, s = missing[0]
    return fails(f"tau = {TAU}, alpha = {ALPHA}: in round {r}, step {t}, it refers to round {q}, step {s}")


EXTRACTOR_CONTROL = Claim(
    "fedals.algorithm_4.extractor",
    "The extractor of alpha tau steps ago, which Algorithm 4 refers to, exists whenever it is asked for.",
    Kind.ALGORITHM.at("Algorithm 4", "v2"),
    _early_index,
    Status.FAILS,
    note="A slip of an index: rounds are counted from 1, and the first time the line is reached it asks for an iterate "
    "of round 0.",
)
