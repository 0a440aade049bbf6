"""The explorer: one HTML page that evaluates, draws and compares all bounds in the browser, without a server.

`command.py` is the verb, `page.py` puts the file together, `records.py` and `atlas.py` are the data and the formulas
(as JavaScript) that it holds, `web/` is the code of the page.
"""
