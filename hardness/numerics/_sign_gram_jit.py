"""The compiled tiles of the Gram matrix of packed bits; imported where one is run, for numba."""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from hardness.numerics._numba import compiled

SIDE = 4  # 16 sums and 4 rows of 64 bytes stay in the 32 registers of AVX-512
SLICE = 512  # words of a row at a time: two tiles of 16 KiB lie in the first-level cache
LANES = 8  # words of one vector: a population count of <8 x i64> is one vpopcntq
_intrinsic: Any = intrinsic  # numba supplies the first argument, which its own types count


@_intrinsic
def _distances(typing: Any, bits: Any, i: Any, j: Any, first: Any, stop: Any, found: Any) -> Any:
    """Count the bits by which rows i .. i+3 differ from rows j .. j+3 in words first .. stop-1.

    Rows beyond the last are the last again; found (16,) receives the counts.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        out = context.make_array(signature.args[5])(context, builder, arguments[5]).data
        rows, words = cgutils.unpack_tuple(builder, array.shape, 2)
        word = rows.type
        vector = ir.VectorType(ir.IntType(64), LANES)
        one = ir.Constant(word, 1)
        last = builder.sub(rows, one)

        def side(row: Any) -> list[Any]:
            starts = []
            for _ in range(SIDE):
                inside = builder.select(builder.icmp_signed("<", row, last), row, last)
                starts.append(builder.gep(array.data, [builder.mul(inside, words)]))
                row = builder.add(row, one)
            return starts

        def load(start: Any, k: Any) -> Any:
            place = builder.bitcast(builder.gep(start, [k]), vector.as_pointer())
            return builder.load(place, align=8)

        left, right = side(arguments[1]), side(arguments[2])
        zero = ir.Constant(vector, None)
        sums = [cgutils.alloca_once_value(builder, zero) for _ in range(SIDE * SIDE)]
        count = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(vector, [vector]), f"llvm.ctpop.v{LANES}i64"
        )
        total = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(word, [vector]), f"llvm.vector.reduce.add.v{LANES}i64"
        )
        step = ir.Constant(word, LANES)
        with cgutils.for_range_slice(builder, arguments[3], arguments[4], step, inc=True) as (k, _):
            mine = [load(start, k) for start in left]
            for s, start in enumerate(right):
                other = load(start, k)
                for r in range(SIDE):
                    ones = builder.call(count, [builder.xor(mine[r], other)])
                    place = sums[SIDE * r + s]
                    builder.store(builder.add(builder.load(place), ones), place)
        for t, place in enumerate(sums):
            builder.store(
                builder.call(total, [builder.load(place)]),
                builder.gep(out, [ir.Constant(word, t)]),
            )
        return context.get_dummy_value()

    whole = types.intp
    return types.void(bits, whole, whole, whole, whole, found), generate


@compiled
def add(body: Any, rest: Any, out: Any, start: int, stop: int) -> None:
    """Add to out[i, j] by how many bits rows i and j differ, for i <= j, i in start .. stop-1.

    The words are those of body (M, words) up to a multiple of eight, then those of rest (M, 8).
    Some entries with i > j are added to as well.
    """
    whole = body.shape[1] - body.shape[1] % LANES
    for first in range(0, whole, SLICE):
        _add_distances(body, first, min(first + SLICE, whole), out, start, stop)
    if whole < body.shape[1]:
        _add_distances(rest, 0, LANES, out, start, stop)


@compiled
def _add_distances(bits: Any, first: int, after: int, out: Any, start: int, stop: int) -> None:
    found = np.zeros(SIDE * SIDE, np.int64)
    members = len(bits)
    for j in range(start, members, SIDE):
        for i in range(start, min(stop, j + 1), SIDE):
            _distances(bits, i, j, first, after, found)
            for r in range(min(SIDE, stop - i)):
                for s in range(min(SIDE, members - j)):
                    out[i + r, j + s] += found[SIDE * r + s]
