"""What a terminal shows: folded lines and coloured verdicts; pipes get neither."""

import io
import json
import re
import sys

import pytest

from bounds.showing.tables import aligned, cells
from bounds.showing.terminal import fold, print_lines

ROW = "    step_size   \\eta   parameter^2/loss   > 0 and below a limit   step size of local SGD in every round"
PROSE = "  note: Derived from the theorem before it, with no assumption on how long the computation of a round takes."
PRODUCT = "    + condition_number*smoothness*step_size*client_gradient_variance*client_weight   (variance)"


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def shown(monkeypatch):
    """What a terminal of so many columns gets of these lines."""

    def at(width, *lines, **variables):
        monkeypatch.setenv("COLUMNS", str(width))
        monkeypatch.setenv("TERM", "xterm-256color")
        for name in ("NO_COLOR", "FORCE_COLOR"):
            monkeypatch.delenv(name, raising=False)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(sys, "stdout", Terminal())
        print_lines(lines)
        return sys.stdout.getvalue()

    return at


def test_folded_lines_fit_and_lose_nothing(shown):
    for width in (37, 53, 88):
        for line in (ROW, PROSE, PRODUCT):
            parts = fold(line, width)
            assert len(parts) > 1
            assert max(map(len, parts)) <= width
            assert re.sub(r"\s", "", "".join(parts)) == re.sub(r"\s", "", line)
    assert fold(ROW, len(ROW)) == [ROW]
    assert shown(len(ROW), ROW, "", PROSE[:30]) == f"{ROW}\n\n{PROSE[:30]}\n"


def test_the_last_column_stays_one_and_commands_stay_whole():
    under, *more = fold(f"{'claim':<20}   {PROSE.strip()}", 61)[1:]
    assert all(part.startswith(" " * 23) and part[23] != " " for part in (under, *more))
    for before in ("  ", "example: "):
        command = f"{before}fedbounds compare grad_norm_sq @examples/sites.json cohort=10 local_steps=16"
        assert fold(command, 47) == [command]  # it can be copied
    assert aligned([["x̄", "mean"], ["abc", "other"]], gap=2) == ["x̄    mean", "abc  other"]


def test_a_pipe_gets_the_lines_as_they_are(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "41")
    print_lines([ROW, "FAILS", PROSE])
    assert capsys.readouterr().out == f"{ROW}\nFAILS\n{PROSE}\n"


def test_verdicts_are_coloured_on_a_terminal_and_words_of_a_sentence_are_not(shown):
    text = shown(80, "FAILS, refuted  fedinit.start", "  theorem   drift 81%   vacuous", "1 claims: 3 HOLDS")
    assert "\x1b[31mFAILS\x1b[0m, refuted" in text
    assert "drift 81%   \x1b[33mvacuous\x1b[0m" in text
    assert "3 \x1b[32mHOLDS\x1b[0m\n" in text
    said = "the theorem holds where it is silent; an OPENING is no verdict"
    assert shown(80, said) == f"{said}\n"
    for variables in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert shown(80, "FAILS [b]", **variables) == "FAILS [b]\n"


def test_json_is_not_folded(monkeypatch):
    import fedbounds

    monkeypatch.setenv("COLUMNS", "43")
    monkeypatch.setattr(sys, "stdout", Terminal())
    assert fedbounds.main(["show", "fedals.one_round", "--json"]) == 0
    assert json.loads(sys.stdout.getvalue())["name"] == "fedals.one_round"
    monkeypatch.setattr(sys, "stdout", Terminal())
    assert fedbounds.main(["show", "fedals.one_round"]) == 0
    assert max(map(cells, sys.stdout.getvalue().split("\n"))) <= 43
