//! What is kept from one operation and body to the next.

use super::*;

#[test]
fn types_that_fitted_once_are_told_from_others() {
    let wrong = |b: &mut Build<'_>| {
        let def = b.op("t.def", &[], &[Type::F32, Type::F64]);
        let (x, y) = (b.rw.body.result(def, 0), b.rw.body.result(def, 1));
        for _ in 0..2 {
            b.op("t.add", &[x, x], &[Type::F32]);
            b.op("t.add", &[x, x], &[Type::F64]);
            b.op("t.add", &[y, y], &[Type::F64]);
            b.op("t.add", &[x, y], &[Type::F32]);
        }
    };
    let found = codes(|b| {
        wrong(b);
        let ctx = b.rw.ctx;
        for name in ["f", "g"] {
            let mut body = Body::new();
            let root = body.root();
            body.create_block(root);
            let mut inner = at_top(ctx, &mut body);
            inner.clock = b.clock;
            wrong(&mut inner);
            inner.op("t.end", &[], &[]);
            b.clock = inner.clock;
            b.func(name, ctx.function_type(&[], &[]), body);
        }
    });
    assert_eq!(found, ["result-type", "inference"].repeat(6));
}
