"""JAX functions as StableHLO text, with marks for what lowering would lose, and such text as part of a JAX function.

`stop_gradient`, `custom_jvp` and `custom_vjp` leave no trace in what JAX lowers to. Here they become calls of functions,
`{pir.stop_gradient}` and `{pir.vjp = @name}`: the latter takes the operands and the cotangents of the results, and returns the cotangents of
the operands. Those of integers are truth values that nobody reads. Operands that JAX refuses a derivative for are listed in `pir.no_vjp`.
"""

import functools
import re

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax._src import core, random
from jax._src import custom_derivatives as custom
from jax._src.interpreters import ad, mlir
from jax._src.lax import linalg, special
from jax._src.lax.control_flow import solves
from jax._src.lib.mlir import ir
from jax._src.lib.mlir.dialects import func as func_dialect

_DTYPES = [jnp.dtype(name) for name in (
    "bool int4 int8 int16 int32 int64 uint4 uint8 uint16 uint32 uint64 bfloat16 float16 float32 float64 complex64 complex128 "
    "float8_e4m3fn float8_e4m3fnuz float8_e4m3b11fnuz float8_e5m2 float8_e5m2fnuz"
).split()]


def struct(aval):
    return jax.ShapeDtypeStruct(aval.shape, aval.dtype, weak_type=aval.weak_type)


def is_float(aval):
    """Whether there is a derivative: of floats, and of complex numbers."""
    return jnp.issubdtype(aval.dtype, jnp.inexact)


# ---------------------------------------------------------------------------------------------------------------- marks


def _function(ctx, name, jaxpr):
    """Adds a private function to the module, without marks in it.

    A rule may call the function that it belongs to, which would be marked for ever. The caches of what has been lowered are
    those of marked code, and are not used.
    """
    plain = ctx.module_context.replace(
        lowering_parameters=mlir.LoweringParameters(), lowering_cache={}, cached_primitive_lowerings={}
    )
    return mlir.lower_jaxpr_to_fun(
        plain, name, jaxpr, [], num_const_args=0, in_avals=jaxpr.in_avals, arg_names=None, result_names=None
    )


def _call(callee, args, marks=()):
    call = func_dialect.CallOp(list(callee.type.results), ir.FlatSymbolRefAttr.get(callee.name.value), args)
    for mark, value in dict(marks).items():
        call.operation.attributes[mark] = value
    return call.results


def _trace(function, avals):
    with core.eval_context():
        return jax.make_jaxpr(function)(*map(struct, avals))


def _vjp_of(function, avals_in, avals_out):
    """The derivative of a function of arrays: (operands, cotangents of results) -> cotangents of operands; and the operands that
    JAX refuses a derivative for, whose cotangents are zeros that nobody may read."""
    wrt = [i for i, aval in enumerate(avals_in) if is_float(aval)]
    seeds = [i for i, aval in enumerate(avals_out) if is_float(aval)]
    avals = [*avals_in, *(a if is_float(a) else a.update(dtype=np.dtype(bool), weak_type=False) for a in avals_out)]

    def of_all(wrt, transpose):
        def vjp(*operands):
            args, cotangents = operands[:len(avals_in)], operands[len(avals_in):]

            def part(*values):
                of_part = list(args)
                for i, value in zip(wrt, values):
                    of_part[i] = value
                outs = function(*of_part)
                return [outs[i] for i in seeds]

            grads = dict(zip(wrt, transpose(part, [args[i] for i in wrt], [cotangents[i] for i in seeds])))
            return [
                grads[i] if i in grads else jnp.zeros(a.shape, a.dtype if is_float(a) else bool) for i, a in enumerate(avals_in)
            ]

        return _trace(vjp, avals)

    def direct(part, values, cotangents):
        return jax.vjp(part, *values)[1](cotangents)

    def by_loop(part, values, cotangents):
        """The same where the tangent is computed by a loop: pir-opt transposes that."""
        from pir_opt.jax.api import differentiable

        push = differentiable(lambda *tangents: jax.jvp(part, tuple(values), tangents)[1])
        return jax.vjp(push, *map(jnp.zeros_like, values))[1](cotangents)

    def of(wrt):
        try:
            return of_all(wrt, direct)
        except ValueError:  # "Reverse-mode differentiation does not work for lax.while_loop".
            return of_all(wrt, by_loop)

    def refuses(i):
        try:
            of([i])
        except _REFUSALS:
            return True
        return False

    try:
        return of(wrt), []
    except _REFUSALS:
        # There is a rule for some operands, like the last of the incomplete beta function.
        refused = [i for i in wrt if refuses(i)]
        if len(refused) in (0, len(wrt)):
            raise
        return of([i for i in wrt if i not in refused]), refused


