"""HTML for notebooks, with its own style, readable on light and dark pages."""

from __future__ import annotations

from html import escape

from ..errors import DeclarationError

STYLE = """\
.fedbounds { color: var(--jp-content-font-color1, var(--vscode-editor-foreground, inherit)); line-height: 1.45;
  max-width: 70rem; overflow-x: auto; }
.fedbounds p, .fedbounds ul { margin: .4em 0; }
.fedbounds .soft, .fedbounds mtext { opacity: .75; }
.fedbounds .name { font-family: var(--jp-code-font-family, ui-monospace, monospace); font-weight: 600; }
.fedbounds .formula { display: flex; flex-wrap: wrap; align-items: baseline; gap: .5em .45em; margin: .7em 0; }
.fedbounds .formula > * { overflow-x: auto; overflow-y: hidden; padding-bottom: .2em; }
.fedbounds .formula mtext { font-size: .8em; }
.fedbounds table { border-collapse: collapse; margin: .4em 0; }
.fedbounds tr { background: none !important; }
.fedbounds th, .fedbounds td { color: inherit; background: none; text-align: left; vertical-align: baseline;
  padding: .15em .7em .15em 0; border: 0; border-bottom: 1px solid rgba(128, 128, 128, .4); }
.fedbounds th { font-weight: 600; }"""
"""The colours are those of the surrounding page: Jupyter's, VS Code's, or inherited."""


def card(*parts: str) -> str:
    """Return a piece of HTML with its style."""
    return f'<div class="fedbounds"><style>{STYLE}</style>{"".join(parts)}</div>'


def formula(latex: str) -> str:
    """Return a formula as inline MathML; LaTeX that cannot be read is shown as code."""
    from .mathml import displayed

    try:
        return displayed(latex)
    except DeclarationError:
        return f"<code>{escape(latex)}</code>"
