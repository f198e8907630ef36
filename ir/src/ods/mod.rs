//! MLIR's own operations as text: what their declarations (ODS) say of names, types and the custom assembly.
//!
//! A row is what MLIR's `.td` files declare of an operation, as far as reading and printing need it:
//!
//! ```text
//! cmpi(lhs: T, rhs: T) {predicate: enum i64 eq=0 ne=1} -> (result: i1(lhs))
//!   $predicate `,` $lhs `,` $rhs attr-dict `:` type($lhs)
//! ```
//!
//! The first line has the operands, the attributes and the results; the second one is the `assemblyFormat`. Both directions, reading and
//! printing, go through the same elements. A row does not define the semantics of an operation: an operation may have a row, a
//! definition ([`OpDef`](crate::OpDef)), or both. The language of rows is in `docs/dialects.md`.

pub(crate) mod format;
pub(crate) mod row;
mod types;

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use crate::module::Module;
use crate::text::{OdsPrinter, OdsReader, Unreadable, parse_attr};
use crate::types::Type;

pub(crate) use format::{Element, Item, Of};

/// A `custom<NAME>` of a format: how it is read, and how it is printed.
pub struct OdsHook {
    /// The name.
    pub name: &'static str,
    /// Reads it.
    pub read: fn(&mut OdsReader<'_, '_>) -> Result<(), Unreadable>,
    /// Prints it.
    pub print: fn(&mut OdsPrinter<'_, '_, '_>),
}

/// The rows of a dialect.
#[derive(Clone, Copy)]
pub struct OdsRows {
    /// The dialect.
    pub dialect: &'static str,
    /// The rows, one after the other; `define NAME = TEXT` names a kind of attribute.
    pub rows: &'static str,
    /// What `custom<NAME>` in formats refers to.
    pub hooks: &'static [OdsHook],
}

/// The number of values of an operand or a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Arity {
    One,
    Optional,
    Variadic,
}

/// How a type that is not written follows from others.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum TypeRule {
    /// It is written.
    Written,
    /// It is that of all values with this letter.
    Same(u8),
    /// It is this one.
    Fixed(Type),
    /// It follows from the type of another value.
    From(TypeFn, Slot),
    /// It is a truth value for each value of another one.
    Each(Slot),
    /// It is that of an attribute.
    OfAttr(usize),
}

/// What a type makes of another one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TypeFn {
    /// The type of the elements.
    Elem,
    /// The same shape, with truth values.
    I1,
    /// The tensor that a memref holds.
    Tensor,
    /// The arguments, and the results, of a function.
    Inputs,
    Results,
    /// The vector with half as many, and with twice as many, elements in its last dimension.
    Half,
    Double,
}

/// An operand, or after all operands a result, by its number in the row.
pub(crate) type Slot = usize;

/// An operand or a result.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    pub(crate) name: Box<str>,
    pub(crate) arity: Arity,
    pub(crate) rule: TypeRule,
}

/// How the value of an attribute is written in a format.
#[derive(Clone, Debug)]
pub(crate) enum AttrKind {
    /// As any attribute is.
    Any,
    /// It is there or not.
    Unit,
    Bool,
    Str,
    /// `@name`, kept as a string.
    SymName,
    SymRef,
    Type,
    /// A number without its type.
    Int(Type),
    /// `[1, 2]`, of an array of this type.
    Ints(Box<str>),
    /// A word that represents a number.
    Enum {
        ty: Type,
        words: Vec<(Box<str>, i64)>,
    },
    /// Words in the brackets of an attribute with this name, or in place of it.
    Words {
        prefix: Box<str>,
        words: Vec<Box<str>>,
        angle: bool,
        /// What is between two words in brackets.
        separator: &'static str,
    },
}

/// Whether an attribute is always there.
#[derive(Clone, Debug)]
pub(crate) enum AttrPresence {
    Required,
    Optional,
    /// Where it is not written it is this one.
    Default(Box<str>),
    /// Where it is not there that means this one.
    Implied(Box<str>),
}

#[derive(Clone, Debug)]
pub(crate) struct AttrRow {
    pub(crate) name: Box<str>,
    pub(crate) kind: AttrKind,
    pub(crate) presence: AttrPresence,
    /// Whether MLIR keeps it among the attributes that are none of the operation's own.
    pub(crate) loose: bool,
}

