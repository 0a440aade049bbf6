"""``fedbounds plot``: the numbers of a picture, where it does not apply, and the same file for the same numbers."""

import matplotlib
import numpy as np
import pytest

from bounds import Bound, BOUNDS, ClientMean, Condition, quantity, Source
from bounds.domains import REAL
from bounds.errors import BoundsError, UnknownNameError
from bounds.showing.reading import read
from bounds.units import LOSS
from bounds.vocabulary import client_weight, initial_gap, local_gap, local_steps, smoothness, step_size
from figures import curves
from figures.drawing import new_figure
from figures.style import STYLE

target = quantity("test_loss", "t", "what is bounded", LOSS)
SOURCE = Source("test", "here")
bowl = Bound(
    name="test.bowl",
    target=target,
    terms={"start": initial_gap / local_steps, "drift": initial_gap * local_steps**2 / 500},
    conditions=(
        Condition("at most 20 steps", local_steps <= 20),
        Condition("more than one step", local_steps > 1),
        Condition("a gap below 90", initial_gap < 90),
    ),
    source=SOURCE,
)
flat = Bound(name="test.flat", target=target, terms={"all": initial_gap / 3}, source=SOURCE, relation="<~")
level = quantity("level", "l", "a number of either sign", domain=REAL)
below = Bound(name="test.below", target=target, terms={"all": level**2}, source=SOURCE)
weighed = Bound(name="test.weighed", target=target, terms={"all": ClientMean(client_weight * local_gap)}, source=SOURCE)


def picture(*bounds, x="local_steps", words=("local_steps=1:30:30", "initial_gap=2.7")):
    return curves.bound_curves(bounds, x, read(words))


def test_a_curve_carries_value_terms_and_the_conditions_that_fail():
    (curve,) = picture(bowl).curves
    x = np.arange(1, 31)
    np.testing.assert_allclose(curve.terms["drift"], 2.7 * x**2 / 500)
    np.testing.assert_allclose(curve.formula, 2.7 / x + 2.7 * x**2 / 500)
    np.testing.assert_array_equal(curve.holds, (x > 1) & (x <= 20))
    assert set(curve.failed) == {"at most 20 steps", "more than one step"}
    np.testing.assert_array_equal(curve.failed["at most 20 steps"], x > 20)


def test_points_are_sorted_and_log_ranges_ask_for_a_log_axis():
    shown = picture(bowl, words=("local_steps=20:2:5:log", "initial_gap=2.7"))
    assert shown.log_x
    assert np.all(np.diff(shown.x) > 0)
    np.testing.assert_allclose(shown.curves[0].terms["start"], 2.7 / shown.x)
    assert not picture(bowl).log_x


def test_further_sweeps_give_a_curve_each():
    shown = picture(bowl, words=("initial_gap=2,95", "local_steps=2:12:11"))
    assert [c.label for c in shown.curves] == ["initial_gap = 2", "initial_gap = 95"]
    np.testing.assert_allclose(shown.curves[1].terms["start"], 95 / shown.x)
    assert shown.curves[0].holds.all()
    assert not shown.curves[1].holds.any()
    assert list(shown.curves[1].failed)[-1] == "a gap below 90"


def test_a_bound_of_every_client_has_a_curve_for_each_which_eval_has_too():
    bound = BOUNDS["fedcog.gradient_drift"]
    given = {"client_grad_norm_sq": [1.3, 2.9], "smoothness": 1.1, "local_steps": 5, "gradient_variance": 0.3}
    words = ("step_size=0.01:0.4:7", *(f"{name}={value}" for name, value in given.items()))
    shown = picture(bound, x="step_size", words=words)
    assert [curve.label for curve in shown.curves] == ["client 1", "client 2"]
    values = [bound.formula(step_size=step_size, **given) for step_size in np.linspace(0.01, 0.4, 7)]
    np.testing.assert_allclose(np.transpose([curve.formula for curve in shown.curves]), values)
    assert (shown.curves[1].holds[0], shown.curves[1].holds[-1]) == (True, False)


