"""Which rounds of a log a statistic over R rounds needs: their numbers are held against the bound's own ``rounds``."""

import csv
from dataclasses import replace

import pytest

from bounds import BOUNDS
from bounds.core import Statistic
from bounds.errors import BoundsError
from paper_checks.runs.statistics import needed
from paper_checks.runs.words import ITERATION, STATE
from paper_checks.validation import Options, validate
from paper_checks.validation.options import LOG

GIVEN = {
    "smoothness": 2.5, "gradient_variance": 0.2, "dissimilarity_offset": 0.3, "dissimilarity_factor": 1.1,
    "initial_gap": 0.9, "local_steps": 2, "step_size": 0.002, "clients": 6, "cohort": 3, "relaxation": 0.01,
    "pl_constant": 0.4, "contraction": 0.3, "initial_loss": 2.3, "current_loss": 2.3, "optimal_loss": 0.2,
    "strong_convexity": 0.5,
    "grad_cap_sq": 1.7, "heterogeneity": 0.4, "initial_divergence": 0.3, "final_divergence": 0.1,
}  # fmt: skip
LISTS = {"client_weight": "uniform", "client_gradient_variance": "[" + ",".join(["0.3"] * 6) + "]"}
MIN, LAST, ENDS = "fedcog.theorem", "fedinit.theorem_2", "fedinit.theorem_5"
MEANS = ("fedinit.theorem_1", "fedinit.theorem_4")
ITERATED = "decaying_k.per_rounds"


def words(bound, **told):
    asked = {q.name for q in bound.quantities} | ({"clients"} if bound.axis else set())
    given = {name: value for name, value in {**GIVEN, **LISTS}.items() if name in asked}
    return tuple(f"{name}={value}" for name, value in {**given, **told}.items())


def table(path, bound, numbers, values, column=None):
    """Three runs with a little spread; ``column`` are the numbers of a column ``rounds``."""
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["seed", "round", bound.target.name, *(["rounds"] if column else [])])
        for seed, share in ((3, 0.98), (5, 1.01), (8, 1.03)):
            for i, (number, value) in enumerate(zip(numbers, values, strict=True)):
                rows.writerow([seed, number, share * value, *([column[i]] if column else [])])
    return path


@pytest.fixture
def judged(tmp_path):
    """The lines for a log of these rounds and values."""

    def lines(bound, numbers, values, /, column=None, **told):
        bound = BOUNDS[bound] if isinstance(bound, str) else bound
        path = table(tmp_path / "runs.csv", bound, numbers, values, column)
        found = validate(bound, LOG, Options.of(LOG, measured=path, words=words(bound, **told)))
        return [(*line.place, str(line.verdict), line.why) for line in found.lines]

    return lines


@pytest.fixture
def refused(judged):
    """What is said in one line about a log that is not judged."""

    def said(*log, **told):
        with pytest.raises(BoundsError) as caught:
            judged(*log, **told)
        assert "\n" not in str(caught.value)
        return str(caught.value)

    return said


LARGE, SMALL = 1e9, 1e-9


# ---- the rule ----


@pytest.mark.parametrize(
    ("kind", "per", "there", "numbers"),
    [
        ("min", STATE, (1, 2), range(1, 8)),
        ("mean", STATE, (1, 2), range(1, 8)),
        ("min", STATE, (0, 3), range(7)),
        ("mean", STATE, (0, 3), range(7)),
        ("mean", ITERATION, (0, 3), range(7)),
        ("min", ITERATION, (0, 3), range(8)),
        ("min", ITERATION, (1, 2), range(8)),
        ("last", STATE, (1, 2), range(7, 8)),
        ("last", STATE, (0, 2), range(7, 8)),
    ],
)
def test_the_moments_that_a_statistic_over_seven_looks_at(kind, per, there, numbers):
    assert needed(kind, 7, per, there) == numbers


# ---- a least value ----


def test_a_least_value_of_some_rounds_never_violates_and_says_what_is_lacking(judged):
    (line,) = judged(MIN, (1, 2, 3), (LARGE,) * 3, rounds=100)
    assert line == ("all", "undecided", "97 of 100 rounds are not in the log")
    (line,) = judged(MIN, range(4, 101, 4), (LARGE,) * 25, rounds=100)
    assert line[1:] == ("undecided", "75 of 100 rounds are not in the log")


def test_a_least_value_of_some_rounds_may_hold(judged):
    """The least of all rounds is at most that of some."""
    assert judged(MIN, (1, 2, 3), (LARGE, SMALL, LARGE), rounds=100) == [("all", "holds here", "")]


@pytest.mark.parametrize("rounds", [(1, 2, 3), (0, 1, 2), (0, 1, 2, 3)])
def test_a_least_value_of_all_rounds_is_judged(judged, rounds):
    """Numbers from 1 are rounds, from 0 models; the last model is none that opens a round, however small it is."""
    values = [LARGE, LARGE, LARGE, SMALL][: len(rounds)]
    assert judged(MIN, rounds, values, rounds=3) == [("all", "violated", "")]


def test_a_least_value_over_iterations_counts_the_last_model_and_the_first(judged):
    told = {"rounds": 2, "local_steps": 2}
    assert judged(ITERATED, range(5), (LARGE,) * 5, **told) == [("all", "violated", "")]
    assert judged(ITERATED, range(1, 5), (LARGE,) * 4, **told)[0][1:] == (
        "undecided",
        "1 of 5 iterations are not in the log",
    )
    assert judged(ITERATED, range(3), (LARGE, SMALL, LARGE), **told)[0][1] == "holds here"


