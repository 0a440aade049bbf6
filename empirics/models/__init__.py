"""Models over flat weight vectors ``(rows, dim)``, one row per client, as training and measurements use them.

``model.py`` defines the interface. ``linear.py`` has linear models with closed-form gradients for whole cohorts and
exact minimisers (``solvers.py``); ``network.py`` wraps any ``torch.nn.Module``, one row at a time; ``networks/`` has
the papers' networks by name; ``compiled/`` computes both kinds by compiled code on CPUs.
"""
