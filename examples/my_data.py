"""A data set of your own, a table whose rows belong to clinics. Try

fedbounds train --problem examples/my_data.py:my_problem --partition "by_group()" --batch 8 \
    --compare "fedinit(beta=0.05)"
"""

import csv
from pathlib import Path

import numpy as np

from empirics.data.dataset import Dataset, held_out, numbered
from empirics.problems.tasks import TASKS

with Path(__file__).with_name("patients.csv").open(encoding="utf-8") as file:
    rows = list(csv.DictReader(file))

clinics, _, names = numbered([row["clinic"] for row in rows])
patients = Dataset(
    "patients",
    inputs=np.array([[float(row["age"]), float(row["dose"])] for row in rows]),
    targets=np.array([int(row["recovered"]) for row in rows]),
    classes=2,
    groups=clinics,
    group_names=names,
    group_word="clinic",
)
logistic = TASKS["logistic"]
my_problem = logistic(held_out(patients), regularisation=0.05)
