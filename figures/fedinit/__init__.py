"""FedInit's figures and tables: ``settings`` and ``grid`` say what is run, every other file is one of them."""
