"""The federation of examples/sites.json: 40 sites with 20 to 333 rows each, a fifth of all rows held out. Try

fedbounds advise optimality_gap @examples/sites.json cohort=10 step_size=0.028 runtime=20 \
    --problem examples/my_sites.py:my_problem --partition "by_group()" --batch 16
"""

import csv
from pathlib import Path

import numpy as np

from empirics.data.dataset import Dataset, numbered
from empirics.data.parts import held_out
from empirics.problems.tasks import TASKS

with Path(__file__).with_name("sites.csv").open(encoding="utf-8") as file:
    rows = list(csv.DictReader(file))

numbers, _, names = numbered([row["site"] for row in rows])
sites = Dataset(
    "sites",
    inputs=np.array([[float(row[f"f{i}"]) for i in range(1, 6)] for row in rows]),
    targets=np.array([int(row["label"]) for row in rows]),
    classes=2,
    groups=numbers,
    group_names=names,
    group_word="site",
)
my_problem = TASKS["logistic"](held_out(sites).standardised(), regularisation=0.01)
