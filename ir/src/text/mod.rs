//! The text format: a parser and a printer.
//!
//! The grammar is one for all operations: what an operation may look like follows from its
//! [`OpDef`](crate::OpDef), so that no dialect brings code for its syntax.
//!
//! ```text
//! op      := [results `=`] name [`@` symbol] [`(` operands `)`] [successors] [dict] region* [dict] [`:` types] [loc]
//! region  := [keyword] [`(` args `)`] `{` … `}`
//! generic := [results `=`] string `(` operands `)` [`[` successors `]`] [`<` dict `>`] [`(` regions `)`] [dict] `:` type [loc]
//! ```
//!
//! Reading is linear in the input and does not recurse on its nesting; types and attributes, which do recurse, grow the
//! stack on the heap. Errors are collected, with recovery at the next operation.

mod aliases;
mod attrs;
mod comments;
mod cursor;
mod declared;
mod known;
mod literals;
mod name_table;
mod op;
mod parser;
mod pieces;
mod plain;
mod plain_generic;
mod print_attr;
mod print_generic;
mod print_names;
mod print_parallel;
mod print_pretty;
mod print_regions;
mod printer;
mod regions;
mod scope;
mod tail;
#[cfg(test)]
mod tests;
mod types;
mod unregistered;
mod values;

use std::sync::Arc;

use crate::body::Body;
use crate::context::Context;
use crate::diagnostics::Diagnostic;
use crate::entity::OpId;
use crate::module::Module;
use crate::types::{Attr, Type};

pub use pieces::parse_in_pieces;
pub(crate) use types::is_type_name;

/// What a function may be said to be in front of its name.
const VISIBILITIES: [&str; 3] = ["private", "public", "nested"];

/// What the parser accepts.
#[derive(Clone, Copy, Default, Debug)]
pub struct ParseOptions {
    /// Operations that no dialect defines are accepted.
    pub allow_unregistered: bool,
}

/// What was read.
#[derive(Debug)]
pub struct Parsed {
    /// The module; of no use when there are errors.
    pub module: Module,
    /// Errors and warnings, in the order of the source.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads a module. Functions of a long text are read on the threads of the pool that this is called in.
pub fn parse(ctx: &Arc<Context>, source: &[u8], options: &ParseOptions) -> Parsed {
    pieces::parse(ctx, source, *options).unwrap_or_else(|| parser::Parser::new(ctx.clone(), source, *options).run())
}

/// How a module is printed.
#[derive(Clone, Copy, Default, Debug)]
pub struct PrintOptions {
    /// The generic form, which other tools of the family read.
    pub generic: bool,
    /// Lists and texts with more elements than this are cut short; what is printed then cannot be read back.
    pub elide_large: Option<usize>,
}

/// Prints a module.
pub fn print(module: &Module, options: &PrintOptions) -> String {
    let mut out = Vec::new();
    // Writing to memory does not fail.
    let _ = print_to(module, options, &mut out);
    String::from_utf8(out).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned())
}

/// Prints a module, in pieces of 128 KiB.
///
/// # Errors
/// Those of the writer.
pub fn print_to(module: &Module, options: &PrintOptions, out: &mut dyn std::io::Write) -> std::io::Result<()> {
    let mut printer = printer::Printer::new(&module.ctx, *options, Some(out));
    printer.module(module);
    printer.finish()
}

/// Prints one operation, with what is inside it.
pub fn print_op(ctx: &Context, body: &Body, op: OpId) -> String {
    let mut printer = printer::Printer::new(ctx, PrintOptions::default(), None);
    printer.single(body, op);
    printer.into_string()
}

/// Prints a type.
pub fn print_type(ctx: &Context, ty: Type) -> String {
    let mut out = String::new();
    print_attr::write_type(ctx, &mut out, ty, false);
    out
}

/// Prints an attribute.
pub fn print_attr(ctx: &Context, attr: Attr) -> String {
    let mut out = String::new();
    print_attr::AttrWriter {
        ctx,
        generic: false,
        elide: None,
    }
    .write(&mut out, attr, false);
    out
}

/// Reads a type.
///
/// # Errors
/// When the text is not a type.
pub fn parse_type(ctx: &Arc<Context>, text: &str) -> Result<Type, Diagnostic> {
    parser::Parser::new(ctx.clone(), text.as_bytes(), ParseOptions::default()).only(|p| p.parse_type())
}

/// Reads an attribute.
///
/// # Errors
/// When the text is not an attribute.
pub fn parse_attr(ctx: &Arc<Context>, text: &str) -> Result<Attr, Diagnostic> {
    parser::Parser::new(ctx.clone(), text.as_bytes(), ParseOptions::default()).only(|p| p.parse_attr())
}
