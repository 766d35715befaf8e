"""Arithmetic on packed bits and long vectors: Walsh-Hadamard, Gram matrices of signs, GF(2).

Modules named _..._jit are compiled by numba: each is imported by the first call that needs it, a
loop is compiled at its first call for a type, and what is compiled is kept on disk.
"""
