"""The audit: ``fedbounds check`` runs the checks of claims and reports a verdict on each.

A *claim* is a sentence of a paper with its place and a check. The check takes the catalogue of bounds and returns a
*finding*: the statement holds, fails or is open, with evidence. The *verdict* is the finding on a claim and that on its
repair; it is *as audited* if it is the one that was reviewed and committed. ``fedbounds check fedinit.theorem_1`` runs

1. ``command``: read the options and choose the claims (``own``: from a user's file);
2. ``claims.rows``: make each claim from its row in ``claims.toml``, and its check from a text (``claims.check_texts``);
3. ``running``: run the checks in processes of their own, which gives the verdicts;
4. ``records``: sort and count the verdicts; ``report``: show them in the terminal or as Markdown pages.

``summary`` and ``erratum`` write one page and a LaTeX note on a paper; ``contract`` checks the form of a user's bound.
"""
