//! The checks of the operations of a definition.

use crate::context::Context;
use crate::declare::{Arity, Presence, Traits, ValueSpec};
use crate::entity::OpName;
use crate::plan::{AttrKind, AttrPlan, Plan};
use crate::registry::OpDef;

/// The checks of an operation, `None` if it is not registered.
#[inline]
pub(crate) fn plan(ctx: &Context, name: OpName) -> Option<&Plan> {
    let slot = ctx.plan(name)?;
    match slot.get() {
        Some(plan) => Some(plan),
        None => {
            let def = ctx.op_def(name)?;
            Some(slot.get_or_init(|| Box::new(Plan::new(ctx, def))))
        }
    }
}

impl Plan {
    fn new(ctx: &Context, def: &OpDef) -> Self {
        let range = |specs| {
            let (min, max) = bounds(specs);
            min..=max.unwrap_or(usize::MAX)
        };
        let mut attrs: Vec<AttrPlan> = Vec::new();
        attrs.extend(def.attrs.iter().map(|spec| AttrPlan {
            name: ctx.sym(&spec.name),
            required: spec.default.is_none(),
            or_operand: def.operands.iter().any(|operand| operand.name == spec.name),
            kind: AttrKind::of(&spec.ty),
        }));
        for mark in ctx.marks().iter().filter(|mark| mark.may_sit_on(def)) {
            let name = ctx.sym(&mark.name);
            if attrs.iter().all(|attr| attr.name != name) {
                attrs.push(AttrPlan {
                    name,
                    required: false,
                    or_operand: false,
                    kind: AttrKind::of(&mark.ty),
                });
            }
        }
        let regionless = def.regions.iter().all(|r| r.presence == Presence::MayBeAbsent);
        Plan {
            operands: range(&def.operands),
            results: range(&def.results),
            required: attrs.iter().filter(|attr| attr.required && !attr.or_operand).count(),
            or_operands: attrs.iter().filter(|attr| attr.required && attr.or_operand).count(),
            attrs: attrs.into(),
            is_open: def.has(Traits::OPEN_ATTRS),
            is_function: def.has(Traits::FUNCTION),
            is_terminator: def.has(Traits::TERMINATOR),
            may_be_plain: regionless && def.successors == 0 && !def.has(Traits::ISOLATED),
        }
    }
}

/// How many values a declaration allows: the least and, if there is one, the most.
pub(super) fn bounds(specs: &[ValueSpec]) -> (usize, Option<usize>) {
    let min = specs.iter().filter(|s| s.arity == Arity::One).count();
    let variadic = specs.iter().any(|s| s.arity == Arity::Variadic);
    (min, (!variadic).then_some(specs.len()))
}
