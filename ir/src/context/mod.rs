//! The context: everything that bodies share. Interned types, attributes and names, and the registered dialects.

mod attrs;
mod marks;
mod names;
mod types;

use std::any::{Any, TypeId};
use std::sync::{Arc, OnceLock, Weak};

use rustc_hash::FxHashMap;

use crate::arithmetic::{Arithmetic, Structured};
use crate::constraints::Constraints;
use crate::declare::{Text, Traits};
use crate::entity::{OpName, Sym};
use crate::float_kind::FloatKind;
use crate::intern::{Interner, StrInterner};
use crate::marks::Mark;
use crate::names::Stems;
use crate::ods::{Ods, OdsRows, OdsTable};
use crate::patterns::{Pattern, PatternSet, Patterns};
use crate::plan::Plan;
use crate::registry::{DialectDef, MemoryEffects, OpDef};
use types::DeclaredTypes;

use crate::semantics::Semantics;
use crate::types::{Attr, AttrData, AttrDict, DictData, Signedness, Type, TypeData};

type SemanticsTable = FxHashMap<Text, Arc<dyn Semantics>>;
type Extensions = FxHashMap<TypeId, Box<dyn Any + Send + Sync>>;

/// Collects dialects; [`ContextBuilder::build`] freezes them into a [`Context`].
pub struct ContextBuilder {
    ops: Vec<OpDef>,
    dialects: Vec<DialectDef>,
    marks: Vec<Mark>,
    external: Vec<Text>,
    aliases: Vec<(Text, Text)>,
    patterns: PatternSet,
    extensions: Extensions,
    constraints: FxHashMap<Text, Arc<dyn Constraints>>,
    list_type: Text,
    arithmetic: Vec<&'static dyn Arithmetic>,
    structured: Option<Structured>,
    ods: OdsTable,
    semantics: SemanticsTable,
}

impl ContextBuilder {
    /// A builder without dialects.
    pub fn new() -> Self {
        Self {
            ops: Vec::new(),
            dialects: Vec::new(),
            marks: Vec::new(),
            external: Vec::new(),
            aliases: Vec::new(),
            patterns: PatternSet::default(),
            extensions: Extensions::default(),
            constraints: FxHashMap::default(),
            list_type: "list".into(),
            arithmetic: Vec::new(),
            structured: None,
            ods: OdsTable::default(),
            semantics: SemanticsTable::default(),
        }
    }

    /// Says what an operation computes of which nothing else is known: one that has no definition, as those of dialects have of which
    /// only the text is known. Whoever looks at it may take what it expands to instead.
    pub fn register_semantics(&mut self, op: impl Into<Text>, semantics: Arc<dyn Semantics>) -> &mut Self {
        self.semantics.insert(op.into(), semantics);
        self
    }

    /// Adds what MLIR declares of the text of the operations of a dialect.
    pub fn register_ods(&mut self, rows: OdsRows) -> &mut Self {
        crate::ods::add(&mut self.ods, rows);
        self
    }

    /// Adds a dialect and its operations.
    pub fn register(&mut self, dialect: DialectDef, ops: impl IntoIterator<Item = OpDef>) -> &mut Self {
        self.dialects.push(dialect);
        self.ops.extend(ops);
        self
    }

    /// The dialects registered so far.
    pub fn dialects(&self) -> impl Iterator<Item = &DialectDef> {
        self.dialects.iter()
    }

    /// The operations registered so far.
    pub fn ops(&self) -> &[OpDef] {
        &self.ops
    }

    /// Adds a pattern for operations called `root`; see [`PatternSet`].
    pub fn register_pattern(&mut self, root: impl Into<Text>, benefit: u32, pattern: Arc<dyn Pattern>) -> &mut Self {
        self.patterns.add(root, benefit, pattern);
        self
    }

    /// What another crate keeps of the operations of a context, under its type: kernels, gradient rules. What it is as long as
    /// nothing has requested it is its default.
    pub fn extension<T: Any + Default + Send + Sync>(&mut self) -> &mut T {
        let entry = self.extensions.entry(TypeId::of::<T>());
        let extension = entry.or_insert_with(|| Box::<T>::default());
        extension.downcast_mut().expect("it is kept under its type")
    }

    /// Says what a dialect demands of its operations, types and attributes beyond their definitions.
    pub fn constrain(&mut self, dialect: impl Into<Text>, constraints: Arc<dyn Constraints>) -> &mut Self {
        self.constraints.insert(dialect.into(), constraints);
        self
    }

    /// Adds marks of the tools.
    pub fn register_marks(&mut self, marks: impl IntoIterator<Item = Mark>) -> &mut Self {
        self.marks.extend(marks);
        self
    }

    /// Says that these dialects of other tools have a custom assembly that is not read here.
    pub fn register_external(&mut self, dialects: impl IntoIterator<Item = Text>) -> &mut Self {
        self.external.extend(dialects);
        self
    }

