"""FedCOG, Tables 4 to 10: orders that the text reads off, percentages, and numbers of one setting that differ."""

from __future__ import annotations

from decimal import Decimal

from ..checkers import All, Ordered, Prints, undecided
from ..claim import Claim, Defect, Kind, Repair, Status
from .numbers import best, columns, entries, gain, rising, rows, values

FOUR, FIVE, SIX, SEVEN, EIGHT = (values(str(n)) for n in range(4, 9))
NINE, TEN = values("9"), values("10")
NOISE, GLOBAL, HARD, FULL = rows("5")
OTHERS = ("FedAvg", "FedProx", "MOON")
SPREAD = entries("1")["FedCOG", "CIFAR-10 NIID-1"].std
"""Deviation of FedCOG's accuracy in the default setting, as Table 1 prints it."""
TWICE = 2 * Decimal(SPREAD)

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


def margins(name: str) -> dict[str, Decimal]:
    """By how much FedCOG is ahead of the best other method, per column."""
    numbers = values(name)
    return {
        c: Decimal(numbers[f"FedCOG, {c}"]) - max(Decimal(numbers[f"{m}, {c}"]) for m in OTHERS) for c in columns(name)
    }


FEDAVG = {
    "70 rounds, Table 1": {k: values("1")[f"FedAvg, CIFAR-10 {k}"] for k in ("NIID-1", "NIID-2")},
    "51 rounds, Table 3": {k: values("3")[f"CIFAR-10-{k[-1]}, FedAvg without FedCOG"] for k in ("NIID-1", "NIID-2")},
}
AHEAD = {f"Table 8, K = {c}": margin for c, margin in margins("8").items()}

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
        known=Status.FAILS,
        note="From two tables: FedAvg's agree to the last digit, FedCOG's are 65.59 and 64.47: two thirds of the "
        "gain over FedAvg in Table 4 are not there in Table 3.",
        defect=Defect.SETTINGS,
        ours=True,
    ),
    best(
        "5",
        "The full method is better than noise, than the global model alone and than hard labels.",
        "Section 6.5 and Table 5",
        FULL,
        "full",
    ),
    Claim(
        "fedcog.table_5.disagreement",
        "The disagreement term helps by more than the printed deviation of the full method, in both settings.",
        Kind.TABLE.at("Section 6.5, Tables 1 and 5"),
        Ordered(
            {
                **{
                    f"gain in {kind}": Decimal(FIVE[f"{FULL}, {kind}"]) - Decimal(FIVE[f"{GLOBAL}, {kind}"])
                    for kind in ("NIID-1", "NIID-2")
                },
                **{f"deviation in {k}": entries("1")["FedCOG", f"CIFAR-10 {k}"].std for k in ("NIID-1", "NIID-2")},
            },
            tuple((f"deviation in {kind}", f"gain in {kind}") for kind in ("NIID-1", "NIID-2")),
        ),
        note="0.16 points against 0.12 in NIID-1: only just.",
        ours=True,
    ),
    Claim(
        "fedcog.table_5.noise",
        "Distilling on noise does worse than FedAvg does, whichever number of FedAvg is taken.",
        Kind.TABLE.at("Section 6.5, Tables 1, 3 and 5"),
        All(
            {
                name: Ordered(
                    {**FIVE, **{f"FedAvg, {kind}": number for kind, number in numbers.items()}},
                    tuple((f"{NOISE}, {kind}", f"FedAvg, {kind}") for kind in numbers),
                )
                for name, numbers in FEDAVG.items()
            },
            wrong=("51 rounds, Table 3",),
        ),
        known=Status.FAILS,
        note="The text compares noise with the full method alone, 3.9 and 3.5 points. FedAvg after 70 rounds (Table "
        "1) is 3.4 and 0.9 points above noise, so that most of the first gap is harm undone; FedAvg after 51 rounds "
        "(Table 3) is 0.4 points below it in NIID-2. Table 5 does not say how many rounds it had.",
        defect=Defect.READING,
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
        "With too many local steps, 800 say, every method loses.",
        Kind.TABLE.at("A.3 and Table 6"),
        All(
            {
                "against the best number, 400": Ordered(SIX, rising("6", ("800", "400"))),
                "against the number before, 600": Ordered(
                    SIX, rising("6", ("800", "600")), wrong=("FedCOG, 800 < FedCOG, 600",)
                ),
            },
            wrong=("against the number before, 600",),
        ),
        known=Status.FAILS,
        note="Against 400 all do; from 600 to 800 FedCOG gains 0.09 points.",
        defect=Defect.READING,
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
        known=Status.FAILS,
        note="43.44 / 38.36 = 1.132. FedProx is the second best there, as the text says.",
        repair=Repair(
            "13 %", Prints({"over FedProx": "13"}, {"over FedProx": gain(SEVEN["FedProx, 0.2"], SEVEN["FedCOG, 0.2"])})
        ),
        defect=Defect.SLIP,
    ),
    best("8", "FedCOG is best for every number of clients.", "A.3 and Table 8"),
    Claim(
        "fedcog.table_8.margins",
        "It is ahead by more than the deviation that Table 1 prints for it.",
        Kind.TABLE.at("Tables 1 and 8"),
        Ordered(
            {**AHEAD, "deviation": SPREAD},
            tuple(("deviation", key) for key in AHEAD),
            wrong=("deviation < Table 8, K = 10",),
        ),
        known=Status.FAILS,
        note="The text says 'outperforms', which holds of the means. 0.08 points for ten clients, against a "
        "deviation of 0.12.",
        defect=Defect.SETTINGS,
        ours=True,
    ),
    Claim(
        "fedcog.default_setting",
        "Tables 5, 6 and 8 print for the default setting what Table 1 prints, within twice its deviation.",
        Kind.TABLE.at("Tables 1, 5, 6 and 8, CIFAR-10 NIID-1"),
        Prints(
            {key: values("1")[f"{method}, CIFAR-10 NIID-1"] for key, (_, method) in SAME_SETTING.items()},
            {key: number for key, (number, _) in SAME_SETTING.items()},
            {k: 2 * Decimal(entries("1")[m, "CIFAR-10 NIID-1"].std) for k, (_, m) in SAME_SETTING.items()},
            wrong=(
                "FedCOG, Table 6",
                "FedCOG, Table 8",
                "FedAvg, Table 6",
                "FedAvg, Table 8",
                "FedProx, Table 8",
                "MOON, Table 8",
            ),
        ),
        known=Status.FAILS,
        note="From four tables. Ten clients, 400 steps, Dirichlet 0.1 in all of them. Table 8 is 2 to 3.3 points "
        "lower for all methods, Table 6 0.8 points higher for FedCOG: more than most differences that the text argues "
        "from.",
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
        note="Than 50 by 0.04 points, a third of the deviation of Table 1.",
    ),
    Claim(
        "fedcog.table_10.noise",
        "Without generation steps it is the ablation with noise: one number in Tables 5 and 10.",
        Kind.TABLE.at("Tables 5 and 10"),
        Prints({"no steps": TEN["Accuracy, 0"]}, {"no steps": FIVE[f"{NOISE}, NIID-1"]}),
        note="So Table 10, whose partition is not stated, is NIID-1.",
        ours=True,
    ),
    Claim(
        "fedcog.table_10.default",
        "With the 100 steps used throughout it is the full method of Table 5, within twice the deviation of Table 1.",
        Kind.TABLE.at("A.4.4, Tables 5 and 10"),
        Prints({"full method": TEN["Accuracy, 100"]}, {"full method": FIVE[f"{FULL}, NIID-1"]}, {"full method": TWICE}),
        known=Status.FAILS,
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
