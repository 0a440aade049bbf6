"""What every method for networks keeps: hooks that travel, the same numbers wherever clients train, plug-ins."""

import pickle
from dataclasses import replace

import pytest
import torch
from network_toys import FEDERATION, models, NET, SETTING

from empirics.algorithms import algorithm, ALGORITHMS
from empirics.training.engines import ClientLoop
from empirics.training.engines.graphs import Graphs
from empirics.training.rounds import rounds

COG = "samples=6, steps=3"
METHODS = [
    "moon(mu=0.5)",
    "feddecorr(beta=0.4)",
    "vhl(batch=3, epochs=1)",
    "fedreg(made_step_size=0.1, iterations=2)",
    "fedgen(batch=3, noise=2, hidden=5, generator_steps=3)",
    f"fedcog({COG}, after=1, distillation=0.5)",
    f"fedcog({COG}, after=0, distillation=None, batch=4, reading='code')",
    f"with_consensus_data(scaffold(), {COG}, distillation=0.5)",
    f"with_consensus_data(moon(mu=0.5), {COG}, distillation=0.5)",
    f"with_consensus_data(fedreg(iterations=2), {COG}, distillation=0.5)",
    "ditto(moon(), weight=0.2)",
    "relaxed(fedgen(batch=3, noise=2, hidden=5, generator_steps=3), beta=0.1)",
    "scheduled(vhl(batch=3), 'k_rounds')",
]
RAGGED = replace(SETTING, local_steps=None, local_epochs=1, momentum=0.5)
"""Two or three local steps, as many as the client's samples fill batches."""


def test_every_method_for_networks_is_here():
    ours = "empirics.algorithms."
    modules = {ours + name for name in ("contrast", "virtual", "fedreg", "fedgen", "consensus")}
    names = {name for name, make in ALGORITHMS.items() if make.__module__ in modules}
    assert names == {text.split("(")[0] for text in METHODS if not text.startswith(("ditto", "relaxed", "scheduled"))}


def test_workers_find_the_numbers_of_the_loop_and_hooks_pickle_after_use(two):
    for text in METHODS:
        built = algorithm(text)
        alone = list(rounds(NET, FEDERATION, built, RAGGED, 4, engine=ClientLoop()))[-1]
        again = pickle.loads(pickle.dumps(built))
        assert again == built
        shared = list(rounds(NET, FEDERATION, again, RAGGED, 4, engine=two))[-1]
        assert torch.equal(alone.model, shared.model), text
        for name, vector in alone.server.items():
            assert torch.equal(vector, shared.server[name]), (text, name)


@pytest.mark.parametrize("text", METHODS)
def test_a_clients_numbers_do_not_depend_on_who_else_trains(text):
    """Its end in a round of three and in a round of all, from the same state and history."""
    built, ends = algorithm(text), []
    for cohort in (3, 5):
        setting = replace(RAGGED, cohort=cohort, rounds=2)
        seen = {}
        for _ in rounds(NET, FEDERATION, built, setting, 4, watch=lambda work, e, _, s=seen: s.update(here(work, e))):
            pass
        ends.append(seen)
    both = [key for key in ends[0] if key[0] == 0 and key in ends[1]]
    assert len(both) == 3
    assert all(torch.equal(ends[0][key], ends[1][key]) for key in both)


def here(work, ends):
    return {(work.state.round, int(k)): end.clone() for k, end in zip(work.clients, ends, strict=True)}


@pytest.mark.parametrize("text", METHODS)
def test_recordings_are_right_or_refused(text):
    """On a CPU recordings are runs on the same buffers; what cannot be replayed runs as it is."""
    single = NET_32
    data = replace(FEDERATION, inputs=FEDERATION.inputs.float())
    setting = replace(SETTING, cohort=4, rounds=3)
    found = models(text, setting, single, data, engine=Graphs())
    expected = models(text, setting, single, data, engine=ClientLoop())
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)


NET_32 = replace(NET, dtype=torch.float32)
