"""Figures and tables: the results of the four papers redrawn from our runs, and figures of our own.

For readers who want to compare a paper's figure or table with a reproduction at four scales (smoke, laptop, overnight,
paper), and for whoever adds one. `fedbounds figure NAME` runs what is missing and writes picture, table, CSV, caption
and JSON card. Each paper has a folder: its table of figures is in `__init__.py`, `grid.py` plans the runs, `tables.py`
and `figures.py` turn them into rows and findings. The files beside this one are common to all papers.

Start with `artefact.py` (what a figure or table is) and `catalogue.py` (all of them by name); `making.py` writes the
files, `sheets.py` makes tables, `comparing.py` and `guards.py` decide whether a finding of a paper is reproduced,
`explorer/` is the web page.
"""
