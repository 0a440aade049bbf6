"""Networks are written as calls: canonical names, pickling, options that make no sense."""

from __future__ import annotations

import pickle
import re

import pytest
import torch
from network_samples import samples

from bounds.errors import BoundsError
from empirics.errors import EmpiricsError
from empirics.models.networks import network, NETWORKS


@pytest.mark.parametrize("name", NETWORKS)
def test_every_name_reads_back(name):
    net = network(name)
    assert network(net.name).build == net.build
    assert network(net.name).name == net.name


def test_networks_pickle_without_their_work_module():
    net = network("femnist_dnn")
    w, x = net.start(6).unsqueeze(0), samples(net, 3)
    output = net.output(w.clone().requires_grad_(), x)
    packed = pickle.dumps(net)
    assert len(packed) < 2_000
    assert torch.equal(pickle.loads(packed).output(w, x), output)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("resnet_20", "did you mean"),
        ("resnet20(shortcut='conv2')", "shortcut must be one of pad, conv1, conv3; got 'conv2'"),
        ("resnet20(classes=0)", "classes must be a whole number >= 1; got 0"),
        ("resnet20(classes='ten')", "classes must be a whole number"),
        ("resnet20(depth=3)", "depth"),
        ("resnet20(loss='next_token')", "loss must be one of"),
        ("resnet20(precision='half')", "precision must be one of"),
        ("resnet18(stem='none')", "stem must be one of"),
        ("vgg11(side=16)", "side must be a whole number >= 32; got 16"),
        ("opt(heads=5)", "heads must divide width"),
        ("opt(head_layers=13)", "head_layers must be <= depth = 12"),
        ("opt(length=3000)", "length must be <= positions"),
        ("opt(", "must be a name or a call"),
    ],
)
def test_wrong_options_get_one_clear_line(text, complaint):
    with pytest.raises((EmpiricsError, BoundsError), match=re.escape(complaint)) as caught:
        network(text)
    assert "\n" not in str(caught.value)


def test_sizes_that_cannot_be_built_are_refused_when_building():
    with pytest.raises(EmpiricsError, match="side_after_pooling"):
        _ = network("fedcog_cnn(side=8)").dim
    with pytest.raises(EmpiricsError, match="groups must divide"):
        _ = network("resnet20(groups=3)").dim
    with pytest.raises(EmpiricsError, match="from 1 to the 20 layers"):
        _ = network("resnet20(extractor=21)").layers
    with pytest.raises(BoundsError, match="unknown option of resnet20 'width'"):
        network("resnet20", width=3)
