"""FedInit once more, read off the paper in plain arithmetic: nothing here comes from ``bounds``."""

import math

from .values import but

# ---- constants, caps ----


def kappa_1(v):
    """Under eq. (9): 1300 b^2/(1 - 72 b^2) + 17."""
    return 1300 * v.relaxation**2 / (1 - 72 * v.relaxation**2) + 17


def kappa_2(v):
    """Under eq. (9): 1020 b^2/(1 - 72 b^2) + 13."""
    return 1020 * v.relaxation**2 / (1 - 72 * v.relaxation**2) + 13


def contraction_cap(v):
    """A.2.2: what lambda has to stay below."""
    x = v.step_size * v.local_steps * v.smoothness
    decay = 1 - 72 * v.relaxation**2
    room = 1.0
    room -= 39 * x * v.dissimilarity_factor / v.cohort
    room -= 3900 * v.relaxation**2 * x * v.dissimilarity_factor / (decay * v.cohort)
    room -= 12 * x**2 * v.dissimilarity_factor
    return room


# ---- caps ----


def step_size_cap_theorem_1(v):
    """Theorem 1: min{N/(2CKL), 1/(NKL)}."""
    return min(v.cohort / (2 * v.clients * v.local_steps * v.smoothness), 1 / (v.cohort * v.local_steps * v.smoothness))


def step_size_cap_theorem_2(v):
    """Theorems 2 and 5: the caps of Theorem 1 and 1/(lambda mu K)."""
    first = step_size_cap_theorem_1(v)
    return min(first, 1 / (v.contraction * v.pl_constant * v.local_steps))


step_size_cap_theorem_5 = step_size_cap_theorem_2


def step_size_cap_theorem_4(v):
    """Theorem 4: the caps of Theorem 1 and sqrt(N)/(sqrt(C) K L)."""
    first = step_size_cap_theorem_1(v)
    return min(first, math.sqrt(v.cohort) / (math.sqrt(v.clients) * v.local_steps * v.smoothness))


def step_size_cap_descent(v):
    """A.2.2: a eta^2 - b eta <= 0 where eta <= b/a, with a and b read off the bracket."""
    a = 30 * v.relaxation**2 * v.smoothness / (v.clients * v.cohort**2 * (1 - 72 * v.relaxation**2))
    a += v.smoothness / (2 * v.clients * v.cohort)
    b = 1 / (2 * v.clients**2 * v.local_steps)
    return b / a


def relaxation_cap_theorem_5(v):
    """Proof of Theorem 5: 96 b^2 = exp(-lambda mu eta K), solved for b."""
    return math.sqrt(math.exp(-v.contraction * v.pl_constant * v.step_size * v.local_steps) / 96)


# ---- lemmas ----


def lemma_2(v):
    """Eq. (24); the smoothness enters through the cap only."""
    value = 4 * v.local_steps * v.relaxation**2 * v.divergence
    value += 3 * v.local_steps**2 * v.step_size**2 * (v.gradient_variance + 4 * v.local_steps * v.dissimilarity_offset)
    value += 12 * v.local_steps**3 * v.step_size**2 * v.dissimilarity_factor * v.grad_norm_sq
    return value


def lemma_3(v):
    value = 15 * v.relaxation**2 / v.cohort * v.divergence
    value += 10 * v.step_size**2 * v.local_steps / v.cohort * v.gradient_variance
    value += 39 * v.step_size**2 * v.local_steps**2 / v.cohort * v.dissimilarity_offset
    value += 39 * v.step_size**2 * v.local_steps**2 * v.dissimilarity_factor / v.cohort * v.grad_norm_sq
    value += v.step_size**2 / (v.clients * v.cohort) * v.summed_grad_norm_sq
    return value


def lemma_4_recursion(v):
    """Proof of Lemma 4, last recursion."""
    value = 72 * v.relaxation**2 * v.divergence
    value += 51 * v.step_size**2 * v.local_steps * v.gradient_variance
    value += 195 * v.step_size**2 * v.local_steps**2 * v.dissimilarity_offset
    value += 195 * v.step_size**2 * v.local_steps**2 * v.dissimilarity_factor * v.grad_norm_sq
    value += 3 * v.step_size**2 / (v.clients * v.cohort) * v.summed_grad_norm_sq
    return value


