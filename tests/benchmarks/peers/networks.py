"""The two models as any PyTorch user would write them, for the peers."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from training_work import BATCH, first_model, SAMPLES, STEP_SIZE


class Linear(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(64, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x)


class Cnn(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 6, 5), nn.Conv2d(6, 16, 5)
        self.dense1, self.dense2, self.dense3 = nn.Linear(256, 120), nn.Linear(120, 84), nn.Linear(84, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2).flatten(1)
        return self.dense3(F.relu(self.dense2(F.relu(self.dense1(x)))))


def module(task: str) -> nn.Module:
    """The module with the first model in it."""
    made = Linear() if task == "softmax" else Cnn()
    with torch.no_grad():
        for parameter, value in zip(made.parameters(), first_model(task), strict=True):
            parameter.copy_(torch.from_numpy(value))
    return made


def arrays(made: nn.Module) -> list:
    return [p.detach().numpy().copy() for p in made.parameters()]


def pairs(inputs, targets) -> list[TensorDataset]:
    """The clients' samples."""
    return [TensorDataset(torch.from_numpy(x), torch.from_numpy(y)) for x, y in zip(inputs, targets, strict=True)]


def train(local: nn.Module, loader: DataLoader, steps: int) -> torch.Tensor:
    """So many steps of plain SGD by an optimiser of its own; the last loss."""
    optimiser, criterion = torch.optim.SGD(local.parameters(), lr=STEP_SIZE), nn.CrossEntropyLoss()
    for _ in range(steps * BATCH // SAMPLES):
        for x, y in loader:
            optimiser.zero_grad()
            loss = criterion(local(x), y)
            loss.backward()
            optimiser.step()
    return loss
