"""This project, driven through its own training loop."""

from training_work import BATCH, CLIENTS, data, drive, first_model, options, SHAPES, STEP_SIZE

chosen = options()

import numpy as np
import torch

from empirics.algorithms.algorithm import fedavg
from empirics.federation.federation import Federation
from empirics.models.compiled import compiled
from empirics.models.linear import Softmax, with_intercept
from empirics.models.networks import network
from empirics.training.engines import ClientLoop, Stacked
from empirics.training.rounds import train_round
from empirics.training.setting import Setting

torch.set_num_threads(chosen.cores)
total, size = CLIENTS[chosen.setting]
inputs, targets = data(chosen.task, total)
pool, labels = torch.from_numpy(inputs).flatten(0, 1), torch.from_numpy(targets).flatten()
first = first_model(chosen.task)
if chosen.task == "softmax":
    pool, model = with_intercept(pool), Softmax(65, 10, 0.0, torch.float32)
    start = torch.from_numpy(np.concatenate([first[0], first[1][:, None]], 1).ravel())
else:
    model = network("fedcog_cnn(channels=1, side=28)")
    start = torch.from_numpy(np.concatenate([a.ravel() for a in first]))
model = compiled(model) if chosen.engine == "compiled" else model
federation = Federation.of(pool, labels, np.split(np.arange(len(pool)), total))
setting = Setting(rounds=1, cohort=size, batch=BATCH, step_size=STEP_SIZE, local_steps=chosen.steps)
engine = Stacked() if model.stacked else ClientLoop(threads=chosen.cores)
state = fedavg.begin(start, total)


def one_round(round_):
    global state
    state = train_round(model, federation, fedavg, setting, 0, engine, state)


def parameters():
    flat = state.model.numpy()
    if chosen.task == "softmax":
        flat = flat.reshape(10, 65)
        return [flat[:, :64], flat[:, 64]]
    ends = np.cumsum([int(np.prod(shape)) for shape in SHAPES["cnn"]])
    return [part.reshape(shape) for part, shape in zip(np.split(flat, ends[:-1]), SHAPES["cnn"], strict=True)]


drive(chosen, one_round, parameters, inputs, targets, {"torch": torch.__version__})
