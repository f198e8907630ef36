//! The printer: the pretty and the generic form.

pub(crate) mod attr;
mod elements;
mod generic;
mod map_aliases;
mod names;
mod ods;
mod ods_hooks;
mod parallel;
mod pretty;
pub(super) mod printer;
mod regions;
mod repeated;
mod texts;

use super::options::PrintOptions;
use crate::body::Body;
use crate::context::Context;
use crate::entity::OpId;
use crate::module::Module;
use printer::Printer;

/// How many bytes an operation takes in the generic form, for reserving memory.
const LINE: usize = 160;
/// For how many operations memory is reserved at most.
const MAX_RESERVE: usize = 1 << 17;

/// Prints a module.
pub fn print(module: &Module, options: &PrintOptions) -> String {
    let (mut ops, mut pending) = (0, vec![&module.body]);
    while let Some(body) = pending.pop() {
        ops += body.num_op_slots();
        pending.extend(body.isolated_bodies());
    }
    let mut out = Vec::with_capacity(LINE * ops.min(MAX_RESERVE));
    // Writing to memory does not fail.
    let _ = print_to(module, options, &mut out);
    String::from_utf8(out).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned())
}

/// Prints a module, in pieces of 128 KiB.
///
/// # Errors
/// Those of the writer.
pub fn print_to(module: &Module, options: &PrintOptions, out: &mut dyn std::io::Write) -> std::io::Result<()> {
    let mut printer = Printer::new(&module.ctx, *options, Some(out));
    printer.module(module);
    printer.finish()
}

/// Prints one operation, with what is inside it.
pub fn print_op(ctx: &Context, body: &Body, op: OpId) -> String {
    let mut printer = Printer::new(ctx, PrintOptions::default(), None);
    printer.single(body, op);
    printer.into_string()
}
