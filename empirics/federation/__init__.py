"""Federations: which client has which samples, and which of them it draws in a round.

``federate`` turns a data set and a partition (``partitions``: iid, by label, by group, Dirichlet, ...) into a
``Federation`` for training and its test sets. ``Federation.draw`` gives the minibatches of a round; ``augment`` makes
model inputs of them. A ``Fresh`` federation uses every sample once.
"""
