"""The recurrent network of Decaying-K for Shakespeare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import nn, Tensor

from .parts import Architecture, Split


class Recurrence(nn.Module):
    """States of a GRU over embedded tokens: of all positions, or of the last one."""

    def __init__(self, tokens: int, embedding: int, width: int, depth: int, every: bool) -> None:
        super().__init__()
        self.embedding = nn.Embedding(tokens, embedding)
        self.gru = nn.GRU(embedding, width, depth, batch_first=True)
        self.every = every

    def forward(self, tokens: Tensor) -> Tensor:
        states: Tensor = self.gru(self.embedding(tokens.long()))[0]
        return states if self.every else states[:, -1]


@dataclass(frozen=True)
class ShakespeareGru(Architecture):
    """Decaying-K's network for Shakespeare (162,887 parameters): embedding 79 to 8, two GRU layers of 128, 79 classes.

    Inputs are character numbers ``(length,)``. With ``loss="cross_entropy"`` the character after the sequence is
    predicted, as in LEAF's task; with ``"next_token"`` that after every position.
    """

    classes: int = 79
    embedding: int = 8
    width: int = 128
    depth: int = 2
    length: int = 80

    losses: ClassVar[tuple[str, ...]] = ("cross_entropy", "next_token")

    @property
    def input_shape(self) -> tuple[int, ...]:
        return (self.length,)

    def __call__(self) -> nn.Module:
        every = self.loss == "next_token"
        features = Recurrence(self.classes, self.embedding, self.width, self.depth, every)
        return Split(features, nn.Linear(self.width, self.classes))

    def begins(self, name: str, ndim: int) -> bool:
        """The embedding, every GRU layer and the head."""
        return ndim >= 2 and "weight_hh" not in name
