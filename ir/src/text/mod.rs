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

mod cursor;
mod locate;
mod name_table;
mod options;
pub(crate) mod reader;
pub(crate) mod segments;
#[cfg(test)]
mod tests;
pub(crate) mod writer;

pub use crate::assembly::{AssemblyReader, TextReader, Unreadable};
pub use crate::ods::{ArgName, OdsPrinter, OdsReader};
pub use locate::locate;
pub use options::{ParseOptions, Parsed, PrintOptions};
pub use reader::chunks::parse_in_chunks;
pub use reader::{parse, parse_attr, parse_type};
pub use segments::segment_sizes;
pub use writer::attr::{print_attr, print_type};
pub use writer::{print, print_op, print_to};
