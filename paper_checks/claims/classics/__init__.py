"""Classic theorems: their claims, by source; runs in rational numbers lie in ``runs``."""
