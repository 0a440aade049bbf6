"""Table 1: test accuracy of the seven methods in sixteen columns, two networks one below the other."""

from __future__ import annotations

from empirics.experiments import Cell
from paper_checks.reported import table

from ..artefact import Artefact, Shown
from ..comparing import by_place, Entry, judge, Judged, leads, Pair
from ..ran import of
from ..regimes import POINT
from ..runs import Runs
from ..sheets import comparison, entry
from .grid import clients_of, column, missing, network as network_words, PLANS, runs as grid_runs, what_ran
from .reading import accuracies, caption, each, ends, guards, RELAXED, SMALL, SPREAD
from .settings import BASELINES, CIFAR10, HOME, METHODS, on, RESNET, Setup, SETUPS, VGG

PRINTED = table("fedinit", "Table 1")
EVERY = tuple(on(network, setup) for network in (RESNET, VGG) for setup in SETUPS)


def cells(scale: str) -> list[Cell]:
    return each(EVERY, lambda s: [c for method in METHODS for c in grid_runs(scale, s, method)])


def data(runs: Runs, scale: str) -> Shown:
    found = [
        entry(
            PRINTED[f"{setup.network}/{method}", setup.column],
            _row(scale, network, method),
            column(scale, setup),
            accuracies(runs, scale, grid_runs(scale, setup, method)),
            missing(scale, setup),
            of(grid_runs(scale, setup, method), setup.in_paper),
        )
        for network in (RESNET, VGG)
        for method in METHODS
        for setup in (on(network, s) for s in SETUPS)
    ]
    small = SMALL[: VGG not in PLANS[scale].networks]
    return comparison(
        caption(scale, EVERY, "Test accuracy (%): reported / ours.", ends(scale), SPREAD, RELAXED, *small),
        found,
        conclusions(runs, found, scale),
        ranked=[e for e in found if e.row.startswith(network_words(scale, RESNET))],
    )


def _row(scale: str, name: str, method: str) -> str:
    return f"{network_words(scale, name)}, {method}"


def conclusions(runs: Runs, entries: list[Entry], scale: str) -> list[Judged]:
    """What Section 5.1 concludes from the ResNet-18-GN rows on CIFAR-10."""
    setups = [s for s in CIFAR10 if not missing(scale, s)]
    seen = [column(scale, s) for s in setups]
    others = [_row(scale, RESNET, m) for m in BASELINES]
    mine, plain = (_row(scale, RESNET, m) for m in ("FedInit", "FedAvg"))
    ran = what_ran(scale, HOME)
    data = ran.data if ran else HOME.data
    few = Setup(share="5%-200")
    at = by_place(entries)
    best = [p for c in seen for p in leads(entries, mine, [o for o in others if at[o, c].ours], [c])]
    return [
        judge(
            f"FedInit is more accurate than every other method in every column of {data}, {mine.rpartition(',')[0]}",
            best,
            POINT,
            guards(runs, scale, setups, METHODS),
        ),
        judge(
            "FedInit is more accurate than FedAvg in every one of these columns",
            leads(entries, mine, [plain], seen) if seen else [],
            POINT,
            guards(runs, scale, setups, ("FedAvg", "FedInit")),
        ),
        judge(
            f"fewer participants ({clients_of(scale, few)}, Dirichlet 0.1) cost FedInit less accuracy than FedAvg",
            [_steadier(entries, scale, mine, plain)],
            regimes=guards(runs, scale, (HOME, few), ("FedAvg", "FedInit")),
        ),
    ]


def _steadier(entries: list[Entry], scale: str, mine: str, plain: str) -> Pair:
    at = by_place(entries)

    def drop(row: str) -> list[float]:
        many, few = (at[row, column(scale, Setup(share=share))].ours for share in ("10%-100", "5%-200"))
        return [a - b for a, b in zip(many, few, strict=False)]

    return Pair("FedAvg's loss over FedInit's", drop(plain), drop(mine))


ARTEFACT = Artefact("fedinit.table_1", "test accuracy of seven methods", cells, data)
