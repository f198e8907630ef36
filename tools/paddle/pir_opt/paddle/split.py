"""A program with gradients as two, what does not depend on cotangents and what does; or with cotangents of 1."""

import paddle
from paddle.base.dygraph.base import switch_to_static_graph

from pir_opt.paddle import program as programs
from pir_opt.paddle.execute import Executable

SAVED = "pir_opt.saved."
# Made again in place of being kept: constants, and lists, which cannot be kept.
REMADE = ("pd_op.full", "pd_op.full_int_array", "builtin.combine")
# Inputs and parameters are there both times.
GIVEN = ("pd_op.data", "builtin.parameter")


@switch_to_static_graph
def split(program, seeds, outputs, grads):
    """Two programs to execute, and the names of what the first gives for the second, beside the outputs."""
    names = programs.inputs(program)
    late = dependent(program, [names[name] for name in seeds if name in names])
    second, saved = needed(program, late, grads)
    first = copy_without(program, lambda op: op.id() in late, [*outputs, *saved])
    kept = {f"{SAVED}{at}": value for at, value in enumerate(saved)}
    return first, list(kept), copy_without(program, lambda op: op.id() not in second, grads, kept)


def dependent(program, values):
    """The operations that depend on values, by number; and those that define them."""
    found = {value.get_defining_op().id() for value in values}
    for op in program.global_block().ops:
        if any(value.get_defining_op().id() in found for value in read_by(op)):
            found.add(op.id())
    return found


def needed(program, late, grads):
    """What the second program executes, by number, and the values that it is given."""
    execute, saved = set(late), []
    work = [value for op in program.global_block().ops if op.id() in late for value in read_by(op)] + list(grads)
    while work:
        value = work.pop()
        op = value.get_defining_op()
        if op.id() in execute:
            continue
        if op.name() in (*REMADE, *GIVEN):
            execute.add(op.id())
            work += read_by(op)
        elif not any(value.is_same(one) for one in saved):
            saved.append(value)
    return execute, saved


def read_by(op):
    """The values of top level that an operation and its regions read."""
    top, work, found = op.get_parent_block(), [op], []
    while work:
        op = work.pop()
        found += [value for value in op.operands_source() if value.initialized() and value.get_defining_op() is not None]
        work += [inner for block in op.blocks() for inner in block.ops]
    return [value for value in found if value.block == top]


def copy_without(program, removed, outputs, fed=()):
    """The program without some operations, and with inputs in place of some values, by name."""
    copy, mapping, _ = programs.copy(program)
    # A copy has its operations in the same order.
    pairs = list(zip(program.global_block().ops, copy.global_block().ops))
    replaced = []
    for name in fed:
        value = mapping.look_up(fed[name])
        with paddle.static.program_guard(copy):
            paddle.pir.reset_insertion_point_to_start()
            given = paddle.static.data(name, value.shape, value.dtype)
        value.replace_all_uses_with(given)
        replaced.append((fed[name], given))
    outputs = [next((given for value, given in replaced if value.is_same(one)), None) or mapping.look_up(one) for one in outputs]
    for op, image in reversed(pairs):
        if removed(op):
            copy.global_block().remove_op(image)
    return Executable(copy, outputs)


@switch_to_static_graph
def with_ones(program, seeds, outputs):
    """The program where cotangents are 1."""
    copy, mapping, _ = programs.copy(program)
    outputs = [mapping.look_up(value) for value in outputs]
    for name, value in programs.inputs(copy).items():
        if name in seeds:
            with paddle.static.program_guard(copy):
                paddle.pir.reset_insertion_point_to_start()
                one = paddle.full(value.shape, 1.0, value.dtype)
            value.replace_all_uses_with(one)
            copy.global_block().remove_op(value.get_defining_op())
    return Executable(copy, outputs)
