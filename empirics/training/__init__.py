"""Training: the one loop over rounds, the setting of a run, step sizes, and the engines that take the local steps."""
