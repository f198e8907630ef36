//! Loops and branches: converts blocks that change variables into regions that yield values.

use pir_dialects::pd;
use rustc_hash::FxHashSet;

use pir_ir::{Diagnostic, Span, Type};

use super::super::pairs::{Pairs, pairs};
use super::super::{Op, error};
use super::{BlockFrame, BlockKind, Bound, Branch, BranchResult, Done, SourceId, Translator};
use crate::paddle::carried::common;

impl<'t> Translator<'t, '_, '_> {
    pub(super) fn enter(&mut self, block: Option<usize>, kind: BlockKind<'t>, span: Span) {
        let frame = BlockFrame {
            block,
            at: 0,
            pairs: block.map_or_else(Pairs::default, |b| pairs(&self.blocks[b], &self.read)),
            kind,
            hidden: Vec::new(),
            covered: Vec::new(),
            span,
        };
        let top = self.frames.is_empty();
        self.frames.push(frame);
        let Some(block) = block.filter(|_| !top) else { return };
        // Declarations in a block shadow outer ones.
        for var in &self.blocks[block].vars {
            let bound = self.names.remove(var.name.as_str());
            let declared = self.visible.insert(&var.name, var);
            if let Some(frame) = self.frames.last_mut() {
                frame.hidden.extend(bound.map(|old| (var.name.as_str(), Some(old))));
                frame.covered.push((&var.name, declared));
            }
        }
    }

