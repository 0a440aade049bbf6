"""The models of a run at which a statistic can be evaluated."""

SERVER = "server model"
VIRTUAL = "virtual average of all clients"
LOCAL = "last local models of all clients"
AVERAGE = "average of the iterates"
TWO_RUNS = "local models of two runs"
PLACES = (SERVER, "averaged model", "client's own model", LOCAL, VIRTUAL, AVERAGE, TWO_RUNS)