impl AttrRow {
    /// What it is where it is not written.
    pub(crate) fn default(&self) -> Option<&str> {
        match &self.presence {
            AttrPresence::Default(text) | AttrPresence::Implied(text) => Some(text),
            _ => None,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct RegionRow {
    pub(crate) name: Box<str>,
    pub(crate) variadic: bool,
    /// What ends it where nothing is written.
    pub(crate) terminator: Option<Box<str>>,
    /// Whether it forwards the results of the preceding operation.
    pub(crate) forwards: bool,
    /// Whether that is printed all the same.
    pub(crate) keep: bool,
}

/// A row that has been read.
#[derive(Clone, Debug, Default)]
pub(crate) struct OdsRow {
    pub(crate) operands: Vec<Value>,
    pub(crate) results: Vec<Value>,
    pub(crate) attrs: Vec<AttrRow>,
    pub(crate) regions: Vec<RegionRow>,
    /// The names of the successors, and whether there may be any number.
    pub(crate) successors: Vec<(Box<str>, bool)>,
    /// Whether an attribute holds the number of values of each operand and each result.
    pub(crate) segments: bool,
    pub(crate) result_segments: bool,
    pub(crate) is_terminator: bool,
    /// Whether the reader of functions reads it.
    pub(crate) own: bool,
    pub(crate) items: Vec<Item>,
    /// Attributes that the format has elsewhere than among the attributes in braces.
    pub(crate) shown: Vec<Box<str>>,
}

pub(crate) const OPERAND_SEGMENTS: &str = "operandSegmentSizes";
pub(crate) const RESULT_SEGMENTS: &str = "resultSegmentSizes";

impl OdsRow {
    pub(crate) fn attr(&self, name: &str) -> Option<usize> {
        self.attrs.iter().position(|attr| *attr.name == *name)
    }

    /// Whether an attribute belongs to the operation, and is not a note of somebody else.
    pub(crate) fn is_inherent(&self, name: &str) -> bool {
        self.attr(name).is_some_and(|at| !self.attrs[at].loose)
            || self.segments && name == OPERAND_SEGMENTS
            || self.result_segments && name == RESULT_SEGMENTS
    }

    pub(crate) fn slot(&self, name: &str) -> Option<Slot> {
        let all = self.operands.iter().chain(&self.results);
        all.enumerate()
            .find(|(_, value)| *value.name == *name)
            .map(|found| found.0)
    }

    pub(crate) fn value(&self, slot: Slot) -> Option<&Value> {
        let results = slot.checked_sub(self.operands.len());
        match results {
            Some(at) => self.results.get(at),
            None => self.operands.get(slot),
        }
    }
}

/// An operation of a row, which is read when it is first met.
pub struct Ods {
    pub(crate) hooks: &'static [OdsHook],
    dialect: &'static str,
    header: &'static str,
    format: &'static str,
    defines: std::sync::Arc<FxHashMap<&'static str, &'static str>>,
    row: OnceLock<Result<OdsRow, String>>,
}

impl std::fmt::Debug for Ods {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ods")
            .field("header", &self.header)
            .finish_non_exhaustive()
    }
}

/// Gives the operations of a module the attributes that MLIR gives them where none is written, in the order of MLIR's generic form: what
/// custom assembly is read as.
pub fn write_defaults(module: &mut Module) {
    let ctx = module.ctx.clone();
    let mut pending = vec![&mut module.body];
    while let Some(body) = pending.pop() {
        for op in body.walk_all().collect::<Vec<_>>() {
            let Some(row) = ctx.ods(body.op_name(op)).and_then(|ods| ods.row().ok()) else {
                continue;
            };
            let mut entries = ctx.dict_entries(body.attrs(op)).to_vec();
            for attr in &row.attrs {
                let name = ctx.sym(&attr.name);
                if let AttrPresence::Default(text) = &attr.presence
                    && entries.iter().all(|entry| entry.0 != name)
                    && let Ok(value) = parse_attr(&ctx, text)
                {
                    entries.push((name, value));
                }
            }
            entries.sort_by(|a, b| ctx.str(a.0).cmp(ctx.str(b.0)));
            let attrs = ctx.dict(&entries);
            body.set_attrs(op, attrs);
        }
        pending.extend(body.isolated_ops_mut().map(|(_, _, inner)| inner));
    }
}

impl Ods {
    /// The content of the row.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn row(&self) -> Result<&OdsRow, &str> {
        let read = || row::read(self.dialect, self.header, self.format, self.hooks, &self.defines);
        self.row.get_or_init(read).as_ref().map_err(String::as_str)
    }

    /// The format.
    pub fn format(&self) -> &'static str {
        self.format.trim()
    }

    /// Checks the row.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check(&self) -> Result<(), String> {
        self.row().map(|_| ()).map_err(str::to_owned)
    }
}

/// The rows of a context, by the names of the operations.
pub(crate) type OdsTable = FxHashMap<Box<str>, Ods>;

/// Adds the rows of a dialect to a table.
pub(crate) fn add(table: &mut OdsTable, rows: OdsRows) {
    let mut defines = FxHashMap::default();
    let text = rows.rows;
    for line in text.lines() {
        let Some((name, meaning)) = line.strip_prefix("define ").and_then(|rest| rest.split_once(" = ")) else {
            continue;
        };
        defines.insert(name, meaning);
    }
    let defines = std::sync::Arc::new(defines);
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
            dialect: rows.dialect,
            header,
            format: &text[start..at.min(text.len())],
            defines: defines.clone(),
            row: OnceLock::new(),
        };
        table.insert(format!("{}.{}", rows.dialect, &header[..paren]).into(), ods);
    }
}
