"""Run the claims in parallel and report the verdicts: the code behind ``fedbounds check``.

Start with ``running``: ``audit`` runs checks in processes of their own and returns a ``Verdict`` for each claim.
``command`` is the command line. ``records`` orders and counts verdicts and turns them into plain data; from it
``terminal`` prints a table, ``report`` writes Markdown pages, ``verdict`` a one-page summary and ``erratum`` a note in
LaTeX. ``own`` reads claims from a user's file, and ``contract`` checks the form of a bound declared in one.
"""