def lemma_4(v):
    """Eq. (26): from (1 - 72 b^2) D_t <= D_t - D_{t+1} + the noise of the recursion."""
    noise = lemma_4_recursion(but(v, divergence=0.0))
    return (v.divergence - v.next_divergence + noise) / (1 - 72 * v.relaxation**2)


# ---- descent, Theorems 1 and 2 ----


def descent(v):
    """A.2.2, last display: its right-hand side over lambda eta K/2."""
    right = v.loss_decrease
    weight = 10 * v.relaxation**2 * v.smoothness / ((1 - 72 * v.relaxation**2) * v.cohort)
    right += weight * (v.divergence - v.next_divergence)
    right += (
        3 * kappa_1(v) * (v.step_size * v.local_steps) ** 2 * v.smoothness / (2 * v.cohort) * v.dissimilarity_offset
    )
    right += kappa_2(v) * v.step_size**2 * v.local_steps * v.smoothness / (2 * v.cohort) * v.gradient_variance
    return right / (v.contraction * v.step_size * v.local_steps / 2)


def theorem_1(v):
    value = 2 * v.initial_gap / (v.contraction * v.step_size * v.local_steps * v.rounds)
    value += kappa_2(v) * v.step_size * v.smoothness / (v.contraction * v.cohort) * v.gradient_variance
    slope = 3 * kappa_1(v) * v.step_size * v.local_steps * v.smoothness
    return value + slope / (v.contraction * v.cohort) * v.dissimilarity_offset


def theorem_2(v):
    """Eq. (11), the exponential as a product over the rounds."""
    kept = 1.0
    for _ in range(v.rounds):
        kept *= math.exp(-v.contraction * v.pl_constant * v.step_size * v.local_steps)
    value = kept * v.initial_gap
    below = 2 * v.cohort * v.contraction * v.pl_constant
    value += 3 * kappa_1(v) * v.step_size * v.local_steps * v.smoothness / below * v.dissimilarity_offset
    value += kappa_2(v) * v.step_size * v.smoothness / below * v.gradient_variance
    return value


# ---- divergence: Theorems 4 and 5, explicit; its weight ----


def theorem_4_recursion(v):
    """Proof of Theorem 4, the recursion."""
    value = 96 * v.relaxation**2 * v.divergence
    value += 267 * v.step_size**2 * v.local_steps**2 * v.dissimilarity_factor * v.grad_norm_sq
    value += 69 * v.step_size**2 * v.local_steps * v.gradient_variance
    value += 267 * v.step_size**2 * v.local_steps**2 * v.dissimilarity_offset
    return value


def theorem_4_before(v):
    """Proof of Theorem 4: (1 - 96 b^2) D_t <= D_t - D_{t+1} + noise, averaged round by round."""
    noise = 69 * v.step_size**2 * v.local_steps * v.gradient_variance
    noise += (
        267
        * v.step_size**2
        * v.local_steps**2
        * (v.dissimilarity_offset + v.dissimilarity_factor * v.mean_grad_norm_sq)
    )
    total = v.initial_divergence - v.final_divergence
    for _ in range(v.rounds):
        total += noise
    return total / ((1 - 96 * v.relaxation**2) * v.rounds)


def theorem_4(v):
    """Proof of Theorem 4, last explicit display, its coefficients one by one as printed."""
    rest = 1 - 96 * v.relaxation**2
    b_2, s_2, g_2 = v.dissimilarity_factor, v.gradient_variance, v.dissimilarity_offset
    value = (v.initial_divergence - v.final_divergence) / (rest * v.rounds)
    value += 534 * v.step_size * v.local_steps * b_2 * v.initial_gap / (rest * v.contraction * v.rounds)
    cubic = v.step_size**3 * v.smoothness * b_2 / (rest * v.contraction * v.cohort)
    value += 267 * v.local_steps**2 * kappa_2(v) * cubic * s_2
    value += 801 * v.local_steps**3 * kappa_1(v) * cubic * g_2
    value += 69 * v.step_size**2 * v.local_steps / rest * s_2
    value += 267 * v.step_size**2 * v.local_steps**2 / rest * g_2
    return value


