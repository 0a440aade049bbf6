"""What pyproject.toml cannot say: the index of the bounds is built with the wheel."""

import subprocess
import sys

from setuptools import setup
from setuptools.command.build_py import build_py


class WithIndex(build_py):
    """The package's modules, and ``bounds/index.json`` made by them; an editable installation makes it when asked."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            build = [sys.executable, "-B", "-c", "from bounds import index; index.build()"]
            subprocess.run(build, cwd=self.build_lib, check=True)


setup(cmdclass={"build_py": WithIndex})
