"""Learning from finite distributions: generalization gaps as exact sums over every data set."""
