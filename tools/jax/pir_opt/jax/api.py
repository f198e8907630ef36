"""`differentiable` and `export`."""

import functools
import inspect

import jax
import jax.numpy as jnp
from jax._src import api_util, config, core, source_info_util
from jax._src.interpreters import partial_eval as pe

from pir_opt import tool
from pir_opt.jax.primitives import call_p
from pir_opt.jax.program import Options, Program


def differentiable(
    function=None, *, bound=None, overflow=None, total=None, slots=None, segment=None, static_argnums=None, static_argnames=None
):
    """Returns the same function, with a reverse-mode derivative by pir-opt; its loops may have any number of iterations.

    The function may be used under `jit`, `vmap`, `scan` and `checkpoint`, and be differentiated in both modes and more than
    once. Arguments and results are pytrees of arrays; `static_argnums` and `static_argnames` are those of `jax.jit`.

    Without a bound, loops are recomputed from `slots` snapshots, in recorded segments of `segment` iterations. With
    `bound=N`, loops record up to N iterations; `overflow` selects what happens to gradients if there are more: "remat", the
    default, recomputes the other iterations, "nan" makes the gradients NaN, "unchecked" makes them wrong. `total` limits the
    number of values that all runs of an inner loop record together; the default is the product of the bounds.
    """
    options = Options(bound, overflow, total, slots, segment)
    if function is None:
        return lambda function: _Differentiable(function, options, static_argnums, static_argnames).wrapper
    return _Differentiable(function, options, static_argnums, static_argnames).wrapper


def export(function, **options):
    """`export(f)(*args)` is `jax.export.export(jax.jit(f))(*args)`, with the derivative of f by pir-opt.

    `exported.serialize(vjp_order=1)` includes the gradient; loading it does not need pir-opt. `options` are those of
    `differentiable`.
    """
    static = {k: options[k] for k in ("static_argnums", "static_argnames") if k in options}
    from jax import export as jax_export

    return jax_export.export(jax.jit(differentiable(function, **options), **static))


class _Differentiable:
    """A function, and the programs that it was traced to."""

    def __init__(self, function, options, static_argnums, static_argnames):
        self.function, self.options, self.traced = function, options, {}
        try:
            signature = inspect.signature(function)
            numbers, names = api_util.infer_argnums_and_argnames(signature, static_argnums, static_argnames)
        except ValueError:  # Some functions have no signature.
            numbers, names = api_util._ensure_index_tuple(static_argnums or ()), tuple(static_argnames or ())
        self.static_numbers, self.static_names = set(numbers), set(names)

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            program, tree, leaves = self.prepare(args, kwargs)
            return jax.tree.unflatten(tree, call_p.bind(*leaves, program=program, derivative=None))

        def gradient_text(*args, **kwargs):
            """The StableHLO that pir-opt makes for these arguments: the function, `@main.fwd` and `@main.bwd`."""
            program, _, _ = self.prepare(args, kwargs)
            return program.derivative(program.float_args).text

        wrapper.gradient_text = gradient_text
        self.wrapper = wrapper

    def prepare(self, args, kwargs):
        """The program for such arguments, the tree of its results, and its operands."""
        numbers = {i % len(args) for i in self.static_numbers if -len(args) <= i < len(args)}
        static = (
            tuple((i, args[i]) for i in sorted(numbers)),
            tuple((k, kwargs[k]) for k in sorted(kwargs) if k in self.static_names),
        )
        dynamic = (
            tuple(None if i in numbers else arg for i, arg in enumerate(args)),
            {k: v for k, v in kwargs.items() if k not in self.static_names},
        )
        leaves, tree = jax.tree.flatten(dynamic)
        leaves = [_array(leaf) for leaf in leaves]
        avals = tuple(core.typeof(leaf) for leaf in leaves)
        try:
            key = (tree, tuple((a.shape, a.dtype, a.weak_type) for a in avals), static, config.trace_context())
            hash(key)
        except TypeError as error:
            raise TypeError(f"static arguments must be hashable: {error}") from error
        found = self.traced.get(key)
        if found is None:
            found = self.trace(avals, tree, static)
            # What a function closes over is an operand; if it is being traced, it is another one next time.
            if not any(isinstance(const, core.Tracer) for const in found[2]):
                self.traced[key] = found
        program, out_tree, consts = found
        return program, out_tree, [*consts, *leaves]

    def trace(self, avals, tree, static):
        out_tree = None

        def flat(*leaves):
            nonlocal out_tree
            args, kwargs = jax.tree.unflatten(tree, leaves)
            args = list(args)
            for i, value in static[0]:
                args[i] = value
            outs, out_tree = jax.tree.flatten(self.function(*args, **kwargs, **dict(static[1])))
            return outs

        structs = [jax.ShapeDtypeStruct(a.shape, a.dtype, weak_type=a.weak_type) for a in avals]
        closed = jax.make_jaxpr(flat)(*structs)
        _refuse_effects(closed.jaxpr)
        jaxpr = core.ClosedJaxpr(pe.convert_constvars_jaxpr(closed.jaxpr), ())
        return Program(jaxpr, self.options), out_tree, [_array(const) for const in closed.consts]


def _array(leaf):
    if isinstance(leaf, jax.Array):
        return leaf
    try:
        return jnp.asarray(leaf)
    except TypeError as error:
        raise TypeError(
            f"{leaf!r} of type {type(leaf).__name__} is not an array; name such arguments in static_argnums or static_argnames"
        ) from error


def _refuse_effects(jaxpr):
    if not jaxpr.effects:
        return
    for eqn in jaxpr.eqns:
        if eqn.effects:
            for inner in core.jaxprs_in_params(eqn.params):
                _refuse_effects(inner)
            place = source_info_util.summarize(eqn.source_info)
            raise tool.PirOptError(f"`{eqn.primitive.name}` has an effect, which gradients would repeat or leave out: remove it\n  at {place}")
    raise tool.PirOptError("the function has effects, which gradients would repeat or leave out")
