"""nomp: a framework for building domain-specific compilers.

The compiler is `nomp.pipeline`, its command line `nomp.driver`, its C API `nomp.capi`.  Importing this package imports
nothing else.
"""
