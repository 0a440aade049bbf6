"""Tables of the falsifier's runs for tests: nothing zero or equal but what must be."""

TABLE = {
    "clients": 3, "dim": 2, "cohort": 2, "with_replacement": 0, "local_steps": 3, "rounds": 2, "floor": 0.7,
    "step_size": 0.13, "relaxation": 0.06, "start_0": 1.3, "start_1": -0.4,
    **{f"curvature_{k}_{i}": [0.9, 0.31, 1.7, 0.23, 0.57, 1.1][2 * k + i] for k in range(3) for i in range(2)},
    **{f"minimum_{k}_{i}": [0.3, -1.1, 0.8, 0.45, -0.6, 0.2][2 * k + i] for k in range(3) for i in range(2)},
    **{f"turn_{k}": [0.21, -0.4, 0.7][k] for k in range(3)},
    **{f"noise_{k}": [0.5, 0.11, 0.83][k] for k in range(3)},
    **{f"weight_{k}": 1 for k in range(3)},
}  # fmt: skip
"""Nothing zero or equal, but for the weights, which a plain mean over clients asks for."""

CURVE = {
    "clients": 2, "cohort": 2, "with_replacement": 0, "local_steps": 3, "rounds": 2, "shape": 1, "bowl": 0.2,
    "height": 1.3, "start": 2.1, "floor": 0.0, "relaxation": 0.0, "step_size": 0.4, "step_offset": 2.7,
    "tilt_0": 0.7, "tilt_1": -0.2, "weight_0": 1.0, "weight_1": 1.5,
}  # fmt: skip
