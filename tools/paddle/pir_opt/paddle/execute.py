"""Execution of programs: the order of their operations, and on tensors of dynamic mode, whose memory is shared."""

import contextlib
import functools

import paddle
from paddle.base import core
from paddle.base.dygraph.base import switch_to_static_graph

from pir_opt.paddle import program as programs


# `paddle.set_flags` looks them up once more for each, which takes as long as an operation.
FLAGS = core.globals()
IN_ORDER = {
    "FLAGS_enable_pir_in_executor_trace_run": True,
    "FLAGS_new_executor_serial_run": True,
    # In GiB. At 0, each tensor that nothing reads any more is handed to a thread that frees it, which takes longer than small operations do.
    # Executors read this when they run for the first time. Of more than this, each step begins with memory that is not in the cache.
    "FLAGS_eager_delete_tensor_gb": 1 / 64,
}


@contextlib.contextmanager
def in_order():
    """Executors run operations in the order of the program, without a queue between threads, and free tensors when they amount to 16 MiB. In
    a loop most operations wait for the one before, so that loops of small operations take less time; programs whose operations are large
    and independent of each other may take more."""
    before = {name: FLAGS[name] for name in IN_ORDER}
    for name, value in IN_ORDER.items():
        FLAGS[name] = value
    try:
        yield
    finally:
        for name, value in before.items():
            FLAGS[name] = value


def put_in_order(program, wanted=None):
    """Makes `Executor.run` execute a program in order, or not; by default if it has loops."""
    if wanted is None:
        wanted = programs.has_loops(program)
    setattr(program, programs.IN_ORDER, bool(wanted))
    if wanted:
        heed_marks()


@functools.cache
def heed_marks():
    """PaddlePaddle has flags for the whole process only: they are set while a marked program runs."""
    run = paddle.static.Executor._run_pir_impl

    @functools.wraps(run)
    def run_marked(self, program, *args, **kwargs):
        with in_order() if getattr(program, programs.IN_ORDER, False) else contextlib.nullcontext():
            return run(self, program, *args, **kwargs)

    paddle.static.Executor._run_pir_impl = run_marked


class Executable:
    """A program that is fed by name, with the values that it gives."""

    @switch_to_static_graph
    def __init__(self, program, outputs):
        self.program, mapping, _ = programs.copy(program)
        values = [mapping.look_up(value) for value in outputs]
        # What is handed through would share memory with what it was.
        with paddle.static.program_guard(self.program):
            values = [paddle._C_ops.assign(value) if programs.bound_name(value) else value for value in values]
        programs.fetch(self.program, values, "fetch")
        self.inputs = list(programs.inputs(self.program))
        self.parameters = list(programs.parameters(self.program))
        self.empty = not values
        self.has_loops = programs.has_loops(self.program)
        self.scope = core.Scope()
        self.executor = None

    def __call__(self, given):
        """The values, as tensors; `given` are tensors by name, of which some may not be needed."""
        if self.empty:
            return []
        for name in self.inputs:
            tensor = dense(given[name])
            core.set_feed_variable(self.scope, tensor.value().get_tensor(), name, 0)
        for name in self.parameters:
            # A change in place is one of the tensor.
            tensor = dense(given[name])
            self.scope.var(name).get_tensor()._share_data_with(tensor.value().get_tensor())
        place = paddle.framework._current_expected_place()
        with in_order() if self.has_loops else contextlib.nullcontext():
            found = self.run(place)
        # Copies: the next run writes what it fetches to the same memory.
        return [core.eager.Tensor(one, place)._copy_to(place, True) if one._is_initialized() else nothing() for one in found]

    def run(self, place):
        """What the program fetches."""
        if self.executor is None:
            where = core.Place()
            where.set_place(place)
            plan = core.Plan([core.Job("default")], {"default": self.program})
            self.executor = core.StandaloneExecutor(where, plan, self.scope)
        return self.executor.run(self.inputs, False)._move_to_list()


def nothing():
    """For a result that a kernel leaves out, and no kernel of the second program reads."""
    return paddle.zeros([0])


def dense(tensor):
    """A tensor with memory of its own shape, to be kept while its memory is taken."""
    if tensor.shape == [] and tensor.dtype == paddle.uint8 and not tensor.numpy().size:
        # What recurrent layers keep of dropout has a shape, and no memory.
        return paddle.zeros([], "uint8")
    return tensor if tensor.is_contiguous() else tensor.detach().contiguous()


def has_stacks(program):
    return any(op.name() == "cf.stack_create" for op in program.global_block().ops)


def changed(program):
    """The names of parameters that a program changes."""
    names = {}
    for op in program.global_block().ops:
        if op.name().endswith("_"):
            found = [programs.bound_name(value) for value in op.operands_source() if value.get_defining_op()]
            names |= dict.fromkeys(name for name in found if name)
    return list(names)
