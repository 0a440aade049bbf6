"""FedALS's figures and tables: consensus by layer, test curves, methods, averaging periods, splits, settings."""
