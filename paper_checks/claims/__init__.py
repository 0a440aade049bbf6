"""The claims: sentences of the papers, each with the check that decides it and its audited verdict.

Each paper has a folder. Its ``claims.toml`` lists the claims as rows by section, ``review.toml`` is its review, and a
Python module of the section's name has the checks that a row cannot state: they hold if the words of the claim do.

``claim`` defines ``Claim``, ``Finding`` and ``Book``, the catalogue of bounds that checks look up. ``rows`` reads
``claims.toml``; ``check_texts`` parses the statements in it, such as ``"A <= B where K >= 1"``, and ``checkers`` decide
them symbolically, in exact arithmetic or by a search for counterexamples.
"""
