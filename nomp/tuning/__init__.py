"""Tuning: the choices that scripts leave open, tried on a program's own data, and kept.

    database    what has been measured, by kernel, device and size class, as JSON files
    search      which choices to try next
    ahead       their kernels compiled by other processes (worker) while some are measured

`runtime.tuner` measures; ``nomp tune`` starts a program so that it does.
"""