def theorem_5(v):
    """Proof of Theorem 5: recursion, descent and Theorem 2, the last sum added up round by round."""
    rest = 1 - 96 * v.relaxation**2
    first, second = kappa_1(v), kappa_2(v)
    eta, steps, s_2, g_2 = v.step_size, v.local_steps, v.gradient_variance, v.dissimilarity_offset
    value = (69 * eta**2 * steps * s_2 + 267 * eta**2 * steps**2 * g_2) / rest
    weight = 267 * v.dissimilarity_factor * v.smoothness / (rest * v.contraction * v.cohort)
    value += weight * (second * eta**3 * steps**2 * s_2 + 3 * first * eta**3 * steps**3 * g_2)
    weight /= v.contraction * v.pl_constant
    value += weight * (second * eta**2 * steps * s_2 + 3 * first * eta**2 * steps**2 * g_2)
    rate = v.contraction * v.pl_constant * eta * steps
    late = 0.0
    for t in range(v.rounds):  # (96 b^2)^{T-1-t} is replaced by its cap, Theorem 2 gives the rest
        late += math.exp(-rate * (v.rounds - 1 - t)) * math.exp(-rate * t)
    return value + 534 * eta * steps * v.dissimilarity_factor / v.contraction * v.initial_gap * late


def divergence_weight(v):
    """Section 4.3.4: (1 + b)^{1/(b c L)} over sqrt(1 - 96 b^2)."""
    growth = math.exp(math.log1p(v.relaxation) / (v.relaxation * v.step_size_scale * v.smoothness))
    return growth / math.sqrt(1 - 96 * v.relaxation**2)


# ---- generalisation: Lemmas 1 and 5 to 7, the separation of two runs, Theorem 3 ----


def lemma_5(v):
    return v.loss_cap * v.untouched_steps / v.samples + v.lipschitz * v.separation


def lemma_6(v):
    return (1 + v.step_size * v.smoothness) * v.separation + 2 * v.step_size * math.sqrt(v.gradient_variance)


def lemma_7(v):
    return v.separation + 2 * v.step_size * (math.sqrt(v.gradient_variance) + v.lipschitz)


def stability_step(v):
    """A.3.2, one local step: the mean of Lemma 6 over S - 1 samples and Lemma 7 over the one that differs."""
    total = lemma_7(v)
    for _ in range(v.samples - 1):
        total += lemma_6(v)
    return total / v.samples


def _constant(v):
    """2 (L_G^2 + S L_G sigma), the constant inside the brackets of eq. (14)."""
    return 2 * (v.lipschitz**2 + v.samples * v.lipschitz * math.sqrt(v.gradient_variance))


def stability_separation(v):
    c_l = v.step_size_scale * v.smoothness
    growth = (v.rounds * v.local_steps / v.untouched_steps) ** c_l
    own = 2 * (v.lipschitz + v.samples * math.sqrt(v.gradient_variance)) / ((v.samples - 1) * v.smoothness)
    drift = (1 + v.relaxation) ** (1 / (v.relaxation * c_l)) * v.summed_divergence_root
    return own * growth + drift * growth


def t_0(v):
    """Proof of Theorem 3: [2 (L_G^2 + S L_G sigma)/(U L) (TK)^{cL}]^{1/(1+cL)}, by logarithms."""
    c_l = v.step_size_scale * v.smoothness
    logarithm = math.log(_constant(v) / (v.loss_cap * v.smoothness))
    return math.exp((logarithm + c_l * math.log(v.rounds * v.local_steps)) / (1 + c_l))


def theorem_3(v):
    """By hand: at t_0 the local terms are U t_0/S and U t_0/(S - 1), and (TK/t_0)^{cL} multiplies the drift."""
    c_l = v.step_size_scale * v.smoothness
    chosen = t_0(v)
    value = v.loss_cap * chosen / v.samples + v.loss_cap * chosen / (v.samples - 1)
    drift = (1 + v.relaxation) ** (1 / (v.relaxation * c_l)) * v.summed_divergence_root
    return value + v.lipschitz * drift * (v.rounds * v.local_steps / chosen) ** c_l


