"""What annotated Python loops may not hold: each refusal's whole text, with its caret."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from nomp.diagnostics import NompError

BODIES = {
    "print": "print(a[i])",
    "append": "found.append(a[i])",
    "list": "a[i] = words[i]",
    "objects": "a[i] = objects[i]",
    "string": "a[i] = 'x' == 'y'",
    "try": "try:\n        a[i] = 1\n    except ValueError:\n        pass",
    "generator": "a[i] = sum(b[k] for k in range(3))",
    "yield": "a[i] = yield",
    "with": "with open('x') as file:\n        a[i] = 1",
    "attribute": "a[i] = self.a[i]",
    "round": "a[i] = round(b[i])",
    "changes type": "t = 1\n    a[i] = t\n    t = b[i] + 0.5\n    t = i",
    "float constant in an int": "if b[i] > 1:\n        t = 2.0\n    else:\n        t = i\n    a[i] = t",
    "for else": "for j in range(3):\n        a[i] = j\n    else:\n        a[i] = 1",
    "return": "return a[i]",
    "break": "break",
    "complex": "a[i] = 1j",
    "in": "a[i] = i in (1, 2)",
    "slice": "a[1:3] = b[i]",
    "float subscript": "a[b[i]] = 1",
    "mask": "a[b[i] > 0] = 1",
    "too many subscripts": "a[i, 0] = 1",
    "too few subscripts": "a[i] = m[i]",
    "out of range": "a[10] = 1",
    "below range": "a[-11] = 1",
    "leaves the array": "a[2 * i] = 1",
    "not over a range": "for x in b:\n        a[i] = x",
    "float range": "for j in range(b[i]):\n        a[i] = j",
    "zero step": "for j in range(0, 3, 0):\n        a[i] = j",
    "int8 overflow": "small[i] = 300",
    "numpy overflow": "a[i] = small[i] + 300",
    "huge": "a[i] = i + 2 ** 64",
    "read-only": "fixed[i] = 1",
    "swapped": "a[i] = swapped[i]",
    "unknown attribute": "a[i] = math.squareroot(2)",
    "longdouble": "a[i] = long[i]",
    "lambda": "a[i] = (lambda x: x)(1)",
    "recursion": "a[i] = factorial(i)",
    "no number": "a[i] = perhaps(i)",
    "callee": "a[i] = prints(b[i])",
    "unpacking": "x, y = b\n    a[i] = x",
    "bool minus": "a[i] = (b[i] > 0) - (b[i] > 1)",
    "global": "global g\n    a[i] = 1",
    "walrus": "a[i] = (t := b[i])",
    "keyword": "a[i] = max(b[i], 1, key=abs)",
    "matrix product": "a[i] = b[i] @ b[i]",
}
SETUP = """
class Thing:
    a = np.zeros(10)

self, words, found = Thing(), ["x"] * 10, []
objects = np.array([None] * 10)
m = np.zeros((10, 10))
small = np.zeros(10, np.int8)
fixed = np.zeros(10)
fixed.flags.writeable = False
swapped = np.zeros(10, ">f8")
long = np.zeros(10, np.longdouble)
u = "text"

def factorial(k):
    return 1 if k < 1 else k * factorial(k - 1)

def perhaps(k):
    if k > 1:
        return k

def prints(x):
    print(x)
    return x

@nomp.jit
def f(a, b):
    #pragma nomp for
    for i in range(10):
        BODY
