"""Extensions of Sphinx that build the documentation.

``reference`` writes the reference pages from the catalogues before Sphinx reads its sources, by the Jinja ``templates``
with the functions of ``facts``, ``claim_report`` and ``pictures``. ``mathml`` renders formulas, ``explorer`` adds the
interactive page, and ``offline`` raises a warning for every page that loads something from a network. ``notebook``
executes the committed notebook and compares its outputs.
"""
