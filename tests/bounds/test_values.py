"""The value grammar of the command line, and the sweeps it spans."""

import json

import numpy as np
import pytest
from refusals import all_refused

from bounds import Bound, ClientMean, Condition, get, quantity, Source
from bounds.errors import BoundsError, DomainError
from bounds.scenario import Scenario
from bounds.showing.reading import given_values, grid, parse, read, substitution_remarks
from bounds.verbs import evaluate
from bounds.vocabulary import client_weight, local_gap, local_steps, smoothness

reward = quantity("reward", "r", "what is bounded")


def own(name, formula, *conditions):
    return Bound(name, reward, {"all": formula}, Source("test", "here"), conditions)


shared = own("test.shared", smoothness * local_steps, Condition("few steps", local_steps <= 50))
listed = own("test.listed", smoothness * ClientMean(client_weight * local_gap))
many = [quantity(f"q{i}", "q", "one of many") for i in range(70)]
wide = own("test.wide", sum(many))
one_round = get("fedals.one_round")


def spanned(bound, words, **how):
    """The grid of words given as one line."""
    return grid(bound, given_values(words.split(), {}, [bound]), **how)


@pytest.mark.parametrize(
    ("text", "kind", "numbers"),
    [
        ("1e-3", "number", 0.001),
        ("-7. / 2", "number", -3.5),
        ("3:3:1", "range", [3]),
        ("2:11:4", "range", [2, 5, 8, 11]),
        ("1/2:8:5:log", "range", [0.5, 1, 2, 4, 8]),
        ("3,1/4,2e1", "list", [3, 0.25, 20]),
        ("[3, 1/4, 2e1]", "list", [3, 0.25, 20]),
        ("[[2,3],[5,7],[1/4,11]]", "table", [[2, 3], [5, 7], [0.25, 11]]),
    ],
)
def test_it_reads_numbers_ranges_and_lists(text, kind, numbers):
    value = parse("smoothness", text)
    assert value.kind == kind
    np.testing.assert_allclose(value.numbers, numbers, rtol=1e-14)


NO_VALUE = ["", "many", "1/0", "1:2", "1:2:3:lin", "1:2:0", "1:2:2.5", "0:2:3:log", "-1:2:3:log", "1:inf:4", "1:nan:4",
            "1:2:many", "[1,2", "[1,[2,3]]", "[]", "[[],[]]", "[[[1]]]", "1,,2", "1,two", "[1 2]", "1_000", "1e5_0",
            "\u0661\u0662", "\uff10.\uff15", "0x10", "1 000", "1//2", "1/2/3", "1/", "/2", "inf/inf", "1/inf",
            "0:1_0:3", "[1_0]", "2,1_0", "true", "1j", "1.2.3", "--1", "1e", "e5", "1e400", "-1e400", "1e-400",
            "1e300/1e-300", "1e-300/1e300", "1/1e-400", "-1e308:1e308:3", "2:2:3", "2:5:1", "1:2:1e12", "9" * 5000,
            "[" * 3000 + "1" + "]" * 3000, "1:2:3:" * 1000]  # fmt: skip


def test_text_that_is_no_value_is_refused_with_the_quantitys_name():
    all_refused([(text, "smoothness") for text in NO_VALUE], lambda text: parse("smoothness", text), kind=DomainError)


HELD, LOST = 2**53 + 2, 2**53 + 1


@pytest.mark.parametrize("text", ["{}", "3,{}", "1/{}", "3:{}:4"])
def test_a_whole_number_that_a_float_would_change_is_refused(text):
    assert parse("local_steps", text.format(HELD))
    with pytest.raises(DomainError, match=f"local_steps .*{2**53}"):
        parse("local_steps", text.format(LOST))


def test_so_it_is_in_a_call():
    cases = [(given, f"local_steps {2**53}") for given in (LOST, [3, LOST], np.int64(LOST), np.array([4, LOST]))]
    all_refused(cases, lambda given: shared(smoothness=0.7, local_steps=given), kind=DomainError)
    assert shared.formula(smoothness=0.7, local_steps=HELD) == 0.7 * HELD


def test_sweeps_form_the_outer_product_in_the_order_given():
    span = spanned(shared, "local_steps=2,3,7 smoothness=0.5,1.7")
    assert [list(axis) for axis in span.axes] == [["local_steps"], ["smoothness"]]
    np.testing.assert_allclose(shared(**span.values), np.outer([2, 3, 7], [0.5, 1.7]))
    turned = spanned(shared, "smoothness=0.5,1.7 local_steps=2,3,7")
    np.testing.assert_allclose(shared(**turned.values), np.outer([0.5, 1.7], [2, 3, 7]))
    whole = spanned(shared, "local_steps=1:100:9:log smoothness=1.7")  # rounded
    assert whole.axes == ({"local_steps": [1, 2, 3, 6, 10, 18, 32, 56, 100]},)
    assert spanned(shared, "local_steps=2:4:9 smoothness=1.7").axes == ({"local_steps": [2, 3, 4]},)