    /// Lets the operation `op` be written `alias` as well, in the pretty form; it is printed by its own name.
    pub fn register_alias(&mut self, alias: impl Into<Text>, op: impl Into<Text>) -> &mut Self {
        self.aliases.push((alias.into(), op.into()));
        self
    }

    /// Names the type of lists in the generic form: `pd.vec` for `!pd.vec<f32, f32>`.
    pub fn register_list_type(&mut self, name: impl Into<Text>) -> &mut Self {
        self.list_type = name.into();
        self
    }

    /// Adds arithmetic on values of some types.
    pub fn register_arithmetic(&mut self, arithmetic: &'static dyn Arithmetic) -> &mut Self {
        self.arithmetic.push(arithmetic);
        self
    }

    /// Says what loops and branches are made of.
    pub fn register_structured(&mut self, structured: Structured) -> &mut Self {
        self.structured = Some(structured);
        self
    }

    /// The context with the dialects registered so far. A later operation of the same name replaces an earlier one.
    pub fn build(self) -> Arc<Context> {
        let context = Context {
            syms: StrInterner::new(),
            stems: Stems::new(),
            types: Interner::new(),
            attrs: Interner::new(),
            dicts: Interner::new(),
            op_names: StrInterner::new(),
            ops: Vec::new(),
            undeclared: false,
            composites: false,
            shared: Weak::new(),
            plans: Vec::new(),
            marks: self.marks,
            external: self.external,
            aliases: Vec::new(),
            patterns: Patterns::default(),
            extensions: self.extensions,
            constraints: self.constraints,
            list_type: self.list_type,
            declared_types: DeclaredTypes::new(&self.dialects),
            arithmetic: self.arithmetic,
            structured: self.structured,
            ods: self.ods,
            semantics: self.semantics,
            has_ods: Vec::new(),
            dialects: self.dialects.into_iter().map(|d| (d.name.clone(), d)).collect(),
        };
        context.dict(&[]);
        for width in [1, 8, 16, 32, 64] {
            context.intern_type(TypeData::Integer {
                width,
                sign: Signedness::Signless,
            });
        }
        context.intern_type(TypeData::Integer {
            width: 8,
            sign: Signedness::Unsigned,
        });
        for kind in [FloatKind::F16, FloatKind::BF16, FloatKind::F32, FloatKind::F64] {
            context.intern_type(TypeData::Float(kind));
        }
        context.intern_type(TypeData::Index);
        context.intern_type(TypeData::None);
        for width in [16, 32, 64] {
            let sign = Signedness::Unsigned;
            context.intern_type(TypeData::Integer { width, sign });
        }
        // In place: definitions are large, and hardly ever is one replaced.
        let mut ops = self.ops;
        let mut kept = 0;
        for at in 0..ops.len() {
            let id = context.op_name(&ops[at].name).index();
            kept += usize::from(id == kept);
            if id != at {
                ops.swap(id, at);
            }
        }
        ops.truncate(kept);
        let plans = ops.iter().map(|_| OnceLock::new()).collect();
        let undeclared = ops.iter().any(|def| matches!(def.effects, MemoryEffects::Undeclared));
        let aliases = self.aliases.into_iter();
        let aliases = aliases.map(|(alias, op)| (alias, context.op_name(&op))).collect();
        let composites = ops.iter().any(OpDef::is_composite) || !context.semantics.is_empty();
        let mut has_ods = vec![false; ops.len()];
        for name in context.ods.keys() {
            let op = context.op_names.find(name).map(OpName);
            if let Some(has) = op.and_then(|op| has_ods.get_mut(op.index())) {
                *has = true;
            }
        }
        let context = Context {
            ops,
            has_ods,
            ..context
        };
        let patterns = self.patterns.by_op(&context);
        Arc::new_cyclic(|shared| Context {
            patterns,
            aliases,
            undeclared,
            composites,
            shared: shared.clone(),
            plans,
            ..context
        })
    }
}

impl Default for ContextBuilder {
    fn default() -> Self {
        Self::new()
    }
}

/// The interned data and the registry of dialects that the bodies of one or more modules share.
///
/// Interning takes a lock, reading does not. Nothing is ever removed.
pub struct Context {
    syms: StrInterner,
    pub(crate) stems: Stems,
    types: Interner<TypeData>,
    attrs: Interner<AttrData>,
    dicts: Interner<DictData>,
    op_names: StrInterner,
    ops: Vec<OpDef>,
    /// Whether the effects of some of them are not declared.
    undeclared: bool,
    /// Whether some of them are composite.
    composites: bool,
    /// The context as modules hold it.
    shared: Weak<Context>,
    /// For each of the operations what the verifier asks of it, made when it is first needed.
    plans: Vec<OnceLock<Box<Plan>>>,
    dialects: FxHashMap<Text, DialectDef>,
    declared_types: DeclaredTypes,
    marks: Vec<Mark>,
    external: Vec<Text>,
    aliases: Vec<(Text, OpName)>,
    patterns: Patterns,
    extensions: Extensions,
    constraints: FxHashMap<Text, Arc<dyn Constraints>>,
    list_type: Text,
    arithmetic: Vec<&'static dyn Arithmetic>,
    /// Of operations without a definition.
    semantics: SemanticsTable,
    ods: OdsTable,
    /// For each registered operation, whether it has a row there.
    has_ods: Vec<bool>,
    structured: Option<Structured>,
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

