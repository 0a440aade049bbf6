"""Networks of the papers: numbers of parameters, shapes, halves, layers, names, and values against plain functions."""

from __future__ import annotations

import math
from functools import partial
from itertools import pairwise

import pytest
import torch
import torch.nn.functional as F
from loops import cases
from network_toys import samples
from refusals import all_refused
from torch import nn, Tensor

from empirics.errors import EmpiricsError
from empirics.models.losses import CrossEntropy, IGNORED, MultiLabel, NextToken
from empirics.models.network import Network
from empirics.models.networks import Generator, network, NETWORKS, pooling
from empirics.models.networks.pooling import relu_pool

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
    assert {text.split("(")[0] for text in SMALL} == {text.split("(")[0] for text in COUNTS} == set(NETWORKS)


@cases("text batch", SMALL.items())
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


def pieces(net: object, w: Tensor) -> list[Tensor]:
    """The row cut up in the order of registration."""
    return [w[0, net.parameters[name]].view(shape) for name, shape in net.work.shapes.items()]


def plain_cnn(parameters: list[Tensor], x: Tensor, pooled: str, padding: int = 0) -> Tensor:
    """A letter of ``pooled`` for every convolution, p where pooling follows it, then dense layers."""
    layers = list(zip(parameters[0::2], parameters[1::2], strict=True))
    for (weight, bias), after in zip(layers, pooled, strict=False):
        x = F.relu(F.conv2d(x, weight, bias, padding=padding))
        x = F.max_pool2d(x, 2) if after == "p" else x
    x = x.flatten(1)
    for weight, bias in layers[len(pooled) : -1]:
        x = F.relu(F.linear(x, weight, bias))
    return F.linear(x, *layers[-1])


def plain_resnet(parameters: list[Tensor], x: Tensor, stages: list[tuple[int, int]], kind: str, groups: int) -> Tensor:
    """A residual network by functions; parameters are taken from the front."""
    take = iter(parameters)

    def normed(x: Tensor, stride: int, padding: int) -> Tensor:
        convolved = F.conv2d(x, next(take), stride=stride, padding=padding)
        return F.group_norm(convolved, groups, next(take), next(take))

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
    "fedcog_cnn": partial(plain_cnn, pooled="pp"),
    "fedcog_cifar100_cnn": partial(plain_cnn, pooled="ppp"),
    "decaying_k_cnn": partial(plain_cnn, pooled="pp"),
    "femnist_dnn": partial(plain_cnn, pooled=""),
    "sent140_linear": partial(plain_cnn, pooled=""),
    "vgg11(dense=(30,))": partial(plain_cnn, pooled="pp-p-p-p", padding=1),
    "resnet20(side=8, groups=4)": partial(plain_resnet, stages=RESNET20, kind="conv3", groups=4),
    "resnet20(side=8, shortcut='conv1')": partial(plain_resnet, stages=RESNET20, kind="conv1", groups=2),
    "resnet20(side=8, shortcut='pad')": partial(plain_resnet, stages=RESNET20, kind="pad", groups=2),
    "resnet18(side=8, stem='cifar')": partial(plain_resnet, stages=RESNET18, kind="conv1", groups=2),
}


@cases("text", PLAIN)
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


WRONG = {
    "resnet_20": "resnet20",
    "resnet20(shortcut='conv2')": "shortcut 'conv2'",
    "resnet20(classes=0)": "classes 0",
    "resnet20(width=3)": "width",
    "resnet20(loss='next_token')": "loss",
    "resnet20(norm='batch_local', groups=4)": "group norm",
    "opt(heads=5)": "heads width",
    "opt(length=3000)": "length positions",
    "fedcog_cnn(side=8)": "side pooling",
    "resnet20(extractor=21)": "extractor 20",
}


def test_wrong_options_are_refused_when_they_are_read_and_sizes_when_the_network_is_built():
    all_refused(WRONG, lambda text: network(text).layers)


def test_other_statistics_and_noise_outside_of_the_row_rows_inputs_and_halves_that_do_not_fit_are_refused():
    images, flat, whole = network("fedcog_cnn"), network("femnist_dnn"), Network("mine", lambda: nn.Linear(5, 3))
    w, x = flat.start(0).unsqueeze(0), torch.randn(1, 2, 1, 28, 28)
    assert torch.equal(flat.output(w, x), flat.output(w, x.flatten(2)))
    others = {
        nn.BatchNorm1d(7, track_running_stats=False): "batch norm",
        nn.BatchNorm1d(7, momentum=None): "batch norm",
        nn.Dropout(0.1): "dropout",
    }
    all_refused(others, lambda part: Network("mine", lambda: nn.Sequential(nn.Linear(5, 7), part)).start(0))
    for call, named in (
        (lambda: flat.output(torch.cat([w, w]), x), "split"),
        (lambda: images.output(images.start(0).unsqueeze(0), x), r"\(3, 32, 32\).*\(1, 28, 28\)"),
        (lambda: flat.output(w, torch.zeros(1, 2, 783)), "783"),
        (lambda: whole.features(whole.start(0).unsqueeze(0), torch.randn(1, 6, 5)), "mine .*features"),
    ):
        with pytest.raises((EmpiricsError, RuntimeError), match=named):
            call()


