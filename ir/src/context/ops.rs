//! The registered operations. The definitions of tables are made one by one when they are asked for: of the many rows a
//! program meets a few, and every run of a tool makes a context.

use std::sync::{Arc, OnceLock};

use crate::context::Context;
use crate::declare::{Text, Traits};
use crate::entity::OpName;
use crate::registry::{MemoryEffects, OpDef};

/// A table of definitions, each of which is made when it is first asked for.
pub trait Definitions: Send + Sync {
    /// How many there are.
    fn count(&self) -> usize;

    /// The name of the operation at `index` and its traits, without its definition.
    fn declared(&self, index: usize) -> (Text, Traits);

    /// The definition of the operation at `index`: it has this name and these traits, and declares its effects.
    fn define(&self, index: usize) -> OpDef;
}

/// A registered operation.
pub(super) struct Entry {
    pub(super) name: Text,
    traits: Traits,
    /// The table and the place in it; unused where the definition is there.
    table: u32,
    index: u32,
    def: OnceLock<Box<OpDef>>,
}

/// The registered operations, by name.
#[derive(Default)]
pub(super) struct OpTable {
    entries: Vec<Entry>,
    tables: Vec<Arc<dyn Definitions>>,
    /// Whether the effects of some of them are not declared.
    pub(super) undeclared: bool,
    /// Whether some of them may be composite.
    pub(super) composites: bool,
}

impl OpTable {
    pub(super) fn with_capacity(ops: usize) -> Self {
        OpTable {
            entries: Vec::with_capacity(ops),
            ..OpTable::default()
        }
    }

    pub(super) fn add(&mut self, def: OpDef) {
        self.undeclared |= matches!(def.effects, MemoryEffects::Undeclared);
        self.composites |= def.is_composite();
        self.entries.push(Entry {
            name: def.name.clone(),
            traits: def.traits,
            table: 0,
            index: 0,
            def: OnceLock::from(Box::new(def)),
        });
    }

    pub(super) fn add_table(&mut self, table: Arc<dyn Definitions>) {
        let number = self.tables.len() as u32;
        self.composites = true;
        for index in 0..table.count() {
            let (name, traits) = table.declared(index);
            self.entries.push(Entry {
                name,
                traits,
                table: number,
                index: index as u32,
                def: OnceLock::new(),
            });
        }
        self.tables.push(table);
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Gives each operation the place that `place_of` gives its name; of several of a name the last one stays.
    pub(super) fn arrange(&mut self, place_of: impl Fn(&str) -> usize) {
        let mut kept = 0;
        for at in 0..self.entries.len() {
            let place = place_of(&self.entries[at].name);
            kept += usize::from(place == kept);
            if place != at {
                self.entries.swap(place, at);
            }
        }
        self.entries.truncate(kept);
    }

    #[inline]
    pub(super) fn get(&self, at: usize) -> Option<&OpDef> {
        let entry = self.entries.get(at)?;
        Some(match entry.def.get() {
            Some(def) => def,
            None => self.make(entry),
        })
    }

    #[cold]
    fn make<'a>(&self, entry: &'a Entry) -> &'a OpDef {
        entry.def.get_or_init(|| {
            let def = self.tables[entry.table as usize].define(entry.index as usize);
            debug_assert_eq!(def.name, entry.name);
            debug_assert_eq!(def.traits, entry.traits, "{}", def.name);
            debug_assert!(!matches!(def.effects, MemoryEffects::Undeclared), "{}", def.name);
            Box::new(def)
        })
    }
}

impl Context {
    /// The definition of an operation, `None` if it is not registered.
    #[inline]
    pub fn op_def(&self, name: OpName) -> Option<&OpDef> {
        self.ops.get(name.index())
    }

    /// The definitions of all registered operations, in the order of registration: to be asked for only where all are needed, since
    /// most are made only now.
    pub fn ops(&self) -> impl ExactSizeIterator<Item = &OpDef> + Clone {
        (0..self.ops.len()).map(|at| self.ops.get(at).expect("as many as there are"))
    }

    /// The names of all registered operations, in the order of registration.
    pub fn registered_ops(&self) -> impl ExactSizeIterator<Item = &str> + Clone {
        self.ops.entries.iter().map(|entry| &*entry.name)
    }

    /// The registered operations that have these traits.
    pub fn ops_with(&self, wanted: Traits) -> impl Iterator<Item = &OpDef> {
        let entries = self.ops.entries.iter().enumerate();
        let having = entries.filter(move |(_, entry)| entry.traits.contains(wanted));
        having.filter_map(|(at, _)| self.ops.get(at))
    }
}
