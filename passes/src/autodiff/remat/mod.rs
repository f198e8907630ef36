//! `remat`: records less, and computes again.
//!
//! For each region of a loop, with the branches in it, [`plan`] collects what the dual reads and what that could be
//! computed from; [`cut`] chooses what to record; [`apply`] makes it so. Inner loops come first: what they take from
//! around them is then read by the dual of the outer loop, which chooses in turn. The
//! [rule across iterations](super::loop_carried_reuse) takes part: what follows from an argument of the next iteration is free. Since
//! that depends on which arguments are recorded, the choice is made again with those that it recorded, as long as that
//! makes it cheaper.

mod apply;
mod around;
pub(super) mod cut;
pub(super) mod plan;
mod schedule;
mod segments;
mod slots;
mod spill;

use pir_ir::{BlockId, Body, Context, Diagnostic, FlowKind, Module, Rewriter, Severity, Type, ValueDef, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::control_ops::ControlOps;
use super::loop_carried_reuse::{Slots, find_carried};
use super::loop_editing::uncount_trips;
use super::prune::{finish, remove_dead_stacks};
use super::tapes::Tapes;
use crate::analysis::has_unknown_effects;
use crate::bodies::{inner_bodies_mut, versions};
use crate::options::{OptionKind, OptionSpec};
use crate::pass::{Changed, Pass, PassContext};
use plan::{Plan, Planner, Problem, RecomputeKind};
use segments::Again;

/// The operations that may be recomputed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Recompute {
    /// Nothing but constants.
    None,
    /// Operations that take about as long as reading a number.
    Cheap,
    /// Elementwise operations, and those that only move elements.
    Elementwise,
    /// Everything without effects, inner loops included.
    All,
}

/// How to record less.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RematOptions {
    /// The operations that may be recomputed.
    pub recompute: Recompute,
    /// How many states of a loop to keep from which it is run again, if that is to be; 0 represents the logarithm of the
    /// number of iterations to base 2, rounded up.
    pub slots: Option<i64>,
    /// How many iterations are run again at a time, and recorded then, if not one.
    pub segment: Option<i64>,
    /// Whether loops continue to record, and only iterations that exceed the buffers are recomputed.
    pub spill: bool,
}

/// Records less in a module that was differentiated; `report` receives loops that cannot be checkpointed. Gives how many
/// were.
pub fn rematerialize(module: &mut Module, options: RematOptions, report: &mut dyn FnMut(Diagnostic)) -> usize {
    let ctx = module.ctx.clone();
    let mut checkpointed = 0;
    let mut pending = vec![&mut module.body];
    while let Some(body) = pending.pop() {
        // A recomputed operation reads its operands later.
        if !has_unknown_effects(&ctx, body) {
            // Loops in loops that are run again are run again in turn, when these are.
            let mut options = options;
            loop {
                let done = run(&ctx, body, options, report);
                checkpointed += done;
                // A loop that is run again is not recorded first.
                options.spill = false;
                if done == 0 || options.segment.is_none() {
                    break;
                }
            }
        }
        pending.extend(inner_bodies_mut(&ctx, body));
    }
    checkpointed
}

/// Recomputes cheap values of one body where that records less.
pub(crate) fn recompute_cheap(ctx: &Context, body: &mut Body) {
    if !has_unknown_effects(ctx, body) {
        let options = RematOptions {
            recompute: Recompute::Cheap,
            slots: None,
            segment: None,
            spill: false,
        };
        run(ctx, body, options, &mut |_| {});
    }
}

fn run(ctx: &Context, body: &mut Body, options: RematOptions, report: &mut dyn FnMut(Diagnostic)) -> usize {
    let names = ControlOps::avoiding(ctx, body, &["trips", "trip_next", "trip", "no_trips"]);
    let mut tapes = Tapes::new(ctx, &names, body);
    if tapes.all.is_empty() {
        return 0;
    }
    let planner = Planner::new(body, &tapes, options.recompute);
    let mut r = Rewriter::new(ctx, body);
    find_carried(&r, &names, &mut tapes);
    let mut counts = recorded_counts(&r, &tapes);
    let chosen = match options.slots {
        Some(_) => checkpointed(&r, &names, &tapes, options.segment, report),
        None => FxHashMap::default(),
    };
    let mut done = 0;
    for at in (0..tapes.all.len()).rev() {
        let mut places: FxHashMap<BlockId, Vec<usize>> = FxHashMap::default();
        if chosen.contains_key(&at) {
            // An inner loop may have begun to count by now.
            counts.extend(recorded_counts(&r, &tapes));
            sort_counts(&mut counts);
            for &(block, index) in &counts {
                places.entry(block).or_default().push(index);
            }
        }
        let slots = options.slots.unwrap_or(0);
        let again = chosen.get(&at).copied();
        // One with inner loops of unknown length is run again whole: what these record is not yet right beside that.
        let runs = matches!(again, Some(Again::Runs(_)));
        let spills = runs && options.spill && spill::is_possible(&r, &names, &tapes, at);
        if spills {
            record_less(&mut r, &names, &planner, &mut tapes, at, report);
            if tapes.all[at].pairs.is_empty() {
                continue;
            }
        }
        let copies = match again {
            Some(Again::Iterations) => slots::apply(&mut r, &names, &mut tapes, at, slots, spills, &places),
            Some(Again::Runs(length)) => {
                segments::apply(&mut r, &names, &mut tapes, at, (slots, length), spills, &places)
            }
            _ => None,
        };
        if let Some(copies) = copies {
            counts.extend(copies);
            done += 1;
        } else if !spills {
            record_less(&mut r, &names, &planner, &mut tapes, at, report);
        }
    }
    remove_dead_stacks(&mut r, &names);
    sort_counts(&mut counts);
    // Counters of a dual that now counts in a separate loop.
    for (block, index) in counts {
        if let Some(op) = r.body.block_parent(block) {
            uncount_trips(&mut r, &names, op, index);
        }
    }
    done
}

