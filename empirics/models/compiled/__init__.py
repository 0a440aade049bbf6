"""Networks of convolutions, pooling, ReLU and dense layers by compiled passes on a CPU."""
