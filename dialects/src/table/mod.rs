//! Definitions from the op tables.

pub(crate) mod schema;

use std::sync::Arc;

use pir_ir::{
    AttrData, AttrSpec, ContextBuilder, Definitions, Derivative, DialectDef, Effect, EffectKind, EffectTarget, InferFn,
    MemoryEffects, OpDef, OpView, Presence, RegionSpec, Speculatability, Text, Traits, TypeData, ValueSpec, VerifyFn,
};
use smallvec::SmallVec;

/// The kinds of effects that tables name.
pub(crate) enum Effects {
    None,
    /// Reads an input of the program: kept, and ordered with respect to other inputs.
    Input,
    /// Writes an output of the program.
    Output,
    /// The effects of its regions.
    Regions,
    /// Reads and writes what is not a value of the program: nothing more is known.
    World,
    /// Changes its first operand.
    FirstOperand,
    /// Makes the buffer that it gives.
    MakesBuffer,
    /// Reads buffers.
    ReadsBuffers,
    /// Changes buffers.
    WritesBuffers,
    /// Reads and changes buffers.
    Buffers,
    /// It reads and writes the world if its attribute `has_side_effect` is true.
    Flagged,
    /// An optimizer step: the results replace the parameters and their state, also in the next run of the program.
    Update,
}

/// When an operation may run although the program would not have run it.
pub(crate) enum Speculate {
    Always,
    /// Never: it may fail on some operands.
    Never,
    /// Unless the divisor is zero, if the elements are integers.
    NonzeroDivisor,
    /// Unless the dimension is not one of its first operand.
    KnownDimension,
}

/// An entry of a table.
pub(crate) struct Row {
    pub(crate) op: &'static str,
    /// Whether the types of its results are as written.
    pub(crate) written: bool,
    pub(crate) family: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) doc: &'static str,
    pub(crate) example: &'static str,
    pub(crate) operands: &'static [ValueSpec],
    pub(crate) attrs: &'static [AttrSpec],
    pub(crate) outputs: &'static [ValueSpec],
    pub(crate) infer: Option<InferFn>,
    pub(crate) verify: Option<VerifyFn>,
    /// The words in front of its regions, and whether there may be any number.
    pub(crate) regions: &'static [(&'static [&'static str], bool)],
    pub(crate) traits: Traits,
    pub(crate) effects: Effects,
    pub(crate) speculate: Speculate,
    /// The operands that the results depend on differentiably; `None` if the derivative is refused.
    pub(crate) derivative: Option<&'static [Text]>,
    pub(crate) backward: Option<&'static str>,
    pub(crate) no_need_buffer: &'static [Text],
    /// Its semantics, as a program, and its derivative; see [`crate::user`].
    pub(crate) computes: Option<&'static str>,
    pub(crate) vjp: Option<&'static str>,
    /// The forms of the types of the results.
    pub(crate) forms: &'static [Option<&'static str>],
    /// The format of MLIR's custom assembly.
    pub(crate) assembly: Option<&'static str>,
}

/// The rows of a dialect.
#[derive(Clone, Copy)]
pub(crate) struct Rows {
    /// In the order of the files.
    pub(crate) all: &'static [Row],
    /// The names with the places of the rows, sorted. A name is looked up here, so that other rows are not read, nor their pages loaded.
    pub(crate) by_name: &'static [(&'static str, u16)],
}

/// Registers a dialect with the operations of its rows; `complete` adds to the definition that a row declares.
pub(crate) fn register(builder: &mut ContextBuilder, dialect: DialectDef, rows: Rows, complete: fn(&mut OpDef, &Row)) {
    builder.register_table(dialect, Arc::new(Table { rows, complete }));
}

struct Table {
    rows: Rows,
    complete: fn(&mut OpDef, &Row),
}

impl Definitions for Table {
    fn count(&self) -> usize {
        self.rows.all.len()
    }

    fn name(&self, index: usize) -> &str {
        self.rows.all[index].op
    }

    fn find(&self, name: &str) -> Option<usize> {
        let place = self.rows.by_name.binary_search_by_key(&name, |&(name, _)| name).ok()?;
        Some(usize::from(self.rows.by_name[place].1))
    }

    fn traits(&self, index: usize) -> Traits {
        self.rows.all[index].traits()
    }

    fn define(&self, index: usize) -> OpDef {
        let row = &self.rows.all[index];
        let mut def = definition(row);
        (self.complete)(&mut def, row);
        def
    }
}

impl Row {
    /// The traits that are declared, and those that follow from others of its fields.
    fn traits(&self) -> Traits {
        match self.effects {
            Effects::Regions => self.traits | Traits::RECURSIVE_EFFECTS,
            _ => self.traits,
        }
    }
}

