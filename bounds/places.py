"""Which models of a run a statistic is read at; another word would be shown and not checked."""

SERVER = "server model"
VIRTUAL = "virtual average of all clients"
LOCAL = "last local models of all clients"
AVERAGE = "average of the iterates"
TWO_RUNS = "local models of two runs"
PLACES = (SERVER, "averaged model", "client's own model", LOCAL, VIRTUAL, AVERAGE, TWO_RUNS)
