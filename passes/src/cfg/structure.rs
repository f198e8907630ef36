//! Building operations with regions from blocks, for `lift-cfg`: see there.
//!
//! The terminator of a block that is being worked on is replaced by a *hold*: an operation without successors, whose
//! operands are all values that its ways out take along. So replacing a value reaches them, too.

use pir_dialects::{cf, pd};
use pir_ir::{BlockId, Body, Context, OpId, OpSpec, Rewriter, Type, Use, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::analysis::Constants;

/// When a way out is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum When {
    Always,
    If(ValueId),
    IfNot(ValueId),
}

/// A way out of a block.
#[derive(Clone, Debug)]
pub(super) struct Exit {
    /// The number of the block, as [`Nodes`] counts, that it leads to.
    pub(super) to: usize,
    pub(super) when: When,
    pub(super) values: SmallVec<[ValueId; 4]>,
}

/// How the operands of a hold make up the ways out.
struct Held {
    to: usize,
    /// Whether the way is taken if the value holds, or if it does not.
    when: Option<bool>,
    values: usize,
}

/// A branch of an `if` that is to be made.
pub(super) enum Side {
    /// A node, with the values that it is entered with.
    Node(usize, SmallVec<[ValueId; 4]>),
    /// Nothing but ways out.
    Pass(Vec<Exit>),
}

/// A value passed out of an `if`: one that is visible after it anyway, or its result of this number.
#[derive(Clone, Copy)]
enum Handed {
    Value(ValueId),
    Result(usize),
}

/// A result of an `if` that is to be made.
struct Yielded {
    ty: Type,
    /// The value after which it is named.
    like: Option<ValueId>,
    /// The values that the branches yield.
    values: [ValueId; 2],
}

/// Why a body cannot be lifted: a value of this type would be needed where there is none.
pub(super) struct Stuck(pub(super) Type);

/// The blocks of a body, which are merged step by step.
pub(super) struct Nodes<'a> {
    pub(super) ctx: &'a Context,
    pub(super) body: &'a mut Body,
    pub(super) constants: &'a Constants<'a>,
    /// The block that now holds what each node is.
    pub(super) blocks: Vec<BlockId>,
    /// How many operations each block has, about.
    pub(super) sizes: FxHashMap<BlockId, usize>,
    holds: FxHashMap<BlockId, (OpId, Vec<Held>)>,
    /// For each block the one that it has become a part of, or that it is nested in.
    within: Vec<BlockId>,
}

impl<'a> Nodes<'a> {
    /// `blocks` are those of the body's own region, all that can be reached.
    pub(super) fn new(
        ctx: &'a Context,
        body: &'a mut Body,
        constants: &'a Constants<'a>,
        blocks: Vec<BlockId>,
    ) -> Self {
        let all = body.all_blocks();
        let count = all.iter().map(|b| b.index() + 1).max().unwrap_or(0);
        let mut within: Vec<BlockId> = (0..count).map(BlockId::new).collect();
        // Outer blocks come first.
        for block in all {
            if let Some(outer) = body.block_parent(block).and_then(|op| body.op_block(op)) {
                within[block.index()] = within[outer.index()];
            }
        }
        let sizes = blocks.iter().map(|&b| (b, body.block_ops(b).count())).collect();
        Nodes {
            ctx,
            body,
            constants,
            blocks,
            sizes,
            holds: FxHashMap::default(),
            within,
        }
    }

    /// The block that a node is.
    pub(super) fn block(&self, node: usize) -> BlockId {
        self.blocks[node]
    }

    pub(super) fn new_block(&mut self) -> BlockId {
        let block = self.body.create_detached_block();
        self.note(block, block);
        block
    }

    /// A block has become a part of another one, or is nested in it.
    pub(super) fn note(&mut self, block: BlockId, outer: BlockId) {
        for index in self.within.len()..=block.index() {
            self.within.push(BlockId::new(index));
        }
        self.within[block.index()] = outer;
    }

