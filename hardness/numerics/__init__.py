"""Arithmetic on packed bits and long vectors: Walsh-Hadamard, Gram matrices of signs, GF(2).

Modules named _..._jit are compiled by numba. Each is imported by the first call that needs it. A
loop is compiled at its first call for a type, and the compiled code is cached on disk.
"""
