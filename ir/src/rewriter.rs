//! The rewriter: puts operations together, clones, moves and replaces them.

use smallvec::SmallVec;

use crate::body::{Body, OpView, ValueName};
use crate::by_value::ByValue;
use crate::context::Context;
use crate::diagnostics::Span;
use crate::edit::OpSpec;
use crate::entity::{BlockId, OpId, RegionId, ValueId};
use crate::registry::InferArgs;
use crate::semantics::infer_by_semantics;
use crate::types::{Attr, AttrDict, Type};

/// Where new operations go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InsertPoint {
    /// Before an operation.
    Before(OpId),
    /// At the end of a block.
    End(BlockId),
    /// Nowhere: new operations are in no block.
    Detached,
}

/// Edits of one body at an insertion point.
pub struct Rewriter<'a> {
    /// The context.
    pub ctx: &'a Context,
    /// The body.
    pub body: &'a mut Body,
    point: InsertPoint,
    span: Span,
    created: Option<Vec<OpId>>,
    /// Where names are put together.
    text: String,
}

impl<'a> Rewriter<'a> {
    /// A rewriter that inserts nowhere yet.
    pub fn new(ctx: &'a Context, body: &'a mut Body) -> Self {
        Self {
            ctx,
            body,
            point: InsertPoint::Detached,
            span: Span::default(),
            created: None,
            text: String::new(),
        }
    }

    /// New operations go before `op`, and count as written where it was.
    pub fn before(&mut self, op: OpId) -> &mut Self {
        self.point = InsertPoint::Before(op);
        self.span = self.body.op_span(op);
        self
    }

    /// New operations go after `op`.
    pub fn after(&mut self, op: OpId) -> &mut Self {
        self.span = self.body.op_span(op);
        self.point = match (self.body.next_op(op), self.body.op_block(op)) {
            (Some(next), _) => InsertPoint::Before(next),
            (None, Some(block)) => InsertPoint::End(block),
            (None, None) => InsertPoint::Detached,
        };
        self
    }

    /// New operations go to the end of `block`.
    pub fn at_end(&mut self, block: BlockId) -> &mut Self {
        self.point = InsertPoint::End(block);
        self
    }

    /// New operations go to the front of `block`.
    pub fn at_start(&mut self, block: BlockId) -> &mut Self {
        self.point = match self.body.first_op(block) {
            Some(first) => InsertPoint::Before(first),
            None => InsertPoint::End(block),
        };
        self
    }

    /// The insertion point, to come back to.
    pub fn point(&self) -> InsertPoint {
        self.point
    }

    /// Goes back to an insertion point.
    pub fn set_point(&mut self, point: InsertPoint) -> &mut Self {
        self.point = point;
        self
    }

    /// New operations count as written here.
    pub fn set_span(&mut self, span: Span) -> &mut Self {
        self.span = span;
        self
    }

    /// Marks an operation for another visit because something about it changed, as if it had been created.
    pub fn touch(&mut self, op: OpId) {
        if let Some(created) = &mut self.created {
            created.push(op);
        }
    }

    /// How many operations have been collected. Collecting starts if it has not.
    pub fn created_mark(&mut self) -> usize {
        self.created.get_or_insert_default().len()
    }

    /// The operations created or touched since a mark, in order.
    pub fn created_since(&self, mark: usize) -> &[OpId] {
        self.created
            .as_ref()
            .and_then(|all| all.get(mark..))
            .unwrap_or_default()
    }

