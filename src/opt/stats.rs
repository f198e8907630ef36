//! The statistics of a program.

use std::collections::BTreeMap;
use std::io::{self, Write};

use pir_ir::text::print_type;
use pir_ir::{Body, Module, OpId, RegionId, Traits};
use serde::Serialize;

use super::args::StatsForm;

/// The statistics of one program.
#[derive(Serialize, Default, Debug, PartialEq)]
struct Stats {
    operations: usize,
    /// Results and block arguments.
    values: usize,
    constants: usize,
    functions: usize,
    regions: usize,
    blocks: usize,
    /// The maximal nesting depth of regions, including functions.
    depth: usize,
    loops: usize,
    /// The maximal nesting depth of loops.
    loop_depth: usize,
    /// The loop-carried values of all loops.
    carried_values: usize,
    /// Operations with regions that are not repeated, like branches.
    branches: usize,
    ops: BTreeMap<String, usize>,
    types: BTreeMap<String, usize>,
}

/// Writes the statistics of all programs.
pub(super) fn write(modules: &[Module], form: StatsForm, out: &mut dyn Write) -> io::Result<()> {
    let all: Vec<Stats> = modules.iter().map(of).collect();
    match (form, &*all) {
        (StatsForm::Json, [one]) => json(one, out),
        (StatsForm::Json, all) => json(&all, out),
        (StatsForm::Text, all) => {
            for (at, stats) in all.iter().enumerate() {
                if at > 0 {
                    writeln!(out, "// -----")?;
                }
                text(stats, out)?;
            }
            Ok(())
        }
    }
}

fn json(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, value)?;
    writeln!(out)
}

fn text(stats: &Stats, out: &mut dyn Write) -> io::Result<()> {
    let rows = [
        ("operations", stats.operations),
        ("values", stats.values),
        ("constants", stats.constants),
        ("functions", stats.functions),
        ("regions", stats.regions),
        ("blocks", stats.blocks),
        ("depth", stats.depth),
        ("loops", stats.loops),
        ("loop depth", stats.loop_depth),
        ("carried values", stats.carried_values),
        ("branches", stats.branches),
    ];
    for (name, count) in rows {
        writeln!(out, "{name:<16}{count:>8}")?;
    }
    for (title, counts) in [("operations by name", &stats.ops), ("values by type", &stats.types)] {
        writeln!(out, "\n{title}")?;
        let mut counts: Vec<(&String, &usize)> = counts.iter().collect();
        // The most frequent first, then by name.
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        for (name, count) in counts {
            writeln!(out, "{count:>8}  {name}")?;
        }
    }
    Ok(())
}

fn of(module: &Module) -> Stats {
    let mut stats = Stats::default();
    let mut pending: Vec<(&Body, Nesting)> = vec![(&module.body, Nesting::default())];
    while let Some((body, nesting)) = pending.pop() {
        region(module, body, body.root(), nesting, &mut stats, &mut pending);
    }
    stats
}

#[derive(Clone, Copy, Default)]
struct Nesting {
    depth: usize,
    loops: usize,
}

fn region<'m>(
    module: &'m Module,
    body: &'m Body,
    root: RegionId,
    nesting: Nesting,
    stats: &mut Stats,
    bodies: &mut Vec<(&'m Body, Nesting)>,
) {
    let mut pending = vec![(root, nesting)];
    while let Some((region, nesting)) = pending.pop() {
        stats.regions += 1;
        stats.depth = stats.depth.max(nesting.depth);
        stats.loop_depth = stats.loop_depth.max(nesting.loops);
        for &block in body.region_blocks(region) {
            stats.blocks += 1;
            for &arg in body.block_args(block) {
                value(module, body.value_type(arg), stats);
            }
            for op in body.block_ops(block) {
                operation(module, body, op, stats);
                let inner = Nesting {
                    depth: nesting.depth + 1,
                    loops: nesting.loops + usize::from(is_loop(module, body, op)),
                };
                pending.extend(body.op_regions(op).iter().map(|&region| (region, inner)));
                bodies.extend(body.isolated(op).map(|body| (body, inner)));
            }
        }
    }
}

fn is_loop(module: &Module, body: &Body, op: OpId) -> bool {
    let view = body.view(&module.ctx, op);
    let flow = view.def().and_then(|def| def.flow);
    flow.is_some_and(|flow| (0..body.op_regions(op).len()).any(|region| flow.is_repeated(view, region)))
}

fn operation(module: &Module, body: &Body, op: OpId, stats: &mut Stats) {
    let view = body.view(&module.ctx, op);
    stats.operations += 1;
    count(&mut stats.ops, view.name());
    stats.constants += usize::from(view.has(Traits::CONSTANT));
    stats.functions += usize::from(view.has(Traits::FUNCTION));
    for result in body.results(op) {
        value(module, body.value_type(result), stats);
    }
    if is_loop(module, body, op) {
        stats.loops += 1;
        stats.carried_values += body.num_results(op);
    } else if !body.op_regions(op).is_empty() {
        stats.branches += 1;
    }
}

fn value(module: &Module, ty: pir_ir::Type, stats: &mut Stats) {
    stats.values += 1;
    count(&mut stats.types, &print_type(&module.ctx, ty));
}

fn count(counts: &mut BTreeMap<String, usize>, name: &str) {
    match counts.get_mut(name) {
        Some(count) => *count += 1,
        None => drop(counts.insert(name.to_owned(), 1)),
    }
}
