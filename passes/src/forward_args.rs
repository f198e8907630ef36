//! `forward-args`: arguments and results that always stand for the same value.
//!
//! ```text
//! %i_2, %ten2 = pd.while (%i, %ten) cond (%a, %b) {     %i_2 = pd.while (%i) cond (%a) {
//!   %go = pd.less_than (%a, %b)                           %go = pd.less_than (%a, %ten)
//!   cf.cond_yield (%go, %a, %b)                  ==>      cf.cond_yield (%go, %a)
//! } body (%c, %d) {                                     } body (%c) {
//!   %n = pd.add (%c, %one)                                %n = pd.add (%c, %one)
//!   cf.yield (%n, %d)                                     cf.yield (%n)
//! }                                                     }
//! ```
//!
//! # Algorithm
//! Region arguments, results of operations with region flow, and block arguments are bound by control: each has a set
//! of sources (`Body::flow_sources`, or the operands that predecessors pass). For each such slot we look for the one
//! value that all its sources stand for. The search is optimistic: at first every slot stands for anything, so cycles
//! of slots that only feed each other do not count against it. A slot is looked at again when a source changes. In the
//! end a slot stands either for one value outside or for itself. (This is the removal of redundant φ functions, by a
//! worklist.) The same constant, computed in different places, counts as one value; if no instance of it is visible
//! where it is needed, it is computed again there.
//!
//! The uses of a slot that stands for a value become uses of that value. Then the slots that no operation reads any
//! more are removed together with what feeds them.
//!
//! # Conditions
//! * The value must be visible at the operation whose slot it replaces, and have the same type.
//! * Regions of one block only, since the one terminator tells where values come from.
//! * Slots of handles may be forwarded, but stay in place.
//! * What a region that runs once before the others (`init`) hands on are its arguments, and stay them: operations are
//!   built on that. Such an argument is only replaced where it is read.

use std::collections::VecDeque;

use pir_ir::{
    Body, Context, Diagnostic, DominanceInfo, FlowPoint, Module, OpId, Rewriter, Traits, Use, ValueDef, ValueId,
    ValueMap,
};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::analysis::{Facts, Liveness, Roots, has_simple_regions, sweep};
use crate::bodies::for_each_body_mut;
use crate::pass::{Changed, Pass, PassContext};

/// Replacing one slot may show that another is redundant; more rounds than this have not been seen to matter.
const MAX_ROUNDS: usize = 8;

/// The pass `forward-args`.
pub struct ForwardArgs;

impl Pass for ForwardArgs {
    fn name(&self) -> &'static str {
        "forward-args"
    }

    fn summary(&self) -> &'static str {
        "Replace loop-carried values that never change by the value itself"
    }

    fn description(&self) -> &'static str {
        "Finds arguments of regions and blocks, and results of `if` and `while`, that are always bound to the same \
         value or constant, uses that value in their place and removes them. Values carried around a loop unchanged \
         are the usual case, also when they change places among themselves on the way."
    }

    fn run(&self, module: &mut Module, _: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        for_each_body_mut(module, |ctx, body| Ok(forward_args(ctx, body).into()))
    }
}

/// Runs the pass on one body.
pub(crate) fn forward_args(ctx: &Context, body: &mut Body) -> bool {
    let mut changed = false;
    for _ in 0..MAX_ROUNDS {
        if !forward_once(ctx, body) {
            break;
        }
        changed = true;
    }
    let facts = Facts::new(ctx, body);
    let live = Liveness::new(ctx, body, &facts, Roots::AllOps);
    changed | sweep(ctx, body, &live)
}

/// What a value stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stands {
    /// Anything, as far as is known.
    Anything,
    /// A value.
    For(ValueId),
    /// A constant of this class.
    Constant(usize),
    /// Itself.
    Itself,
}

struct Slot {
    value: ValueId,
    /// Where the value that it stands for must be visible.
    anchor: OpId,
    sources: SmallVec<[ValueId; 4]>,
    /// The slots that this one is a source of.
    feeds: SmallVec<[usize; 4]>,
    stands: Stands,
    /// How often it changed; slots that cannot make up their mind stand for themselves.
    changes: u8,
}

