"""FedCOG's generator of images against PyTorch's own module and Adam."""

import copy

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from empirics.algorithms import algorithm
from empirics.algorithms.consensus import Generate, LearnedGenerator
from empirics.algorithms.network_methods import generator
from empirics.federation.federation import Federation
from empirics.models.network import Network
from empirics.models.networks.blocks import Split
from empirics.models.networks.generator import Generator
from empirics.streams import stream
from empirics.training.rounds import plan_round
from empirics.training.setting import Setting

SEED, CLASSES, SAMPLES, NOISE, MAPS = 5, 3, 6, 5, 2
SMALL = LearnedGenerator(noise=NOISE, maps=MAPS, groups=1)
SHAPE = (1, 4, 4)
IMAGES = Network(
    "flat images",
    lambda: Split(nn.Sequential(nn.Flatten(), nn.Linear(16, 4), nn.Tanh()), nn.Linear(4, CLASSES)),
    dtype=torch.float64,
)


def pictures():
    rng = np.random.default_rng(8)
    labels = [0, 1, 0, 0, 1, 2, 2, 1, 0, 2, 1, 1]
    inputs = torch.tensor(rng.random((12, *SHAPE)))
    return Federation.of(inputs, torch.tensor(labels), [[0, 1, 2, 3], [4, 5, 6, 7, 8], [9, 10, 11]])


PLAN = Setting(rounds=2, cohort=2, batch=2, step_size=0.3, local_steps=2)


def work_at(round_):
    built = algorithm("fedcog()")
    state = built.begin(IMAGES.start(SEED), 3)._replace(round=round_)
    state.memory["last"].add_(torch.linspace(-1, 1, IMAGES.dim, dtype=torch.float64))
    return plan_round(IMAGES, pictures(), built, PLAN, SEED, state, (np.arange(3), np.ones(3)))


@pytest.mark.parametrize("steps", [0, 3])
def test_its_steps_are_those_of_adam_on_a_fresh_generator_and_noise(steps):
    disagreement = 0.4
    for k in range(3):
        work = work_at(round_=1).part(slice(k, k + 1))
        images, labels, _ = Generate(SAMPLES, steps, disagreement, variables=SMALL)(IMAGES, work, SHAPE)
        built = Generator(1, 4, NOISE, MAPS, 1)
        module = built().double()
        seed = int(stream(SEED, "image generator", round=1, client=k).integers(2**62))
        vector_to_parameters(generator(built, torch.float64).start(seed), module.parameters())
        drawn = stream(SEED, "generated inputs", round=1, client=k).standard_normal((SAMPLES, NOISE), "float32")
        noise = torch.tensor(drawn, dtype=torch.float64, requires_grad=True)
        fresh = copy.deepcopy(module)
        adam = torch.optim.Adam([noise, *module.parameters()], lr=1e-2, betas=(0.5, 0.999))
        for _ in range(steps):
            outputs = [
                IMAGES.output(w.unsqueeze(0), module(noise).unsqueeze(0))[0]
                for w in (work.received, work.recall("last")[0])
            ]
            p, q = (output.softmax(-1) for output in outputs)
            m = (p + q) / 2
            js = (0.5 * (p * (p / m).log() + q * (q / m).log())).sum(-1).mean()
            adam.zero_grad()
            (F.cross_entropy(outputs[0], labels[0]) + disagreement * (1 - js)).backward()
            adam.step()
        assert images.shape == (1, SAMPLES, *SHAPE)
        assert 0 < float(images.min()) < float(images.max()) < 1
        torch.testing.assert_close(images[0], module(noise).detach(), rtol=0, atol=1e-10)
        moved = parameters_to_vector(module.parameters()) - parameters_to_vector(fresh.parameters())
        assert steps * 0.4e-2 <= moved.abs().max() <= 1.1e-2 * steps
