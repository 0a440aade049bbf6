"""Two-class sets of the LIBSVM page, in its sparse text format."""

from __future__ import annotations

import io
from dataclasses import dataclass

from .dataset import Dataset, Part, signs, with_test
from .store import damaged, Download, Files, read

PAGE = "www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary.html"
PLACE = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary/"


@dataclass(frozen=True)
class Libsvm:
    """A set of the page: its file, its test file if it has one, and how many features there are."""

    files: Files
    features: int
    about: str

    def __call__(self) -> Dataset:
        """Dense features as float64, targets -1 and 1 (the smaller label is -1)."""
        train, *test = (self._read(name) for name in self.files.names)
        return with_test(self.files, train, test[0] if test else None, 2, kind="binary")

    def _read(self, name: str) -> Part:
        from sklearn.datasets import load_svmlight_file

        path = self.files.one(name)
        data = read(path)
        try:
            inputs, labels = load_svmlight_file(io.BytesIO(data), n_features=self.features)
        except (ValueError, UnicodeDecodeError) as error:
            raise damaged(path, error) from None
        if not len(labels):
            raise damaged(path, "no samples")
        return inputs.toarray(), signs(labels, self.files.set), None


def _files(name: str, *names: str, downloads: tuple[Download, ...] = ()) -> Files:
    return Files(name, "libsvm", names, PAGE, downloads, "none stated (UCI)")


a9a = Libsvm(_files("a9a", "a9a", "a9a.t"), 123, "whether an adult earns over 50,000: 32,561 + 16,281")
w8a = Libsvm(_files("w8a", "w8a"), 300, "whether a web page belongs to a category: 49,749")
mushrooms = Libsvm(_files("mushrooms", "mushrooms"), 112, "whether a mushroom is poisonous: 8,124")
phishing = Libsvm(_files("phishing", "phishing"), 68, "whether a web site is a fraud: 11,055")
german = Libsvm(_files("german", "german.numer_scale"), 24, "credit risk: 1,000")
