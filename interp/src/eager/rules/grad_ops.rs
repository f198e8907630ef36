//! Gradient operations in a traced program: expressed as compositions.

use pir_dialects::pd;
use pir_ir::Attr;

use super::super::Tensor;
use super::super::backward::{GradOptions, Request};
use super::super::value::V;
use super::elementwise::{share_of, slope_of_abs};
use super::reduce::{extremum_of, product};
use super::{Cx, REST, Rule, all_of, composite, data_movement};

pub(super) const RULES: &[Rule] = &[
    composite(pd::TanhGrad::NAME, |c| vec![c.y() * (1.0 - c.x().square())]),
    composite(pd::SigmoidGrad::NAME, |c| vec![c.y() * c.x() * (1.0 - c.x())]),
    composite(pd::ReluGrad::NAME, |c| {
        vec![c.y() * c.x().test("greater_than", &c.x().filled(0.0))]
    }),
    composite(pd::SqrtGrad::NAME, |c| vec![c.y() / (c.x() * 2.0)]),
    composite(pd::RsqrtGrad::NAME, |c| vec![c.y() * c.x().pow(3.0) * -0.5]),
    composite(pd::AbsGrad::NAME, |c| vec![slope_of_abs(&c.x(), &c.y())]),
    composite(pd::MaximumGrad::NAME, |c| shares(c, "greater_than")),
    composite(pd::MinimumGrad::NAME, |c| shares(c, "less_than")),
    composite(pd::MaxGrad::NAME, |c| vec![extremum_of(c, &c.x(), &c.y(), &c.arg(2))]),
    composite(pd::MinGrad::NAME, |c| vec![extremum_of(c, &c.x(), &c.y(), &c.arg(2))]),
    composite(pd::ProdGrad::NAME, |c| vec![V::new(c.engine, product_grad(c))]),
    data_movement(pd::SliceGrad::NAME),
    // The gradient of adding at indices gathers at them.
    all_of(pd::GatherGrad::NAME, REST, |c| picked(c, pd::Gather::NAME, 1, 0)),
    all_of(pd::IndexSelectGrad::NAME, REST, |c| {
        picked(c, pd::IndexSelect::NAME, 1, 0)
    }),
    all_of(pd::GatherNdGrad::NAME, REST, |c| picked(c, pd::GatherNd::NAME, 1, 0)),
    all_of(pd::TakeAlongAxisGrad::NAME, REST, |c| {
        picked(c, pd::TakeAlongAxis::NAME, 1, 0)
    }),
];

/// The gradient of a product, computed by the engine and recorded.
fn product_grad<'e>(c: &Cx<'e>) -> Result<Tensor, String> {
    let (x, g) = (c.arg(0).tensor?, c.arg(2).tensor?);
    // The product itself is not used.
    c.constant(1);
    // A constant operand gets a gradient here too: it is only not recorded further.
    let x = if x.stop_gradient() {
        Tensor::leaf(x.data())
    } else {
        V::new(c.engine, Ok(x)).call("assign").tensor?
    };
    let out = product(&V::new(c.engine, Ok(x.clone())), &c.axes()?, c.bool("keepdim", false)).tensor?;
    let request = Request {
        options: GradOptions {
            create_graph: true,
            ..GradOptions::default()
        },
        targets: Some(&[x]),
        within: true,
    };
    let mut found = c.engine.run(&[out], &[Some(g)], &request)?;
    found
        .pop()
        .flatten()
        .ok_or_else(|| "the gradient is missing".to_owned())
}

fn shares<'e>(c: &Cx<'e>, wins: &str) -> Vec<V<'e>> {
    let (x, y, g) = (c.x(), c.y(), c.arg(2));
    let part = |a: &V<'e>, b: &V<'e>| share_of(a, b, &g, wins);
    vec![part(&x, &y).sum_to(&x.shape()), part(&y, &x).sum_to(&y.shape())]
}

fn picked<'e>(c: &Cx<'e>, op: &str, grad: usize, index: usize) -> Result<super::Grads<'e>, String> {
    let ctx = c.engine.ctx();
    let axis: Vec<(&str, Attr)> = ctx
        .dict_get(c.attrs(), "axis")
        .map(|a| ("axis", a))
        .into_iter()
        .collect();
    let picked = c.grad().op(op, &[&c.arg(index)], &axis);
    let mut grads = vec![None; c.num_inputs()];
    // The index and the shape have no gradient.
    c.others_constant();
    grads[grad] = c.wants(grad).then_some(picked);
    Ok(grads)
}
