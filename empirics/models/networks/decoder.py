"""A decoder of the OPT family (Zhang et al. 2022), which FedALS fine-tunes on MultiNLI, with a vocabulary of bytes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import nn, Tensor

from ...numbers import must
from .blocks import Architecture, DenseReLU, Split

BYTE_TOKENS = 257  # the byte values, and a token that ends a text
OFFSET = 2  # OPT has two unused rows before its positions


class Embedding(nn.Module):
    """Token plus learned position. Padding must follow the text, so that causal attention needs no mask for it."""

    def __init__(self, tokens: int, positions: int, width: int) -> None:
        super().__init__()
        self.tokens = nn.Embedding(tokens, width)
        self.positions = nn.Embedding(positions + OFFSET, width)

    def forward(self, tokens: Tensor) -> Tensor:
        places = torch.arange(OFFSET, tokens.shape[-1] + OFFSET, device=tokens.device)
        return self.tokens(tokens.long()) + self.positions(places)


class Attention(nn.Module):
    """Causal self-attention with several heads: a position attends to itself and earlier ones."""

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
    """Attention and two dense layers with ReLU between; both blocks are residual and preceded by a layer norm."""

    def __init__(self, width: int, heads: int, hidden: int) -> None:
        super().__init__()
        self.attention, self.attention_norm = Attention(width, heads), nn.LayerNorm(width)
        self.widen, self.narrow = DenseReLU(width, hidden), nn.Linear(hidden, width)
        self.dense_norm = nn.LayerNorm(width)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.attention_norm(x))
        return x + self.narrow(self.widen(self.dense_norm(x)))


class Logits(nn.Module):
    """The last norm and products with the embeddings of all tokens, which are shared with the input."""

    def __init__(self, embedding: nn.Embedding) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(embedding.embedding_dim)
        self.weight = embedding.weight

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(self.norm(x), self.weight)


@dataclass(frozen=True)
class Opt(Architecture):
    """An OPT decoder; the defaults are OPT-125M but for the vocabulary (125,239,296 parameters with ``classes=50272``).

    The default vocabulary is that of bytes, and the initial weights are normal with deviation 0.02, biases zero. Inputs
    are token numbers ``(length,)``, outputs are logits of the next token at every position. There is no dropout. The
    head is the last ``head_layers`` layers with everything behind them (FedALS: 2); the output weights are the tokens'
    embedding, so they belong to the features.
    """

    classes: int = BYTE_TOKENS
    width: int = 768
    depth: int = 12
    heads: int = 12
    hidden: int = 3072
    positions: int = 2048
    head_layers: int = 2
    length: int = 128
    loss: str = field(default="next_token", kw_only=True)

    losses: ClassVar[tuple[str, ...]] = ("next_token",)
    sides = ("length",)

    def __post_init__(self) -> None:
        super().__post_init__()
        must(self.width % self.heads == 0, "heads", f"a divisor of width = {self.width}", self.heads)
        must(self.head_layers <= self.depth, "head_layers", f"<= depth = {self.depth}", self.head_layers)
        must(self.length <= self.positions, "length", f"<= positions = {self.positions}", self.length)

    def __call__(self) -> nn.Module:
        embedding = Embedding(self.classes, self.positions, self.width)
        layers = [Layer(self.width, self.heads, self.hidden) for _ in range(self.depth)]
        border = self.depth - self.head_layers
        features = nn.Sequential(embedding, *layers[:border])
        module = Split(features, nn.Sequential(*layers[border:], Logits(embedding.tokens)))
        for part in module.modules():
            if isinstance(part, (nn.Linear, nn.Embedding)):
                nn.init.normal_(part.weight, std=0.02)
            if isinstance(part, nn.Linear):
                nn.init.zeros_(part.bias)
        return module

    def begins(self, name: str, ndim: int) -> bool:
        """Whether the parameter begins an attention layer, as FedALS counts them; the first includes the embedding."""
        first = name.startswith("features.0.tokens")
        return first or (name.endswith("query.weight") and not name.startswith("features.1."))
