"""``nomp run``: programs run as under ``python``, with their loops and those of what they import as kernels."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from quick import first_of

from nomp.diagnostics import NompError
from nomp.driver import run

APP = """\
import sys
import numpy as np
from parts.helper import twice
n = int(sys.argv[1])
a = np.arange(float(n))
s = 0.0
#pragma nomp for
for i in range(n):
    t = a[i] * 2
    s += t
print(sys.argv, s, i, t, __name__, [k for k in globals() if k.startswith('loop')])
twice(a)
print(a.tolist())
if len(sys.argv) > 2:
    a = a[:2]
    #pragma nomp for
    for i in range(n):
        a[i] = 1
raise ValueError(f"the end of {n}")
"""
HELPER = "def twice(a):\n    #pragma nomp for\n    for i in range(len(a)):\n        a[i] *= 2\n"


@pytest.fixture
def app(tmp_path: Path) -> Path:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "helper.py").write_text(HELPER)
    (tmp_path / "app.py").write_text(APP)
    return tmp_path


def ran(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """*command* in *folder*."""
    return subprocess.run([sys.executable, *command], cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_a_program_runs_as_under_python(app: Path) -> None:
    plain, ours = ran(app, "app.py", "4"), ran(app, "-m", "nomp.driver", "run", "app.py", "4")
    assert (ours.stdout, ours.returncode) == (plain.stdout, plain.returncode) and ours.returncode == 1
    assert ours.stderr.splitlines() == plain.stderr.splitlines() == [
        "Traceback (most recent call last):",
        f'  File "{app / "app.py"}", line 19, in <module>',
        '    raise ValueError(f"the end of {n}")',
        "ValueError: the end of 4",
    ]  # fmt: skip


@pytest.mark.slow
def test_errors_of_kernels_are_shown_at_their_line(app: Path) -> None:
    done = ran(app, "-m", "nomp.driver", "run", "app.py", "4", "more")
    assert done.returncode == 1
    assert done.stderr.startswith(f"{app}/app.py:18:9: error: subscript 3 of 'a' (i = 3) is out of range")
    assert "Traceback" not in done.stderr


def test_settings(app: Path) -> None:
    done = ran(app, "-m", "nomp.driver", "run", "--backend", "nosuch", "app.py", "4")
    assert done.returncode == 1 and "Invalid backend: nosuch. [N613]" in done.stderr


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(NompError) as caught:
        run.main(["nowhere.py"])
    assert str(caught.value) == (
        "nomp: error: cannot read 'nowhere.py': No such file or directory [N807]\n"
        "help: give a file with a Python program"
    )


_AFTER = ["x = 4  #pragma nomp for", "if 1: #  pragma nomp sync", "x = '''\n''' #\tpragma\tnomp for"]
_NONE = ["x = '#pragma nomp for'\n", "x = '''\n#pragma nomp for\n'''\n", "# pragma nompf\nx = 3\n"]


@pytest.mark.parametrize("line", first_of(_AFTER))
@pytest.mark.parametrize("imported", [True, False])
def test_a_pragma_after_other_text_in_its_line(tmp_path: Path, line: str, imported: bool) -> None:
    """Also where it is the only one of the file."""
    (tmp_path / "part.py").write_text(f"{line}\n    \n".replace("sync\n", "sync\n    pass\n"))
    (tmp_path / "app.py").write_text("import part\n")
    done = ran(tmp_path, "-m", "nomp.driver", "run", "app.py" if imported else "part.py")
    assert done.returncode == 1
    assert "a pragma after other text in its line [N204]" in done.stderr and "part.py:" in done.stderr


@pytest.mark.parametrize("text", _NONE)
def test_text_that_is_no_pragma(tmp_path: Path, text: str) -> None:
    (tmp_path / "app.py").write_text(f"{text}print(repr(x))\n")
    plain, ours = ran(tmp_path, "app.py"), ran(tmp_path, "-m", "nomp.driver", "run", "app.py")
    assert (ours.stdout, ours.stderr, ours.returncode) == (plain.stdout, "", 0)


@pytest.mark.slow
def test_verify(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("x = 5\n#pragma nomp for\nfor i in range(3):\n    x = x // (i - 1)\nprint(x)\n")
    without, done = (ran(tmp_path, "-m", "nomp.driver", "run", *more, "app.py") for more in ((), ("--verify",)))
    assert without.returncode == 0
    assert done.returncode == 1
    assert "ends with ZeroDivisionError: integer division or modulo by zero [N618]" in done.stderr
