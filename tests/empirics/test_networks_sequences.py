"""Networks over tokens: the Shakespeare GRU, the OPT decoder, their losses, bytes and released weights."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import torch
from torch import Tensor

from empirics.errors import EmpiricsError
from empirics.models.losses import CrossEntropy, IGNORED, MultiLabel, next_tokens, NextToken
from empirics.models.networks import network
from empirics.models.networks.decoder import BYTE_TOKENS, byte_tokens, END, released_names

TINY = "opt(classes=31, width=12, depth=3, heads=4, hidden=20, positions=16, length=9, precision='float64')"
GRU = "shakespeare_gru(classes=11, embedding=3, width=5, length=7, loss='next_token', precision='float64')"


def numbered(net, row: Tensor) -> dict[str, np.ndarray]:
    return {name: row[net.parameters[name]].view(shape).numpy() for name, shape in net.work.shapes.items()}


def generic(net, seed: int) -> Tensor:
    """A row away from the special values of a fresh start (zero biases, unit norms)."""
    generator = torch.Generator().manual_seed(seed)
    return net.start(seed) + 0.2 * torch.randn(net.dim, generator=generator, dtype=net.dtype)


def some_tokens(net, batch: int, length: int) -> Tensor:
    return torch.randint(0, net.build.classes, (1, batch, length), generator=torch.Generator().manual_seed(3))


# ---- causality ----


@pytest.mark.parametrize(("text", "length"), [(TINY, 9), (GRU, 7)])
def test_later_tokens_do_not_change_earlier_outputs(text, length):
    net = network(text)
    w, tokens = generic(net, 1).unsqueeze(0), some_tokens(net, 2, length)
    output = net.output(w, tokens)
    for position in range(1, length):
        changed = tokens.clone()
        changed[..., position] = (changed[..., position] + 1) % net.build.classes
        other = net.output(w, changed)
        torch.testing.assert_close(other[:, :, :position], output[:, :, :position], rtol=1e-12, atol=1e-12)
        assert (other[:, :, position] - output[:, :, position]).abs().max() > 1e-6


# ---- slow twins ----


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def slow_gru(p: dict[str, np.ndarray], tokens: np.ndarray) -> np.ndarray:
    """States of the upper of two GRU layers, a position and a gate at a time."""
    states = [p["features.embedding.weight"][t] for t in tokens]
    for layer in (0, 1):
        w, u = p[f"features.gru.weight_ih_l{layer}"], p[f"features.gru.weight_hh_l{layer}"]
        a, b = p[f"features.gru.bias_ih_l{layer}"], p[f"features.gru.bias_hh_l{layer}"]
        h, size, out = np.zeros(u.shape[1]), u.shape[1], []
        for x in states:
            inner, outer = np.split(w @ x + a, 3), np.split(u @ h + b, 3)
            reset, update = sigmoid(inner[0] + outer[0]), sigmoid(inner[1] + outer[1])
            new = np.tanh(inner[2] + reset * outer[2])
            h = (1 - update) * new + update * h
            out.append(h)
        states = out
        assert len(h) == size
    return np.array(states)


def test_gru_equals_gates_written_out_and_the_last_state_predicts_the_next_character():
    every = network(GRU)
    last = network(GRU, loss="cross_entropy")
    row, tokens = generic(every, 2), some_tokens(every, 2, 7)
    p = numbered(every, row)
    expected = np.stack([slow_gru(p, t.numpy()) for t in tokens[0]])
    np.testing.assert_allclose(every.features(row.unsqueeze(0), tokens)[0].detach(), expected, rtol=1e-11)
    logits = expected @ p["head.weight"].T + p["head.bias"]
    np.testing.assert_allclose(every.output(row.unsqueeze(0), tokens)[0].detach(), logits, rtol=1e-10)
    np.testing.assert_allclose(last.output(row.unsqueeze(0), tokens)[0].detach(), logits[:, -1], rtol=1e-10)


def normed(x: np.ndarray, p: dict[str, np.ndarray], name: str) -> np.ndarray:
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - mean) / np.sqrt(variance + 1e-5) * p[f"{name}.weight"] + p[f"{name}.bias"]


def dense(x: np.ndarray, p: dict[str, np.ndarray], name: str) -> np.ndarray:
    return x @ p[f"{name}.weight"].T + p[f"{name}.bias"]


def slow_opt(p: dict[str, np.ndarray], tokens: np.ndarray, heads: int, depth: int) -> np.ndarray:
    """Logits of an OPT decoder under the names of its released checkpoints, a head and a position at a time."""
    x = p["embed_tokens.weight"][tokens] + p["embed_positions.weight"][2 : 2 + len(tokens)]
    for i in range(depth):
        layer = f"layers.{i}"
        y = normed(x, p, f"{layer}.self_attn_layer_norm")
        q, k, v = (dense(y, p, f"{layer}.self_attn.{part}_proj") for part in "qkv")
        size = q.shape[1] // heads
        mixed = np.zeros_like(q)
        for head in range(heads):
            columns = slice(head * size, (head + 1) * size)
            for position in range(len(tokens)):
                scores = k[: position + 1, columns] @ q[position, columns] / math.sqrt(size)
                shares = np.exp(scores - scores.max())
                mixed[position, columns] = shares / shares.sum() @ v[: position + 1, columns]
        x = x + dense(mixed, p, f"{layer}.self_attn.out_proj")
        hidden = np.maximum(dense(normed(x, p, f"{layer}.final_layer_norm"), p, f"{layer}.fc1"), 0)
        x = x + dense(hidden, p, f"{layer}.fc2")
    return normed(x, p, "final_layer_norm") @ p["embed_tokens.weight"].T


@pytest.mark.parametrize("head_layers", [1, 2, 3])
def test_decoder_equals_loops_over_heads_and_positions(head_layers):
    net = network(TINY, head_layers=head_layers)
    row, tokens = generic(net, 4), some_tokens(net, 2, 9)
    ours = numbered(net, row)
    theirs = {theirs: ours[name] for name, theirs in released_names(3, 3 - head_layers).items()}
    expected = np.stack([slow_opt(theirs, t.numpy(), heads=4, depth=3) for t in tokens[0]])
    np.testing.assert_allclose(net.output(row.unsqueeze(0), tokens)[0].detach(), expected, rtol=1e-9, atol=1e-11)


def test_decoder_starts_at_random_with_the_deviation_of_opt():
    net = network("opt(width=48, depth=2, heads=4, hidden=64, positions=40, length=9)")
    row = net.start(1)
    weights = [row[c] for name, c in net.parameters.items() if name.endswith("weight") and "norm" not in name]
    assert torch.cat(weights).std().item() == pytest.approx(0.02, rel=0.02)
    biases = [row[c] for name, c in net.parameters.items() if name.endswith("bias")]
    assert not torch.cat(biases).any()


# ---- released weights ----


def checkpoint(net, row: Tensor, prefix: str = "model.decoder.") -> dict[str, Tensor]:
    ours = {name: row[net.parameters[name]].view(shape).clone() for name, shape in net.work.shapes.items()}
    stored = {prefix + theirs: ours[name] for name, theirs in released_names(3, 1).items()}
    return stored | {"lm_head.weight": stored[f"{prefix}embed_tokens.weight"]}


def safetensors(tensors: dict[str, Tensor]) -> bytes:
    header, blob = {"__metadata__": {"format": "pt"}}, b""
    for name, tensor in tensors.items():
        data = tensor.float().numpy().tobytes()
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [len(blob), len(blob) + len(data)]}
        blob += data
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + blob


@pytest.mark.parametrize(
    ("suffix", "prefix"), [(".bin", "model.decoder."), (".pt", "decoder."), (".safetensors", "model.decoder.")]
)
def test_released_weights_are_the_start(suffix, prefix, tmp_path):
    net = network(TINY)
    row, path = generic(net, 6), tmp_path / f"opt{suffix}"
    stored = checkpoint(net, row, prefix)
    if suffix == ".safetensors":
        path.write_bytes(safetensors(stored))
    else:
        torch.save(stored, path)
    loaded = network(TINY, weights=str(path))
    torch.testing.assert_close(loaded.start(3), row, rtol=0, atol=1e-7)
    assert torch.equal(loaded.start(3), loaded.start(4))


@pytest.mark.parametrize(
    ("spoil", "named"),
    [
        ("missing", "weights.bin"),
        ("cut", "weights.bin"),
        ("cut safetensors", "weights.safetensors"),
        ("a list", "weights.bin"),
        ("a weight is gone", "layers.0.fc1.weight"),
        ("another size", r"embed_tokens.weight .*\(31, 12\).*\(30, 12\)"),
    ],
)
def test_weights_that_do_not_fit_get_one_clear_line(spoil, named, tmp_path):
    net = network(TINY)
    stored = checkpoint(net, generic(net, 6))
    path = tmp_path / ("weights.safetensors" if "safetensors" in spoil else "weights.bin")
    if "safetensors" in spoil:
        path.write_bytes(safetensors(stored)[:-50])
    elif spoil != "missing":
        torch.save({"a list": [1, 2], "a weight is gone": without(stored, "fc1")}.get(spoil, stored), path)
    if spoil == "cut":
        path.write_bytes(path.read_bytes()[:-400])
    with pytest.raises(EmpiricsError, match=named) as caught:
        network(TINY, weights=str(path), **({"classes": 30} if spoil == "another size" else {})).start(0)
    assert "\n" not in str(caught.value)


def without(stored, word):
    return {name: tensor for name, tensor in stored.items() if word not in name}


# ---- tokens and losses ----


def test_bytes_are_cut_and_padded_and_targets_are_the_tokens_that_follow():
    tokens = byte_tokens(["to be", "ümlaut", ""], 6)
    assert tokens.dtype == torch.int16
    assert tokens[0].tolist() == [*b"to be", END]
    assert bytes(tokens[1].tolist()) == "ümlaut".encode()[:6]
    assert tokens[2].tolist() == [END] * 6
    assert tokens.max() < BYTE_TOKENS
    tokens = torch.tensor([[5, 6, 9, 9, 9], [5, 6, 7, 8, 4]])
    assert next_tokens(tokens).tolist() == [[6, 9, 9, 9, IGNORED], [6, 7, 8, 4, IGNORED]]
    assert next_tokens(tokens, padding=9).tolist() == [[6, 9, IGNORED, IGNORED, IGNORED], [6, 7, 8, 4, IGNORED]]


def surprise(logits: list[float], target: int) -> float:
    return math.log(sum(math.exp(x) for x in logits)) - logits[target]


def test_losses_are_plain_means_and_count_what_is_right():
    logits = [[0.3, -1.2, 0.7], [1.1, 0.4, -0.6], [0.2, 0.9, 0.5]]
    output = torch.tensor([logits, logits, logits], dtype=torch.float64)
    targets = torch.tensor([[2, 1, IGNORED], [0, 0, 1], [IGNORED] * 3])
    expected = [
        (surprise(logits[0], 2) + surprise(logits[1], 1)) / 2,
        (surprise(logits[0], 0) + surprise(logits[1], 0) + surprise(logits[2], 1)) / 3,
        0.0,
    ]
    assert NextToken().losses(output, targets).tolist() == pytest.approx(expected, rel=1e-12)
    assert NextToken().correct(output, targets).tolist() == pytest.approx([1 / 2, 2 / 3, 0])
    for kind in (torch.uint8, torch.int16, torch.int64):
        classes = torch.tensor([2, 1, 2], dtype=kind)
        expected = [surprise(logits[0], 2), surprise(logits[1], 1), surprise(logits[2], 2)]
        assert CrossEntropy().losses(output[0], classes).tolist() == pytest.approx(expected, rel=1e-12)
        assert CrossEntropy().correct(output[0], classes).tolist() == [True, False, False]
    labels = torch.tensor([[1, 0, 0], [1, 1, 0], [0, 1, 1]])
    expected = [
        sum(math.log1p(math.exp(-x if one else x)) for x, one in zip(row, some, strict=True)) / 3
        for row, some in zip(logits, labels.tolist(), strict=True)
    ]
    assert MultiLabel().losses(output[0], labels).tolist() == pytest.approx(expected, rel=1e-12)
    assert MultiLabel().correct(output[0], labels).tolist() == pytest.approx([2 / 3, 1, 2 / 3])
