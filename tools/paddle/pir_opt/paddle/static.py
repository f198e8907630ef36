"""Gradients in static mode."""

from dataclasses import dataclass, field

import paddle
from paddle.base.dygraph.base import switch_to_static_graph

from pir_opt.paddle import program as programs
from pir_opt.paddle.execute import put_in_order
from pir_opt.paddle.program import Error, bound_name, check_program, check_value

PASSES = ("licm", "cse", "canonicalize")
# Names of what is fetched between here and pir-opt.
LOSS, KEPT, PROBE = "pir_opt.loss.", "pir_opt.kept.", "pir_opt.probe."


@dataclass
class Result:
    """A program with gradients."""

    program: paddle.static.Program
    """The program; feed it as before. It fetches what is asked for and nothing else."""
    loss: paddle.pir.Value
    """The value that was differentiated, in the program."""
    grads: list
    """Its gradients, in the order of `wrt`."""
    outputs: dict
    """What the program that was given fetches, by name."""
    params: dict = field(default_factory=dict)
    """The parameters of the program, by name."""
    kept: list = field(default_factory=list)
    """The values of the list `fetch`, in the program."""
    params_grads: list = field(default_factory=list)
    """Parameters that are updated, with their gradients; of `minimize`."""
    step: paddle.static.Program = None
    """The program that updates parameters by the sums of their gradients; of `minimize` with `accumulate`."""


def backward(program, loss, wrt, passes=PASSES, binary=None, fetch=(), fused=True, in_order=None):
    """Returns the program with the gradients of `loss` with respect to `wrt`: inputs, parameters, or other top-level values.

    `fetch` names other values that can be fetched from it. `passes` run before and after differentiation. The given program is
    not changed. PaddlePaddle's gradient operations are used where they replace several operations, unless `fused` is false.
    Executors run the operations of the result in order, as `in_order` describes, if it has loops; the argument `in_order` decides
    otherwise.
    """
    check_program(program)
    wrt = [check_value(value, program, f"wrt[{at}]") for at, value in enumerate(listed(wrt, "wrt"))]
    kept = [check_value(value, program, f"fetch[{at}]") for at, value in enumerate(listed(fetch, "fetch"))]
    check_value(loss, program, "the loss")
    for value, what in [(loss, "the loss"), *((value, f"wrt[{at}]") for at, value in enumerate(wrt))]:
        if not programs.is_float(value):
            raise Error(f"{what} has no gradient: its type is {value.type()}")
    result = differentiate(program, [loss], wrt, kept, passes, binary, fused)
    put_in_order(result.program, in_order)
    return result


def differentiate(program, outputs, wrt, kept, passes, binary, fused):
    """The same of several outputs."""
    copy, where, fetched = prepare(program, outputs, kept, wrt)
    names = [bound_name(value) or probe(copy, value, f"{PROBE}{at}") for at, value in enumerate(where)]
    stage = Stage([f"{LOSS}{at}" for at in range(len(outputs))], names)
    written, found = execute(copy, [stage], passes, binary, fused)
    programs.carry_attributes(program, written)
    return Result(
        written,
        found[stage.of[0]],
        [found[name] for name in stage.grads],
        {name: found[name] for name in fetched},
        programs.parameters(written),
        [found[f"{KEPT}{at}"] for at in range(len(kept))],
    )


@dataclass
class Stage:
    """What is differentiated with respect to what, by name, and new inputs for cotangents: name, shape and type."""

    of: list
    wrt: list
    seeds: list = field(default_factory=list)
    grads: list = field(default_factory=list)
    """The names of the gradients, once it is executed."""
    reached: list = field(default_factory=list)
    """Those that are not zero whatever the inputs are."""

    def text(self, fused):
        options = {"of": self.of, "wrt": self.wrt} | ({"seed": [name for name, _, _ in self.seeds]} if self.seeds else {})
        told = [f"{name}={programs.quoted(values)}" for name, values in options.items()] + ["twins=true"] * fused
        if (rank := programs.rank()) is not None:
            told.append(f"rank={rank}")
        return "backward{" + ", ".join(told) + "}"