# What rules raise that have no derivative of an operand.
_REFUSALS = (ValueError, TypeError, NotImplementedError, ad.CustomVJPException)


def _marked(primitive, ctx, *args, **params):
    def function(*operands):
        outs = primitive.bind(*operands, **primitive.get_bind_params(params))
        return outs if primitive.multiple_results else [outs]

    jaxpr = params.get("call_jaxpr") or _trace(function, ctx.avals_in)
    callee = _function(ctx, primitive.name, jaxpr)
    if not any(map(is_float, ctx.avals_in)) or not any(map(is_float, ctx.avals_out)):
        return _call(callee, args)
    derivative, refused = _vjp_of(function, ctx.avals_in, ctx.avals_out)
    vjp = _function(ctx, f"{callee.name.value}.vjp", derivative)
    marks = {"pir.vjp": ir.FlatSymbolRefAttr.get(vjp.name.value)}
    if refused:
        marks["pir.no_vjp"] = ir.ArrayAttr.get([ir.IntegerAttr.get(ir.IntegerType.get_signless(64), i) for i in refused])
    return _call(callee, args, marks)


def _stopped(ctx, arg, **_):
    callee = _function(ctx, "stop_gradient", _trace(lambda x: x, ctx.avals_in))
    return _call(callee, [arg], {"pir.stop_gradient": ir.UnitAttr.get()})


# Besides functions with rules of the user's, what is lowered to calls of libraries, to long approximations, or to operations whose
# derivative JAX knows better, like the maximum of a window: its cotangent goes to the first of equals.
_MARKED = [custom.custom_jvp_call_p, custom.custom_vjp_call_p, solves.linear_solve_p]
for _module, _names in (
    (linalg, "cholesky eig eigh geqrf householder_product lu ormqr qr schur svd triangular_solve tridiagonal_solve"),
    (special, "bessel_i0e bessel_i1e digamma erf_inv igamma igammac lgamma polygamma regularized_incomplete_beta"),
    (lax, "conv_general_dilated cumlogsumexp cummax cummin cumprod reduce_window_max reduce_window_min scatter_mul sort top_k"),
    (random, "random_gamma"),
):
    _MARKED += [getattr(_module, f"{name}_p") for name in _names.split()]
_RULES = (*((p, functools.partial(_marked, p)) for p in _MARKED), (custom.stop_gradient_p, _stopped))

# ------------------------------------------------------------------------------------------------------------ to text


def _simplify(module):
    """Takes away how arrays are laid out on devices, which is no part of the function, and choices of one branch, between platforms."""
    found = []

    def visit(op):
        if op.name in ("sdy.mesh", "sdy.sharding_constraint") or (op.name == "stablehlo.case" and len(op.regions) == 1):
            found.append(op)
        return ir.WalkResult.ADVANCE

    module.walk(visit)
    for op in found:
        values = list(op.operands)
        if op.name == "stablehlo.case":
            *moved, last = op.regions[0].blocks[0].operations
            for inner in moved:
                inner.operation.move_before(op)
            values = list(last.operation.operands)
        for result, value in zip(op.results, values):
            result.replace_all_uses_with(value)
        op.erase()


class Lowered:
    """A function as text."""

    def __init__(self, jaxpr):
        parameters = mlir.LoweringParameters(override_lowering_rules=_RULES)
        traced = jax.jit(core.jaxpr_as_fun(jaxpr), keep_unused=True).trace(*map(struct, jaxpr.in_avals))
        self._module = traced.lower(_private_parameters=parameters).compiler_ir("stablehlo").operation
        _simplify(self._module)
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
