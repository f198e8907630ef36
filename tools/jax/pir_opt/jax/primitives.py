"""The primitives that stand for a program and its derivatives in JAX.

With x the arguments of a program f, r its residuals, t tangents of its active arguments and c cotangents of its float results:

    call(x)             f(x), and r with a derivative as a parameter    run by JAX, or by `fwd`
    tangent(x, r, t)    J(x) t                                          run by JAX; its transpose is
    cotangent(x, r, c)  c J(x)                                          run by `bwd`
    second(x, c, t)     the derivative of c J(x) along t                symmetric: reverse mode of `tangent`

Residuals are a function of x that only `cotangent` reads. So their tangents are left out, and `cotangent` is differentiated by
way of x. Derivatives of any order need `fwd` and `bwd` only of functions that JAX traced.
"""

import functools

import jax
import jax.numpy as jnp
from jax import lax
from jax._src import core, dispatch
from jax._src.interpreters import ad, batching, mlir

call_p = core.Primitive("pir_opt_call")
tangent_p = core.Primitive("pir_opt_tangent")
cotangent_p = core.Primitive("pir_opt_cotangent")
second_p = core.Primitive("pir_opt_second")
for _primitive in (call_p, tangent_p, cotangent_p, second_p):
    _primitive.multiple_results = True
    _primitive.def_impl(functools.partial(dispatch.apply_primitive, _primitive))


def _instantiate(tangents):
    return [ad.instantiate_zeros(t) if isinstance(t, ad.Zero) else t for t in tangents]


def _zero(value):
    return ad.Zero(core.typeof(value).to_tangent_aval())


def _split(values, *counts):
    values, parts = list(values), []
    for count in counts:
        parts.append(values[:count])
        values = values[count:]
    return [*parts, values]


def _operands(derivative, values):
    """The operands of `tangent` and `cotangent`: arguments, residuals, and the ones that it is linear in."""
    return _split(values, len(derivative.program.in_avals), len(derivative.residuals))


def _add(a, b):
    return [ad.add_tangents(x, y) for x, y in zip(a, b)]


def _active(program, tangents):
    return tuple(i for i in program.float_args if not isinstance(tangents[i], ad.Zero))


def _float_outs(derivative):
    return [derivative.program.out_avals[i] for i in derivative.program.float_outs]


def _tangent_along(function, args, along, directions):
    """The derivative of a function of arrays with regard to the arguments `along`."""

    def part(*values):
        operands = list(args)
        for i, value in zip(along, values):
            operands[i] = value
        return function(*operands)

    return jax.jvp(part, tuple(args[i] for i in along), tuple(directions))[1]


# ----------------------------------------------------------------------------------------------------------------- call


@call_p.def_abstract_eval
def _(*_, program, derivative):
    return [*program.out_avals, *(derivative.residuals if derivative else [])]


def _lower_call(ctx, *args, program, derivative):
    if derivative and not derivative.refused:
        return derivative.functions[0].emit(ctx, args)
    return mlir.core_call_lowering(ctx, *args, name="pir_opt_call", call_jaxpr=program.jaxpr)


mlir.register_lowering(call_p, _lower_call)


def _jvp_call(args, tangents, *, program, derivative):
    active = _active(program, tangents)
    count = len(program.out_avals)
    if not active or not program.float_outs:
        outs = call_p.bind(*args, program=program, derivative=derivative)
        return outs, [_zero(out) for out in outs]
    inner = derivative if derivative and set(active) <= set(derivative.active) else program.derivative(active)
    outs, residuals = _split(call_p.bind(*args, program=program, derivative=inner), count)
    along = _instantiate(tangents[i] for i in inner.active)
    moved = iter(tangent_p.bind(*args, *residuals, *along, derivative=inner, sizes=()))
    if derivative and derivative is not inner:
        residuals = call_p.bind(*args, program=program, derivative=derivative)[count:]
    outs = [*outs, *(residuals if derivative else [])]
    is_moved = set(program.float_outs)
    return outs, [next(moved) if i in is_moved else _zero(out) for i, out in enumerate(outs)]


