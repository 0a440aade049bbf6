"""What a round touches: the rows of its own clients alone, however many others there are."""

import pytest
import torch
from network_toys import FEDERATION, models, NET, SEED

from empirics.algorithms import algorithm
from empirics.algorithms.state import Exchange, own_rows, State
from empirics.training.rounds import draw_cohort, rounds
from empirics.training.setting import Setting

METHODS = [
    "fedals(alpha=2)",
    "fedals(alpha=2, reading='printed')",
    "layerwise(scaffold(), alpha=2)",
    "fedrep(head_steps=2)",
    "ditto(weight=0.4)",
    "finetuned(scaffold())",
    "fedinit(beta=0.1)",
    "scaffold()",
    "feddyn(alpha=0.3)",
    "moon(mu=0.8)",
]
FEW = Setting(rounds=4, cohort=1, batch=4, step_size=0.3, local_steps=3)


def idle():
    """Clients that are drawn in no round."""
    drawn = {int(k) for r in range(FEW.rounds) for k in draw_cohort(FEW, FEDERATION, SEED, r)[0]}
    return sorted(set(range(FEDERATION.clients)) - drawn)


@pytest.mark.parametrize("text", METHODS)
def test_rows_of_others_are_neither_read_nor_written_nor_moved(text):
    """NaN in the rows of clients that are never drawn changes no model, stops no run and stays where it is."""
    alone = idle()
    assert len(alone) >= 1
    built, states = algorithm(text), []
    for state in rounds(NET, FEDERATION, built, FEW, SEED):
        if not states:
            places = {name: kept.data_ptr() for name, kept in state.memory.items()}
            for kept in state.memory.values():
                kept[alone] = torch.nan
        states.append(state)
    assert places  # every method of the list remembers something
    assert torch.equal(torch.stack([s.model for s in states[1:]]), models(text, FEW))
    for name, kept in states[-1].memory.items():
        assert kept.data_ptr() == places[name]
        assert kept[alone].isnan().all(), name
        assert kept[[k for k in range(5) if k not in alone]].isfinite().all(), name


def test_a_row_takes_what_was_sent_after_it_was_written():
    """Columns were sent after rounds 4, 2 and 0; rows were written after rounds 1, 2 and 5."""
    exchange = Exchange(sent=torch.tensor([4.0, 2.0, 0.0]), written=torch.tensor([[1.0], [2.0], [5.0]]))
    rows, received = torch.arange(9.0).view(3, 3), torch.tensor([10.0, 20.0, 30.0])
    state = State(5, torch.zeros(3), {"local": rows}, {"received": received}, exchanges={"local": exchange})
    assert own_rows(state, "local").tolist() == [[10, 20, 2], [10, 20, 5], [6, 7, 8]]
    assert own_rows(state, "local", torch.tensor([2, 0])).tolist() == [[6, 7, 8], [10, 20, 2]]
