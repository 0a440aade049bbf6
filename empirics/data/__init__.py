"""Readers of public data sets, one file per family.

``empirics.data.catalogue`` holds the catalogue. Nothing here needs a network except ``download``.
"""