def theorem_3_printed(v):
    c_l = v.step_size_scale * v.smoothness
    iterations = v.rounds * v.local_steps
    constant = _constant(v)
    first = (constant * (v.loss_cap * iterations) ** c_l / v.smoothness) ** (1 / (1 + c_l)) / (v.samples - 1)
    bracket = (v.loss_cap * v.smoothness * iterations / constant) ** (c_l / (1 + c_l))
    return first + (1 + v.relaxation) ** (1 / (v.relaxation * c_l)) * bracket * v.summed_divergence_root


# ---- what stands inside the O(.), constants taken as 1 ----


def step_size_theorem_2_order(v):
    """Above eq. (12): log(lambda mu N K T)/(lambda mu K T)."""
    inverse = v.contraction * v.pl_constant * v.local_steps * v.rounds
    return math.log(inverse * v.cohort) / inverse


def _loss(v):
    """D + L (sigma_l^2 + K G^2), the numerator of eqs. (10), (12), (16), (18)."""
    return v.initial_gap + v.smoothness * (v.gradient_variance + v.local_steps * v.dissimilarity_offset)


def theorem_1_order(v):
    return _loss(v) / math.sqrt(v.cohort * v.local_steps * v.rounds)


def theorem_3_order(v):
    """Discussion of Theorem 3: (TK)^{cL/(1+cL)}/S."""
    c_l = v.step_size_scale * v.smoothness
    return (v.rounds * v.local_steps) ** (c_l / (1 + c_l)) / v.samples


def theorem_4_order(v):
    value = v.cohort * (v.gradient_variance + v.local_steps * v.dissimilarity_offset) / v.rounds
    return value + math.sqrt(v.cohort * v.local_steps) * v.dissimilarity_factor * _loss(v) / v.rounds**1.5


def theorem_5_order(v):
    value = (v.initial_gap + v.dissimilarity_offset) / v.rounds**2
    mixed = v.cohort * v.gradient_variance + v.local_steps * v.dissimilarity_offset
    value += mixed / (v.cohort * v.local_steps * v.rounds**2)
    return value + 1 / (v.cohort * v.local_steps * v.rounds**3)


def theorem_6(v):
    """Eq. (18): optimisation, stability, divergence."""
    c_l = v.step_size_scale * v.smoothness
    value = _loss(v) / (v.cohort * v.local_steps * v.rounds)
    noise = math.sqrt(v.gradient_variance)
    value += (noise * (v.rounds * v.local_steps) ** c_l) ** (1 / (1 + c_l)) / v.samples
    drift = math.sqrt(v.initial_gap + v.dissimilarity_offset) * v.local_steps ** (c_l / (1 + c_l))
    return value + drift / v.rounds ** (1 / (1 + c_l))


# ---- repaired statements ----


def step_size_cap_contraction(v):
    """The step size at which what is left of the descent is lambda, by bisection."""

    def left(step_size: float) -> float:
        return contraction_cap(but(v, step_size=step_size))

    low, high = 0.0, 1.0
    while left(high) > v.contraction:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if left(middle) > v.contraction else (low, middle)
    return low


def theorem_2_potential(v):
    """What a round adds to the potential, by the lemmas' numbers, over its shrinkage."""
    shrink = v.contraction * v.pl_constant * v.step_size * v.local_steps
    pull = 10 * v.relaxation**2 * v.smoothness / (v.cohort * (1 - 72 * v.relaxation**2 - shrink))
    noise = 13 * v.smoothness / (2 * v.cohort) + 51 * pull
    unlike = 51 * v.smoothness / (2 * v.cohort) + 195 * pull
    a_round = (
        v.step_size**2 * v.local_steps * (noise * v.gradient_variance + unlike * v.local_steps * v.dissimilarity_offset)
    )
    return math.exp(-shrink * v.rounds) * v.initial_gap + a_round / shrink


def theorem_5_geometric(v):
    """Theorem 5 without D, and the endless sum of powers of 96 beta^2 exp(a) in its place."""
    a = v.contraction * v.pl_constant * v.step_size * v.local_steps
    powers = sum((96 * v.relaxation**2 * math.exp(a)) ** j for j in range(3000))
    start = 534 * v.step_size * v.local_steps * v.dissimilarity_factor / v.contraction * v.initial_gap
    return theorem_5(but(v, initial_gap=0.0)) + start * math.exp(-a * (v.rounds - 1)) * powers


