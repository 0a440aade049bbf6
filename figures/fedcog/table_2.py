"""Table 2: FLAIR. The pictures are not here, and nothing stands for them: the reported numbers alone."""

from __future__ import annotations

from dataclasses import replace

from ..artefact import Artefact, no_runs, Shown
from ..runs import Runs
from ..sheets import comparison
from ..stand_ins import remark
from .reading import entries, final

MISSING = remark("flair", "")


def data(runs: Runs, scale: str) -> Shown:
    found = entries(runs, "2", {}, final(scale), absent=MISSING)
    shown = comparison(
        "Precision, recall and F1 by label and F1 by picture in percent, as reported: photographs of 200 users, 405 "
        "rounds, the last 5 of them FedCOG's in its row. Nothing is run: FLAIR is not here, and no other set of "
        "photographs has several labels each and users.",
        found,
        [],
        "reported / ours (%)",
    )
    return replace(shown, unavailable=MISSING)


ARTEFACT = Artefact("fedcog.table_2", "multi-label scores on FLAIR", no_runs, data)
