"""FedALS: generalization of one round and of many, partial participation, consensus and communication.

Two versions were read, v1 (arXiv) and v2 (TMLR); equation numbers are the same in both and a bound names a version only
where they differ. Definitions (1) to (3), (7) and (8) are targets, not bounds. By theorem family:

- ``one_round``: Theorem 4.1 (6), its iid reading, Theorem C.1 (38), Lemma B.1 (10);
- ``inexact``: ours, (38) and (57) with constants that the same proof gives;
- ``noise``: ours, replacements for (6), (9) and (72) without non-iidness;
- ``participation``: Lemmas D.1 (63) and D.2 (67), Cases I (73) and II (74), the participation gap (71);
- ``rounds``: Theorem 4.3 (9), (57), Remark 5.1 of v1, consensus distance, communicated parameters;
- ``quadratic``: ours, every quantity of Theorem 4.1 in closed form for squared distances.

The earlier bounds that the discussion compares with are not here. Only their abstracts and first pages could be had
(Barnes, Dytso and Poor, Entropy 24:1178, 2022, arXiv 2202.02423; Yagli, Dytso and Poor, SPAWC 2020, arXiv 2005.02503;
Sun, Niu and Wei, 2023, arXiv 2306.03824), and those name a 1/K dependence, mutual information, Bregman divergences,
Lipschitz losses and stability but print no formula; FedALS itself restates none. What is not read is not encoded.
"""
