//! `--check-grad` on a right gradient and on wrong ones: each operation of the derivative in turn gets another sign, another
//! factor or a transposed result.

use pir_interp::{Tensor, inputs_of};
use pir_ir::{Module, OpId, Rewriter, Traits};
use pir_tools::run::checkgrad::{Check, Row, Verdict, table};

use super::{Inputs, run};

/// What is done to the result of an operation.
#[derive(Clone, Copy, Debug)]
pub enum Mutation {
    Sign,
    Factor,
    Transposition,
}

/// All of them.
pub const MUTATIONS: [Mutation; 3] = [Mutation::Sign, Mutation::Factor, Mutation::Transposition];

fn compare(plain: &Module, adjoint: &Module, inputs: &Inputs, one: bool) -> Vec<Row> {
    let specs = inputs_of(plain, None).unwrap();
    let value = |name: &str| inputs.iter().find(|(n, _)| n == name).unwrap().1.clone();
    let values: Vec<Tensor> = specs.iter().map(|spec| value(&spec.name)).collect();
    let check = Check {
        module: plain,
        function: None,
        inputs: &specs,
        tolerance: 1e-6,
        full: true,
        one,
        max_steps: Some(10_000_000),
    };
    check.compare(adjoint, &values).unwrap_or_else(|e| panic!("{e:#?}"))
}

/// The operations that only the derivative has and that give floats.
fn of_derivative(plain: &Module, adjoint: &Module) -> Vec<OpId> {
    let body = &adjoint.body;
    let is_float = |op: OpId| {
        let view = body.view(&adjoint.ctx, op);
        let mut types = body.results(op).map(|v| body.value_type(v));
        types.len() > 0
            && !view.has(Traits::TERMINATOR)
            && types.all(|ty| {
                adjoint
                    .ctx
                    .as_tensor(ty)
                    .is_some_and(|(_, elem)| adjoint.ctx.is_float(elem))
            })
    };
    let new = |op: &OpId| op.index() >= plain.body.num_op_slots() && is_float(*op);
    body.walk_all().filter(new).collect()
}

/// The derivative with one operation off; nothing if its result cannot be changed like this.
fn mutated(adjoint: &Module, op: OpId, mutation: Mutation) -> Option<Module> {
    let mut module = adjoint.clone();
    let ctx = module.ctx.clone();
    let value = module.body.result(op, 0);
    let ty = module.body.value_type(value);
    let (shape, _) = ctx.as_tensor(ty)?;
    let mut r = Rewriter::new(&ctx, &mut module.body);
    r.after(op);
    let (first, last) = match mutation {
        Mutation::Sign | Mutation::Factor => {
            let factor = if matches!(mutation, Mutation::Sign) { -1.0 } else { 1.01 };
            let scaled = r
                .op("pd.scale")
                .operand(value)
                .attr("scale", ctx.float_attr(factor))
                .attr("bias", ctx.float_attr(0.0))
                .attr("bias_after_scale", ctx.bool_attr(true))
                .result(ty)
                .build();
            (scaled, scaled)
        }
        Mutation::Transposition => {
            if shape.len() < 2 || shape.iter().any(|&d| d < 0) {
                return None;
            }
            let perm: Vec<i64> = (0..shape.len() as i64).rev().collect();
            let turned: Vec<i64> = shape.iter().rev().copied().collect();
            let turned = ctx.tensor(&turned, ctx.elem_type(ty));
            let first = r
                .op("pd.transpose")
                .operand(value)
                .attr("perm", ctx.ints_attr(&perm))
                .result(turned)
                .build();
            let between = r.body.result(first, 0);
            let last = r
                .op("pd.reshape")
                .operand(between)
                .attr("shape", ctx.ints_attr(shape))
                .result(ty)
                .build();
            (first, last)
        }
    };
    let new = r.body.result(last, 0);
    r.body.replace_all_uses(value, new);
    r.body.set_operand(first, 0, value);
    let errors = pir_ir::verify::verify(&module);
    assert!(errors.is_empty(), "{errors:#?}");
    Some(module)
}

/// Whether two programs give nearly the same numbers: what was changed does not matter then.
fn same(a: &Module, b: &Module, inputs: &Inputs) -> bool {
    let (a, b) = (run(a, inputs).fetched, run(b, inputs).fetched);
    a.iter().zip(&b).all(|((_, a), (_, b))| {
        let (a, b) = (a.to_f64(), b.to_f64());
        let size = a.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        a.iter().zip(&b).all(|(x, y)| (x - y).abs() <= 1e-6 * size + 1e-12)
    })
}

/// Expects `ok` for all inputs, and `WRONG` for each of these mutations of at most so many operations of the derivative that
/// matter. Gives the number of the latter.
#[track_caller]
pub fn check_verdicts(plain: &Module, adjoint: &Module, inputs: &Inputs, mutations: &[Mutation], most: usize) -> usize {
    let rows = compare(plain, adjoint, inputs, false);
    assert!(
        rows.iter().all(|row| row.verdict == Verdict::Ok && row.note.is_none()),
        "{}\n{}",
        table(&rows),
        pir_ir::text::print(adjoint, &Default::default())
    );
    let mut wrong = 0;
    // The last operations are those of the rules; the first, what they need.
    for op in of_derivative(plain, adjoint).into_iter().rev().take(most) {
        for &mutation in mutations {
            let Some(module) = mutated(adjoint, op, mutation).filter(|module| !same(adjoint, module, inputs)) else {
                continue;
            };
            let rows = compare(plain, &module, inputs, true);
            assert!(
                rows.iter().any(|row| row.verdict == Verdict::Wrong),
                "{mutation:?}\n{}\n{}",
                table(&rows),
                pir_ir::text::print(&module, &Default::default())
            );
            wrong += 1;
        }
    }
    wrong
}
