"""Asking for memory ahead of its use, which numba has no function for."""

from __future__ import annotations

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

_NEAREST = 3
_SECOND = 2


def _make(locality):
    @intrinsic
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

    return prefetch


prefetch = _make(_NEAREST)
"""prefetch(array, index): ask for the cache line of array[index]. An index beyond the array does no harm."""

prefetch_second = _make(_SECOND)
"""The same into the second level, for what the first has no room for."""
