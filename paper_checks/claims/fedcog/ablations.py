"""FedCOG, Tables 4 to 10: orders that the text reads off, percentages, and numbers of one setting that differ."""

from __future__ import annotations

from ..checkers import All, noise, Ordered, Prints, undecided
from ..checkers.tables import Cell
from ..claim import Claim, Defect, Kind, Repair
from .numbers import best, columns, entries, gain, measured, rising, rows, values

FOUR, FIVE, SIX, SEVEN, EIGHT = (values(str(n)) for n in range(4, 9))
NINE, TEN = values("9"), values("10")
NOISE, GLOBAL, HARD, FULL = rows("5")


def _within(method: str) -> float:
    """How far two means of the default setting are apart within noise, both varying as Table 1 prints it."""
    deviation = entries("1")[method, "CIFAR-10 NIID-1"].std
    return noise(deviation, deviation)


SAME_SETTING = {
    "FedCOG, Table 5": (FIVE[f"{FULL}, NIID-1"], "FedCOG"),
    "FedCOG, Table 6": (SIX["FedCOG, 400"], "FedCOG"),
    "FedCOG, Table 8": (EIGHT["FedCOG, 10"], "FedCOG"),
    "FedAvg, Table 6": (SIX["FedAvg, 400"], "FedAvg"),
    "FedAvg, Table 8": (EIGHT["FedAvg, 10"], "FedAvg"),
    "FedProx, Table 6": (SIX["FedProx, 400"], "FedProx"),
    "FedProx, Table 8": (EIGHT["FedProx, 10"], "FedProx"),
    "MOON, Table 6": (SIX["MOON, 400"], "MOON"),
    "MOON, Table 8": (EIGHT["MOON, 10"], "MOON"),
}
"""Accuracies that other tables print for the default setting of CIFAR-10 NIID-1, and whose they are."""


SCORES: dict[str, Cell] = {
    "noise": FIVE[f"{NOISE}, NIID-1"],
    "FedAvg, 70 rounds": measured("1")["FedAvg, CIFAR-10 NIID-1"],
    "FedAvg, 51 rounds": values("3")["CIFAR-10-1, FedAvg without FedCOG"],
}

