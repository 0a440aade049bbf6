"""Another paper, audited in one file: a theorem on SGD (Bottou, Curtis, Nocedal 2018, Theorem 4.6). Try

fedbounds check examples/my_paper.py
fedbounds check --summary examples/my_paper.py
"""

from bounds import About, Bound, Condition, Source, Statistic
from bounds.vocabulary import (
    clients,
    cohort,
    gradient_variance as M,
    initial_gap as gap,
    local_steps,
    optimality_gap,
    rounds as k,
    smoothness as L,
    step_size as a,
    strong_convexity as c,
)
from paper_checks.claims.checkers import Dominates, MeasuredIn, Same
from paper_checks.claims.claim import Claim, Defect, Kind, Repair, Status
from paper_checks.claims.review import Review

floor = a * L * M / (2 * c)
assumed = ("smooth", "strongly_convex", "bounded_variance", "fixed_step_size", "sampled_without_replacement")


def theorem(name, **more):
    """The bound on the gap after k steps, one client at a time and one step a round; ``more`` conditions by words."""
    return Bound(
        name=f"sgd.{name}",
        target=optimality_gap,
        terms={"floor": floor, "start": (1 - a * c) ** k * (gap - floor)},
        signed=("start",),
        conditions=(
            *map(Condition.assume, assumed),
            Condition("the step size is at most 1/L", a * L <= 1),
            Condition("one client at a time", cohort <= 1),
            Condition("one step a round", local_steps <= 1),
            *(Condition(words.replace("_", " "), relation) for words, relation in more.items()),
        ),
        about=About("fedavg"),
        statistic=Statistic("last", over="rounds"),
        source=Source("sgd", "Theorem 4.6"),
    )


drawn, alone = theorem("drawn"), theorem("alone", there_is_one_client=clients <= 1)
PLACE = Kind.THEOREM.at("Theorem 4.6")

unit = Claim("sgd.unit", "Theorem 4.6 bounds a loss.", PLACE, MeasuredIn(alone.expr, optimality_gap))
stays = Claim(
    "sgd.floor",
    "A gap of a L M/(2c) is as small as the bound ever gets: from there it stays.",
    Kind.REMARK.at("after Theorem 4.6"),
    Same(alone.expr.subs(gap, floor), floor),
)
largest = Claim(
    "sgd.largest_step",
    "At the largest step size, 1/L, the noise leaves a gap of M/(2c).",
    Kind.REMARK.at("after Theorem 4.6"),
    Same(floor.subs(a, 1 / L), M / (2 * c)),
    ours=True,
)
reading = Claim(
    "sgd.clients",
    "The theorem holds where every step is on the loss of a client, drawn at random, with M for its noise alone.",
    PLACE,
    Dominates(drawn, evaluations=60),
    Status.FAILS,
    defect=Defect.READING,
    note="The draw of the client is noise too: clients with different minimisers never settle.",
    repair=Repair("with one client, so that M is all the noise there is", Dominates(alone, evaluations=600)),
)
review = Review(
    summary=("The theorem stands for one learner [sgd.clients]; read into a federation, M has to count the draw too.",),
    theorems={"Theorem 4.6": {"a client drawn per step": "sgd.clients"}},
    findings=("sgd.clients",),
    survives=("The floor that the text names [sgd.floor].",),
    change=("Say of which draws M is the variance.",),
)
