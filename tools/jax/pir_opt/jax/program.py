"""Functions of arrays that pir-opt differentiates, and what it makes of them."""

import dataclasses
import functools

import jax
from jax import lax
from jax._src import core

from pir_opt import tool
from pir_opt.jax import lowering
from pir_opt.jax.lowering import is_float, struct


@dataclasses.dataclass(frozen=True)
class Options:
    """How values are recorded for the gradient; what is None is left to pir-opt."""

    bound: int | None = None
    overflow: str | None = None
    total: int | None = None
    slots: int | None = None
    segment: int | None = None

    def __post_init__(self):
        for name in ("bound", "total", "slots", "segment"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
                raise ValueError(f"`{name}` is {value!r}; it must be a positive integer")
        if self.overflow not in (None, "remat", "nan", "unchecked"):
            raise ValueError(f"`overflow` is {self.overflow!r}; it must be 'remat', 'nan' or 'unchecked'")

    def pipeline(self):
        given = [f"{k}={v}" for k, v in dataclasses.asdict(self).items() if v is not None]
        return "jax-vjp" + (f"{{{','.join(given)}}}" if given else "")


class Program:
    """A function of arrays, flat in and out. JAX runs it, maps it and differentiates it forward; pir-opt makes its transpose.

    It is a parameter of primitives, and equal only to itself: functions that are traced again are other programs.
    """

    def __init__(self, jaxpr, options):
        self.jaxpr, self.options = jaxpr, options
        self.in_avals, self.out_avals = jaxpr.in_avals, jaxpr.out_avals
        self.function = core.jaxpr_as_fun(jaxpr)
        self.float_args = tuple(i for i, aval in enumerate(self.in_avals) if is_float(aval))
        self.float_outs = tuple(i for i, aval in enumerate(self.out_avals) if is_float(aval))
        self._made = {}

    @classmethod
    def trace(cls, function, avals, options):
        return cls(jax.make_jaxpr(function)(*map(struct, avals)), options)

    def _once(self, key, make):
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    def derivative(self, active):
        """The gradient with regard to these arguments."""
        return self._once(("derivative", active), lambda: Derivative(self, active))

    def mapped(self, axes, size):
        """The function with a leading dimension in the arguments with axis 0, and in all results."""

        def make():
            avals = [core.unmapped_aval(size, axis, aval) for axis, aval in zip(axes, self.in_avals)]
            return Program.trace(jax.vmap(self.function, axes, 0, axis_size=size), avals, self.options)

        return self._once(("mapped", axes, size), make)

    def tangent(self, active):
        """The function (arguments, tangents of the active ones) -> tangents of the float results."""
        avals = [*self.in_avals, *(self.in_avals[i].to_tangent_aval() for i in active)]

        def function(*operands):
            count = len(self.in_avals)
            return self.push(operands[:count], active, operands[count:])

        return self._once(("tangent", active), lambda: Program.trace(function, avals, self.options))

    def push(self, args, active, tangents):
        """The tangents of the float results, as JAX computes them."""

        def part(*floats):
            operands = list(args)
            for i, value in zip(active, floats):
                operands[i] = value
            outs = self.function(*operands)
            return [outs[i] for i in self.float_outs]

        return jax.jvp(part, tuple(args[i] for i in active), tuple(tangents))[1]


class Derivative:
    """What pir-opt makes of a program: `fwd`, (arguments) -> (results, residuals), and `bwd`, (residuals, cotangents of the float
    results) -> cotangents of the float arguments.

    What pir-opt refuses is told when reverse mode asks for it: forward mode has no need of it.
    """

    def __init__(self, program, active):
        self.program, self.active = program, active

    @functools.cached_property
    def _lowered(self):
        program = self.program
        inactive = set(program.float_args) - set(self.active)
        if not inactive:
            return lowering.Lowered(program.jaxpr)

        def function(*args):
            return program.function(*(lax.stop_gradient(a) if i in inactive else a for i, a in enumerate(args)))

        return lowering.Lowered(jax.make_jaxpr(function)(*map(struct, program.in_avals)))

    @functools.cached_property
    def text(self):
        """The module that pir-opt makes."""
        pipeline = self.program.options.pipeline()
        return tool.run(self._lowered.text, pipeline, self._lowered.locate)

    @functools.cached_property
    def _functions(self):
        try:
            fwd, bwd = (lowering.Function(self.text, f"main.{name}") for name in ("fwd", "bwd"))
        except tool.PirOptError as error:
            return error
        residuals = fwd.out_avals[len(self.program.out_avals):]
        cotangents = [self.program.out_avals[i] for i in self.program.float_outs]
        expected = [(a.shape, a.dtype) for a in (*residuals, *cotangents)]
        if [(a.shape, a.dtype) for a in bwd.in_avals] != expected or len(bwd.out_avals) != len(self.program.float_args):
            return tool.PirOptError("the gradient that pir-opt made has other arguments or results than expected: is pir-opt too old?")
        return fwd, bwd

    @property
    def refused(self):
        return isinstance(self._functions, tool.PirOptError)

    @property
    def functions(self):
        if self.refused:
            raise self._functions
        return self._functions

    @property
    def residuals(self):
        """The types of the residuals."""
        return [] if self.refused else self._functions[0].out_avals[len(self.program.out_avals):]
