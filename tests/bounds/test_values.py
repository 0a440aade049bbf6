"""The value grammar of the command line, and the sweeps it spans."""

import json

import numpy as np
import pytest
import torch

from bounds import Bound, ClientMean, Condition, get, quantity, Source
from bounds.domains import COUNT
from bounds.errors import BoundsError, DomainError, UnknownNameError
from bounds.showing.values import grid, parse, read
from bounds.vocabulary import client_weight, clients, local_gap, local_steps, smoothness

reward = quantity("reward", "r", "what is bounded")
shared = Bound(
    name="test.shared",
    target=reward,
    terms={"all": smoothness * local_steps},
    source=Source("test", "here"),
    conditions=(Condition("few steps", local_steps <= 50),),
)
listed = Bound(
    name="test.listed",
    target=reward,
    terms={"all": smoothness * ClientMean(client_weight * local_gap)},
    source=Source("test", "there"),
)


@pytest.mark.parametrize(
    ("text", "kind", "numbers"),
    [
        ("0.7", "number", 0.7),
        ("1e-3", "number", 0.001),
        ("-2.5", "number", -2.5),
        ("+.5E+1", "number", 5),
        ("-7. / 2", "number", -3.5),
        ("-0", "number", 0),
        ("0e-999", "number", 0),
        ("3:3:1", "range", [3]),
        ("1/8", "number", 0.125),
        ("2:11:4", "range", [2, 5, 8, 11]),
        ("1/2:8:5:log", "range", [0.5, 1, 2, 4, 8]),
        ("9:3:3", "range", [9, 6, 3]),
        ("3,1/4,2e1", "list", [3, 0.25, 20]),
        ("[3, 1/4, 2e1]", "list", [3, 0.25, 20]),
        ("[[2,3],[5,7],[1/4,11]]", "table", [[2, 3], [5, 7], [0.25, 11]]),
    ],
)
def test_it_reads_numbers_ranges_and_lists(text, kind, numbers):
    value = parse("smoothness", text)
    assert value.kind == kind
    np.testing.assert_allclose(value.numbers, numbers, rtol=1e-14)


@pytest.mark.parametrize(
    "text",
    ["", "many", "1/0", "1:2", "1:2:3:lin", "1:2:0", "1:2:2.5", "0:2:3:log", "-1:2:3:log", "1:inf:4", "1:nan:4",
     "1:2:many", "[1,2", "[1,[2,3]]", "[]", "[[],[]]", "[[[1]]]", "1,,2", "1,two", "[1 2]",
     "1_000", "1e5_0", "\u0661\u0662", "\uff10.\uff15", "0x10", "1 000", "1//2", "1/2/3", "1/", "/2", "inf/inf",
     "1/inf",
     "0:1_0:3", "[1_0]", "2,1_0", "true", "1j", "1.2.3", "--1", "1e", "e5",
     "1e400", "-1e400", "1e-400", "1e300/1e-300", "1e-300/1e300", "1/1e-400", "-1e308:1e308:3", "2:2:3", "2:5:1",
     "9" * 5000, "[" * 3000 + "1" + "]" * 3000, "1:2:3:" * 1000],
)  # fmt: skip
def test_text_that_is_no_value_is_refused_with_the_quantitys_name(text):
    with pytest.raises(DomainError, match="smoothness") as caught:
        parse("smoothness", text)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


def test_a_range_of_more_points_than_fit_is_refused():
    with pytest.raises(DomainError, match="from 1 to 1000000;"):
        parse("smoothness", "1:2:1e12")
    words = ["smoothness=1:2:500", "local_steps=1:9000:9000"]
    with pytest.raises(BoundsError, match="4500000 points"):
        grid(shared, read(words))


def test_ranges_of_whole_numbers_are_rounded_and_repeats_dropped():
    span = grid(shared, read(["local_steps=1:100:9:log", "smoothness=1.7"]))
    assert span.axes == ({"local_steps": [1, 2, 3, 6, 10, 18, 32, 56, 100]},)
    few = grid(shared, read(["local_steps=2:4:9", "smoothness=1.7"]))
    assert few.axes == ({"local_steps": [2, 3, 4]},)


