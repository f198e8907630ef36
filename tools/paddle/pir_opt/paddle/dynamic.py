"""Gradients in dynamic mode, of what `paddle.jit.to_static` traces.

A traced program is a function of its inputs and parameters. pir-opt appends its gradients, which are functions of these and of the
cotangents of its outputs. Called by a `PyLayer`, a function is executed in one of three ways:

* Without stacks, that is, without loops that record: the program is split in what depends on cotangents and the rest, and what both
  need is kept between the two.
* With stacks, which no executor hands from one program to another, and one output of one number: gradients are linear in its
  cotangent, so they are computed together with it, for the cotangent 1.
* With stacks and more outputs: `backward` executes the whole program, with the same random numbers and the old buffers.

Derivatives of gradients (`create_graph=True`) are those of the program with gradients, which is a function as well.
"""

import functools
from dataclasses import replace

import paddle
from paddle.base import core
from paddle.jit.dy2static.program_translator import ASTStaticFunction

from pir_opt.paddle import program as programs
from pir_opt.paddle.execute import Executable, changed, has_stacks
from pir_opt.paddle.split import split, with_ones
from pir_opt.paddle.static import LOSS, Stage, execute, prepare, unreached


def to_static(function=None, input_spec=None, **options):
    """`paddle.jit.to_static` with gradients by pir-opt.

    A layer, or a function of tensors, is traced once for each signature, with `while`, `for` and `if` on tensors as
    operations. `loss.backward()`, `optimizer.step()` and `paddle.grad` are used as in dynamic mode.
    """
    if function is None:
        return lambda one: to_static(one, input_spec, **options)
    traced = paddle.jit.to_static(function, input_spec=input_spec, full_graph=True, **options)
    static = traced.forward if isinstance(traced, paddle.nn.Layer) else traced
    if not isinstance(static, ASTStaticFunction):
        raise TypeError(f"only layers and functions are traced, not {type(function).__name__}")
    static.__class__ = Traced
    return traced


class Traced(ASTStaticFunction):
    """A function that is traced, and executed by a `Function`."""

    def _perform_call(self, *args, **kwargs):
        args, kwargs = self._function_spec.unified_args_and_kwargs(args, kwargs)
        _, layer = self.get_concrete_program(*args, **kwargs, is_train=self._is_train_mode())
        function = getattr(layer, "_pir_opt", None)
        if function is None:
            values = [*layer._inputs.var_list, *layer._param_values]
            names = [programs.name_of(value) for value in values]
            function = layer._pir_opt = Function(layer._origin_main_program, names, list(layer._outputs.var_list))
        outputs = function([*layer._prepare_inputs(args), *layer._params])
        return layer._remove_no_value(layer._restore_out(outputs))


class Function:
    """What a program computes from inputs and parameters, which have these names. `source` and `stages` say how pir-opt makes it."""

    def __init__(self, program, names, outputs, source=None, stages=()):
        self.program, self.names, self.outputs = program, names, outputs
        self.source, self.stages = source or (program, outputs), list(stages)
        there = {**programs.parameters(program), **programs.inputs(program)}
        self.float = [name in there and programs.is_float(there[name]) for name in names]
        self.plain = None
        self.differentiated = {}

    def __call__(self, tensors):
        wanted = tuple(at for at, tensor in enumerate(tensors) if self.float[at] and not tensor.stop_gradient)
        if wanted and paddle.is_grad_enabled():
            made = self.differentiated.get(wanted)
            if made is None:
                made = self.differentiated[wanted] = Differentiated(self, wanted)
            if made.reached:
                return Call(made, tensors).outputs
        if self.plain is None:
            self.plain = Executable(self.program, self.outputs)
        return self.plain(dict(zip(self.names, tensors)))


class Differentiated:
    """A function with its gradients with respect to some of its arguments."""

    def __init__(self, function, wanted):
        self.function = function
        outputs, level = function.outputs, len(function.stages)
        # PaddlePaddle does not see of all results of loops and branches that they have gradients.
        self.active = [at for at, value in enumerate(outputs) if programs.is_float(value) and not programs.is_constant(value.get_defining_op())]
        self.reached = []
        if not self.active:
            return
        self.seeds = [f"pir_opt.seed.{level}.{at}" for at in self.active]
        before = function.stages[-1].reached if level else [f"{LOSS}{at}" for at in range(len(outputs))]
        seeds = [(name, outputs[at].shape, outputs[at].dtype) for name, at in zip(self.seeds, self.active)]
        stage = Stage([before[at] for at in self.active], [function.names[at] for at in wanted], seeds)
        stages = [*(replace(one) for one in function.stages), stage]
        program, found = execute(prepare(*function.source, ())[0], stages)
        results = [found[name] for name in before]
        # An argument that no output depends on has no gradient.
        self.reached = [at for at, name in zip(wanted, stage.grads) if not unreached(found[name])]
        stage.reached = [name for name in stage.grads if not unreached(found[name])]
        grads = [found[name] for name in stage.reached]
        self.changed = changed(program)
        self.gradient = Function(program, [*function.names, *self.seeds], grads, function.source, stages)
        self.saved, self.together, self.backward = [], False, None
        if not has_stacks(program):
            self.forward, self.saved, self.backward = split(program, self.seeds, results, grads)
        elif len(self.active) == 1 and programs.elements(outputs[self.active[0]]) == 1:
            self.together = True
            self.forward = with_ones(program, self.seeds, [*results, *grads])
        else:
            self.forward = Executable(function.program, outputs)


