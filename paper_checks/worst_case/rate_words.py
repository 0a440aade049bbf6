"""What the verb ``rate`` says of itself, without the solvers: ``--help`` is there at once."""

METHODS = """\
METHOD adds and scales its gradients: fedavg(), fedprox(mu=0.1), fedinit(beta=0.1), scaffold(), fedavgm(momentum=0.3),
fedcm(alpha=0.5), relaxed(scaffold(), beta=0.05), your own; others are refused.
quantity=value: local_steps, step_size, smoothness and strong_convexity; gradient_variance and clients for noise;
cohort and clients where some clients are drawn a round (methods whose clients keep nothing, scaffold(), fedinit());
rounds, initial_distance_sq and optimum_dissimilarity (zeta^2) for what is proved after so many rounds, beside the exact
worst case without noise and what quadratics reach. Ranges, lists: a table."""
WORDS = ("local_steps", "step_size", "smoothness", "strong_convexity", "clients", "cohort", "gradient_variance",
         "rounds", "initial_distance_sq", "optimum_dissimilarity")  # fmt: skip
"""The quantities of a place."""
RATE_JSON = """\
--json prints a list, one object for every place: method, local_steps, step_size, smoothness, strong_convexity, clients,
cohort, gradient_variance, rounds, initial_distance_sq, optimum_dissimilarity; contraction (the smallest certified),
quadratics (no method's certificate can be below: two quadratics); stated, start_distance, start_dissimilarity, floor,
noise_floor, half (rounds), proved: |w_T - w*|^2 <= stated^T (start_distance |w_0 - w*|^2 + start_dissimilarity zeta^2)
+ floor zeta^2 + noise_floor sigma^2; least_stated, least_floor, least_noise_floor: the same where the floor is least;
bound (after rounds), bound_proved, worst_case (the exact one after them, full gradients), instance (what quadratics
reach then), why (nothing is certified, or proved). What is not asked for, or not there, is null."""
