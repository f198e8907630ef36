//! The registered operations, and the names of all that are met. A program meets a few of the many rows of the op tables, and every run
//! of a tool makes a context: the rows of a table have numbers in a row, and a name, a definition and what is kept beside it are looked up
//! or made when they are first asked for.

use std::sync::{Arc, OnceLock};

use append_only_vec::AppendOnlyVec;
use ecow::EcoString;
use rustc_hash::FxHashSet;

use super::places::Places;
use crate::context::Context;
use crate::declare::{Text, Traits};
use crate::entity::OpName;
use crate::intern::{Ids, RecentNames, StrInterner};
use crate::ods::Place;
use crate::plan::Plan;
use crate::registry::{MemoryEffects, OpDef};

/// A table of definitions of one dialect, each of which is made when it is first asked for. No two have the same name.
pub trait Definitions: Send + Sync {
    /// How many there are.
    fn count(&self) -> usize;

    /// The name of the operation at `index`, with its dialect.
    fn name(&self, index: usize) -> &str;

    /// The index of the operation of a name, with its dialect.
    fn find(&self, name: &str) -> Option<usize>;

    /// The traits of the operation at `index`, without its definition.
    fn traits(&self, index: usize) -> Traits;

    /// The definition of the operation at `index`: it has this name and these traits, and declares its effects.
    fn define(&self, index: usize) -> OpDef;
}

/// A registered operation, and what is derived from its definition when it is first needed.
pub(super) struct Slot {
    pub(super) def: OpDef,
    /// What the verifier asks of it.
    pub(super) plan: OnceLock<Box<Plan>>,
    /// What is asked of its declared operands.
    pub(super) places: OnceLock<Places>,
    /// Its row in MLIR's declarations of text, if there is one.
    pub(super) ods: OnceLock<Option<Place>>,
}

struct Table {
    dialect: Text,
    /// The number of its first operation.
    first: usize,
    rows: Arc<dyn Definitions>,
}

/// The operations by number: first those that are registered, then other names that were met.
#[derive(Default)]
pub(super) struct OpTable {
    slots: Vec<OnceLock<Box<Slot>>>,
    tables: Vec<Table>,
    /// Numbers of rows whose operation was registered before, and has another number.
    hidden: FxHashSet<usize>,
    /// The numbers of the operations that are registered without a table, and of the names that were met.
    met: Ids,
    /// The names that are not registered.
    others: AppendOnlyVec<EcoString>,
    recent: RecentNames,
    /// Whether the effects of some of the operations are not declared.
    pub(super) undeclared: bool,
    /// Whether some of them may be composite.
    pub(super) composites: bool,
}

impl From<OpDef> for Box<Slot> {
    fn from(def: OpDef) -> Self {
        Box::new(Slot {
            def,
            plan: OnceLock::new(),
            places: OnceLock::new(),
            ods: OnceLock::new(),
        })
    }
}

impl OpTable {
    /// Registers an operation, in place of one of the same name if there is one. No name may have been met that is not registered.
    pub(super) fn add(&mut self, def: OpDef) {
        self.undeclared |= matches!(def.effects, MemoryEffects::Undeclared);
        self.composites |= def.is_composite();
        let number = self.find(&def.name).unwrap_or(self.slots.len());
        if number == self.slots.len() {
            self.met.insert(StrInterner::hash(def.name.as_bytes()), number as u32);
            self.slots.push(OnceLock::new());
        }
        self.slots[number] = OnceLock::from(Box::from(def));
    }

    /// Registers the operations of a table of a dialect, in place of those of the same names.
    pub(super) fn add_table(&mut self, dialect: &Text, rows: Arc<dyn Definitions>) {
        self.composites = true;
        let first = self.slots.len();
        // Tables come before other operations of their dialect, as a rule.
        let is_before = |table: &Table| table.dialect == *dialect;
        let prefixed = |def: &OpDef| {
            def.name
                .strip_prefix(&**dialect)
                .is_some_and(|rest| rest.starts_with('.'))
        };
        let has_others = self
            .slots
            .iter()
            .filter_map(OnceLock::get)
            .any(|slot| prefixed(&slot.def));
        if has_others || self.tables.iter().any(is_before) {
            for index in 0..rows.count() {
                if let Some(number) = self.find(rows.name(index)) {
                    self.slots[number] = OnceLock::from(Box::from(rows.define(index)));
                    self.hidden.insert(first + index);
                }
            }
        }
        self.slots.resize_with(first + rows.count(), OnceLock::new);
        let dialect = dialect.clone();
        self.tables.push(Table { dialect, first, rows });
    }

