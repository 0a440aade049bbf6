"""A generic point for every bound of the catalogue: inside domain and conditions, no 0, no 1, no equal inputs."""

from .classics import POINTS as CLASSICS
from .decaying_k import POINTS as DECAYING_K
from .fedals import POINTS as FEDALS
from .fedcog import POINTS as FEDCOG
from .fedinit import POINTS as FEDINIT

POINTS = {**FEDALS, **FEDINIT, **DECAYING_K, **FEDCOG, **CLASSICS}
