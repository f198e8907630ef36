//! PaddlePaddle's programs.
//!
//! Besides their spelling, its programs differ from the dialect `pd` in three ways, which reading undoes: `IntArray`
//! and `Scalar` arguments are operands even when they are constant, and attributes here (`constants`); operations with
//! any number of values take and give lists (`lists`); and `while` computes its condition before the loop and again at
//! the end of the body, while `pd.while` has a region for it (`loops`).

mod arrays;
mod attributes;
pub(crate) mod build;
mod carried;
mod constants;
mod einsum;
mod gradients;
mod inplace;
mod keys;
pub(crate) mod legacy;
mod lists;
mod loops;
mod loss_scaling;
mod merged;
mod narrow;
mod notes;
mod operands;
mod printed;
mod saved;
mod stacks;
mod unset;
mod versions;
mod widen;
mod write;

use std::sync::Arc;

use pir_ir::{Context, Diagnostic, Module};

/// The help for JSON that is not such a program.
const SAVED: &str =
    "the file is a program as `paddle.jit.save` of PaddlePaddle 3 writes it; `--from` names another format";

pub use write::{knows, write, write_printed};

/// Options for programs that go beyond the registered dialects.
#[derive(Clone, Copy, Default, Debug)]
pub struct Options {
    /// Keep operations that no dialect defines, instead of reporting them.
    pub allow_unregistered: bool,
}

/// Reads a saved program, PIR JSON of any version.
///
/// # Errors
/// Everything wrong with the source, as far as can be determined in one pass.
pub fn read(ctx: &Arc<Context>, source: &[u8]) -> Result<Module, Vec<Diagnostic>> {
    read_with(ctx, source, Options::default())
}

/// Reads a saved program with options.
///
/// # Errors
/// Everything wrong with the source, as far as can be determined in one pass.
pub fn read_with(ctx: &Arc<Context>, source: &[u8], options: Options) -> Result<Module, Vec<Diagnostic>> {
    let mut builder = build::Builder::new(ctx, options.allow_unregistered);
    saved::read(&mut builder, source);
    finish(ctx, builder, source.len())
}

/// Reads a program as Paddle prints it.
///
/// # Errors
/// Everything wrong with the source, up to the first syntax error.
pub fn read_printed(ctx: &Arc<Context>, source: &[u8], options: Options) -> Result<Module, Vec<Diagnostic>> {
    let mut builder = build::Builder::new(ctx, options.allow_unregistered);
    printed::read(&mut builder, source);
    finish(ctx, builder, source.len())
}

/// Reads a program from before PaddlePaddle 3: a `ProgramDesc` message, as in `.pdmodel` and `__model__`.
///
/// # Errors
/// Everything wrong with the source, up to the first error.
pub fn read_program(ctx: &Arc<Context>, source: &[u8], options: Options) -> Result<Module, Vec<Diagnostic>> {
    let mut builder = build::Builder::new(ctx, options.allow_unregistered);
    legacy::read_proto(&mut builder, source);
    finish(ctx, builder, source.len())
}

/// Reads a program from before PaddlePaddle 3 as Paddle printed it.
///
/// # Errors
/// Everything wrong with the source, up to the first error.
pub fn read_program_text(ctx: &Arc<Context>, source: &[u8], options: Options) -> Result<Module, Vec<Diagnostic>> {
    let mut builder = build::Builder::new(ctx, options.allow_unregistered);
    legacy::read_dump(&mut builder, source);
    finish(ctx, builder, source.len())
}

/// Runs the conversions that need the whole program.
fn finish(ctx: &Arc<Context>, builder: build::Builder<'_>, length: usize) -> Result<Module, Vec<Diagnostic>> {
    let (mut body, mut errors) = (builder.body, builder.errors);
    if errors.is_empty() {
        gradients::remove_unused(ctx, &mut body);
        operands::reorder(ctx, &mut body, &mut errors);
        constants::to_attributes(ctx, &mut body);
        lists::spread(ctx, &mut body);
        arrays::to_tensors(ctx, &mut body, &mut errors);
        unset::retype(ctx, &mut body);
        narrow::narrow(ctx, &mut body);
        loops::rotate(ctx, &mut body, &mut errors);
        widen::widen(ctx, &mut body);
        notes::keep(ctx, &mut body, &mut errors);
    }
    if !errors.is_empty() {
        // An error at the end of the file has a span after its last byte.
        for label in errors.iter_mut().flat_map(|e| &mut e.labels) {
            label.span.end = label.span.end.min(length as u32);
            label.span.start = label.span.start.min(label.span.end);
        }
        return Err(errors);
    }
    Ok(Module { ctx: ctx.clone(), body })
}
