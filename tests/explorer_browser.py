"""Drive a page of the explorer in a real browser: open it, use its controls, read its console."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHROMIUM, DRIVER = (shutil.which(name) for name in ("chromium", "chromedriver"))
WAIT = """
const done = arguments[arguments.length - 1], now = () => globalThis.explorer?.settled() && (%s);
const again = () => (now() ? done() : wait());
const wait = () => (now() ? requestAnimationFrame(() => requestAnimationFrame(again)) : setTimeout(wait, 5));
wait();
"""
"""Wait until the page shows the last change completely and a condition holds."""
LOW_CONTRAST = """
const channel = (c) => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
const light = (colour) => {
  const [r, g, b] = numbers(colour).map(channel);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const behind = (node) => {
  for (; node; node = node.parentElement) {
    const colour = getComputedStyle(node).backgroundColor;
    if ((numbers(colour)[3] ?? 1) === 1) return colour;
  }
  return "rgb(255, 255, 255)";
};
const contrast = (a, b) => {
  const [x, y] = [light(a), light(b)].sort((p, q) => q - p);
  return (x + 0.05) / (y + 0.05);
};
const says = (e) => e.getClientRects().length && !e.closest("script, style, select, :disabled")
  && [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
const colour = (e) => getComputedStyle(e)[e.closest("svg") ? "fill" : "color"];
const texts = [...document.querySelectorAll("body *")].filter(says).map((e) => [e, colour(e)]);
const empty = [...document.querySelectorAll("[placeholder]")];
texts.push(...empty.map((e) => [e, getComputedStyle(e, "::placeholder").color]));
return texts.map(([e, colour]) => [contrast(colour, behind(e)), e.tagName, e.textContent.slice(0, 30)])
  .filter(([ratio]) => !(ratio >= 4.5));
"""
"""Return the texts whose contrast with their background is below 4.5 by WCAG 2."""
CHOOSE = """
const [id, value, kind] = arguments, node = document.getElementById(id);
node.value = value;
node.dispatchEvent(new Event(kind, {bubbles: true}));
"""


class Page:
    """One open page; its methods wait until it has redrawn."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, file: Path, fragment: str = "") -> None:
        """Load a page with the state of a fragment."""
        self.driver.get("about:blank")
        self.driver.get(file.as_uri() + fragment)
        self.settle()

    def settle(self, condition: str = "true") -> None:
        """Wait until the page computes nothing any more and a condition holds."""
        self.driver.execute_async_script(WAIT % condition)

    def rest(self) -> None:
        """Wait until the last change is a step of the history."""
        self.settle("explorer.resting()")

    def back(self, step: int = -1) -> None:
        """Go back or forward in the history."""
        before = self.js("return location.hash")
        self.js("history.go(arguments[0])", step)
        self.settle(f"location.hash !== {json.dumps(before)} && explorer.resting()")

    def find(self, selector: str) -> Any:
        """Return the first element of a CSS selector."""
        return self.driver.find_element("css selector", selector)

    def text(self, selector: str) -> str:
        """Return the text of an element."""
        return str(self.find(selector).get_property("textContent"))

    def js(self, script: str, *arguments: Any) -> Any:
        """Return the value of a script."""
        return self.driver.execute_script(script, *arguments)

    def choose(self, identifier: str, value: str, kind: str = "change") -> None:
        """Set a control as a user does."""
        self.js(CHOOSE, identifier, value, kind)
        self.settle()

    def state(self) -> dict[str, Any]:
        """Return the state of the page."""
        return dict(self.js("return explorer.state()"))

    def complaints(self) -> list[str]:
        """Return errors and warnings of the console since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] != "INFO"]

    def requests(self) -> list[str]:
        """Return the addresses requested since the last call."""
        events = (json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance"))
        return [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]


@contextmanager
def browser(width: int = 1300, height: int = 1000) -> Iterator[Page]:
    """Start a browser without a display."""
    from selenium.webdriver import Chrome, ChromeOptions
    from selenium.webdriver.chrome.service import Service

    options = ChromeOptions()
    options.binary_location = CHROMIUM or ""
    for switch in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(switch)
    options.add_argument(f"--window-size={width},{height}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = Chrome(options=options, service=Service(DRIVER))
    try:
        driver.execute_cdp_cmd("Network.enable", {})
        yield Page(driver)
    finally:
        driver.quit()


@contextmanager
def resized(page: Page, width: int, height: int = 800) -> Iterator[None]:
    """Emulate a screen of another size, such as a phone."""
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": True}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        page.settle()
        yield
    finally:
        page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def focused(page: Page) -> str:
    """Return the id, text or tag of the focused element."""
    return str(page.js("const now = document.activeElement; return now.id || now.textContent || now.tagName"))


def press(page: Page, *keys: str) -> None:
    """Press keys one after the other, such as TAB or SHIFT+TAB."""
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    for key in keys:
        held = ActionChains(page.driver)
        for part in key.split("+"):
            held.key_down(getattr(Keys, part))
        for part in reversed(key.split("+")):
            held.key_up(getattr(Keys, part))
        held.perform()
    page.settle()
