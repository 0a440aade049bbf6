"""What happens: problems, data, partitions, training and measurements."""

import os

# MKL's products differ in the last bits with the place of their operands in memory, on some processors. With this they
# do not. It is read at the first product, so it is set before torch is imported.
os.environ.setdefault("MKL_CBWR", "AUTO,STRICT")
