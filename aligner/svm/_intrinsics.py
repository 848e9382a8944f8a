"""What compiled kernels need and numba has no function for."""

from __future__ import annotations

import sys
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

_NEAREST = 3
_SECOND = 2


def _make_prefetch(locality):
    def prefetch(typing, array, index):
        def generate(context, builder, signature, arguments):
            data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
            byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
            place = builder.bitcast(builder.gep(data, [arguments[1]]), byte)
            shape = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
            function = cgutils.get_or_insert_function(builder.module, shape, "llvm.prefetch.p0i8")
            builder.call(function, [place, number(0), number(locality), number(1)])  # to read, of data
            return context.get_dummy_value()

        return types.void(array, types.intp), generate

    return intrinsic(prefetch)


prefetch: Any = _make_prefetch(_NEAREST)
"""prefetch(array, index): ask for the cache line of array[index] ahead of its use. An index beyond the array does no
harm."""

prefetch_second: Any = _make_prefetch(_SECOND)
"""The same into the second level, for what the first has no room for."""


def _forget_owners(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    if isinstance(kind, types.Array):
        array = context.make_array(kind)(context, builder, value)
        array.meminfo = cgutils.get_null_value(array.meminfo.type)
        array.parent = cgutils.get_null_value(array.parent.type)
        return array._getvalue()
    if isinstance(kind, types.BaseTuple):
        members: Any = kind
        for place, member in enumerate(members.types):
            part = _forget_owners(context, builder, member, builder.extract_value(value, place))
            value = builder.insert_value(value, part, place)
    return value


def _borrow(typing, value):
    def generate(context, builder, signature, arguments):
        return _forget_owners(context, builder, signature.args[0], arguments[0])

    return value(value), generate


borrow: Any = intrinsic(_borrow)
"""borrow(value): the same array, or tuple of arrays, without its owner, for a kernel that got it as an argument.

Numba counts the users of an array by atomic operations each time that it is taken out of a tuple or cut, which takes
longer than the matching of a sentence pair. Arrays without an owner are not counted. The argument keeps them alive as
long as the kernel runs; arrays that the kernel has made itself must not be borrowed."""


def _place(context, builder, kind, array, index):
    data = context.make_array(kind)(context, builder, array).data
    return builder.gep(data, [index])


def _load_shared(typing, array, index):
    def generate(context, builder, signature, arguments):
        return builder.load_atomic(_place(context, builder, signature.args[0], *arguments), "acquire", 8)

    return types.int64(array, types.intp), generate


load_shared: Any = intrinsic(_load_shared)
"""load_shared(array, index): a number that other threads write; what they wrote before it is seen after it.

The array is of int64, as for all that follow."""


def _store_shared(typing, array, index, value):
    def generate(context, builder, signature, arguments):
        place = _place(context, builder, signature.args[0], *arguments[:2])
        builder.store_atomic(arguments[2], place, "release", 8)
        return context.get_dummy_value()

    return types.void(array, types.intp, types.int64), generate


store_shared: Any = intrinsic(_store_shared)
"""store_shared(array, index, value): write a number for other threads, after all that was written before."""


def _exchange_shared(typing, array, index, expected, value):
    def generate(context, builder, signature, arguments):
        place = _place(context, builder, signature.args[0], *arguments[:2])
        found = builder.cmpxchg(place, arguments[2], arguments[3], "acq_rel", "acquire")
        return builder.extract_value(found, 1)

    return types.boolean(array, types.intp, types.int64, types.int64), generate


exchange_shared: Any = intrinsic(_exchange_shared)
"""exchange_shared(array, index, expected, value): write the value if the number is the expected; whether it was."""


def _give_way(typing):
    def generate(context, builder, signature, arguments):
        name = "SwitchToThread" if sys.platform == "win32" else "sched_yield"
        function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(ir.IntType(32), []), name)
        builder.call(function, [])
        return context.get_dummy_value()

    return types.void(), generate


give_way: Any = intrinsic(_give_way)
"""give_way(): let other threads have this processor, for one that waits."""
