"""FedInit: every bound, order, cap and cost of the paper, collected from its theorem families."""
