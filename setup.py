"""What pyproject.toml cannot say: the examples are part of the wheel."""

import shutil

from setuptools import setup
from setuptools.command.build_py import build_py


class WithExamples(build_py):
    """The package's modules and ``bounds/examples``; not where it is editable."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            shutil.copytree("examples", f"{self.build_lib}/bounds/examples", dirs_exist_ok=True)


setup(cmdclass={"build_py": WithExamples})
