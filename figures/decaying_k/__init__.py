"""The figures and tables of Decaying-K: eight schedules of local steps and step size, compared in the same time."""
