"""Programs of PaddlePaddle, and what pir-opt makes of them."""

import math
import pathlib
import subprocess
import tempfile

import paddle
from paddle.base import core

from pir_opt import tool

Error = tool.PirOptError

# What PaddlePaddle's Python keeps of a parameter beside its value. Saved programs do not have it.
ATTRIBUTES = ("trainable", "optimize_attr", "regularizer", "do_model_average", "need_clip", "is_distributed", "is_parameter")

# The attribute of a program that is executed in order. Its clones have it too.
IN_ORDER = "pir_opt_in_order"


def optimize(program, passes, binary=None):
    """Returns the program after passes of pir-opt, `"licm,cse,canonicalize"`, which preserve the values that it fetches."""
    result = run(check_program(program), [f"--pass={passes}"], binary)
    if hasattr(program, IN_ORDER):
        setattr(result, IN_ORDER, getattr(program, IN_ORDER))
    return result


def run(program, options, binary=None):
    """What pir-opt makes of a program."""
    binary = binary or tool.executable()
    # Without the flag Paddle would leave out operations on stacks.
    flag = "FLAGS_save_cf_stack_op"
    before = paddle.get_flags(flag)
    paddle.set_flags({flag: 1})
    try:
        with tempfile.TemporaryDirectory() as folder:
            source, target = (str(pathlib.Path(folder) / name) for name in ("source.json", "target.json"))
            core.serialize_pir_program(program, source, True, False, True)
            command = [str(binary), "--emit=paddle-json", *options, source, "-o", target]
            try:
                done = subprocess.run(command, capture_output=True, text=True, check=False)
            except OSError as error:
                raise Error(f"{binary} cannot be run: {error}") from error
            if done.returncode:
                raise Error(done.stderr.strip() or f"{binary} ended with {done.returncode}")
            result = paddle.static.Program()
            core.deserialize_pir_program(target, result)
            result.random_seed = program.random_seed
            return result
    finally:
        paddle.set_flags(before)


def fetches(program):
    """The values that a program fetches, by name."""
    ops = [op for op in program.global_block().ops if op.name() == "pd_op.fetch"]
    return {op.attrs()["name"]: op.operand_source(0) for op in ops}


def name_of(value):
    """The name that an input or a parameter is bound by."""
    name = bound_name(value)
    if name is None:
        raise Error(f"only inputs and parameters have names, not a result of {value.get_defining_op().name()}")
    return name


def bound_name(value):
    """The name of an input or a parameter, or nothing."""
    op = value.get_defining_op()
    key = op and {"pd_op.data": "name", "builtin.parameter": "parameter_name"}.get(op.name())
    return op.attrs()[key] if key else None


def parameters(program):
    """The parameters of a program, by name."""
    return {name_of(op.result(0)): op.result(0) for op in program.global_block().ops if op.name() == "builtin.parameter"}


def inputs(program):
    """The inputs of a program, by name."""
    return {op.attrs()["name"]: op.result(0) for op in program.global_block().ops if op.name() == "pd_op.data"}


def carry_attributes(source, target):
    """Gives parameters what `ParamAttr` said of those of the same names."""
    given = parameters(source)
    for name, value in parameters(target).items():
        if name not in given:
            continue
        for attribute in ATTRIBUTES:
            if (found := getattr(given[name], attribute, None)) is not None:
                setattr(value, attribute, found)
        value.stop_gradient = given[name].stop_gradient
        value.persistable = True


def check_program(program):
    """Wrong arguments bring PaddlePaddle's core down; here they are errors."""
    if not isinstance(program, paddle.static.Program):
        raise TypeError(f"expected a paddle.static.Program, found {type(program).__name__}")
    return program


def check_value(value, program, what):
    """A value at top level of a program."""
    if not isinstance(value, paddle.pir.Value):
        raise TypeError(f"{what} is a value of a static program, not {type(value).__name__}")
    if value.block.program != program:
        raise Error(f"{what} belongs to another program")
    if value.block != program.global_block():
        raise Error(f"{what} is defined in a loop or a branch; only what those yield can be used outside")
    return value


def is_float(value):
    return paddle.is_floating_point(value) if value.is_dense_tensor_type() else False


def elements(value):
    """The number of elements of a value, or nothing where its shape is not known."""
    return None if -1 in value.shape else math.prod(value.shape)


def copy(program):
    """A copy of a program without what it fetches, and the map of its values."""
    mapping = paddle.pir.IrMapping()
    clone = program.clone(mapping)
    named = fetches(clone)
    remove_fetches(clone)
    return clone, mapping, named


def remove_fetches(program):
    """The executor adds operations that fetch what it is asked for; those of a saved program would come first."""
    block = program.global_block()
    for op in [op for op in block.ops if op.name() == "pd_op.fetch"]:
        block.remove_op(op)


def fetch(program, values, prefix):
    """Appends operations that fetch values under numbered names."""
    with paddle.static.program_guard(program):
        for at, value in enumerate(values):
            paddle._pir_ops.fetch(value, f"{prefix}{at}", at)


# PaddlePaddle has no gradient for these, and pir-opt has.
COLLECTIVES = ("all_reduce", "all_gather", "broadcast", "reduce", "reduce_scatter", "c_allreduce_sum", "c_identity", "all_to_all", "mp_allreduce_sum")


def rank():
    """The number of this process, if there are several."""
    distributed = paddle.distributed
    return distributed.get_rank() if distributed.get_world_size() > 1 else None


def has_loops(program):
    """Whether a program has loops, also in branches."""
    work = list(program.global_block().ops)
    while work:
        op = work.pop()
        if op.name() == "pd_op.while":
            return True
        work += [inner for block in op.blocks() for inner in block.ops]
    return False


def is_constant(op):
    """Whether no gradient passes through an operation, as in dynamic mode, because PaddlePaddle has none for it."""
    if not op.name().startswith("pd_op.") or op.name().endswith("_") or op.name().removeprefix("pd_op.") in COLLECTIVES:
        return False
    if list(op.blocks()) or paddle.base.core.has_vjp(op):
        return False
    return any(is_float(value) for value in op.operands_source() if value.initialized())


def detach_constants(program):
    """Detaches what such operations give."""
    work = [program.global_block()]
    while work:
        block = work.pop()
        for op in list(block.ops):
            work += op.blocks()
            for value in op.results() if is_constant(op) else ():
                if is_float(value) and not value.use_empty():
                    detach(program, value)


def detach(program, value):
    with paddle.static.program_guard(program):
        paddle.pir.set_insertion_point_after(value.get_defining_op())
        detached = value.detach()
    value.replace_all_uses_with(detached)
    detached.get_defining_op().operand(0).set_source(value)


def quoted(names):
    """A list of texts as an option of a pass."""
    return "[" + ", ".join('"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"' for name in names) + "]"