/// Chooses what a loop or a branch records.
fn record_less(
    r: &mut Rewriter<'_>,
    names: &ControlOps,
    planner: &Planner,
    tapes: &mut Tapes,
    at: usize,
    report: &mut dyn FnMut(Diagnostic),
) {
    for problem in planner.problems(r.body, tapes, at) {
        if let Some(values) = solve(r, names, planner, tapes, &problem) {
            report(too_large(r, tapes, problem.at, values));
        }
    }
    if tapes.all[at].kind == FlowKind::Loop {
        finish(r, names, tapes, at);
    }
}

/// The tapes of loops that are to be checkpointed: not those inside such loops, which are run again with these.
fn checkpointed(
    r: &Rewriter<'_>,
    names: &ControlOps,
    tapes: &Tapes,
    segment: Option<i64>,
    report: &mut dyn FnMut(Diagnostic),
) -> FxHashMap<usize, Again> {
    let mut chosen = FxHashMap::default();
    // For each tape: whether its handle is on the selected tape, directly or through others.
    let mut inside = vec![false; tapes.all.len()];
    for (at, tape) in tapes.all.iter().enumerate() {
        let outer = r.body.defining_op(tape.handle).and_then(|pop| tapes.partner(pop));
        if let Some((_, outer)) = outer {
            inside[at] = inside[outer];
        }
        if inside[at] || tape.kind != FlowKind::Loop || tape.pairs.is_empty() {
            continue;
        }
        let again = match segment {
            Some(segment) => segments::choose(r, names, tapes, at, segment),
            None => Again::Iterations,
        };
        if again == Again::Not {
            continue;
        }
        match slots::check(r, names, tapes, at) {
            Ok(()) => {
                chosen.insert(at, again);
                inside[at] = true;
            }
            Err(refusal) => {
                let mut note = Diagnostic::warning(
                    "not-checkpointed",
                    "a loop cannot be checkpointed, so it records as without `slots`",
                )
                .label(r.body.op_span(refusal.op), refusal.why)
                .help("move the operation out of the loop");
                note.severity = Severity::Note;
                report(note);
            }
        }
    }
    chosen
}

/// Results of loops that are only recorded, and may be counts that `prune-stacks` inserted.
fn recorded_counts(r: &Rewriter<'_>, tapes: &Tapes) -> Vec<(BlockId, usize)> {
    let pushed = tapes
        .all
        .iter()
        .flat_map(|t| &t.pairs)
        .map(|&(push, _)| r.body.operand(push, 1));
    let count = r.ctx.tensor(&[], Type::I64);
    let counts = pushed.filter(|&v| r.body.value_type(v) == count);
    let recorded = counts.filter(|&v| r.body.uses(v).all(|u| u.index == 1 && r.body.num_results(u.op) == 0));
    let place = recorded.filter_map(|v| match r.body.value_def(v) {
        ValueDef::Result(op, index) => {
            let region = r.body.op_regions(op).last()?;
            Some((r.body.entry_block(*region)?, index as usize))
        }
        _ => None,
    });
    place.collect()
}

/// The last of a loop first, so that the places of the others stay.
fn sort_counts(places: &mut Vec<(BlockId, usize)>) {
    places.sort_unstable_by_key(|&(block, index)| (block, std::cmp::Reverse(index)));
    places.dedup();
}

/// Reports that no selection was made among dependent values because there are too many.
fn too_large(r: &Rewriter<'_>, tapes: &Tapes, at: usize, values: usize) -> Diagnostic {
    let message = format!(
        "the records of a region were not changed: its selection has {values} dependent values, and the limit is {}",
        cut::LARGEST
    );
    let mut note = Diagnostic::warning("remat-size", message);
    if let Some(op) = r.body.block_parent(tapes.all[at].forward) {
        note = note.label(r.body.op_span(op), "recorded here");
    }
    note.severity = Severity::Note;
    note.help("split the loop, or use `remat{slots=0}`, which keeps snapshots of the loop instead")
}