ad.primitive_jvps[call_p] = _jvp_call


def _transpose_call(cotangents, *operands, program, derivative):
    """`jax.linear_transpose`: the derivative of a linear function is the same everywhere."""
    along = [i for i, operand in enumerate(operands) if ad.is_undefined_primal(operand)]
    args = [jnp.zeros(o.aval.shape, o.aval.dtype) if i in along else o for i, o in enumerate(operands)]
    floats = program.float_outs

    def part(*values):
        at = list(args)
        for i, value in zip(along, values):
            at[i] = value
        outs = call_p.bind(*at, program=program, derivative=None)
        return [outs[i] for i in floats]

    grads = dict(zip(along, jax.vjp(part, *(args[i] for i in along))[1](list(_instantiate(cotangents[i] for i in floats)))))
    return [grads.get(i) for i in range(len(operands))]


ad.primitive_transposes[call_p] = _transpose_call

# -------------------------------------------------------------------------------------------------------------- tangent


@tangent_p.def_abstract_eval
def _(*_, derivative, sizes):
    return [core.ShapedArray((*sizes, *aval.shape), aval.dtype) for aval in _float_outs(derivative)]


def _push(derivative, sizes, args, tangents):
    def push(*tangents):
        return derivative.program.push(args, derivative.active, tangents)

    for _ in sizes:
        push = jax.vmap(push)
    return push(*tangents)


def _lower_tangent(ctx, *operands, derivative, sizes):
    def function(*operands):
        args, _, tangents = _operands(derivative, operands)
        return _push(derivative, sizes, args, tangents)

    return mlir.lower_fun(function, multiple_results=True)(ctx, *operands)


mlir.register_lowering(tangent_p, _lower_tangent)


def _jvp_tangent(operands, tangents, *, derivative, sizes):
    bind = functools.partial(tangent_p.bind, derivative=derivative, sizes=sizes)
    args, residuals, linear = _operands(derivative, operands)
    of_args, _, of_linear = _operands(derivative, tangents)
    outs = bind(*operands)
    moved = [_zero(out) for out in outs]
    if any(not isinstance(t, ad.Zero) for t in of_linear):
        moved = bind(*args, *residuals, *_instantiate(of_linear))
    along = _active(derivative.program, of_args)
    if along:
        pushed = derivative.program.tangent(derivative.active)

        def push(*args):
            def one(*linear):
                return call_p.bind(*args, *linear, program=pushed, derivative=None)

            for _ in sizes:
                one = jax.vmap(one)
            return one(*linear)

        moved = _add(moved, _tangent_along(push, args, along, [of_args[i] for i in along]))
    return outs, moved


ad.primitive_jvps[tangent_p] = _jvp_tangent


def _transpose_tangent(cotangents, *operands, derivative, sizes):
    args, residuals, linear = _operands(derivative, operands)
    derivative.functions  # Raises what pir-opt refused.

    def pull(*cotangents):
        return cotangent_p.bind(*args, *residuals, *cotangents, derivative=derivative)

    for _ in sizes:
        pull = functools.partial(_over_first, pull)
    return [None] * (len(operands) - len(linear)) + list(pull(*_instantiate(cotangents)))


def _over_first(function, *args):
    return lax.map(lambda one: function(*one), args)


ad.primitive_transposes[tangent_p] = _transpose_tangent

# ------------------------------------------------------------------------------------------------------------ cotangent


@cotangent_p.def_abstract_eval
def _(*_, derivative):
    return [derivative.program.in_avals[i].to_tangent_aval() for i in derivative.active]


def _lower_cotangent(ctx, *operands, derivative):
    _, residuals, cotangents = _operands(derivative, operands)
    grads = derivative.functions[1].emit(ctx, [*residuals, *cotangents])
    return [g for i, g in zip(derivative.program.float_args, grads) if i in derivative.active]


mlir.register_lowering(cotangent_p, _lower_cotangent)