/// Constants by what they compute.
#[derive(Default)]
struct Constants {
    classes: FxHashMap<(pir_ir::OpName, pir_ir::AttrDict, pir_ir::Type), usize>,
    /// A few instances of each class.
    instances: Vec<SmallVec<[ValueId; 4]>>,
}

impl Constants {
    fn class(&mut self, ctx: &Context, body: &Body, value: ValueId) -> Option<usize> {
        let op = body.defining_op(value)?;
        let view = body.view(ctx, op);
        if !view.has(Traits::CONSTANT) || body.num_operands(op) != 0 || body.num_results(op) != 1 {
            return None;
        }
        let key = (
            body.op_name(op),
            ctx.dict_sorted(body.attrs(op)),
            body.value_type(value),
        );
        let class = *self.classes.entry(key).or_insert(self.instances.len());
        if class == self.instances.len() {
            self.instances.push(SmallVec::new());
        }
        let instances = &mut self.instances[class];
        if instances.len() < 8 && !instances.contains(&value) {
            instances.push(value);
        }
        Some(class)
    }
}

struct Solver<'a> {
    ctx: &'a Context,
    body: &'a Body,
    dominance: DominanceInfo,
    slots: Vec<Slot>,
    /// The index of each value's slot, or `u32::MAX`.
    slot_of: Vec<u32>,
    constants: Constants,
}

impl Solver<'_> {
    fn slot(&self, value: ValueId) -> Option<usize> {
        Some(self.slot_of[value.index()] as usize).filter(|&i| i != u32::MAX as usize)
    }

    fn add_slot(&mut self, value: ValueId, anchor: OpId, sources: SmallVec<[ValueId; 4]>) {
        if sources.is_empty() {
            return;
        }
        self.slot_of[value.index()] = self.slots.len() as u32;
        self.slots.push(Slot {
            value,
            anchor,
            sources,
            feeds: SmallVec::new(),
            stands: Stands::Anything,
            changes: 0,
        });
    }

    fn add_flow_slots(&mut self, op: OpId) {
        let (ctx, body) = (self.ctx, self.body);
        if body.region_flow(ctx, op).is_none() || !has_simple_regions(body, op) {
            return;
        }
        let args = body.op_regions(op).iter().filter_map(|&r| body.entry_block(r));
        let args = args.flat_map(|b| body.block_args(b).iter().copied());
        for value in body.results(op).chain(args) {
            let sources = body.flow_sources(ctx, value).unwrap_or_default();
            self.add_slot(value, op, sources.iter().map(|s| body.operand(s.op, s.index)).collect());
        }
    }

    fn add_block_slots(&mut self) {
        let body = self.body;
        let mut sources: FxHashMap<ValueId, SmallVec<[ValueId; 4]>> = FxHashMap::default();
        let mut blocks = Vec::new();
        for op in body.walk_all() {
            for (index, successor) in body.successors(op).iter().enumerate() {
                blocks.push(successor.block);
                for (value, &arg) in body.successor_operands(op, index).zip(body.block_args(successor.block)) {
                    sources.entry(arg).or_default().push(value);
                }
            }
        }
        for block in blocks {
            if let Some(first) = body.first_op(block) {
                for &arg in body.block_args(block) {
                    self.add_slot(arg, first, sources.remove(&arg).unwrap_or_default());
                }
            }
        }
    }

    fn stands_for(&mut self, value: ValueId) -> Stands {
        match self.slot(value) {
            Some(slot) => match self.slots[slot].stands {
                Stands::Itself => Stands::For(value),
                other => other,
            },
            None => match self.constants.class(self.ctx, self.body, value) {
                Some(class) => Stands::Constant(class),
                None => Stands::For(value),
            },
        }
    }

    /// What the slot stands for, going by what its sources do.
    fn evaluate(&mut self, index: usize) -> Stands {
        let mut all = Stands::Anything;
        for at in 0..self.slots[index].sources.len() {
            let source = self.slots[index].sources[at];
            match self.stands_for(source) {
                Stands::Anything => {}
                one if all == Stands::Anything || all == one => all = one,
                _ => return Stands::Itself,
            }
        }
        let slot = &self.slots[index];
        let ty = self.body.value_type(slot.value);
        let fits = match all {
            Stands::For(value) => {
                self.body.value_type(value) == ty && self.dominance.value_dominates(self.body, value, slot.anchor)
            }
            Stands::Constant(class) => self.constants.instances[class]
                .iter()
                .any(|&v| self.body.value_type(v) == ty),
            Stands::Anything | Stands::Itself => true,
        };
        if fits { all } else { Stands::Itself }
    }

    fn solve(&mut self) {
        for index in 0..self.slots.len() {
            for at in 0..self.slots[index].sources.len() {
                if let Some(source) = self.slot(self.slots[index].sources[at]) {
                    self.slots[source].feeds.push(index);
                }
            }
        }
        let mut pending: VecDeque<usize> = (0..self.slots.len()).collect();
        let mut is_pending = vec![true; self.slots.len()];
        while let Some(index) = pending.pop_front() {
            is_pending[index] = false;
            let old = self.slots[index].stands;
            if old == Stands::Itself {
                continue;
            }
            let mut new = self.evaluate(index);
            if new == old {
                continue;
            }
            self.slots[index].changes += 1;
            if self.slots[index].changes > 4 {
                new = Stands::Itself;
            }
            self.slots[index].stands = new;
            for &fed in &self.slots[index].feeds {
                if !std::mem::replace(&mut is_pending[fed], true) {
                    pending.push_back(fed);
                }
            }
        }
    }
}