    /// The block, of those that are still apart, that a block is, or is nested in.
    pub(super) fn outermost(&mut self, mut block: BlockId) -> BlockId {
        while self.within[block.index()] != block {
            let next = self.within[block.index()];
            self.within[block.index()] = self.within[next.index()];
            block = self.within[block.index()];
        }
        block
    }

    pub(super) fn is_defined_in(&mut self, value: ValueId, block: BlockId) -> bool {
        let home = self.body.value_block(value);
        home.is_some_and(|home| self.outermost(home) == block)
    }

    /// The ways out of a block.
    pub(super) fn exits(&self, block: BlockId) -> Vec<Exit> {
        let Some((hold, held)) = self.holds.get(&block) else {
            return Vec::new();
        };
        let mut operands = self.body.operands(*hold);
        held.iter()
            .map(|held| Exit {
                to: held.to,
                when: match (held.when, held.when.and_then(|_| operands.next())) {
                    (Some(true), Some(value)) => When::If(value),
                    (Some(false), Some(value)) => When::IfNot(value),
                    _ => When::Always,
                },
                values: operands.by_ref().take(held.values).collect(),
            })
            .collect()
    }

    /// Gives a block these ways out, at its end.
    pub(super) fn set_exits(&mut self, block: BlockId, exits: &[Exit]) {
        let mut operands: Vec<ValueId> = Vec::new();
        let mut all = Vec::new();
        for exit in exits {
            let when = match exit.when {
                When::Always => None,
                When::If(value) => Some((true, value)),
                When::IfNot(value) => Some((false, value)),
            };
            operands.extend(when.map(|(_, value)| value));
            operands.extend(&exit.values);
            all.push(Held {
                to: exit.to,
                when: when.map(|(holds, _)| holds),
                values: exit.values.len(),
            });
        }
        let mut spec = OpSpec::new(self.ctx.op_name(pd::Branch::NAME));
        spec.operands = &operands;
        spec.span = self
            .body
            .last_op(block)
            .map(|op| self.body.op_span(op))
            .unwrap_or_default();
        let hold = self.body.create_op(spec);
        if let Some((old, _)) = self.holds.insert(block, (hold, all)) {
            self.body.erase_op(old);
        }
        self.body.append_op(block, hold);
    }

    /// The operation that new ones go before.
    pub(super) fn end(&self, block: BlockId) -> Option<OpId> {
        self.holds.get(&block).map(|(hold, _)| *hold)
    }

    /// Replaces the hold of a block by a terminator.
    pub(super) fn finish(&mut self, block: BlockId, name: &str, values: &[ValueId]) {
        if let Some((hold, _)) = self.holds.remove(&block) {
            let mut rewriter = Rewriter::new(self.ctx, self.body);
            rewriter.before(hold).op(name).operands(values.iter().copied()).build();
            rewriter.erase_op(hold);
        }
    }

    /// Replaces the arguments of a node with the values that a path forwards to it.
    fn bind(&mut self, node: usize, values: &[ValueId]) {
        let block = self.blocks[node];
        for (arg, &value) in self.body.block_args(block).to_vec().into_iter().zip(values) {
            Rewriter::new(self.ctx, self.body).replace_value(arg, value);
        }
        for index in (0..self.body.block_args(block).len()).rev() {
            self.body.erase_block_arg(block, index);
        }
    }

