"""FedCOG, Tables 4 and 11 and A.4.3: seconds against counted passes, and numbers that are learnt."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from bounds.vocabulary import generated_batch, generated_samples, generation_steps, local_steps, real_batch

from ..checkers import All, each, noise, Ordered, Prints, Refuted, Same, SlopeIs, term
from ..checkers.points import value
from ..checkers.trends import Curve
from ..claim import Book, Claim, Defect, Finding, judged, Kind
from .tables import CELLS

FOUR, ELEVEN = CELLS[4], CELLS[11]
SAMPLES = [key.removeprefix("Time, ") for key in ELEVEN]
LOCAL_SECONDS, GENERATION_SECONDS = Decimal("14.81"), Decimal("0.81")
ROUNDS, BEFORE = 51, 50
PIXELS = {"CIFAR-10": 3 * 32 * 32, "Fashion-MNIST": 28 * 28}
DEFAULT = {generated_samples: 256, generation_steps: 100, local_steps: 400, real_batch: 64, generated_batch: 64}
"""Published, but for the batch of 64, which is the released code's."""


def seconds(method: str) -> Decimal:
    return Decimal(FOUR[f"{method}, Local Time"].value)


FEDAVG_ROUND = seconds("FedAvg") / ROUNDS
FEDCOG_ROUND = seconds("FedCOG") - BEFORE * FEDAVG_ROUND
"""What is left for the one round of FedCOG when 50 of the 51 are FedAvg's."""


def passes(book: Book, *parts: str, **given: int) -> float:
    """Counted passes of a round at the published setting."""
    named = {q.name: q for q in DEFAULT}
    point = {**DEFAULT, **{named[name]: number for name, number in given.items()}}
    return float(value(term("fedcog.sample_passes", *parts)(book), point))


def per_sample_seconds(book: Book) -> Curve:
    """Seconds of generation against its counted passes."""
    counted = [passes(book, "generation", generated_samples=int(n)) for n in SAMPLES]
    return counted, [float(ELEVEN[f"Time, {n}"].value) for n in SAMPLES]


def share_of_training(book: Book) -> Finding:
    """Generation over local training on the client's own samples: in passes and in seconds."""
    counted = passes(book, "generation") / passes(book, "local training")
    measured = float(GENERATION_SECONDS / LOCAL_SECONDS)
    said = f"{counted:.3g} of the passes of local training, {measured:.3g} of its seconds"
    alike = 0.5 < counted / measured < 2
    witness = {"passes": f"{counted:.3g}", "seconds": f"{measured:.3g}"}
    return judged(alike, said, witness, abs(counted - 2) < 1e-9)


def a_round_of_fedcog(book: Book) -> Finding:
    ratio = float(FEDCOG_ROUND / FEDAVG_ROUND)
    counted = passes(book, "generation", "distillation", "local training") / passes(book, "local training")
    said = f"a round of FedCOG took {ratio:.3g} times a round of FedAvg; counted in passes {counted:.3g} times"
    witness = {"FedAvg": f"{FEDAVG_ROUND:.4g} s a round", "FedCOG": f"{FEDCOG_ROUND:.4g} s"}
    return judged(ratio < 1.1, said, witness, abs(counted - 4) < 1e-9)


def a_round_within_noise(book: Book) -> Finding:
    most = noise(*(FOUR[f"{m}, Local Time"].std for m in ("FedCOG", "FedAvg")))
    said = f"the two totals are {float(seconds('FedCOG') - seconds('FedAvg')):.3g} s apart, {most:.3g} s are noise"
    return judged(float(FEDCOG_ROUND) - most < 1.1 * float(FEDAVG_ROUND), said)


def networks() -> Mapping[str, int]:
    from empirics.models.networks import network

    net = network("fedcog_cifar100_cnn")
    return {"CIFAR-100 network": net.dim, "one picture": PIXELS["CIFAR-10"]}


