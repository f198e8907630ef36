//! The builder that collects dialects for a context.

use std::any::{Any, TypeId};
use std::sync::{Arc, OnceLock, Weak};

use super::ops::{Definitions, OpTable};
use super::{Context, Extensions, SemanticsTable};
use crate::arithmetic::{Arithmetic, Registered, Structured};
use crate::constraints::{ConstraintTable, Constraints};
use crate::declare::Text;
use crate::entity::Sym;
use crate::float_kind::FloatKind;
use crate::intern::{Interner, StrInterner};
use crate::marks::Mark;
use crate::names::Stems;
use crate::ods::{OdsRows, OdsTable};
use crate::patterns::{Pattern, PatternSet};
use crate::registry::{DialectDef, MaterializeFn, OpDef};
use crate::semantics::Semantics;
use crate::type_def::DeclaredTypes;
use crate::types::{Signedness, TypeData};

/// Collects dialects; [`ContextBuilder::build`] freezes them into a [`Context`].
pub struct ContextBuilder {
    ops: OpTable,
    dialects: Vec<DialectDef>,
    marks: Vec<Mark>,
    external: Vec<Text>,
    aliases: Vec<(Text, Text)>,
    patterns: PatternSet,
    extensions: Extensions,
    list_type: Text,
    constants: Vec<(Text, MaterializeFn)>,
    semantics: SemanticsTable,
}

impl ContextBuilder {
    /// A builder without dialects.
    pub fn new() -> Self {
        Self {
            ops: OpTable::default(),
            dialects: Vec::new(),
            marks: Vec::new(),
            external: Vec::new(),
            aliases: Vec::new(),
            patterns: PatternSet::default(),
            extensions: Extensions::default(),
            list_type: "list".into(),
            constants: Vec::new(),
            semantics: SemanticsTable::default(),
        }
    }

    /// Registers the semantics of an operation that has no definition, like those of dialects of which only the text is
    /// known. Passes may use its expansion instead.
    pub fn register_semantics(&mut self, op: impl Into<Text>, semantics: Arc<dyn Semantics>) -> &mut Self {
        self.semantics.insert(op.into(), semantics);
        self
    }

    /// Adds what MLIR declares of the text of the operations of a dialect.
    pub fn register_ods(&mut self, rows: OdsRows) -> &mut Self {
        self.extension::<OdsTable>().add(rows);
        self
    }

    /// Adds a dialect and its operations.
    pub fn register(&mut self, dialect: DialectDef, ops: impl IntoIterator<Item = OpDef>) -> &mut Self {
        self.dialects.push(dialect);
        self.register_ops(ops)
    }

    /// Adds operations of a dialect that is registered.
    pub fn register_ops(&mut self, ops: impl IntoIterator<Item = OpDef>) -> &mut Self {
        ops.into_iter().for_each(|def| self.ops.add(def));
        self
    }

    /// Adds a dialect whose operations are in a table.
    pub fn register_table(&mut self, dialect: DialectDef, table: Arc<dyn Definitions>) -> &mut Self {
        self.ops.add_table(&dialect.name, table);
        self.dialects.push(dialect);
        self
    }

    /// The dialects registered so far.
    pub fn dialects(&self) -> impl Iterator<Item = &DialectDef> {
        self.dialects.iter()
    }

    /// Adds a pattern for operations called `root`; see [`PatternSet`].
    pub fn register_pattern(&mut self, root: impl Into<Text>, benefit: u32, pattern: Arc<dyn Pattern>) -> &mut Self {
        self.patterns.add(root, benefit, pattern);
        self
    }

    /// Adds patterns by a function, which is called when patterns are first asked for.
    pub fn register_patterns(&mut self, add: fn(&mut PatternSet)) -> &mut Self {
        self.patterns.add_later(add);
        self
    }

    /// Data that another crate keeps about the operations of a context, by its type: kernels, gradient rules. What it is as long as nothing
    /// has requested it is its default.
    pub fn extension<T: Any + Default + Send + Sync>(&mut self) -> &mut T {
        let entry = self.extensions.entry(TypeId::of::<T>());
        let extension = entry.or_insert_with(|| Box::<T>::default());
        extension.downcast_mut().expect("it is kept under its type")
    }

    /// Registers the constraints of a dialect on its operations, types and attributes, in addition to their
    /// definitions.
    pub fn constrain(&mut self, dialect: impl Into<Text>, constraints: Arc<dyn Constraints>) -> &mut Self {
        self.extension::<ConstraintTable>().insert(dialect.into(), constraints);
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

    /// Adds a way to materialize constants where an operation of the dialect is replaced with one. The ways of the dialect are tried in
    /// this order, then those of the others.
    pub fn register_constants(&mut self, dialect: impl Into<Text>, make: MaterializeFn) -> &mut Self {
        self.constants.push((dialect.into(), make));
        self
    }

    /// Adds arithmetic on values of some types.
    pub fn register_arithmetic(&mut self, arithmetic: &'static dyn Arithmetic) -> &mut Self {
        self.extension::<Registered>().arithmetic.push(arithmetic);
        self
    }

    /// Registers the operations with which loops and branches are built.
    pub fn register_structured(&mut self, structured: Structured) -> &mut Self {
        self.extension::<Registered>().structured = Some(structured);
        self
    }

    /// The context with the dialects registered so far. A later operation of the same name replaces an earlier one.
    pub fn build(mut self) -> Arc<Context> {
        let ods_table = std::mem::take(self.extension::<OdsTable>());
        let mut context = Context {
            syms: StrInterner::new(),
            stems: Stems::new(),
            types: Interner::new(),
            attrs: Interner::new(),
            dicts: Interner::new(),
            ops: self.ops,
            shared: Weak::new(),
            marks: self.marks,
            external: self.external,
            aliases: Vec::new(),
            extensions: self.extensions,
            pattern_set: self.patterns,
            patterns: OnceLock::new(),
            list_type: self.list_type,
            constants: self.constants,
            declared_types: DeclaredTypes::new(
                self.dialects
                    .iter()
                    .flat_map(|dialect| dialect.types.iter().cloned())
                    .collect(),
            ),
            semantics: self.semantics,
            ods_table,
            dialects: self.dialects.into_iter().map(|d| (d.name.clone(), d)).collect(),
        };
        context.dict(&[]);
        let absent = context.sym("absent_operands");
        debug_assert_eq!(absent, Sym::ABSENT_OPERANDS);
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
        let aliases = self.aliases.into_iter();
        let aliases = aliases.map(|(alias, op)| (alias, context.op_name(&op))).collect();
        context.ops.composites |= !context.semantics.is_empty();
        Arc::new_cyclic(|shared| Context {
            aliases,
            shared: shared.clone(),
            ..context
        })
    }
}

impl Default for ContextBuilder {
    fn default() -> Self {
        Self::new()
    }
}