    /// Appends a node to another one, which has no other successor. The exits are then those of the appended one.
    pub(super) fn append(&mut self, node: usize, next: usize) {
        let values = self.exits(self.blocks[node]).into_iter().next();
        self.bind(next, &values.map(|e| e.values).unwrap_or_default());
        let (front, back) = (self.blocks[node], self.blocks[next]);
        if let Some((hold, _)) = self.holds.remove(&front) {
            self.body.erase_op(hold);
        }
        let size = |s: &Self, b| s.sizes.get(&b).copied().unwrap_or(0);
        let sum = size(self, front) + size(self, back);
        // The smaller part moves, so that long chains do not take quadratic time.
        let (kept, gone) = if size(self, front) < size(self, back) {
            for arg in self.body.block_args(front).to_vec() {
                let (ty, name) = (self.body.value_type(arg), self.body.value_name(arg));
                let new = self.body.add_block_arg(back, ty, name);
                if let Some(loc) = self.body.arg_loc(arg) {
                    self.body.set_arg_loc(new, loc);
                }
                self.body.replace_all_uses(arg, new);
            }
            let first = self.body.first_op(back);
            for op in self.body.block_ops_vec(front) {
                self.body.unlink_op(op);
                match first {
                    Some(first) => self.body.insert_before(first, op),
                    None => self.body.append_op(back, op),
                }
            }
            (back, front)
        } else {
            for op in self.body.block_ops_vec(back) {
                self.body.unlink_op(op);
                self.body.append_op(front, op);
            }
            if let Some(held) = self.holds.remove(&back) {
                self.holds.insert(front, held);
            }
            (front, back)
        };
        self.note(gone, kept);
        self.sizes.insert(kept, sum);
        self.blocks[node] = kept;
        self.blocks[next] = kept;
    }

    /// An arbitrary value of the type.
    fn any(&mut self, block: BlockId, ty: Type) -> Result<ValueId, Stuck> {
        let end = self.end(block).ok_or(Stuck(ty))?;
        let zero = match self.ctx.elem_type(ty) {
            Type::I1 => self.ctx.bool_attr(false),
            _ if self.ctx.is_continuous(ty) => self.ctx.float_attr(0.0),
            _ => self.ctx.int_attr(0),
        };
        if cf::is_stack(self.ctx, ty) {
            let mut rewriter = Rewriter::new(self.ctx, self.body);
            return Ok(rewriter.before(end).op(cf::CREATE_STACK).result(ty).value());
        }
        if self.ctx.is_static(ty)
            && let Some(made) = self.constants.materialize(self.body, end, zero, ty)
        {
            return Ok(made);
        }
        // The arguments of the function are visible everywhere.
        let mut args = self.body.block_args(self.blocks[0]).iter().copied();
        args.find(|&a| self.body.value_type(a) == ty).ok_or(Stuck(ty))
    }

    fn truth(&mut self, block: BlockId, holds: bool, ty: Type) -> Result<ValueId, Stuck> {
        let end = self.end(block).ok_or(Stuck(ty))?;
        let value = self.ctx.bool_attr(holds);
        self.constants.materialize(self.body, end, value, ty).ok_or(Stuck(ty))
    }

    /// Whether a way is taken, as a value of the type at the end of a block.
    pub(super) fn taken(&mut self, block: BlockId, when: Option<When>, ty: Type) -> Result<ValueId, Stuck> {
        let (value, holds) = match when {
            None => return self.truth(block, false, ty),
            Some(When::Always) => return self.truth(block, true, ty),
            Some(When::If(value)) => (value, true),
            Some(When::IfNot(value)) => (value, false),
        };
        let end = self.end(block).ok_or(Stuck(ty))?;
        let mut rewriter = Rewriter::new(self.ctx, self.body);
        rewriter.before(end);
        if rewriter.body.value_type(value) == ty {
            return Ok(if holds {
                value
            } else {
                rewriter.op(pd::LogicalNot::NAME).operand(value).result(ty).value()
            });
        }
        // Truth values of different types, `i1` and tensors of one, cannot be yielded as the same result.
        let (yes, no) = (self.truth(block, holds, ty)?, self.truth(block, !holds, ty)?);
        let mut rewriter = Rewriter::new(self.ctx, self.body);
        let regions = [yes, no].map(|value| {
            let region = rewriter.body.create_region();
            let inner = rewriter.body.create_block(region);
            rewriter.at_end(inner).op(cf::YIELD).operand(value).build();
            (region, inner)
        });
        let select = rewriter.before(end).op(pd::If::NAME).operand(value).result(ty);
        let select = select.region(regions[0].0).region(regions[1].0).value();
        for (_, inner) in regions {
            self.note(inner, block);
        }
        Ok(select)
    }

