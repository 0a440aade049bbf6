"""Models over flat weight vectors ``(rows, dim)``, one row per client, as training and measurements use them.

``model.py`` defines the interface; ``linear.py`` has linear models with exact minimisers, ``network.py`` wraps any
``torch.nn.Module``, ``networks/`` has the papers' networks by name, ``compiled/`` faster versions of both for CPUs.
"""
