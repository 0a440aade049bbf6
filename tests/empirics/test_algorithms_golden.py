"""Two clients, pencil and paper: every method's first rounds in fractions.

On a line: client A has the gradient w - 3, client B 2w - 1. Two steps of size 1/4 from w = 2 in every round, uniform
weights, both clients. One plain step takes A to (3w + 3)/4 and B to (2w + 1)/4:

    round 1: A 2, 9/4, 39/16           B 2, 5/4, 7/8            mean 53/32
    round 2: A 53/32, 255/128, 1149/512  B 53/32, 69/64, 101/128  mean 1553/1024
"""

from fractions import Fraction as F

import numpy as np
import pytest
import torch
from training_toys import SplitLeastSquares

from empirics.algorithms import algorithm
from empirics.algorithms.state import own_rows
from empirics.federation.federation import Federation
from empirics.training.rounds import local_models, rounds
from empirics.training.setting import Setting

LINE = SplitLeastSquares(features=1, begin=(2.0,), body=0)
SETTING = Setting(rounds=2, cohort=2, batch=2, step_size=0.25, local_steps=2)


def on_a_line() -> Federation:
    """The mean of w - 5 and w - 1; the mean of 2 (2w - 1) and 0: both clients' full batches."""
    inputs = torch.tensor([[1.0], [1.0], [2.0], [0.0]], dtype=torch.float64)
    targets = torch.tensor([5.0, 1.0, 1.0, 7.0], dtype=torch.float64)
    return Federation.of(inputs, targets, [np.array([0, 1]), np.array([2, 3])])


def states(text: str, model=LINE, federation=None):
    return list(rounds(model, federation or on_a_line(), algorithm(text), SETTING, seed=1))


def check(found, *expected) -> None:
    assert np.ravel(found).tolist() == pytest.approx([float(x) for x in expected], rel=0, abs=1e-14)


GOLDEN = {
    "fedavg()": (F(53, 32), F(1553, 1024)),
    # one step: A 9/4, B 5/4; from 7/4: A 33/16, B 9/8
    "dsgd()": (F(7, 4), F(51, 32)),
    # A: w - 3 + (w-2)/2 takes w to (5w+8)/8: 9/4, 77/32.  B: 2w - 1 + (w-2)/2, to (3w+4)/8: 5/4, 31/32
    "fedprox(mu=0.5)": (F(27, 16), None),
    # FedAvg moves by 11/32, then from 53/32 by 143/1024; v = 11/64 + 143/1024 = 319/1024
    "fedavgm(momentum=0.5)": (F(53, 32), F(1696 - 319, 1024)),
    # the same v over 3/2 from the second round on: 319/1536
    "fedavgm(momentum=0.5, reading='code')": (F(53, 32), F(2544 - 319, 1536)),
    # move -11/32: first moment -11/64, second (11/64)^2, so 1/8 * (-11/64) / (11/64 + 1/64) = -11/96
    "fedadam(server_step_size=0.125, beta1=0.5, beta2=0.75, epsilon=0.015625)": (F(181, 96), None),
    # moves 7/16, -9/8: mean of squares 373/512; 2 (121/1024 + 7/1024) = 1/4, so the mean -11/32 is taken 373/128 times
    "fedexp(epsilon=0.0068359375)": (F(4089, 4096), None),
    # controls A (2 - 39/16) / (1/2) = -7/8, B 9/4, mean 11/16.  Round 2 from 53/32: A: w - 3 + 7/8 + 11/16 takes w to
    # (3w + 23/16)/4: 205/128, 799/512.  B: 2w - 1 - 9/4 + 11/16, to w/2 + 41/64: 47/32, 11/8.  (799 + 704)/1024
    "scaffold()": (F(53, 32), F(1503, 1024)),
    # round 1 as FedProx: ends 77/32, 31/32, duals 13/32, -33/32; 27/16 - 5/16 = 11/8.  Round 2 from s = 11/8:
    # A: w - 3 + (w - 11/8 + 13/32)/2 takes w to (160w + 223)/256: 443/256, 3999/2048.
    # B: 2w - 1 + (w - 11/8 - 33/32)/2, to (96w + 141)/256: 273/256, 1947/2048.
    # duals 2015/2048 and -2981/2048; mean of ends 5946/4096, of duals -966/4096
    "feddyn(alpha=0.5)": (F(11, 8), F(4980, 4096)),
    # round 1 has half the gradient: A (7w+3)/8: 17/8, 143/64.  B (6w+1)/8: 13/8, 43/32.  Direction 2 (2 - 229/128) =
    # 27/64.  Round 2: A (448w + 165)/512: 1933/1024, 16171/8192.  B (384w + 37)/512: 181/128, 145/128
    "fedcm(alpha=0.5)": (F(229, 128), F(16171 + 9280, 16384)),
    # A at 2: g = -1, by 2/3 * (-1)/(1 + 1/3) = -1/2: gradient -3/2 there, to 19/8; g = -5/8, by 2/3 * (-15/23) =
    # -10/23: gradient -195/184, to 1943/736.  B at 2: g = 3, by 2/3 * 9/10 = 3/5: gradient 21/5, to 19/20; g = 9/10, by
    # 2/3 * 27/37 = 18/37: gradient 693/370, to 713/1480
    "fedsam(rho=0.6666666666666666, epsilon=0.3333333333333333)": ((F(1943, 736) + F(713, 1480)) / 2, None),
    # round 2 starts: A 53/32 + (53/32 - 39/16)/4 = 187/128, B 53/32 + (53/32 - 7/8)/4 = 237/128.
    # A 945/512, 4371/2048.  B 301/256, 429/512
    "fedinit(beta=0.25)": (F(53, 32), F(4371 + 1716, 4096)),
    # steps of size 1/40 in round 2: A (39w+3)/40: 2163/1280, 88197/51200.  B (38w+1)/40: 1023/640, 79028/51200
    "scheduled(fedavg(), 'eta_step', plateau_round=2)": (F(53, 32), F(88197 + 79028, 102400)),
}


