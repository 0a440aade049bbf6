"""Connect the quantities of bounds with runs: training, exact moments, searched instances and worst cases.

Start with ``origins``, a table with one row per quantity that says what determines it (the problem, the plan or the
run). ``obstacles`` decides whether a bound can be compared with a kind of evidence, ``readings`` evaluates quantities
in a run, ``statistics`` computes means, minima and last values of a series, ``schedules`` finds the step sizes that a
bound prescribes, and ``methods`` builds the algorithm that a bound covers.
"""
