//! Building loops from blocks, for `lift-cfg`.

use pir_dialects::{cf, pd};
use pir_ir::{BlockId, Rewriter, Type, Use, ValueId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::structure::{Exit, Nodes, Stuck, When};

/// A value that the condition of a loop forwards.
struct Forwarded {
    value: ValueId,
    /// The values that give it its names in the body and after the loop.
    like: [Option<ValueId>; 2],
}

/// The values that the condition of a loop forwards, each once.
#[derive(Default)]
struct Handed {
    all: Vec<Forwarded>,
    places: FxHashMap<ValueId, usize>,
}

impl Handed {
    /// The place of a value, which is added if it is new.
    fn place(&mut self, value: ValueId) -> usize {
        *self.places.entry(value).or_insert_with(|| {
            let like = [None; 2];
            self.all.push(Forwarded { value, like });
            self.all.len() - 1
        })
    }
}

/// A use of a forwarded value outside of the condition, the place of the value, and whether it is in the body of the loop.
type Outside = (Use, usize, bool);

impl Nodes<'_> {
    /// Makes a loop of a node: its block becomes the condition. The loop continues by the edge to `back`, which is the
    /// node itself, or another one that is then the body and only leads back. The other edges become those of the node.
    pub(super) fn make_while(&mut self, node: usize, back: usize) -> Result<(), Stuck> {
        let cond = self.blocks[node];
        let exits = self.exits(cond);
        let Some(on) = exits.iter().find(|e| e.to == back).cloned() else {
            return Ok(());
        };
        let out: Vec<Exit> = exits.into_iter().filter(|e| e.to != back).collect();
        let ty = match on.when {
            When::If(value) | When::IfNot(value) => self.body.value_type(value),
            When::Always => self.truth_type(&[]),
        };
        let go = self.taken(cond, Some(on.when), ty)?;
        let inner = if back == node {
            let block = self.new_block();
            self.set_exits(block, &[]);
            block
        } else {
            self.blocks[back]
        };
        // The new block replaces the condition.
        let outer = self.new_block();
        for arg in self.body.block_args(cond).to_vec() {
            let (ty, name) = (self.body.value_type(arg), self.body.value_name(arg));
            self.body.add_block_arg(outer, ty, name);
        }
        let (Handed { all: forwarded, places }, uses) = self.handed(cond, inner, &on, &out);
        let types: Vec<Type> = forwarded.iter().map(|f| self.body.value_type(f.value)).collect();
        let span = self.end(cond).map(|end| self.body.op_span(end)).unwrap_or_default();
        let mut rewriter = Rewriter::new(self.ctx, self.body);
        rewriter.set_span(span);
        let inputs = rewriter.body.block_args(outer).to_vec();
        let regions = [rewriter.body.create_region(), rewriter.body.create_region()];
        let op = rewriter.at_end(outer).op(pd::While::NAME).operands(inputs);
        let op = op
            .results(types.iter().copied())
            .region(regions[0])
            .region(regions[1])
            .build();
        let first = self.body.block_args(inner).len();
        let mut args = Vec::new();
        for (slot, &ty) in types.iter().enumerate() {
            let Forwarded { value, like } = forwarded[slot];
            let [inside, behind] = like.map(|like| {
                let name = self.body.value_name(like.unwrap_or(value));
                name.filter(|n| !n.pack)
            });
            let result = self.body.result(op, slot);
            self.body.set_value_name(result, behind);
            args.push(self.body.add_block_arg(inner, ty, inside));
        }
        for (at, slot, in_body) in uses {
            let value = if in_body {
                args[slot]
            } else {
                self.body.result(op, slot)
            };
            self.body.set_operand(at.op, at.index, value);
        }
        let mut next: SmallVec<[ValueId; 4]> = on
            .values
            .iter()
            .map(|v| places.get(v).map_or(*v, |&slot| args[slot]))
            .collect();
        if back != node {
            for (arg, &value) in self.body.block_args(inner)[..first].to_vec().iter().zip(&next) {
                Rewriter::new(self.ctx, self.body).replace_value(*arg, value);
            }
            self.body.retain_block_args(inner, |at| at >= first);
            next = self
                .exits(inner)
                .into_iter()
                .next()
                .map(|e| e.values)
                .unwrap_or_default();
        }
        self.finish(inner, cf::YIELD, &next);
        let values: Vec<ValueId> = std::iter::once(go).chain(forwarded.iter().map(|f| f.value)).collect();
        self.finish(cond, cf::COND_YIELD, &values);
        for (region, block) in regions.into_iter().zip([cond, inner]) {
            self.body.append_block(region, block);
            self.note(block, outer);
        }
        let out = self.behind(&out, |s, v| places.get(&v).map_or(v, |&slot| s.body.result(op, slot)));
        self.sizes.insert(outer, 1);
        self.blocks[node] = outer;
        self.blocks[back] = outer;
        self.set_exits(outer, &out);
        Ok(())
    }

    /// The values that a condition forwards: first those carried by the edges, then those used directly. `on` leads to the body `inner`,
    /// `out` out of the loop.
    fn handed(&mut self, cond: BlockId, inner: BlockId, on: &Exit, out: &[Exit]) -> (Handed, Vec<Outside>) {
        let mut handed = Handed::default();
        let mut names: Vec<(usize, usize, ValueId)> = Vec::new();
        for (way, exit) in std::iter::once(on).chain(out).enumerate() {
            if let When::If(value) | When::IfNot(value) = exit.when
                && way > 0
                && out.len() > 1
                && self.is_defined_in(value, cond)
            {
                handed.place(value);
            }
            for (index, &value) in exit.values.iter().enumerate() {
                if self.is_defined_in(value, cond) {
                    let place = handed.place(value);
                    let param = self.param(exit.to, index);
                    names.extend(param.map(|param| (place, usize::from(way > 0), param)));
                }
            }
        }
        let mut defined: Vec<ValueId> = self.body.block_args(cond).to_vec();
        for op in self.body.block_ops(cond) {
            defined.extend(self.body.results(op));
        }
        let mut uses = Vec::new();
        for value in defined {
            for at in self.body.uses(value).collect::<SmallVec<[Use; 8]>>() {
                let block = self.body.op_block(at.op).map(|b| self.outermost(b));
                if let Some(block) = block.filter(|&b| b != cond) {
                    uses.push((at, handed.place(value), block == inner));
                }
            }
        }
        for (slot, side, param) in names {
            handed.all[slot].like[side].get_or_insert(param);
        }
        (handed, uses)
    }

    /// The ways out of a loop, with the values that replace those of its condition.
    fn behind(&self, out: &[Exit], stands: impl Fn(&Self, ValueId) -> ValueId) -> Vec<Exit> {
        let only = out.len() == 1;
        let behind = |exit: &Exit| Exit {
            to: exit.to,
            when: match exit.when {
                _ if only => When::Always,
                When::If(value) => When::If(stands(self, value)),
                When::IfNot(value) => When::IfNot(stands(self, value)),
                When::Always => When::Always,
            },
            values: exit.values.iter().map(|&v| stands(self, v)).collect(),
        };
        out.iter().map(behind).collect()
    }
}
