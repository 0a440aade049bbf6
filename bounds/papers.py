"""The papers: title, authors, year, and the version that was used. Every source of a bound refers to one."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .errors import DeclarationError, unknown


@dataclass(frozen=True)
class Paper:
    """A paper with its citation; ``key`` is its short name in code, ``read`` the version that was used."""

    key: str
    short: str
    title: str
    authors: tuple[str, ...]
    year: int
    venue: str
    read: str
    works: tuple[Paper, ...] = ()
    """For a collection of papers that are audited together, its papers; a source then names one as its version."""

    @property
    def bibtex(self) -> str:
        if self.works:
            return "\n\n".join(work.bibtex for work in self.works)
        names = " and ".join(self.authors)
        return (
            f"@article{{{self.key},\n  title = {{{self.title}}},\n  author = {{{names}}},\n"
            f"  year = {{{self.year}}},\n  journal = {{{self.venue}}},\n  note = {{{self.read}}}\n}}"
        )


_KHALED = ("Ahmed Khaled", "Konstantin Mishchenko", "Peter Richtarik")
_CLASSICS = (
    Paper("wang2021", "Field Guide", "A Field Guide to Federated Optimization",
        ("Jianyu Wang", "Zachary Charles", "Zheng Xu", "Gauri Joshi", "H. Brendan McMahan", "others"), 2021, "arXiv",
        "arXiv 2107.06917, by a restatement"),
    Paper("li2020", "Li et al. 2020", "On the Convergence of FedAvg on Non-IID Data",
        ("Xiang Li", "Kaixuan Huang", "Wenhao Yang", "Shusen Wang", "Zhihua Zhang"), 2020,
        "International Conference on Learning Representations", "arXiv 1907.02189, without its appendix"),
    Paper("khaled2019gd", "Local GD", "First Analysis of Local GD on Heterogeneous Data", _KHALED, 2019,
        "NeurIPS Workshop on Federated Learning", "arXiv 1909.04715, with its appendix"),
    Paper("khaled2019sgd", "Local SGD", "Better Communication Complexity for Local SGD", _KHALED, 2019, "preprint",
        "the version of September 2019"),
    Paper("bottou2018", "Bottou et al. 2018", "Optimization Methods for Large-Scale Machine Learning",
        ("Leon Bottou", "Frank E. Curtis", "Jorge Nocedal"), 2018, "SIAM Review",
        "arXiv 1606.04838v3, by a restatement"),
    Paper("needell2014", "Needell et al. 2014",
        "Stochastic gradient descent, weighted sampling, and the randomized Kaczmarz algorithm",
        ("Deanna Needell", "Nathan Srebro", "Rachel Ward"), 2014,
        "Advances in Neural Information Processing Systems 27", "arXiv 1310.5715v5, by a restatement"),
    Paper("hardt2016", "Hardt et al. 2016",
        "Train faster, generalize better: Stability of stochastic gradient descent",
        ("Moritz Hardt", "Benjamin Recht", "Yoram Singer"), 2016, "International Conference on Machine Learning",
        "PMLR 48, whose numbers are used"),
    Paper("fedprox2020", "FedProx", "Federated Optimization in Heterogeneous Networks",
        ("Tian Li", "Anit Kumar Sahu", "Manzil Zaheer", "Maziar Sanjabi", "Ameet Talwalkar", "Virginia Smith"), 2020,
        "Machine Learning and Systems", "arXiv 1812.06127, with its appendix"),
    Paper("scaffold2020", "SCAFFOLD", "SCAFFOLD: Stochastic Controlled Averaging for Federated Learning",
        ("Sai Praneeth Karimireddy", "Satyen Kale", "Mehryar Mohri", "Sashank J. Reddi", "Sebastian U. Stich",
         "Ananda Theertha Suresh"), 2020, "International Conference on Machine Learning",
        "arXiv 1910.06378v4, by a restatement of its appendix"),
    Paper("fednova2020", "FedNova",
        "Tackling the Objective Inconsistency Problem in Heterogeneous Federated Optimization",
        ("Jianyu Wang", "Qinghua Liu", "Hao Liang", "Gauri Joshi", "H. Vincent Poor"), 2020,
        "Advances in Neural Information Processing Systems 33", "arXiv 2007.07481, without its appendix"),
    Paper("proxskip2022", "ProxSkip",
        "ProxSkip: Yes! Local Gradient Steps Provably Lead to Communication Acceleration! Finally!",
        ("Konstantin Mishchenko", "Grigory Malinovsky", "Sebastian Stich", "Peter Richtarik"), 2022,
        "International Conference on Machine Learning", "the version of February 2022, with its appendix"),
)  # fmt: skip
_FEDALS_AUTHORS = ("Peyman Gholami", "Hulya Seferoglu")

PAPERS: dict[str, Paper] = {
    p.key: p
    for p in (
        Paper("fedals", "FedALS", "Differentiated Aggregation to Improve Generalization in Federated Learning",
            _FEDALS_AUTHORS, 2025, "Transactions on Machine Learning Research",
            "v2: the TMLR version; v1: arXiv 2404.11754 version 1, "
            "'Improved Generalization Bounds for Communication Efficient Federated Learning'"),
        Paper("fedinit", "FedInit",
            "Understanding How Consistency Works in Federated Learning via Stage-wise Relaxed Initialization",
            ("Yan Sun", "Li Shen", "Dacheng Tao"), 2023, "Advances in Neural Information Processing Systems 36",
            "arXiv 2306.05706, with its appendix"),
        Paper("decaying_k", "Decaying-K", "Faster Federated Learning with Decaying Number of Local SGD Steps",
            ("Jed Mills", "Jia Hu", "Geyong Min"), 2023, "IEEE Transactions on Parallel and Distributed Systems",
            "arXiv 2305.09628"),
        Paper("fedcog", "FedCOG", "Fake It Till Make It: Federated Learning with Consensus-Oriented Generation",
            ("Rui Ye", "Yaxin Du", "Zhenyang Ni", "Siheng Chen", "Yanfeng Wang"), 2024,
            "International Conference on Learning Representations", "arXiv 2312.05966"),
        Paper("classics", "Classics", "Classic theorems of federated learning, local SGD and stability",
            tuple(dict.fromkeys(author for work in _CLASSICS for author in work.authors)),
            max(work.year for work in _CLASSICS), "several",
            "; ".join(f"{work.short}: {work.title}, {work.read}" for work in _CLASSICS), _CLASSICS),
    )
}  # fmt: skip


@dataclass(frozen=True)
class Source:
    """Where a statement is found: the key of a paper (or any text for your own bound), and the place in it."""

    paper: str
    place: str
    version: str = ""

    def __post_init__(self) -> None:
        if not self.paper or not self.place:
            raise DeclarationError("a source needs a paper and a place, such as Source('fedals', 'eq. (6)')")

    @property
    def is_catalogued(self) -> bool:
        return self.paper in PAPERS

    def __str__(self) -> str:
        name = PAPERS[self.paper].short if self.is_catalogued else self.paper
        return f"{name}{f' {self.version}' if self.version else ''}, {self.place}"


def heads(paper: str, version: str = "") -> Callable[..., dict[str, Any]]:
    """Return a function that builds the first fields of a paper's bounds.

    Use it as ``Bound(**of("lemma_2", target, "Lemma 2"), terms=...)``. The function takes the name, the target, the
    place in the paper, the algorithm and the statistic. Fields that are None are left out, so that ``replace`` keeps
    them.
    """

    def of(
        name: str, target: Any, place: str, about: Any = None, statistic: Any = None, version: str = version
    ) -> dict[str, Any]:
        fields = {"target": target, "about": about, "statistic": statistic}
        head = {field: value for field, value in fields.items() if value is not None}
        return {"name": f"{paper}.{name}", "source": Source(paper, place, version), **head}

    return of


def known_paper(key: str) -> Paper | None:
    """Return the paper with this key or arXiv identifier, or None."""
    if found := PAPERS.get(key.lower()):
        return found
    number = key.lower().removeprefix("arxiv:").strip()
    whole = re.fullmatch(r"\d{4}\.\d{5}", number)
    return next((each for each in PAPERS.values() if whole and number in each.read), None)


def paper(key: str) -> Paper:
    """Return the paper with this key or arXiv identifier; raise ``UnknownNameError`` if there is none."""
    if found := known_paper(key):
        return found
    raise unknown("paper", key, PAPERS)
