//! The context: everything that bodies share. Interned types, attributes and names, and the registered dialects.

mod attrs;
mod builder;
mod marks;
mod names;
mod ops;
mod places;
mod types;

use std::any::{Any, TypeId};
use std::sync::{Arc, OnceLock, Weak};

use rustc_hash::FxHashMap;

use crate::declare::{Text, Traits};
use crate::entity::{OpName, Sym};
use crate::intern::{Interner, StrInterner};
use crate::marks::Mark;
use crate::names::Stems;
use crate::ods::{OdsTable, Place};
use crate::patterns::{PatternSet, Patterns};
use crate::plan::Plan;
use crate::registry::{DialectDef, MaterializeFn};
use crate::semantics::Semantics;
use crate::type_def::DeclaredTypes;
use crate::types::{Attr, AttrData, AttrDict, DictData, Type, TypeData};

pub use builder::ContextBuilder;
pub use ops::Definitions;
pub(crate) use places::Places;

type SemanticsTable = FxHashMap<Text, Arc<dyn Semantics>>;
type Extensions = FxHashMap<TypeId, Box<dyn Any + Send + Sync>>;

/// The interned data and the registry of dialects that the bodies of one or more modules share.
///
/// Interning takes a lock, reading does not. Nothing is ever removed.
pub struct Context {
    syms: StrInterner,
    pub(crate) stems: Stems,
    types: Interner<TypeData>,
    attrs: Interner<AttrData>,
    dicts: Interner<DictData>,
    ops: ops::OpTable,
    /// The context as modules hold it.
    shared: Weak<Context>,
    dialects: FxHashMap<Text, DialectDef>,
    declared_types: DeclaredTypes,
    marks: Vec<Mark>,
    external: Vec<Text>,
    aliases: Vec<(Text, OpName)>,
    extensions: Extensions,
    /// The rewrite patterns, which few runs ask for: those of the dialects, and by operation.
    pattern_set: PatternSet,
    patterns: OnceLock<Patterns>,
    list_type: Text,
    /// How constants are materialized, by dialect.
    constants: Vec<(Text, MaterializeFn)>,
    /// The semantics of operations without a definition.
    semantics: SemanticsTable,
    /// MLIR's declarations of the text of operations.
    pub(crate) ods_table: OdsTable,
}

impl Context {
    /// Interns a string.
    pub fn sym(&self, text: &str) -> Sym {
        Sym(self.syms.intern(text))
    }

    /// The hash that [`Context::sym_hashed`] asks for.
    pub(crate) fn sym_hash(text: &[u8]) -> u32 {
        StrInterner::hash(text)
    }

    /// Interns a string whose hash is known.
    pub(crate) fn sym_hashed(&self, hash: u32, text: &str) -> Sym {
        Sym(self.syms.intern_hashed(hash, text))
    }

    /// The symbol of `text` if it was ever interned.
    pub fn find_sym(&self, text: &str) -> Option<Sym> {
        self.syms.find(text).map(Sym)
    }

    /// The text of a symbol.
    pub fn str(&self, sym: Sym) -> &str {
        self.syms.get(sym.0)
    }

    /// Whether there may be operations that do not declare their effects: one is registered, or a name was met that is not.
    /// Hardly any program has some; for the others this is all that has to be asked.
    #[inline]
    pub fn has_undeclared_effects(&self) -> bool {
        self.ops.undeclared || self.ops.has_others()
    }

    /// The semantics and derivative of an operation, if they are defined by programs.
    pub fn semantics(&self, name: OpName) -> Option<&dyn Semantics> {
        match self.op_def(name) {
            Some(def) => def.semantics.as_deref(),
            None if self.semantics.is_empty() => None,
            None => self.semantics.get(self.op_str(name)).map(AsRef::as_ref),
        }
    }

    /// Whether it is given as programs what an operation computes that has no definition.
    pub(crate) fn has_semantics(&self, op: &str) -> bool {
        self.semantics.contains_key(op)
    }

    /// The data made with [`ContextBuilder::extension`].
    pub fn extension<T: Any>(&self) -> Option<&T> {
        self.extensions.get(&TypeId::of::<T>())?.downcast_ref()
    }

    /// Whether there are operations that others can take the place of. Hardly any program has some.
    #[inline]
    pub fn has_composites(&self) -> bool {
        self.ops.composites
    }

    /// The context as modules hold it; nothing while it is being dropped.
    pub fn shared(&self) -> Option<Arc<Context>> {
        self.shared.upgrade()
    }

