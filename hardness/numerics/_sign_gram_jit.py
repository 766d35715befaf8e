"""The compiled tiles of the Gram matrix of packed signs; imported only to run one.

Words a, b of two rows are compared two at a time, x = a1 ^ b1 and y = a2 ^ b2, by a full adder with
a bit o for each place: the number of ones of x, y and o is that of o ^ x ^ y and twice that of
carry = x ^ ((o ^ x) & (x ^ y)). The next o is o ^ x ^ y, a sum mod 2 of all words before: it is the
difference of two numbers that each row has by itself, and so are o ^ x and x ^ y. They are packed
for each row once; a pair of rows then takes five operations for two words. [War12, section 5-1]
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from hardness.numerics._numba import compiled, emit_fetch

STRIP = 128  # rows packed at a time on the left: 400 KB, in the second-level cache
_SIDE = 4  # rows of a tile: its 16 sums stay in the 32 registers of AVX-512
_LANES = 8  # words of a vector: a population count of <8 x i64> is one vpopcntq
_STEP = 3 * _LANES  # packed words of two vectors: o ^ a1, a1 ^ a2, a1
_SLICE = 256  # words of a row at a time: four packed rows lie in the first-level cache
_ROW = _SLICE // (2 * _LANES) * _STEP + _LANES  # packed words of a slice, and its last o
_intrinsic: Any = intrinsic  # numba supplies the first argument, which its own types count


def _vectors(builder: Any, rows: Any) -> Any:
    """Return a function that emits the load of a vector of words, and the type of vectors."""
    vector = ir.VectorType(ir.IntType(64), _LANES)

    def load(k: Any, align: int) -> Any:
        place = builder.bitcast(builder.gep(rows, [k]), vector.as_pointer())
        return builder.load(place, align=align)

    return load, vector


@_intrinsic
def _add_tile(
    typing: Any, left: Any, i: Any, right: Any, steps: Any, bits: Any, out: Any, at: Any, wide: Any
) -> Any:
    """Add bits - 2 (bits by which packed rows differ) to four times four numbers of out.

    Rows i .. i+3 of left, rows 0 .. 3 of right: flat, `_ROW` words a row; steps: how many pairs of
    vectors; out: flat, the numbers of a row of left from at on, those of the next `wide` farther.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        ours, others, target = (
            context.make_array(signature.args[k])(context, builder, arguments[k]).data
            for k in (0, 2, 5)
        )
        _, i, _, steps, bits, _, at, wide = arguments
        word = i.type
        load_ours, vector = _vectors(builder, ours)
        load_others, _ = _vectors(builder, others)
        count = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(vector, [vector]), f"llvm.ctpop.v{_LANES}i64"
        )

        def number(value: int) -> Any:
            return ir.Constant(word, value)

        def parts(load: Any, start: Any, row: int, many: int) -> list[Any]:
            return [
                load(builder.add(start, number(row * _ROW + part * _LANES)), 64)
                for part in range(many)
            ]

        first = builder.mul(i, number(_ROW))
        zero = ir.Constant(vector, None)
        sums = [cgutils.alloca_once_value(builder, zero) for _ in range(_SIDE * _SIDE)]
        stop = builder.mul(steps, number(_STEP))
        with cgutils.for_range_slice(builder, number(0), stop, number(_STEP), inc=True) as (k, _):
            start = builder.add(first, k)
            rows = [parts(load_ours, start, r, 3) for r in range(_SIDE)]
            for s in range(_SIDE):
                column = parts(load_others, k, s, 3)
                for r, row in enumerate(rows):
                    apart = [builder.xor(a, b) for a, b in zip(row, column, strict=True)]
                    carry = builder.xor(builder.and_(apart[0], apart[1]), apart[2])
                    place = sums[_SIDE * r + s]
                    builder.store(
                        builder.add(builder.load(place), builder.call(count, [carry])), place
                    )
        columns = [parts(load_others, stop, s, 1)[0] for s in range(_SIDE)]
        for r in range(_SIDE):
            (row,) = parts(load_ours, builder.add(first, stop), r, 1)
            totals = []
            for s, column in enumerate(columns):
                twice = builder.load(sums[_SIDE * r + s])
                twice = builder.add(twice, twice)
                ones = builder.call(count, [builder.xor(row, column)])
                totals.append(builder.add(twice, ones))
            four = _add_lanes(builder, totals)
            place = builder.gep(target, [builder.add(at, builder.mul(wide, number(r)))])
            place = builder.bitcast(place, four.type.as_pointer())
            every = ir.Constant(four.type, ir.Undefined)
            for lane in range(_SIDE):
                every = builder.insert_element(every, bits, ir.Constant(ir.IntType(32), lane))
            change = builder.sub(every, builder.add(four, four))
            builder.store(builder.add(builder.load(place, align=8), change), place, align=8)
        return context.get_dummy_value()

    whole = types.intp
    return types.void(left, whole, right, whole, whole, out, whole, whole), generate


