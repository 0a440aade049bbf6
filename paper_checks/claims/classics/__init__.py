"""Claims of classic theorems: rows in ``claims.toml``, exact cases by source in modules, shared runs in ``runs``."""
