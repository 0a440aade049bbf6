"""The report for a continuous integration that reads JUnit's XML: a claim is a test, a changed verdict its failure."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from .records import papers, Record


def junit(found: Sequence[Record]) -> str:
    """One suite per paper; a claim that is audited as failing, and fails in that way, passes."""
    root = ElementTree.Element("testsuites")
    for paper, group in papers(found).items():
        changed = sum(not r.expected for r in group)
        suite = ElementTree.SubElement(root, "testsuite", name=paper, tests=str(len(group)), failures=str(changed))
        for record in group:
            case = ElementTree.SubElement(suite, "testcase", classname=paper, name=record.name)
            said = f"{record.verdict} ({record.grade}): {record.evidence}"
            if record.expected:
                ElementTree.SubElement(case, "system-out").text = _printable(said)
            else:
                message = _printable(f"{record.words} {said}")
                ElementTree.SubElement(case, "failure", message=message).text = f"again: {record.command}"
    ElementTree.indent(root)
    return f"<?xml version='1.0' encoding='utf-8'?>\n{ElementTree.tostring(root, encoding='unicode')}\n"


def _printable(text: str) -> str:
    """XML has no way to say a control character."""
    return "".join(letter if letter.isprintable() or letter in "\n\t" else "?" for letter in text)