@switch_to_static_graph
def prepare(program, outputs, kept, wrt=()):
    """A copy that fetches values, the images of some, and the names of what the program fetches."""
    copy, mapping, fetched = programs.copy(program)
    programs.fetch(copy, [mapping.look_up(value) for value in outputs], LOSS)
    programs.fetch(copy, [mapping.look_up(value) for value in kept], KEPT)
    with paddle.static.program_guard(copy):
        for at, (name, value) in enumerate(fetched.items()):
            paddle._pir_ops.fetch(value, name, at)
    programs.detach_constants(copy)
    return copy, [mapping.look_up(value) for value in wrt], list(fetched)


@switch_to_static_graph
def execute(copy, stages, passes=PASSES, binary=None, fused=True):
    """The program with gradients, and what it fetched by name. What is differentiated again has operations that have derivatives."""
    with paddle.static.program_guard(copy):
        paddle.pir.reset_insertion_point_to_start()
        for stage in stages:
            for name, shape, dtype in stage.seeds:
                paddle.static.data(name, shape, dtype)
    parts = [*passes] + [part for stage in stages for part in [stage.text(fused and stage is stages[-1]), *passes]] + ["dce"]
    written = programs.run(copy, [f"--pass={','.join(parts)}"], binary)
    remove_probes(written)
    found = programs.fetches(written)
    programs.remove_fetches(written)
    # Each stage appends what it fetches.
    at, names = len(found), list(found)
    for stage in reversed(stages):
        stage.grads = names[at - len(stage.wrt) : at]
        at -= len(stage.wrt)
    return written, found


def probe(program, value, name):
    """Adds an input to a value. Its gradient is that of the value."""
    with paddle.static.program_guard(program):
        paddle.pir.set_insertion_point_after(value.get_defining_op())
        extra = paddle.static.data(name, value.shape, value.dtype)
        extra.stop_gradient = False
        total = paddle._C_ops.add(value, extra)
    total.stop_gradient = False
    value.replace_all_uses_with(total)
    total.get_defining_op().operand(0).set_source(value)
    return name


def remove_probes(program):
    """Removes these inputs again: they are zero."""
    for name, extra in programs.inputs(program).items():
        if not name.startswith(PROBE):
            continue
        for op in extra.all_used_ops():
            if op.name() != "pd_op.add":
                continue
            (value,) = (value for value in op.operands_source() if not value.is_same(extra))
            op.result(0).replace_all_uses_with(value)
            program.global_block().remove_op(op)
            # What asks for its shape.
            extra.replace_all_uses_with(value)
        if not extra.use_empty():
            raise Error(f"the gradient of `{name}` uses it in {extra.first_use().owner().name()}")
        program.global_block().remove_op(extra.get_defining_op())


def unreached(grad):
    """Whether a gradient is that of a parameter that the loss does not depend on."""
    op = grad.get_defining_op()
    return op is not None and op.name() == "pd_op.full" and op.attrs()["value"] == 0


