//! Replacement of values by others with more or less precise types.
//!
//! Types are compatible where one knows a dimension that the other does not (`tensor<?xf32>`, `tensor<4xf32>`), and control
//! binds values to arguments of compatible types. So a value that takes the place of another, as an operand does that of
//! an argument when a loop is unrolled, may have another type, and what uses it may not go with that: what follows from
//! the types may be something else, or nothing. Such a replacement goes through here. Uses that go with the new type get
//! the value itself; for the others its type is stated again, by an operation with [`Traits::RESTATES`].

use smallvec::SmallVec;

use crate::body::{Body, Use, ValueDef};
use crate::context::Context;
use crate::declare::Traits;
use crate::entity::{OpId, ValueId};
use crate::rewriter::Rewriter;
use crate::types::{DYNAMIC, Type, TypeData};
use crate::verify::{compatible, fits};

/// Values with restated types, to be finished when all uses exist.
#[derive(Default, Debug)]
pub struct Restated {
    made: Vec<(ValueId, ValueId)>,
    ops: Vec<OpId>,
}

impl Restated {
    /// Gives `value` as one of type `ty`, at the insertion point. [`Restated::finish`] is to be called when what uses it
    /// is in its place.
    pub fn state(&mut self, r: &mut Rewriter<'_>, value: ValueId, ty: Type) -> ValueId {
        if r.body.value_type(value) == ty {
            return value;
        }
        let stated = self.make(r, value, ty);
        if stated != value {
            self.made.push((stated, value));
        }
        stated
    }

    fn make(&mut self, r: &mut Rewriter<'_>, value: ValueId, ty: Type) -> ValueId {
        let given = r.body.value_type(value);
        if given == ty {
            return value;
        }
        let ctx = r.ctx;
        if let (TypeData::List(from), TypeData::List(to)) = (ctx.type_data(given), ctx.type_data(ty))
            && from.len() == to.len()
            && let (Some(split), Some(combine)) = (ctx.op_with(Traits::SPLITS), ctx.op_with(Traits::COMBINES))
        {
            let parts = r.op(split).operand(value).results(from.iter().copied()).build();
            self.ops.push(parts);
            let parts: SmallVec<[ValueId; 4]> = r.body.results(parts).collect();
            let parts: SmallVec<[ValueId; 4]> = parts
                .into_iter()
                .zip(to.iter())
                .map(|(part, &ty)| self.make(r, part, ty))
                .collect();
            let list = r.op(combine).operands(parts).result(ty).build();
            self.ops.push(list);
            return r.body.result(list, 0);
        }
        let (Some(name), Some((from, elem)), Some((to, _))) =
            (ctx.op_with(Traits::RESTATES), ctx.as_tensor(given), ctx.as_tensor(ty))
        else {
            return value;
        };
        let mut value = value;
        if !compatible(ctx, given, ty) {
            if from.len() != to.len() {
                return value;
            }
            // Types that contradict each other, where control never comes: by way of one that knows nothing.
            let open = ctx.tensor(&vec![DYNAMIC; from.len()], elem);
            value = self.make(r, value, open);
        }
        let op = r.op(name).operand(value).result(ty).build();
        self.ops.push(op);
        let stated = r.body.result(op, 0);
        r.name_like(stated, value, "");
        stated
    }

    /// Restores the original value in uses that accept its type, and removes unused operations.
    pub fn finish(self, r: &mut Rewriter<'_>) {
        for (stated, value) in self.made {
            for at in r.body.uses(stated).collect::<SmallVec<[Use; 4]>>() {
                r.body.set_operand(at.op, at.index, value);
                if !goes_with(r.ctx, r.body, at) {
                    r.body.set_operand(at.op, at.index, stated);
                }
            }
        }
        for op in self.ops.into_iter().rev() {
            if r.body.is_alive(op) && !r.body.op_has_uses(op) {
                r.erase_op(op);
            }
        }
    }
}

impl Rewriter<'_> {
    /// Replaces uses of `old` with `new`, whose type may be more or less precise; a use that does not accept it gets
    /// the value with its type restated.
    pub fn replace_value(&mut self, old: ValueId, new: ValueId) {
        let (given, wanted) = (self.body.value_type(new), self.body.value_type(old));
        if given == wanted {
            self.body.replace_all_uses(old, new);
            return;
        }
        if !self.body.has_uses(old) {
            return;
        }
        let here = self.point();
        match self.body.value_def(new) {
            ValueDef::Result(op, _) => self.after(op),
            ValueDef::Arg(block, _) => self.at_start(block),
            ValueDef::None => self,
        };
        let mut restated = Restated::default();
        let stated = restated.state(self, new, wanted);
        self.set_point(here);
        self.body.replace_all_uses_as(old, stated);
        restated.finish(self);
    }

    /// The same if all uses accept the type of `new`; otherwise changes nothing and returns `false`.
    pub fn try_replace_value(&mut self, old: ValueId, new: ValueId) -> bool {
        if self.body.value_type(new) == self.body.value_type(old) {
            self.body.replace_all_uses(old, new);
            return true;
        }
        let uses: SmallVec<[Use; 4]> = self.body.uses(old).collect();
        for (done, &at) in uses.iter().enumerate() {
            self.body.set_operand(at.op, at.index, new);
            if !goes_with(self.ctx, self.body, at) {
                for &at in &uses[..=done] {
                    self.body.set_operand(at.op, at.index, old);
                }
                return false;
            }
        }
        true
    }
}

/// Whether a program is right with the type of the value that is used at a place, which was another one before.
fn goes_with(ctx: &Context, body: &Body, at: Use) -> bool {
    let name = body.op_name(at.op);
    let Some(def) = ctx.op_def(name) else { return false };
    // The result types of a function and the operand types of a call are compared with another operation.
    let elsewhere = body.view(ctx, at.op).attr("callee").is_some() || def.has(Traits::RETURN_LIKE);
    if elsewhere || body.op_block(at.op).is_none() || !fits(ctx, body, at.op) {
        return false;
    }
    let Some((op, _)) = body.flow_of_operands(ctx, at.op) else {
        return !def.has(Traits::TERMINATOR) || !body.successors(at.op).is_empty();
    };
    let ty = body.value_type(body.operand(at.op, at.index));
    let bound = body.flow_targets(ctx, at).unwrap_or_default();
    // Deeper ones have been looked at, or are looked at for themselves.
    bound.iter().all(|&target| compatible(ctx, ty, body.value_type(target))) && fits(ctx, body, op)
}
