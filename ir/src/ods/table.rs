//! The rows of a context, by the names of the operations.

use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashMap;

use super::{Ods, OdsRows};
use crate::context::Context;
use crate::entity::OpName;

/// The rows of a context.
#[derive(Default)]
pub(crate) struct OdsTable {
    rows: Vec<(Box<str>, Ods)>,
    by_name: FxHashMap<Box<str>, usize>,
    /// The row of each registered operation; of those without one, no number of a row.
    of_ops: Vec<usize>,
}

impl OdsTable {
    /// Adds the rows of a dialect.
    pub(crate) fn add(&mut self, rows: OdsRows) {
        let mut defines = FxHashMap::default();
        let text = rows.rows;
        for line in text.lines() {
            let Some((name, meaning)) = line.strip_prefix("define ").and_then(|rest| rest.split_once(" = ")) else {
                continue;
            };
            defines.insert(name, meaning);
        }
        let defines = Arc::new(defines);
        let mut at = 0;
        while at < text.len() {
            let end = text[at..].find('\n').map_or(text.len(), |len| at + len);
            let header = &text[at..end];
            at = end + 1;
            let Some(paren) = header
                .find('(')
                .filter(|_| !header.starts_with([' ', '#']) && !header.starts_with("define "))
            else {
                continue;
            };
            let start = at.min(text.len());
            while text.get(at..).is_some_and(|rest| rest.starts_with("  ")) {
                at = text[at..].find('\n').map_or(text.len(), |len| at + len + 1);
            }
            let ods = Ods {
                hooks: rows.hooks,
                verify: rows.verify,
                dialect: rows.dialect,
                header,
                format: &text[start..at.min(text.len())],
                defines: defines.clone(),
                row: OnceLock::new(),
            };
            self.insert(format!("{}.{}", rows.dialect, &header[..paren]).into(), ods);
        }
    }

    fn insert(&mut self, name: Box<str>, ods: Ods) {
        match self.by_name.get(&name) {
            Some(&at) => self.rows[at].1 = ods,
            None => {
                self.by_name.insert(name.clone(), self.rows.len());
                self.rows.push((name, ods));
            }
        }
    }

    /// Finds the rows of the registered operations.
    pub(crate) fn find_ops(&mut self, ctx: &Context) {
        self.of_ops = vec![usize::MAX; ctx.ops().len()];
        for (at, (name, _)) in self.rows.iter().enumerate() {
            if let Some(op) = ctx.registered_op(name) {
                self.of_ops[op.index()] = at;
            }
        }
    }

    fn find(&self, name: &str) -> Option<&Ods> {
        self.by_name.get(name).map(|&at| &self.rows[at].1)
    }
}

impl Context {
    /// MLIR's declaration of an operation's custom assembly.
    #[inline]
    pub fn ods(&self, name: OpName) -> Option<&Ods> {
        match self.ods_table.of_ops.get(name.index()) {
            Some(&at) => self.ods_table.rows.get(at).map(|row| &row.1),
            // One that is not registered may have a row all the same.
            None => self.ods_table.find(self.op_str(name)),
        }
    }

    /// MLIR's declarations of the custom assembly of operations.
    pub fn all_ods(&self) -> impl Iterator<Item = (&str, &Ods)> {
        self.ods_table.rows.iter().map(|(name, ods)| (&**name, ods))
    }

    /// The name of an operation, if it was met before or is registered, or MLIR declares its text.
    pub(crate) fn find_op_name(&self, text: &str) -> Option<OpName> {
        let is_declared = || self.ods_table.find(text).is_some();
        self.met_op(text).or_else(|| is_declared().then(|| self.op_name(text)))
    }

    /// Whether there is such an operation, be it that only its text is known.
    pub(crate) fn is_known_op(&self, name: &str) -> bool {
        let is_declared = || self.ods_table.find(name).is_some();
        self.registered_op(name).is_some() || is_declared() || self.has_semantics(name)
    }
}
