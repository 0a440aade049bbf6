"""FedALS: generalization of one round and of many, partial participation, consensus and communication.

There are two versions, v1 (arXiv) and v2 (TMLR). Equation numbers are the same in both, and a bound names a version
only if they differ. Definitions (1) to (3), (7) and (8) are targets, not bounds. The modules:

- ``one_round``: Theorem 4.1 (6), its reading for iid clients, Theorem C.1 (38), Lemma B.1 (10);
- ``inexact``: derived here, (38) and (57) with the better constants that the same proof gives;
- ``noise``: derived here, replacements for (6), (9) and (72) without non-iidness;
- ``participation``: Lemmas D.1 (63) and D.2 (67), Cases I (73) and II (74), the participation gap (71);
- ``rounds``: Theorem 4.3 (9), (57), Remark 5.1 of v1, consensus distance, communicated parameters;
- ``quadratic``: derived here, every quantity of Theorem 4.1 in closed form for squared distances.

The earlier bounds in the paper's discussion are not included, because only their abstracts and first pages were
available, which print no formula (Barnes, Dytso and Poor, Entropy 24:1178, 2022, arXiv 2202.02423; Yagli, Dytso and
Poor, SPAWC 2020, arXiv 2005.02503; Sun, Niu and Wei, 2023, arXiv 2306.03824), and FedALS does not restate them.
"""
