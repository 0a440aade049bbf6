"""Freed memory is kept: the same arrays cost page faults once, not in every step."""

import subprocess
import sys

import pytest

from empirics.models.networks import network

FAULTS = """
import ctypes, resource
from empirics.models.memory import keep_freed_memory

c = ctypes.CDLL(None)
c.malloc.restype, c.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
c.memset.argtypes, c.free.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t], [ctypes.c_void_p]

def step():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    blocks = [c.malloc(1_000_000) for _ in range(20)]
    for block in blocks:
        c.memset(block, 1, 1_000_000)
    for block in blocks:
        c.free(block)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

for _ in range(4):
    given_back = step()
asked = keep_freed_memory()
for _ in range(4):
    kept = step()
print(asked, given_back, kept)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="page faults are counted on Linux")
def test_page_faults_end_where_the_c_library_can_be_asked():
    out = subprocess.run([sys.executable, "-c", FAULTS], capture_output=True, text=True, check=True)
    asked, given_back, kept = out.stdout.split()
    if asked == "True":  # glibc
        assert int(given_back) > 1_000
        assert int(kept) < 100


def test_networks_ask_for_it():
    from empirics.models import memory

    memory.keep_freed_memory.cache_clear()
    _ = network("femnist_dnn").dim
    assert memory.keep_freed_memory.cache_info().misses == 1
