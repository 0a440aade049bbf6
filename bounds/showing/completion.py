"""``fedbounds completion``: a script for the shell that knows every name, so that Tab starts no Python."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

SHELLS = ("bash", "zsh")
BASH = """\
# Completion of fedbounds: eval "$(fedbounds completion bash)", or put this into a file that your shell reads.
# It knows the names of the version that wrote it.
_fedbounds() {{
    local word="${{COMP_WORDS[COMP_CWORD]}}" words=""
    if [ "$COMP_CWORD" -eq 1 ]; then
        words="{verbs}"
    else
        case "${{COMP_WORDS[1]}}" in
{cases}
        esac
    fi
    COMPREPLY=($(compgen -W "$words" -- "$word"))
    [[ "${{COMPREPLY[0]}}" == *= ]] && compopt -o nospace
}}
complete -o default -F _fedbounds fedbounds
"""
ZSH = "autoload -U +X bashcompinit && bashcompinit\n"
OPTION = re.compile(r"(?<![\w-])--?[a-z][a-z0-9-]*")


def options(help_: str) -> list[str]:
    """The options that a verb's help lists: its lines that begin with one."""
    listed = (line.strip() for line in help_.splitlines() if line.startswith("  -"))
    heads = (line.partition("  ")[0] for line in listed)
    return list(dict.fromkeys(word for head in heads for word in OPTION.findall(head)))


def script(shell: str, words: Mapping[str, Iterable[str]]) -> str:
    """The script for a shell; ``words`` are what may follow each verb. zsh reads that for bash, once it is told to."""
    cases = "\n".join(f'            {verb}) words="{" ".join(follow)}" ;;' for verb, follow in words.items())
    return (ZSH if shell == "zsh" else "") + BASH.format(verbs=" ".join(words), cases=cases)
