"""Hand-made runs in a store: what a training cell would have written."""

from empirics.experiments import Outcome


def outcome(curves, status="done", facts=None):
    """``curves``: values at rounds 0, 1, ... (or pairs of round and value) by quantity, or by (quantity, layer)."""
    rows = []
    for name, values in curves.items():
        quantity, layer = name if isinstance(name, tuple) else (name, "")
        for i, item in enumerate(values):
            at, value = item if isinstance(item, tuple) else (i, item)
            rows.append((quantity, layer, None, None, at, float(value)))
    names = ("quantity", "layer", "client", "step", "round", "value")
    return Outcome(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)), facts or {}, status)


def keep(store, cell, curves, status="done", facts=None, minutes=0.01):
    """Put a run into the store."""
    return store.keep(cell, outcome(curves, status, facts), minutes)