def test_listed_whole_numbers_are_not_rounded():
    span = grid(shared, read(["local_steps=2,2.5", "smoothness=1.7"]))
    with pytest.raises(DomainError, match=r"local_steps must be a whole number >= 1; got 2\.5"):
        shared(**span.values)


def test_sweeps_form_the_outer_product_in_the_order_given():
    span = grid(shared, read(["local_steps=2,3,7", "smoothness=0.5,1.7"]))
    assert [list(axis) for axis in span.axes] == [["local_steps"], ["smoothness"]]
    np.testing.assert_allclose(shared(**span.values), np.outer([2, 3, 7], [0.5, 1.7]))
    turned = grid(shared, read(["smoothness=0.5,1.7", "local_steps=2,3,7"]))
    np.testing.assert_allclose(shared(**turned.values), np.outer([0.5, 1.7], [2, 3, 7]))


def test_paired_sweeps_move_together():
    span = grid(shared, read(["local_steps=2,3,7", "smoothness=0.5:1.5:3"]), paired=True)
    assert span.axes == ({"local_steps": [2, 3, 7], "smoothness": [0.5, 1.0, 1.5]},)
    np.testing.assert_allclose(shared(**span.values), [1.0, 3.0, 10.5])
    with pytest.raises(BoundsError, match="local_steps: 3, smoothness: 2"):
        grid(shared, read(["local_steps=2,3,7", "smoothness=0.5,1.5"]), paired=True)


def test_a_list_runs_over_the_clients_and_a_list_of_lists_is_a_sweep():
    words = ["smoothness=2", "client_weight=[.5,.3,.2]"]
    one = grid(listed, read([*words, "local_gap=3,5,7"]))
    assert one.axes == ()
    assert listed(**one.values) == pytest.approx(2 * (0.25 * 3 + 0.09 * 5 + 0.04 * 7))
    two = grid(listed, read([*words, "local_gap=[[3,5,7],[2,4,9]]"]))
    assert two.axes == ({"local_gap": [[3, 5, 7], [2, 4, 9]]},)
    np.testing.assert_allclose(listed(**two.values), [2 * 1.48, 2 * (0.25 * 2 + 0.09 * 4 + 0.04 * 9)])


def test_a_number_and_a_range_are_shared_by_all_clients():
    words = ["client_weight=[.5,.3,.2]", "smoothness=2,3"]
    span = grid(listed, read([*words, "local_gap=0.1:0.4:4"]))
    assert span.shape == (2, 4)
    expected = np.outer([2, 3], np.linspace(0.1, 0.4, 4)) * (0.25 + 0.09 + 0.04)
    np.testing.assert_allclose(listed(**span.values), expected)


def test_paired_lists_of_lists_move_with_shared_sweeps():
    words = ["smoothness=2,3", "client_weight=[.6,.4]", "local_gap=[[3,5],[2,7]]"]
    span = grid(listed, read(words), paired=True)
    np.testing.assert_allclose(listed(**span.values), [2 * (0.36 * 3 + 0.16 * 5), 3 * (0.36 * 2 + 0.16 * 7)])


def test_uniform_weights_count_the_listed_clients():
    span = grid(listed, read(["smoothness=2", "client_weight=uniform", "local_gap=3,5,7,8"]))
    np.testing.assert_allclose(span.values["client_weight"], [0.25] * 4)
    assert listed(**span.values) == pytest.approx(2 * 23 / 16)


def test_uniform_weights_without_lists_let_the_number_of_clients_be_swept():
    span = grid(listed, read(["smoothness=2", "client_weight=uniform", "local_gap=3", "clients=2:32:5:log"]))
    assert span.axes == ({"clients": [2, 4, 8, 16, 32]},)
    np.testing.assert_allclose(span.bound(**span.values), [6 / k for k in (2, 4, 8, 16, 32)])


def test_uniform_is_for_weights_alone():
    with pytest.raises(DomainError, match="smoothness cannot be 'uniform'"):
        grid(shared, read(["smoothness=uniform", "local_steps=3"]))


