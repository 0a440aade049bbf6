"""FedALS (Gholami, Seferoglu), v1 and v2: its claims, by section; each module's docstring names its part."""
