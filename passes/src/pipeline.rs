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

use std::sync::Arc;

use pir_ir::{Context, Diagnostic};

use crate::options::{OptionValue, Options};
use crate::pass::Pass;
use crate::registry::all_passes;

pub(crate) use parser::{is_module, read_value};

/// The anchors around a pass, from the outside: names of operations. Shared by the passes in one pair of parentheses.
pub type Path = Arc<[Box<str>]>;

/// One run of a pass, with its options.
#[derive(Clone)]
pub struct Invocation {
    /// The pass.
    pub pass: &'static dyn Pass,
    /// The options.
    pub options: Options,
    /// What it runs on; empty for the whole program.
    pub path: Path,
}

impl Invocation {
    /// A run with the default options.
    pub fn new(pass: &'static dyn Pass) -> Self {
        Invocation {
            pass,
            options: Options::new(pass.options()),
            path: Path::default(),
        }
    }

    /// A run that takes over those of `options` that the pass declares too.
    pub fn forwarding(pass: &'static dyn Pass, options: &Options) -> Self {
        let mut new = Self::new(pass);
        new.options.forward_from(options);
        new
    }

    /// Sets an option; one that the pass does not declare is ignored.
    #[must_use]
    pub fn with(mut self, name: &str, value: OptionValue) -> Self {
        let known = self.options.set(name, value);
        debug_assert!(known, "`{}` has no option `{name}`", self.pass.name());
        self
    }
}

impl fmt::Display for Invocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.pass.name())?;
        let mut open = false;
        for (name, value) in self.options.given() {
            write!(f, "{}{name}={value}", if open { ", " } else { "{" })?;
            open = true;
        }
        f.write_str(if open { "}" } else { "" })
    }
}

impl fmt::Debug for Invocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

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
    /// Reads a pipeline of the passes in [`all_passes`]. Anchors are not checked.
    ///
    /// # Errors
    /// Everything that is wrong with it, with spans into `text`.
    pub fn parse(text: &str) -> Result<Self, Vec<Diagnostic>> {
        Self::parse_with(text, all_passes(), None)
    }

    /// The same, and checks that the anchors are isolated operations of the context's dialects, and that the passes in
    /// them can run there.
    ///
    /// # Errors
    /// Everything that is wrong with it, with spans into `text`.
    pub fn parse_in(ctx: &Context, text: &str) -> Result<Self, Vec<Diagnostic>> {
        Self::parse_with(text, all_passes(), Some(ctx))
    }

    /// Reads a pipeline of the given passes.
    ///
    /// # Errors
    /// Everything that is wrong with it, with spans into `text`.
    pub fn parse_with(
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
