"""The report of an audit: in the terminal, as Markdown, one HTML page, JUnit XML, JSON; all from the same records."""

from .junit import junit
from .page import page
from .records import as_json, Record, records
from .terminal import show
from .text import files

__all__ = ["Record", "as_json", "files", "junit", "page", "records", "show"]
