"""Claims of FedALS (Gholami, Seferoglu), versions 1 and 2: rows in ``claims.toml``, checks by section in modules."""