fn forward_once(ctx: &Context, body: &mut Body) -> bool {
    let mut solver = Solver {
        ctx,
        body,
        dominance: DominanceInfo::new(body),
        slots: Vec::new(),
        slot_of: vec![u32::MAX; body.num_value_slots()],
        constants: Constants::default(),
    };
    for op in body.walk_all() {
        solver.add_flow_slots(op);
    }
    solver.add_block_slots();
    solver.solve();
    // What to use in place of each slot: a value, or a constant to be found or made before the anchor.
    let Solver {
        slots,
        constants,
        dominance,
        ..
    } = solver;
    let mut replacements = Vec::new();
    let mut made: FxHashMap<(usize, OpId), ValueId> = FxHashMap::default();
    let visible: Vec<Option<ValueId>> = slots
        .iter()
        .map(|slot| match slot.stands {
            Stands::For(value) => Some(value),
            Stands::Constant(class) => constants.instances[class]
                .iter()
                .copied()
                .find(|&v| dominance.value_dominates(body, v, slot.anchor)),
            Stands::Anything | Stands::Itself => None,
        })
        .collect();
    for (slot, visible) in slots.iter().zip(visible) {
        // A constant that nobody reads need not be made.
        if !body.has_uses(slot.value) {
            continue;
        }
        let value = match (slot.stands, visible) {
            (_, Some(value)) => value,
            (Stands::Constant(class), None) => *made.entry((class, slot.anchor)).or_insert_with(|| {
                let instance = constants.instances[class][0];
                let mut rewriter = Rewriter::new(ctx, body);
                match rewriter.body.value_def(instance) {
                    ValueDef::Result(op, _) => {
                        let copy = rewriter.before(slot.anchor).clone_op(op, &mut ValueMap::new());
                        rewriter.body.result(copy, 0)
                    }
                    _ => slot.value,
                }
            }),
            _ => continue,
        };
        if value != slot.value {
            replacements.push((slot.value, value));
        }
    }
    let mut changed = false;
    for &(slot, value) in &replacements {
        changed |= replace_uses(ctx, body, slot, value);
    }
    changed
}

/// Replaces a slot by a value, except where a region that only leads to others hands it on.
fn replace_uses(ctx: &Context, body: &mut Body, slot: ValueId, value: ValueId) -> bool {
    let uses: SmallVec<[Use; 8]> = body.uses(slot).collect();
    let mut changed = false;
    for at in uses {
        if !is_handed_on_by_entry(ctx, body, at) {
            body.set_operand(at.op, at.index, value);
            changed = true;
        }
    }
    changed
}