def test_a_shared_quantity_takes_no_list_of_lists():
    with pytest.raises(DomainError, match="smoothness is one number for all"):
        grid(shared, read(["smoothness=[[1,2],[3,4]]", "local_steps=3"]))


def test_constants_come_from_a_file_and_the_command_line_goes_first(tmp_path):
    file = tmp_path / "constants.json"
    file.write_text(json.dumps({"smoothness": "1/2:3/2:3", "local_steps": 7, "unheard_of": [1, 2]}))
    span = grid(shared, read([f"@{file}", "local_steps=4"]))
    assert span.axes == ({"smoothness": [0.5, 1.0, 1.5]},)
    np.testing.assert_allclose(shared(**span.values), [2, 4, 6])
    assert grid(shared, read(["local_steps=4", f"@{file}"])).values["local_steps"] == 4


def test_one_value_comes_from_a_file(tmp_path):
    file = tmp_path / "gaps.json"
    file.write_text("[3, 5, 7]")
    span = grid(listed, read(["smoothness=2", "client_weight=.5,.3,.2", f"local_gap=@{file}"]))
    assert listed(**span.values) == pytest.approx(2.96)


@pytest.mark.parametrize(
    ("held", "said"),
    [("[1, 2]", "JSON object"), ("{", "is not JSON"), ("[" * 99999, "is not JSON"), ("", "is not JSON"),
     ('{"smoothness": 2, "smoothness": 3}', r"constants\.json: smoothness is given twice"),
     ('{"smoothness": true}', "smoothness must be a number"), ('{"smoothness": [2, [true]]}', "got true"),
     ('{"smoothness": "@constants.json"}', "smoothness: a file cannot name another file; got '@constants.json'"),
     ('{"smoothness": ' + "[" * 900 + "1" + "]" * 900 + "}", "smoothness must be a list or a list of lists"),
     ('{"smoothness": "1_0"}', "smoothness must be a number"),
     ('{"smoothness": null}', "smoothness must be a number"), ('{"smoothness": {"a": 1}}', "smoothness must be")],
)  # fmt: skip
def test_a_file_that_holds_no_constants_is_refused(tmp_path, held, said):
    file = tmp_path / "constants.json"
    file.write_text(held)
    with pytest.raises(BoundsError, match=said):
        read([f"@{file}"])


def test_a_file_may_open_with_a_byte_order_mark_and_hold_long_whole_numbers(tmp_path):
    file = tmp_path / "constants.json"
    file.write_text('{"smoothness": 2.7, "local_steps": 1' + "0" * 400 + "}", encoding="utf-8-sig")
    found = read([f"@{file}"])
    assert found["smoothness"].numbers == 2.7
    with pytest.raises(BoundsError, match="local_steps must be finite; got inf"):
        shared(**grid(shared, found).values)


def test_a_file_that_is_missing_is_named(tmp_path):
    with pytest.raises(BoundsError, match=r"absent\.json: No such file"):
        read([f"@{tmp_path / 'absent.json'}"])


@pytest.mark.parametrize(
    ("words", "said"),
    [(["smoothness"], "expected quantity=value"), (["=3"], "expected quantity=value"),
     (["smoothness=2", "smoothness=3"], "smoothness is given twice")],
)  # fmt: skip
def test_words_that_cannot_be_read_are_refused(words, said):
    with pytest.raises(BoundsError, match=said):
        read(words)


def test_unknown_and_free_quantities_are_refused_by_name():
    with pytest.raises(UnknownNameError, match="did you mean 'smoothness'"):
        grid(shared, read(["smothness=3"]))
    with pytest.raises(UnknownNameError, match="'local_step'"):
        grid(shared, read(["smoothness=3"]), free=["local_step"])
    with pytest.raises(BoundsError, match="local_steps is what is asked for"):
        grid(shared, read(["smoothness=3", "local_steps=4"]), free=["local_steps"])