    /// Starts building an operation.
    pub fn op<'r>(&'r mut self, name: &str) -> OpBuilder<'r, 'a> {
        let name = self.ctx.op_name(name);
        OpBuilder {
            rewriter: self,
            name,
            operands: SmallVec::new(),
            results: SmallVec::new(),
            attrs: SmallVec::new(),
            dict: None,
            regions: SmallVec::new(),
        }
    }

    /// Creates an operation from its parts and inserts it.
    pub fn create(&mut self, mut spec: OpSpec<'_>) -> OpId {
        if spec.span == Span::default() {
            spec.span = self.span;
        }
        let op = self.body.create_op(spec);
        self.insert(op);
        op
    }

    /// Inserts an operation that is in no block.
    pub fn insert(&mut self, op: OpId) {
        match self.point {
            InsertPoint::Before(at) => self.body.insert_before(at, op),
            InsertPoint::End(block) => self.body.append_op(block, op),
            InsertPoint::Detached => {}
        }
        if let Some(created) = &mut self.created {
            created.push(op);
        }
    }

    /// Moves an operation, with everything inside it, to the insertion point.
    pub fn move_here(&mut self, op: OpId) {
        self.body.unlink_op(op);
        match self.point {
            InsertPoint::Before(at) => self.body.insert_before(at, op),
            InsertPoint::End(block) => self.body.append_op(block, op),
            InsertPoint::Detached => {}
        }
    }

    /// Replaces all uses of the results by `values` and removes the operation. Values without a name get those of the
    /// results. Comments move to the next operation.
    pub fn replace_op(&mut self, op: OpId, values: &[ValueId]) {
        debug_assert_eq!(self.body.num_results(op), values.len());
        for (old, &new) in self.body.results(op).zip(values) {
            if self.body.value_name(new).is_none() {
                self.take_name(old, new);
            }
            self.replace_value(old, new);
        }
        self.erase_op(op);
    }

    /// Removes an operation whose results are not used.
    pub fn erase_op(&mut self, op: OpId) {
        if self.point == InsertPoint::Before(op) {
            self.after(op);
        }
        self.body.erase_op(op);
    }

    /// Removes the operations whose places in the body are `first` ([`Body::num_op_slots`] at some time) or later: what was built before an
    /// attempt failed, and has no users but what was built after it.
    pub fn erase_from(&mut self, first: usize) {
        for op in (first..self.body.num_op_slots()).rev().map(OpId::new) {
            if self.body.is_alive(op) {
                self.erase_op(op);
            }
        }
    }

    /// Replaces an operation by one with other operands and results but the same name, attributes and regions (which
    /// move). The results are not replaced; the old operation stays, without regions.
    pub fn recreate(&mut self, op: OpId, operands: &[ValueId], results: &[Type]) -> OpId {
        let regions = self.body.take_regions(op);
        let successors: SmallVec<[_; 2]> = self.body.successors(op).into();
        let spec = OpSpec {
            name: self.body.op_name(op),
            operands,
            results,
            attrs: self.body.attrs(op),
            regions: &regions,
            successors: &successors,
            span: self.body.op_span(op),
        };
        let new = self.body.create_op(spec);
        self.body.insert_before(op, new);
        if let Some(body) = self.body.take_isolated(op) {
            self.body.set_isolated(new, body);
        }
        if let Some(comment) = self.body.comments.remove(&op) {
            self.body.comments.insert(new, comment);
        }
        if let Some(loc) = self.body.locs.remove(&op) {
            self.body.locs.insert(new, loc);
        }
        if let Some(created) = &mut self.created {
            created.push(new);
        }
        new
    }

    /// Drops results of an operation: makes one with the results at `keep` only, replaces the kept ones and removes
    /// the old operation. The dropped ones must not be used.
    pub fn keep_results(&mut self, op: OpId, keep: &[usize]) -> OpId {
        let types: SmallVec<[Type; 4]> = keep
            .iter()
            .map(|&i| self.body.value_type(self.body.result(op, i)))
            .collect();
        let operands = self.body.operands_vec(op);
        let new = self.recreate(op, &operands, &types);
        for (at, &old) in keep.iter().enumerate() {
            let (from, to) = (self.body.result(op, old), self.body.result(new, at));
            self.take_name(from, to);
            self.body.replace_all_uses(from, to);
        }
        self.erase_op(op);
        new
    }

    /// Replaces a value with another of the same type, which takes its uses and its name.
    pub fn replace_and_rename(&mut self, old: ValueId, new: ValueId) {
        let name = self.body.value_name(old);
        self.body.set_value_name(new, name);
        self.body.replace_all_uses(old, new);
    }

    /// Gives `to` the name of `from`, except that a value alone does not stay in a pack.
    pub fn take_name(&mut self, from: ValueId, to: ValueId) {
        let name = self.body.value_name(from).map(|n| ValueName {
            name: n.name,
            pack: false,
        });
        self.body.set_value_name(to, name);
    }

    /// Names a value as `text`; the printer makes names unique.
    pub fn name(&mut self, value: ValueId, text: &str) {
        let name = self.ctx.name(text);
        self.body.set_value_name(value, Some(ValueName { name, pack: false }));
    }

    /// Names `value` after `like`, with a suffix: `%x` gives `%x_grad`.
    pub fn name_like(&mut self, value: ValueId, like: ValueId, suffix: &str) {
        let Some(like) = self.body.value_name(like) else { return };
        let (word, number) = self.ctx.name_parts(like.name);
        // A number is not a descriptive name.
        match (word.as_bytes().first(), number) {
            (Some(first), _) if first.is_ascii_digit() => return,
            (None, Some(_)) => return,
            _ => {}
        }
        // Without `format!`: differentiation names nearly every value in this way.
        self.text.clear();
        self.text.push_str(word);
        if let Some(number) = number {
            self.text.push_str(itoa::Buffer::new().format(number));
        }
        self.text.push_str(suffix);
        let name = self.ctx.name(&self.text);
        self.body.set_value_name(value, Some(ValueName { name, pack: false }));
    }
}

