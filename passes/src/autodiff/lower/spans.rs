//! Stacks that share an arena are used one after the other.
//!
//! A stack that is recorded on another one is in use from the first operation on it to the last, in the block where it is
//! made or popped. While it is, its values are on top of the arena; so no other stack of its class may be in use, and
//! stacks must be recorded in the order in which they were filled. That is how `backward` makes it.

use pir_ir::{BlockId, Diagnostic, OpId, Rewriter, ValueId};
use rustc_hash::FxHashMap;

use super::plan::Plan;
use crate::autodiff::control_ops::ControlOps;

/// Where the use of stacks that share an arena begins and ends.
#[derive(Default, Debug)]
pub(super) struct Spans {
    /// The stacks whose use begins with an operation.
    pub(super) begins: FxHashMap<OpId, Vec<ValueId>>,
    /// The stacks whose use ends with an operation.
    pub(super) ends: FxHashMap<OpId, Vec<ValueId>>,
}

/// The use of one stack, as places in a block.
struct Span {
    first: u32,
    last: u32,
    /// The position of its record.
    recorded: Option<u32>,
    of: ValueId,
}

impl Spans {
    /// Finds them.
    ///
    /// # Errors
    /// When two stacks that share an arena are in use at the same time.
    pub(super) fn new(r: &mut Rewriter<'_>, names: &ControlOps, plan: &Plan) -> Result<Self, Vec<Diagnostic>> {
        let mut this = Spans::default();
        for (at, class) in plan.classes.iter().enumerate() {
            if class.outer.is_none() {
                continue;
            }
            let mut of_block: FxHashMap<BlockId, Vec<Span>> = FxHashMap::default();
            let mut blocks: Vec<BlockId> = Vec::new();
            for &maker in class.creates.iter().chain(&class.pops) {
                let handle = r.body.result(maker, 0);
                let Some(block) = r.body.op_block(maker) else { continue };
                if !of_block.contains_key(&block) {
                    r.body.renumber(block);
                    blocks.push(block);
                }
                let span = this.span(r, names, maker, handle, block)?;
                of_block.entry(block).or_default().extend(span);
            }
            for &block in &blocks {
                check_block(r, of_block.get_mut(&block))?;
                check_around(r, plan, at, block, &of_block)?;
            }
        }
        Ok(this)
    }

    fn span(
        &mut self,
        r: &Rewriter<'_>,
        names: &ControlOps,
        maker: OpId,
        handle: ValueId,
        block: BlockId,
    ) -> Result<Option<Span>, Vec<Diagnostic>> {
        let mut first: Option<(u32, OpId)> = None;
        let mut last: Option<(u32, OpId)> = None;
        let mut recorded = None;
        for at in r.body.uses(handle) {
            let Some(top) = r.body.ancestor_in_block(at.op, block) else {
                continue;
            };
            let place = (r.body.order_in_block(top), top);
            if at.index == 1 && r.body.op_name(at.op) == names.push {
                if top != at.op || recorded.replace(place.0).is_some() || r.body.op_name(maker) != names.create {
                    return Err(overlap(r, at.op));
                }
                continue;
            }
            if first.is_none_or(|first| place.0 < first.0) {
                first = Some(place);
            }
            if last.is_none_or(|last| place.0 > last.0) {
                last = Some(place);
            }
        }
        let (Some(first), Some(last)) = (first, last) else {
            return Ok(None);
        };
        if recorded.is_some_and(|recorded| recorded < last.0) {
            return Err(overlap(r, last.1));
        }
        self.begins.entry(first.1).or_default().push(handle);
        self.ends.entry(last.1).or_default().push(handle);
        Ok(Some(Span {
            first: first.0,
            last: last.0,
            recorded,
            of: handle,
        }))
    }
}

fn overlap(r: &Rewriter<'_>, op: OpId) -> Vec<Diagnostic> {
    let message =
        "stacks that are recorded on another one cannot become tensors: two of them are in use at the same time";
    let error = Diagnostic::error("stack-overlap", message).label(r.body.op_span(op), "one of them is used here");
    vec![error.help("complete one stack, and push it, before using the next one")]
}

/// One after the other in their block, and recorded in that order.
fn check_block(r: &Rewriter<'_>, spans: Option<&mut Vec<Span>>) -> Result<(), Vec<Diagnostic>> {
    let Some(spans) = spans else { return Ok(()) };
    spans.sort_by_key(|span| span.first);
    for pair in spans.windows(2) {
        let order = match (pair[0].recorded, pair[1].recorded) {
            (Some(a), Some(b)) => a < b,
            _ => true,
        };
        if (pair[0].last >= pair[1].first || !order)
            && let Some(op) = r.body.uses(pair[1].of).next()
        {
            return Err(overlap(r, op.op));
        }
    }
    Ok(())
}

/// No stack of the class is in use around a block that makes some.
fn check_around(
    r: &Rewriter<'_>,
    plan: &Plan,
    class: usize,
    block: BlockId,
    of_block: &FxHashMap<BlockId, Vec<Span>>,
) -> Result<(), Vec<Diagnostic>> {
    let home = plan.classes[class].home.map(|(block, _)| block);
    let mut at = block;
    while Some(at) != home {
        let Some(parent) = r.body.block_parent(at) else { break };
        let Some(block) = r.body.op_block(parent) else { break };
        let place = r.body.order_in_block(parent);
        let covers = |span: &Span| span.first <= place && place <= span.recorded.unwrap_or(span.last);
        if of_block.get(&block).is_some_and(|spans| spans.iter().any(covers)) {
            return Err(overlap(r, parent));
        }
        at = block;
    }
    Ok(())
}