    /// Interns an operation name; the name need not be registered.
    pub fn op_name(&self, text: &str) -> OpName {
        OpName(self.op_names.intern(text))
    }

    /// The operation name `text` if it is registered.
    pub fn registered_op(&self, text: &str) -> Option<OpName> {
        self.op_names
            .find(text)
            .map(OpName)
            .filter(|n| n.index() < self.ops.len())
    }

    /// The text of an operation name.
    pub fn op_str(&self, name: OpName) -> &str {
        self.op_names.get(name.0)
    }

    /// The definition of an operation, `None` if it is not registered.
    #[inline]
    pub fn op_def(&self, name: OpName) -> Option<&OpDef> {
        self.ops.get(name.index())
    }

    /// Whether there may be operations that do not declare their effects: one is registered, or a name was met that is not.
    /// Hardly any program has some; for the others this is all that has to be asked.
    #[inline]
    pub fn has_undeclared_effects(&self) -> bool {
        self.undeclared || self.op_names.len() > self.ops.len()
    }

    /// What MLIR declares of the text of an operation.
    #[inline]
    pub fn ods(&self, name: OpName) -> Option<&Ods> {
        match self.has_ods.get(name.index()) {
            Some(false) => None,
            // One that is not registered may have a row all the same.
            Some(true) | None => self.ods.get(self.op_str(name)),
        }
    }

    /// What an operation computes and how it is differentiated, if that is given as programs.
    pub fn semantics(&self, name: OpName) -> Option<&dyn Semantics> {
        match self.op_def(name) {
            Some(def) => def.semantics.as_deref(),
            None if self.semantics.is_empty() => None,
            None => self.semantics.get(self.op_str(name)).map(AsRef::as_ref),
        }
    }

    /// What MLIR declares of the text of operations.
    pub fn all_ods(&self) -> impl Iterator<Item = (&str, &Ods)> {
        self.ods.iter().map(|(name, ods)| (&**name, ods))
    }

    /// The name of an operation, if it was met before or is registered.
    pub(crate) fn find_op_name(&self, text: &str) -> Option<OpName> {
        let met = self.op_names.find(text).map(OpName);
        met.or_else(|| self.ods.contains_key(text).then(|| self.op_name(text)))
    }

    /// Whether there is such an operation, be it that only its text is known.
    pub(crate) fn is_known_op(&self, name: &str) -> bool {
        self.registered_op(name).is_some() || self.ods.contains_key(name) || self.semantics.contains_key(name)
    }

    /// What a dialect demands beyond the definitions of its operations.
    pub fn constraints(&self, dialect: &str) -> Option<&dyn Constraints> {
        self.constraints.get(dialect).map(|constraints| &**constraints)
    }

    /// Whether some dialect does.
    pub(crate) fn has_constraints(&self) -> bool {
        !self.constraints.is_empty()
    }

    /// The patterns of the dialects.
    pub fn patterns(&self) -> &Patterns {
        &self.patterns
    }

    /// What was made with [`ContextBuilder::extension`].
    pub fn extension<T: Any>(&self) -> Option<&T> {
        self.extensions.get(&TypeId::of::<T>())?.downcast_ref()
    }

    /// Whether there are operations that others can take the place of. Hardly any program has some.
    #[inline]
    pub fn has_composites(&self) -> bool {
        self.composites
    }

    /// The context as modules hold it; nothing while it is being dropped.
    pub fn shared(&self) -> Option<Arc<Context>> {
        self.shared.upgrade()
    }

    /// Where the verifier keeps what it asks of an operation, `None` if the operation is not registered.
    #[inline]
    pub(crate) fn plan(&self, name: OpName) -> Option<&OnceLock<Box<Plan>>> {
        self.plans.get(name.index())
    }

    /// The name of the first registered operation with a trait.
    pub fn op_with(&self, wanted: Traits) -> Option<&str> {
        let def = self.ops.iter().find(|def| def.has(wanted))?;
        Some(&def.name)
    }

    /// The arithmetic on values of a type.
    pub fn arithmetic(&self, ty: Type) -> Option<&'static dyn Arithmetic> {
        self.arithmetic.iter().copied().find(|a| a.is_for(self, ty))
    }

    /// What loops and branches are made of.
    pub fn structured(&self) -> Option<Structured> {
        self.structured
    }

    /// All registered operations, in the order of registration.
    pub fn ops(&self) -> &[OpDef] {
        &self.ops
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

    /// What a type denotes.
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

    /// What an attribute denotes.
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
