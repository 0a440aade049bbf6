"""The letters of the Decaying-K paper."""

from .. import vocabulary as q

C = q.clients
N = q.cohort
p_c = q.client_weight
K = q.local_steps
R = q.rounds
T = q.iterations
r = q.round_index
eta = q.step_size
ratio = q.steps_cubed_ratio
K_0 = q.initial_local_steps
eta_0 = q.initial_step_size
S = q.squared_step_sizes
s = q.rolling_window
L = q.smoothness
mu = q.strong_convexity
h = q.pl_constant  # in the claims also any other curvature
kappa = q.condition_number
F_star = q.optimal_loss
F_0 = q.initial_loss
F_T = q.current_loss
F_r = q.current_loss
F_t0 = q.current_loss
reports = q.summed_client_loss
sigma_c = q.client_gradient_variance  # the paper's sigma_c^2
G2 = q.grad_cap_sq
Gamma = q.heterogeneity
Z = q.noise_level
W = q.runtime
W_0 = q.initial_runtime
W_r = q.round_time
W_c = q.client_round_time
x = q.model_size
D = q.download_rate
U = q.upload_rate
beta = q.minibatch_time
D_c = q.client_download_rate
U_c = q.client_upload_rate
beta_c = q.client_minibatch_time
tau = q.communication_time