def minimize(
    loss, optimizer, parameters=None, startup_program=None, fetch=(), accumulate=False, passes=PASSES, binary=None, in_order=None
):
    """Returns the program of the loss with its gradients and an optimizer step; replaces `optimizer.minimize(loss)`.

    The given program is not changed: run `program` of the result, and fetch its `loss` and `kept`, which are the values of the
    list `fetch`. The state of the optimizer is added to the startup program, which is run first as usual.
    With `accumulate`, `program` adds gradients to sums instead of updating parameters; the program `step`, which has no inputs,
    updates the parameters with the sums and resets them. `in_order` is that of `backward`.
    """
    if not isinstance(loss, paddle.pir.Value):
        raise TypeError(f"the loss is a value of a static program, not {type(loss).__name__}")
    program = loss.block.program
    check_value(loss, program, "the loss")
    if not callable(getattr(optimizer, "minimize", None)):
        raise TypeError(f"{type(optimizer).__name__} is no optimizer")
    if programs.elements(loss) != 1:
        raise Error(f"the loss has the shape {list(loss.shape)}; what is minimized is one number")
    trained = trainable(program, optimizer, parameters)
    result = backward(program, loss, trained, passes, binary, fetch, in_order=in_order)
    pairs = [(result.params[programs.name_of(value)], grad) for value, grad in zip(trained, result.grads)]
    result.params_grads = [(value, grad) for value, grad in pairs if not unreached(grad)]
    if not result.params_grads:
        raise Error("the loss depends on none of the parameters")
    startup = startup_program or paddle.static.default_startup_program()
    if accumulate:
        result.step = step_of_sums(program, result, optimizer, startup)
    else:
        update(result.program, startup, optimizer, result.loss, result.params_grads)
    result.params = programs.parameters(result.program)
    return result


def update(program, startup, optimizer, loss, pairs):
    """Appends the step of an optimizer."""
    with paddle.static.program_guard(program, startup):
        # Whatever wraps the optimizer asks for gradients in this way, which also tells it the type of its numbers.
        optimizer._dtype = loss.dtype
        optimizer.backward = lambda *_, **__: list(pairs)
        try:
            optimizer.minimize(loss, startup_program=startup, parameters=[value for value, _ in pairs])
        finally:
            del optimizer.backward


def step_of_sums(source, result, optimizer, startup):
    """Makes the program add up its gradients, and gives one that updates parameters by the sums."""
    step, pairs = paddle.static.Program(), []
    for value, grad in result.params_grads:
        name = f"{programs.name_of(value)}_grad_sum"
        zero = paddle.nn.initializer.Constant(0.0)
        with paddle.static.program_guard(result.program, startup):
            total = paddle.pir.core.create_persistable_value(dtype=grad.dtype, shape=grad.shape, name=name, initializer=zero)
            paddle.assign(total + grad, total)
        # Asking for a parameter that a program does not know brings PaddlePaddle down.
        step.set_parameters_from(startup)
        with paddle.static.program_guard(step, startup):
            weight = paddle._pir_ops.parameter(programs.name_of(value))
            held = paddle._pir_ops.data(name, grad.shape, grad.dtype, paddle.base.core.Place())
            weight.persistable = held.persistable = True
        pairs.append((weight, held))
    programs.carry_attributes(source, step)
    update(step, startup, optimizer, pairs[0][1], pairs)
    with paddle.static.program_guard(step, startup):
        for _, total in pairs:
            paddle.assign(paddle.zeros_like(total), total)
    return step


def trainable(program, optimizer, parameters):
    """The parameters of a program that are to be updated."""
    found = programs.parameters(program)
    named = parameters if parameters is not None else getattr(optimizer, "_parameter_list", None)
    if named is None:
        chosen = [value for value in found.values() if getattr(value, "is_parameter", True)]
    else:
        chosen = [parameter(found, one) for one in listed(named, "parameters")]
    chosen = [value for value in chosen if not value.stop_gradient and getattr(value, "trainable", None) is not False]
    if not chosen:
        raise Error("the program has no parameters that can be trained")
    return chosen


def parameter(found, one):
    if isinstance(one, dict):
        raise Error("groups of parameters are not supported in static mode")
    name = one if isinstance(one, str) else bound_name(one) if isinstance(one, paddle.pir.Value) else getattr(one, "name", None)
    if name not in found:
        raise Error(f"the program has no parameter `{name}`")
    return found[name]


def listed(values, what):
    if isinstance(values, (list, tuple)):
        return values
    raise TypeError(f"{what} is a list, not {type(values).__name__}")
