"""FedCOG's generator (A.4.2): its images and its steps against PyTorch's own module and Adam."""

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from network_toys import models
from torch import nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from empirics.algorithms import algorithm
from empirics.algorithms.consensus import Generate
from empirics.algorithms.pictures import LearnedGenerator, network
from empirics.errors import EmpiricsError
from empirics.federation.federation import Federation
from empirics.models.network import Network
from empirics.models.networks.generator import Generator
from empirics.models.networks.parts import Split
from empirics.streams import stream
from empirics.training.rounds import plan, rounds
from empirics.training.setting import Setting

SEED, CLASSES, SAMPLES, NOISE, MAPS = 5, 3, 6, 5, 2
SMALL = LearnedGenerator(noise=NOISE, maps=MAPS, groups=1)
SHAPE = (1, 4, 4)


class Build:
    """Two dense layers on images of 4x4."""

    def __call__(self):
        return Split(nn.Sequential(nn.Flatten(), nn.Linear(16, 4), nn.Tanh()), nn.Linear(4, CLASSES))


NET = Network("flat images", Build(), dtype=torch.float64)


def federation():
    rng = np.random.default_rng(8)
    labels = [0, 1, 0, 0, 1, 2, 2, 1, 0, 2, 1, 1]
    inputs = torch.tensor(rng.random((12, *SHAPE)))
    return Federation.of(inputs, torch.tensor(labels), [[0, 1, 2, 3], [4, 5, 6, 7, 8], [9, 10, 11]])


SETTING = Setting(rounds=2, cohort=2, batch=2, step_size=0.3, local_steps=2)


def work_at(round_=0, method="fedcog()"):
    built = algorithm(method)
    state = built.begin(NET.start(SEED), 3)._replace(round=round_)
    state.memory["last"].add_(torch.linspace(-1, 1, NET.dim, dtype=torch.float64))
    return plan(NET, federation(), built, SETTING, SEED, state, (np.arange(3), np.ones(3)))


def module_of(client, round_=0):
    """The client's fresh generator as a module of its own."""
    seed = int(stream(SEED, "image generator", round=round_, client=client).integers(2**62))
    built = Generator(1, 4, NOISE, MAPS, 1)
    module = built().double()
    vector_to_parameters(network(built, torch.float64).start(seed), module.parameters())
    return module


def noise_of(client, round_=0):
    drawn = stream(SEED, "generated inputs", round=round_, client=client).standard_normal((SAMPLES, NOISE), "float32")
    return torch.tensor(drawn, dtype=torch.float64)


def test_without_steps_the_images_are_those_of_fresh_generators():
    images, _, _ = Generate(SAMPLES, steps=0, pictures=SMALL)(NET, work_at(round_=1), SHAPE)
    assert images.shape == (3, SAMPLES, *SHAPE)
    assert 0 < float(images.min()) < float(images.max()) < 1
    for k in range(3):
        torch.testing.assert_close(images[k], module_of(k, 1)(noise_of(k, 1)).detach(), rtol=0, atol=1e-12)


@pytest.mark.parametrize("steps", [1, 4])
def test_its_steps_are_those_of_adam_on_generator_and_noise(steps):
    disagreement = 0.4
    for k in range(3):
        work = work_at().part(slice(k, k + 1))
        images, labels, _ = Generate(SAMPLES, steps, disagreement, pictures=SMALL)(NET, work, SHAPE)
        module, noise = module_of(k), noise_of(k).requires_grad_()
        fresh = copy.deepcopy(module)
        adam = torch.optim.Adam([noise, *module.parameters()], lr=1e-2, betas=(0.5, 0.999))
        for _ in range(steps):
            outputs = [
                NET.output(w.unsqueeze(0), module(noise).unsqueeze(0))[0]
                for w in (work.received, work.recall("last")[0])
            ]
            p, q = (output.softmax(-1) for output in outputs)
            m = (p + q) / 2
            js = (0.5 * (p * (p / m).log() + q * (q / m).log())).sum(-1).mean()
            adam.zero_grad()
            (F.cross_entropy(outputs[0], labels[0]) + disagreement * (1 - js)).backward()
            adam.step()
        torch.testing.assert_close(images[0], module(noise).detach(), rtol=0, atol=1e-10)
        moved = parameters_to_vector(module.parameters()) - parameters_to_vector(fresh.parameters())
        assert 0.5e-2 < moved.abs().max() <= 1e-2 * steps * 1.1


def test_in_training_it_is_a_method_of_its_own_and_off_by_default(monkeypatch):
    monkeypatch.setattr("empirics.algorithms.consensus.LearnedGenerator", lambda shared: replace(SMALL, shared=shared))

    def trained(text):
        return list(rounds(NET, federation(), algorithm(text), SETTING, SEED))[-1].model

    base = "disagreement=0.4, distillation=0.5, samples=6, steps=2, after=0"
    learnt, pixels = trained(f"fedcog({base}, generator=True)"), trained(f"fedcog({base})")
    assert learnt.isfinite().all()
    assert (learnt - pixels).abs().max() > 1e-4
    assert torch.equal(pixels, trained(f"fedcog({base}, generator=False)"))
    assert (learnt - trained(f"fedcog({base}, generator=True, shared=True)")).abs().max() > 1e-6


def test_what_is_no_image_and_no_switch_is_refused():
    with pytest.raises(
        EmpiricsError, match=r"^fedcog's generator makes square images \(channels, side, side\); inputs"
    ):
        models("fedcog(after=0, generator=True)")
    with pytest.raises(EmpiricsError, match=r"^with_consensus_data: generator must be True or False; got 1$"):
        algorithm("fedcog(generator=1)")
