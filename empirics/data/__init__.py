"""Data sets: readers of public ones, one file per family, and of users' own tables.

``empirics.data.catalogue.dataset("digits")`` reads a set by name; its ``DATASETS`` lists them. Every reader returns a
``Dataset`` (``dataset.py``): arrays, what they mean, and their source and licence. ``sets.toml`` lists the files of
each set, ``store.py`` finds, checks, opens and downloads them; only ``download`` uses a network. ``conversion.py``
turns stored integers into model inputs. Dealing samples to clients is in ``empirics.federation``.
"""
