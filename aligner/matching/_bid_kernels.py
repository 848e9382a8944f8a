"""The bid of a row in vector instructions: what the matching of dense blocks spends its time on.

Loops over rows of 5 to 45 columns are too short for a compiler's vectorisation, whose scalar rest takes longer than all
before it, and which needs one pass each for the best, its column and the second best. Here they are found in one, four
columns at a time, by instructions that LLVM has for every machine.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.extending import intrinsic

_LANES = 4
_REAL, _WHOLE, _SMALL = ir.DoubleType(), ir.IntType(64), ir.IntType(32)
_REALS, _WHOLES = ir.VectorType(_REAL, _LANES), ir.VectorType(_WHOLE, _LANES)
_STEPS = ir.Constant(_WHOLES, list(range(_LANES)))
_ZEROS = ir.Constant(_REALS, [0.0] * _LANES)
_BEYOND = ir.Constant(_WHOLES, [2**62] * _LANES)
"""More than any column."""


def _shuffle(builder, vector, order):
    nothing = ir.Constant(vector.type, ir.Undefined)
    return builder.shuffle_vector(vector, nothing, ir.Constant(ir.VectorType(_SMALL, _LANES), order))


def _spread(builder, number, kind):
    """The number in all lanes."""
    return _shuffle(builder, builder.insert_element(ir.Constant(kind, ir.Undefined), number, _SMALL(0)), [0] * _LANES)


def _larger(builder, a, b):
    return builder.select(builder.fcmp_ordered(">", a, b), a, b)


def _smaller(builder, a, b):
    return builder.select(builder.icmp_signed("<", a, b), a, b)


def _fold(builder, vector, choose):
    """The one of all lanes that `choose` prefers."""
    width = _LANES // 2
    while width > 0:
        other = _shuffle(builder, vector, [(lane + width) % _LANES for lane in range(_LANES)])
        vector = choose(builder, vector, other)
        width //= 2
    return builder.extract_element(vector, _SMALL(0))


class _Best:
    """What each lane has seen so far: the best net value, its column, and the second best."""

    def __init__(self, builder):
        self.builder = builder
        self.best = cgutils.alloca_once_value(builder, _ZEROS)
        self.second = cgutils.alloca_once_value(builder, _ZEROS)
        self.column = cgutils.alloca_once_value(builder, ir.Constant(_WHOLES, [-1] * _LANES))

    def offer(self, nets, columns):
        builder = self.builder
        best = builder.load(self.best)
        better = builder.fcmp_ordered(">", nets, best)  # not where equal: the first column stays
        lesser = builder.select(better, best, nets)
        builder.store(_larger(builder, lesser, builder.load(self.second)), self.second)
        builder.store(builder.select(better, nets, best), self.best)
        builder.store(builder.select(better, columns, builder.load(self.column)), self.column)

    def result(self):
        builder = self.builder
        bests, columns = builder.load(self.best), builder.load(self.column)
        best = _fold(builder, bests, _larger)
        equal = builder.fcmp_ordered("==", bests, _spread(builder, best, _REALS))
        column = _fold(builder, builder.select(equal, columns, _BEYOND), _smaller)
        winner = builder.icmp_signed("==", columns, _spread(builder, column, _WHOLES))
        rest = builder.select(winner, _ZEROS, bests)
        second = _fold(builder, _larger(builder, rest, builder.load(self.second)), _larger)
        nothing = builder.fcmp_ordered("<=", best, _REAL(0.0))
        return [builder.select(nothing, _WHOLE(-1), column), best, second]


def _bid(typing, value, price):
    def generate(context, builder, signature, arguments):
        arrays = [
            context.make_array(kind)(context, builder, array)
            for kind, array in zip(signature.args, arguments, strict=True)
        ]
        count = cgutils.unpack_tuple(builder, arrays[1].shape, 1)[0]
        values, prices = (array.data for array in arrays)
        found = _Best(builder)

        def load(data, k):
            return builder.load(builder.bitcast(builder.gep(data, [k]), _REALS.as_pointer()), align=8)

        def nets(k):
            return builder.fsub(load(values, k), load(prices, k)), builder.add(_spread(builder, k, _WHOLES), _STEPS)

        whole = builder.and_(count, _WHOLE(-_LANES))
        with cgutils.for_range_slice(builder, _WHOLE(0), whole, _WHOLE(_LANES)) as (k, _):
            found.offer(*nets(k))
        short = builder.icmp_signed("<", count, _WHOLE(_LANES))
        with builder.if_then(builder.icmp_signed(">", count, whole)), builder.if_else(short) as (few, many):
            with few, cgutils.for_range(builder, count) as loop:
                pair = [builder.load(builder.gep(data, [loop.index])) for data in (values, prices)]
                lane = builder.trunc(loop.index, _SMALL)
                found.offer(builder.insert_element(_ZEROS, builder.fsub(*pair), lane), _STEPS)
            with many:  # the last columns again, without those that were seen
                net, columns = nets(builder.sub(count, _WHOLE(_LANES)))
                fresh = builder.icmp_signed(">=", columns, _spread(builder, whole, _WHOLES))
                found.offer(builder.select(fresh, net, _ZEROS), columns)
        return context.make_tuple(builder, signature.return_type, found.result())

    for kind in (value, price):
        if kind.dtype != types.float64 or kind.layout != "C":
            raise TypingError(f"a bid needs contiguous float64 rows, not {kind}")
    return types.Tuple((types.int64, types.float64, types.float64))(value, price), generate


bid: Any = intrinsic(_bid)
"""bid(value, price): the best column of a row at these prices, its net value, and the next best net value.

value, price: (K,) float64 of which no difference is NaN.  A row may also stay unmatched, at net value 0: where no
column nets more, the column is -1 and both values are 0. Of equal columns the first is the best and another the next
best."""