"""


def refusal(load: Callable[[str], ModuleType], text: str) -> str:
    """The message for *text*, without the folder that it is in."""
    with pytest.raises(NompError) as caught:
        module = load(text)
        for _ in module.f(np.ones(10), np.ones(10)) or ():
            pass
    text = re.sub(r"(nomp.kernel) \d+", r"\1", str(caught.value))
    return re.sub(r"/\S*/program_\d+\.py", "program.py", text)


@pytest.mark.parametrize("name", BODIES)
def test_refused(name: str, load: Callable[[str], ModuleType], golden: Callable[[str, str], None]) -> None:
    body = "\n".join("    " + line if k else line for k, line in enumerate(BODIES[name].splitlines()))
    text = SETUP.replace("BODY", body)
    golden(f"python/refused/{name.replace(' ', '_')}.txt", refusal(load, text))


F = "@nomp.jit\ndef f(a, b):\n"
P = "def f(a, b):\n    "
FILES = {
    "no loop": F + "    return 1",
    "pragma before something else": F + "    #pragma nomp for\n    x = 1",
    "pragma after text": F + "    x = 1  #pragma nomp for\n    for i in range(3):\n        a[i] = 1",
    "pragma misspelt": F + "    #pragma nomp fro\n    for i in range(3):\n        a[i] = 1",
    "pragma in a loop": F + "    #pragma nomp for\n    for i in range(3):\n"
    "        #pragma nomp for\n        for j in range(3):\n            a[i] = 1",
    "pragma indented wrongly": F + "      #pragma nomp for\n    for i in range(3):\n        a[i] = 1",
    "pragma goes on": F + "    #pragma nomp for \\\n    for i in range(3):\n        a[i] = 1",
    "reduce": F + "    s = 0.0\n    #pragma nomp for reduce(* : s)\n    for i in range(3):\n"
    "        s += a[i]\n    return s",
    "reduce nothing": F + "    #pragma nomp for reduce(+ : t)\n    for i in range(3):\n        a[i] = 1",
    "jit": F + "    #pragma nomp for jit(a)\n    for i in range(3):\n        a[i] = 1",
    "start not exact": F + "    s, c = 0.1, a.astype(np.float32)\n    #pragma nomp for\n"
    "    for i in range(3):\n        s += c[i]\n    return s",
    "array assigned": F + "    #pragma nomp for\n    for i in range(3):\n        b += a[i]",
    "scripts and shared variables": F + '    s = 0.0\n    #pragma nomp for transform("m", "f")\n'
    "    for i in range(3):\n        if a[i] > 1:\n            s = a[i]\n    return s",
    "not a function": "f = nomp.jit(3)",
    "lambda itself": "f = nomp.jit(lambda a, b: 1)",
    "huge scalar": F + "    big = 2 ** 70\n    #pragma nomp for\n    for i in range(3):\n        a[i] = big",
    "part on the device": F + "    nomp.update(to=a[2:4])\n    #pragma nomp for\n"
    "    for i in range(3):\n        a[i] = 1",
    "not on the device": "def f(a, b):\n    nomp.init()\n    nomp.update(from_=a)",
    "no array": "def f(a, b):\n    nomp.update(to=[1, 2])",
    "unknown setting": "def f(a, b):\n    nomp.init(devise=1)",
    "kernel takes other arguments": P + 'nomp.kernel("void k(int n, double *a) { a[n] = 0; }")(3)',
    "kernel takes another type": P + 'nomp.kernel("void k(int n, float *a) { a[n] = 0; }")(3, a)',
    "kernel takes an int": P + 'nomp.kernel("void k(int n, double *a) { a[n] = 0; }")(3.5, a)',
    "kernel with a wrong operator": P + 'nomp.kernel("void k(double *s) { s[0] += 1; }", reduce={"s": "?"})',
    "kernel in wrong C": P + 'nomp.kernel("void k(int n) { n = ; }")',
}


@pytest.mark.parametrize("name", FILES)
def test_refused_files(name: str, load: Callable[[str], ModuleType], golden: Callable[[str, str], None]) -> None:
    golden(f"python/refused/{name.replace(' ', '_')}.txt", refusal(load, FILES[name]))


def test_function_without_a_file() -> None:
    import nomp

    space: dict[str, object] = {}
    exec("def f(n):\n    #pragma nomp for\n    for i in range(n):\n        pass", space)
    with pytest.raises(NompError) as caught:
        nomp.jit(space["f"])
    assert caught.value.code == "N230"


def test_message_of_a_function_in_another_file(load: Callable[[str], ModuleType], tmp_path: Path) -> None:
    (tmp_path / "helpers_of_a_test.py").write_text("def g(x):\n    return x + 'text'\n")
    text = f"""
import sys
sys.path.insert(0, {str(tmp_path)!r})
from helpers_of_a_test import g
sys.path.pop(0)
@nomp.jit
def f(a, b):
    #pragma nomp for
    for i in range(10):
        a[i] = g(b[i])
"""
    message = refusal(load, text)
    assert "helpers_of_a_test.py:2:16: error: a kernel cannot have a string [N231]" in message
    assert "note: 'g' is called here" in message
