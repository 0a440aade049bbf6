"""FedCOG: labels, divergences and weights by hand, what is generated when, plug-ins, and its generator of images."""

import copy
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from network_toys import FEATURES, FEDERATION, models, NET, SETTING, work_of
from torch import nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters
from training_toys import many_classes

from bounds.fedcog.labels import largest_remainder
from empirics.algorithms import algorithm
from empirics.algorithms.consensus import Generate, GENERATED, LearnedGenerator, network, TEACHER
from empirics.errors import EmpiricsError
from empirics.federation.federation import Federation
from empirics.models.network import Network
from empirics.models.networks.generator import Generator
from empirics.models.networks.parts import Split
from empirics.streams import stream
from empirics.training.engines import Stacked
from empirics.training.rounds import plan, rounds
from empirics.training.setting import Setting

SHARP = torch.tensor([[[math.log(3), 0.0]]])
ALL = torch.ones(1, 1)
BASE = "disagreement=0.4, distillation=0.5, samples=5, steps=3"


class Last:
    class_axis = 2


# ---- by hand ----


def test_the_divergence_goes_from_zero_to_the_logarithm_of_two():
    """The code's, of probabilities clamped to [0.01, 0.99], ends at ln(1/2) - ln(0.0099)/2 > 1 and so at 1."""
    sure, contrary = torch.tensor([[[500.0, 0.0]]]), torch.tensor([[[0.0, 500.0]]])
    for reading, most in (("intended", math.log(2)), ("code", 1.0)):
        generate = Generate(reading=reading)
        assert generate.apart(Last, SHARP, SHARP, ALL).item() == pytest.approx(0, abs=1e-7)
        assert generate.apart(Last, sure, contrary, ALL).item() == pytest.approx(most)
        noise = torch.randn(2, 1, 50, 7, generator=torch.Generator().manual_seed(2))
        assert 0 < generate.apart(Last, *noise, torch.full((1, 50), 0.02)).item() < most


def counted(*counts, **options):
    work = work_of("fedcog()").part(slice(0, len(counts)))._replace(labels=torch.tensor(counts))
    return Generate(**options).labels(work)


def test_labels_complement_those_of_the_client():
    """[500, 0, 400, 200, 400] lacks [0, 500, 100, 300, 100]: of 256 samples 128, 25.6, 76.8 and 25.6."""
    labels, shares = counted([500, 0, 400, 200, 400])
    assert torch.bincount(labels[0], minlength=5).tolist() == [0, 128, 26, 77, 25]
    assert shares.unique().tolist() == [1 / 256]
    labels, shares = counted([500, 0, 400, 200, 400], reading="code")
    real = shares[0] > 0
    assert torch.bincount(labels[0][real], minlength=5).tolist() == [0, 128, 25, 76, 25]
    assert shares[0][real].unique().tolist() == pytest.approx([1 / 254])
    for options in ({}, {"targets": "uniform"}):  # nothing is lacking
        labels, _ = counted([4, 4, 4], samples=7, **options)
        assert torch.bincount(labels[0]).tolist() == largest_remainder([1, 1, 1], 7)
    labels, _ = counted([4, 0, 1], samples=6, targets="uniform")
    assert torch.bincount(labels[0]).tolist() == [2, 2, 2]
    _, shares = counted([3, 3, 3], samples=2, reading="code")  # fewer samples than labels
    assert shares.tolist() == [[0.0, 0.0]]


def test_a_generated_batch_goes_through_all_samples_before_any_comes_again():
    built = algorithm(f"fedcog({BASE.replace('samples=5', 'samples=6')}, after=0, batch=3)")
    work = work_of(built.name).part(slice(0, 1))
    built.objective.prepare(NET, (torch.zeros(1, 4, FEATURES), None, None), work)
    seen = [built.objective._now(work._replace(step=s)) for s in range(4)]
    for first in (0, 2):
        both = torch.cat([seen[first][0], seen[first + 1][0]], 1)[0]
        assert sorted(both[:, 0].tolist()) == sorted(work.recalled[GENERATED][0, :, 0].tolist())
    assert all(shares.tolist() == [pytest.approx([1 / 3] * 3)] for _, _, shares in seen)
    assert not torch.equal(seen[0][0], seen[2][0])