# ---- the fused pooling against torch's, in double precision ----


def plain(x: Tensor, bias: Tensor | None) -> Tensor:
    return F.max_pool2d(F.relu(x if bias is None else x + bias.view(-1, 1, 1)), 2)


@pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")  # torch.func.jvp uses it itself
def test_ties_send_the_gradient_to_one_of_the_largest_and_second_derivatives_agree_with_torch(monkeypatch):
    monkeypatch.setattr(pooling, "SMALLEST", 1)
    x = torch.tensor([[1.5, 1.5, 0.2, 0.3], [1.5, 0.7, 0.9, 0.9]], dtype=torch.float64).view(1, 1, 2, 4)
    x.requires_grad_()
    (gradient,) = torch.autograd.grad(relu_pool(x).sum(), x)
    for columns, largest in ((slice(0, 2), 1.5), (slice(2, 4), 0.9)):
        given, found = x.detach()[0, 0, :, columns], gradient[0, 0, :, columns]
        assert found.sum() == (found * (given == largest)).sum() == 1
    noise = torch.Generator().manual_seed(6)
    x, direction = (torch.randn(2, 3, 4, 6, generator=noise, dtype=torch.float64) for _ in range(2))
    x.requires_grad_()
    products = []
    for pool in (relu_pool, plain):

        def curved(x, pool=pool):
            return (pool(x, None) ** 3).sum()

        (gradient,) = torch.autograd.grad(curved(x), x, create_graph=True)
        products.append(torch.autograd.grad(gradient, x, direction)[0])
        products.append(torch.func.jvp(torch.func.grad(curved), (x.detach(),), (direction,))[1])
    for product in products[1:]:
        torch.testing.assert_close(product, products[0], rtol=1e-12, atol=1e-12)
    assert products[0].any()


TINY = "opt(classes=31, width=12, depth=3, heads=4, hidden=20, positions=16, length=9, precision='float64')"
GRU = "shakespeare_gru(classes=11, embedding=3, width=5, length=7, loss='next_token', precision='float64')"


def numbered(net, row: Tensor) -> dict[str, Tensor]:
    return {name: row[net.parameters[name]].view(shape) for name, shape in net.work.shapes.items()}


def generic(net, seed: int) -> Tensor:
    """A row away from the special values of a fresh start (zero biases, unit norms)."""
    generator = torch.Generator().manual_seed(seed)
    return net.start(seed) + 0.2 * torch.randn(net.dim, generator=generator, dtype=net.dtype)


def some_tokens(net, batch: int, length: int) -> Tensor:
    return torch.randint(0, net.build.classes, (1, batch, length), generator=torch.Generator().manual_seed(3))


def test_gru_is_torchs_between_embedding_and_head_and_the_last_state_predicts_the_next_character():
    every = network(GRU)
    last = network(GRU, loss="cross_entropy")
    row, tokens = generic(every, 2), some_tokens(every, 2, 7)
    p = numbered(every, row)
    gru = nn.GRU(3, 5, 2, batch_first=True, dtype=torch.float64)
    gru.load_state_dict({name: p[f"features.gru.{name}"] for name in gru.state_dict()})
    states, _ = gru(p["features.embedding.weight"][tokens[0]])
    logits = F.linear(states, p["head.weight"], p["head.bias"])
    for found, expected in (
        (every.features(row.unsqueeze(0), tokens), states),
        (every.output(row.unsqueeze(0), tokens), logits),
        (last.output(row.unsqueeze(0), tokens), logits[:, -1]),
    ):
        torch.testing.assert_close(found[0], expected, rtol=1e-10, atol=0)


