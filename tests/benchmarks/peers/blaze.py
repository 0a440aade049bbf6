"""BlazeFL: the FedAvg handler and trainers it brings; on two cores, its trainer with a pool of threads."""

from training_work import BATCH, CLIENTS, cohort, data, drive, options, SAMPLES, STEP_SIZE

chosen = options()

import importlib.metadata
import os

os.environ["TQDM_DISABLE"] = "1"
import blazefl.contrib.fedavg as contrib
import torch
from networks import arrays, module, pairs
from torch.utils.data import DataLoader

contrib.tqdm = lambda iterable, **_: iterable
torch.set_num_threads(1)
torch.manual_seed(0)
total, size = CLIENTS[chosen.setting]
inputs, targets = data(chosen.task, total)
samples = pairs(inputs, targets)
epochs = chosen.steps * BATCH // SAMPLES


class Data:
    def get_dataset(self, *_, **__):
        raise NotImplementedError

    def get_dataloader(self, type_, cid, batch_size, generator=None):
        return DataLoader(samples[cid], batch_size=batch_size, shuffle=True, generator=generator)


class Models:
    def select_model(self, name):
        return module(chosen.task)


server = contrib.FedAvgBaseServerHandler(Models(), "model", Data(), 10**9, total, size / total, "cpu", BATCH, 0)
if chosen.cores == 1:
    trainer = contrib.FedAvgBaseClientTrainer(Models(), "model", Data(), "cpu", total, epochs, BATCH, STEP_SIZE, 0)
else:
    trainer = contrib.FedAvgThreadPoolClientTrainer(
        model_selector=Models(), model_name="model", dataset=Data(), device="cpu", num_clients=total, epochs=epochs,
        batch_size=BATCH, lr=STEP_SIZE, seed=0, num_parallels=chosen.cores,
    )  # fmt: skip


def one_round(round_):
    trainer.local_process(server.downlink_package(), [int(k) for k in cohort(chosen.setting, round_)])
    for package in trainer.uplink_package():
        server.load(package)


versions = {"torch": torch.__version__, "blazefl": importlib.metadata.version("blazefl")}
drive(chosen, one_round, lambda: arrays(server.model), inputs, targets, versions)