def test_points_give_back_every_combination():
    words = ["smoothness=2,3", "client_weight=[.6,.4]", "local_gap=[[3,5],[2,7],[4,9]]"]
    span = grid(listed, read(words))
    points = list(span.points())
    assert [said for said, _ in points[:2]] == [(2.0, [3.0, 5.0]), (2.0, [2.0, 7.0])]
    whole = listed(**span.values)
    np.testing.assert_allclose([listed(**values) for _, values in points], whole.ravel())


def test_the_number_of_clients_is_known_to_bounds_over_clients_only():
    words = ["smoothness=2", "client_weight=[.6,.4]", "local_gap=3", "clients=2"]
    assert listed(**grid(listed, read(words)).values) == pytest.approx(2 * 3 * 0.52)
    with pytest.raises(UnknownNameError, match="clients"):
        grid(shared, read(["clients=2"]))
    assert clients.card.domain == COUNT


def test_two_files_that_differ_are_refused_unless_the_command_line_decides(tmp_path):
    first, second = tmp_path / "a.json", tmp_path / "b.json"
    first.write_text('{"smoothness": 2.5, "local_steps": 7}')
    second.write_text('{"smoothness": 2.6, "local_steps": 7}')
    with pytest.raises(BoundsError, match=r"a\.json and .*b\.json hold different values of smoothness; say which"):
        read([f"@{first}", f"@{second}"])
    for words in (["smoothness=3.5"], []):
        read([f"@{first}", f"@{first}", *words])
    found = read([f"@{first}", f"@{second}", "smoothness=3.5"])
    assert (found["smoothness"].numbers, found["local_steps"].numbers) == (3.5, 7)


@pytest.mark.parametrize(
    ("value", "interval", "said"),
    [(2.5, [2.6, 3.1], "_interval of smoothness does not contain its value, 2.5"),
     (2.5, [None, 2.4], "_interval of smoothness does not contain its value, 2.5"),
     ([2.5, 3.5], [2.4, 3.4], r"does not contain its value, \[2\.5, 3\.5\]"),
     ([2.5, 3.5], [[1, 1, 1], [4, 4, 4]], "_interval of smoothness holds lists of 3; its value has 2"),
     (2.5, [[1], [4]], "_interval of smoothness holds lists of 1; its value has 1"),
     (2.5, [[], []], "_interval of smoothness holds lists of 0; its value has 1"),
     (2.5, [-1, 3], r"_interval of smoothness must stay > 0; got \[-1, 3\]: mend it, or write null"),
     (2.5, [True, 3], "_interval of smoothness must hold numbers")],
)  # fmt: skip
def test_an_interval_that_cannot_be_is_refused(tmp_path, value, interval, said):
    file = tmp_path / "constants.json"
    file.write_text(json.dumps({"smoothness": value, "local_steps": 3, "_interval": {"smoothness": interval}}))
    with pytest.raises(BoundsError, match=said) as caught:
        grid(shared, read([f"@{file}"]))
    assert "\n" not in str(caught.value)


def test_an_interval_may_reach_the_end_that_a_domain_leaves_out_and_miss_the_value_by_rounding(tmp_path):
    file = tmp_path / "constants.json"
    low = 2.5 * (1 + 1e-14)
    file.write_text(json.dumps({"smoothness": 2.5, "local_steps": 3, "_interval": {"smoothness": [low, None]}}))
    assert grid(shared, read([f"@{file}"])).uncertain == {"smoothness": (low, float("inf"))}
    file.write_text('{"smoothness": 2.5, "local_steps": 3, "_interval": {"smoothness": [0, 3]}}')
    assert grid(shared, read([f"@{file}"])).uncertain == {"smoothness": (0, 3)}


def test_grids_that_nobody_could_wait_for_are_refused_before_they_are_made():
    with pytest.raises(BoundsError, match="500000 points of 3000 each are too many"):
        grid(listed, read(["smoothness=1:2:500000", "client_weight=uniform", "local_gap=" + "2," * 2999 + "2"]))
    many = [quantity(f"q{i}", "q", "one of many") for i in range(70)]
    wide = Bound(name="test.wide", target=reward, terms={"all": sum(many)}, source=Source("test", "wide"))
    with pytest.raises(BoundsError, match="70 sweeps at once are too many; at most 30"):
        grid(wide, read([f"q{i}=[3]" for i in range(70)]))
    together = grid(wide, read([f"q{i}=2,3" for i in range(70)]), paired=True)
    np.testing.assert_allclose(wide(**together.values), [140, 210])


