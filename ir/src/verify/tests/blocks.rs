//! Regions of several blocks: dominance and successors.

use super::*;

/// A function with the blocks entry → (left | right) → join.
fn diamond(b: &mut Build<'_>, edit: impl FnOnce(&mut Build<'_>, [BlockId; 4])) {
    let mut body = Body::new();
    let root = body.root();
    let blocks = [(); 4].map(|()| body.create_block(root));
    let ctx = b.rw.ctx;
    let mut inner = Build {
        rw: Rewriter::new(ctx, &mut body),
        clock: 1000,
    };
    let to = |block| Successor { block, operands: 0 };
    let [entry, left, right, join] = blocks;
    let cond = inner.inside(entry, |b| {
        let cond = b.def();
        b.full("t.fork", &[cond], &[], &[], &[to(left), to(right)]);
        cond
    });
    let _ = cond;
    for side in [left, right] {
        inner.inside(side, |b| {
            b.def();
            b.full("t.br", &[], &[], &[], &[to(join)])
        });
    }
    inner.inside(join, |b| b.op("t.end", &[], &[]));
    edit(&mut inner, blocks);
    b.func("f", ctx.function_type(&[], &[]), body);
}

fn first_value(b: &Build<'_>, block: BlockId) -> ValueId {
    b.rw.body.result(b.rw.body.first_op(block).unwrap(), 0)
}

#[test]
fn dominance_between_blocks() {
    let use_in = |from: usize, to: usize| {
        codes(move |b| {
            diamond(b, |b, blocks| {
                let value = first_value(b, blocks[from]);
                let last = b.rw.body.last_op(blocks[to]).unwrap();
                b.rw.before(last);
                b.op("t.use", &[value], &[]);
            });
        })
    };
    assert_eq!(use_in(0, 1), [""; 0]);
    assert_eq!(use_in(0, 3), [""; 0]);
    assert_eq!(use_in(1, 3), ["not-dominated"]);
    assert_eq!(use_in(1, 2), ["not-dominated"]);
}

#[test]
fn unreachable_code_may_use_anything_of_its_region() {
    assert_eq!(
        codes(|b| {
            diamond(b, |b, [_, left, ..]| {
                let value = first_value(b, left);
                let root = b.rw.body.root();
                let dead = b.rw.body.create_block(root);
                b.inside(dead, |b| {
                    b.op("t.use", &[value], &[]);
                    b.op("t.end", &[], &[])
                });
            });
        }),
        [""; 0]
    );
}

#[test]
fn successors_fit() {
    let retarget = |edit: fn(&mut Build<'_>, [BlockId; 4])| codes(move |b| diamond(b, edit));
    assert_eq!(
        retarget(|b, [entry, left, ..]| {
            let jump = b.rw.body.last_op(left).unwrap();
            b.rw.body.set_successors(
                jump,
                &[Successor {
                    block: entry,
                    operands: 0,
                }],
            );
        }),
        ["entry-predecessor"]
    );
    assert_eq!(
        retarget(|b, [_, left, ..]| {
            let (_, elsewhere) = b.region();
            let jump = b.rw.body.last_op(left).unwrap();
            b.rw.body.set_successors(
                jump,
                &[Successor {
                    block: elsewhere,
                    operands: 0,
                }],
            );
        }),
        ["successor-region"]
    );
    // Both jumps to the join pass too few.
    assert_eq!(
        retarget(|b, [.., join]| {
            b.rw.body.add_block_arg(join, Type::F32, None);
        }),
        ["successor-operands"; 2]
    );
    assert_eq!(
        retarget(|b, [_, left, right, join]| {
            b.rw.body.add_block_arg(join, Type::I1, None);
            for side in [left, right] {
                let value = first_value(b, side);
                let jump = b.rw.body.last_op(side).unwrap();
                b.rw.body.push_operand(jump, value);
                b.rw.body.set_successors(
                    jump,
                    &[Successor {
                        block: join,
                        operands: 1,
                    }],
                );
            }
        }),
        ["successor-type"; 2]
    );
}

#[test]
fn dominance_info_agrees_with_the_verifier() {
    let ctx = context();
    let mut module = Module::new(ctx.clone());
    let b = &mut at_top(&ctx, &mut module.body);
    diamond(b, |b, [entry, left, right, join]| {
        let info = crate::DominanceInfo::new(b.rw.body);
        let body = &*b.rw.body;
        let (e, l) = (first_value(b, entry), first_value(b, left));
        let end = |block| body.last_op(block).unwrap();
        assert!(info.value_dominates(body, e, end(join)));
        assert!(info.value_dominates(body, l, end(left)));
        assert!(!info.value_dominates(body, l, end(join)));
        assert!(!info.value_dominates(body, l, end(right)));
        assert!(!info.value_dominates(body, l, body.defining_op(l).unwrap()));
        assert!(info.block_dominates(body, entry, join));
        assert!(!info.block_dominates(body, left, join));
        assert_eq!(
            info.tree(body.root()).and_then(|t| t.immediate_dominator(join)),
            Some(entry)
        );
    });
    // Nested regions: an outer definition before, one after, and one in a sibling region.
    let x = b.def();
    let ((then, a), (other, c)) = (b.region(), b.region());
    let y = b.inside(a, |b| {
        let y = b.def();
        b.op("t.end", &[], &[]);
        y
    });
    let end = b.inside(c, |b| b.op("t.end", &[], &[]));
    let op = b.full("t.if", &[x], &[Type::F32], &[then, other], &[]);
    let z = b.def();
    let body = &*b.rw.body;
    let info = crate::DominanceInfo::new(body);
    assert!(info.value_dominates(body, x, end));
    assert!(!info.value_dominates(body, y, end));
    assert!(!info.value_dominates(body, z, end));
    assert!(!info.value_dominates(body, body.result(op, 0), end));
    assert!(info.value_dominates(body, body.result(op, 0), body.defining_op(z).unwrap()));
    assert!(info.contains(op, end) && !info.contains(end, op));
}
