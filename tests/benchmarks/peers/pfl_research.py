"""pfl-research: simulated backend, federated averaging, PyTorch model; it cuts clients' data without shuffling."""

from training_work import BATCH, CHECK, check_loss, CLIENTS, Clock, cohort, data, options, SAMPLES, STEP_SIZE

chosen = options()

import importlib.metadata
import logging

import numpy as np
import torch
from networks import arrays, module
from pfl.aggregate.simulate import SimulatedBackend
from pfl.algorithm.base import NNAlgorithmParams
from pfl.algorithm.federated_averaging import FederatedAveraging
from pfl.callback.base import TrainingProcessCallback
from pfl.data.dataset import Dataset
from pfl.data.federated_dataset import FederatedDataset
from pfl.hyperparam import NNTrainHyperParams
from pfl.metrics import Metrics, Weighted
from pfl.model.pytorch import PyTorchModel

torch.set_num_threads(chosen.cores)
torch.manual_seed(0)
np.random.seed(0)  # noqa: NPY002 - what the simulator itself draws from
total, size = CLIENTS[chosen.setting]
inputs, targets = data(chosen.task, total)
users = [Dataset((torch.from_numpy(inputs[k]), torch.from_numpy(targets[k])), user_id=str(k)) for k in range(total)]


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net, self.criterion = module(chosen.task), torch.nn.CrossEntropyLoss()

    def forward(self, x):
        return self.net(x)

    def loss(self, x, y, eval=False):
        self.train(not eval)
        return self.criterion(self(x), y)

    @torch.no_grad()
    def metrics(self, x, y, eval=False):
        return {"loss": Weighted(self.criterion(self(x), y).item() * len(y), len(y))}


class Timed(TrainingProcessCallback):
    def on_train_begin(self, *, model):
        clock.start()
        return Metrics()

    def after_central_iteration(self, aggregate_metrics, model, *, central_iteration):
        clock.stop()
        if central_iteration == CHECK[chosen.task] - 1:
            losses.append(check_loss(chosen.task, arrays(net.net), inputs, targets))
        clock.start()
        enough = sum(clock.wall) > chosen.seconds and central_iteration >= CHECK[chosen.task] - 1
        return enough, Metrics()


net, clock, losses = Net(), Clock(), []
drawn = (int(k) for round_ in range(10**6) for k in cohort(chosen.setting, round_))
federation = FederatedDataset(lambda user: users[user], lambda: next(drawn))
model = PyTorchModel(net, torch.optim.SGD, torch.optim.SGD(net.parameters(), lr=1.0))
logging.disable(logging.CRITICAL)
FederatedAveraging().run(
    NNAlgorithmParams(
        central_num_iterations=10**6, evaluation_frequency=10**9, train_cohort_size=size, val_cohort_size=0
    ),
    SimulatedBackend(federation, federation),
    model,
    NNTrainHyperParams(
        local_batch_size=BATCH, local_num_epochs=chosen.steps * BATCH // SAMPLES, local_learning_rate=STEP_SIZE
    ),
    callbacks=[Timed()],
    send_metrics_to_platform=False,
)
versions = {"torch": torch.__version__, "pfl": importlib.metadata.version("pfl")}
clock.report(chosen, losses[0], versions)
