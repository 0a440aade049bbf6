"""The loop of most research code: a deep copy, a DataLoader and an optimiser per client, then an average of states."""

from training_work import BATCH, CLIENTS, cohort, data, drive, options

chosen = options()

import copy

import torch
from networks import arrays, module, pairs, train
from torch.utils.data import DataLoader

torch.set_num_threads(chosen.cores)
torch.manual_seed(0)
inputs, targets = data(chosen.task, CLIENTS[chosen.setting][0])
loaders = [DataLoader(pair, batch_size=BATCH, shuffle=True) for pair in pairs(inputs, targets)]
server = module(chosen.task)


def one_round(round_):
    states = []
    for client in cohort(chosen.setting, round_):
        local = copy.deepcopy(server)
        train(local, loaders[client], chosen.steps)
        states.append(local.state_dict())
    server.load_state_dict({name: sum(s[name] for s in states) / len(states) for name in states[0]})


drive(chosen, one_round, lambda: arrays(server), inputs, targets, {"torch": torch.__version__})
