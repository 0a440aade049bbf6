"""Training of federated models.

``rounds.rounds`` is the training loop: a generator of states, one per round. ``setting.Setting`` has the numbers of a
run (rounds, cohort, local steps, step size, ...). ``engines`` take the local steps of a round's clients: stacked,
client by client, or as CUDA graphs, chosen by model and device.
"""
