"""Run the page's script under node, without a browser, with a test's code in place of its start."""

import base64
import gzip
import json
import re
import shutil
import subprocess

import pytest

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="needs node to run the page's code")
START = """
if (typeof document === "undefined") runWorker();
else {
Object.assign(globalThis, { explorer });
start();
}
"""
INSTEAD = """
loadData(GIVEN.alone ? { ...GIVEN.data, atlas: GIVEN.alone } : GIVEN.data);
state = initialState();
const attempt = (act) => { try { return act(); } catch (error) { return error.message; } };
const wholeMap = (...task) => {
  const steps = computeMap(...task);
  for (;;) { const { done, value } = steps.next(); if (done) return value; }
};
console.log(JSON.stringify((() => { %s })()));
"""
"""What the page does when it opens, without a document; then the code of a test."""


def code_of(html):
    """Return the script of a page."""
    return re.search(r"<script>(.*)</script>", html, re.DOTALL)[1]


def packed(html):
    """Return the data of a page as they are packed."""
    code = re.search(r'id="data">([^<]*)<', html)[1]
    return json.loads(gzip.decompress(base64.a85decode(code.replace("v", "<"))))


def unpacked(html):
    """Return the data with every quantity of a bound written out."""
    data = packed(html)
    for bound in data["bounds"]:
        bound["quantities"] = [data["quantities"][place] | own for place, own in bound["quantities"]]
    return data


def answer(html, question, **more):
    """Return what ``question``, the body of a function in the page's script, returns; ``GIVEN`` has the arguments."""
    script = code_of(html)
    assert script.count(START) == 1
    given = json.dumps({"data": packed(html), **more})
    program = f"const GIVEN = {given};\n{script.replace(START, INSTEAD % question)}"
    run = subprocess.run(["node", "-"], input=program, capture_output=True, text=True)
    assert not run.returncode, run.stderr[-2000:]
    return json.loads(run.stdout)