    /// The type of values that show whether a path is taken: that of the conditions, if all agree.
    pub(super) fn truth_type(&self, whens: &[Option<When>]) -> Type {
        let mut types = whens.iter().filter_map(|when| match when {
            Some(When::If(value) | When::IfNot(value)) => Some(self.body.value_type(*value)),
            _ => None,
        });
        let first = types.next();
        match first.filter(|&ty| types.all(|t| t == ty)) {
            Some(ty) if self.ctx.as_tensor(ty).is_some() && self.ctx.is_static(ty) => ty,
            _ => self.ctx.tensor(&[], Type::I1),
        }
    }

    /// The type and the name of an argument of a node.
    pub(super) fn param(&self, node: usize, index: usize) -> Option<ValueId> {
        self.body.block_args(self.blocks[node]).get(index).copied()
    }

    /// Makes an `if` at the end of a node.
    pub(super) fn make_if(&mut self, node: usize, condition: ValueId, branches: [Side; 2]) -> Result<(), Stuck> {
        let mut sides: SmallVec<[(BlockId, bool); 2]> = SmallVec::new();
        for branch in branches {
            sides.push(match branch {
                Side::Node(inner, values) => {
                    self.bind(inner, &values);
                    (self.blocks[inner], false)
                }
                Side::Pass(exits) => {
                    let block = self.new_block();
                    self.set_exits(block, &exits);
                    (block, true)
                }
            });
        }
        let exits = [self.exits(sides[0].0), self.exits(sides[1].0)];
        let mut seen = FxHashSet::default();
        let targets: Vec<usize> = exits
            .iter()
            .flatten()
            .map(|e| e.to)
            .filter(|&t| seen.insert(t))
            .collect();
        let by_target: [FxHashMap<usize, &Exit>; 2] =
            [0, 1].map(|side: usize| exits[side].iter().map(|e| (e.to, e)).collect());
        // If the sides have different exits, the condition selects the exit.
        let apart = targets.len() == 2 && exits.iter().all(|e| e.len() == 1);
        let mut results: Vec<Yielded> = Vec::new();
        let mut out: Vec<(usize, Option<Handed>, Vec<Handed>)> = Vec::new();
        for (at, &to) in targets.iter().enumerate() {
            let of = [0, 1].map(|side: usize| by_target[side].get(&to).copied());
            // Of two successors, the second one is taken if the first one is not.
            let told = targets.len() > 1 && !apart && (targets.len() > 2 || at == 0);
            let when = if told {
                let whens = of.map(|e| e.map(|e| e.when));
                let ty = self.truth_type(&whens);
                let values = [
                    self.taken(sides[0].0, whens[0], ty)?,
                    self.taken(sides[1].0, whens[1], ty)?,
                ];
                results.push(Yielded { ty, like: None, values });
                Some(Handed::Result(results.len() - 1))
            } else {
                None
            };
            let count = of.iter().flatten().map(|e| e.values.len()).max().unwrap_or(0);
            let mut values = Vec::new();
            for index in 0..count {
                let given = of.map(|e| e.and_then(|e| e.values.get(index).copied()));
                if let Some(value) = self.outer(given, &sides) {
                    values.push(Handed::Value(value));
                    continue;
                }
                let param = self.param(to, index);
                let Some(like) = param.or(given[0]).or(given[1]) else {
                    continue;
                };
                let ty = self.body.value_type(like);
                let mut pair = [like; 2];
                for side in 0..2 {
                    pair[side] = match given[side] {
                        Some(value) => value,
                        None => self.any(sides[side].0, ty)?,
                    };
                }
                results.push(Yielded {
                    ty,
                    like: param,
                    values: pair,
                });
                values.push(Handed::Result(results.len() - 1));
            }
            out.push((to, when, values));
        }
        let direct = self.used_behind(&sides, &mut results)?;
        let Some(op) = self.build_if(node, condition, &sides, &results) else {
            return Ok(());
        };
        for (at, result) in direct {
            let value = self.body.result(op, result);
            self.body.set_operand(at.op, at.index, value);
        }
        let handed = |s: &Self, handed| match handed {
            Handed::Value(value) => value,
            Handed::Result(at) => s.body.result(op, at),
        };
        let mut made: Vec<Exit> = Vec::new();
        for (to, when, values) in out {
            let when = match (when, made.first().map(|e| e.when)) {
                (Some(told), _) => When::If(handed(self, told)),
                (None, _) if targets.len() == 1 => When::Always,
                (None, None) => When::If(condition),
                (None, Some(When::If(first))) => When::IfNot(first),
                (None, Some(other)) => other,
            };
            let values = values.into_iter().map(|v| handed(self, v)).collect();
            made.push(Exit { to, when, values });
        }
        self.set_exits(self.blocks[node], &made);
        Ok(())
    }

