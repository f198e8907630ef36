//! The rows of a context, by the names of the operations.

use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashMap;

use super::{Ods, OdsRows};
use crate::context::Context;
use crate::entity::OpName;

/// The rows of a context. The text of a dialect is looked through when one of its operations is first asked for: most programs have only a
/// few dialects.
#[derive(Default)]
pub(crate) struct OdsTable {
    dialects: Vec<Dialect>,
}

/// A dialect, and a row of it.
pub(crate) type Place = (u16, u16);

/// The rows of a dialect.
struct Dialect {
    name: &'static str,
    texts: Vec<OdsRows>,
    rows: OnceLock<Rows>,
}

#[derive(Default)]
struct Rows {
    rows: Vec<(Box<str>, Ods)>,
    by_name: FxHashMap<Box<str>, usize>,
}

impl OdsTable {
    /// Adds rows of a dialect.
    pub(crate) fn add(&mut self, rows: OdsRows) {
        match self.dialects.iter_mut().find(|dialect| dialect.name == rows.dialect) {
            Some(dialect) => dialect.texts.push(rows),
            None => self.dialects.push(Dialect {
                name: rows.dialect,
                texts: vec![rows],
                rows: OnceLock::new(),
            }),
        }
    }

    /// The dialect and the row of an operation.
    pub(crate) fn place(&self, name: &str) -> Option<Place> {
        let prefix = name.split_once('.')?.0;
        let at = self.dialects.iter().position(|dialect| dialect.name == prefix)?;
        let row = self.dialects[at].rows().by_name.get(name)?;
        Some((u16::try_from(at).ok()?, u16::try_from(*row).ok()?))
    }

    #[inline]
    fn row(&self, (dialect, row): Place) -> Option<&(Box<str>, Ods)> {
        self.dialects
            .get(usize::from(dialect))?
            .rows()
            .rows
            .get(usize::from(row))
    }
}

impl Dialect {
    fn rows(&self) -> &Rows {
        self.rows.get_or_init(|| {
            let mut rows = Rows::default();
            self.texts.iter().for_each(|text| rows.add(*text));
            rows
        })
    }
}

impl Rows {
    fn add(&mut self, rows: OdsRows) {
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
}

impl Context {
    /// MLIR's declaration of an operation's custom assembly.
    #[inline]
    pub fn ods(&self, name: OpName) -> Option<&Ods> {
        let table = &self.ods_table;
        let place = match self.cached_ods(name) {
            Some(place) => *place.get_or_init(|| table.place(self.op_str(name))),
            // One that is not registered may have a row all the same.
            None => table.place(self.op_str(name)),
        };
        table.row(place?).map(|row| &row.1)
    }

    /// MLIR's declarations of the custom assembly of operations.
    pub fn all_ods(&self) -> impl Iterator<Item = (&str, &Ods)> {
        let dialects = self.ods_table.dialects.iter();
        dialects.flat_map(|dialect| dialect.rows().rows.iter().map(|(name, ods)| (&**name, ods)))
    }

    /// The name of an operation, if it was met before or is registered, or MLIR declares its text.
    pub(crate) fn find_op_name(&self, text: &str) -> Option<OpName> {
        let is_declared = || self.ods_table.place(text).is_some();
        self.met_op(text).or_else(|| is_declared().then(|| self.op_name(text)))
    }

    /// Whether there is such an operation, be it that only its text is known.
    pub(crate) fn is_known_op(&self, name: &str) -> bool {
        let is_declared = || self.ods_table.place(name).is_some();
        self.registered_op(name).is_some() || is_declared() || self.has_semantics(name)
    }
}