def _jvp_cotangent(operands, tangents, *, derivative):
    bind = functools.partial(cotangent_p.bind, derivative=derivative)
    args, residuals, cotangents = _operands(derivative, operands)
    of_args, _, of_cotangents = _operands(derivative, tangents)
    outs = bind(*operands)
    moved = [_zero(out) for out in outs]
    if any(not isinstance(t, ad.Zero) for t in of_cotangents):
        moved = bind(*args, *residuals, *_instantiate(of_cotangents))
    if _active(derivative.program, of_args):
        # The derivative with regard to more arguments than the active ones is part of a larger symmetric one.
        along = tuple(i for i in derivative.program.float_args if i in derivative.active or not isinstance(of_args[i], ad.Zero))
        wider = derivative.program.derivative(along)
        seconds = second_p.bind(*args, *cotangents, *_instantiate(of_args[i] for i in along), derivative=wider)
        moved = _add(moved, [s for i, s in zip(along, seconds) if i in derivative.active])
    return outs, moved


ad.primitive_jvps[cotangent_p] = _jvp_cotangent


def _transpose_cotangent(grads, *operands, derivative):
    args, residuals, cotangents = _operands(derivative, operands)
    moved = tangent_p.bind(*args, *residuals, *_instantiate(grads), derivative=derivative, sizes=())
    return [None] * (len(operands) - len(cotangents)) + list(moved)


ad.primitive_transposes[cotangent_p] = _transpose_cotangent

# --------------------------------------------------------------------------------------------------------------- second


@second_p.def_abstract_eval
def _(*_, derivative):
    return [derivative.program.in_avals[i].to_tangent_aval() for i in derivative.active]


def _second_operands(derivative, operands):
    """Arguments, cotangents and tangents."""
    return _split(operands, len(derivative.program.in_avals), len(derivative.program.float_outs))


def _second(derivative, args, cotangents, tangents):
    """The gradient of <c, J(x) t> with regard to x."""
    pushed = derivative.program.tangent(derivative.active)
    inner = pushed.derivative(derivative.active)
    operands = [*args, *tangents]
    residuals = call_p.bind(*operands, program=pushed, derivative=inner)[len(pushed.out_avals):]
    inner.functions  # Raises what pir-opt refused.
    return cotangent_p.bind(*operands, *residuals, *cotangents, derivative=inner)


def _lower_second(ctx, *operands, derivative):
    def function(*operands):
        return _second(derivative, *_second_operands(derivative, operands))

    return mlir.lower_fun(function, multiple_results=True)(ctx, *operands)


mlir.register_lowering(second_p, _lower_second)


def _jvp_second(operands, tangents, *, derivative):
    bind = functools.partial(second_p.bind, derivative=derivative)
    args, cotangents, directions = _second_operands(derivative, operands)
    of_args, of_cotangents, of_directions = _second_operands(derivative, tangents)
    outs = bind(*operands)
    moved = [_zero(out) for out in outs]
    if any(not isinstance(t, ad.Zero) for t in of_directions):
        moved = _add(moved, bind(*args, *cotangents, *_instantiate(of_directions)))
    if any(not isinstance(t, ad.Zero) for t in of_cotangents):
        moved = _add(moved, bind(*args, *_instantiate(of_cotangents), *directions))
    along = _active(derivative.program, of_args)
    if along:

        def of_x(*args):
            return _second(derivative, args, cotangents, directions)

        moved = _add(moved, _tangent_along(of_x, args, along, [of_args[i] for i in along]))
    return outs, moved


ad.primitive_jvps[second_p] = _jvp_second


def _transpose_second(grads, *operands, derivative):
    args, cotangents, directions = _second_operands(derivative, operands)
    grads = _instantiate(grads)
    nothing = [None] * len(args)
    if any(ad.is_undefined_primal(d) for d in directions):
        return [*nothing, *([None] * len(cotangents)), *second_p.bind(*args, *cotangents, *grads, derivative=derivative)]
    program, active = derivative.program, derivative.active

    def push(*args):
        return call_p.bind(*args, *directions, program=program.tangent(active), derivative=None)

    return [*nothing, *_tangent_along(push, args, active, grads), *([None] * len(directions))]