    /// One more than the largest number of a registered operation.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// The numbers of the registered operations, in the order of registration.
    fn numbers(&self) -> impl Iterator<Item = usize> + Clone {
        (0..self.slots.len()).filter(|number| self.hidden.is_empty() || !self.hidden.contains(number))
    }

    #[inline]
    pub(super) fn get(&self, number: usize) -> Option<&Slot> {
        let slot = self.slots.get(number)?;
        Some(match slot.get() {
            Some(slot) => slot,
            None => self.make(number, slot),
        })
    }

    #[cold]
    fn make<'a>(&self, number: usize, slot: &'a OnceLock<Box<Slot>>) -> &'a Slot {
        slot.get_or_init(|| {
            let (table, index) = self.row(number);
            let def = table.rows.define(index);
            debug_assert_eq!(def.name, table.rows.name(index));
            debug_assert_eq!(def.traits, table.rows.traits(index), "{}", def.name);
            debug_assert!(!matches!(def.effects, MemoryEffects::Undeclared), "{}", def.name);
            Box::from(def)
        })
    }

    /// The table of an operation without a definition so far, and the place in it.
    fn row(&self, number: usize) -> (&Table, usize) {
        let after = self.tables.partition_point(|table| table.first <= number);
        let table = &self.tables[after - 1];
        (table, number - table.first)
    }

    fn traits(&self, number: usize) -> Traits {
        match self.slots[number].get() {
            Some(slot) => slot.def.traits,
            None => {
                let (table, index) = self.row(number);
                table.rows.traits(index)
            }
        }
    }

    /// The name with a number.
    #[inline]
    pub(super) fn text(&self, number: usize) -> &str {
        match self.slots.get(number) {
            Some(slot) => match slot.get() {
                Some(slot) => &slot.def.name,
                None => {
                    let (table, index) = self.row(number);
                    table.rows.name(index)
                }
            },
            None => &self.others[number - self.slots.len()],
        }
    }

    /// The number of a name that is registered or was met.
    pub(super) fn find(&self, text: &str) -> Option<usize> {
        self.number_of(text, |_| None)
    }

    /// The number of a name, which need not be registered.
    pub(super) fn intern(&self, text: &str) -> usize {
        let push = |text: &str| Some(self.slots.len() + self.others.push(EcoString::from(text)));
        self.number_of(text, push).unwrap_or(usize::MAX)
    }

    fn number_of(&self, text: &str, other: impl FnOnce(&str) -> Option<usize>) -> Option<usize> {
        let known = |number: u32| self.text(number as usize);
        if let Some(number) = self.recent.get(text, known) {
            return Some(number as usize);
        }
        let is = |text: &&str, number| known(number) == *text;
        let find = |text: &str| Some(self.find_row(text).or_else(|| other(text))? as u32);
        let hash = StrInterner::hash(text.as_bytes());
        let number = self.met.try_intern(hash, text, is, |text| find(text).ok_or(())).ok()?;
        self.recent.keep(text, number);
        Some(number as usize)
    }

    /// The number of the row of a name.
    fn find_row(&self, text: &str) -> Option<usize> {
        let dialect = text.split_once('.')?.0;
        let tables = self.tables.iter().filter(|table| table.dialect == dialect);
        let mut numbers = tables.filter_map(|table| Some(table.first + table.rows.find(text)?));
        numbers.find(|number| !self.hidden.contains(number))
    }

    /// Whether a name was met that is not registered.
    #[inline]
    pub(super) fn has_others(&self) -> bool {
        self.others.len() > 0
    }
}

impl Context {
    /// Interns an operation name; the name need not be registered.
    pub fn op_name(&self, text: &str) -> OpName {
        OpName(self.ops.intern(text) as u32)
    }

    /// The operation name `text` if it is registered.
    pub fn registered_op(&self, text: &str) -> Option<OpName> {
        self.met_op(text).filter(|n| n.index() < self.ops.len())
    }

    /// The text of an operation name.
    #[inline]
    pub fn op_str(&self, name: OpName) -> &str {
        self.ops.text(name.index())
    }

