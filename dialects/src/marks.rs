//! Marks: attributes that passes and readers set on operations of any dialect.

use crate::cf;
use std::borrow::Cow;

use crate::pd;
use pir_ir::{Context, ContextBuilder, Mark};

/// The start of an adjoint program.
pub static BACKWARD: Mark = Mark::anywhere(
    "backward",
    "int",
    "marks the first operation that `backward` appended; the value is the number of gradients in the appended part",
);

/// The device of a node.
pub static DEVICE: Mark = Mark::anywhere(
    "device",
    "int",
    "the number of the device that runs the node, counted from 0; set by `place`, read by `partition`",
);

/// Whether Paddle's gradients continue at a result that depends on no input.
pub static STOP_GRADIENT: Mark = Mark::anywhere(
    "stop_gradient",
    "false",
    "in PaddlePaddle, gradients do not stop at the results, although they depend on no input",
);

/// A shape that is recorded for a derivative.
pub static RECORDED: Mark = Mark::on(
    "recorded",
    "bool",
    &[Cow::Borrowed(pd::Shape::NAME)],
    "the derivative records this shape; `strip-backward` removes the operation with its users",
);

/// The operands that are absent.
pub static ABSENT_OPERANDS: Mark = Mark::anywhere(
    "absent_operands",
    "int[]",
    "the positions of absent optional operands before present ones",
);

/// The results that are absent.
pub static ABSENT_RESULTS: Mark = Mark::anywhere(
    "absent_results",
    "int[]",
    "the positions of results that are absent in PaddlePaddle's program",
);

/// The derivative of a call, instead of that of the callee.
pub static VJP: Mark = Mark::on(
    "pir.vjp",
    "symbol",
    &[Cow::Borrowed("func.call")],
    "the derivative of the call: a function of the operands and the cotangents of the results, which returns the \
     cotangents of all operands",
);

/// The operands that the derivative of a call is refused for.
pub static NO_VJP: Mark = Mark::on(
    "pir.no_vjp",
    "int[]",
    &[Cow::Borrowed("func.call")],
    "the operands, counted from 0, for which the function of `pir.vjp` has no derivative; `backward` refuses a \
     program that needs one",
);

/// A call through which no derivative passes.
pub static STOPPED: Mark = Mark::on(
    "pir.stop_gradient",
    "unit",
    &[Cow::Borrowed("func.call")],
    "no derivative passes through the call",
);

/// The arguments that `backward{seed=args}` added to a function.
pub static COTANGENTS: Mark = Mark::on(
    "pir.cotangents",
    "int[]",
    &[Cow::Borrowed("func.func")],
    "the number of trailing arguments that are cotangents, and of trailing results that are gradients; read by `split-vjp`",
);

/// How many values there are on a stack.
pub static CAPACITY: Mark = Mark::on(
    "capacity",
    "int",
    &[Cow::Borrowed(cf::CREATE_STACK)],
    "the maximum number of values of each push on the stack, and of the pushes of different blocks together; read by \
     `lower-stacks`",
);

/// A function whose copy is being differentiated.
pub static PRIMAL: Mark = Mark::on(
    "pir.primal",
    "unit",
    &[Cow::Borrowed("func.func")],
    "`build-backward` keeps the function and differentiates a copy; `prune-stacks` removes the mark",
);

/// A copy of a function that is being differentiated.
pub static ADJOINT_OF: Mark = Mark::on(
    "pir.adjoint_of",
    "str",
    &[Cow::Borrowed("func.func")],
    "the original function in MLIR's dialects, of which this is a copy; `prune-stacks` converts the copy back to \
     these dialects and removes the mark",
);

/// A call that is differentiated by the adjoint of what it calls.
pub static ADJOINT: Mark = Mark::on(
    "pir.adjoint",
    "symbol",
    &[Cow::Borrowed("func.call")],
    "the adjoint of the callee: the last result of the call is a tape, which this function takes",
);

/// A call that records.
pub static AUGMENTED: Mark = Mark::on(
    "pir.augmented",
    "symbol",
    &[Cow::Borrowed("func.call")],
    "the original callee, before `backward` replaced it with a function that also returns a tape, as its last result",
);

/// A function that becomes two: one that records, and the adjoint of another one.
pub static ADJOINT_FUNCTION: Mark = Mark::on(
    "pir.adjoint_function",
    "symbol",
    &[Cow::Borrowed("func.func")],
    "`build-backward` differentiates the function, moves the appended operations to an adjoint function of this name, \
      and removes the mark",
);

/// All marks.
pub static ALL: [&Mark; 16] = [
    &ADJOINT,
    &AUGMENTED,
    &ADJOINT_FUNCTION,
    &PRIMAL,
    &ADJOINT_OF,
    &BACKWARD,
    &DEVICE,
    &STOP_GRADIENT,
    &RECORDED,
    &CAPACITY,
    &ABSENT_OPERANDS,
    &ABSENT_RESULTS,
    &VJP,
    &NO_VJP,
    &STOPPED,
    &COTANGENTS,
];

pub(crate) fn register(builder: &mut ContextBuilder) {
    builder.register_marks(ALL.iter().map(|&mark| mark.clone()));
}

/// Whether an attribute of this name is a mark.
pub fn is_mark(ctx: &Context, name: &str) -> bool {
    ctx.marks().iter().any(|mark| mark.name == name)
}