ad.primitive_transposes[second_p] = _transpose_second

# ------------------------------------------------------------------------------------------------------------- batching
#
# JAX maps the function, and pir-opt differentiates what comes of it. Residuals of a call that is mapped after it was
# differentiated cannot be those of the mapped function, since it has others: they are computed again.


def _front(values, dims):
    """Moves the mapped dimension to the front, or adds it, and says how long it is."""
    size = next(v.shape[d] for v, d in zip(values, dims) if d is not None)
    return size, [
        jnp.broadcast_to(v, (size, *jnp.shape(v))) if d is None else jnp.moveaxis(v, d, 0) for v, d in zip(values, dims)
    ]


def _batch_call(args, dims, *, program, derivative):
    moved = [a if d is None else jnp.moveaxis(a, d, 0) for a, d in zip(args, dims)]
    size = next(a.shape[d] for a, d in zip(args, dims) if d is not None)
    axes = tuple(None if d is None else 0 for d in dims)
    outs = call_p.bind(*moved, program=program.mapped(axes, size), derivative=None)
    residuals = [jnp.zeros(aval.shape, aval.dtype) for aval in (derivative.residuals if derivative else [])]
    return [*outs, *residuals], [0] * len(outs) + [None] * len(residuals)


batching.primitive_batchers[call_p] = _batch_call


def _mapped(derivative, size):
    """The derivative of the function with all arguments mapped."""
    program = derivative.program.mapped((0,) * len(derivative.program.in_avals), size)
    return program.derivative(derivative.active)


def _mapped_residuals(derivative, args):
    return call_p.bind(*args, program=derivative.program, derivative=derivative)[len(derivative.program.out_avals):]


def _batched(derivative, operands, dims):
    """The operands of a batched primitive: how large the batch is, what comes before those that it is linear in, and these; and the mapped
    derivative, or None where only these are mapped."""
    args, residuals, linear = _operands(derivative, operands)
    dims_args, _, dims_linear = _operands(derivative, dims)
    if all(d is None for d in dims_args):
        size, linear = _front(linear, dims_linear)
        return size, [*args, *residuals], linear, None
    size, moved = _front([*args, *linear], [*dims_args, *dims_linear])
    args, linear = _split(moved, len(args))
    mapped = _mapped(derivative, size)
    return size, [*args, *_mapped_residuals(mapped, args)], linear, mapped


def _batch_tangent(operands, dims, *, derivative, sizes):
    size, given, linear, mapped = _batched(derivative, operands, dims)
    if mapped is None:
        outs = tangent_p.bind(*given, *linear, derivative=derivative, sizes=(size, *sizes))
        return outs, [0] * len(outs)
    linear = [jnp.moveaxis(t, 0, len(sizes)) for t in linear]
    outs = tangent_p.bind(*given, *linear, derivative=mapped, sizes=sizes)
    return outs, [len(sizes)] * len(outs)


batching.primitive_batchers[tangent_p] = _batch_tangent


def _batch_cotangent(operands, dims, *, derivative):
    _, given, linear, mapped = _batched(derivative, operands, dims)
    if mapped is None:
        # As in `jacrev`: one execution of the function, with several cotangents.
        outs = _over_first(lambda *one: cotangent_p.bind(*given, *one, derivative=derivative), *linear)
    else:
        outs = cotangent_p.bind(*given, *linear, derivative=mapped)
    return outs, [0] * len(outs)


batching.primitive_batchers[cotangent_p] = _batch_cotangent


def _batch_second(operands, dims, *, derivative):
    size, operands = _front(operands, dims)
    outs = second_p.bind(*operands, derivative=_mapped(derivative, size))
    return outs, [0] * len(outs)


batching.primitive_batchers[second_p] = _batch_second
