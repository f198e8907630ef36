"""JAX functions as StableHLO text, with marks for what lowering would lose, and such text as part of a JAX function.

`stop_gradient`, `custom_jvp` and `custom_vjp` leave no trace in what JAX lowers to. Here they become calls of functions,
`{pir.stop_gradient}` and `{pir.vjp = @name}`: the latter takes the operands and the cotangents of the float results, and returns the
cotangents of the float operands.
"""

import contextlib
import functools
import re
import threading

import jax
import jax.numpy as jnp
import numpy as np
from jax._src import core
from jax._src import custom_derivatives as custom
from jax._src.interpreters import mlir
from jax._src.lib.mlir import ir
from jax._src.lib.mlir.dialects import func as func_dialect

_DTYPES = [jnp.dtype(name) for name in (
    "bool int4 int8 int16 int32 int64 uint4 uint8 uint16 uint32 uint64 bfloat16 float16 float32 float64 complex64 complex128 "
    "float8_e4m3fn float8_e4m3fnuz float8_e4m3b11fnuz float8_e5m2 float8_e5m2fnuz"
).split()]


def struct(aval):
    return jax.ShapeDtypeStruct(aval.shape, aval.dtype, weak_type=aval.weak_type)


def is_float(aval):
    return jnp.issubdtype(aval.dtype, jnp.floating)


# ---------------------------------------------------------------------------------------------------------------- marks

_state = threading.local()


@contextlib.contextmanager
def _unmarked():
    """Inside the derivative of a marked function its primal, which occurs there again, is not marked."""
    before = getattr(_state, "unmarked", False)
    _state.unmarked = True
    try:
        yield
    finally:
        _state.unmarked = before


def _function(ctx, name, jaxpr):
    """Adds a private function to the module."""
    return mlir.lower_jaxpr_to_fun(
        ctx.module_context, name, jaxpr, [], num_const_args=0, in_avals=jaxpr.in_avals, arg_names=None, result_names=None
    )


def _call(callee, args, mark, value):
    call = func_dialect.CallOp(list(callee.type.results), ir.FlatSymbolRefAttr.get(callee.name.value), args)
    call.operation.attributes[mark] = value
    return call.results


def _trace(function, avals):
    with core.eval_context():
        return jax.make_jaxpr(function)(*map(struct, avals))


def _vjp_of(function, avals_in, avals_out):
    """The derivative of a function of arrays: (operands, cotangents of float results) -> cotangents of float operands."""
    wrt = [i for i, aval in enumerate(avals_in) if is_float(aval)]
    seeds = [i for i, aval in enumerate(avals_out) if is_float(aval)]

    def vjp(*operands):
        args, cotangents = list(operands[:len(avals_in)]), operands[len(avals_in):]

        def part(*floats):
            for i, value in zip(wrt, floats):
                args[i] = value
            outs = function(*args)
            return [outs[i] for i in seeds]

        return jax.vjp(part, *(args[i] for i in wrt))[1](list(cotangents))

    return _trace(vjp, [*avals_in, *(avals_out[i] for i in seeds)])


def _marked(primitive, ctx, *args, **params):
    if getattr(_state, "unmarked", False):
        return mlir.core_call_lowering(ctx, *args, call_jaxpr=params["call_jaxpr"], name=primitive.name)

    def function(*operands):
        return primitive.bind(*operands, **primitive.get_bind_params(params))

    callee = _function(ctx, primitive.name, params["call_jaxpr"])
    with _unmarked():
        vjp = _function(ctx, f"{callee.name.value}.vjp", _vjp_of(function, ctx.avals_in, ctx.avals_out))
    return _call(callee, args, "pir.vjp", ir.FlatSymbolRefAttr.get(vjp.name.value))


def _stopped(ctx, arg, **_):
    callee = _function(ctx, "stop_gradient", _trace(lambda x: x, ctx.avals_in))
    return _call(callee, [arg], "pir.stop_gradient", ir.UnitAttr.get())


_RULES = (
    (custom.custom_jvp_call_p, functools.partial(_marked, custom.custom_jvp_call_p)),
    (custom.custom_vjp_call_p, functools.partial(_marked, custom.custom_vjp_call_p)),
    (custom.stop_gradient_p, _stopped),
)

# ------------------------------------------------------------------------------------------------------------ to text


class Lowered:
    """A function as text."""

    def __init__(self, jaxpr):
        parameters = mlir.LoweringParameters(override_lowering_rules=_RULES)
        traced = jax.jit(core.jaxpr_as_fun(jaxpr), keep_unused=True).trace(*map(struct, jaxpr.in_avals))
        self._module = traced.lower(_private_parameters=parameters).compiler_ir("stablehlo").operation
        self.text = self._module.get_asm(print_generic_op_form=True)

    def locate(self, line):
        """The line of the user's program that an operation on this line of the text comes from."""
        options = {"print_generic_op_form": True, "enable_debug_info": True, "use_local_scope": True}
        lines = self._module.get_asm(**options).splitlines()
        if not 0 < line <= len(lines):
            return None
        # Callers are behind callees; JAX has left its own frames out.
        found = re.search(r'(?:"([^"]*)"\()?"([^"]+)":(\d+):\d+', lines[line - 1].rpartition(" loc(")[2])
        if not found:
            return None
        function, file, number = found.groups()
        return f"{file}:{number}" + (f", in {function}" if function else "")


# ---------------------------------------------------------------------------------------------------------- from text


@functools.cache
def _element_types():
    with mlir.make_ir_context():
        return {str(mlir.dtype_to_ir_type(np.dtype(dtype))): dtype for dtype in _DTYPES}


def _aval(type_):
    tensor = ir.RankedTensorType(type_)
    return core.ShapedArray(tuple(tensor.shape), _element_types()[str(tensor.element_type)])


class Function:
    """One function of a module of StableHLO, as a module of its own."""

    def __init__(self, text, name):
        with mlir.make_ir_context():
            module = ir.Module.parse(text)
            found = None
            for op in list(module.body.operations):
                is_function = op.operation.name == "func.func"
                symbol = op.operation.attributes["sym_name"].value if is_function else "main"
                if is_function and symbol == name:
                    found = op
                elif symbol.split(".")[0] == "main":
                    op.operation.erase()
            if found is None:
                raise KeyError(name)
            found.operation.attributes["sym_name"] = ir.StringAttr.get("main")
            found.operation.attributes["sym_visibility"] = ir.StringAttr.get("public")
            type_ = ir.FunctionType(ir.TypeAttr(found.operation.attributes["function_type"]).value)
            self.in_avals = [_aval(t) for t in type_.inputs]
            self.out_avals = [_aval(t) for t in type_.results]
            self.text = module.operation.get_asm(print_generic_op_form=True)

    def emit(self, ctx, args):
        """Calls it in the module that is being lowered."""
        target = ctx.module_context
        module = ir.Module.parse(self.text, context=target.context)
        name = mlir.merge_mlir_modules(target.module, "pir_opt", module, dst_symtab=target.symbol_table)
        type_ = ir.FunctionType(ir.TypeAttr(target.symbol_table[name].attributes["function_type"]).value)
        return func_dialect.CallOp(type_.results, ir.FlatSymbolRefAttr.get(name), args).results