def released_names(depth: int, border: int) -> dict[str, str]:
    """Return names in the released checkpoints, without the prefixes ``model.`` and ``decoder.``, by our names."""
    attention = {f"attention.{ours}": f"self_attn.{ours[0]}_proj" for ours in ("query", "key", "value")}
    parts = {**attention, "attention.out": "self_attn.out_proj", "attention_norm": "self_attn_layer_norm",
             "widen": "fc1", "narrow": "fc2", "dense_norm": "final_layer_norm"}  # fmt: skip
    pairs = {f"head.{depth - border}.norm": "final_layer_norm"}
    for layer in range(depth):
        place = f"features.{layer + 1}" if layer < border else f"head.{layer - border}"
        pairs |= {f"{place}.{ours}": f"layers.{layer}.{theirs}" for ours, theirs in parts.items()}
    names = {f"{ours}.{kind}": f"{theirs}.{kind}" for ours, theirs in pairs.items() for kind in ("weight", "bias")}
    return names | {f"features.0.{kind}.weight": f"embed_{kind}.weight" for kind in ("tokens", "positions")}


def plain_opt(p: dict[str, Tensor], tokens: Tensor, heads: int, depth: int) -> Tensor:
    """Logits of an OPT decoder by functions, under the names of its released checkpoints."""

    def dense(x: Tensor, name: str) -> Tensor:
        return F.linear(x, p[f"{name}.weight"], p[f"{name}.bias"])

    def normed(x: Tensor, name: str) -> Tensor:
        return F.layer_norm(x, x.shape[-1:], p[f"{name}.weight"], p[f"{name}.bias"])

    later = torch.ones(len(tokens), len(tokens)).triu(1).bool()
    x = p["embed_tokens.weight"][tokens] + p["embed_positions.weight"][2 : 2 + len(tokens)]
    for i in range(depth):
        layer = f"layers.{i}"
        y = normed(x, f"{layer}.self_attn_layer_norm")
        q, k, v = (dense(y, f"{layer}.self_attn.{part}_proj").unflatten(1, (heads, -1)) for part in "qkv")
        scores = torch.einsum("ihd,jhd->hij", q, k) / math.sqrt(q.shape[-1])
        mixed = torch.einsum("hij,jhd->ihd", scores.masked_fill(later, -math.inf).softmax(-1), v).flatten(1)
        x = x + dense(mixed, f"{layer}.self_attn.out_proj")
        x = x + dense(F.relu(dense(normed(x, f"{layer}.final_layer_norm"), f"{layer}.fc1")), f"{layer}.fc2")
    return normed(x, "final_layer_norm") @ p["embed_tokens.weight"].T


@pytest.mark.parametrize("head_layers", [1, 2, 3])
def test_decoder_equals_plain_functions(head_layers):
    net = network(TINY, head_layers=head_layers)
    row, tokens = generic(net, 4), some_tokens(net, 2, 9)
    ours = numbered(net, row)
    theirs = {theirs: ours[name] for name, theirs in released_names(3, 3 - head_layers).items()}
    expected = torch.stack([plain_opt(theirs, t, heads=4, depth=3) for t in tokens[0]])
    torch.testing.assert_close(net.output(row.unsqueeze(0), tokens)[0], expected, rtol=1e-9, atol=1e-11)


def test_losses_are_plain_means_and_count_what_is_right():
    logits = torch.tensor([[0.3, -1.2, 0.7], [1.1, 0.4, -0.6], [0.2, 0.9, 0.5]], dtype=torch.float64)
    surprise = -(logits.exp() / logits.exp().sum(1, keepdim=True)).log().numpy()
    output = logits.expand(3, 3, 3)
    targets = torch.tensor([[2, 1, IGNORED], [0, 0, 1], [IGNORED] * 3])
    first, second = surprise[0, 2] + surprise[1, 1], surprise[0, 0] + surprise[1, 0] + surprise[2, 1]
    assert NextToken().losses(output, targets).tolist() == pytest.approx([first / 2, second / 3, 0.0], rel=1e-12)
    assert NextToken().correct(output, targets).tolist() == pytest.approx([1 / 2, 2 / 3, 0])
    for kind in (torch.uint8, torch.int16, torch.int64):
        classes, expected = torch.tensor([2, 1, 2], dtype=kind), [surprise[0, 2], surprise[1, 1], surprise[2, 2]]
        assert CrossEntropy().losses(logits, classes).tolist() == pytest.approx(expected, rel=1e-12)
        assert CrossEntropy().correct(logits, classes).tolist() == [True, False, False]
    labels = torch.tensor([[1, 0, 0], [1, 1, 0], [0, 1, 1]])
    expected = torch.log1p(torch.exp((1 - 2 * labels) * logits)).mean(1).tolist()
    assert MultiLabel().losses(logits, labels).tolist() == pytest.approx(expected, rel=1e-12)
    assert MultiLabel().correct(logits, labels).tolist() == pytest.approx([2 / 3, 1, 2 / 3])