    /// The name of an operation, if it was met before or is registered.
    pub(crate) fn met_op(&self, text: &str) -> Option<OpName> {
        self.ops.find(text).map(|number| OpName(number as u32))
    }

    /// The definition of an operation, `None` if it is not registered.
    #[inline]
    pub fn op_def(&self, name: OpName) -> Option<&OpDef> {
        self.ops.get(name.index()).map(|slot| &slot.def)
    }

    /// One more than the largest index of the name of a registered operation, for tables by [`OpName::index`].
    pub fn num_op_indices(&self) -> usize {
        self.ops.len()
    }

    /// The definitions of all registered operations, in the order of registration: to be asked for only where all are needed, since
    /// most are made only now.
    pub fn ops(&self) -> impl Iterator<Item = &OpDef> + Clone {
        self.ops.numbers().filter_map(|number| Some(&self.ops.get(number)?.def))
    }

    /// The names of all registered operations, in the order of registration.
    pub fn registered_ops(&self) -> impl Iterator<Item = &str> + Clone {
        self.ops.numbers().map(|number| self.ops.text(number))
    }

    /// The registered operations that have these traits.
    pub fn ops_with(&self, wanted: Traits) -> impl Iterator<Item = &OpDef> {
        let having = self
            .ops
            .numbers()
            .filter(move |&number| self.ops.traits(number).contains(wanted));
        having.filter_map(|number| Some(&self.ops.get(number)?.def))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::ContextBuilder;
    use crate::registry::DialectDef;

    struct Rows(&'static [&'static str], &'static str);

    impl Definitions for Rows {
        fn count(&self) -> usize {
            self.0.len()
        }

        fn name(&self, index: usize) -> &str {
            self.0[index]
        }

        fn find(&self, name: &str) -> Option<usize> {
            self.0.iter().position(|known| *known == name)
        }

        fn traits(&self, _: usize) -> Traits {
            Traits::empty()
        }

        fn define(&self, index: usize) -> OpDef {
            op(self.0[index], self.1)
        }
    }

    fn op(name: &'static str, summary: &'static str) -> OpDef {
        OpDef::new(name, summary).with_effects(MemoryEffects::None)
    }

    fn names(ctx: &Context) -> Vec<(&str, &str)> {
        ctx.ops().map(|op| (&*op.name, &*op.summary)).collect()
    }

    #[test]
    fn the_later_operation_of_a_name_replaces_the_earlier_one() {
        let mut builder = ContextBuilder::new();
        builder.register(DialectDef::new("a", ""), [op("a.x", "own"), op("a.y", "own")]);
        builder.register_table(DialectDef::new("a", ""), Arc::new(Rows(&["a.z", "a.y"], "row")));
        builder.register_ops([op("a.z", "late")]);
        builder.register_table(DialectDef::new("a", ""), Arc::new(Rows(&["a.w", "a.z"], "second")));
        let ctx = builder.build();
        let all = [("a.x", "own"), ("a.y", "row"), ("a.z", "second"), ("a.w", "second")];
        assert_eq!(names(&ctx), all);
        assert_eq!(ctx.registered_ops().collect::<Vec<_>>(), ["a.x", "a.y", "a.z", "a.w"]);
        for (name, summary) in all {
            let found = ctx.registered_op(name).unwrap();
            assert_eq!(
                (ctx.op_str(found), &*ctx.op_def(found).unwrap().summary),
                (name, summary)
            );
            assert_eq!(ctx.op_name(name), found);
        }
    }

    #[test]
    fn names_that_are_not_registered_come_after_those_that_are() {
        let mut builder = ContextBuilder::new();
        builder.register_table(DialectDef::new("a", ""), Arc::new(Rows(&["a.x", "a.y"], "row")));
        let ctx = builder.build();
        assert!(!ctx.has_undeclared_effects());
        assert_eq!((ctx.registered_op("a.q"), ctx.registered_op("b.x")), (None, None));
        let other = ctx.op_name("a.q");
        assert!(other.index() >= ctx.num_op_indices() && ctx.op_def(other).is_none());
        assert_eq!((ctx.op_str(other), ctx.met_op("a.q")), ("a.q", Some(other)));
        assert_eq!((ctx.registered_op("a.q"), ctx.has_undeclared_effects()), (None, true));
        assert_eq!(ctx.op_str(ctx.op_name("a.y")), "a.y");
    }
}
