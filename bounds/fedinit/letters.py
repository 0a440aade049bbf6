"""The letters of the FedInit paper."""

from sympy import sqrt

from .. import vocabulary as q

C = q.clients
N = q.cohort
S = q.samples
K = q.local_steps
T = q.rounds
eta = q.step_size
beta = q.relaxation
d = q.parameters
L = q.smoothness
mu = q.pl_constant
L_G = q.lipschitz
U = q.loss_cap
D = q.initial_gap
sigma2 = q.gradient_variance
G2 = q.dissimilarity_offset
B2 = q.dissimilarity_factor
g2 = q.grad_norm_sq
path2 = q.summed_grad_norm_sq
Delta = q.divergence
Delta_next = q.next_divergence
mean_g2 = q.mean_grad_norm_sq
lam = q.contraction
kappa_1 = q.heterogeneity_constant
kappa_2 = q.noise_constant
root_sum = q.summed_divergence_root
s = q.separation
t_0 = q.untouched_steps
s_ = q.local_iteration
tau = q.local_iteration
c = q.step_size_scale
mu_0 = q.step_size_budget
sigma_l = sqrt(sigma2)
