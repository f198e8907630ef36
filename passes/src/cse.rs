//! `cse`: common subexpression elimination.
//!
//! # Algorithm
//! A walk in program order, over the dominator tree where a region has several blocks, with a scoped table of the
//! operations that are sure to have run. An operation that does the same as one in the table is replaced by it. Two do
//! the same if they have the same name, operands (in any order where the operation commutes), attributes (in any
//! order) and result types. Leaving a region, or a subtree of the dominator tree, takes back what was entered there.
//!
//! # Conditions
//! * Operations with regions, with successors, or that write or make a resource are left alone. (An operation that may
//!   fail can be replaced: the one before would have failed.)
//! * An operation that reads through a handle is replaced only if nothing was written in between. Every write, and
//!   every entry into a region of an operation that writes, begins a new epoch; reads of different epochs differ.
//! * Reads of the world are left alone: they are the inputs of the program.

use std::sync::Arc;

use std::hash::{Hash, Hasher};

use hashbrown::HashTable;
use pir_ir::{BlockId, Body, Context, Diagnostic, DominatorTree, Module, OpId, RegionId, ValueId};
use rustc_hash::{FxHashMap, FxHasher};

use crate::analysis::{EffectSet, Effects, ShortHash, hash_op, is_symbol_or_terminator, ops_equal, regions_equal};
use crate::bodies::for_each_different_body_mut;
use crate::pass::{Changed, Pass, PassContext, Scope};

/// The pass `cse`.
pub struct Cse;

impl Pass for Cse {
    fn name(&self) -> &'static str {
        "cse"
    }

    fn summary(&self) -> &'static str {
        "Eliminate common subexpressions"
    }

    fn description(&self) -> &'static str {
        "Replaces an operation with an earlier one that has the same operands and attributes and dominates it. Applies \
         to whole branches and loops too, and across regions: a loop does not recompute what was computed before it."
    }

    fn scope(&self) -> Scope {
        Scope::Body
    }

    fn is_pure(&self) -> bool {
        true
    }

    fn run(&self, module: &mut Module, _: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        for_each_different_body_mut(module, |ctx, body| Ok(cse(ctx, body).into()))
    }
}

enum Task {
    Region(RegionId),
    Dominating(RegionId, BlockId),
    Block(BlockId),
    Op(OpId),
    /// Everything in the operation has been walked; it writes.
    Written,
    /// Everything in the operation has been walked.
    Close(OpId),
    /// Take back what was entered since the table had that many entries.
    Leave(usize),
}

/// There is one for nearly every operation: small, so that tables stay in the caches.
struct Entry {
    op: OpId,
    hash: ShortHash,
}

/// The state of the walk inside an operation.
#[derive(Default)]
struct Inside {
    /// A hash of the operations, without their operands.
    structure: u64,
    /// A sum over their operands.
    uses: u64,
    /// Whether these are needed: another operation may be equal to this one, or to one around it.
    is_compared: bool,
}

struct Table<'a> {
    ctx: &'a Context,
    body: &'a mut Body,
    effects: Arc<Effects>,
    /// Indices into `entries`.
    known: HashTable<u32>,
    /// The operations to find, in the order in which they were walked.
    entries: Vec<Entry>,
    /// The epochs of those among them that read.
    epochs: FxHashMap<OpId, u64>,
    /// Incremented by each write; reads in the same epoch see the same contents.
    epoch: u64,
    /// For the operations that the walk is in, outermost first.
    inside: Vec<Inside>,
    replaced: bool,
}

/// The share of one operand in the hash of what is captured.
fn use_hash(body: &Body, op: OpId, index: usize, value: ValueId) -> u64 {
    let mut hasher = FxHasher::default();
    (body.op_name(op), index, value).hash(&mut hasher);
    hasher.finish()
}

/// Runs the pass on one body.
pub(crate) fn cse(ctx: &Context, body: &mut Body) -> bool {
    let count = body.num_op_slots();
    let mut table = Table {
        effects: body.analysis::<Effects>(ctx),
        known: HashTable::with_capacity(count),
        ctx,
        body,
        entries: Vec::with_capacity(count),
        epochs: FxHashMap::default(),
        epoch: 0,
        inside: Vec::new(),
        replaced: false,
    };
    table.walk();
    table.replaced
}