/// The definition that a row declares.
fn definition(row: &Row) -> OpDef {
    let mut def = OpDef::new(row.op, row.summary);
    def.description = row.doc.into();
    def.example = row.example.into();
    def.traits = row.traits();
    def.operands = row.operands.into();
    def.results = row.outputs.into();
    def.attrs = row.attrs.into();
    let regions = row.regions.iter();
    def.regions = regions
        .map(|&(keywords, is_repeated)| region(keywords, is_repeated))
        .collect();
    def.infer = row.infer;
    def.verify = row.verify;
    // The rules of StableHLO are stated in terms of types; where a constant matters, it is an attribute.
    def.verifies_types = crate::stablehlo::has_name(row.op);
    def.derivative = match row.derivative {
        None => Derivative::Undeclared,
        Some([]) => Derivative::None,
        Some(operands) => Derivative::Operands(operands.into()),
    };
    def.backward = row.backward.map(Into::into);
    def.no_need_buffer = row.no_need_buffer.into();
    match row.effects {
        Effects::None | Effects::Regions => def.effects = MemoryEffects::None,
        Effects::World => {
            def.effects = MemoryEffects::Declared(|_| world(&[EffectKind::Read, EffectKind::Write]));
        }
        Effects::Flagged => {
            def.effects = MemoryEffects::Declared(|op| match op.bool("has_side_effect") {
                Some(false) | None => SmallVec::new(),
                Some(true) => world(&[EffectKind::Read, EffectKind::Write]),
            });
        }
        Effects::MakesBuffer => {
            def.effects = MemoryEffects::Declared(|_| {
                let (kind, target) = (EffectKind::Alloc, EffectTarget::Result(0));
                smallvec::smallvec![Effect { kind, target }]
            });
        }
        Effects::ReadsBuffers => def.effects = MemoryEffects::Declared(|_| memory(&[EffectKind::Read])),
        Effects::WritesBuffers => def.effects = MemoryEffects::Declared(|_| memory(&[EffectKind::Write])),
        Effects::Buffers => {
            def.effects = MemoryEffects::Declared(|_| memory(&[EffectKind::Read, EffectKind::Write]));
        }
        Effects::Input => def.effects = MemoryEffects::Declared(|_| world(&[EffectKind::Read])),
        // Parameters persist between runs.
        Effects::Update | Effects::Output => def.effects = MemoryEffects::Declared(|_| world(&[EffectKind::Write])),
        Effects::FirstOperand => {
            def.effects = MemoryEffects::Declared(|_| {
                let target = EffectTarget::Operand(0);
                let effect = |kind| Effect { kind, target };
                [EffectKind::Read, EffectKind::Write].map(effect).into_iter().collect()
            });
        }
    }
    def.speculatable = match row.speculate {
        Speculate::Always => |_| Speculatability::Always,
        Speculate::Never => |_| Speculatability::Never,
        Speculate::NonzeroDivisor => nonzero_divisor,
        Speculate::KnownDimension => known_dimension,
    };
    if row.computes.is_some() || row.vjp.is_some() || row.forms.iter().any(Option::is_some) {
        crate::user::attach_row(&mut def, row.computes, row.vjp, row.forms);
    }
    def
}

fn region(keywords: &'static [&'static str], is_repeated: bool) -> RegionSpec {
    RegionSpec {
        keywords,
        presence: if is_repeated {
            Presence::Repeated
        } else {
            Presence::Required
        },
        bare: false,
    }
}

fn world(kinds: &[EffectKind]) -> SmallVec<[Effect; 2]> {
    of_shared(EffectTarget::World, kinds)
}

fn memory(kinds: &[EffectKind]) -> SmallVec<[Effect; 2]> {
    of_shared(EffectTarget::Memory, kinds)
}

fn of_shared(target: EffectTarget, kinds: &[EffectKind]) -> SmallVec<[Effect; 2]> {
    kinds.iter().map(|&kind| Effect { kind, target }).collect()
}

/// The extent of a dimension may be asked for if it is a constant, and there is such a dimension.
fn known_dimension(op: OpView<'_>) -> Speculatability {
    let rank = op
        .operand(0)
        .and_then(|of| match op.ctx.type_data(op.body.value_type(of)) {
            TypeData::Tensor { shape, .. } | TypeData::EncodedTensor { shape, .. } => Some(shape.len()),
            TypeData::MemRef { shape, .. } => shape.as_ref().map(|shape| shape.len()),
            _ => None,
        });
    let at = op.operand(1).and_then(|at| op.body.constant_int(op.ctx, at));
    let is_there = rank
        .zip(at)
        .is_some_and(|(rank, at)| usize::try_from(at).is_ok_and(|at| at < rank));
    match is_there {
        true => Speculatability::Always,
        false => Speculatability::Never,
    }
}

/// Division of floats is total; division of integers only by a constant that is not zero.
fn nonzero_divisor(op: OpView<'_>) -> Speculatability {
    let Some(divisor) = op.operand(1) else {
        return Speculatability::Never;
    };
    if op.ctx.is_continuous(op.body.value_type(divisor)) {
        return Speculatability::Always;
    }
    let constant = op
        .body
        .defining_op(divisor)
        .map(|d| op.body.view(op.ctx, d))
        .filter(|d| d.has(Traits::CONSTANT));
    // Minus one is excluded too: negating the smallest integer overflows.
    match constant.and_then(|c| c.attr("value")).map(|v| op.ctx.attr_data(v)) {
        Some(AttrData::Int { value, .. }) if *value != 0 && *value != -1 => Speculatability::Always,
        Some(AttrData::Ints(values)) if values.iter().all(|&v| v != 0 && v != -1) => Speculatability::Always,
        _ => Speculatability::Never,
    }
}
