"""The compiled passes of the Walsh-Hadamard transform; imported where one is run, for numba."""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from hardness.numerics._numba import compiled


def _butterflies(minus: Any, plus: Any, vectors: list[Any]) -> list[Any]:
    """Emit all levels across vectors, the nearest pairs first."""
    half = 1
    while half < len(vectors):
        for i in range(len(vectors)):
            if not i & half:
                a, b = vectors[i], vectors[i + half]
                vectors[i], vectors[i + half] = plus(a, b), minus(a, b)
        half *= 2
    return vectors


def _inside(builder: Any, minus: Any, plus: Any, vector: Any) -> Any:
    """Emit all levels among the lanes of one vector, the nearest pairs first."""
    lanes = range(vector.type.count)
    half = 1
    while half < len(lanes):
        order = ir.Constant(ir.VectorType(ir.IntType(32), len(lanes)), [i ^ half for i in lanes])
        upper = ir.Constant(
            ir.VectorType(ir.IntType(1), len(lanes)), [bool(i & half) for i in lanes]
        )
        other = builder.shuffle_vector(vector, vector, order)
        vector = builder.select(upper, minus(other, vector), plus(other, vector))
        half *= 2
    return vector


def _step(count: int, inside: bool) -> Any:
    """Make the step on `count` vectors of 64 bytes, at start, start + stride, ..."""

    @intrinsic
    def step(typing: Any, values: Any, start: Any, stride: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            kind = signature.args[0]
            data = context.make_array(kind)(context, builder, arguments[0]).data
            size = kind.dtype.bitwidth // 8
            scalar = context.get_value_type(kind.dtype)
            pointer = ir.VectorType(scalar, 64 // size).as_pointer()
            whole = isinstance(scalar, ir.IntType)
            minus = builder.sub if whole else builder.fsub
            plus = builder.add if whole else builder.fadd
            places, place = [], arguments[1]
            for _ in range(count):
                places.append(builder.bitcast(builder.gep(data, [place]), pointer))
                place = builder.add(place, arguments[2])
            vectors = [builder.load(p, align=size) for p in places]
            if inside:
                vectors = [_inside(builder, minus, plus, v) for v in vectors]
            for v, p in zip(_butterflies(minus, plus, vectors), places, strict=True):
                builder.store(v, p, align=size)
            return context.get_dummy_value()

        return types.void(values, types.intp, types.intp), generate

    return step


_leaf, _two, _four, _eight = _step(16, True), _step(2, False), _step(4, False), _step(8, False)


@compiled
def transform_runs(values: Any, size: int) -> None:
    """Transform each run of `size` entries (a power of two) of a flat array in place."""
    lanes = 64 // values.itemsize
    leaf = 16 * lanes
    if size < leaf:
        half = 1
        while half < size:
            for start in range(0, len(values), 2 * half):
                for i in range(start, start + half):
                    a, b = values[i], values[i + half]
                    values[i], values[i + half] = a + b, a - b
            half *= 2
        return
    # One, two or four leaves, so that eights remain: then a pass whenever its eight parts are done,
    # which keeps every pass in the nearest cache that holds it.
    block = size
    while block >= 8 * leaf:
        block //= 8
    for done in range(block, len(values) + 1, block):
        for start in range(done - block, done, leaf):
            _leaf(values, start, lanes)
        if block == 2 * leaf:
            for i in range(done - block, done - leaf, lanes):
                _two(values, i, leaf)
        if block == 4 * leaf:
            for i in range(done - block, done - 3 * leaf, lanes):
                _four(values, i, leaf)
        stride = block
        while stride < size and done % (8 * stride) == 0:
            for i in range(done - 8 * stride, done - 7 * stride, lanes):
                _eight(values, i, stride)
            stride *= 8


@compiled
def largest_absolute_sum(values: Any, size: int) -> Any:
    """Return the largest sum of absolute values of a run of `size` entries of a flat array."""
    most = np.int64(0)
    for start in range(0, len(values), size):
        total = np.int64(0)
        for i in range(start, start + size):
            total += abs(np.int64(values[i]))
        most = max(most, total)
    return most