def test_bounds_share_what_they_use_and_are_level_along_what_they_do_not():
    first, second = picture(bowl, flat).curves
    assert (first.label, second.label.splitlines()[0]) == ("test.bowl", "test.flat")
    np.testing.assert_allclose(second.formula, np.full(30, 0.9))
    other = Bound(name="test.other", target=target, terms={"all": initial_gap * step_size * smoothness}, source=SOURCE)
    words = ("initial_gap=1:5:5", "local_steps=4", "step_size=.3", "smoothness=.7")
    shown = picture(bowl, other, x="initial_gap", words=words)
    np.testing.assert_allclose(shown.curves[1].formula, np.arange(1, 6) * 0.21)
    with pytest.raises(UnknownNameError, match=r"test\.bowl or test\.other 'rounds'"):
        picture(bowl, other, x="initial_gap", words=(*words, "rounds=3"))
    shown = picture(weighed, x="clients", words=("clients=2:10:9", "client_weight=uniform", "local_gap=3"))
    assert shown.quantity.name == "clients"
    np.testing.assert_allclose(shown.curves[0].formula, 3 / np.arange(2, 11))


def test_letters_stand_for_the_quantities_of_the_papers_of_all_bounds(tmp_path):
    for x, rest in (("K", "L=1.3 mu=0.2"), ("clients", "smoothness=1.3 strong_convexity=0.2")):
        words = f"{rest} client_weight=uniform local_gap=0.03 non_iidness=0.01".split()
        curves.plot("fedals.one_round", *words, x=f"{x}=2:9:4", output=tmp_path / x)
    assert (tmp_path / "K.csv").read_text() == (tmp_path / "clients.csv").read_text()
    with pytest.raises(BoundsError, match="'K'"):  # clients in one paper, local steps in the other
        curves.plot("fedals.one_round", "fedinit.theorem_1", x="K=2:9:4", output=tmp_path / "both.svg")


def test_what_cannot_be_a_picture_is_refused(tmp_path):
    for words, named in (
        (("local_steps=3", "initial_gap=2"), "local_steps"),
        (("local_steps=1:9:3", "initial_gap=1:9:9"), "9 curves"),
        (("local_steps=1:1e140:3:log", "initial_gap=2"), r"e\+277"),
        (("local_steps=[[1,2],[3,4]]", "initial_gap=2.7"), "local_steps"),
    ):
        with pytest.raises(BoundsError, match=named):
            picture(bowl, words=words)
    for path, named in ((tmp_path, tmp_path.name), (tmp_path / "a.csv", r"'\.csv'")):
        with pytest.raises(BoundsError, match=named):
            curves.write(picture(bowl), path)


def test_notes_tell_where_which_condition_fails():
    few, many = sorted(curves.notes(picture(bowl), outside=False))
    assert ("at 1;" in few, "more than one step" in few) == (True, True)
    assert all(words in many for words in ("from 21 to 30", "at most 20 steps"))
    outside = curves.notes(picture(bowl, flat), outside=True)[0]
    assert ("test.bowl" in outside, "OUTSIDE" in outside) == (True, True)


def drawn(shown, **options):
    """The axes of a drawn picture, and all words in and about it."""
    with matplotlib.rc_context(STYLE):
        ax = new_figure(1, 1)[1][0, 0]
        curves.draw(ax, shown, **options)
        return ax, {*(text.get_text() for text in ax.texts), *ax.get_legend_handles_labels()[1]}


def test_outside_the_conditions_nothing_is_drawn_unless_asked_for():
    ax, words = drawn(picture(bowl))
    assert {"does not apply"} <= set(words)
    solid = [line for line in ax.lines if line.get_linestyle() == "-" and len(line.get_xdata()) == 30]
    assert solid
    assert all(np.isnan(line.get_ydata()[20:]).all() for line in solid)
    ax, words = drawn(picture(bowl), outside=True)
    assert "OUTSIDE" in words
    silent = drawn(picture(bowl, words=("local_steps=40:60:5", "initial_gap=2")))[1]
    assert any("test.bowl" in text and "does not apply" in text for text in silent)
    dashed = [line for line in ax.lines if line.is_dashed() and len(line.get_xdata()) == 30]
    np.testing.assert_allclose(
        dashed[0].get_ydata()[20:], (2.7 / np.arange(21, 31)) + 2.7 * np.arange(21, 31) ** 2 / 500
    )


def test_the_same_numbers_give_the_same_file_and_its_caption_says_the_conditions(tmp_path):
    first, _, caption = curves.write(picture(bowl), tmp_path / "a.svg")
    assert first.read_bytes() == curves.write(picture(bowl), tmp_path / "b")[0].read_bytes()
    assert "at most 20 steps" in caption.read_text()
