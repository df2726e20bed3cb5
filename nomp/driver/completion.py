"""``nomp completion SHELL``: what a shell needs to complete ``nomp``'s verbs, options and codes.

In: the name of a shell.  Out: a script for it on stdout.  The options are those that each verb's ``--help`` shows.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import re
from collections.abc import Sequence
from importlib import import_module

from nomp.driver import cli, explain

_DESCRIPTION = "Print what a shell needs to complete nomp's verbs and options."
_BASH = """_nomp() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} words=
  if ((COMP_CWORD == 1)); then
    words="{verbs} --help --version"
  else
    case ${{COMP_WORDS[1]}} in
{cases}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _nomp nomp
"""
_ZSH = "autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n"


def main(arguments: Sequence[str]) -> int:
    """Run ``nomp completion``."""
    parser = argparse.ArgumentParser(prog="nomp completion", description=_DESCRIPTION)
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="the shell")
    shell = parser.parse_args(arguments).shell
    words = {verb: _words(verb) for verb in cli.VERBS}
    print({"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](words), end="")
    return 0


def _words(verb: str) -> list[str]:
    """What may follow *verb*."""
    if verb == "completion":
        return ["bash", "zsh", "fish"]
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.suppress(SystemExit):
        import_module(f"nomp.driver.{verb}").main(["--help"])
    text = said.getvalue()
    verbs = re.findall(r"^    ([a-z]+)", text.partition("\nverbs:")[2], re.MULTILINE)
    options = dict.fromkeys(re.findall(r"(?<![\w-])--[a-z][\w-]*", text))
    return [*verbs, *options, *(explain.all_codes() if verb == "explain" else ())]


def _bash(words: dict[str, list[str]]) -> str:
    cases = "\n".join(f'      {verb}) words="{" ".join(found)}" ;;' for verb, found in words.items())
    return _BASH.format(verbs=" ".join(words), cases=cases)


def _zsh(words: dict[str, list[str]]) -> str:
    return _ZSH + _bash(words)


def _fish(words: dict[str, list[str]]) -> str:
    first = "complete -c nomp -n __fish_use_subcommand -f"
    lines = [f"{first} -a {verb} -d '{_quoted(cli.VERBS[verb])}'" for verb in words]
    for verb, found in words.items():
        seen = f"complete -c nomp -n '__fish_seen_subcommand_from {verb}'"
        lines += [f"{seen} -l {word[2:]}" if word.startswith("--") else f"{seen} -a {word}" for word in found]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")
