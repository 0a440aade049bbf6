"""Numerical work on bounds: evaluation, certified minima and inverses, ranges, elasticities.

``tape`` turns a formula into a list of operations, which run on several kinds of numbers: ``floats``, ``approximate``
(floats with error bounds) and ``balls`` (intervals of any precision). ``evaluate`` checks arguments and evaluates
(``recheck`` recomputes points where floats may be wrong), ``minimize`` and ``solve`` search over one quantity by
``objective`` and ``search``, ``ranges`` bounds the value over intervals, and ``slopes`` computes elasticities.
"""
