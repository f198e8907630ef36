//! Traces handles of stacks to their definitions, through yields, and from pops to the corresponding pushes.

use crate::cf;
use pir_ir::{Body, Context, OpId, RegionId, ValueDef, ValueId};
use rustc_hash::FxHashMap;

use super::control::{is_if, is_while, role};
use crate::cf::is_stack;

/// The known handles of a body.
#[derive(Debug)]
pub struct Handles<'m> {
    ctx: &'m Context,
    body: &'m Body,
    known: FxHashMap<ValueId, Option<OpId>>,
}

enum HandleSource {
    /// The stack is created by this operation.
    Made(OpId),
    /// The handle is a copy of this one.
    From(ValueId),
}

impl<'m> Handles<'m> {
    /// An analysis in which the handles returned by pops are unknown; see [`Handles::undo`].
    pub fn new(ctx: &'m Context, body: &'m Body) -> Self {
        Handles {
            ctx,
            body,
            known: FxHashMap::default(),
        }
    }

    /// The `cf.create_stack` that creates the stack of a handle, if it is statically known.
    pub fn made_by(&mut self, value: ValueId) -> Option<OpId> {
        let mut way = Vec::new();
        let mut at = value;
        // Each step goes outwards or backwards; a loop that exchanges its stacks would be a cycle.
        let made_by = loop {
            if let Some(&made_by) = self.known.get(&at) {
                break made_by;
            }
            self.known.insert(at, None);
            way.push(at);
            match self.step(at) {
                Some(HandleSource::Made(op)) => break Some(op),
                Some(HandleSource::From(value)) => at = value,
                None => break None,
            }
        };
        self.known.extend(way.into_iter().map(|v| (v, made_by)));
        made_by
    }

    /// Declares that a pop undoes a push: the popped handle is the pushed one.
    pub fn undo(&mut self, push: OpId, pop: OpId) {
        let (value, result) = (self.body.get_operand(push, 1), self.body.get_result(pop, 0));
        if let (Some(value), Some(result)) = (value, result)
            && self.is_handle(value)
            && let Some(made_by) = self.made_by(value)
        {
            self.known.insert(result, Some(made_by));
        }
    }

    /// Whether a value is a handle.
    pub fn is_handle(&self, value: ValueId) -> bool {
        is_stack(self.ctx, self.body.value_type(value))
    }

    /// The origin of a handle.
    fn step(&self, value: ValueId) -> Option<HandleSource> {
        let body = self.body;
        let name = |op: OpId| self.ctx.op_str(body.op_name(op));
        // `cond` or `then`.
        let first_region = |op: OpId| {
            let regions = body.op_regions(op);
            regions.get(regions.len().checked_sub(2)?).copied()
        };
        let from = match body.value_def(value) {
            ValueDef::Result(op, index) => match name(op) {
                cf::CREATE_STACK => return Some(HandleSource::Made(op)),
                name if is_while(name) => self.passed_on(first_region(op)?, index as usize + 1)?,
                name if is_if(name) => self.passed_on(first_region(op)?, index as usize)?,
                _ => return None,
            },
            ValueDef::Arg(block, index) => {
                let (op, index) = (body.block_parent(block)?, index as usize);
                match (role(body, op, block), body.op_regions(op)) {
                    // The body of a loop gets the values forwarded by the condition.
                    (Some(1), _) if is_while(name(op)) => self.passed_on(first_region(op)?, index + 1)?,
                    // The condition of a loop, and the branches, get the values forwarded by `init`.
                    (Some(_), &[init, _, _]) => self.passed_on(init, index)?,
                    _ => body.get_operand(op, index)?,
                }
            }
            ValueDef::None => return None,
        };
        Some(HandleSource::From(from))
    }

    /// The operand of a region's terminator at an index.
    fn passed_on(&self, region: RegionId, index: usize) -> Option<ValueId> {
        let last = self.body.last_op(self.body.single_block(region)?)?;
        self.body.get_operand(last, index)
    }
}
