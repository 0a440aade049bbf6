"""Readers of public data sets, one file per family, and what turns them into federations.

``empirics.data.catalogue`` holds the catalogue. Nothing here needs a network except ``download``.
"""