CLAIMS: tuple[Claim, ...] = (
    Claim(
        "fedcog.table_4.quoted",
        "The accuracies quoted in the text are those of Table 4.",
        Kind.TABLE.at("Section 6.4 and Table 4"),
        Prints(
            {"FedAvg": "63.34", "FedProx": "64.57", "FedCOG": "65.59"},
            {m: FOUR[f"{m}, Acc"] for m in ("FedAvg", "FedProx", "FedCOG")},
        ),
    ),
    Claim(
        "fedcog.table_4.table_3",
        "50 rounds of FedAvg and one of FedCOG have one accuracy on CIFAR-10 NIID-1, in Table 4 and in Table 3.",
        Kind.TABLE.at("Sections 6.3 and 6.4, Tables 3 and 4"),
        Prints(
            {m: FOUR[f"{m}, Acc"] for m in ("FedAvg", "FedCOG")},
            {
                "FedAvg": values("3")["CIFAR-10-1, FedAvg without FedCOG"],
                "FedCOG": values("3")["CIFAR-10-1, FedAvg with FedCOG"],
            },
            wrong=("FedCOG",),
        ),
        note="From two tables: FedAvg's agree to the last digit, FedCOG's are 65.59 and 64.47: half of the gain "
        "over FedAvg in Table 4 is not there in Table 3.",
        defect=Defect.SETTINGS,
        ours=True,
    ),
    best(
        "5",
        "The full method is better than noise, than the global model alone and than hard labels.",
        "Section 6.5 and Table 5",
        FULL,
        "full",
        "By the printed digits: Table 5 has no deviations. With those of Table 1 the gain by the disagreement term, "
        "0.16 points in NIID-1, would be within noise.",
    ),
    Claim(
        "fedcog.table_5.noise",
        "In NIID-1 distilling on noise does worse than FedAvg does, whichever number of FedAvg is taken.",
        Kind.TABLE.at("Section 6.5, Tables 1, 3 and 5"),
        Ordered(SCORES, tuple(("noise", each) for each in SCORES if each != "noise")),
        note="The text compares noise with the full method alone, 3.9 points. FedAvg after 70 rounds (Table 1) is 3.4 "
        "points above noise, after 51 (Table 3) 2.4: most of the gap is harm undone. In NIID-2 it is 0.9 above and 0.4 "
        "below, within noise by the deviation of Table 1. Table 5 does not say how many rounds it had.",
        ours=True,
    ),
    Claim(
        "fedcog.table_6.rise",
        "From 200 to 400 local steps every method gains.",
        Kind.TABLE.at("A.3 and Table 6"),
        Ordered(SIX, rising("6", ("200", "400"))),
    ),
    Claim(
        "fedcog.table_6.drop",
        "With too many local steps, 800 say, every method loses against the best number, 400.",
        Kind.TABLE.at("A.3 and Table 6"),
        Ordered(SIX, rising("6", ("800", "400"))),
        note="From 600 to 800 FedCOG gains 0.09 points, less than the deviation that Table 1 has for it.",
    ),
    best("6", "FedCOG is best for every number of local steps.", "A.3 and Table 6"),
    Claim(
        "fedcog.table_7.rise",
        "All methods gain as more clients take part.",
        Kind.TABLE.at("A.3 and Table 7"),
        Ordered(SEVEN, rising("7", ("0.1", "0.2", "0.3", "0.4"))),
    ),
    best("7", "FedCOG is best at every participation rate.", "A.3 and Table 7"),
    Claim(
        "fedcog.table_7.gain",
        "At participation 0.2 FedCOG is 14 % above the second best, FedProx.",
        Kind.TABLE.at("A.3 and Table 7"),
        All(
            {
                "second best": Ordered(SEVEN, tuple((f"{m}, 0.2", "FedProx, 0.2") for m in ("FedAvg", "MOON"))),
                "gain": Prints(
                    {"over FedProx": "14"}, {"over FedProx": gain(SEVEN["FedProx, 0.2"], SEVEN["FedCOG, 0.2"])}
                ),
            },
            wrong=("gain",),
        ),
        note="43.44 / 38.36 = 1.132. FedProx is the second best there, as the text says.",
        repair=Repair(
            "13 %", Prints({"over FedProx": "13"}, {"over FedProx": gain(SEVEN["FedProx, 0.2"], SEVEN["FedCOG, 0.2"])})
        ),
        defect=Defect.SLIP,
    ),
    best(
        "8",
        "FedCOG is best for every number of clients.",
        "A.3 and Table 8",
        note="By the printed digits: for ten clients by 0.08 points, where Table 1 has a deviation of 0.12.",
    ),
    Claim(
        "fedcog.default_setting",
        "Tables 5, 6 and 8 print for the default setting what Table 1 prints, within noise.",
        Kind.TABLE.at("Tables 1, 5, 6 and 8, CIFAR-10 NIID-1"),
        Prints(
            {key: values("1")[f"{method}, CIFAR-10 NIID-1"] for key, (_, method) in SAME_SETTING.items()},
            {key: number for key, (number, _) in SAME_SETTING.items()},
            {key: _within(method) for key, (_, method) in SAME_SETTING.items()},
            wrong=(
                "FedCOG, Table 6",
                "FedCOG, Table 8",
                "FedAvg, Table 6",
                "FedAvg, Table 8",
                "FedProx, Table 8",
                "MOON, Table 8",
            ),
        ),
        note="From four tables. Ten clients, 400 steps, Dirichlet 0.1 in all of them. Table 8 is 2 to 3.3 points "
        "lower for all methods, Table 6 0.8 points higher for FedCOG. Most gains that the text argues from are smaller "
        "than Table 8's shift; Table 1's are larger but for CIFAR-10, NIID-1.",
        defect=Defect.SETTINGS,
        ours=True,
    ),
    Claim(
        "fedcog.table_9.best",
        "Fine-tuned, FedCOG personalises best.",
        Kind.TABLE.at("A.4.1 and Table 9"),
        Ordered(NINE, tuple((f"Acc %, {c}", "Acc %, FedCOG+FT") for c in columns("9") if c != "FedCOG+FT")),
    ),
    Claim(
        "fedcog.table_10.moderate",
        "100 generation steps are better than fewer and than more.",
        Kind.TABLE.at("A.4.2 and Table 10"),
        Ordered(TEN, tuple((f"Accuracy, {c}", "Accuracy, 100") for c in columns("10") if c != "100")),
        note="By the printed digits: than 50 by 0.04 points, a third of the deviation of Table 1.",
    ),
    Claim(
        "fedcog.table_10.noise",
        "Without generation steps it is the ablation with noise: one number in Tables 5 and 10.",
        Kind.TABLE.at("Tables 5 and 10"),
        Prints({"no steps": TEN["Accuracy, 0"]}, {"no steps": FIVE[f"{NOISE}, NIID-1"]}),
        note="So Table 10, whose partition is not stated, is presumably NIID-1 (NIID-2 has 49.67); but its number for "
        "100 steps does not fit, fedcog.table_10.default.",
        ours=True,
    ),
    Claim(
        "fedcog.table_10.default",
        "With the 100 steps used throughout it is the full method of Table 5, within noise.",
        Kind.TABLE.at("A.4.4, Tables 5 and 10"),
        Prints(
            {"full method": TEN["Accuracy, 100"]},
            {"full method": FIVE[f"{FULL}, NIID-1"]},
            {"full method": _within("FedCOG")},
        ),
        note="From two tables: 65.44 against 64.88. Its 64.80 for 500 steps, the released code's default, and "
        "64.92 for 1000 do fit.",
        defect=Defect.SETTINGS,
        ours=True,
    ),
    undecided(
        "fedcog.generator",
        "With and without a generator FedCOG performs alike: +1.5 points in NIID-2, -0.93 in NIID-1.",
        Kind.TABLE.at("A.4.2"),
        "the accuracies behind the two differences are not printed",
    ),
    undecided(
        "fedcog.figures",
        "Figures 2, 3 and 6: lowest model difference, best local models, best at every heterogeneity and at the "
        "default weights, all methods saturated after 70 rounds.",
        Kind.REMARK.at("Sections 6.4 and 6.5 and A.5"),
        "the figures carry no numbers, and no data behind them are published",
    ),
)