/// A mapping of values, as of originals to their copies.
#[derive(Clone, Default, Debug)]
pub struct ValueMap(ByValue<ValueId>);

impl ValueMap {
    /// An empty map.
    pub fn new() -> Self {
        Self::default()
    }

    /// Maps `from` to `to`.
    pub fn insert(&mut self, from: ValueId, to: ValueId) {
        self.0.insert(from, to);
    }

    /// The value that `value` is mapped to.
    pub fn get(&self, value: ValueId) -> Option<ValueId> {
        self.0.get(value).copied()
    }

    /// The value that `value` is mapped to, or the value itself.
    pub fn get_or_self(&self, value: ValueId) -> ValueId {
        self.get(value).unwrap_or(value)
    }

    /// Removes an entry.
    pub fn remove(&mut self, value: ValueId) -> Option<ValueId> {
        self.0.remove(value)
    }
}

/// An operation under construction.
pub struct OpBuilder<'r, 'a> {
    rewriter: &'r mut Rewriter<'a>,
    name: crate::entity::OpName,
    operands: SmallVec<[ValueId; 6]>,
    results: SmallVec<[Type; 2]>,
    attrs: SmallVec<[(crate::entity::Sym, Attr); 4]>,
    dict: Option<AttrDict>,
    regions: SmallVec<[RegionId; 3]>,
}

impl<'r, 'a> OpBuilder<'r, 'a> {
    /// Adds an operand.
    #[must_use]
    #[inline]
    pub fn operand(mut self, value: ValueId) -> Self {
        self.operands.push(value);
        self
    }

    /// Adds operands.
    #[must_use]
    pub fn operands(mut self, values: impl IntoIterator<Item = ValueId>) -> Self {
        self.operands.extend(values);
        self
    }

    /// Adds an attribute.
    #[must_use]
    #[inline]
    pub fn attr(mut self, name: &str, value: Attr) -> Self {
        self.attrs.push((self.rewriter.ctx.sym(name), value));
        self
    }

    /// Takes all attributes from a dictionary.
    #[must_use]
    pub fn attrs(mut self, dict: AttrDict) -> Self {
        self.dict = Some(dict);
        self
    }

    /// Adds a result.
    #[must_use]
    #[inline]
    pub fn result(mut self, ty: Type) -> Self {
        self.results.push(ty);
        self
    }

    /// Adds results.
    #[must_use]
    pub fn results(mut self, types: impl IntoIterator<Item = Type>) -> Self {
        self.results.extend(types);
        self
    }

    /// Adds a region that belongs to no operation yet.
    #[must_use]
    pub fn region(mut self, region: RegionId) -> Self {
        self.regions.push(region);
        self
    }

    fn dict(&self) -> AttrDict {
        match self.dict {
            Some(dict) if self.attrs.is_empty() => dict,
            Some(dict) => {
                let mut entries = self.rewriter.ctx.dict_entries(dict).to_vec();
                entries.extend(self.attrs.iter().copied());
                self.rewriter.ctx.dict(&entries)
            }
            None => self.rewriter.ctx.dict(&self.attrs),
        }
    }

    /// Creates the operation with the results that were given.
    pub fn build(self) -> OpId {
        self.finish().1
    }

    /// Creates the operation and gives its only result.
    ///
    /// # Panics
    /// When it has none.
    pub fn value(self) -> ValueId {
        let (rewriter, op) = self.finish();
        rewriter.body.result(op, 0)
    }

    fn finish(mut self) -> (&'r mut Rewriter<'a>, OpId) {
        let attrs = self.dict();
        let op = self.create(attrs);
        (self.rewriter, op)
    }

    fn create(&mut self, attrs: AttrDict) -> OpId {
        self.rewriter.create(OpSpec {
            name: self.name,
            operands: &self.operands,
            results: &self.results,
            attrs,
            regions: &self.regions,
            successors: &[],
            span: Span::default(),
        })
    }

    /// Infers the result types and creates the operation.
    ///
    /// # Errors
    /// When the operation has no inference, or that finds fault with the operands or attributes.
    pub fn infer(mut self) -> Result<OpId, String> {
        let ctx = self.rewriter.ctx;
        let attrs = self.dict();
        let def = ctx
            .op_def(self.name)
            .ok_or_else(|| format!("`{}` is not registered", ctx.op_str(self.name)))?;
        self.results = def.infer.unwrap_or(infer_by_semantics)(InferArgs {
            ctx,
            body: self.rewriter.body,
            def,
            operands: &self.operands,
            attrs,
            regions: &self.regions,
        })?;
        Ok(self.create(attrs))
    }
}

impl Rewriter<'_> {
    /// A view of an operation.
    pub fn view(&self, op: OpId) -> OpView<'_> {
        self.body.view(self.ctx, op)
    }
}
