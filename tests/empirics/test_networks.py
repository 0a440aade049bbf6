"""Networks of the papers: numbers of parameters, shapes, halves, layers, names, and values against plain functions."""

from __future__ import annotations

import math
import pickle
from functools import partial
from itertools import pairwise

import pytest
import torch
import torch.nn.functional as F
from loops import each
from network_samples import samples
from torch import Tensor

from bounds.errors import BoundsError
from empirics.errors import EmpiricsError
from empirics.models.networks import Generator, network, NETWORKS

COUNTS = {
    "fedcog_cnn": 62_006,
    "fedcog_cnn(channels=1, side=28)": 44_426,
    "fedcog_cifar100_cnn": 69_380,
    "femnist_dnn": 209_662,
    "decaying_k_cnn": 1_250_852,
    "sent140_linear": 10_002,
    "shakespeare_gru": 162_887,
    "resnet20": 650 + 292_304,
    "resnet20(shortcut='conv1')": 650 + 271_824,
    "resnet20(shortcut='pad')": 650 + 269_072,
    "resnet18(classes=1000)": 11_689_512,  # torchvision's
    "resnet18(stem='cifar')": 11_173_962,
    "vgg11": 9_225_610,
    "vgg11(classes=1000, side=224, dense=(4096, 4096))": 132_863_336,  # torchvision's
    "opt(classes=50272)": 125_239_296,  # OPT-125M
}

SMALL = {
    "fedcog_cnn": 14,
    "fedcog_cifar100_cnn": 14,
    "decaying_k_cnn": 14,
    "femnist_dnn": 3,
    "sent140_linear": 2,
    "shakespeare_gru(length=11)": 5,
    "shakespeare_gru(length=11, loss='next_token')": 5,
    "resnet20": 2,
    "resnet20(shortcut='pad', channels=1, side=12)": 2,
    "resnet18(stem='cifar', side=8)": 2,
    "resnet18(side=16, classes=17, loss='multi_label')": 2,
    "vgg11(dense=(30,))": 2,
    "opt(width=12, depth=3, heads=4, hidden=20, positions=16, length=9)": 3,
}
"""Network and batch size: enough samples for the small CNNs to pool by pairwise maxima."""


LAYERS = {"resnet20": 20, "resnet18": 18, "vgg11(dense=(512, 512))": 11, "fedcog_cnn": 5, "shakespeare_gru": 4}


def test_numbers_of_parameters_and_layers_are_those_of_the_papers():
    with torch.device("meta"):
        assert {text: sum(p.numel() for p in network(text).build().parameters()) for text in COUNTS} == COUNTS
        assert {text: len(network(text).weight_layers) for text in LAYERS} == LAYERS


@each(SMALL, lambda text: {"text": text, "batch": SMALL[text]})
def test_output_is_the_head_of_the_features_whose_layers_tile_the_row(text, batch):
    net = network(text)
    w, x = net.start(2).unsqueeze(0), samples(net, batch)
    output = net.output(w, x)
    positions = x.shape[2:] if net.build.loss == "next_token" else ()
    assert output.shape == (1, batch, *positions, net.build.classes)
    assert torch.equal(net.head(w, net.features(w, x)), output)
    assert output.std() > 0
    for ranges in (net.layers, net.weight_layers):
        columns = list(ranges.values())
        assert (columns[0].start, columns[-1].stop) == (0, net.dim)
        assert all(a.stop == b.start for a, b in pairwise(columns))
    names = [name.split(".")[0] for name in net.layers]
    assert set(names) <= {"features", "head"}
    assert names == sorted(names)
    assert names[-1] == "head"
    again = network(net.name)
    assert (again.build, again.name) == (net.build, net.name)


def test_every_network_is_tried():
    assert {text.split("(")[0] for text in SMALL} == set(NETWORKS)
    assert {text.split("(")[0] for text in COUNTS} == set(NETWORKS)


def test_first_layers_of_resnet20_for_table_3_of_fedals():
    net = network("resnet20")
    first_block = 2 * (16 * 16 * 9 + 32)
    sizes = [net.first(count).stop for count in (1, 3, 16, 19, 20)]
    # 16 layers leave the last conv of the seventh block, both of the last two blocks and the dense layer to the head.
    rest_of_seventh = 64 * 64 * 9 + 128 + (32 * 64 * 9 + 128)
    tail = 4 * (64 * 64 * 9 + 128) + 650
    assert sizes == [432 + 32, 464 + first_block, net.dim - tail + 64 * 64 * 9 + 128, net.dim - 650, net.dim]
    assert net.first(15).stop == net.dim - tail
    assert net.first(14).stop == net.dim - tail - rest_of_seventh


