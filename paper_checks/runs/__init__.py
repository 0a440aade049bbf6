"""What a run gives for each word of the vocabulary.

``words`` is the table: one row a word. ``statistics`` folds a series, ``readings`` looks the words up in a run, ``can``
says whether a bound can be held against a kind of evidence (and why not), ``methods`` builds what a bound is about.
"""
