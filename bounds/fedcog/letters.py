"""The letters of the FedCOG paper."""

from .. import vocabulary as q

K = q.clients
p = q.client_weight
tau = q.local_steps
T = q.rounds
eta = q.step_size
L = q.smoothness
gap = q.initial_gap
sigma_sq = q.gradient_variance
kappa_sq = q.dissimilarity_offset
beta_sq = q.dissimilarity_factor
g = q.grad_norm_sq
step_sq = q.global_step
L_c = q.task_loss
L_dis = q.disagreement_loss
js = q.jensen_shannon
L_kd = q.distillation_loss
lambda_dis = q.disagreement_weight
lambda_kd = q.distillation_weight
d = q.class_count
N = q.generated_samples
S = q.generation_steps
F_k = q.local_task_loss
C = q.classes
n = q.samples_per_class
N_real = q.own_samples
N_gen = q.lacking_samples
b = q.real_batch
b_hat = q.generated_batch
F_next = q.next_task_loss
Q_next = q.next_distillation
h_sq = q.mean_path_gradient_sq
g_k = q.client_grad_norm_sq
apart_sq = q.mean_gradient_drift
A = q.drift_factor
c = q.step_scale
