"""Algorithm 1 and the remarks on it: its lines, its messages, and the data that the theory shares."""
