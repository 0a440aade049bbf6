"""The letters of the FedALS paper."""

from .. import vocabulary as q

K = q.clients
K_hat = q.cohort
w = q.client_weight
n = q.samples
Z = q.samples_per_round
x = q.client_value
tau = q.local_steps
R = q.rounds
T = q.iterations
eta = q.step_size
alpha = q.adaptation
phi = q.extractor_size
h = q.head_size
L = q.smoothness
mu = q.strong_convexity
kappa = q.condition_number
a = q.initial_gap
gap = q.initial_gap
b = q.gradient_variance
sigma_sq = q.gradient_variance
sigma_k_sq = q.client_gradient_variance
G_sq = q.grad_cap_sq
C = q.complexity
Delta = q.local_gap
delta = q.non_iidness
epsilon = q.local_suboptimality
distance_sq = q.client_distance_sq