/// Chooses what a region records. Gives how many values there were if they were too many for that.
fn solve(
    r: &mut Rewriter<'_>,
    names: &ControlOps,
    planner: &Planner,
    tapes: &mut Tapes,
    problem: &Problem,
) -> Option<usize> {
    let is_loop = tapes.all[problem.at].kind == FlowKind::Loop;
    // An operation that was differentiated twice has two duals, which have images of their own.
    for place in &problem.places {
        tapes.enter_primals(r.body, place.tape);
    }
    apply::drop_unread(r, tapes, problem);
    let mut also: FxHashSet<ValueId> = FxHashSet::default();
    let mut too_large = None;
    let mut best: Option<(Option<Slots>, Plan, Vec<bool>, u64)> = None;
    loop {
        let slots = is_loop
            .then(|| Slots::new(r, names, tapes, problem.at, &also))
            .flatten();
        let plan = planner.plan(r, names, tapes, problem, slots.as_ref(), &also);
        let (recorded, so_many) = cut::choose_within(&plan.nodes, cut::LARGEST);
        too_large = too_large.max(so_many);
        let cost = cut::cost(&plan.nodes, &recorded);
        if best.as_ref().is_some_and(|(_, _, _, least)| cost >= *least) {
            break;
        }
        // Arguments that were not recorded before make what is yielded to them free.
        let before = also.len();
        also.extend((0..plan.values.len()).filter_map(|i| {
            let is_arg = matches!(r.body.value_def(plan.values[i]), ValueDef::Arg(..));
            (recorded[i] && is_arg && matches!(plan.how[i], RecomputeKind::Here(_))).then_some(plan.values[i])
        }));
        best = Some((slots, plan, recorded, cost));
        if also.len() == before {
            break;
        }
    }
    if let Some((slots, plan, recorded, _)) = best {
        apply::apply(r, names, tapes, problem, slots.as_ref(), &plan, &recorded);
        // A branch may have lost all that it recorded.
        apply::drop_unread(r, tapes, problem);
    }
    too_large
}

/// The pass `remat`.
pub struct Remat;

impl Pass for Remat {
    fn name(&self) -> &'static str {
        "remat"
    }

    fn summary(&self) -> &'static str {
        "Record less for the derivative, and recompute the rest"
    }

    fn description(&self) -> &'static str {
        "Runs after `backward`. For each loop and branch, a minimum cut selects what to record: the fewest bytes per \
         iteration from which the dual can recompute everything that it reads. The dual may also use the preceding \
         iteration, counters, and values that are visible outside of the loop. Of equally small selections, the pass \
         takes the one that recomputes least.\
         \n\nThe option `recompute` restricts what may be recomputed. `none`: only constants. `cheap`: operations that cost \
         about as much as reading a number; `backward` does this in functions of MLIR's dialects. `elementwise`: \
         elementwise operations and those that only move elements. `all`: every operation without effects, including \
         products, reductions and whole inner loops.\
         \n\nWith `slots`, a loop that can be run again records only its trip count. The dual keeps at most `slots` \
         snapshots of the loop's state, and recomputes each iteration from the nearest one by the binomial \
         checkpointing schedule, for any number of iterations. Inner loops are run again with their outer loop. The \
         branch that contains such a loop records the loop's initial state.\
         \n\nWith `segment`, snapshots are taken once per segment of that many iterations, and each segment is run again as \
         a loop that records. This needs less computation, and more memory, which remains bounded. A loop that is known \
         to be no longer than a segment continues to record. A loop that contains inner loops of unknown length is run \
         again one iteration at a time, and those inner loops in segments. A loop with effects continues to record; a \
         remark reports it."
    }

    fn options(&self) -> &'static [OptionSpec] {
        &[
            OptionSpec {
                name: "recompute",
                kind: OptionKind::Enum(&["none", "cheap", "elementwise", "all"]),
                default: Some("elementwise"),
                help: "what to recompute; `all` includes loops and branches of up to 1000 operations",
            },
            OptionSpec {
                name: "slots",
                kind: OptionKind::Count,
                default: None,
                help: "the number of snapshots to keep of each loop that is recomputed; 0: log2 of the trip count; default: loops record",
            },
            OptionSpec {
                name: "segment",
                kind: OptionKind::Int(1, 1 << 24),
                default: None,
                help: "the number of iterations to recompute and record at a time; implies `slots`; default: 1, without recording",
            },
            OptionSpec {
                name: "spill",
                kind: OptionKind::Bool,
                default: Some("false"),
                help: "with `slots`: loops record, and only iterations that do not fit into the buffers of `lower-stacks{bound}` are recomputed",
            },
        ]
    }

    fn run(&self, module: &mut Module, cx: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        let level = match cx.options.text("recompute").as_deref() {
            Some("none") => Recompute::None,
            Some("cheap") => Recompute::Cheap,
            Some("all") => Recompute::All,
            _ => Recompute::Elementwise,
        };
        let segment = cx.options.int("segment");
        let options = RematOptions {
            recompute: level,
            // Runs need states to start from.
            slots: cx.options.int("slots").or(segment.map(|_| 0)),
            segment,
            spill: cx.options.flag("spill"),
        };
        let before = versions(module);
        let checkpointed = rematerialize(module, options, &mut |d| cx.report(d));
        cx.count("loops checkpointed", checkpointed);
        Ok((versions(module) != before).into())
    }
}