impl Table<'_> {
    fn walk(&mut self) {
        let mut trees: FxHashMap<RegionId, DominatorTree> = FxHashMap::default();
        let mut tasks = vec![Task::Region(self.body.root())];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Region(region) => {
                    tasks.push(Task::Leave(self.entries.len()));
                    match self.body.region_blocks(region) {
                        [] => {}
                        &[block] => tasks.push(Task::Block(block)),
                        &[entry, ..] => {
                            trees.insert(region, DominatorTree::new(self.body, region));
                            tasks.push(Task::Dominating(region, entry));
                        }
                    }
                }
                Task::Dominating(region, block) => {
                    // Operations between the dominator and this block are unknown.
                    self.epoch += 1;
                    tasks.push(Task::Leave(self.entries.len()));
                    let children = trees.get(&region).map_or(&[][..], |t| t.children(block));
                    tasks.extend(children.iter().rev().map(|&b| Task::Dominating(region, b)));
                    tasks.push(Task::Block(block));
                }
                Task::Block(block) => tasks.extend(self.body.first_op(block).map(Task::Op)),
                Task::Op(first) => {
                    let mut at = Some(first);
                    while let Some(op) = at {
                        at = self.body.next_op(op);
                        if self.body.op_regions(op).is_empty() {
                            self.visit(op);
                        } else {
                            // The rest of the block comes after what is in it.
                            tasks.extend(at.take().map(Task::Op));
                            self.open(op, &mut tasks);
                        }
                    }
                }
                Task::Written => self.epoch += 1,
                Task::Close(op) => self.close(op),
                Task::Leave(count) => self.leave(count),
            }
        }
    }

    fn leave(&mut self, count: usize) {
        for at in (count..self.entries.len()).rev() {
            let hash = self.entries[at].hash.wide();
            if let Ok(found) = self.known.find_entry(hash, |&i| i as usize == at) {
                found.remove();
            }
        }
        self.entries.truncate(count);
    }

    /// Looks at an operation without regions.
    fn visit(&mut self, op: OpId) {
        if self.effects.touched(op).intersects(EffectSet::WRITES) {
            self.epoch += 1;
        }
        if !self.replace(op, &Inside::default()) {
            self.note(op, &Inside::default());
        }
    }

    /// Makes the tasks for an operation with regions.
    fn open(&mut self, op: OpId, tasks: &mut Vec<Task>) {
        let writes = self.effects.touched(op).intersects(EffectSet::WRITES);
        let regions = self.body.op_regions(op);
        tasks.push(Task::Close(op));
        let is_compared = self.inside.last().is_some_and(|outer| outer.is_compared) || !self.is_left_alone(op);
        self.inside.push(Inside {
            is_compared,
            ..Inside::default()
        });
        if writes {
            tasks.push(Task::Written);
            // A region may run after another one, or after itself, has written.
            for &region in regions.iter().rev() {
                tasks.push(Task::Region(region));
                tasks.push(Task::Written);
            }
        } else {
            tasks.extend(regions.iter().rev().map(|&r| Task::Region(r)));
        }
    }

    fn close(&mut self, op: OpId) {
        let Some(mut inside) = self.inside.pop() else { return };
        let regions = self.body.op_regions(op).iter().filter(|_| inside.is_compared);
        for &region in regions {
            for &block in self.body.region_blocks(region) {
                let args = self.body.block_args(block).iter().copied();
                let results = self.body.block_ops(block).flat_map(|inner| self.body.results(inner));
                for value in args.chain(results) {
                    for used in self.body.uses(value) {
                        let hash = use_hash(self.body, used.op, used.index, value);
                        inside.uses = inside.uses.wrapping_sub(hash);
                    }
                }
            }
        }
        if !self.replace(op, &inside) {
            self.note(op, &inside);
        }
    }

    /// Counts an operation that stays towards the hash of the one it is in.
    fn note(&mut self, op: OpId, inside: &Inside) {
        let Some(outer) = self.inside.last_mut().filter(|outer| outer.is_compared) else {
            return;
        };
        let body = &*self.body;
        let mut hasher = FxHasher::default();
        let sorted = self.ctx.dict_sorted(body.attrs(op));
        (outer.structure, inside.structure, body.op_name(op), sorted).hash(&mut hasher);
        body.results(op).for_each(|r| body.value_type(r).hash(&mut hasher));
        outer.structure = hasher.finish();
        outer.uses = outer.uses.wrapping_add(inside.uses);
        for (index, value) in body.operands(op).enumerate() {
            outer.uses = outer.uses.wrapping_add(use_hash(body, op, index, value));
        }
    }

    /// Whether an operation stays whatever others do. One around it does too if the reason are effects.
    fn is_left_alone(&self, op: OpId) -> bool {
        let touched = self.effects.touched(op);
        touched.intersects(EffectSet::WRITES | EffectSet::ALLOC | EffectSet::READ_WORLD)
            || self.body.num_results(op) == 0
            || !self.body.successors(op).is_empty()
            || is_symbol_or_terminator(self.body.view(self.ctx, op))
    }

    /// Replaces an operation by one that does the same, if there is one, or else enters it.
    fn replace(&mut self, op: OpId, inside: &Inside) -> bool {
        if self.is_left_alone(op) {
            return false;
        }
        let touched = self.effects.touched(op);
        let epoch = if touched.is_empty() { 0 } else { self.epoch };
        let (ctx, body) = (self.ctx, &*self.body);
        let mut hasher = FxHasher::default();
        hash_op(ctx, body, op, &mut hasher);
        (epoch, inside.structure, inside.uses).hash(&mut hasher);
        let hash = ShortHash::from(hasher.finish());
        let regions = body.op_regions(op);
        let found = self.known.find(hash.wide(), |&i| {
            let entry = &self.entries[i as usize];
            entry.hash == hash
                && ops_equal(ctx, body, entry.op, op)
                && self.epochs.get(&entry.op).copied().unwrap_or(0) == epoch
                && body.op_regions(entry.op).len() == regions.len()
                && (regions.is_empty() || regions_equal(ctx, body, body.op_regions(entry.op), regions))
        });
        let Some(&at) = found else {
            let at = self.entries.len() as u32;
            self.entries.push(Entry { op, hash });
            if epoch != 0 {
                self.epochs.insert(op, epoch);
            }
            let entries = &self.entries;
            let hash_of = |&i: &u32| entries[i as usize].hash.wide();
            self.known.insert_unique(hash.wide(), at, hash_of);
            return false;
        };
        let earlier = self.entries[at as usize].op;
        for (old, new) in self.body.results(op).zip(self.body.results(earlier)) {
            if self.body.value_name(new).is_none() {
                let name = self.body.value_name(old);
                self.body.set_value_name(new, name.filter(|n| !n.pack));
            }
            self.body.replace_all_uses(old, new);
        }
        self.body.erase_op(op);
        self.replaced = true;
        true
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{expect, expect_same, nest, run};

    #[test]
    fn equal_operations_in_any_order_of_commuting_operands() {
        expect(
            "cse",
            r#"
            %x = t.in {name = "x"} : f32
            %y = t.in {name = "x"} : f32
            %a = t.add (%x, %y) {t.p = 1, t.q = 2} : f32
            %b = t.add (%y, %x) {t.q = 2, t.p = 1} : f32
            %c = t.add (%y, %x) {t.q = 2, t.p = 2} : f32
            %d = t.div (%x, %y) : f32
            %e = t.div (%y, %x) : f32
            %f = t.div (%x, %y) : f32
            %g = t.add (%b, %b) : f32
            %h = t.add (%a, %a) : f32
            t.print (%g)
            t.print (%h)
            t.print (%f)
            "#,
            r#"
            %x = t.in {name = "x"} : f32
            %y = t.in {name = "x"} : f32
            %a = t.add (%x, %y) {t.p = 1, t.q = 2} : f32
            %c = t.add (%y, %x) {t.q = 2, t.p = 2} : f32
            %d = t.div (%x, %y) : f32
            %e = t.div (%y, %x) : f32
            %g = t.add (%a, %a) : f32
            t.print (%g)
            t.print (%g)
            t.print (%d)
            "#,
        );
    }

    #[test]
    fn whole_branches_and_loops() {
        let program = |second: &str| {
            format!(
                r#"
                %c = t.in {{name = "c"}} : i1
                %x = t.in {{name = "x"}} : f32
                %y = t.in {{name = "y"}} : f32
                %r = t.while (%x) cond (%a: f32) {{
                  t.test (%c, %a)
                }} body (%b: f32) {{
                  %i = t.if (%c) then {{
                    %p = t.sub (%b, %y) : f32
                    t.yield (%p)
                  }} else {{
                    t.yield (%b)
                  }} : f32
                  t.yield (%i)
                }} : f32
                {second}
                "#
            )
        };
        let again = |inner: &str, yielded: &str| {
            format!(
                r#"
                %s = t.while (%x) cond (%d: f32) {{
                  t.test (%c, %d)
                }} body (%e: f32) {{
                  %j = t.if (%c) then {{
                    %q = {inner} : f32
                    t.yield (%q)
                  }} else {{
                    t.yield ({yielded})
                  }} : f32
                  t.yield (%j)
                }} : f32
                t.print (%s)
                "#
            )
        };
        expect(
            "cse",
            &program(&again("t.sub (%e, %y)", "%e")),
            &program("t.print (%r)"),
        );
        // Another order of operands, another operation, another value that is captured or yielded.
        for (inner, yielded) in [
            ("t.sub (%y, %e)", "%e"),
            ("t.add (%e, %y)", "%e"),
            ("t.sub (%e, %x)", "%e"),
            ("t.sub (%e, %y)", "%y"),
        ] {
            expect_same("cse", &program(&again(inner, yielded)));
        }
        let effects = "t.if (%c) then {\nt.print (%x)\nt.yield\n}\n".repeat(2);
        expect_same("cse", &program(&effects));
    }

    #[test]
    fn deep_nests() {
        let out = run(
            "cse",
            &nest(
                20_000,
                "%a = t.add (%x, %x) : f32\n%b = t.add (%x, %x) : f32\nt.print (%b)\n",
            ),
        );
        assert!(out.contains("t.print (%a)"));
    }
}
