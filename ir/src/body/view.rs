//! An operation with all that is needed to ask about it.

use std::ops::Range;

use smallvec::SmallVec;

use super::Body;
use crate::context::{Context, Places};
use crate::declare::{
    Arity, Dependence, Derivative, Effect, EffectKind, EffectTarget, Speculatability, Traits, ValueSpec, shared_effects,
};
use crate::entity::{OpId, Sym, ValueId};
use crate::registry::{InferArgs, MemoryEffects, OpDef};
use crate::semantics::Semantics;
use crate::types::{Attr, AttrDict, Type, TypeData};

/// An operation with its body and context: what verifiers, folds and interfaces look at.
#[derive(Clone, Copy)]
pub struct OpView<'a> {
    /// The context.
    pub ctx: &'a Context,
    /// The body.
    pub body: &'a Body,
    /// The operation.
    pub op: OpId,
}

/// For each declared operand, which of the operands of these types it is: none of an optional one that is absent, several of
/// a list that is not given as one value.
pub fn operand_ranges(
    ctx: &Context,
    specs: &[ValueSpec],
    types: &[Type],
    attrs: AttrDict,
) -> SmallVec<[Range<usize>; 6]> {
    let absent = ctx
        .dict_get_sym(attrs, Sym::ABSENT_OPERANDS)
        .and_then(|attr| ctx.attr_ints(attr));
    let absent = absent.unwrap_or_default();
    let is_absent = |place: usize| absent.contains(&(place as i64));
    let mut at = 0;
    let range = |(place, spec): (usize, &ValueSpec)| {
        let needed = (place + 1..specs.len()).filter(|&p| specs[p].arity == Arity::One && !is_absent(p));
        let left = types.len().saturating_sub(at + needed.count());
        let is_list = || {
            types
                .get(at)
                .is_some_and(|&ty| matches!(ctx.type_data(ty), TypeData::List(_)))
        };
        let count = match spec.arity {
            _ if is_absent(place) => 0,
            Arity::One => 1,
            Arity::Optional => usize::from(left > 0 && ctx.dict_get(attrs, &spec.name).is_none()),
            Arity::Variadic if is_list() => 1,
            Arity::Variadic => left,
        };
        at += count;
        at - count..at
    };
    specs.iter().enumerate().map(range).collect()
}

