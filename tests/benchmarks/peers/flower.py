"""Flower's simulation with Ray: one actor per core, no evaluation; CPU seconds are those of all its processes."""

from training_work import CHECK, check_loss, CLIENTS, Clock, data, options

chosen = options()

import importlib.metadata
import logging
import os
import sys

total, size = CLIENTS[chosen.setting]
os.environ.update(
    RAY_DEDUP_LOGS="0", FLWR_TELEMETRY_ENABLED="0", RAY_USAGE_STATS_ENABLED="0", RAY_memory_monitor_refresh_ms="0",
    OMP_NUM_THREADS="1", WORK_TASK=chosen.task, WORK_TOTAL=str(total), WORK_STEPS=str(chosen.steps),
    PYTHONPATH=os.pathsep.join([sys.path[0], os.environ.get("PYTHONPATH", "")]),
)  # fmt: skip
import flower_client
from flwr.app import ArrayRecord, Context
from flwr.serverapp import Grid, ServerApp
from flwr.serverapp.strategy import FedAvg
from flwr.simulation import run_simulation
from networks import arrays, module

clock, server, rounds = Clock(), ServerApp(), CHECK[chosen.task]


class Timed(FedAvg):
    def configure_train(self, server_round, arrays, config, grid):
        clock.start()
        return super().configure_train(server_round, arrays, config, grid)

    def aggregate_train(self, server_round, replies):
        result = super().aggregate_train(server_round, replies)
        clock.stop()
        return result


@server.main()
def main(grid: Grid, context: Context) -> None:
    made = module(chosen.task)
    strategy = Timed(
        fraction_train=size / total, min_train_nodes=size, min_available_nodes=total,
        fraction_evaluate=0.0, min_evaluate_nodes=0,
    )  # fmt: skip
    result = strategy.start(grid=grid, initial_arrays=ArrayRecord(made.state_dict()), num_rounds=rounds)
    made.load_state_dict(result.arrays.to_torch_state_dict())
    versions = {name: importlib.metadata.version(name) for name in ("torch", "flwr", "ray")}
    clock.report(chosen, check_loss(chosen.task, arrays(made), *data(chosen.task, total)), versions, whole_tree=True)


logging.getLogger("flwr").setLevel(logging.ERROR)
resources = {"client_resources": {"num_cpus": 1, "num_gpus": 0.0}}
ray = {"num_cpus": chosen.cores, "log_to_driver": False, "include_dashboard": False}
run_simulation(server, flower_client.app, total, backend_config={**resources, "init_args": ray})
