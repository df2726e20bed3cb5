"""Random C statements mean in the loop IR what the host compiler makes of them, for every arithmetic type."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import numpy as np
import pytest
from interpreter import Interpreter
from reading import region

LENGTH = 12
TYPES = {
    "b": ("_Bool", "bool"), "c": ("char", "int8"), "u": ("unsigned char", "uint8"), "s": ("short", "int16"),
    "h": ("unsigned short", "uint16"), "i": ("int", "int32"), "n": ("unsigned", "uint32"), "l": ("long", "int64"),
    "m": ("unsigned long", "uint64"), "f": ("float", "float32"), "d": ("double", "float64"),
}  # fmt: skip
WHOLE = [name for name in TYPES if name not in "fd"]
LITERALS = ["0", "1", "-1", "7", "255", "-128", "32768u", "2147483647", "4294967295", "0x10L", "'a'", "3000000000u"]


def inputs() -> dict[str, np.ndarray]:
    """An array of each type, with the values at which conversions differ."""
    found = {"vb": np.array([0, 1] * (LENGTH // 2), "bool")}
    for name, (_, dtype) in list(TYPES.items())[1:-2]:
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        few = [low, low + 1, high, high - 1, 0, 1, 2, 3, 5, 100, 17, 64]
        found[f"v{name}"] = np.array(few[:LENGTH], dtype)
    return found | {f"v{n}": np.linspace(-3.7, 9.1, LENGTH).astype(TYPES[n][1]) for n in "fd"}


class Writer:
    """Writes random C in which nothing is undefined (with wrapping integers)."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def whole(self, depth: int) -> str:
        pick = self.random.choice
        if depth == 0:
            return pick([f"v{pick(WHOLE)}[i]", f"v{pick(WHOLE)}[(i + 5) % {LENGTH}]", "i", pick(LITERALS)])
        left, right = self.whole(depth - 1), self.whole(depth - 1)
        return pick([
            f"({left} {pick('+-*&|^')} {right})",
            f"({left} {pick('/%')} (({right} & 7) | 1))",
            f"({left} {pick(['<<', '>>'])} ({right} & 7))",
            f"({self.any(depth - 1)} {pick(['<', '<=', '>', '>=', '==', '!='])} {self.any(depth - 1)})",
            f"({left} {pick(['&&', '||'])} {right})",
            f"({self.any(depth - 1)} ? {left} : {right})",
            f"{pick('-~!+')}({left})",
            f"({TYPES[pick(WHOLE)][0]})({left})",
        ])  # fmt: skip

    def real(self, depth: int) -> str:
        pick = self.random.choice
        if depth == 0:
            return pick(["vf[i]", "vd[i]", "0.1", "0.1f", "2.5e-3", "3.f"])
        return pick([
            f"({self.real(depth - 1)} {pick('+-*')} {self.any(depth - 1)})",
            f"({self.any(depth - 1)} {pick('+-*')} {self.real(depth - 1)})",
            f"({self.whole(depth - 1)} ? {self.real(depth - 1)} : {self.any(depth - 1)})",
            f"({pick(['float', 'double'])})({self.any(depth - 1)})",
        ])  # fmt: skip

    def any(self, depth: int) -> str:
        return self.whole(depth) if self.random.random() < 0.7 else self.real(depth)

    def statement(self) -> str:
        pick = self.random.choice
        target = pick(list(TYPES))
        integer = target not in "fd"
        lvalue = f"o{target}[i]"
        expr = self.whole(3) if integer else self.any(3)
        leave = f"for (int k = 0; k < 9; k += 2) {{ if (k > t) break; {lvalue} += k; }}"
        forms = [
            f"{lvalue} = {expr};",
            f"{lvalue} {pick('+-*')}= {expr};",
            f"{pick(['++', '--'])}{lvalue};",
            f"if ({self.any(2)}) {lvalue} = {expr}; else {lvalue} += 1;",
            f"for (short j = 3; j >= 0; --j) {{ if ({self.whole(1)} == j) continue; {lvalue} += j; }}",
            f"{{ {TYPES[pick(WHOLE)][0]} t = {self.whole(2)}; {lvalue} = t; {leave} }}",
            *self.loops(lvalue),
            *self.choices(lvalue),
            f"{lvalue} = {self.called(expr)};",
        ]
        integers = [
            f"{lvalue} {pick('&|^')}= {expr};",
            f"{lvalue} {pick(['<<', '>>'])}= ({expr}) & 7;",
            f"{lvalue} {pick('/%')}= (({expr}) & 7) | 1;",
        ]
        return pick(forms + integers if integer else forms)

    def loops(self, lvalue: str) -> list[str]:
        """Loops that cannot be counted, and `switch`."""
        pick, some = self.random.choice, self.whole(1)
        skip = f"if (({some}) == w) {{ {pick(['continue', 'break', lvalue + ' += 1'])}; }}"
        body = f"{{ {skip} {lvalue} += w; }}"
        labels = [f"case {n}:" for n in range(4)] + ["case 4 ... 6:", "default:"]
        self.random.shuffle(labels)
        ends = ["", "break;", "continue;"]
        cases = " ".join(f"{label} {lvalue} += {n}; {pick(ends)}" for n, label in enumerate(labels))
        switch = f"switch ({self.whole(1)} & 7) {{ {cases} }}"
        inner = cases.replace("continue", "break")
        return [
            f"{{ int w = {pick('579')}; while (w-- > 0) {body} }}",
            f"{{ int w = 0; while (w < 5) {{ w++; {skip} {lvalue} += w; }} }}",
            f"{{ int w = 9; do {{ w -= 2; {skip} {lvalue} ^= {pick(['w', '(w & 3)'])}; }} while (w > 0); }}"
            if lvalue[1] not in "fd"
            else f"{{ int w = 9; do {{ w -= 2; {skip} {lvalue} -= w; }} while (w > 0); }}",
            f"for (int w = 1, x = 20; w < x; w *= 2, x--) {body}",
            f"{{ int w; for (w = 0; w < 7; w++) {body} {lvalue} += w; }}",
            f"for (unsigned w = {pick('1234')}; w < 9; w += 2) {{ if (w == 5) w++; {skip} {lvalue} += w; }}",
            f"for (int r = 0; r < 2; r++) {{ {switch} {lvalue} += 7; }}",
            f"switch ({self.whole(1)} & 7) {{ {inner} }}",
        ]

    def choices(self, lvalue: str) -> list[str]:
        """Operands that change something, and may not be evaluated."""
        pick, some = self.random.choice, lambda: self.whole(1)
        skip = f"if (({some()}) == w) {pick(['continue', 'break', lvalue + ' += 1'])};"
        either = f"({some()} {pick(['&&', '||'])} w++ > 3 {pick(['&&', '||'])} --w && {some()})"
        return [
            f"{{ {TYPES[pick(WHOLE)][0]} t[3][2] = {{{{1}}, [1][1] = {some()}, {some()}, [0] = {{3, {some()}}}}}; "
            f"{lvalue} = t[({some()} & 7) % 3][{some()} & 1]; }}",
            f"{lvalue} = (short[]){{{some()}, 2, {some()}, 4}}[{some()} & 3] + \"a\\xffz\"[{some()} & 3];",
            f"{{ int w = 3; if ({either}) {lvalue} = w; else {lvalue} += w; }}",
            f"{{ int w = 3; {lvalue} = {some()} ? (w += 2) : {some()} && (w = 9); {lvalue} += w; }}",
            f"{{ int w = 3; {some()} {pick(['&&', '||'])} (w += {either}); {lvalue} += w; }}",
            f"{{ int w = 9; do {{ {skip} {lvalue} += w; }} while ((w -= 2) > 0 && {some()}); }}",
            f"{{ int w = 9, v = 0; while (v++ < 9 && --w > v) {{ {skip} {lvalue} += w; }} {lvalue} += v; }}",
        ]

    def called(self, expr: str) -> str:
        return self.random.choice([f"early({expr})", f"steps({expr})", f"sum({expr}, vh, 5)", f"put(&vs[3], {expr})"])


