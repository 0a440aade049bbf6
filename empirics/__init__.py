"""Federated training in practice: data, problems, methods, training, exact moments, measurements and experiments.

Start with ``verbs.train``, what ``fedbounds train`` calls: it reads a problem (``problems``, a model of a data set of
``data`` split over clients by ``federation``) and a method (``algorithms``), runs the one training loop
(``training.rounds``) and reads quantities off its states (``measuring``). ``exact`` computes the expectations of such
runs on quadratic problems without sampling. ``experiments`` runs many of them as jobs whose results are stored.
"""

import os

# On some processors the last bits of MKL's products depend on the memory addresses of the operands, unless this is set.
# MKL reads it at the first product, so it is set before torch is imported.
os.environ.setdefault("MKL_CBWR", "AUTO,STRICT")
