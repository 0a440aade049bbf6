"""What leaves the page of one federation: commands that say its numbers, and pictures for a paper."""

import json
import re
import shlex
import time

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.browser]


@pytest.fixture
def whole(shared, file):
    """The page of one federation, its plane drawn."""
    shared.open(file, "#v=2&f=two+clients%2C+worst+cases")
    shared.choose("federations", "1")
    for _ in range(400):
        if shared.js("return explorer.drawn()?.target === 'grad_norm_sq' && !explorer.drawn().stale"):
            break
        time.sleep(0.02)
    shared.settle()
    shared.complaints()
    yield shared
    assert not shared.complaints()


def test_the_copied_command_and_code_say_the_rows_of_the_page(whole, capsys):
    from fedbounds import main

    given = whole.js("return explorer.told().given")
    rows = whole.js("return explorer.rows('grad_norm_sq', arguments[0], {})", given)
    ours = {(row["bound"], row["kind"]): float(row["value"]) for row in rows if row["kind"]}
    said = shlex.split(whole.js("return explorer.copies.shell()"))
    assert main([*said[1:], "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["rows"]
    theirs = sorted(row["value"] for row in told if row["state"] in ("speaks", "of the class", "vacuous"))
    assert sorted(ours.values()) == pytest.approx(theirs, rel=1e-12)
    exec(whole.js("return explorer.copies.python()"), {})
    assert "decaying_k.theorem_1_sharp" in capsys.readouterr().out


def test_a_button_copies_and_says_so(whole):
    whole.js("navigator.clipboard.writeText = async (text) => { globalThis.copied = text; }")
    whole.find("[data-told=link]").click()
    time.sleep(0.2)
    assert whole.text("#fed-copied") == "link copied"
    assert "#v=2&f=two" in whole.js("return globalThis.copied")


@pytest.mark.parametrize("what", ["plane", "ladder"])
def test_a_picture_becomes_tikz_with_every_shape_and_word(what, whole):
    svg, tex = (whole.js(f"return explorer.exported['{what}.{kind}']()") for kind in ("svg", "tex"))
    assert tex.count(r"\begin{tikzpicture}") == tex.count(r"\end{tikzpicture}") == 1
    body = tex.split(r"\begin{tikzpicture}")[1]
    drawn = re.sub(r"<defs.*?</defs>", "", svg, flags=re.DOTALL)
    assert body.count(r"\node") == drawn.count("<text")
    assert body.count(" rectangle ") == drawn.count("<rect")
    assert body.count("circle[") == drawn.count("<circle")
    plain = re.sub(r"\\[{}]", "", tex)
    assert plain.count("{") == plain.count("}")
    assert tex.isascii(), sorted({c for c in tex if not c.isascii()})
    used, defined = set(re.findall(r"\bfb[a-z]{2}\b", body)), set(re.findall(r"\\definecolor\{(\w+)\}", tex))
    assert used == defined
    assert not re.search("NaN|undefined|Infinity", tex)


NUMBER, COLOUR = r"-?\d+(?:\.\d+)?", "fb[a-z]{2}"
AT = rf"\({NUMBER},{NUMBER}\)"
LINE = rf"{AT}(?: -- {AT})*(?: -- cycle)?"
SHAPE = rf"{AT} rectangle {AT}|{AT} circle\[radius={NUMBER}pt\]|{LINE}(?: {LINE})*"
KEYS = {
    "path": {"pattern": "north east lines", "pattern color": COLOUR, "fill": COLOUR, "fill opacity": NUMBER,
             "draw": COLOUR, "line width": f"{NUMBER}pt", "dash pattern": rf"on {NUMBER}pt(?: (?:on|off) {NUMBER}pt)*"},
    "node": {"anchor": "base(?: west| east)?", "inner sep": "0pt", "text": COLOUR, "rotate": NUMBER,
             "font": rf"\\fontsize\{{{NUMBER}pt\}}\{{10pt\}}\\selectfont(?:\\bfseries)?"},
}  # fmt: skip
"""What the manual of TikZ has of these commands, as far as the page uses it."""
MACROS = (
    r"\\(?:eta|beta|sigma|mu|zeta|cdot|infty|times|le|pm|diamond|bullet|textbackslash|textasciitilde)\b|\\rule|\\[&%#_]"
)


def wrong(line):
    """What of a line is no TikZ; empty where nothing is."""
    told = re.fullmatch(rf"\\(path)\[(.*)\] (?:{SHAPE});|\\(node)\[(.*)\] at {AT} \{{(.*)\}};", line)
    if not told:
        return line
    path, of_path, _, of_node, words = told.groups()
    known = KEYS[path or "node"]
    for option in re.split(r", (?=[a-z ]+=)", of_path or of_node):
        key, _, value = option.partition("=")
        if key not in known or not re.fullmatch(known[key], value):
            return option
    if path:
        return ""
    texts = re.sub(MACROS, "", words).split("$")
    if len(texts) % 2 == 0 or any(re.search(r"[\\&%#_^]", text) for text in texts[::2]):
        return words
    return "" if words.count("{") == words.count("}") else words


@pytest.mark.parametrize("what", ["plane", "ladder"])
def test_every_line_of_tikz_is_in_its_grammar(what, whole):
    lines = whole.js(f"return explorer.exported['{what}.tex']()").splitlines()
    begin, end = lines.index(r"\begin{tikzpicture}[x=0.75pt, y=-0.75pt]"), lines.index(r"\end{tikzpicture}")
    assert lines[0].startswith("% ")
    assert all(re.fullmatch(rf"\\definecolor\{{{COLOUR}\}}\{{RGB\}}\{{\d+,\d+,\d+\}}", line) for line in lines[1:begin])
    assert [bad for line in lines[begin + 1 : end] if (bad := wrong(line))] == []
    assert not lines[end + 1 :]
    good = next(line for line in lines if line.startswith(r"\node"))
    for broken in (
        good[:-1],
        good.replace("anchor", "anchr"),
        good.replace("};", "_};"),
        good.replace("] at", "$] at"),
    ):
        assert wrong(broken), broken


def test_a_path_of_relative_steps_has_its_corners_in_tikz(whole):
    """The diamond of the smallest value: 7 away from its middle to every side."""
    tex = whole.js("return explorer.exported['plane.tex']()")
    corners = [re.findall(r"\(([\d.]+),([\d.]+)\)", line) for line in tex.splitlines() if line.endswith("cycle;")]
    diamonds = [[(float(x), float(y)) for x, y in found] for found in corners if len(found) == 4]
    assert diamonds
    for (x0, y0), (x1, y1), (x2, y2), (x3, y3) in diamonds:
        assert x1 - x0 == pytest.approx(y1 - y0, abs=0.02)
        assert (x2, y3) == pytest.approx((x0, y1), abs=0.02)
        assert y2 - y1 == pytest.approx(x1 - x2, abs=0.02)
        assert x0 - x3 == pytest.approx(x1 - x0, abs=0.02)
