"""Hand-made runs in a store: what a training cell would have written; and what an artefact says of them."""

from types import SimpleNamespace

from empirics.experiments import Outcome
from figures.comparing import Reproduction

YES, NOT, OPEN = Reproduction.REPRODUCED, Reproduction.CONTRADICTED, Reproduction.UNDECIDED


class MemoryStore:
    """Hand-made runs in memory, as far as figures read a store."""

    def __init__(self):
        self._kept = {}

    def keep(self, cell, outcome, minutes=0.01):
        """Put the outcome of a run into the store."""
        card = {"key": cell.key, "facts": dict(outcome.facts)}
        kept = {"status": outcome.status, "card": card, "columns": lambda: outcome.columns}
        self._kept[cell.key] = SimpleNamespace(**kept)

    def has(self, cell):
        """Whether there is a result of this run."""
        return cell.key in self._kept

    def write(self, results):
        """Take results over as they were packed."""
        self._kept |= {kept.card["key"]: kept for kept in results}

    def of(self, cells):
        """The results that there are of these runs."""
        return [self._kept[cell.key] for cell in cells if cell.key in self._kept]


def columns(names, rows):
    """The columns of a table by name."""
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


def outcome(curves, status="done", facts=None):
    """``curves``: values at rounds 0, 1, ... (or pairs of round and value) by quantity, or by (quantity, layer)."""
    rows = []
    for name, values in curves.items():
        quantity, layer = name if isinstance(name, tuple) else (name, "")
        for i, item in enumerate(values):
            at, value = item if isinstance(item, tuple) else (i, item)
            rows.append((quantity, layer, None, None, at, float(value)))
    return Outcome(columns(("quantity", "layer", "client", "step", "round", "value"), rows), facts or {}, status)


def keep(store, cell, curves, status="done", facts=None, minutes=0.01):
    """Put a run into the store."""
    return store.keep(cell, outcome(curves, status, facts), minutes)


def verdicts(shown):
    """What is said of each conclusion."""
    return [judged.verdict for judged in shown.findings]