impl<'a> OpView<'a> {
    /// `dialect.op`.
    pub fn name(&self) -> &'a str {
        self.ctx.op_str(self.body.op_name(self.op))
    }

    /// The definition, if the operation is registered.
    #[inline]
    pub fn def(&self) -> Option<&'a OpDef> {
        self.ctx.op_def(self.body.op_name(self.op))
    }

    /// Its semantics and derivative, if they are defined by programs.
    pub fn semantics(&self) -> Option<&'a dyn Semantics> {
        self.ctx.semantics(self.body.op_name(self.op))
    }

    /// Whether other operations can take its place.
    pub fn is_composite(&self) -> bool {
        self.semantics().is_some_and(|semantics| semantics.expands(*self))
    }

    /// Whether the operation is registered and has the traits.
    #[inline]
    pub fn has(&self, traits: Traits) -> bool {
        self.def().is_some_and(|d| d.has(traits))
    }

    /// The operand at `index`, if present.
    #[inline]
    pub fn operand(&self, index: usize) -> Option<ValueId> {
        self.body.get_operand(self.op, index)
    }

    /// The type of the operand at `index`, if present.
    pub fn operand_type(&self, index: usize) -> Option<Type> {
        self.operand(index).map(|v| self.body.value_type(v))
    }

    /// The type of the result at `index`, if present.
    pub fn result_type(&self, index: usize) -> Option<Type> {
        self.body.get_result(self.op, index).map(|v| self.body.value_type(v))
    }

    /// The attribute called `name`.
    pub fn attr(&self, name: &str) -> Option<Attr> {
        self.body.attr(self.ctx, self.op, name)
    }

    /// The integer attribute called `name`.
    pub fn int(&self, name: &str) -> Option<i64> {
        self.attr(name).and_then(|a| self.ctx.attr_int(a))
    }

    /// The numeric attribute called `name`.
    pub fn f64(&self, name: &str) -> Option<f64> {
        self.attr(name).and_then(|a| self.ctx.attr_f64(a))
    }

    /// The truth value called `name`.
    pub fn bool(&self, name: &str) -> Option<bool> {
        self.attr(name).and_then(|a| self.ctx.attr_bool(a))
    }

    /// The list of integers called `name`.
    pub fn ints(&self, name: &str) -> Option<&'a [i64]> {
        self.attr(name).and_then(|a| self.ctx.attr_ints(a))
    }

    /// The string called `name`.
    pub fn str(&self, name: &str) -> Option<&'a str> {
        self.attr(name).and_then(|a| self.ctx.attr_str(a))
    }

    /// The type called `name`.
    pub fn ty(&self, name: &str) -> Option<Type> {
        self.attr(name).and_then(|a| self.ctx.attr_type(a))
    }

    /// Whether nothing is known of the operation's effects: it is not registered, or its definition does not declare them,
    /// or it calls a function that such an operation may be in. It may read and write whatever its operands, what the
    /// operations in its regions use, and the aliases of these hold, and the world; its results may be aliases too.
    #[inline]
    pub fn has_unknown_effects(&self) -> bool {
        match self.declared_effects() {
            MemoryEffects::Undeclared => true,
            MemoryEffects::None | MemoryEffects::Declared(_) => false,
            MemoryEffects::OfCallee => self.ctx.has_undeclared_effects(),
        }
    }

    /// The effects that the definition of the operation declares, or the row of its dialect if it has none.
    #[inline]
    pub fn declared_effects(&self) -> MemoryEffects {
        match self.def() {
            Some(def) => def.effects,
            None => self.effects_of_row(),
        }
    }

    #[cold]
    fn effects_of_row(&self) -> MemoryEffects {
        let row = self.ctx.ods(self.body.op_name(self.op)).and_then(|ods| ods.row().ok());
        row.map_or(MemoryEffects::Undeclared, |row| row.effects)
    }

    /// Whether the operation itself is declared to have no effects. Faster than listing them.
    #[inline]
    pub fn has_no_effects(&self) -> bool {
        matches!(self.declared_effects(), MemoryEffects::None)
    }

    /// The type of the first operand or result that holds complex numbers, be it in a list.
    pub fn complex_type(&self) -> Option<Type> {
        let values = self.body.operands(self.op).chain(self.body.results(self.op));
        // Types mostly come several times in a row.
        let mut before = None;
        let mut types = values.map(|value| self.body.value_type(value));
        types.find(|&ty| {
            before.replace(ty) != Some(ty)
                && match self.ctx.type_data(ty) {
                    TypeData::List(items) => items.iter().any(|&ty| self.ctx.is_complex(ty)),
                    _ => self.ctx.is_complex(ty),
                }
        })
    }

    /// The operation's own effects; of one that does not declare them, reads and writes of the world, of buffers and of all operands,
    /// and writes of all results. Those of nested operations are not included: see [`Traits::RECURSIVE_EFFECTS`].
    pub fn own_effects(&self) -> SmallVec<[Effect; 2]> {
        match self.declared_effects() {
            MemoryEffects::None => return SmallVec::new(),
            MemoryEffects::Declared(effects) => return effects(*self),
            MemoryEffects::Undeclared | MemoryEffects::OfCallee => {}
        }
        let effect = |kind, target| Effect { kind, target };
        let both = |target| [EffectKind::Read, EffectKind::Write].map(|kind| effect(kind, target));
        let mut all: SmallVec<[Effect; 2]> = shared_effects().collect();
        if self.has_unknown_effects() {
            all.extend((0..self.body.num_operands(self.op)).flat_map(|at| both(EffectTarget::Operand(at))));
            all.extend(
                (0..self.body.num_results(self.op)).map(|at| effect(EffectKind::Write, EffectTarget::Result(at))),
            );
        }
        all
    }

    /// Whether the operation may run when the program would not have run it, regions not looked into.
    pub fn speculatability(&self) -> Speculatability {
        match self.def() {
            Some(def) if !self.has_unknown_effects() => (def.speculatable)(*self),
            None if self.has_no_effects() => Speculatability::Always,
            _ => Speculatability::Never,
        }
    }

    /// Which of the declared operands the operand at `index` is: optional ones may be absent, and one that replaces an
    /// attribute is there only if the attribute is not.
    pub fn declared_operand(&self, index: usize) -> Option<usize> {
        let specs = &*self.def()?.operands;
        if specs.len() == 1 && index < self.body.num_operands(self.op) {
            return Some(0);
        }
        let attrs = self.body.attrs(self.op);
        if index < self.num_leading(self.ctx.places(self.body.op_name(self.op))?) {
            return Some(index);
        }
        let types: SmallVec<[Type; 6]> = self.body.operands(self.op).map(|v| self.body.value_type(v)).collect();
        let ranges = operand_ranges(self.ctx, specs, &types, attrs);
        ranges.iter().position(|range| range.contains(&index))
    }

    /// How many operands, from the first on, are the declared ones of the same index.
    #[inline]
    fn num_leading(&self, places: Places) -> usize {
        match self.ctx.may_lack_operands(self.body.attrs(self.op)) {
            true => 0,
            false => places.leading.min(self.body.num_operands(self.op)),
        }
    }

    /// The index of the first operand that is declared at `place`.
    pub fn operand_declared_at(&self, place: usize) -> Option<usize> {
        let places = self.ctx.places(self.body.op_name(self.op))?;
        if place < self.num_leading(places) {
            return Some(place);
        }
        (0..self.body.num_operands(self.op)).find(|&index| self.declared_operand(index) == Some(place))
    }

    /// The operand that the definition calls `name`, if it is given as one.
    pub fn operand_called(&self, name: &str) -> Option<usize> {
        let place = self.def()?.operands.iter().position(|spec| spec.name == name)?;
        self.operand_declared_at(place)
    }

    /// How the results depend on the operand at `index`, by what the definition declares.
    pub fn dependence(&self, index: usize) -> Dependence {
        let Some((def, places)) = self.ctx.def_and_places(self.body.op_name(self.op)) else {
            return Dependence::Undeclared;
        };
        match &def.derivative {
            Derivative::Undeclared => Dependence::Undeclared,
            Derivative::None => Dependence::Constant,
            Derivative::Operands(_) => {
                let is_leading = index < self.num_leading(places);
                match is_leading.then_some(index).or_else(|| self.declared_operand(index)) {
                    None => Dependence::Undeclared,
                    Some(place) if places.is_differentiable(def, place) => Dependence::Differentiable,
                    Some(_) => Dependence::Constant,
                }
            }
        }
    }

    /// The arguments for the inference functions of the definition.
    pub fn with_infer_args<R>(&self, f: impl FnOnce(InferArgs<'_>) -> R) -> Option<R> {
        let def = self.def()?;
        let count = self.body.num_operands(self.op);
        let mut few = [ValueId::new(0); 4];
        let many: Vec<ValueId>;
        let operands = match few.get_mut(..count) {
            Some(few) => {
                few.iter_mut()
                    .zip(self.body.operands(self.op))
                    .for_each(|(slot, operand)| *slot = operand);
                &*few
            }
            None => {
                many = self.body.operands(self.op).collect();
                &many
            }
        };
        Some(f(InferArgs {
            ctx: self.ctx,
            body: self.body,
            def,
            operands,
            attrs: self.body.attrs(self.op),
            regions: self.body.op_regions(self.op),
        }))
    }
}
