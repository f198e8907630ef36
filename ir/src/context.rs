//! The context: everything that bodies share. Interned types, attributes and names, and the registered dialects.

use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashMap;

use crate::intern::{Interner, StrInterner};
use crate::marks::Mark;
use crate::names::Stems;
use crate::registry::{DialectDef, MemoryEffects, OpDef, Text, Traits};
use crate::types::{Attr, AttrData, AttrDict, DictData, FloatKind, Signedness, Type, TypeData};
use crate::verify::Plan;

/// An interned string: the name of an attribute, a symbol or a block.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Sym(pub(crate) u32);

impl Sym {
    /// The dense index of the string, for tables keyed by symbols.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An interned operation name, `dialect.op`. The default is the first that was registered.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct OpName(pub(crate) u32);

impl OpName {
    /// The dense index of the name; registered operations come first, in the order of registration.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Types that every context interns first, so that their ids are constants.
impl Type {
    /// `i1`, the type of truth values.
    pub const I1: Type = Type(0);
    /// `i8`.
    pub const I8: Type = Type(1);
    /// `i16`.
    pub const I16: Type = Type(2);
    /// `i32`.
    pub const I32: Type = Type(3);
    /// `i64`.
    pub const I64: Type = Type(4);
    /// `ui8`.
    pub const UI8: Type = Type(5);
    /// `f16`.
    pub const F16: Type = Type(6);
    /// `bf16`.
    pub const BF16: Type = Type(7);
    /// `f32`.
    pub const F32: Type = Type(8);
    /// `f64`.
    pub const F64: Type = Type(9);
    /// `index`.
    pub const INDEX: Type = Type(10);
    /// `none`; also the type of a value whose type is not known yet.
    pub const NONE: Type = Type(11);

    /// The dense index of the type, for tables keyed by types.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl AttrDict {
    /// The dictionary without entries.
    pub const EMPTY: AttrDict = AttrDict(0);
}

/// Collects dialects; [`ContextBuilder::build`] freezes them into a [`Context`].
pub struct ContextBuilder {
    ops: Vec<OpDef>,
    dialects: Vec<DialectDef>,
    marks: Vec<Mark>,
    external: Vec<Text>,
}

impl ContextBuilder {
    /// A builder without dialects.
    pub fn new() -> Self {
        Self {
            ops: Vec::new(),
            dialects: Vec::new(),
            marks: Vec::new(),
            external: Vec::new(),
        }
    }