    /// The cached checks of an operation, `None` if it is not registered.
    #[inline]
    pub(crate) fn plan(&self, name: OpName) -> Option<&OnceLock<Box<Plan>>> {
        self.ops.get(name.index()).map(|slot| &slot.plan)
    }

    /// The cached row of an operation in MLIR's declarations of text, `None` if the operation is not registered.
    #[inline]
    pub(crate) fn cached_ods(&self, name: OpName) -> Option<&OnceLock<Option<Place>>> {
        self.ops.get(name.index()).map(|slot| &slot.ods)
    }

    /// The patterns of the dialects.
    pub fn patterns(&self) -> &Patterns {
        self.patterns.get_or_init(|| self.pattern_set.by_op(self))
    }

    /// The name of the first registered operation with a trait.
    pub fn op_with(&self, wanted: Traits) -> Option<&str> {
        self.ops_with(wanted).next().map(|def| &*def.name)
    }

    /// All registered marks of the tools, in the order of registration.
    pub fn marks(&self) -> &[Mark] {
        &self.marks
    }

    /// The registered operation that `alias` is another name of.
    pub(crate) fn aliased_op(&self, alias: &[u8]) -> Option<OpName> {
        let (_, op) = self.aliases.iter().find(|(name, _)| name.as_bytes() == alias)?;
        Some(*op).filter(|op| op.index() < self.ops.len())
    }

    /// The ways to materialize constants: those of a dialect, then those of the others.
    pub fn makers_of_constants(&self, dialect: &str) -> impl Iterator<Item = MaterializeFn> {
        let own = self.constants.iter().filter(move |(name, _)| name == dialect);
        let others = self.constants.iter().filter(move |(name, _)| name != dialect);
        own.chain(others).map(|&(_, make)| make)
    }

    /// The name of the type of lists in the generic form.
    pub(crate) fn list_type(&self) -> &str {
        &self.list_type
    }

    /// Whether the dialect is one of other tools, with a custom assembly that is not read here.
    pub fn is_external(&self, dialect: &str) -> bool {
        self.external.iter().any(|name| name == dialect)
    }

    /// The dialect called `name`, if it is registered.
    pub fn dialect(&self, name: &str) -> Option<&DialectDef> {
        self.dialects.get(name)
    }

    /// All registered dialects, by name.
    pub fn dialects(&self) -> impl Iterator<Item = &DialectDef> {
        let mut all: Vec<_> = self.dialects.values().collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all.into_iter()
    }

    /// Interns a type.
    pub fn intern_type(&self, data: TypeData) -> Type {
        Type(self.types.intern_owned(data))
    }

    /// The data of a type.
    #[inline]
    pub fn type_data(&self, ty: Type) -> &TypeData {
        self.types.get(ty.0)
    }

    /// Interns an attribute. An array of plain `i64` integers becomes [`AttrData::Ints`].
    pub fn attr(&self, data: AttrData) -> Attr {
        let data = match data {
            AttrData::Array(items) => match self.as_plain_ints(&items) {
                Some(ints) => AttrData::Ints(ints),
                None => AttrData::Array(items),
            },
            other => other,
        };
        Attr(self.attrs.intern_owned(data))
    }

    fn as_plain_ints(&self, items: &[Attr]) -> Option<Box<[i64]>> {
        items
            .iter()
            .map(|&item| match *self.attr_data(item) {
                AttrData::Int { value, ty: Type::I64 } => i64::try_from(value).ok(),
                _ => None,
            })
            .collect()
    }

    /// The data of an attribute.
    #[inline]
    pub fn attr_data(&self, attr: Attr) -> &AttrData {
        self.attrs.get(attr.0)
    }

    /// Interns a dictionary; the order of the entries is kept.
    pub fn dict(&self, entries: &[(Sym, Attr)]) -> AttrDict {
        // The first to be interned, and by far the most frequent.
        if entries.is_empty() && self.dicts.len() > 0 {
            return AttrDict::EMPTY;
        }
        AttrDict(self.dicts.intern(entries, || DictData(entries.into())))
    }

    /// The entries of a dictionary, in the order in which they were written.
    #[inline]
    pub fn dict_entries(&self, dict: AttrDict) -> &[(Sym, Attr)] {
        &self.dicts.get(dict.0).0
    }
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context")
            .field("ops", &self.ops.len())
            .finish_non_exhaustive()
    }
}
