"""Claims of FedInit (Sun, Shen, Tao): rows in ``claims.toml``, checks by section in modules."""
