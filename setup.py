"""What pyproject.toml cannot say: the index of the bounds is built with the wheel, and the examples travel in it."""

import shutil
import subprocess
import sys

from setuptools import setup
from setuptools.command.build_py import build_py


class WithIndex(build_py):
    """The package's modules, ``bounds/index.json`` made by them, and ``bounds/examples``; not where it is editable."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            build = [sys.executable, "-B", "-c", "from bounds import index; index.build()"]
            subprocess.run(build, cwd=self.build_lib, check=True)
            shutil.copytree("examples", f"{self.build_lib}/bounds/examples", dirs_exist_ok=True)


setup(cmdclass={"build_py": WithIndex})
