"""A decoder of the OPT family (Zhang et al. 2022), which FedALS fine-tunes on MultiNLI, and a byte-level vocabulary."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import nn, Tensor

from ...errors import EmpiricsError
from .parts import Architecture, DenseReLU, Split
from .weights import load

BYTE_TOKENS = 257  # the byte values, and one that ends a text
OFFSET = 2  # OPT keeps two unused rows before its positions


class Embedding(nn.Module):
    """Token plus learned position. Padding belongs behind the text: then causal attention needs no mask for it."""

    def __init__(self, tokens: int, positions: int, width: int) -> None:
        super().__init__()
        self.tokens = nn.Embedding(tokens, width)
        self.positions = nn.Embedding(positions + OFFSET, width)

    def forward(self, tokens: Tensor) -> Tensor:
        places = torch.arange(OFFSET, tokens.shape[-1] + OFFSET, device=tokens.device)
        return self.tokens(tokens.long()) + self.positions(places)


class Attention(nn.Module):
    """Causal self-attention with several heads: a position sees itself and earlier ones."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x: Tensor) -> Tensor:
        query, key, value = (
            part(x).unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in (self.query, self.key, self.value)
        )
        mixed = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.out(mixed.transpose(1, 2).flatten(-2))


class Layer(nn.Module):
    """Attention, then two dense layers with ReLU; each after a layer norm and added to its input."""

    def __init__(self, width: int, heads: int, hidden: int) -> None:
        super().__init__()
        self.attention, self.attention_norm = Attention(width, heads), nn.LayerNorm(width)
        self.widen, self.narrow, self.dense_norm = (
            DenseReLU(width, hidden),
            nn.Linear(hidden, width),
            nn.LayerNorm(width),
        )

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.attention_norm(x))
        return x + self.narrow(self.widen(self.dense_norm(x)))


class Logits(nn.Module):
    """The last norm, and products with every token's embedding, which are those of the input."""

    def __init__(self, embedding: nn.Embedding) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(embedding.embedding_dim)
        self.weight = embedding.weight

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(self.norm(x), self.weight)


@dataclass(frozen=True)
class Opt(Architecture):
    """An OPT decoder; the defaults are OPT-125M but for the vocabulary (125,239,296 parameters with ``classes=50272``).

    The default vocabulary is that of bytes and the start is random: normal with deviation 0.02, biases zero.
    ``weights`` names a local file of the released parameters (``.bin``, ``.pt`` or ``.safetensors``), which fix all
    sizes; tokens are then the caller's business. Inputs are token numbers ``(length,)``, outputs logits of the next
    token at every position. There is no dropout. The head is the last ``head_layers`` layers with what follows them
    (FedALS: 2); the output weights are the tokens' embedding, so they belong to the features.
    """

    classes: int = BYTE_TOKENS
    width: int = 768
    depth: int = 12
    heads: int = 12
    hidden: int = 3072
    positions: int = 2048
    head_layers: int = 2
    length: int = 128
    weights: str | None = None
    loss: str = field(default="next_token", kw_only=True)

    losses: ClassVar[tuple[str, ...]] = ("next_token",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.width % self.heads:
            raise EmpiricsError(f"heads must divide width; got {self.heads} for {self.width}")
        if self.head_layers > self.depth:
            raise EmpiricsError(f"head_layers must be <= depth = {self.depth}; got {self.head_layers}")
        if self.length > self.positions:
            raise EmpiricsError(f"length must be <= positions = {self.positions}; got {self.length}")

    @property
    def input_shape(self) -> tuple[int, ...]:
        return (self.length,)

    def __call__(self) -> nn.Module:
        embedding = Embedding(self.classes, self.positions, self.width)
        layers = [Layer(self.width, self.heads, self.hidden) for _ in range(self.depth)]
        border = self.depth - self.head_layers
        features = nn.Sequential(embedding, *layers[:border])
        module = Split(features, nn.Sequential(*layers[border:], Logits(embedding.tokens)))
        if self.weights is None:
            _start(module)
        else:
            load(module, self.weights, released_names(self.depth, border))
        return module

    def begins(self, name: str, ndim: int) -> bool:
        """Attention layers, as FedALS counts them: the embedding goes with the first, the last norm with the last."""
        first = name.startswith("features.0.tokens")
        return first or (name.endswith("query.weight") and not name.startswith("features.1."))


def _start(module: nn.Module) -> None:
    for part in module.modules():
        if isinstance(part, (nn.Linear, nn.Embedding)):
            nn.init.normal_(part.weight, std=0.02)
        if isinstance(part, nn.Linear):
            nn.init.zeros_(part.bias)


def released_names(depth: int, border: int) -> dict[str, str]:
    """Name in the released checkpoints, without their leading ``model.`` and ``decoder.``, by name in our module."""
    names = {"features.0.tokens.weight": "embed_tokens.weight", "features.0.positions.weight": "embed_positions.weight"}
    attention = {f"attention.{ours}": f"self_attn.{theirs}_proj" for ours, theirs in _PROJECTIONS.items()}
    parts = attention | {
        "attention_norm": "self_attn_layer_norm",
        "widen": "fc1",
        "narrow": "fc2",
        "dense_norm": "final_layer_norm",
    }
    for layer in range(depth):
        place = f"features.{layer + 1}" if layer < border else f"head.{layer - border}"
        for ours, theirs in parts.items():
            for kind in ("weight", "bias"):
                names[f"{place}.{ours}.{kind}"] = f"layers.{layer}.{theirs}.{kind}"
    for kind in ("weight", "bias"):
        names[f"head.{depth - border}.norm.{kind}"] = f"final_layer_norm.{kind}"
    return names


_PROJECTIONS = {"query": "q", "key": "k", "value": "v", "out": "out"}
