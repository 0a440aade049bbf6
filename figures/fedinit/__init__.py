"""FedInit's figures and tables: seven methods in eight setups, relaxation and local interval, settings, times."""