@pytest.mark.parametrize(("values", "verdict"), [((LARGE, LARGE), "undecided"), ((LARGE, SMALL), "violated")])
def test_of_a_least_value_that_is_bounded_from_below_one_round_can_violate(judged, values, verdict):
    turned = replace(BOUNDS[MIN], name="mine.turned", relation=">=")
    assert judged(turned, (1, 2), values, rounds=9)[0][1] == verdict


# ---- rounds beyond the last ----


@pytest.mark.parametrize("name", [MIN, LAST, ENDS, *MEANS])
def test_rounds_beyond_the_run_are_refused_by_their_numbers(refused, name):
    assert "rounds 3, 4 beyond the run of 2 rounds" in refused(name, (1, 2, 3, 4), (LARGE, LARGE, 5, 5), rounds=2)
    assert "rounds 4, 5, 6, ..., 60 beyond the run of 3 rounds" in refused(name, range(61), (5,) * 61, rounds=3)


def test_rounds_beyond_the_run_are_refused_where_every_round_makes_a_line(refused, judged):
    assert "has round 3 beyond the run of 2 rounds" in refused(EVERY, (1, 2, 3), (5, 5, 5), rounds=2)
    assert [line[0] for line in judged(EVERY, (1, 2), (5, 5), rounds=2)] == ["1", "2"]


# ---- the last round, and what is a whole run's already ----


@pytest.mark.parametrize("name", [LAST, ENDS, *MEANS])
def test_of_a_statement_on_a_whole_run_only_the_row_of_its_end_is_judged(judged, refused, name):
    assert judged(name, (1, 5, 7), (SMALL, SMALL, LARGE), rounds=7) == [("7", "violated", "")]
    assert judged(name, (1, 5, 7), (LARGE, LARGE, SMALL), rounds=7) == [("7", "holds here", "")]
    said = refused(name, (1, 2, 3), (SMALL,) * 3, rounds=100)
    assert "a run of 100 rounds: round 100 is not in the log" in said


EVERY = replace(BOUNDS[MIN], name="mine.every", statistic=Statistic("every", "rounds", "server model"))


@pytest.mark.parametrize("name", [ENDS, *MEANS, EVERY], ids=str)
def test_a_column_rounds_makes_each_row_its_own_run_only_where_it_is_the_rows_round(judged, refused, name):
    lines = judged(name, (1, 2, 3), (LARGE, SMALL, LARGE), column=(1, 2, 3))
    assert [line[:2] for line in lines] == [("1", "violated"), ("2", "holds here"), ("3", "violated")]
    assert "the number of rounds must be the same in all rows, or the row's own round" in refused(
        name, (1, 2, 3), (5, 5, 5), column=(1, 2, 9)
    )
    assert judged(name, (1, 2, 3), (LARGE, LARGE, SMALL), column=(3, 3, 3))[-1] == ("3", "holds here", "")


@pytest.mark.parametrize("name", [MIN, LAST])
def test_a_column_rounds_of_a_folded_log_is_one_number_which_the_rounds_agree_with(judged, refused, name):
    assert "rounds must be the same in all rows of a run" in refused(name, (1, 2), (5, 5), column=(1, 2))
    assert "rounds 3, 4 beyond the run of 2 rounds" in refused(name, (1, 2, 3, 4), (5,) * 4, column=(2,) * 4)
    assert len(judged(name, (1, 2), (5, 5), column=(2, 2))) == 1


# ---- a mean ----

MEAN = replace(BOUNDS[MIN], name="mine.mean", statistic=Statistic("mean", "rounds", "server model"))


def test_a_mean_needs_all_rounds(judged, refused):
    said = refused(MEAN, (1, 2, 4), (LARGE,) * 3, rounds=6)
    assert "a run of 6 rounds: round 3 and 2 more are not in the log" in said
    assert judged(MEAN, (1, 2, 3), (LARGE,) * 3, rounds=3) == [("all", "violated", "")]
    assert judged(MEAN, (0, 1, 2, 3), (SMALL, SMALL, SMALL, LARGE), rounds=3) == [("all", "holds here", "")]


# ---- what stays as it was ----


def test_without_a_column_of_rounds_a_row_is_what_was_made_of_a_whole_run(tmp_path):
    for name in (MIN, LAST, ENDS, *MEANS):
        bound = BOUNDS[name]
        path = tmp_path / "runs.csv"
        path.write_text(f"seed,{bound.target.name}\n1,1.1e9\n2,1.2e9\n4,1.3e9\n")
        found = validate(bound, LOG, Options.of(LOG, measured=path, words=words(bound, rounds=100)))
        assert [str(line.verdict) for line in found.lines] == ["violated"], name


def test_where_the_bound_does_not_say_how_long_a_run_is_the_log_does(judged):
    open_ = "fedinit.lemma_1"
    assert judged(open_, (1, 2, 90), (LARGE, LARGE, SMALL), stability=0.3) == [("90", "holds here", "")]


def test_a_number_of_rounds_that_the_bound_was_given_counts_as_well(judged):
    assert judged(BOUNDS[MIN].fix(rounds=50), (1, 2), (LARGE, LARGE))[0][2] == "48 of 50 rounds are not in the log"
