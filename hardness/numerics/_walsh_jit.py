"""The compiled passes of the Walsh-Hadamard transform; imported only to run one."""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from hardness.numerics._numba import compiled, emit_fetch

_AHEAD = 128  # vectors: steps on what has been read leave the memory the time to bring these
_FAR = 1 << 13  # entries: parts so long are read by whole lines of the cache, their ends apart


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
    """Emit all levels among the lanes of one vector, the nearest pairs first.

    The upper of two lanes becomes other - own: an integer by a choice of two results, a float by a
    change of its own sign, which is exact and leaves one addition.
    """
    kind, lanes = vector.type.element, range(vector.type.count)
    half = 1
    while half < len(lanes):
        order = ir.Constant(ir.VectorType(ir.IntType(32), len(lanes)), [i ^ half for i in lanes])
        other = builder.shuffle_vector(vector, vector, order)
        if isinstance(kind, ir.IntType):
            flag = ir.VectorType(ir.IntType(1), len(lanes))
            upper = ir.Constant(flag, [bool(i & half) for i in lanes])
            vector = builder.select(upper, minus(other, vector), plus(other, vector))
        else:
            bits = 32 if isinstance(kind, ir.FloatType) else 64
            words = ir.VectorType(ir.IntType(bits), len(lanes))
            signs = ir.Constant(words, [1 << bits - 1 if i & half else 0 for i in lanes])
            turned = builder.xor(builder.bitcast(vector, words), signs)
            vector = plus(other, builder.bitcast(turned, vector.type))
        half *= 2
    return vector


def _step(count: int, inside: bool) -> Any:
    """Make the step on `count` vectors of 64 bytes, at start, start + stride, ...

    With `inside`, the levels among the lanes of each vector come first, and more is fetched.
    """

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
                for p in places:
                    emit_fetch(builder, builder.gep(p, [ir.Constant(ir.IntType(64), _AHEAD)]))
                vectors = [_inside(builder, minus, plus, v) for v in vectors]
            for v, p in zip(_butterflies(minus, plus, vectors), places, strict=True):
                builder.store(v, p, align=size)
            return context.get_dummy_value()

        return types.void(values, types.intp, types.intp), generate

    return step


_leaf, _two, _four, _eight = _step(16, True), _step(2, False), _step(4, False), _step(8, False)


@compiled
def transform_runs(values: Any, size: int) -> None:
    """Transform each run of `size` entries (a power of two) of a flat array in place.

    An entry takes log2(size) additions, in steps of seven or eight levels within 1 KiB, then of
    three: at 2^22 entries of 4 bytes the array is read and written six times, thrice in caches.
    """
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
    # One, two or four leaves, so that eights remain: then a step whenever its eight parts are done,
    # which keeps every step in the nearest cache that holds it.
    skipped = (-(values.ctypes.data // values.itemsize)) % lanes  # to the first line of the cache
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
            start = done - 8 * stride
            if stride < _FAR or skipped == 0:
                for i in range(start, start + stride, lanes):
                    _eight(values, i, stride)
            else:
                for i in range(start + skipped, start + stride - lanes + 1, lanes):
                    _eight(values, i, stride)
                _eight_columns(values, start, stride, 0, skipped)
                _eight_columns(values, start, stride, stride - lanes + skipped, stride)
            stride *= 8


@compiled
def _eight_columns(values: Any, start: int, stride: int, first: int, after: int) -> None:
    """Do three levels on entries start + column, + stride, ..., one at a time."""
    half = stride
    while half < 8 * stride:
        for pair in range(start, start + 8 * stride, 2 * half):
            for row in range(pair, pair + half, stride):
                for i in range(row + first, row + after):
                    a, b = values[i], values[i + half]
                    values[i], values[i + half] = a + b, a - b
        half *= 2
