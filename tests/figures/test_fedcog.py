"""FedCOG's figure of images: its pixels are those that are stored."""

from empirics.experiments import Outcome
from figures.catalogue import artefact
from figures.fedcog import figures
from figures.runs import Runs


def test_figure_5_draws_the_stored_pixels(store):
    (cell,) = artefact("fedcog.figure_5").cells("smoke")
    pixels = [[0.0, 2.0, 4.0, 1.0], [5.0, 5.0, 5.0, 5.0], [3.0, -1.0, 1.0, 0.0]]
    store.keep(cell, Outcome({"steps": [-1, 0, 100], "label": [0, 0, 0], "pixels": pixels}, {"shape": [4]}), 0.1)
    shown = figures.images(Runs(store), "smoke")
    assert figures.image(shown.rows[0]).tolist() == [[0, 128], [255, 64]]
    assert figures.image(shown.rows[1]).max() == 0  # all alike
    coloured = {"pixels": "00ff10", "channels": 3, "side": 1}
    assert figures.image(coloured).tolist() == [[[0, 255, 16]]]
