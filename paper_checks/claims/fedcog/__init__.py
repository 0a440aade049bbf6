"""FedCOG (Ye, Du, Ni, Chen, Wang): its claims, by section; each module's docstring names its part."""
