//! The reader.

mod affine;
mod aliases;
mod attrs;
mod bracketed_types;
mod caches;
pub(super) mod chunks;
mod comments;
mod declared;
mod dialect_types;
mod dicts;
mod directives;
mod elements;
mod failure;
mod finish_op;
mod format;
mod hidden;
mod hooks;
mod literals;
mod lookup;
mod ods;
mod ods_hooks;
mod ods_quick;
mod ods_types;
mod ods_values;
mod op;
mod operands;
pub(super) mod parser;
mod pending;
mod regions;
mod repeated;
mod scalars;
mod scope;
mod shape;
mod signature;
mod types;
mod unregistered;
mod values;

use std::sync::Arc;

use super::options::{ParseOptions, Parsed};
use crate::context::Context;
use crate::diagnostics::Diagnostic;
use crate::types::{Attr, Type};
use parser::Parser;

pub(crate) use scalars::is_type_name;

/// Reads a module. Functions of a long text are read on the threads of the pool that this is called in.
pub fn parse(ctx: &Arc<Context>, source: &[u8], options: &ParseOptions) -> Parsed {
    chunks::parse(ctx, source, *options).unwrap_or_else(|| Parser::new(ctx, source, *options).run())
}

/// Reads a type.
///
/// # Errors
/// When the text is not a type.
pub fn parse_type(ctx: &Arc<Context>, text: &str) -> Result<Type, Diagnostic> {
    Parser::new(ctx, text.as_bytes(), ParseOptions::default()).only(|p| p.parse_type())
}

/// Reads an attribute.
///
/// # Errors
/// When the text is not an attribute.
pub fn parse_attr(ctx: &Arc<Context>, text: &str) -> Result<Attr, Diagnostic> {
    Parser::new(ctx, text.as_bytes(), ParseOptions::default()).only(|p| p.parse_attr())
}