def test_extractor_renames_exactly_the_layers_behind_the_border():
    plain = network("resnet20(side=8)")
    x, w = samples(plain, 2), plain.start(1).unsqueeze(0)
    output = plain.output(w, x)
    for count in (1, 4, 12, 20):
        net = network("resnet20(side=8)", extractor=count)
        head = [c for name, c in net.layers.items() if name.startswith("head")]
        assert sum(c.stop - c.start for c in head) == net.dim - plain.first(count).stop
        assert list(net.layers.values()) == list(plain.layers.values())
        assert torch.equal(net.output(w, x), output)


def test_opt_layers_are_attention_layers_with_embedding_and_last_norm_at_the_ends():
    net = network("opt(width=12, depth=4, heads=2, hidden=20, positions=16, length=9, head_layers=1)")
    layer = 4 * (12 * 12 + 12) + 2 * 24 + (12 * 20 + 20) + (20 * 12 + 12)
    sizes = [c.stop - c.start for c in net.weight_layers.values()]
    assert sizes == [257 * 12 + 18 * 12 + layer, layer, layer, layer + 24]
    head = [c for name, c in net.layers.items() if name.startswith("head")]
    assert sum(c.stop - c.start for c in head) == layer + 24  # the output weights are the embedding


# ---- values against plain functions ----


def pieces(net: object, w: Tensor) -> list[Tensor]:
    """The row cut up in the order of registration."""
    return [w[0, net.parameters[name]].view(shape) for name, shape in net.work.shapes.items()]


def plain_cnn(parameters: list[Tensor], x: Tensor, convolutions: int) -> Tensor:
    weights, biases = parameters[0::2], parameters[1::2]
    for weight, bias in zip(weights[:convolutions], biases[:convolutions], strict=True):
        x = F.max_pool2d(F.relu(F.conv2d(x, weight, bias)), 2)
    x = x.flatten(1)
    for weight, bias in zip(weights[convolutions:-1], biases[convolutions:-1], strict=True):
        x = F.relu(F.linear(x, weight, bias))
    return F.linear(x, weights[-1], biases[-1])


def plain_vgg(parameters: list[Tensor], x: Tensor) -> Tensor:
    weights, biases = parameters[0::2], parameters[1::2]
    for place, (weight, bias) in enumerate(zip(weights[:8], biases[:8], strict=True)):
        x = F.relu(F.conv2d(x, weight, bias, padding=1))
        if place in (0, 1, 3, 5, 7):
            x = F.max_pool2d(x, 2)
    hidden = F.relu(F.linear(x.flatten(1), weights[8], biases[8]))
    return F.linear(hidden, weights[9], biases[9])