def test_paired_sweeps_move_together():
    span = spanned(shared, "local_steps=2,3,7 smoothness=0.5:1.5:3", paired=True)
    assert span.axes == ({"local_steps": [2, 3, 7], "smoothness": [0.5, 1.0, 1.5]},)
    np.testing.assert_allclose(shared(**span.values), [1.0, 3.0, 10.5])
    span = spanned(listed, "smoothness=2,3 client_weight=[.6,.4] local_gap=[[3,5],[2,7]]", paired=True)
    np.testing.assert_allclose(listed(**span.values), [2 * (0.36 * 3 + 0.16 * 5), 3 * (0.36 * 2 + 0.16 * 7)])
    together = spanned(wide, " ".join(f"q{i}=2,3" for i in range(70)), paired=True)
    np.testing.assert_allclose(wide(**together.values), [140, 210])


def test_a_list_runs_over_the_clients_and_a_list_of_lists_is_a_sweep():
    words = "smoothness=2 client_weight=[.5,.3,.2]"
    one = spanned(listed, f"{words} local_gap=3,5,7")
    assert one.axes == ()
    assert listed(**one.values) == pytest.approx(2 * (0.25 * 3 + 0.09 * 5 + 0.04 * 7))
    two = spanned(listed, f"{words} local_gap=[[3,5,7],[2,4,9]]")
    assert two.axes == ({"local_gap": [[3, 5, 7], [2, 4, 9]]},)
    np.testing.assert_allclose(listed(**two.values), [2 * 1.48, 2 * (0.25 * 2 + 0.09 * 4 + 0.04 * 9)])
    span = spanned(listed, "client_weight=[.5,.3,.2] smoothness=2,3 local_gap=0.1:0.4:4")  # the same for all clients
    assert span.shape == (2, 4)
    np.testing.assert_allclose(listed(**span.values), np.outer([2, 3], np.linspace(0.1, 0.4, 4)) * 0.38)


def test_uniform_weights_count_the_listed_clients_or_let_their_number_be_swept():
    span = spanned(listed, "smoothness=2 client_weight=uniform local_gap=3,5,7,8")
    np.testing.assert_allclose(span.values["client_weight"], [0.25] * 4)
    assert listed(**span.values) == pytest.approx(2 * 23 / 16)
    span = spanned(listed, "smoothness=2 client_weight=uniform local_gap=3 clients=2:32:5:log")
    assert span.axes == ({"clients": [2, 4, 8, 16, 32]},)
    np.testing.assert_allclose(span.bound(**span.values), [6 / k for k in (2, 4, 8, 16, 32)])
    span = spanned(listed, "smoothness=2 client_weight=[.6,.4] local_gap=3 clients=2")
    assert listed(**span.values) == pytest.approx(2 * 3 * 0.52)


def test_points_give_back_every_combination():
    span = spanned(listed, "smoothness=2,3 client_weight=[.6,.4] local_gap=[[3,5],[2,7],[4,9]]")
    points = list(span.points())
    assert [said for said, _ in points[:2]] == [(2.0, [3.0, 5.0]), (2.0, [2.0, 7.0])]
    np.testing.assert_allclose([listed(**values) for _, values in points], listed(**span.values).ravel())


TWO = "smoothness=2 client_weight=[.6,.4]"
ONE_OF_EIGHT = "local_gap=[0.1] client_weight=uniform clients=8 smoothness=2"


def test_a_grid_that_cannot_be_spanned_is_refused_by_name():
    all_refused(
        [
            (lambda: shared(**spanned(shared, "local_steps=2,2.5 smoothness=1.7").values), "local_steps 2.5"),
            (lambda: spanned(shared, "local_steps=2,3,7 smoothness=0.5,1.5", paired=True), "local_steps: 3"),
            (lambda: spanned(shared, "smoothness=uniform local_steps=3"), "smoothness"),
            (lambda: spanned(shared, "smoothness=[[1,2],[3,4]] local_steps=3"), "smoothness"),
            (lambda: listed(**spanned(listed, f"{TWO} local_gap=[3]").values), "client_weight: 2 local_gap"),
            (lambda: spanned(shared, "smoothness=1:2:500 local_steps=1:9000:9000"), "4500000"),
            (lambda: spanned(wide, " ".join(f"q{i}=[3]" for i in range(70))), "70 30"),
            (lambda: spanned(one_round, "L=3 smoothness=2"), "smoothness"),
            (lambda: Scenario.of(K=3, local_steps=2, papers=["fedinit"]), "local_steps"),
            (lambda: spanned(shared, "smoothness=3 local_steps=4", free=["local_steps"]), "local_steps"),
            (lambda: listed(**spanned(listed, ONE_OF_EIGHT).values), "clients 8 1"),
        ]
    )


@pytest.fixture
def file(tmp_path, monkeypatch):
    """Write a file beside which words are read."""
    monkeypatch.chdir(tmp_path)

    def write(held, name="c.json"):
        (tmp_path / name).write_text(held if isinstance(held, str) else json.dumps(held), encoding="utf-8-sig")

    return write