/// Whether a use stands in the terminator of a region that runs at most once and leads to other regions only.
fn is_handed_on_by_entry(ctx: &Context, body: &Body, at: Use) -> bool {
    let Some(region) = body
        .op_region(at.op)
        .filter(|&r| body.region_terminator(r) == Some(at.op))
    else {
        return false;
    };
    let (Some(op), Some(index)) = (body.region_parent(region), body.region_index(region)) else {
        return false;
    };
    let Some(flow) = body.region_flow(ctx, op) else {
        return false;
    };
    let view = body.view(ctx, op);
    let here = FlowPoint::Region(index);
    !flow.is_repeated(view, index)
        && flow
            .edges(view)
            .iter()
            .filter(|e| e.from == here)
            .all(|e| e.to != FlowPoint::Parent)
}

#[cfg(test)]
mod tests {
    use crate::testing::{expect, expect_same};

    #[test]
    fn a_value_carried_unchanged() {
        expect(
            "forward-args",
            r#"
            %i = t.in {name = "i"} : i64
            %ten = t.in {name = "ten"} : i64
            %i_2, %ten2 = t.while (%i, %ten) cond (%arg1: i64, %arg2: i64) {
              %go = t.less (%arg1, %arg2) : i1
              t.test (%go, %arg1, %arg2)
            } body (%arg3: i64, %arg4: i64) {
              %i_3 = t.add (%arg3, %arg4) : i64
              t.yield (%i_3, %arg4)
            } : i64, i64
            t.print (%ten2)
            t.print (%i_2)
            "#,
            r#"
            %i = t.in {name = "i"} : i64
            %ten = t.in {name = "ten"} : i64
            %i_2 = t.while (%i) cond (%arg1: i64) {
              %go = t.less (%arg1, %ten) : i1
              t.test (%go, %arg1)
            } body (%arg3: i64) {
              %i_3 = t.add (%arg3, %ten) : i64
              t.yield (%i_3)
            } : i64
            t.print (%ten)
            t.print (%i_2)
            "#,
        );
    }

    #[test]
    fn values_that_change_places_with_their_likes() {
        expect(
            "forward-args",
            r#"
            %c = t.in {name = "c"} : i1
            %x = t.in {name = "x"} : f32
            %r, %s = t.while (%x, %x) cond (%a: f32, %b: f32) {
              t.print (%a)
              t.test (%c, %b, %a)
            } body (%d: f32, %e: f32) {
              t.yield (%e, %d)
            } : f32, f32
            t.print (%s)
            "#,
            r#"
            %c = t.in {name = "c"} : i1
            %x = t.in {name = "x"} : f32
            t.while cond {
              t.print (%x)
              t.test (%c)
            } body {
              t.yield ()
            }
            t.print (%x)
            "#,
        );
        // With different likes they do change.
        expect_same(
            "forward-args",
            r#"
            %c = t.in {name = "c"} : i1
            %x = t.in {name = "x"} : f32
            %y = t.in {name = "y"} : f32
            %r, %s = t.while (%x, %y) cond (%a: f32, %b: f32) {
              t.print (%a)
              t.test (%c, %a, %b)
            } body (%d: f32, %e: f32) {
              t.yield (%e, %d)
            } : f32, f32
            t.print (%s)
            "#,
        );
    }

    #[test]
    fn through_nested_loops_and_branches() {
        expect(
            "forward-args",
            r#"
            %c = t.in {name = "c"} : i1
            %x = t.in {name = "x"} : f32
            %r = t.while (%x) cond (%a: f32) {
              t.test (%c, %a)
            } body (%b: f32) {
              %k = t.if (%c) then {
                %in = t.while (%b) cond (%e: f32) {
                  t.test (%c, %e)
                } body (%g: f32) {
                  t.print (%g)
                  t.yield (%g)
                } : f32
                t.yield (%in)
              } else {
                t.yield (%b)
              } : f32
              t.yield (%k)
            } : f32
            t.print (%r)
            "#,
            r#"
            %c = t.in {name = "c"} : i1
            %x = t.in {name = "x"} : f32
            t.while cond {
              t.test (%c)
            } body {
              t.if (%c) then {
                t.while cond {
                  t.test (%c)
                } body {
                  t.print (%x)
                  t.yield ()
                }
                t.yield ()
              } else {
                t.yield ()
              }
              t.yield ()
            }
            t.print (%x)
            "#,
        );
    }

