"""Claims of Decaying-K (Mills, Hu, Min): rows in ``claims.toml``, checks by section in modules."""
