//! Where PaddlePaddle's own gradients stop.
//!
//! In PaddlePaddle each value declares whether gradients stop at it. Most of these flags follow from the program:
//! gradients stop at integers, at constants, and at values computed only from such values. The exceptions are kept:
//! where gradients stop although they need not, a `pd.detach` is inserted; where they do not stop although they would,
//! the operation gets an attribute.

use pir_dialects::pd;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use pir_dialects::marks::STOP_GRADIENT;
use pir_ir::{Body, Context, OpId, OpSpec, Type, TypeData};

use super::build::{Builder, SourceId, SourceOp};

/// The flags of the values that have been read.
#[derive(Default)]
pub(super) struct Flags {
    stops: FxHashSet<SourceId>,
    /// The flags of the initial values of the innermost loop, the next on top: its arguments share them.
    arguments: Vec<bool>,
}

impl Flags {
    /// Sets the flag of the next block argument.
    pub(super) fn argument(&mut self, id: SourceId) {
        if self.arguments.pop() == Some(true) {
            self.stops.insert(id);
        }
    }
}

impl Builder<'_> {
    /// Compares the flags of the results with the inferred ones, and records a difference as an attribute. Returns the
    /// results at which gradients are stopped.
    pub(super) fn flags(&mut self, source: &mut SourceOp) -> SmallVec<[usize; 1]> {
        self.flags.arguments.clear();
        let mut ends = SmallVec::new();
        let ctx = self.ctx;
        let known = source.stops.len() >= source.results.len();
        let stopped = |this: &Self, ids: &[SourceId]| ids.iter().all(|id| *id == 0 || this.flags.stops.contains(id));
        let all = stopped(self, &source.operands);
        let mut goes_on = false;
        for (index, &(id, ty)) in source.results.iter().enumerate() {
            let float = ty.is_some_and(|ty| is_float(ctx, ty));
            let stops = match known {
                true => source.stops[index],
                false => !float || all,
            };
            if stops {
                self.flags.stops.insert(id);
            }
            ends.extend((known && stops && float && !all).then_some(index));
            goes_on |= known && !stops && float && all;
        }
        match source.name.as_str() {
            pd::While::NAME => {
                let inits = source.operands.iter().skip(1).rev();
                self.flags.arguments = inits.map(|id| self.flags.stops.contains(id)).collect();
                ends.clear();
            }
            pd::Assign::NAME if !ends.is_empty() => {
                source.name = pd::Detach::NAME.to_owned();
                ends.clear();
            }
            // The flag of a branch's result follows from its contents; inputs declare their flags.
            pd::If::NAME
            | pd::Fetch::NAME
            | pd::Data::NAME
            | pd::Feed::NAME
            | pd::Parameter::NAME
            | pd::Detach::NAME => ends.clear(),
            name if name.starts_with("builtin.") || name.starts_with("cf.") => ends.clear(),
            _ if goes_on => source.attrs.push(STOP_GRADIENT.entry(ctx, ctx.bool_attr(false))),
            _ => {}
        }
        ends
    }

    /// Stops gradients at a result of an operation: its users read it through a `pd.detach`.
    pub(super) fn detach(&mut self, source: &SourceOp, op: OpId, index: usize) {
        // Absent results do not exist here.
        let before = source.results.iter().take(index).filter(|(_, ty)| ty.is_some()).count();
        let (Some(&(id, Some(_))), Some(value)) = (source.results.get(index), self.body.results(op).nth(before)) else {
            return;
        };
        let ty = self.body.value_type(value);
        let detached = self.append(OpSpec {
            operands: &[value],
            results: &[ty],
            span: source.span,
            ..OpSpec::new(self.ctx.op_name(pd::Detach::NAME))
        });
        if let Some(detached) = detached {
            self.define(id, detached);
        }
    }
}

/// Removes unused `pd.detach` operations.
pub(super) fn remove_unused(ctx: &Context, body: &mut Body) {
    for op in body.walk_all().collect::<Vec<_>>() {
        if ctx.op_str(body.op_name(op)) == pd::Detach::NAME && !body.op_has_uses(op) {
            body.erase_op(op);
        }
    }
}

fn is_float(ctx: &Context, ty: Type) -> bool {
    match ctx.type_data(ty) {
        TypeData::List(items) => items.iter().any(|&item| ctx.is_float(ctx.elem_type(item))),
        _ => ctx.is_float(ctx.elem_type(ty)),
    }
}
