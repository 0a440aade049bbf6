"""Where the quantities of a bound come from in a run.

``words`` is the table, a row per quantity. ``statistics`` are those of a series, ``readings`` evaluates quantities in a
run, ``can`` decides whether a bound can be compared with a kind of evidence, ``methods`` builds a bound's algorithm.
"""