    #[test]
    fn the_same_constant_everywhere() {
        expect(
            "forward-args",
            r#"
            %c = t.in {name = "c"} : i1
            %k = t.const {value = 1} : i64
            %r = t.while (%k) cond (%a: i64) {
              t.test (%c, %a)
            } body (%b: i64) {
              %k2 = t.const {value = 1} : i64
              t.print (%b)
              t.yield (%k2)
            } : i64
            %s = t.if (%c) then {
              %p = t.const {value = 2} : i64
              t.yield (%p)
            } else {
              %q = t.const {value = 2} : i64
              t.yield (%q)
            } : i64
            t.print (%s)
            "#,
            r#"
            %c = t.in {name = "c"} : i1
            %k = t.const {value = 1} : i64
            t.while cond {
              t.test (%c)
            } body {
              %k2 = t.const {value = 1} : i64
              t.print (%k)
              t.yield ()
            }
            %p = t.const {value = 2} : i64
            t.if (%c) then {
              %p_1 = t.const {value = 2} : i64
              t.yield ()
            } else {
              %q = t.const {value = 2} : i64
              t.yield ()
            }
            t.print (%p)
            "#,
        );
    }

    #[test]
    fn different_constants_and_types_are_not_the_same() {
        expect_same(
            "forward-args",
            r#"
            %c = t.in {name = "c"} : i1
            %s = t.if (%c) then {
              %p = t.const {value = 2} : i64
              t.yield (%p)
            } else {
              %q = t.const {value = 3} : i64
              t.yield (%q)
            } : i64
            t.print (%s)
            "#,
        );
    }

    #[test]
    fn a_value_of_the_region_itself_cannot_be_used_outside() {
        expect_same(
            "forward-args",
            r#"
            %c = t.in {name = "c"} : i1
            %x = t.in {name = "x"} : f32
            %r = t.while (%x) cond (%a: f32) {
              %d = t.add (%x, %x) : f32
              t.test (%c, %d)
            } body (%b: f32) {
              t.print (%b)
              t.yield (%b)
            } : f32
            t.print (%r)
            "#
            .replace("(%x) cond (%a: f32)", "cond")
            .replace("t.yield (%b)", "t.yield ()")
            .as_str(),
        );
    }

    #[test]
    fn a_changing_value_and_a_swap_with_it() {
        expect_same(
            "forward-args",
            r#"
            %c = t.in {name = "c"} : i1
            %x = t.in {name = "x"} : f32
            %r = t.while (%x) cond (%a: f32) {
              t.test (%c, %a)
            } body (%b: f32) {
              %d = t.add (%b, %x) : f32
              t.yield (%d)
            } : f32
            t.print (%r)
            "#,
        );
    }

    #[test]
    fn arguments_of_blocks() {
        expect(
            "forward-args",
            r#"
            t.func @f(%c: i1, %x: f32) -> f32 {
              t.br ^loop(%x)
            ^loop(%p: f32):
              t.fork %c, ^loop(%p), ^end(%p)
            ^end(%q: f32):
              t.return (%q)
            }
            "#,
            r#"
            t.func @f(%c: i1, %x: f32) -> f32 {
              t.br ^loop
            ^loop:
              t.fork %c, ^loop, ^end
            ^end:
              t.return (%x)
            }
            "#,
        );
    }

    #[test]
    fn long_chains_of_loops() {
        use std::fmt::Write;
        let mut source = String::from("%c = t.in {name = \"c\"} : i1\n%v0 = t.in {name = \"x\"} : f32\n");
        for i in 0..2000 {
            let _ = writeln!(
                source,
                "%v{} = t.while (%v{i}) cond (%a{i}: f32) {{\nt.test (%c, %a{i})\n}} body (%b{i}: f32) {{\n\
                 t.yield (%b{i})\n}} : f32",
                i + 1
            );
        }
        source.push_str("t.print (%v2000)\n");
        let out = crate::testing::run("forward-args", &source);
        assert!(out.trim_end().ends_with("t.print (%v0)"), "{}", &out[out.len() - 200..]);
    }
}
