//! PaddlePaddle's programs.
//!
//! Three things differ between its programs and ours beside the spelling, and reading undoes them:
//! what its op tables call `IntArray` and `Scalar` is an operand there even when it is constant and an attribute here
//! (`constants`); operations that take or give any number of values do so by lists (`lists`); and its `while`
//! computes its condition before the loop and again at the end of the body while ours has a region for it (`loops`).

mod arrays;
mod attributes;
pub(crate) mod build;
mod carried;
mod constants;
mod gradients;
mod inplace;
mod keys;
pub(crate) mod legacy;
mod lists;
mod loops;
mod merged;
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

pub use write::{write, write_printed};

/// What to do with programs that go beyond the dialects of the context.
#[derive(Clone, Copy, Default, Debug)]
pub struct Options {
    /// Keep operations that no dialect defines, instead of reporting them.
    pub allow_unregistered: bool,
}

/// Reads a saved program, PIR JSON of any version.
///
/// # Errors
/// What is wrong with the source, as much of it as can be found in one go.
pub fn read(ctx: &Arc<Context>, source: &[u8]) -> Result<Module, Vec<Diagnostic>> {
    read_with(ctx, source, Options::default())
}

/// Reads a saved program with options.
///
/// # Errors
/// What is wrong with the source, as much of it as can be found in one go.
pub fn read_with(ctx: &Arc<Context>, source: &[u8], options: Options) -> Result<Module, Vec<Diagnostic>> {
    let mut builder = build::Builder::new(ctx, options.allow_unregistered);
    saved::read(&mut builder, source);
    finish(ctx, builder, source.len())
}

/// Reads a program as Paddle prints it.
///
/// # Errors
/// What is wrong with the source, up to the first error of syntax.
pub fn read_printed(ctx: &Arc<Context>, source: &[u8], options: Options) -> Result<Module, Vec<Diagnostic>> {
    let mut builder = build::Builder::new(ctx, options.allow_unregistered);
    printed::read(&mut builder, source);
    finish(ctx, builder, source.len())
}

/// Reads a program from before PaddlePaddle 3: a `ProgramDesc` message, as in `.pdmodel` and `__model__`.
///
/// # Errors
/// What is wrong with the source, up to the first error.
pub fn read_program(ctx: &Arc<Context>, source: &[u8], options: Options) -> Result<Module, Vec<Diagnostic>> {
    let mut builder = build::Builder::new(ctx, options.allow_unregistered);
    legacy::read_proto(&mut builder, source);
    finish(ctx, builder, source.len())
}

/// Reads a program from before PaddlePaddle 3 as Paddle printed it.
///
/// # Errors
/// What is wrong with the source, up to the first error.
pub fn read_program_text(ctx: &Arc<Context>, source: &[u8], options: Options) -> Result<Module, Vec<Diagnostic>> {
    let mut builder = build::Builder::new(ctx, options.allow_unregistered);
    legacy::read_dump(&mut builder, source);
    finish(ctx, builder, source.len())
}

/// Turns what was read into our forms.
fn finish(ctx: &Arc<Context>, builder: build::Builder<'_>, length: usize) -> Result<Module, Vec<Diagnostic>> {
    let (mut body, mut errors) = (builder.body, builder.errors);
    if errors.is_empty() {
        gradients::remove_unused(ctx, &mut body);
        operands::reorder(ctx, &mut body, &mut errors);
        constants::to_attributes(ctx, &mut body);
        lists::spread(ctx, &mut body);
        arrays::to_tensors(ctx, &mut body, &mut errors);
        unset::retype(ctx, &mut body);
        loops::rotate(ctx, &mut body, &mut errors);
        widen::widen(ctx, &mut body);
        notes::keep(ctx, &mut body, &mut errors);
    }
    if !errors.is_empty() {
        // What is missing at the end of the file is missed behind its last byte.
        for label in errors.iter_mut().flat_map(|e| &mut e.labels) {
            label.span.end = label.span.end.min(length as u32);
            label.span.start = label.span.start.min(label.span.end);
        }
        return Err(errors);
    }
    Ok(Module { ctx: ctx.clone(), body })
}
