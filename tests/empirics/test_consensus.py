"""FedCOG: labels, divergences and weights by hand, what is generated when, ablations, plug-ins."""

import math
from dataclasses import replace

import pytest
import torch
from network_toys import FEATURES, FEDERATION, models, NET, SETTING, work_of
from training_toys import many_classes

from bounds.fedcog.labels import largest_remainder
from empirics.algorithms import algorithm
from empirics.algorithms.consensus import Generate, GENERATED, TEACHER
from empirics.errors import EmpiricsError
from empirics.training.engines import Stacked

SHARP = torch.tensor([[[math.log(3), 0.0]]])
ALL = torch.ones(1, 1)


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


def test_complementary_labels_of_the_papers_example():
    """[500, 0, 400, 200, 400] lacks [0, 500, 100, 300, 100]: of 256 samples 128, 25.6, 76.8 and 25.6."""
    labels, shares = counted([500, 0, 400, 200, 400])
    assert torch.bincount(labels[0], minlength=5).tolist() == [0, 128, 26, 77, 25]
    assert shares.unique().tolist() == [1 / 256]
    labels, shares = counted([500, 0, 400, 200, 400], reading="code")
    real = shares[0] > 0
    assert torch.bincount(labels[0][real], minlength=5).tolist() == [0, 128, 25, 76, 25]
    assert shares[0][real].unique().tolist() == pytest.approx([1 / 254])


def test_clients_that_lack_nothing_and_uniform_targets_take_all_labels_alike():
    for options in ({}, {"targets": "uniform"}):
        labels, _ = counted([4, 4, 4], samples=7, **options)
        assert torch.bincount(labels[0]).tolist() == largest_remainder([1, 1, 1], 7)
    labels, _ = counted([4, 0, 1], samples=6, targets="uniform")
    assert torch.bincount(labels[0]).tolist() == [2, 2, 2]


def test_fewer_samples_than_labels_under_the_code_are_none():
    _, shares = counted([3, 3, 3], samples=2, reading="code")
    assert shares.tolist() == [[0.0, 0.0]]


BASE = "disagreement=0.4, distillation=0.5, samples=5, steps=3"


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


# ---- cost ----


@pytest.mark.parametrize("inner", ["fedsam(rho=0.1)", "fedprox(mu=0.1)"])
def test_a_client_generates_once_a_round_however_often_its_objective_is_asked(inner, monkeypatch):
    generated = []
    whole = Generate.__call__
    monkeypatch.setattr(
        Generate,
        "__call__",
        lambda self, net, work, shape: (generated.append(len(work.rows)), whole(self, net, work, shape))[1],
    )
    model, data = many_classes((7, 9, 12, 5, 10))
    text = f"with_consensus_data({inner}, {BASE})"
    setting = replace(SETTING, local_steps=None, local_epochs=1, momentum=0.5)  # fewer and fewer rows are active
    models(text, setting)
    assert generated == [1] * 9
    generated.clear()
    models(text, setting, model, data)
    assert generated == [3] * 3


def test_an_objective_switched_off_or_not_yet_due_generates_nothing(monkeypatch):
    def never(*_):
        raise AssertionError

    monkeypatch.setattr(Generate, "__call__", never)
    assert torch.equal(models("fedcog(distillation=0, after=0)"), models("fedavg()"))


# ---- switches, ablations, plug-ins ----


def test_before_its_first_round_fedcog_is_fedavg_and_then_parts():
    apart = (models(f"fedcog({BASE}, after=2)") - models("fedavg()")).abs().amax(-1)
    assert apart[:2].tolist() == [0, 0] or apart[:2].max() < 1e-14
    assert apart[2] > 1e-4
    assert torch.equal(models("fedcog()"), models(f"fedcog({BASE}, after=50)"))


@pytest.mark.parametrize("inner", ["fedprox(mu=0.5)", "scaffold()", "moon(mu=0.8)", "fedavgm(momentum=0.5)"])
def test_a_plug_in_keeps_its_method_and_adds_to_it(inner):
    both = models(f"with_consensus_data({inner}, {BASE})")
    assert (both - models(inner)).abs().max() > 1e-4
    assert (both - models(f"fedcog({BASE}, after=0)")).abs().max() > 1e-4
    assert torch.equal(models(f"with_consensus_data({inner}, distillation=0)"), models(inner))
    outer, built = algorithm(f"with_consensus_data({inner})"), algorithm(inner)
    assert (outer.direction, outer.combine, outer.start) == (built.direction, built.combine, built.start)
    assert (outer.uploads, outer.downloads) == (built.uploads, built.downloads)


def test_the_last_models_are_remembered_once():
    assert len(algorithm("with_consensus_data(moon())").remember) == 1


# ---- other models and engines ----

STACKED = f"fedcog({BASE}, after=0"


@pytest.mark.parametrize("options", ["", ", reading='code'", ", supervision='predicted', batch=2", ", shared=True"])
def test_stacked_models_give_the_same_in_every_chunk(options):
    """Also where the code generates different numbers of samples for different clients."""
    model, data = many_classes((7, 9, 12, 5, 10))
    setting = replace(SETTING, local_steps=None, local_epochs=1, cohort=4)
    whole = models(STACKED + options + ")", setting, model, data)
    assert whole.isfinite().all()
    assert (whole - models("fedavg()", setting, model, data)).abs().max() > 1e-3
    for chunk in (1, 2, 3):
        assert torch.equal(models(STACKED + options + ")", setting, model, data, engine=Stacked(chunk)), whole)


def test_the_teacher_is_the_model_that_was_sent():
    """Clients of a layer-wise method were never sent the average of their bodies."""
    work = work_of("fedcog()").part(slice(0, 1))
    sent = work.state.model + 0.5
    work = work._replace(state=work.state._replace(server={"received": sent}))
    objective = algorithm(f"fedcog({BASE}, after=0)").objective
    objective.prepare(NET, (torch.zeros(1, 4, FEATURES), None, None), work)
    wanted = NET.output(sent.unsqueeze(0), work.recalled[GENERATED])
    torch.testing.assert_close(work.recalled[TEACHER], torch.softmax(wanted, -1).detach())


def test_tokens_and_targets_that_are_no_classes_are_one_clear_line():
    tokens = replace(FEDERATION, inputs=FEDERATION.inputs.long())
    with pytest.raises(EmpiricsError, match=r"^fedcog makes inputs by gradients and needs real numbers; got torch.int"):
        models("fedcog(after=0)", data=tokens, net=Any3())
    many = replace(FEDERATION, targets=FEDERATION.inputs.round())
    with pytest.raises(EmpiricsError, match=r"^the method needs class numbers as targets, one per sample$"):
        models("fedcog(after=0)", data=many)


class Any3:
    """A model that takes whole numbers."""

    stacked, dim, layers, class_axis, dtype = False, NET.dim, NET.layers, 2, torch.float64

    def start(self, seed):
        return NET.start(seed)

    def task_loss(self, w, batch):
        return NET.task_loss(w, (batch[0].double(), *batch[1:]))