    /// The value to use after an `if` in place of the sides' values, if that needs no result.
    fn outer(&mut self, given: [Option<ValueId>; 2], sides: &[(BlockId, bool)]) -> Option<ValueId> {
        match given {
            [Some(a), Some(b)] => (a == b).then_some(a),
            [Some(a), None] => (!self.is_defined_in(a, sides[0].0)).then_some(a),
            [None, Some(b)] => (!self.is_defined_in(b, sides[1].0)).then_some(b),
            [None, None] => None,
        }
    }

    /// Values of the branches that are used after the `if`, at places that are reached only through that branch: makes
    /// them results, and returns the uses with the numbers of these.
    fn used_behind(
        &mut self,
        sides: &[(BlockId, bool)],
        results: &mut Vec<Yielded>,
    ) -> Result<Vec<(Use, usize)>, Stuck> {
        let mut direct = Vec::new();
        for (side, &(block, empty)) in sides.iter().enumerate() {
            if empty {
                continue;
            }
            let mut defined: Vec<ValueId> = Vec::new();
            for op in self.body.block_ops(block) {
                defined.extend(self.body.results(op));
            }
            for value in defined {
                let mut known = None;
                for at in self.body.uses(value).collect::<SmallVec<[Use; 8]>>() {
                    let home = self.body.op_block(at.op).map(|b| self.outermost(b));
                    if home.is_none_or(|home| home == block) {
                        continue;
                    }
                    let ty = self.body.value_type(value);
                    let result = match known {
                        Some(result) => result,
                        None => {
                            let mut values = [value; 2];
                            values[1 - side] = self.any(sides[1 - side].0, ty)?;
                            let like = Some(value);
                            results.push(Yielded { ty, like, values });
                            results.len() - 1
                        }
                    };
                    known = Some(result);
                    direct.push((at, result));
                }
            }
        }
        Ok(direct)
    }

    fn build_if(
        &mut self,
        node: usize,
        condition: ValueId,
        sides: &[(BlockId, bool)],
        results: &[Yielded],
    ) -> Option<OpId> {
        let block = self.blocks[node];
        let end = self.end(block)?;
        let mut regions: SmallVec<[_; 2]> = SmallVec::new();
        for (side, &(inner, empty)) in sides.iter().enumerate() {
            let values: Vec<ValueId> = results.iter().map(|r| r.values[side]).collect();
            self.finish(inner, cf::YIELD, &values);
            let region = self.body.create_region();
            // A branch that does nothing and gives nothing need not be there.
            if !(side == 1 && empty && results.is_empty()) {
                self.body.append_block(region, inner);
            }
            regions.push(region);
            self.note(inner, block);
        }
        let mut rewriter = Rewriter::new(self.ctx, self.body);
        let op = rewriter
            .before(end)
            .op(pd::If::NAME)
            .operand(condition)
            .results(results.iter().map(|r| r.ty))
            .region(regions[0])
            .region(regions[1])
            .build();
        for (at, yielded) in results.iter().enumerate() {
            if let Some(like) = yielded.like {
                let result = rewriter.body.result(op, at);
                rewriter.take_name(like, result);
            }
        }
        Some(op)
    }
}
