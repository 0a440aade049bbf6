"""The report of an audit: in the terminal, as Markdown, as JSON; all from the same records."""

from .records import as_json, Record, records
from .terminal import show
from .text import files

__all__ = ["Record", "as_json", "files", "records", "show"]