def stability_step_clients(v):
    """The mean over clients: one holds the sample that differs."""
    one = stability_step(v)
    others = [lemma_6(v) for _ in range(v.clients - 1)]
    return math.fsum([one, *others]) / v.clients


# ---- costs ----


# Table 8: how often N d, N K d and C d a method sends, computes and stores.
_TABLE_8 = {
    "fedavg": (1, 1, 1),
    "fedadam": (1, 1, 1),
    "fedsam": (1, 2, 2),
    "scaffold": (2, 1, 3),
    "feddyn": (1, 1, 3),
    "fedcm": (2, 1, 2),
    "fedinit": (1, 1, 1),
}


COSTS = {}
for _method, (_sent, _computed, _kept) in _TABLE_8.items():  # vector by vector, one participant or client after another
    COSTS[f"fedinit.cost_communication_{_method}"] = lambda v, n=_sent: sum(n * v.parameters for _ in range(v.cohort))
    COSTS[f"fedinit.cost_gradients_{_method}"] = lambda v, n=_computed: sum(
        n * v.parameters for _ in range(v.cohort) for _ in range(v.local_steps)
    )
    COSTS[f"fedinit.cost_storage_{_method}"] = lambda v, n=_kept: sum(n * v.parameters for _ in range(v.clients))


def theorem_4_recursion_sharp(v):
    """Twice the relaxed start and twice the walk, the drift put in, at eta K L = 1/sqrt(8)."""
    scale = v.step_size**2 * v.local_steps
    unlike = v.local_steps * (v.dissimilarity_offset + v.dissimilarity_factor * v.grad_norm_sq)
    drift = 3 * v.relaxation**2 * v.divergence + scale * (2 * v.gradient_variance + 8 * unlike)  # of one step
    return 2 * v.relaxation**2 * v.divergence + scale * (4 * v.gradient_variance + 8 * unlike) + drift


def theorem_1_sharp(v):
    """The descent of a round over eta K lambda / 2, the mean divergence solved from its recursion."""
    x = v.step_size * v.local_steps * v.smoothness
    noise = v.step_size**2 * v.local_steps * v.gradient_variance
    unlike = (v.step_size * v.local_steps) ** 2 * v.dissimilarity_offset
    divergence = (6 * noise + 16 * unlike) / (1 - 5 * v.relaxation**2)
    drift = 3 * v.relaxation**2 * divergence + 2 * noise + 8 * unlike
    server = 2 * v.step_size * v.smoothness * v.gradient_variance / v.cohort
    first = 2 * v.initial_gap * v.smoothness / (x * v.rounds)
    return (first + server + v.smoothness**2 * drift) / v.contraction


LINES = {
    "step_size_cap_lemma_2": lambda v: math.sqrt(1 / 8) / (v.local_steps * v.smoothness),
    "step_size_cap_lemma_3": lambda v: 1 / (v.local_steps * v.smoothness),
    "relaxation_cap_theorem_1": lambda v: math.sqrt(2) / 12,
    "relaxation_cap_theorem_4": lambda v: math.sqrt(6) / 24,
    "lemma_1": lambda v: v.stability,
    "stability_round": lambda v: (1 + v.relaxation) * math.sqrt(v.divergence),
    "stability_before_t_0": lambda v: lemma_5(but(v, separation=stability_separation(v))),
    "step_size_theorem_3": lambda v: v.step_size_budget / v.local_steps / v.local_iteration,
    "step_size_theorem_1_order": lambda v: math.sqrt(v.cohort / (v.local_steps * v.rounds)),
    "local_steps_order": lambda v: v.gradient_variance / v.dissimilarity_offset,
    "theorem_1_order_appendix": lambda v: theorem_1_order(but(v, dissimilarity_offset=3 * v.dissimilarity_offset)),
    "theorem_2_order": lambda v: _loss(v) / (v.cohort * v.local_steps * v.rounds),
    "stability_start": lambda v: v.separation + 2 * v.relaxation * v.separation,
    "excess_risk_split": lambda v: math.fsum((v.generalization_gap, v.optimality_gap)),
}
