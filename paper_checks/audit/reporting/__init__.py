"""The report of an audit: a table in the terminal, Markdown, one HTML page and JSON, all from the same records."""

from .page import page
from .records import Record, records
from .terminal import show
from .text import markdown

__all__ = ["Record", "markdown", "page", "records", "show"]
