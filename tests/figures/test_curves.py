"""``fedbounds plot``: the numbers of a picture, and that drawing them puts every label in its place."""

import sys
from dataclasses import replace
from itertools import pairwise

import matplotlib
import numpy as np
import pytest

from bounds import Bound, ClientMean, Condition, quantity, Source
from bounds.domains import REAL
from bounds.errors import BoundsError, UnknownNameError
from bounds.showing.values import read
from bounds.units import LOSS
from bounds.vocabulary import client_weight, initial_gap, local_gap, local_steps, smoothness, step_size
from fedbounds import main
from figures import curves
from figures.curve_data import runs, stretches
from figures.style import figure, Label, label_ends, spread, STYLE

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
    return curves.data(bounds, x, read(words))


def test_a_curve_carries_value_terms_and_the_conditions_that_fail():
    (curve,) = picture(bowl).curves
    x = np.arange(1, 31)
    np.testing.assert_allclose(curve.terms["drift"], 2.7 * x**2 / 500)
    np.testing.assert_allclose(curve.formula, 2.7 / x + 2.7 * x**2 / 500)
    np.testing.assert_array_equal(curve.holds, (x > 1) & (x <= 20))
    np.testing.assert_array_equal(np.isnan(curve.value), ~curve.holds)
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


def test_bounds_that_do_not_use_x_are_level():
    first, second = picture(bowl, flat).curves
    assert (first.label, second.label) == ("test.bowl", "test.flat\n(up to a constant)")
    np.testing.assert_allclose(second.formula, np.full(30, 0.9))
    assert len(picture(flat, bowl).curves) == 2


def test_values_that_only_some_bounds_use_are_left_to_these():
    other = Bound(name="test.other", target=target, terms={"all": initial_gap * step_size * smoothness}, source=SOURCE)
    words = ("initial_gap=1:5:5", "local_steps=4", "step_size=.3", "smoothness=.7")
    shown = picture(bowl, other, x="initial_gap", words=words)
    np.testing.assert_allclose(shown.curves[1].formula, np.arange(1, 6) * 0.21)
    with pytest.raises(UnknownNameError, match=r"test\.bowl or test\.other 'rounds'"):
        picture(bowl, other, x="initial_gap", words=(*words, "rounds=3"))


def test_the_number_of_clients_can_be_the_axis():
    words = ("clients=2:10:9", "client_weight=uniform", "local_gap=3")
    shown = picture(weighed, x="clients", words=words)
    assert shown.quantity.name == "clients"
    np.testing.assert_allclose(shown.curves[0].formula, 3 / np.arange(2, 11))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("local_steps=3", "initial_gap=2"), "two or more different points"),
        (("local_steps=2.7:3.4:5", "initial_gap=2"), "two or more different points"),
        (("local_steps=1:9:3", "initial_gap=1:9:9"), "9 curves are too many"),
        (("local_steps=1:1e140:3:log", "initial_gap=2"), "e\\+277 cannot be drawn on one axis"),
        (("local_steps=1:9:3",), "needs initial_gap"),
        (("local_steps=[[1,2],[3,4]]", "initial_gap=2.7"), "cannot be a list of lists"),
    ],
)
def test_what_cannot_be_a_picture_is_refused(words, said):
    with pytest.raises(BoundsError, match=said):
        picture(bowl, words=words)


def test_stretches_end_half_way_and_runs_at_the_points():
    x = np.array([1.0, 2.0, 4.0, 8.0])
    where = np.array([True, False, True, True])
    assert stretches(x, where) == [(1.0, 1.5), (3.0, 8.0)]
    assert runs(x, where) == [(1.0, 1.0), (4.0, 8.0)]
    assert stretches(x, ~where & where) == []


def test_notes_tell_where_which_condition_fails():
    said = curves.notes(picture(bowl), outside=False)
    assert sorted(said) == [
        "silent at 1; not met: more than one step",
        "silent at the points from 21 to 30; not met: at most 20 steps",
    ]
    assert curves.notes(picture(bowl, flat), outside=True)[0].startswith("test.bowl: OUTSIDE (dashed) ")