def test_the_teacher_is_the_model_that_was_sent():
    """Clients of a layer-wise method were never sent the average of their bodies."""
    work = work_of("fedcog()").part(slice(0, 1))
    sent = work.state.model + 0.5
    work = work._replace(state=work.state._replace(server={"received": sent}))
    objective = algorithm(f"fedcog({BASE}, after=0)").objective
    objective.prepare(NET, (torch.zeros(1, 4, FEATURES), None, None), work)
    wanted = NET.output(sent.unsqueeze(0), work.recalled[GENERATED])
    torch.testing.assert_close(work.recalled[TEACHER], torch.softmax(wanted, -1).detach())


# ---- plug-ins, other models and engines ----


@pytest.mark.parametrize("inner", ["scaffold()", "moon(mu=0.8)", "fedavgm(momentum=0.5)"])
def test_a_plug_in_keeps_its_method_and_adds_to_it(inner):
    both = models(f"with_consensus_data({inner}, {BASE})")
    assert (both - models(inner)).abs().max() > 1e-4
    assert (both - models(f"fedcog({BASE}, after=0)")).abs().max() > 1e-4
    outer, built = algorithm(f"with_consensus_data({inner})"), algorithm(inner)
    assert (outer.direction, outer.combine, outer.start) == (built.direction, built.combine, built.start)
    assert (outer.uploads, outer.downloads) == (built.uploads, built.downloads)
    assert len(set(outer.remember)) == len(outer.remember)


@pytest.mark.parametrize("options", ["", ", reading='code'", ", supervision='predicted', batch=2, shared=True"])
def test_stacked_models_give_the_same_in_every_chunk(options):
    """Also where the code generates different numbers of samples for different clients."""
    model, data = many_classes((7, 9, 12, 5, 10))
    setting = replace(SETTING, local_steps=None, local_epochs=1, cohort=4)
    text = f"fedcog({BASE}, after=0{options})"
    whole = models(text, setting, model, data)
    assert whole.isfinite().all()
    assert (whole - models("fedavg()", setting, model, data)).abs().max() > 1e-3
    for chunk in (1, 3):
        assert torch.equal(models(text, setting, model, data, engine=Stacked(chunk)), whole)


def test_what_is_no_number_no_class_no_image_and_no_switch_is_refused():
    tokens = replace(FEDERATION, inputs=FEDERATION.inputs.long())
    numbers = replace(FEDERATION, targets=FEDERATION.inputs.round())
    for text, named, data in (
        ("fedcog(after=0)", "real numbers.*int64", tokens),
        ("fedcog(after=0)", "class numbers as targets", numbers),
        ("fedcog(after=0, generator=True)", "square images", FEDERATION),
        ("fedcog(generator=1)", "fedcog: generator .*1", FEDERATION),
    ):
        with pytest.raises(EmpiricsError, match=named):
            models(text, data=data)


# ---- the generator of images (A.4.2), against PyTorch's own module and Adam ----

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
    return plan(IMAGES, pictures(), built, PLAN, SEED, state, (np.arange(3), np.ones(3)))


@pytest.mark.parametrize("steps", [0, 3])
def test_its_steps_are_those_of_adam_on_a_fresh_generator_and_noise(steps):
    disagreement = 0.4
    for k in range(3):
        work = work_at(round_=1).part(slice(k, k + 1))
        images, labels, _ = Generate(SAMPLES, steps, disagreement, pictures=SMALL)(IMAGES, work, SHAPE)
        built = Generator(1, 4, NOISE, MAPS, 1)
        module = built().double()
        seed = int(stream(SEED, "image generator", round=1, client=k).integers(2**62))
        vector_to_parameters(network(built, torch.float64).start(seed), module.parameters())
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


def test_in_training_it_is_a_method_of_its_own_and_off_by_default(monkeypatch):
    monkeypatch.setattr("empirics.algorithms.consensus.LearnedGenerator", lambda shared: replace(SMALL, shared=shared))

    def trained(text):
        return list(rounds(IMAGES, pictures(), algorithm(text), PLAN, SEED))[-1].model

    base = "disagreement=0.4, distillation=0.5, samples=6, steps=2, after=0"
    learnt, pixels = trained(f"fedcog({base}, generator=True)"), trained(f"fedcog({base})")
    assert learnt.isfinite().all()
    assert (learnt - pixels).abs().max() > 1e-4
    assert torch.equal(pixels, trained(f"fedcog({base}, generator=False)"))
    assert (learnt - trained(f"fedcog({base}, generator=True, shared=True)")).abs().max() > 1e-6