def inputs_against_model(book: Book) -> Finding:
    """Learnable numbers of the default 256 generated pictures against the network's."""
    from empirics.models.networks import network

    models = {"CIFAR-10": network("fedcog_cnn").dim, "Fashion-MNIST": network("fedcog_cnn(channels=1, side=28)").dim}
    inputs = {name: DEFAULT[generated_samples] * PIXELS[name] for name in models}
    larger = {name: f"{inputs[name]:,} against {models[name]:,}" for name in models if inputs[name] > models[name]}
    said = "; ".join(f"{name}: {text}" for name, text in larger.items()) or "fewer than the model has"
    return judged(not larger, said, larger)


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "fedcog.table_4.per_round",
        "Table 4 shows that a round of FedCOG costs little more than one of FedAvg.",
        Kind.TABLE.at("Section 6.4 and Table 4"),
        All({"its means": a_round_of_fedcog, "within noise": a_round_within_noise}, wrong=("its means",)),
        note="The text says 'moderate', the caption 'minor'. Only one of the 51 rounds is FedCOG's: by the two means "
        "it takes twice as long as one of FedAvg; with deviations of 100 seconds over all rounds they say little of "
        "one.",
        defect=Defect.READING,
    ),
    Claim(
        "fedcog.table_4.local_training",
        "51 rounds of local training of 14.81 seconds make FedAvg's local time in Table 4, within noise.",
        Kind.TABLE.at("A.4.4 and Table 4"),
        Prints(
            {"51 rounds": FOUR["FedAvg, Local Time"].value},
            {"51 rounds": ROUNDS * LOCAL_SECONDS},
            {"51 rounds": noise(FOUR["FedAvg, Local Time"].std)},
        ),
        note="From two places that may have been timed differently: 755 against 983 +- 100 seconds, 19.3 a round.",
        defect=Defect.SETTINGS,
        ours=True,
    ),
    Claim(
        "fedcog.table_11.text",
        "Generation takes 0.81 seconds for 256 samples and 1.27 for 1024; more samples take longer.",
        Kind.TABLE.at("Section 6.4, A.4.4 and Table 11"),
        {
            "text": Prints({"256": "0.81", "1024": "1.27"}, {n: ELEVEN[f"Time, {n}"].value for n in ("256", "1024")}),
            "rise": Ordered(ELEVEN, each(" < ".join(f"Time, {n}" for n in SAMPLES))),
        },
    ),
    Claim(
        "fedcog.table_11.passes",
        "The seconds of generation do not grow in proportion to the counted passes.",
        Kind.TABLE.at("A.4.4 and Table 11"),
        Refuted(SlopeIs(per_sample_seconds, 1.0)),
        note="From 16 to 512 samples the passes grow 32-fold, the seconds by 15 %: a fixed cost per step hides "
        "them. A slower device or a larger network would not see these seconds.",
        ours=True,
    ),
    Claim(
        "fedcog.table_11.share",
        "Generation is a small part of a round in seconds, but not in passes.",
        Kind.TABLE.at("A.4.4 with Sections 4.1 and 4.2"),
        {
            "share": Refuted(share_of_training),
            "passes of a round": Same(
                "fedcog.sample_passes",
                2 * 2 * generated_samples * generation_steps + 2 * local_steps * (real_batch + generated_batch),
            ),
        },
        note="5 % in seconds, but twice the passes of local training on the client's own samples (batch 64), and as "
        "many as FedCOG's own local training: the seconds measure a device's use. Generation passes forward and "
        "backward through two networks.",
        ours=True,
    ),
    Claim(
        "fedcog.parameters",
        "The CIFAR-100 network has 69,380 parameters; a picture has 3,072 learnable numbers.",
        Kind.SETTING.at("A.4.3"),
        Prints({"CIFAR-100 network": "69380", "one picture": "3072"}, networks),
        note="With 16, 32 and 64 maps and three poolings, as released; the printed data flow names two poolings and no "
        "numbers of maps.",
    ),
    Claim(
        "fedcog.parameters.training",
        "With generated batches of one picture local training has 3,072 learnable parameters in place of 69,380.",
        Kind.REMARK.at("A.4.3"),
        Prints({"CIFAR-100 network": "3072"}, networks),
        note="The generation has: local training learns all 69,380.",
        defect=Defect.SLIP,
    ),
    Claim(
        "fedcog.generator.lightweight",
        "The introduced generator is lightweight.",
        Kind.REMARK.at("Section 4.3 and A.4.2"),
        Ordered({"linear layer": str(257 * 8192), "CIFAR-10 network": "62006"}, ("linear layer < CIFAR-10 network",)),
        note="With the code's 256 inputs and the width 8192 of A.4.2. The method of Table 4, which the sentence cites, "
        "has no generator; if the generation of inputs is meant, it is light in seconds, fedcog.table_11.share.",
        defect=Defect.READING,
    ),
    Claim(
        "fedcog.inputs_small",
        "The generated inputs are few numbers compared with the model's parameters.",
        Kind.REMARK.at("A.4.4"),
        inputs_against_model,
        note="12.7 and 4.5 times as many. It is true of one picture, as in A.4.3.",
        defect=Defect.REFUTED,
    ),
)
