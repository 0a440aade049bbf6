"""``fedbounds open``: the page made once, a file that leads to a bound on it, and what happens without a browser."""

import re
import webbrowser
from pathlib import Path
from urllib.parse import parse_qsl

import pytest
from figure_toys import said

from bounds import BOUNDS
from fedbounds import main
from figures.explorer import opening

WEB = Path(opening.__file__).parent / "web"
OWN = """
from bounds import Bound, quantity, Source
x, y = quantity("x", "x", "a number"), quantity("y", "y", "another")
mine = Bound("mine", y, {"all": x**2 + 3 * x}, Source("my notes", "Lemma 1"))
"""


@pytest.fixture
def opened(tmp_path, monkeypatch):
    """Addresses that a browser was asked to open; the page itself is made of one bound, to be quick."""
    addresses = []
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    monkeypatch.setattr("webbrowser.open", lambda address: addresses.append(address) or True)
    monkeypatch.setattr("figures.explorer.page.page", lambda named, store=None: f"page of {len(named)} bounds")
    return addresses


def led_to(address):
    """The page and the fragment that a small file leads to."""
    place = Path(address.removeprefix("file://"))
    target = re.search(r'content="0; url=([^"]*)"', place.read_text())[1].replace("&amp;", "&")
    page, _, fragment = target.partition("#")
    return place.with_name(page), dict(parse_qsl(fragment))


def test_a_bound_is_opened_on_the_page_of_all(opened, capsys):
    status, out, err = said(capsys, "open", "decaying_k.per_rounds")
    page, asked = led_to(opened[0])
    assert (status, out, err) == (0, f"opened {opened[0].removeprefix('file://')}\n", "")
    assert asked == {"v": opening.VERSION, "b": "decaying_k.per_rounds"}
    assert f'const VERSION = "{opening.VERSION}"' in (WEB / "state.js").read_text()
    assert page.read_text() == f"page of {len(BOUNDS)} bounds"


def test_the_page_is_made_again_only_where_the_toolkit_has_changed(opened, monkeypatch):
    monkeypatch.setattr(opening, "_digest", lambda: "3a7")
    for name in ("fedals.one_round", "fedcog.theorem"):
        assert main(["open", name]) == 0
    first, again = (led_to(address)[0] for address in opened)
    assert first == again
    monkeypatch.setattr("figures.explorer.page.page", lambda named, store=None: "another")
    assert main(["open"]) == 0
    assert Path(opened[2].removeprefix("file://")) == first
    monkeypatch.setattr(opening, "_digest", lambda: "5b9")
    assert main(["open"]) == 0
    assert Path(opened[3].removeprefix("file://")).read_text() == "another"
    assert not first.exists()


def test_a_bound_of_ones_own_stands_on_a_page_before_the_others(opened, tmp_path):
    (tmp_path / "own.py").write_text(OWN)
    assert main(["open", f"{tmp_path}/own.py:mine"]) == 0
    page, asked = led_to(opened[0])
    assert asked["b"] == f"{tmp_path}/own.py:mine"
    assert page.read_text() == f"page of {len(BOUNDS) + 1} bounds"
    assert "caches" not in str(page)


@pytest.mark.parametrize("answer", [False, webbrowser.Error("could not locate runnable browser")])
def test_without_a_browser_one_line_says_where_the_page_is(opened, answer, capsys, monkeypatch):
    def no_browser(address):
        opened.append(address)
        if answer:
            raise answer
        return False

    monkeypatch.setattr("webbrowser.open", no_browser)
    status, out, err = said(capsys, "open", "fedals.one_round")
    place = opened[0].removeprefix("file://")
    assert (status, out) == (2, "")
    assert err == f"fedbounds: no browser was found; the page is at {place}: open it in one, or name one in BROWSER\n"
    assert Path(place).exists()


def test_an_unknown_name_is_refused_before_anything_is_made(opened, tmp_path, capsys):
    status, _, err = said(capsys, "open", "fedals.one_rund")
    assert (status, opened) == (2, [])
    assert "did you mean 'fedals.one_round'" in err
    assert not (tmp_path / "caches").exists()
