"""FedCOG: Tables 1 to 11 and Figures 2 to 6, from one grid of runs that share their rounds of FedAvg."""
