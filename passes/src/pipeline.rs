//! The text of a pipeline: `licm,backward{of="out:1" wrt=[%x, "w_0"]},dce`, or
//! `builtin.module(func.func(cse,licm),symbol-dce)`.
//!
//! ```text
//! pipeline ::= [ item { "," item } ]
//! item     ::= anchor "(" pipeline ")" | pass
//! pass     ::= name [ "{" [ option { sep option } ] "}" ]
//! option   ::= name [ "=" value ]
//! value    ::= word | string | "[" [ ( word | string ) { sep ( word | string ) } ] "]"
//! sep      ::= white space and at most one ","
//! ```
//!
//! Blanks are allowed everywhere between these. A word is anything without blanks, quotes, commas, `=` and brackets.
//! All errors of a text are reported, with spans into that text.
//!
//! An anchor is the name of an isolated operation: the passes in its parentheses run on each such operation, at any
//! depth, and look at nothing else. A module at the outermost place is the program itself.

mod parser;

use std::fmt;

use pir_ir::{Context, Diagnostic};

use crate::pass::{Invocation, Pass};

pub(crate) use parser::is_module;

/// A list of passes to run in order. Its `Display` is what [`Pipeline::parse`] reads.
#[derive(Clone, Debug, Default)]
pub struct Pipeline {
    /// The runs.
    pub invocations: Vec<Invocation>,
}

impl fmt::Display for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut open: &[Box<str>] = &[];
        for (at, invocation) in self.invocations.iter().enumerate() {
            let path = &*invocation.path;
            let shared = open.iter().zip(path).take_while(|(a, b)| a == b).count();
            for _ in shared..open.len() {
                f.write_str(")")?;
            }
            f.write_str(if at == 0 { "" } else { "," })?;
            for anchor in &path[shared..] {
                write!(f, "{anchor}(")?;
            }
            write!(f, "{invocation}")?;
            open = path;
        }
        open.iter().try_for_each(|_| f.write_str(")"))
    }
}

impl Pipeline {
    /// Reads a pipeline of the given passes.
    ///
    /// # Errors
    /// Everything that is wrong with it, with spans into `text`.
    pub(crate) fn parse_with(
        text: &str,
        passes: &[&'static dyn Pass],
        ctx: Option<&Context>,
    ) -> Result<Self, Vec<Diagnostic>> {
        let read = parser::parse(text, passes, ctx)?;
        let mut invocations = Vec::with_capacity(read.len());
        for invocation in read {
            let inner = match invocation.pass.is_preset() {
                true => invocation.pass.expand(&invocation.options),
                false => None,
            };
            match inner {
                Some(inner) => invocations.extend(inner.into_iter().map(|inner| Invocation {
                    path: invocation.path.clone(),
                    ..inner
                })),
                None => invocations.push(invocation),
            }
        }
        Ok(Pipeline { invocations })
    }

    /// Adds the passes of another pipeline at the end.
    pub fn extend(&mut self, other: Pipeline) {
        self.invocations.extend(other.invocations);
    }
}

#[cfg(test)]
mod tests;
