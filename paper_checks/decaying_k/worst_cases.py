"""Its bounds within reach against exact worst cases; the smallest ratios as audited."""

from __future__ import annotations

from ..worst_case_claims import above

LEAST = {

}

CLAIMS = above(LEAST)
