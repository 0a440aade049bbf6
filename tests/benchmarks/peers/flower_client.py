"""Flower's side of the client: its own copy of the data per process, a DataLoader and an optimiser per message."""

import functools
import os

import torch
from flwr.app import ArrayRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from torch.utils.data import DataLoader

app = ClientApp()


@functools.cache
def samples():
    from networks import pairs
    from training_work import data

    return pairs(*data(os.environ["WORK_TASK"], int(os.environ["WORK_TOTAL"])))


@app.train()
def train(message: Message, context: Context) -> Message:
    import networks
    from training_work import BATCH, SAMPLES

    torch.set_num_threads(1)
    local = networks.module(os.environ["WORK_TASK"])
    local.load_state_dict(message.content["arrays"].to_torch_state_dict())
    loader = DataLoader(samples()[context.node_config["partition-id"]], batch_size=BATCH, shuffle=True)
    loss = networks.train(local, loader, int(os.environ["WORK_STEPS"]))
    metrics = MetricRecord({"train_loss": loss.item(), "num-examples": SAMPLES})
    content = RecordDict({"arrays": ArrayRecord(local.state_dict()), "metrics": metrics})
    return Message(content=content, reply_to=message)