def test_a_list_of_one_client_stands_for_no_others():
    with pytest.raises(DomainError, match="lists over the clients must have one length; got client_weight: 2, local_g"):
        grid(listed, read(["smoothness=2", "client_weight=[.6,.4]", "local_gap=[3]"]))


def test_one_interval_for_a_list_is_one_for_each_of_its_numbers(tmp_path):
    file = tmp_path / "constants.json"
    file.write_text('{"local_gap": [3, 5], "_interval": {"local_gap": [2, null]}}')
    span = grid(listed, read([f"@{file}", "smoothness=2", "client_weight=[.6,.4]"]))
    assert span.uncertain == {"local_gap": ([2, 2], [float("inf")] * 2)}


def test_weights_cannot_be_uncertain(tmp_path):
    file = tmp_path / "constants.json"
    file.write_text('{"client_weight": [0.6, 0.4], "_interval": {"client_weight": [[0.5, 0.3], [0.7, 0.5]]}}')
    with pytest.raises(DomainError, match="client_weight cannot be uncertain, as it sums to 1"):
        grid(listed, read([f"@{file}", "smoothness=2", "local_gap=3"]))


@pytest.mark.parametrize("weight", ["uniform", "[1]"])
def test_a_list_of_one_entry_does_not_stand_for_several_clients(weight):
    bound = get("decaying_k.theorem_1")
    words = ["client_gradient_variance=[0.1]", f"client_weight={weight}"]
    with pytest.raises(DomainError, match="client_gradient_variance has 1 entry where there are 8 clients; list one"):
        grid(bound, read([*words, "clients=8"]))


HELD, LOST = 2**53 + 2, 2**53 + 1


@pytest.mark.parametrize("given", [LOST, [3, LOST], np.int64(LOST), np.array([4, LOST]), 10**30 + 1])
def test_a_whole_number_that_a_float_would_change_is_refused(given):
    with pytest.raises(DomainError, match=r"local_steps must be a whole number that a float holds, such as \d+; got"):
        shared(smoothness=0.7, local_steps=given)
    assert shared.formula(smoothness=0.7, local_steps=HELD) == 0.7 * HELD
    with pytest.raises(DomainError, match="local_steps must be of a size that a floating-point number can have"):
        shared(smoothness=0.7, local_steps=10**400)


@pytest.mark.parametrize("text", ["{}", "3,{}", "1/{}", "3:{}:4"])
def test_so_it_is_where_it_is_written(tmp_path, text):
    assert parse("local_steps", text.format(HELD))
    with pytest.raises(DomainError, match=f"local_steps must be a whole number that a float holds, such as {2**53};"):
        parse("local_steps", text.format(LOST))
    path = tmp_path / "constants.json"
    path.write_text(json.dumps({"local_steps": LOST}))
    with pytest.raises(DomainError, match=f"such as {2**53}; got {LOST}"):
        read([f"@{path}"])


def test_a_tensor_of_a_graph_is_no_given_number():
    with pytest.raises(DomainError, match="smoothness must be a number that is given: Can't call numpy"):
        shared(smoothness=[torch.tensor(1.1, requires_grad=True)], local_steps=3)


@pytest.mark.parametrize("text", ["1e-400", "-1e-400", "[0.3, 1e-400]"])
def test_a_number_of_a_file_that_is_too_small_for_a_float_is_no_zero(tmp_path, text):
    path = tmp_path / "constants.json"
    path.write_text(f'{{"smoothness": {text}}}')
    with pytest.raises(DomainError, match="smoothness must be"):
        read([f"@{path}"])
    path.write_text('{"smoothness": 0e-400}')
    assert read([f"@{path}"])["smoothness"].numbers == 0
