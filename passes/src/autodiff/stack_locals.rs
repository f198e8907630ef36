//! Step 1, `stack-locals`: records the locals of every loop and branch that the derivative passes through.
//!
//! The operation gets an init region that makes a stack; each of its other regions pushes all of its locals, in order
//! of definition, right before its terminator; the stack becomes the last result. What need not be recorded is not
//! decided here but by [`prune`](super::prune), when it is known what the derivative reads. An operation that has a
//! stack already (it was differentiated before) gets a second one, made in front of it and captured.

use pir_ir::{BlockId, Body, Context, OpId, Rewriter, ValueId};

use super::activity::Activity;
use super::structure::{Kind, Names, Structure, locals, types_of};

/// Records the locals of the active operations of a body.
pub(crate) fn run(ctx: &Context, body: &mut Body, activity: &Activity) {
    let names = Names::avoiding(ctx, body, &["stack"]);
    // Inner operations first: their results and stacks are locals of the outer ones.
    let ops: Vec<OpId> = body
        .post_order()
        .into_iter()
        .filter(|&op| names.kind(body, op).is_some() && activity.passes_through(body, op))
        .collect();
    let mut r = Rewriter::new(ctx, body);
    for op in ops {
        add_else(&mut r, op);
        let Some(structure) = Structure::of(&names, r.body, op) else {
            continue;
        };
        if structure.init.is_some() {
            let stack = create_stack(&mut r, &names, op);
            for block in structure.present() {
                push_locals(&mut r, &names, block, stack);
            }
        } else {
            add_init(&mut r, &names, op, &structure);
        }
    }
}

/// A branch without results may lack its else; its dual has results where it pushes on a stack.
fn add_else(r: &mut Rewriter<'_>, op: OpId) {
    if let Some(&last) = r.body.op_regions(op).last()
        && r.body.region_blocks(last).is_empty()
    {
        let block = r.body.create_block(last);
        r.set_span(r.body.op_span(op));
        r.at_end(block).op("cf.yield").build();
    }
}

fn create_stack(r: &mut Rewriter<'_>, names: &Names, before: OpId) -> ValueId {
    let stack = r.before(before).op("cf.create_stack").result(names.stack).value();
    r.name(stack, &names.spelled("stack"));
    stack
}

fn push_locals(r: &mut Rewriter<'_>, names: &Names, block: BlockId, stack: ValueId) {
    let Some(terminator) = r.body.last_op(block) else {
        return;
    };
    for value in locals(names, r.body, block) {
        r.before(terminator)
            .op("cf.push_back")
            .operand(stack)
            .operand(value)
            .build();
    }
}

fn add_init(r: &mut Rewriter<'_>, names: &Names, op: OpId, structure: &Structure) {
    if structure.blocks.contains(&None) {
        return;
    }
    let operands = r.body.operands_vec(op);
    let region = r.body.create_region();
    let block = r.body.create_block(region);
    let mut forwarded = Vec::new();
    if structure.kind == Kind::While {
        let args = structure.blocks[0]
            .map(|b| r.body.block_args(b).to_vec())
            .unwrap_or_default();
        for (&operand, arg) in operands.iter().zip(args) {
            let (ty, name) = (r.body.value_type(operand), r.body.value_name(arg));
            forwarded.push(r.body.add_block_arg(block, ty, name));
        }
    }
    r.set_span(r.body.op_span(op));
    let stack = r.at_end(block).op("cf.create_stack").result(names.stack).value();
    r.name(stack, &names.spelled("stack"));
    r.op("cf.yield").operands(forwarded).operand(stack).build();
    for block in structure.present() {
        let arg = r.body.add_block_arg(block, names.stack, None);
        r.name(arg, &names.spelled("stack"));
        push_locals(r, names, block, arg);
        if let Some(terminator) = r.body.last_op(block) {
            r.body.push_operand(terminator, arg);
        }
    }
    let mut types = types_of(r.body, r.body.results(op));
    types.push(names.stack);
    let new = r.recreate(op, &operands, &types);
    r.body.insert_region(new, 0, region);
    for (old, value) in r.body.results(op).zip(r.body.results(new)) {
        r.stand_in(old, value);
    }
    let handle = r.body.result(new, types.len() - 1);
    r.name(handle, &names.spelled("stack"));
    r.erase_op(op);
}
