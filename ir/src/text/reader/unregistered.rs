//! Operations that are not registered, and names that are none.
//!
//! Under `allow_unregistered` they are read in the generic form, and in one pretty form, which is the same for any
//! operation:
//!
//! ```text
//! op := [results `=`] dialect.name `(` operands `)` [dict] (`{` … `}`)* [dict] [`:` types] [loc]
//! ```
//!
//! The types are those of the results, which have names, or the whole signature. Everything else is custom assembly,
//! which only the code of the dialect can parse, and is refused. So is the pretty form of operations of dialects that
//! are known to have a custom assembly: `memref.alloc() : memref<2xf32>` looks the same and has properties that the
//! text does not show.

use super::parser::{Failure, Parser};
use crate::declare::Traits;
use crate::diagnostics::{Span, nearest};
use crate::entity::OpName;

/// The help about custom assembly that cannot be read.
const MAKE_GENERIC: &str = "print the generic form of the file: `mlir-opt --mlir-print-op-generic FILE | pir-opt --allow-unregistered-dialect -`";

impl<'s> Parser<'s> {
    /// The operation that a name without a dialect denotes: in a function, one of the dialect of functions, `return`.
    pub(super) fn op_of_function(&mut self, word: &'s [u8]) -> Option<OpName> {
        let owner = self.open.last()?.owner.as_ref()?;
        if owner.generic || !owner.has(self.ctx, Traits::FUNCTION) {
            return None;
        }
        let owner = owner.name;
        if let Some((_, _, found)) = self.recent_word.filter(|known| known.0 == owner && known.1 == word) {
            return Some(found);
        }
        let (dialect, _) = self.ctx.op_str(owner).split_once('.')?;
        let name = format!("{dialect}.{}", String::from_utf8_lossy(word));
        let found = self.ctx.is_known_op(&name).then(|| self.ctx.op_name(&name))?;
        self.recent_word = Some((owner, word, found));
        Some(found)
    }

    /// Whether an operation that is not registered, and whose name has been read, goes on in the form that can be read.
    pub(super) fn check_unregistered_form(&self, span: Span) -> Result<(), Failure> {
        let text = self.text(span);
        let dialect = text.split_once('.').map_or(&*text, |(dialect, _)| dialect);
        if self.ctx.dialect(dialect).is_some() || self.ctx.is_external(dialect) {
            return Err(self.unknown_op(span, text.as_bytes()));
        }
        if self.src.get(self.after(self.pos)) == Some(&b'(') {
            return Ok(());
        }
        let message = format!("`{text}` is not registered, so its custom assembly cannot be parsed");
        Err(self.error("custom-assembly", message, span).with_help(format!(
            "write `{text} (%operands) {{attributes}} : types`, or {MAKE_GENERIC}"
        )))
    }

    /// Whether the name is preceded on its line by anything but an opening brace, a label or result names.
    fn is_behind_something(&self, span: Span) -> bool {
        let before = self.src.get(..span.start as usize).unwrap_or_default();
        let start = before
            .iter()
            .rposition(|b| matches!(b, b'\n' | b'\r'))
            .map_or(0, |at| at + 1);
        let line = before[start..].trim_ascii_end();
        !matches!(line.last(), None | Some(b'{' | b'}' | b':' | b'='))
    }

    fn custom_assembly(&self, span: Span, text: &str, dialect: &str) -> Failure {
        let message = format!("`{text}` uses the custom assembly of the dialect `{dialect}`, which cannot be parsed");
        self.error("custom-assembly", message, span).with_help(MAKE_GENERIC)
    }

    /// The error that the name at `span`, completed to `word`, is not a registered operation.
    pub(super) fn unknown_op(&self, span: Span, word: &[u8]) -> Failure {
        let text = String::from_utf8_lossy(word).into_owned();
        let dialect = text.split_once('.').map(|(dialect, _)| dialect);
        let external = dialect.filter(|dialect| self.ctx.is_external(dialect));
        // A name that looks like one of another dialect is none of ours.
        let same = |name: &str| external.is_none_or(|dialect| name.split_once('.').is_some_and(|(d, _)| d == dialect));
        let near = nearest(&text, self.ctx.registered_ops().filter(|name| same(name)));
        let quoted = self.src.get((span.start as usize).wrapping_sub(1)) == Some(&b'"');
        if let Some(dialect) = external.filter(|_| !quoted && near.is_none()) {
            return self.custom_assembly(span, &text, dialect);
        }
        if dialect.is_none() && near.is_none() && self.is_behind_something(span) {
            let message = format!("expected the end of the operation, found `{text}`");
            return self.error("custom-assembly", message, span).with_help(format!(
                "if this is MLIR's custom assembly, it cannot be parsed: {MAKE_GENERIC}"
            ));
        }
        let failure = self.error("unknown-op", format!("there is no operation `{text}`"), span);
        if let Some(near) = near {
            return failure.suggesting("", near);
        }
        let help = match dialect {
            Some(dialect) if self.ctx.dialect(dialect).is_some() => {
                format!("`pir-opt --list-ops` lists the operations of `{dialect}`")
            }
            Some(_) => "operations of other dialects are accepted with `--allow-unregistered-dialect`".to_owned(),
            None => {
                format!("an operation is written `dialect.name`; if this is MLIR's custom assembly, {MAKE_GENERIC}")
            }
        };
        failure.with_help(help)
    }
}
