"""Claims of FedCOG (Ye, Du, Ni, Chen, Wang): rows in ``claims.toml``, checks by section in modules."""