def test_constants_come_from_a_file_and_the_command_line_has_priority(file):
    file({"smoothness": "1/2:3/2:3", "local_steps": 7, "unheard_of": [1, 2]})
    span = spanned(shared, "@c.json local_steps=4")
    assert span.axes == ({"smoothness": [0.5, 1.0, 1.5]},)
    np.testing.assert_allclose(shared(**span.values), [2, 4, 6])
    assert spanned(shared, "local_steps=4 @c.json").values["local_steps"] == 4
    assert list(spanned(one_round, "mu=0.1,0.2 @c.json").values["smoothness"].ravel()) == [0.5, 1, 1.5]
    assert spanned(one_round, "L=1.7 mu=0.2 @c.json").values["smoothness"] == 1.7
    file({"smoothness": 1.1, "sample_smoothness": 5})
    for words, remarks in ((["@c.json"], 1), (["@c.json", "L=2"], 0)):
        assert len([*substitution_remarks([one_round], given_values(words, {}, [one_round]))]) == remarks
    by_letter, by_name = (evaluate(one_round, f"{word}=1.9", sample=True) for word in ("L", "smoothness"))
    assert str(by_letter) == str(by_name) != str(evaluate(one_round, sample=True))
    file("[3, 5, 7]", "gaps.json")
    span = spanned(listed, "smoothness=2 client_weight=.5,.3,.2 local_gap=@gaps.json")
    assert listed(**span.values) == pytest.approx(2.96)
    file({"smoothness": 2.5, "local_steps": 7}, "a.json")
    file({"smoothness": 2.6, "local_steps": 7}, "b.json")
    with pytest.raises(BoundsError, match=r"a\.json .*b\.json .*smoothness"):
        read(["@a.json", "@b.json"])
    found = read(["@a.json", "@b.json", "@a.json", "smoothness=3.5"])
    assert (found["smoothness"].numbers, found["local_steps"].numbers) == (3.5, 7)
    file('{"smoothness": 0e-400}')
    assert read(["@c.json"])["smoothness"].numbers == 0


UNREADABLE = [
    ("[1, 2]", "JSON"),
    ("{", "JSON"),
    ("[" * 99999, "JSON"),
    ('{"smoothness": 2, "smoothness": 3}', "c.json smoothness"),
    (f'{{"smoothness": 2, "local_steps": {LOST}}}', f"local_steps {2**53} {LOST}"),
    *(
        (f'{{"smoothness": {text}}}', "smoothness")
        for text in ("true", "1" + "0" * 400, '"@c.json"', "[" * 900 + "1" + "]" * 900, '{"a": 1}', "1e-400")
    ),
]
NOTES = [
    ({"smoothness": 1.3, "_interval": {"smothness": [1.1, 1.7]}}, "_interval 'smoothness'"),
    ({"smoothness": "1.3:1.6:3", "_interval": {"smoothness": [1.1, 1.7]}}, "smoothness"),
    ({"smoothness": 1.3, "_interval": [1, 2]}, "c.json _interval [low, high]"),
    ({"smoothness": 1.3, "_interval": {"smoothness": 3}}, "c.json smoothness [low, high] 3"),
    ({"smoothness": 1.3, "interval": {"smoothness": [1, 3]}}, "_interval"),
    ({"smoothness": 1.3, "Strong_convexity": 3.5}, "'Strong_convexity'"),
]
INTERVALS = [
    (2.5, [2.6, 3.1], "2.5"),
    ([2.5, 3.5], [2.4, 3.4], "[2.5, 3.5]"),
    ([2.5, 3.5], [[1, 1, 1], [4, 4, 4]], "3 2"),
    (2.5, [[], []], ""),
    (2.5, [-1, 3], "[-1, 3]"),
    (2.5, ["1", 3], ""),
    (2.5, [3, 2], ""),
]


def test_a_file_that_holds_no_constants_or_no_intervals_is_refused(file):
    def reading(held):
        file(held)
        return spanned(shared, "@c.json local_steps=3")

    all_refused(UNREADABLE, reading)
    noted = [({"smoothness": v, "_interval": {"smoothness": i}}, f"_interval smoothness {n}") for v, i, n in INTERVALS]
    all_refused(noted + NOTES, reading)
    with pytest.raises(BoundsError, match=r"absent\.json"):
        read(["@absent.json"])


def test_intervals_reach_open_ends_and_one_for_a_list_is_one_for_each_of_its_numbers(file):
    for interval, wanted in (([2.5 * (1 + 1e-14), None], (2.5 * (1 + 1e-14), np.inf)), ([0, 3], (0, 3))):
        file({"smoothness": 2.5, "_interval": {"smoothness": interval}})
        assert spanned(shared, "@c.json local_steps=3").uncertain == {"smoothness": wanted}
    file({"local_gap": [3, 5], "_interval": {"local_gap": [2, None]}})
    assert spanned(listed, f"@c.json {TWO}").uncertain == {"local_gap": ([2, 2], [np.inf] * 2)}
    file({"client_weight": [0.6, 0.4], "_interval": {"client_weight": [[0.5, 0.3], [0.7, 0.5]]}})
    with pytest.raises(DomainError, match="client_weight"):  # they sum to 1
        spanned(listed, "@c.json smoothness=2 local_gap=3")