    /// Adds a dialect and its operations.
    pub fn register(&mut self, dialect: DialectDef, ops: impl IntoIterator<Item = OpDef>) -> &mut Self {
        self.dialects.push(dialect);
        self.ops.extend(ops);
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
            plans: Vec::new(),
            marks: self.marks,
            external: self.external,
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
        Arc::new(Context {
            ops,
            undeclared,
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
    /// For each of the operations what the verifier asks of it, made when it is first needed.
    plans: Vec<OnceLock<Box<Plan>>>,
    dialects: FxHashMap<Text, DialectDef>,
    marks: Vec<Mark>,
    external: Vec<Text>,
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

    /// What the verifier asks of an operation, `None` if it is not registered.
    #[inline]
    pub(crate) fn plan(&self, name: OpName) -> Option<&Plan> {
        let slot = self.plans.get(name.index())?;
        Some(slot.get_or_init(|| Box::new(Plan::new(self, &self.ops[name.index()]))))
    }

    /// The name of the first registered operation with a trait.
    pub fn op_with(&self, wanted: Traits) -> Option<&str> {
        let def = self.ops.iter().find(|def| def.has(wanted))?;
        Some(&def.name)
    }

    /// All registered operations, in the order of registration.
    pub fn ops(&self) -> &[OpDef] {
        &self.ops
    }

    /// All registered marks of the tools, in the order of registration.
    pub fn marks(&self) -> &[Mark] {
        &self.marks
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

    /// What a type stands for.
    #[inline]
    pub fn type_data(&self, ty: Type) -> &TypeData {
        self.types.get(ty.0)
    }

    /// `tensor<shape x elem>`.
    pub fn tensor(&self, shape: &[i64], elem: Type) -> Type {
        self.intern_type(TypeData::Tensor {
            shape: shape.into(),
            elem,
        })
    }

    /// `(inputs) -> (results)`.
    pub fn function_type(&self, inputs: &[Type], results: &[Type]) -> Type {
        self.intern_type(TypeData::Function {
            inputs: inputs.into(),
            results: results.into(),
        })
    }

    /// The shape and the element type of a tensor type.
    pub fn as_tensor(&self, ty: Type) -> Option<(&[i64], Type)> {
        match self.type_data(ty) {
            TypeData::Tensor { shape, elem } => Some((shape, *elem)),
            _ => None,
        }
    }

    /// The element type of a tensor, or the type itself.
    pub fn elem_type(&self, ty: Type) -> Type {
        self.as_tensor(ty).map_or(ty, |(_, elem)| elem)
    }

    /// How many bytes an element of the type takes; anything that is no number counts as one of eight.
    pub fn elem_bytes(&self, elem: Type) -> u64 {
        match self.type_data(elem) {
            TypeData::Integer { width, .. } => u64::from(width.div_ceil(8)),
            TypeData::Float(FloatKind::F16 | FloatKind::BF16) => 2,
            TypeData::Float(FloatKind::F32) => 4,
            _ => 8,
        }
    }

    /// Whether values of the type have a derivative: floats and tensors of floats.
    pub fn is_float(&self, ty: Type) -> bool {
        matches!(self.type_data(self.elem_type(ty)), TypeData::Float(_))
    }

    /// Whether values of the type are integers or truth values: numbers, tensors and lists of such, and nothing else.
    pub fn is_discrete(&self, ty: Type) -> bool {
        let one = |ty| {
            let elem = self.type_data(self.elem_type(ty));
            matches!(elem, TypeData::Integer { .. } | TypeData::Index)
        };
        match self.type_data(ty) {
            TypeData::List(items) => items.iter().all(|&item| one(item)),
            _ => one(ty),
        }
    }

    /// Whether all dimensions of a tensor are known; true of anything that is not a tensor.
    pub fn is_static(&self, ty: Type) -> bool {
        self.as_tensor(ty)
            .is_none_or(|(shape, _)| shape.iter().all(|&d| d != DYNAMIC_DIM))
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

    /// What an attribute stands for.
    #[inline]
    pub fn attr_data(&self, attr: Attr) -> &AttrData {
        self.attrs.get(attr.0)
    }

    /// A plain integer, of type `i64`.
    pub fn int_attr(&self, value: i64) -> Attr {
        self.attr(AttrData::Int {
            value: value.into(),
            ty: Type::I64,
        })
    }

    /// A plain floating-point number, of type `f64`.
    pub fn float_attr(&self, value: f64) -> Attr {
        self.attr(AttrData::Float {
            bits: value.to_bits(),
            ty: Type::F64,
        })
    }

    /// A string attribute.
    pub fn str_attr(&self, text: &str) -> Attr {
        self.attr(AttrData::Str(text.into()))
    }

    /// `true` or `false`.
    pub fn bool_attr(&self, value: bool) -> Attr {
        self.attr(AttrData::Bool(value))
    }

    /// A list of integers.
    pub fn ints_attr(&self, values: &[i64]) -> Attr {
        self.attr(AttrData::Ints(values.into()))
    }

    /// A type as an attribute.
    pub fn type_attr(&self, ty: Type) -> Attr {
        self.attr(AttrData::Type(ty))
    }

    /// The integer that an attribute holds: an integer or a truth value.
    pub fn attr_int(&self, attr: Attr) -> Option<i64> {
        match self.attr_data(attr) {
            AttrData::Int { value, .. } => i64::try_from(*value).ok(),
            AttrData::Bool(value) => Some(i64::from(*value)),
            _ => None,
        }
    }

    /// The number that an attribute holds, integers and truth values included.
    pub fn attr_f64(&self, attr: Attr) -> Option<f64> {
        match self.attr_data(attr) {
            AttrData::Float { bits, .. } => Some(f64::from_bits(*bits)),
            AttrData::Int { value, .. } => Some(*value as f64),
            AttrData::Bool(value) => Some(f64::from(u8::from(*value))),
            _ => None,
        }
    }

    /// The truth value that an attribute holds.
    pub fn attr_bool(&self, attr: Attr) -> Option<bool> {
        match self.attr_data(attr) {
            AttrData::Bool(value) => Some(*value),
            AttrData::Int { value, .. } => Some(*value != 0),
            _ => None,
        }
    }

    /// The text of a string attribute.
    pub fn attr_str(&self, attr: Attr) -> Option<&str> {
        match self.attr_data(attr) {
            AttrData::Str(text) => Some(text),
            _ => None,
        }
    }

    /// The integers of a list attribute.
    pub fn attr_ints(&self, attr: Attr) -> Option<&[i64]> {
        match self.attr_data(attr) {
            AttrData::Ints(values) => Some(values),
            _ => None,
        }
    }

    /// The type that an attribute holds.
    pub fn attr_type(&self, attr: Attr) -> Option<Type> {
        match self.attr_data(attr) {
            AttrData::Type(ty) => Some(*ty),
            _ => None,
        }
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

    /// The same entries sorted by name: equal for dictionaries that differ in order only.
    pub fn dict_sorted(&self, dict: AttrDict) -> AttrDict {
        let entries = self.dict_entries(dict);
        if entries.len() < 2 || entries.is_sorted_by_key(|&(name, _)| self.str(name)) {
            return dict;
        }
        let mut sorted = entries.to_vec();
        sorted.sort_by_key(|&(name, _)| self.str(name));
        self.dict(&sorted)
    }

    /// The entry called `name`.
    pub fn dict_get(&self, dict: AttrDict, name: &str) -> Option<Attr> {
        self.dict_entries(dict)
            .iter()
            .find(|&&(n, _)| self.str(n) == name)
            .map(|&(_, attr)| attr)
    }

    /// The dictionary with `name` set to `value`, at its old place or at the end.
    pub fn dict_with(&self, dict: AttrDict, name: &str, value: Attr) -> AttrDict {
        let name = self.sym(name);
        let mut entries = self.dict_entries(dict).to_vec();
        match entries.iter_mut().find(|(n, _)| *n == name) {
            Some(entry) => entry.1 = value,
            None => entries.push((name, value)),
        }
        self.dict(&entries)
    }

    /// The dictionary without `name`.
    pub fn dict_without(&self, dict: AttrDict, name: &str) -> AttrDict {
        let entries: Vec<_> = self
            .dict_entries(dict)
            .iter()
            .copied()
            .filter(|&(n, _)| self.str(n) != name)
            .collect();
        self.dict(&entries)
    }
}

const DYNAMIC_DIM: i64 = crate::types::DYNAMIC;

impl std::borrow::Borrow<[(Sym, Attr)]> for DictData {
    fn borrow(&self) -> &[(Sym, Attr)] {
        &self.0
    }
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context")
            .field("ops", &self.ops.len())
            .finish_non_exhaustive()
    }
}
