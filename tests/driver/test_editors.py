"""What shells and editors are told: completion, and a problem matcher."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from commands import NOMP, cannot_run, run, succeed

from nomp.driver import cli, explain

BASH = """eval "$SCRIPT"
complete_words() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _nomp; echo "${COMPREPLY[*]}"; }
complete_words nomp ""
complete_words nomp pro
complete_words nomp profile --tr
complete_words nomp cc --e
complete_words nomp explain N40
complete_words nomp completion f
complete_words nomp cache ""
complete_words nomp cache s
complete_words nomp nothing ""
"""


def script(shell: str) -> str:
    return succeed(*NOMP, "completion", shell).stdout


def have(shell: str) -> str:
    found = shutil.which(shell)
    if found is None:
        cannot_run(f"there is no {shell}: apt-get install {shell}")
    return found


def test_bash() -> None:
    done = subprocess.run(
        ["bash", "-c", BASH], env=os.environ | {"SCRIPT": script("bash")}, capture_output=True, text=True
    )
    assert done.stderr == ""
    verbs, verb, option, emit, codes, shell, cache, show, nothing = done.stdout.splitlines()
    assert verbs.split() == [*cli.VERBS, "--help", "--version"]
    assert (verb, option, emit, shell, nothing) == ("profile", "--trace", "--emit", "fish", "")
    assert (cache, show) == ("ls show clear path --help", "show")
    assert codes.split() == [code for code in explain.all_codes() if code.startswith("N40")]


@pytest.mark.slow
def test_zsh_takes_the_script(tmp_path: Path) -> None:
    file = tmp_path / "nomp.zsh"
    file.write_text(script("zsh"))
    told = f"source {file}; print ${{_comps[nomp]}}"
    done = run(have("zsh"), "-f", "-c", told, env=os.environ | {"ZDOTDIR": str(tmp_path)})
    assert "_bash_complete" in done.stdout and "_nomp" in done.stdout, done.stderr


@pytest.mark.slow
def test_fish(tmp_path: Path) -> None:
    file = tmp_path / "nomp.fish"
    file.write_text(script("fish"))
    environment = os.environ | {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)}

    def offered(words: str) -> list[str]:
        told = f"source {file}; complete -C '{words}'"
        return [
            line.split("\t")[0] for line in succeed(have("fish"), "-N", "-c", told, env=environment).stdout.splitlines()
        ]

    assert set(offered("nomp ")) >= set(cli.VERBS)
    assert offered("nomp profile --tr") == ["--trace"]
    assert offered("nomp cache s") == ["show"]
    assert offered("nomp explain N40") == [code for code in explain.all_codes() if code.startswith("N40")]


def test_the_problem_matcher_reads_messages(tmp_path: Path) -> None:
    (task,) = json.loads(succeed(*NOMP, "config", "--problem-matcher").stdout)["tasks"]
    pattern = task["problemMatcher"]["pattern"]
    (tmp_path / "a.c").write_text(
        "void f(int n, double *a) {\n#pragma nomp for wrong\n  for (int i = 0; i < n; i++) a[i] = 0;\n}\n"
    )
    done = run(*NOMP, "check", "a.c", cwd=tmp_path)
    found = [match for line in done.stderr.splitlines() if (match := re.match(pattern["regexp"], line))]
    names = ("file", "line", "column", "severity", "message", "code")
    (first,) = [{name: match[pattern[name]] for name in names} for match in found]
    assert first.pop("message").startswith("unknown clause")
    assert first == {"file": "a.c", "line": "2", "column": "18", "severity": "error", "code": "N102"}
    # What Visual Studio Code does not know as a severity (it knows errors, warnings, infos and notes) gets this one.
    assert re.match(pattern["regexp"], "s.c:5:5: remark: loop 'i' becomes kernel 'k'")
    assert task["problemMatcher"]["severity"] == "info"
    note = "s.py:5:5: note: last changed by this line of the script"
    assert re.match(pattern["regexp"], note)[pattern["message"]] == "last changed by this line of the script"  # type: ignore[index]
    assert not re.match(pattern["regexp"], "    5 |   return lp.split_iname(knl, 100)")
