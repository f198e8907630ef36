//! Marks: attributes that passes and readers set on operations of any dialect.

use crate::cf;
use std::borrow::Cow;

use crate::pd;
use pir_ir::{Context, ContextBuilder, Mark};

/// The start of an adjoint program.
pub static BACKWARD: Mark = Mark::anywhere(
    "backward",
    "int",
    "the first operation that `backward` appended: how many gradients the appended part gives",
);

/// The device of a node.
pub static DEVICE: Mark = Mark::anywhere(
    "device",
    "int",
    "the number of the device that the node runs on, from 0; set by `place`, read by `partition`",
);

/// Whether Paddle's gradients continue at a result that depends on no input.
pub static STOP_GRADIENT: Mark = Mark::anywhere(
    "stop_gradient",
    "false",
    "PaddlePaddle's own derivatives do not end at the results, although they depend on no input",
);

/// A shape that is recorded for a derivative.
pub static RECORDED: Mark = Mark::on(
    "recorded",
    "bool",
    &[Cow::Borrowed(pd::Shape::NAME)],
    "the derivative records this shape; `strip-backward` removes the operation with what reads it",
);

/// The operands that are absent.
pub static ABSENT_OPERANDS: Mark = Mark::anywhere(
    "absent_operands",
    "int[]",
    "the places of optional operands that are left out in front of others",
);

/// The results that are absent.
pub static ABSENT_RESULTS: Mark = Mark::anywhere(
    "absent_results",
    "int[]",
    "the places of results that PaddlePaddle's program leaves out",
);

/// The derivative that a call has in the place of that of what it calls.
pub static VJP: Mark = Mark::on(
    "pir.vjp",
    "symbol",
    &[Cow::Borrowed("func.call")],
    "the call is differentiated by this function, of its operands and the cotangents of its results: it gives those of all operands",
);

/// The operands that the derivative of a call is refused for.
pub static NO_VJP: Mark = Mark::on(
    "pir.no_vjp",
    "int[]",
    &[Cow::Borrowed("func.call")],
    "the operands, from 0, for which the function of `pir.vjp` has no derivative: `backward` refuses a program that needs one",
);

/// A call through which no derivative passes.
pub static STOPPED: Mark = Mark::on(
    "pir.stop_gradient",
    "unit",
    &[Cow::Borrowed("func.call")],
    "no derivative passes through the call",
);

/// What a function was given by `backward{seed=args}`.
pub static COTANGENTS: Mark = Mark::on(
    "pir.cotangents",
    "int[]",
    &[Cow::Borrowed("func.func")],
    "how many of the function's last arguments are cotangents, and how many of its last results gradients; read by `split-vjp`",
);

/// How many values there are on a stack.
pub static CAPACITY: Mark = Mark::on(
    "capacity",
    "int",
    &[Cow::Borrowed(cf::CREATE_STACK)],
    "so many values of each push are on the stack at most, and no more of those of several blocks together; `lower-stacks` reads it",
);

/// A function whose copy is being differentiated.
pub static PRIMAL: Mark = Mark::on(
    "pir.primal",
    "unit",
    &[Cow::Borrowed("func.func")],
    "the function is left as it is by `build-backward`, which differentiates a copy of it; `prune-stacks` takes the mark away",
);

/// A copy of a function that is being differentiated.
pub static ADJOINT_OF: Mark = Mark::on(
    "pir.adjoint_of",
    "str",
    &[Cow::Borrowed("func.func")],
    "the function of MLIR's dialects that this is a copy of; `prune-stacks` converts it back to them and takes the mark away",
);

/// A call that is differentiated by the adjoint of what it calls.
pub static ADJOINT: Mark = Mark::on(
    "pir.adjoint",
    "symbol",
    &[Cow::Borrowed("func.call")],
    "the call gives a tape, its last result, and this function takes it: the adjoint of what is called",
);

/// A call that records.
pub static AUGMENTED: Mark = Mark::on(
    "pir.augmented",
    "symbol",
    &[Cow::Borrowed("func.call")],
    "the function that the call called before `backward` let it call one that gives a tape as well, its last result",
);

/// A function that becomes two: one that records, and the adjoint of another one.
pub static ADJOINT_FUNCTION: Mark = Mark::on(
    "pir.adjoint_function",
    "symbol",
    &[Cow::Borrowed("func.func")],
    "`build-backward` differentiates the function, makes an adjoint of this name of what it appends, and takes the mark away",
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
