//! What the definition of an operation declares, in a form in which most operations are quickly found to be as declared.

use std::ops::RangeInclusive;

use super::attrs::{AttrKind, is_open};
use super::declared::bounds;
use crate::context::{Context, Sym};
use crate::registry::{OpDef, Presence, Traits};

#[derive(Debug)]
pub(super) struct AttrPlan {
    pub(super) name: Sym,
    pub(super) required: bool,
    /// Whether an operand may stand in its place.
    pub(super) or_operand: bool,
    pub(super) kind: AttrKind,
}

/// What a definition declares.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(super) operands: RangeInclusive<usize>,
    pub(super) results: RangeInclusive<usize>,
    /// The declared attributes, and behind them the marks that operations of this kind may have.
    pub(super) attrs: Box<[AttrPlan]>,
    /// How many of them are required, and of how many more they or an operand.
    pub(super) required: usize,
    pub(super) or_operands: usize,
    /// Whether other attributes are kept where operations of unknown dialects are.
    pub(super) is_open: bool,
    pub(super) is_terminator: bool,
    /// Whether there are operations of this kind without regions, successors and a body.
    pub(super) may_be_plain: bool,
}

impl Plan {
    pub(crate) fn new(ctx: &Context, def: &OpDef) -> Self {
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
            is_open: is_open(def),
            is_terminator: def.has(Traits::TERMINATOR),
            may_be_plain: regionless && def.successors == 0 && !def.has(Traits::ISOLATED),
        }
    }
}
