#![allow(clippy::unwrap_used, reason = "in tests a panic is a failure")]

use pir_ir::{Module, Rewriter, Type, ValueId};

use crate::pd::{self, Building, Number};

/// Builds in an empty module, and returns the printed result.
fn built(f: impl FnOnce(&mut Rewriter<'_>, ValueId)) -> String {
    let ctx = crate::context();
    let mut module = Module::new(ctx.clone());
    let root = module.body.root();
    let block = module.body.single_block(root).unwrap();
    let mut r = Rewriter::new(&ctx, &mut module.body);
    r.at_end(block);
    let x = pd::data_with(&mut r, "x", &[2, 3], |o| o.dtype(Type::F32)).unwrap();
    f(&mut r, x);
    let errors = pir_ir::verify::verify(&module);
    assert!(errors.is_empty(), "{errors:#?}");
    let text = pir_ir::text::print(&module, &pir_ir::text::PrintOptions::default());
    text.lines().skip(1).map(|line| format!("{line}\n")).collect()
}

#[test]
fn operations_are_built_by_their_functions() {
    let text = built(|r, x| {
        let scaled = pd::scale_with(r, x, |o| o.scale(2.0).bias_after_scale(false)).unwrap();
        let sum = pd::sum_with(r, scaled, |o| o.axis([0]).keepdim(true)).unwrap();
        pd::multiply(r, sum, x).unwrap();
        let op = r.body.defining_op(scaled).unwrap();
        assert_eq!(r.view(op).name(), pd::Scale::NAME);
        let view = pd::Scale::view(r.view(op));
        assert_eq!(view.x(), x);
        assert!(!view.bias_after_scale());
        assert!(matches!(view.scale(), Number::Attr(_, 2.0)));
        assert!(matches!(view.bias(), Number::Default(0.0)));
    });
    assert_eq!(
        text,
        "%1 = pd.scale (%0) {scale = 2.0, bias_after_scale = false} : tensor<2x3xf32>\n\
         %2 = pd.sum (%1) {axis = [0], keepdim = true} : tensor<1x3xf32>\n\
         %3 = pd.multiply (%2, %0) : tensor<2x3xf32>\n"
    );
}

/// A number may be an operand; an absent operand before it is marked.
#[test]
fn numbers_may_be_operands() {
    let text = built(|r, x| {
        let b = pd::full_with(r, &[1], 1.0, |o| o.dtype(Type::F32)).unwrap();
        let y = pd::scale_with(r, x, |o| o.bias(b)).unwrap();
        let op = r.body.defining_op(y).unwrap();
        let view = pd::Scale::view(r.view(op));
        assert!(matches!(view.bias(), Number::Value(given) if given.0 == Some(b)));
        assert!(matches!(view.scale(), Number::Default(1.0)));
    });
    assert!(
        text.ends_with("%2 = pd.scale (%0, %1) {absent_operands = [1]} : tensor<2x3xf32>\n"),
        "{text}"
    );
}

#[test]
fn expressions_emit_in_order_and_keep_the_first_error() {
    let text = built(|r, x| {
        let building = Building::new(r);
        let x = building.scope().expr(x);
        let _ = (1.0 - x * x) * 2.0;
        assert_eq!(building.finish(), Ok(()));
        let wrong = x.reshape([5]);
        assert!((wrong + x).id().is_none());
        let why = building.finish().unwrap_err();
        assert!(why.contains('5'), "{why}");
    });
    assert_eq!(
        text,
        "%1 = pd.multiply (%0, %0) : tensor<2x3xf32>\n\
         %2 = pd.scale (%1) {scale = -1.0, bias = 1.0, bias_after_scale = true} : tensor<2x3xf32>\n\
         %3 = pd.scale (%2) {scale = 2.0, bias = 0.0, bias_after_scale = true} : tensor<2x3xf32>\n"
    );
}