FUNCTIONS = """
static int early(short x) { if (x > 3) return x; for (int k = 0;; k++) if (k > x) return k; }
static long steps(unsigned char x) { long n = 0; while (x) { if (x & 1) { x--; continue; } x /= 2; n++; } return n; }
static unsigned sum(int by, const unsigned short *a, int n) { unsigned s = by; int k; for (k = 0; k < n; k++) s += a[k];
  return s; }
static int put(short *a, int x) { int old = *a; *a = x; return old + a[0]; }
"""


def host(folder: Path, function: str, arrays: dict[str, np.ndarray]) -> bytes:
    """What the arrays hold after the host compiler's version of *function*."""
    (folder / "in").write_bytes(b"".join(array.tobytes() for array in arrays.values()))
    types = {f"{kind}{name}": text for kind in "vo" for name, (text, _) in TYPES.items()}
    declared = "".join(f"static {types[name]} {name}[{LENGTH}];\n" for name in arrays)
    read, write = ("".join(f"  f{way}({n}, sizeof {n}, 1, std{end});\n" for n in arrays)
                   for way, end in (("read", "in"), ("write", "out")))  # fmt: skip
    main = f"{declared}int main(void) {{\n{read}  f({', '.join(arrays)});\n{write}  return 0;\n}}\n"
    (folder / "host.c").write_text(f"#include <stdio.h>\n{function}{main}")
    subprocess.run(["cc", "-w", "-O0", "-fwrapv", "-o", folder / "host", folder / "host.c"], check=True)
    with (folder / "in").open("rb") as given:
        return subprocess.run([folder / "host"], stdin=given, check=True, capture_output=True).stdout


@pytest.mark.parametrize("seed", range(8))
def test_statements_mean_the_same(seed: int, tmp_path: Path) -> None:
    writer = Writer(seed)
    arrays = inputs()
    arrays |= {name.replace("v", "o"): array[::-1].copy() for name, array in arrays.items()}
    statements = "\n".join(f"    {writer.statement()}" for _ in range(6))
    parameters = ", ".join(f"{TYPES[name[1]][0]} *{name}" for name in arrays)
    loop = f"#pragma nomp for\n  for (int i = 0; i < {LENGTH}; i++) {{\n{statements}\n  }}\n"
    function = f"{FUNCTIONS}void f({parameters}) {{\n{loop}}}\n"
    expected = host(tmp_path, function, arrays)
    with np.errstate(all="ignore"):
        run = Interpreter(region(tmp_path, function), {}, arrays)
        run.run()
    assert b"".join(array.tobytes() for array in arrays.values()) == expected