class Call:
    """A call of a `Differentiated`. `PyLayer` of PaddlePaddle 3.3.1 fails where `paddle.grad` asks for gradients of some of several
    tensors, so each has an operation of one tensor, `Tap`, and what they give is added up for that of the call, `Apply`."""

    def __init__(self, made, tensors):
        self.made, self.tensors = made, tensors
        given = dict(zip(made.function.names, tensors))
        self.random = paddle.get_rng_state()
        self.old = {name: given[name].clone() for name in made.changed if name in given}
        self.grads = {}
        token = paddle.add_n([Tap.apply(tensors[at], self, at) for at in made.reached])
        outputs = Apply.apply(token, self)
        self.outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
        # Not of the call, which has the outputs: PaddlePaddle would keep both forever.
        self.spent = []
        report_errors()
        for at in made.active:
            self.outputs[at].register_hook(functools.partial(guard, self.spent))

    def forward(self):
        made = self.made
        found = made.forward(dict(zip(made.function.names, self.tensors)))
        outputs, self.saved = found[: len(made.function.outputs)], found[len(made.function.outputs) :]
        return outputs

    def backward(self, cotangents):
        made = self.made
        self.spent.extend(running)
        seeds = [cotangents[at] for at in made.active]
        if paddle.is_grad_enabled() or not (made.together or made.backward):
            found = self.again(seeds)
        elif made.together:
            found = [grad * seeds[0].reshape([]).astype(grad.dtype) for grad in self.saved]
        else:
            given = dict(zip(made.function.names, self.tensors)) | dict(zip(made.saved, self.saved)) | dict(zip(made.seeds, seeds))
            found = made.backward(given)
        self.grads = dict(zip(made.reached, found))

    def again(self, seeds):
        """Gradients by the whole program, with the random numbers and the buffers of the first time."""
        tensors = [self.old[name].clone() if name in self.old else one for name, one in zip(self.made.function.names, self.tensors)]
        now = paddle.get_rng_state()
        paddle.set_rng_state(self.random)
        try:
            return self.made.gradient([*tensors, *seeds])
        finally:
            paddle.set_rng_state(now)


SPENT = (
    "the gradients of this result were computed before, and PaddlePaddle 3.3.1 frees a PyLayer after `backward`, also with "
    "`retain_graph=True`: call the function again, or use `paddle.grad(..., retain_graph=True)`"
)


def guard(spent, _):
    """Called with the cotangent of an output, before what PaddlePaddle has of `Apply` is used: once that is spent, it would end the process."""
    if spent:
        backward_error.append(SPENT)
        raise RuntimeError(SPENT)


# The calls of `backward` under way, and the error that one of them will report.
running, backward_error = [], []


@functools.cache
def report_errors():
    """PaddlePaddle's `backward` tells nothing of an error in a hook; and only it, not `paddle.grad`, frees what it has been through."""
    run = core.eager.run_backward

    @functools.wraps(run)
    def run_and_report(*args, **kwargs):
        running.append(None)
        try:
            return run(*args, **kwargs)
        except OSError as error:
            if backward_error:
                raise RuntimeError(backward_error.pop()) from error
            raise
        finally:
            running.pop()

    core.eager.run_backward = run_and_report


class Apply(paddle.autograd.PyLayer):
    """What a call computes; and all gradients, which it leaves for the taps."""

    @staticmethod
    def forward(ctx, token, call):
        ctx.call = call
        outputs = call.forward()
        if fixed := [output for at, output in enumerate(outputs) if at not in call.made.active]:
            ctx.mark_non_differentiable(*fixed)
        return tuple(outputs) if len(outputs) != 1 else outputs[0]

    @staticmethod
    def backward(ctx, *cotangents):
        ctx.call.backward(cotangents)
        return zero()


def zero():
    """A tensor that only stands for what depends on it; `paddle.zeros` takes three times as long."""
    return paddle._C_ops.full([], 0.0, paddle.float32, paddle.framework._current_expected_place())


class Tap(paddle.autograd.PyLayer):
    """A tensor that a call depends on."""

    @staticmethod
    def forward(ctx, tensor, call, at):
        ctx.call, ctx.at = call, at
        return zero()

    @staticmethod
    def backward(ctx, _):
        return ctx.call.grads.pop(ctx.at)
