import sys
from pathlib import Path

sys.path[:1] = map(str, Path(__file__).resolve().parents[2:4])  # instead of this folder, whose names are modules

from tools.mutation.command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
