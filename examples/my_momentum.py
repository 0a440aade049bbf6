"""A method of your own: the server moves by a running sum of the clients' mean moves. Try

fedbounds rate examples/my_momentum.py:my_momentum local_steps=2 step_size=0.2 smoothness=1 strong_convexity=0.1
"""

from dataclasses import dataclass, replace

from bounds.domains import SHARE
from empirics.algorithms.algorithm import fedavg, method


@dataclass(frozen=True)
class RunningSum:
    """``v <- m v + mean move``, ``w <- w + v``."""

    momentum: float

    def __call__(self, work, ends):
        move = work.mean(ends - work.starts)
        if work.state.round:
            move = move + self.momentum * work.state.server["move"]
        return work.state.model + move, {"move": move}


@method(momentum=SHARE)
def running_sum(momentum=0.4):
    return replace(fedavg, combine=RunningSum(momentum))


my_momentum = running_sum()
