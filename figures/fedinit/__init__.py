"""FedInit's figures and tables, a file each; ``settings`` and ``grid`` say what is run, the rest is shared."""
