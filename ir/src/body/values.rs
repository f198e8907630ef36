//! Values of a body and their uses.

use super::{Body, ValueDef, ValueName};
use crate::entity::{BlockId, OpId, RegionId, UseId, ValueId};
use crate::types::Type;

impl Body {
    /// The definition of a value.
    #[inline]
    pub fn value_def(&self, value: ValueId) -> ValueDef {
        crate::steps::count(1);
        self.values[value.index()].def()
    }

    /// The operation that a value is a result of.
    #[inline]
    pub fn defining_op(&self, value: ValueId) -> Option<OpId> {
        match self.value_def(value) {
            ValueDef::Result(op, _) => Some(op),
            _ => None,
        }
    }

    /// The block that a value is defined in, as an argument or as a result.
    pub fn value_block(&self, value: ValueId) -> Option<BlockId> {
        match self.value_def(value) {
            ValueDef::Result(op, _) => self.op_block(op),
            ValueDef::Arg(block, _) => Some(block),
            ValueDef::None => None,
        }
    }

    /// The region that a value is defined in.
    pub fn value_region(&self, value: ValueId) -> Option<RegionId> {
        self.value_block(value).and_then(|b| self.block_region(b))
    }

    /// The type of a value.
    #[inline]
    pub fn value_type(&self, value: ValueId) -> Type {
        self.values[value.index()].ty
    }

    /// The name of a value in the text.
    pub fn value_name(&self, value: ValueId) -> Option<ValueName> {
        self.values[value.index()].name()
    }

    /// The uses of a value, in the order in which they were made.
    pub fn uses(&self, value: ValueId) -> Uses<'_> {
        Uses {
            body: self,
            next: self.use_lists().first(value),
        }
    }

    /// Whether a value is used at all.
    #[inline]
    pub fn has_uses(&self, value: ValueId) -> bool {
        self.use_lists().first(value).is_some()
    }

    /// Whether a value is used exactly once.
    pub fn has_one_use(&self, value: ValueId) -> bool {
        let lists = self.use_lists();
        lists.first(value).is_some_and(|only| lists.next(only).is_none())
    }

    /// The use of a value that is used exactly once.
    pub fn only_use(&self, value: ValueId) -> Option<Use> {
        self.uses(value).next().filter(|_| self.has_one_use(value))
    }

    /// Whether any result of the operation is used.
    pub fn op_has_uses(&self, op: OpId) -> bool {
        self.results(op).any(|r| self.has_uses(r))
    }
}

/// One operand that uses a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Use {
    /// The operation.
    pub op: OpId,
    /// Which of its operands.
    pub index: usize,
}

/// The uses of a value.
#[derive(Clone)]
pub struct Uses<'a> {
    body: &'a Body,
    next: Option<UseId>,
}

impl Iterator for Uses<'_> {
    type Item = Use;

    #[inline]
    fn next(&mut self) -> Option<Use> {
        let id = self.next?;
        let lists = self.body.use_lists();
        self.next = lists.next(id);
        let op = lists.owner(id);
        let first = self.body.ops[op.index()].operands.start as usize;
        Some(Use {
            op,
            index: id.index() - first,
        })
    }
}