def test_the_table_holds_every_number_of_the_picture():
    head, *body = curves.rows(picture(bowl, words=("local_steps=19:22:4", "initial_gap=2.7")))
    assert head == ["bound", "curve", "part", "local_steps", "value", "holds", "failed"]
    assert len(body) == 3 * 4
    assert body[3][2:4] == ["total", 22.0]
    assert body[3][4] == pytest.approx(2.7 / 22 + 2.7 * 22**2 / 500)
    assert body[3][5:] == [False, "at most 20 steps"]


def drawn(shown, **options):
    """The axes of a drawn picture and the extents of the labels at its right, in pixels."""
    settings = {**STYLE, "savefig.bbox": None}
    with matplotlib.rc_context(settings):
        made, ax = figure(4.4)
        curves.draw(ax, shown, **options)
        made.canvas.draw()
        boxes = {t.get_text(): t.get_window_extent() for t in ax.texts if t.get_text()}
    return ax, boxes


@pytest.mark.parametrize("options", [{}, {"outside": True}])
def test_labels_at_the_right_end_do_not_touch(options):
    ax, boxes = drawn(picture(bowl), **options)
    edge = ax.get_window_extent().x1
    right = sorted((b for b in boxes.values() if b.x0 > edge), key=lambda b: b.y0)
    assert len(right) == 3
    assert all(low.y1 <= high.y0 for low, high in pairwise(right))


def test_many_curves_that_end_at_one_height_keep_their_labels_apart():
    _, boxes = drawn(picture(bowl, words=("initial_gap=2.70:2.77:8", "local_steps=2:12:11")))
    ordered = sorted(boxes.values(), key=lambda b: b.y0)
    assert len(ordered) == 8
    assert all(low.y1 <= high.y0 for low, high in pairwise(ordered))


def test_outside_the_conditions_nothing_is_drawn_unless_asked_for():
    ax, boxes = drawn(picture(bowl))
    assert {"silent"} <= set(boxes)
    solid = [line for line in ax.lines if line.get_linestyle() == "-" and len(line.get_xdata()) == 30]
    assert solid
    assert all(np.isnan(line.get_ydata()[20:]).all() for line in solid)
    ax, boxes = drawn(picture(bowl), outside=True)
    assert "OUTSIDE" in boxes
    dashed = [line for line in ax.lines if line.is_dashed() and len(line.get_xdata()) == 30]
    np.testing.assert_allclose(
        dashed[0].get_ydata()[20:], (2.7 / np.arange(21, 31)) + 2.7 * np.arange(21, 31) ** 2 / 500
    )


def test_a_bound_that_is_silent_everywhere_says_so():
    _, boxes = drawn(picture(bowl, words=("local_steps=40:60:5", "initial_gap=2")))
    assert "test.bowl\n(silent here)" in boxes


def test_a_terminal_shows_the_curves_as_bars_on_one_scale():
    first, second = curves.sparklines(picture(bowl, flat, words=("local_steps=1:24:24", "initial_gap=2.7")))
    x = np.arange(2, 21)
    values = 2.7 / x + 2.7 * x**2 / 500
    low, high = min(values.min(), 0.9), max(values.max(), 0.9)
    heights = "".join("▁▂▃▄▅▆▇█"[round(7 * (value - low) / (high - low))] for value in values)
    assert first.split("   ")[0] == f" {heights}"
    assert first.endswith("   1.372 at local_steps = 2 to 2.295 at 20")
    assert "   test.flat (up to a constant)   0.9 at local_steps = 1 to 0.9 at 24" in second
    assert len(set(second.split()[0])) == 1
    assert "silent here" in curves.sparklines(picture(bowl, words=("local_steps=40:60:5", "initial_gap=2")))[0]
    assert len(curves.sparklines(picture(bowl), outside=True)[0].split()[0]) == 30
    wide = curves.sparklines(picture(flat, x="initial_gap", words=("initial_gap=1e-3:10:8:log",)))
    assert wide[0].startswith("▁▂▃▄▅▆▇█   test.flat")
    assert wide[0].endswith("logarithmic")


def test_bars_are_for_terminals_alone(monkeypatch, tmp_path, capsys):
    from bounds.showing import terminal

    words = ["plot", "decaying_k.runtime_fixed", "x=local_steps=3:9:4", "iterations=70", "minibatch_time=0.3",
             "model_size=2.5", "upload_rate=0.7", "download_rate=1.9", "-o", "time.svg"]  # fmt: skip
    monkeypatch.chdir(tmp_path)  # a long path would be folded
    assert main(words) == 0
    piped = capsys.readouterr().out.splitlines()
    monkeypatch.setattr(terminal, "on_terminal", lambda stream: stream is sys.stdout)
    assert main(words) == 0
    shown = capsys.readouterr().out.splitlines()
    assert len(piped) == 2
    assert shown[:2] == piped
    assert shown[2].startswith("█")