def _add_lanes(builder: Any, four: list[Any]) -> Any:
    """Emit the sums of the eight lanes of each of four vectors, as a vector of four."""

    def pick(a: Any, b: Any, lanes: list[int]) -> Any:
        order = ir.Constant(ir.VectorType(ir.IntType(32), len(lanes)), lanes)
        return builder.shuffle_vector(a, b, order)

    def halve(a: Any, b: Any, lanes: list[int], step: int) -> Any:
        return builder.add(pick(a, b, lanes), pick(a, b, [lane + step for lane in lanes]))

    pairs = [halve(a, b, [0, 8, 2, 10, 4, 12, 6, 14], 1) for a, b in (four[:2], four[2:])]
    eight = halve(pairs[0], pairs[1], [0, 1, 8, 9, 4, 5, 12, 13], 2)
    return halve(eight, eight, [0, 1, 2, 3], 4)


@_intrinsic
def _pack_whole(
    typing: Any, words: Any, first: Any, steps: Any, packed: Any, at: Any, ahead: Any
) -> Any:
    """Write the packed words of `steps` pairs of vectors of flat words, then the last o.

    What lies `ahead` words farther is fetched: it is packed next.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        source, target = (
            context.make_array(signature.args[k])(context, builder, arguments[k]).data
            for k in (0, 3)
        )
        _, first, steps, _, at, ahead = arguments
        word = first.type
        load, vector = _vectors(builder, source)
        odd = cgutils.alloca_once_value(builder, ir.Constant(vector, None))
        write = cgutils.alloca_once_value(builder, at)

        def put(value: Any) -> None:
            place = builder.load(write)
            where = builder.bitcast(builder.gep(target, [place]), vector.as_pointer())
            builder.store(value, where, align=64)
            builder.store(builder.add(place, ir.Constant(word, _LANES)), write)

        step = ir.Constant(word, 2 * _LANES)
        stop = builder.add(first, builder.mul(steps, step))
        with cgutils.for_range_slice(builder, first, stop, step, inc=True) as (k, _):
            a, b = load(k, 8), load(builder.add(k, ir.Constant(word, _LANES)), 8)
            for part in (0, _LANES):
                later = builder.add(builder.add(k, ahead), ir.Constant(word, part))
                emit_fetch(builder, builder.gep(source, [later]))
            apart, before = builder.xor(a, b), builder.load(odd)
            put(builder.xor(before, a))
            put(apart)
            put(a)
            builder.store(builder.xor(before, apart), odd)
        put(builder.load(odd))
        return context.get_dummy_value()

    whole = types.intp
    return types.void(words, whole, whole, packed, whole, whole), generate


@compiled
def add_sign_gram(bits: Any, samples: int, out: Any, start: int, stop: int, scratch: Any) -> None:
    """Add samples - 2 (bits by which rows i and j of bits differ) to out[i, j].

    bits: (M, words) uint64; out: (rows, M) int64, of which i in start .. stop-1 and j >= i are
    added to, at most STRIP rows. Both in C order. scratch: what `new_scratch` returns.
    """
    members, words = bits.shape
    flat, target = bits.reshape(-1), out.reshape(-1)
    left, right = scratch[: STRIP * _ROW], scratch[STRIP * _ROW :]
    tile, few = np.zeros(_SIDE * _SIDE, np.int64), np.zeros(_SLICE, np.uint64)
    for first in range(0, words, _SLICE):
        size = min(words - first, _SLICE)
        steps = (size + 2 * _LANES - 1) // (2 * _LANES)
        counted = 0 if first else samples
        for i in range(start, stop):
            _pack(flat, i * words + first, size, few, left, (i - start) * _ROW, words)
        for j in range(start, members, _SIDE):
            many = min(_SIDE, members - j)
            for s in range(many):
                _pack(flat, (j + s) * words + first, size, few, right, s * _ROW, _SIDE * words)
            i = start
            while i + _SIDE <= min(stop, j + 1) and many == _SIDE:
                _add_tile(left, i - start, right, steps, counted, target, i * members + j, members)
                i += _SIDE
            while i < min(stop, j + many):
                tile[:] = 0
                _add_tile(left, i - start, right, steps, counted, tile, 0, _SIDE)
                for r in range(min(_SIDE, stop - i)):
                    for s in range(max(0, i + r - j), many):
                        out[i + r, j + s] += tile[_SIDE * r + s]
                i += _SIDE


@compiled
def new_scratch() -> Any:
    """Return words for the packed rows of a strip and of a tile, from a line of the cache on."""
    size = (STRIP + _SIDE) * _ROW
    words = np.zeros(size + _LANES, np.uint64)  # rows not set are compared as well
    skipped = (-(words.ctypes.data // 8)) % _LANES
    return words[skipped : skipped + size]


@compiled
def _pack(flat: Any, first: int, size: int, few: Any, packed: Any, at: int, ahead: int) -> None:
    """Pack `size` words from the first on, 0 beyond them; few: scratch for so many."""
    if size % (2 * _LANES) == 0:
        _pack_whole(flat, first, size // (2 * _LANES), packed, at, ahead)
        return
    few[:size] = flat[first : first + size]
    few[size:] = 0
    _pack_whole(few, 0, (size + 2 * _LANES - 1) // (2 * _LANES), packed, at, 0)