def plain_resnet(parameters: list[Tensor], x: Tensor, stages: list[tuple[int, int]], kind: str, groups: int) -> Tensor:
    """A residual network by functions; parameters are taken from the front."""
    take = iter(parameters)

    def normed(x: Tensor, stride: int, padding: int) -> Tensor:
        convolved = F.conv2d(x, next(take), stride=stride, padding=padding)
        grouped = convolved.unflatten(1, (groups, -1))
        mean = grouped.mean((2, 3, 4), keepdim=True)
        variance = ((grouped - mean) ** 2).mean((2, 3, 4), keepdim=True)
        scaled = ((grouped - mean) / torch.sqrt(variance + 1e-5)).flatten(1, 2)
        return scaled * next(take).view(-1, 1, 1) + next(take).view(-1, 1, 1)

    x = F.relu(normed(x, 1, 1))
    for width, stride in stages:
        block = normed(F.relu(normed(x, stride, 1)), 1, 1)
        if stride == 1 and x.shape[1] == width:
            added = x
        elif kind == "pad":
            missing = width - x.shape[1]
            small = x[:, :, ::2, ::2]
            zeros = torch.zeros(len(x), missing // 2, *small.shape[2:], dtype=x.dtype)
            added = torch.cat([zeros, small, zeros], 1)
        else:
            added = normed(x, stride, 1 if kind == "conv3" else 0)
        x = F.relu(block + added)
    return F.linear(x.mean((2, 3)), next(take), next(take))


RESNET20 = [(16, 1)] * 3 + [(32, 2), (32, 1), (32, 1), (64, 2), (64, 1), (64, 1)]
RESNET18 = [(64, 1), (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1)]


PLAIN = {
    "fedcog_cnn": partial(plain_cnn, convolutions=2),
    "fedcog_cifar100_cnn": partial(plain_cnn, convolutions=3),
    "decaying_k_cnn": partial(plain_cnn, convolutions=2),
    "femnist_dnn": partial(plain_cnn, convolutions=0),
    "sent140_linear": partial(plain_cnn, convolutions=0),
    "vgg11(dense=(30,))": plain_vgg,
    "resnet20(side=8, groups=4)": partial(plain_resnet, stages=RESNET20, kind="conv3", groups=4),
    "resnet20(side=8, shortcut='conv1')": partial(plain_resnet, stages=RESNET20, kind="conv1", groups=2),
    "resnet20(side=8, shortcut='pad')": partial(plain_resnet, stages=RESNET20, kind="pad", groups=2),
    "resnet18(side=8, stem='cifar')": partial(plain_resnet, stages=RESNET18, kind="conv1", groups=2),
}


@each(PLAIN, lambda text: {"text": text})
def test_networks_and_gradients_of_small_ones_equal_plain_functions(text):
    net = network(text, precision="float64")
    small = net.dim < 2_000_000
    w, x = net.start(4).unsqueeze(0), samples(net, 16 if small and "resnet" not in text else 2)
    w = w + 0.01 * torch.randn(w.shape, dtype=w.dtype, generator=torch.Generator().manual_seed(1))  # norms not 1 and 0
    w.requires_grad_(small)
    expected, output = PLAIN[text](pieces(net, w), x[0]), net.output(w, x)[0]
    torch.testing.assert_close(output, expected, rtol=1e-10, atol=1e-10)
    if small:
        pull = torch.randn(expected.shape, dtype=expected.dtype, generator=torch.Generator().manual_seed(2))
        wanted, gradient = (torch.autograd.grad(made, w, pull)[0] for made in (expected, output))
        torch.testing.assert_close(gradient, wanted, rtol=1e-9, atol=1e-10)


def test_the_imagenet_stem_quarters_the_image_before_the_blocks():
    net = network("resnet18(side=33)")
    w, x = net.start(4).unsqueeze(0), samples(net, 2)
    net.bind(w[0])
    stem = net.work.module.features[:4](x[0])
    assert stem.shape == (2, 64, math.ceil(math.ceil(33 / 2) / 2), 9)
    with torch.no_grad():
        weight = w[0, : 64 * 3 * 49].view(64, 3, 7, 7)
        assert weight.std().item() == pytest.approx(math.sqrt(2 / (64 * 49)), rel=0.02)


def test_generator_makes_images_and_counts_as_derived_from_the_released_sizes():
    module = Generator()()
    dense, convolutions = 256 * 8192 + 8192, 9 * (128 * 128 + 128 * 64 + 64 * 3) + 3
    norms = 2 * (128 + 128 + 64)
    assert sum(p.numel() for p in module.parameters()) == dense + convolutions + norms
    images = Generator(channels=1, side=28)()(torch.randn(3, 256))
    assert images.shape == (3, 1, 28, 28)
    assert 0 < images.min() < images.max() < 1
    with pytest.raises(EmpiricsError, match="multiple of 4"):
        Generator(side=30)


# ---- written as calls ----


def test_networks_pickle_without_their_work_module():
    net = network("femnist_dnn")
    w, x = net.start(6).unsqueeze(0), samples(net, 3)
    output = net.output(w.clone().requires_grad_(), x)
    packed = pickle.dumps(net)
    assert len(packed) < 2_000
    assert torch.equal(pickle.loads(packed).output(w, x), output)


WRONG = {
    "resnet_20": "resnet20",
    "resnet20(shortcut='conv2')": "shortcut .*'conv2'",
    "resnet20(classes=0)": "classes .*0",
    "resnet20(classes='ten')": "classes .*ten",
    "resnet20(width=3)": "width",
    "resnet20(loss='next_token')": "loss ",
    "resnet20(precision='half')": "precision ",
    "resnet18(stem='none')": "stem ",
    "resnet18(norm='layer')": "norm ",
    "resnet20(norm='batch_local', groups=4)": "group norm",
    "vgg11(side=16)": "side .*32.*16",
    "opt(heads=5)": "heads .*width",
    "opt(head_layers=13)": "head_layers .*12",
    "opt(length=3000)": "length .*positions",
    "opt(": "call",
    "fedcog_cnn(side=8)": "side_after_pooling",
    "resnet20(groups=3)": "groups ",
    "resnet20(extractor=21)": "extractor .*20",
}


@each(WRONG, lambda text: {"text": text})
def test_wrong_options_get_one_clear_line(text):
    """When they are read, or sizes that cannot be built when the network is built."""
    with pytest.raises((EmpiricsError, BoundsError), match=WRONG[text]) as caught:
        _ = network(text).layers
    assert "\n" not in str(caught.value)
