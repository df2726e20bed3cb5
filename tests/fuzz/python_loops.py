"""Random Python functions with an annotated loop, and arguments for them.

In: a seed.  Out: the text of a module that defines ``f``, and what to call it with.  The functions use what
LANGUAGE.md's section about Python allows; numbers stay small and mostly exact, so that results can be compared.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np

HEADER = "import math\nimport numpy as np\nimport nomp\n\n"
HELPERS = """
def half(x):
    return x / 2

def bounded(k, top=5):
    if k < 0:
        return 0
    return top if k > top else k

"""
INTEGER_TYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "bool")
SIZE = 12


@dataclass
class Program:
    """The *text* of a module with the function ``f``, its *arguments*, and whether its results are *exact*."""

    seed: int
    text: str
    arguments: tuple[Any, ...]
    exact: bool


@dataclass
class Maker:
    """Makes one program."""

    rng: random.Random
    exact: bool = True
    integers: list[str] = field(default_factory=lambda: ["n", "q", "i"])
    floats: list[str] = field(default_factory=lambda: ["p"])
    made: int = 0
    depth: int = 0
    in_loop: int = 0

    # ----------------------------------------------------------------------------------------------- expressions

    def index(self) -> str:
        """A subscript that is surely in range for arrays of SIZE elements."""
        rng = self.rng
        choices = ["i", "-1 - i", "i - 1", "i - 3", str(rng.randrange(-SIZE, SIZE)), f"({self.integer(1)}) % {SIZE}",
                   f"idx[{rng.choice(['i', 'i - 2'])}]", f"-1 - ({self.integer(1)}) % {SIZE}"]  # fmt: skip
        return rng.choice(choices)

    def integer(self, depth: int) -> str:
        """An expression that is an integer of Python's or of NumPy's, small enough for 64 bits."""
        rng = self.rng
        if depth <= 0 or rng.random() < 0.2:
            return rng.choice([*self.integers, str(rng.randrange(-9, 10)), "c[i]", "len(a)", "m.shape[1]"])
        a, b = self.integer(depth - 1), self.integer(depth - 1)
        k = rng.choice([-7, -3, -2, 2, 3, 5, 16])
        forms = [f"({a} + {b})", f"({a} - {b})", f"{k} * int({a})", f"int({a}) // {k}", f"int({a}) % {k}", f"-int({a})",
                 f"(int({a}) & int({b}))", f"(int({a}) | {abs(k)})", f"(int({a}) ^ int({b}))", f"(~int({a}))",
                 f"abs(int({a}))",
                 f"(int({a}) << {abs(k) % 5})", f"(int({a}) >> {abs(k) % 5})", f"min(int({a}), int({b}))",
                 f"max(int({a}), {k})", f"int({self.real(depth - 1)} % 64)",
                 f"(int({a}) if {self.truth(depth - 1)} else int({b}))",
                 f"int({self.truth(depth - 1)})", f"bounded(int({a}))", f"bounded(int({a}), {abs(k)})",
                 f"(int({a}) % 7) ** 2",
                 f"int({a}) % (abs(int({b})) + 1)", f"int({a}) // (abs(int({b})) + 1)",
                 f"np.int32(int({a}) % 100)",
                 f"(int({a}) * 6364136223846793005 + 1442695040888963407) % {4 << abs(k)}",
                 f"int(int({a}) * np.int64(2862933555777941757) // 3 % 100)"]  # fmt: skip
        return rng.choice(forms)

    def real(self, depth: int) -> str:
        """An expression that is a floating-point number."""
        rng = self.rng
        if depth <= 0 or rng.random() < 0.2:
            arrays = [
                f"a[{self.index()}]" if depth > 0 else "a[i]",
                "b[i]",
                f"m[i % 3, {rng.randrange(-4, 4)}]",
                "v[i]",
            ]
            return rng.choice([*self.floats, *arrays, rng.choice(["0.5", "-1.25", "3.0", "0.0", "8.75"])])
        a, b = self.real(depth - 1), self.real(depth - 1)
        forms = [f"({a} + {b})", f"({a} - {b})", f"({a} * 0.5)", f"(-{a})", f"abs({a})",
                 f"({a} * ({self.integer(depth - 1)}))",
                 f"float({self.integer(depth - 1)})", f"(float({a}) if {self.truth(depth - 1)} else float({b}))",
                 f"math.floor({a})", f"np.maximum({a}, {b})", f"np.minimum({a}, {b})", f"min(float({a}), float({b}))",
                 f"np.float32({a})", f"np.abs({a})", f"half({a})", f"math.fabs({a})", f"np.floor({a})",
                 f"np.float64({a})",
                 f"({a} % 2.5)", f"({a} // 1.5)", f"math.copysign({a}, {b})"]  # fmt: skip
        if rng.random() < 0.15:
            self.exact = False
            forms = [f"({a} / 3)", f"math.sqrt(abs({a}))", f"np.sin({a})", f"({a} * {b})", f"np.sqrt(np.abs({a}))",
                     f"({a}) ** 2",
                     f"math.exp(-abs({a}))", f"({self.integer(depth - 1)}) / 7"]  # fmt: skip
        return rng.choice(forms)

    def truth(self, depth: int) -> str:
        """An expression that is true or false."""
        rng = self.rng
        pick = self.integer if rng.random() < 0.7 else self.real
        a, b = pick(depth - 1), pick(depth - 1)
        op = rng.choice(["<", "<=", ">", ">=", "==", "!="])
        simple = f"{a} {op} {b}"
        if depth <= 0:
            return f"({simple})"
        other = self.truth(depth - 1)
        return rng.choice([f"({simple})", f"({simple} and {other})", f"({simple} or {other})", f"(not {other})",
                           f"({a} < {b} <= {pick(depth - 1)})", f"bool({a})"])  # fmt: skip

    # ------------------------------------------------------------------------------------------------ statements

    def block(self, indent: str, count: int) -> list[str]:
        """Some statements; names that they declare are forgotten afterwards, for they may not be set."""
        known = list(self.integers), list(self.floats)
        lines = [line for _ in range(count) for line in self.statement(indent)]
        self.integers, self.floats = known
        return lines

    def statement(self, indent: str) -> list[str]:
        """One statement."""
        kinds = ["store"] * 5 + ["local"] * 4 + ["augmented"] * 3 + ["if"] * 3 + ["shared"] * 2
        kinds += ["for", "while"] * (self.depth < 2) + ["jump"] * (self.in_loop > 0 and self.depth > 0)
        return list(getattr(self, self.rng.choice(kinds) + "_")(indent))

    def store_(self, indent: str) -> list[str]:
        rng = self.rng
        if rng.random() < 0.4:
            return [f"{indent}d[{self.index()}] = {self.integer(2)}"]
        target = rng.choice(
            [f"a[{self.index()}]", "b[i]", f"m[i % 3, {rng.randrange(-4, 4)}]", "v[i]", f"v[{self.index()}]"]
        )
        return [f"{indent}{target} = {self.real(2)}"]

    def local_(self, indent: str) -> list[str]:
        self.made += 1
        if self.rng.random() < 0.5:
            line = f"{indent}k{self.made} = int({self.integer(2)}) % 1000"
            self.integers.append(f"k{self.made}")
        else:
            line = f"{indent}x{self.made} = float({self.real(2)})"
            self.floats.append(f"x{self.made}")
        return [line]

    def augmented_(self, indent: str) -> list[str]:
        op = self.rng.choice(["+=", "-="])
        if self.rng.random() < 0.3:
            return [f"{indent}d[{self.index()}] {op} {self.rng.randrange(1, 5)}"]
        return [f"{indent}{self.rng.choice(['a', 'v'])}[{self.index()}] {op} {self.real(1)}"]

    def shared_(self, indent: str) -> list[str]:
        return [f"{indent}" + self.rng.choice([
            f"count += int({self.truth(1)})", f"total += float({self.real(1)})", f"last = float({self.real(1)})",
            f"count = int({self.integer(1)}) % 100",
            "if a[i] > total:\n" + indent + "    total = float(a[i])"])]  # fmt: skip

    def if_(self, indent: str) -> list[str]:
        lines = [f"{indent}if {self.truth(2)}:", *self.block(indent + "    ", self.rng.randrange(1, 3))]
        if self.rng.random() < 0.4:
            lines += [f"{indent}elif {self.truth(1)}:", *self.block(indent + "    ", 1)]
        if self.rng.random() < 0.5:
            lines += [f"{indent}else:", *self.block(indent + "    ", self.rng.randrange(1, 3))]
        return lines

    def for_(self, indent: str) -> list[str]:
        self.made += 1
        counter = f"j{self.made}"
        limits = [f"{self.rng.randrange(0, 4)}", f"({self.integer(1)}) % 5",
                  f"{self.rng.randrange(-2, 2)}, ({self.integer(1)}) % 4",
                  "4, -1, -2", f"1, ({self.integer(1)}) % 7, 3"]  # fmt: skip
        header = f"{indent}for {counter} in range({self.rng.choice(limits)}):"
        return [header, *self._inner(indent, counter)]

    def while_(self, indent: str) -> list[str]:
        self.made += 1
        counter = f"w{self.made}"
        start = [
            f"{indent}{counter} = 0",
            f"{indent}while {counter} < 4 and {self.truth(1)}:",
            f"{indent}    {counter} += 1",
        ]
        return [*start, *self._inner(indent, counter)]

    def _inner(self, indent: str, counter: str) -> list[str]:
        self.depth, self.in_loop = self.depth + 1, self.in_loop + 1
        self.integers.append(counter)
        lines = self.block(indent + "    ", self.rng.randrange(1, 4))
        self.integers.remove(counter)
        self.depth, self.in_loop = self.depth - 1, self.in_loop - 1
        return lines

    def jump_(self, indent: str) -> list[str]:
        return [f"{indent}if {self.truth(1)}:", f"{indent}    {self.rng.choice(['break', 'continue'])}"]


def generate(seed: int) -> Program:
    """The program of *seed*."""
    rng = random.Random(seed)
    maker = Maker(rng)
    header = rng.choice(["range(n)", "range(1, n)", "range(n - 1, -1, -1)", "range(0, n, 2)",
                         f"range(len(a) - {rng.randrange(3)})",
                         "range(start, n)", "range(n // 2)"])  # fmt: skip
    body = maker.block("        ", rng.randrange(2, 6))
    results = rng.choice(["count, total, last", "count, total, last, i", "count"])
    lines = [
        "@nomp.jit",
        "def f(n, p, q, a, b, c, d, m, v, idx, start=2):",
        "    count, total, last, i = 0, 0.0, -1.0, -1",
        "    #pragma nomp for",
        f"    for i in {header}:",
        *body,
        f"    return {results}",
    ]
    return Program(seed, HEADER + HELPERS + "\n".join(lines) + "\n", _arguments(rng), maker.exact)


def _arguments(rng: random.Random) -> tuple[Any, ...]:
    def reals(dtype: str, *shape: int) -> Any:
        count = int(np.prod(shape))
        return np.array([rng.randrange(-32, 33) / 4 for _ in range(count)], dtype).reshape(shape)

    def integers(low: int, high: int, dtype: str) -> Any:
        return np.array([rng.randrange(low, high) for _ in range(SIZE)]).astype(dtype)

    kind = rng.choice(INTEGER_TYPES)
    low = 0 if kind.startswith(("u", "b")) else -20
    base = reals("float64", 3 * SIZE)
    a = reals(rng.choice(["float64", "float64", "float32", "float16"]), SIZE)
    v = rng.choice([base[:SIZE], base[: 2 * SIZE : 2], base[SIZE - 1 :: -1], base[5 : 5 + SIZE], a])
    m = reals("float64", 3, 4)
    matrix = rng.choice([m, np.asfortranarray(m), reals("float64", 4, 3).T, reals("float32", 3, 9)[:, 2:6]])
    n = rng.choice([SIZE, SIZE, SIZE - 3, 1, 0])
    target = integers(-5, 6, rng.choice(["int64", "int32", "int16", "float64"]))
    return (rng.choice([n, np.int32(n)]), rng.randrange(-8, 9) / 4, rng.choice([rng.randrange(-5, 6), np.int64(3)]), a,
            reals("float64", SIZE), integers(low, 20, kind), target, matrix, v, integers(-SIZE, SIZE,
            "int64"))  # fmt: skip