def test_values_over_several_decades_get_a_log_axis():
    ax, _ = drawn(picture(bowl, words=("local_steps=2:20:10", "initial_gap=2")))
    assert ax.get_yscale() == "linear"
    ax, _ = drawn(picture(flat, x="initial_gap", words=("initial_gap=1e-3:10:9:log",)))
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")


@pytest.mark.parametrize("ends", ["1e-2:.7", "1:70", "3:1000", "0.1:0.3", "20:21", "1e4:1e6"])
def test_words_along_a_log_axis_do_not_touch(ends):
    ax, _ = drawn(picture(flat, x="initial_gap", words=(f"initial_gap={ends}:40:log",)))
    ticks = [*ax.xaxis.get_major_ticks(), *ax.xaxis.get_minor_ticks()]
    left, right = ax.get_window_extent().intervalx
    shown = [t.label1 for t in ticks if t.label1.get_text() and left - 1 <= t.label1.get_window_extent().x0 <= right]
    boxes = sorted((label.get_window_extent() for label in shown), key=lambda b: b.x0)
    assert len(boxes) > 1
    assert all(low.x1 < high.x0 for low, high in pairwise(boxes))


def test_a_log_range_of_negative_numbers_has_a_linear_axis():
    shown = picture(below, x="level", words=("level=-9:-1:5:log",))
    assert drawn(shown)[0].get_xscale() == "linear"


def test_dollar_signs_in_names_are_words(tmp_path):
    costly = replace(bowl, terms={r"$\frac{$": initial_gap / 3, "a $b_$": local_steps})
    path, _ = curves.write(picture(costly), tmp_path / "a.png")
    assert path.stat().st_size > 1000


def test_the_label_of_a_curve_that_is_not_drawn_stands_at_the_top_without_a_line():
    with matplotlib.rc_context(STYLE):
        _, ax = figure()
        ax.set_ylim(0, 1)
        label_ends(ax, [Label("nowhere", 1.0, np.nan, "k"), Label("low", 1.0, 0.2, "k")])
    assert {t.get_text(): t.get_position()[1] for t in ax.texts} == {"nowhere": 1.0, "low": pytest.approx(0.2)}


def test_a_folder_is_no_file_for_a_picture(tmp_path):
    with pytest.raises(BoundsError, match="is a folder; name a file, such as"):
        curves.write(picture(bowl), tmp_path)


def test_the_same_numbers_give_the_same_file(tmp_path):
    first, beside = curves.write(picture(bowl), tmp_path / "a.svg")
    second, _ = curves.write(picture(bowl), tmp_path / "b")
    assert second.name == "b.svg"
    assert first.read_bytes() == second.read_bytes()
    assert beside.read_text().startswith("bound,curve,part,local_steps,value,holds,failed")
    with pytest.raises(UnknownNameError, match="unknown picture format"):
        curves.write(picture(bowl), tmp_path / "a.csv")


def test_spread_moves_boxes_only_where_they_touch_and_no_further_than_needed():
    assert spread([0.1, 0.5, 0.9], [0.1, 0.1, 0.1]) == pytest.approx([0.1, 0.5, 0.9])
    assert spread([0.5, 0.5], [0.1, 0.1]) == pytest.approx([0.45, 0.55])
    assert spread([0.5, 0.52, 0.9], [0.1, 0.2, 0.1]) == pytest.approx([0.41, 0.56, 0.9])
    crowded = spread([0.3, 0.31, 0.32, 0.33], [0.1] * 4)
    assert np.diff(crowded) == pytest.approx([0.1] * 3)
    assert np.mean(crowded) == pytest.approx(0.315)


def test_a_label_far_from_its_curve_is_led_to_it():
    with matplotlib.rc_context(STYLE):
        _, ax = figure()
        ax.set_xlim(0, 1)
        ax.set_ylim(0, 1)
        label_ends(ax, [Label("low", 1.0, 0.2, "k"), Label("early", 0.4, 0.8, "k")])
    assert sorted(t.get_text() for t in ax.texts) == ["", "early", "low"]