    /// Ends the current block and restores the outer bindings.
    fn unhide(&mut self) -> Option<BlockFrame<'t>> {
        let mut frame = self.frames.pop()?;
        for (name, old) in frame.hidden.drain(..).rev() {
            match old {
                Some(bound) => self.names.insert(name, bound),
                None => self.names.remove(name),
            };
        }
        for (name, old) in frame.covered.drain(..).rev() {
            match old {
                Some(var) => self.visible.insert(name, var),
                None => self.visible.remove(name),
            };
        }
        Some(frame)
    }

    pub(super) fn leave(&mut self) -> Done {
        let span = self.frames.last().map_or_else(Span::default, |f| f.span);
        match self
            .frames
            .last_mut()
            .map(|f| std::mem::replace(&mut f.kind, BlockKind::Top))
        {
            None | Some(BlockKind::Top) => {
                // Top-level variables keep their names, for the fetches.
                self.frames.pop();
            }
            Some(BlockKind::Loop {
                condition,
                carried,
                results,
            }) => {
                let names = std::iter::once(condition).chain(carried.iter().copied());
                let values: Result<Vec<SourceId>, _> = names.map(|name| self.value(name, span)).collect();
                self.terminate(&values?, span);
                self.unhide();
                for (name, id) in carried.into_iter().zip(results) {
                    self.bind(name, id);
                }
                self.bind_to(condition, Bound::Ended);
            }
            Some(BlockKind::Branch(branch)) => self.leave_branch(branch, span)?,
        }
        Ok(())
    }

    pub(super) fn open_loop(&mut self, op: &'t Op) -> Done {
        let missing = |what: &str| error(op.span, format!("the loop has no {what}"));
        let condition = op.input("Condition").ok_or_else(|| missing("condition"))?;
        let block = op.sub_block().ok_or_else(|| missing("block"))?;
        let written = std::mem::take(&mut self.written[block]);
        let carried: Vec<&'t str> = written
            .iter()
            .copied()
            .filter(|&n| n != condition && self.names.contains_key(n))
            .collect();
        self.written[block] = written;
        let mut operands = vec![self.value(condition, op.span)?];
        for name in &carried {
            operands.push(self.value(name, op.span)?);
        }
        let types: Vec<Type> = operands
            .iter()
            .skip(1)
            .map(|&id| self.builder.value_type(id).unwrap_or(Type::NONE))
            .collect();
        let results: Vec<SourceId> = types.iter().map(|_| self.fresh()).collect();
        let regions = self.emit_as(pd::While::NAME, &operands, &results, &types, Vec::new(), 1, op.span);
        if let Some(&region) = regions.first() {
            self.builder.enter(region);
        }
        let args: Vec<SourceId> = types.iter().map(|_| self.fresh()).collect();
        for (&arg, &ty) in args.iter().zip(&types) {
            self.builder.block_arg(arg, ty);
        }
        let kind = BlockKind::Loop {
            condition,
            carried: carried.clone(),
            results,
        };
        self.enter(Some(block), kind, op.span);
        for (name, arg) in carried.into_iter().zip(args) {
            self.bind(name, arg);
        }
        Ok(())
    }

    pub(super) fn open_branch(&mut self, op: &'t Op, at: usize) -> Done {
        if op.int("is_scalar_condition") == Some(0) {
            return Err(error(
                op.span,
                "a `conditional_block` whose condition is not a single boolean",
            ));
        }
        let missing = |op: &Op| error(op.span, "a `conditional_block` without its condition or its block");
        let frame = self.frames.last();
        let first = frame.and_then(|f| f.pairs.first.get(&at).copied());
        let choices = frame
            .and_then(|f| f.pairs.choices.get(&at).cloned())
            .unwrap_or_default();
        let block = frame.and_then(|f| f.block).unwrap_or(0);
        // The pair is translated at the position of its second block.
        let (then, otherwise) = match first.and_then(|first| self.blocks[block].ops.get(first)) {
            Some(first) => (first, Some(op)),
            None => (op, None),
        };
        let condition = then.input("Cond").ok_or_else(|| missing(then))?;
        let condition = self.value(condition, op.span)?;
        let then_block = then.sub_block().ok_or_else(|| missing(then))?;
        let else_block = otherwise
            .map(|op| op.sub_block().ok_or_else(|| missing(op)))
            .transpose()?;
        let mut slots: Vec<BranchResult<'t>> = Vec::new();
        for (out, yes, no) in choices {
            let id = self.fresh();
            slots.push(BranchResult {
                out,
                names: [yes, no],
                id,
            });
        }
        // The results: variables that were bound before, and variables of one side that may be read later.
        let chosen: FxHashSet<&str> = slots.iter().flat_map(|s| s.names).collect();
        let mut seen: FxHashSet<&str> = FxHashSet::default();
        let both = [Some(then_block), else_block];
        for sub in both.into_iter().flatten() {
            for name in self.written[sub].clone() {
                let known = self.names.contains_key(name);
                let alone = otherwise.is_none() && self.declared(name).is_some();
                if (known || (alone && !chosen.contains(name))) && seen.insert(name) {
                    let id = self.fresh();
                    slots.push(BranchResult {
                        out: name,
                        names: [name; 2],
                        id,
                    });
                }
            }
        }
        let ids: Vec<SourceId> = slots.iter().map(|s| s.id).collect();
        let types = vec![Type::NONE; slots.len()];
        let regions = self.emit_as(pd::If::NAME, &[condition], &ids, &types, Vec::new(), 2, op.span);
        let (Some(&yes), Some(&no)) = (regions.first(), regions.get(1)) else {
            return Ok(());
        };
        let branch = Branch {
            op: self.builder.last_op(),
            slots,
            otherwise: Some((else_block, no)),
            types: Vec::new(),
        };
        self.builder.enter(yes);
        self.enter(Some(then_block), BlockKind::Branch(branch), op.span);
        Ok(())
    }

    fn leave_branch(&mut self, mut branch: Branch<'t>, span: Span) -> Done {
        let side = usize::from(branch.otherwise.is_none());
        let mut values = Vec::with_capacity(branch.slots.len());
        for slot in &branch.slots {
            values.push(self.at_end(slot, side, span)?);
        }
        let types: Vec<Type> = values
            .iter()
            .map(|&id| self.builder.value_type(id).unwrap_or(Type::NONE))
            .collect();
        self.terminate(&values, span);
        self.unhide();
        match branch.otherwise.take() {
            Some((block, region)) => {
                branch.types = types;
                self.builder.enter(region);
                self.enter(block, BlockKind::Branch(branch), span);
            }
            None => {
                let ctx = self.builder.ctx;
                for (at, slot) in branch.slots.iter().enumerate() {
                    let (yes, no) = (branch.types[at], types[at]);
                    let ty = common(ctx, yes, no).ok_or_else(|| {
                        let message = format!("`{}` has different ranks in the two branches", slot.out);
                        error(span, message)
                    })?;
                    self.builder.set_result_type(branch.op, at, ty);
                    self.bind(slot.out, slot.id);
                }
            }
        }
        Ok(())
    }

    /// The value of a branch's result at the end of a block, converted to the declared element type; zeros if the block
    /// does not define it, which nothing should read.
    fn at_end(&mut self, slot: &BranchResult<'t>, side: usize, span: Span) -> Result<SourceId, Diagnostic> {
        let name = slot.names[side];
        let declared = self.declared(slot.out);
        if !self.names.contains_key(name)
            && let Some((shape, elem)) = declared
            && shape.iter().all(|&d| d >= 0)
        {
            return Ok(self.full(shape, 0, elem, span));
        }
        let id = self.value(name, span)?;
        let ctx = self.builder.ctx;
        let tensor = self.builder.value_type(id).and_then(|ty| ctx.as_tensor(ty));
        match (tensor, declared) {
            (Some((shape, have)), Some((_, want))) if have != want => {
                let attrs = vec![(ctx.sym("dtype"), ctx.type_attr(want))];
                Ok(self.emit(pd::Cast::NAME, &[id], &[ctx.tensor(shape, want)], attrs, span)[0])
            }
            _ => Ok(id),
        }
    }
}
