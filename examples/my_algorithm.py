"""An algorithm, a partition and a problem of your own. Try

fedbounds train --problem examples/my_algorithm.py:my_problem --partition examples/my_algorithm.py:my_partition \
    --clients 8 --cohort 3 --batch 16 --algorithm examples/my_algorithm.py:my_algorithm --compare fedavg
"""

from dataclasses import dataclass

import numpy as np
from sklearn.datasets import load_wine

from empirics.algorithms.algorithm import fedavg, renamed
from empirics.data.dataset import Dataset
from empirics.federation.partitions import Split
from empirics.problems.tasks import TASKS


@dataclass(frozen=True)
class SignStep:
    """Step along the signs of the minibatch gradient, ``scale`` times its mean size."""

    scale: float

    def __call__(self, work, w, gradient, gradient_at):
        return self.scale * gradient.abs().mean(-1, keepdim=True) * gradient.sign()


@dataclass(frozen=True)
class InTurn(Split):
    """Samples are dealt like cards: client k holds samples k, k + clients, ..."""

    def deal(self, data, clients, seed):
        return [np.arange(k, len(data), clients) for k in range(clients)]


my_algorithm = renamed(fedavg, "sign_sgd(scale=0.5)", direction=SignStep(0.5))
my_partition = InTurn()
softmax = TASKS["softmax"]
my_problem = softmax(Dataset("my wine", *load_wine(return_X_y=True), classes=3), regularisation=0.01)