@pytest.mark.parametrize("text", GOLDEN)
def test_two_clients_on_a_line(text):
    for state, expected in zip(states(text)[1:], GOLDEN[text], strict=True):
        if expected is not None:
            check(state.model, expected)


def test_fine_tuned_models_are_the_clients_last_ends():
    final = states("finetuned(fedavg())")[-1]
    check(final.model, F(1553, 1024))
    check(algorithm("finetuned(fedavg())").own_models(final), F(1149, 512), F(101, 128))


def test_fine_tuning_the_final_model_is_one_more_round_of_local_work():
    """From 1553/1024: A 7731/4096, 35481/16384.  B 2065/2048, 3089/4096."""
    last = states("fedavg()")[-1]
    tuned = local_models(LINE, on_a_line(), algorithm("fedavg()"), SETTING, 1, last)
    check(tuned, F(35481, 16384), F(3089, 4096))
    check(last.model, F(1553, 1024))


def test_dittos_personal_models_are_drawn_to_the_server():
    """Round 1 as FedProx: 77/32, 31/32. Round 2, drawn to 53/32: A (160w + 245)/256: 315/128, 2555/1024.

    B (96w + 117)/256: 105/128, 783/1024. The server's model is FedAvg's.
    """
    _, first, second = states("ditto(weight=0.5)")
    check(algorithm("ditto()").own_models(second), F(2555, 1024), F(783, 1024))
    check(first.model, F(53, 32))
    check(second.model, F(1553, 1024))


# ---- a body and a head: A has the gradients 2u - 3 and 2v - 1, B (u - 4)/2 and (v + 2)/2, from u = 2, v = 3 ----

PAIR = SplitLeastSquares(features=2, begin=(2.0, 3.0), body=1)


def in_the_plane() -> Federation:
    inputs = torch.tensor([[2.0, 0.0], [0.0, 2.0], [1.0, 0.0], [0.0, 1.0]], dtype=torch.float64)
    targets = torch.tensor([3.0, 1.0, 4.0, -2.0], dtype=torch.float64)
    return Federation.of(inputs, targets, [np.array([0, 1]), np.array([2, 3])])


def test_fedals_averages_the_body_every_other_round():
    """One step: A (2u+3)/4 and (2v+1)/4, B (7u+4)/8 and (7v-2)/8.

    Round 1: A 13/8 and 9/8, B 79/32 and 117/64: heads average to 189/128, bodies go on by themselves.
    Round 2: A 49/32 and 381/512, B 5791/2048 and 5421/8192: everything is averaged.
    """
    start, first, second = states("fedals(alpha=2)", PAIR, in_the_plane())
    check(start.model, 2, 3)
    check(first.model, F(131, 64), F(189, 128))
    check(second.model, F(8927, 4096), F(11517, 16384))
    check(own_rows(second, "local"), *[F(8927, 4096), F(11517, 16384)] * 2)


def test_fedals_lets_bodies_differ_between_averages():
    one = next(state for state in rounds(PAIR, in_the_plane(), algorithm("fedals(alpha=2)"), SETTING, 1) if state.round)
    check(own_rows(one, "local"), F(13, 8), F(189, 128), F(79, 32), F(189, 128))


def test_layerwise_scaffold_renews_controls_with_their_layer():
    """After round 1 only the head has controls: A (3 - 9/8)/(1/2) = 15/4, B (3 - 117/64) 2 = 75/32, mean 195/64.

    After round 2 the body's walk was twice as long: A (2 - 49/32)/1 = 15/32, B (2 - 5791/2048)/1 = -1695/2048.
    """
    played = rounds(PAIR, in_the_plane(), algorithm("layerwise(scaffold(), alpha=2)"), SETTING, 1)
    next(played)
    first = next(played)
    check(first.memory["control"], 0, F(15, 4), 0, F(75, 32))
    check(first.server["control"], 0, F(195, 64))
    second = next(played)
    check(second.memory["control"][:, 0], F(15, 32), F(-1695, 2048))
    check(second.server["control"][:1], (F(15, 32) - F(1695, 2048)) / 2)


def test_fedrep_trains_heads_on_a_fixed_body_then_the_body():
    """Heads by one step: 7/4, 19/8; bodies by two: 13/8, 79/32, mean 131/64.

    Round 2: heads 9/8, 117/64; bodies from 131/64: 419/256, 10259/4096, mean 16963/8192.
    """
    _, first, second = states("fedrep(head_steps=1)", PAIR, in_the_plane())
    check(first.model, F(131, 64), (F(7, 4) + F(19, 8)) / 2)
    body = F(16963, 8192)
    check(second.model, body, (F(9, 8) + F(117, 64)) / 2)
    check(algorithm("fedrep()").own_models(second), body, F(9, 8), body, F(117, 64))
