"""The claims: sentences of the papers, each with the check that decides it and its audited status.

Read ``claim`` first, which defines ``Claim`` and ``Finding``, then one ``claims.toml``: each paper has a folder with
its claims as rows by section, ``review.toml``, and for each section a Python module with what a row cannot state.

``rows`` makes claims from rows; ``check_texts`` makes the check of a text such as ``"A <= B where K >= 1"``: an object
of ``checkers``, which decides the statement symbolically, in exact arithmetic or by a search for counterexamples.
"""
