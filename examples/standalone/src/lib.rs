//! A dialect `demo` with one operation, `demo.cube`, and everything that the tools need for it.

#![forbid(unsafe_code)]

use std::sync::Arc;

use pir_dialects::pd;
use pir_interp::{Tensor, kernels::Kernels};
use pir_ir::{
    Arity, Attr, ContextBuilder, Derivative, Diagnostic, DialectDef, MemoryEffects, Module, OpDef, OpId, PatternSet,
    Rewriter, Traits, ValueSpec,
};
use pir_passes::autodiff::Rules;
use pir_passes::{Changed, Pass, PassContext, Scope, apply_patterns};
use pir_tools::Tool;

/// A tool that extends those of pir-opt with the dialect and the pass.
pub fn tool(name: &'static str) -> Tool {
    Tool::new(name).dialect(register).pass(&ExpandCubes)
}

/// Registers the dialect: its operations, their kernels, their derivatives, and their simplifications.
pub fn register(builder: &mut ContextBuilder) {
    builder.register(DialectDef::new("demo", "Cubes"), [cube()]);
    builder.register_pattern("demo.cube", 1, Arc::new(cube_of_negative));
    // The kernel. `canonicalize` also uses it to fold constants.
    builder.extension::<Kernels>().add("demo.cube", |_| {
        Ok(Box::new(|inputs| {
            let cubes = inputs[0].to_f64().into_iter().map(|x| x * x * x).collect();
            let cubes = Tensor::new(inputs[0].shape(), cubes)?.cast(inputs[0].dtype())?;
            Ok([cubes].into_iter().collect())
        }))
    });
    // The derivative: 3 x² times the cotangent of the result. It reads the operand, so loops record it.
    builder.extension::<Rules>().add("demo.cube", |cx| {
        cx.formula(|op| {
            let x = op.operand(0);
            op.add_at(0, 3.0 * x * x * op.grad());
        })
    });
}

fn cube() -> OpDef {
    let tensor = |name: &'static str| ValueSpec {
        name: name.into(),
        arity: Arity::One,
        ty: "Tensor".into(),
    };
    let mut def = OpDef::new("demo.cube", "x³, element by element").with_effects(MemoryEffects::None);
    def.traits = Traits::ELEMENTWISE;
    def.operands = vec![tensor("x")].into();
    def.results = vec![tensor("out")].into();
    def.infer = Some(|args| Ok(args.operand_type(0).into_iter().collect()));
    def.derivative = Derivative::Operands(vec!["x".into()].into());
    def
}

/// The cube of `-x` is the negative of the cube of `x`.
fn cube_of_negative(r: &mut Rewriter<'_>, op: OpId, _: &[Option<Attr>]) -> bool {
    let negative = r.body.operand(op, 0);
    let Some(neg) = r
        .body
        .defining_op(negative)
        .filter(|&neg| r.view(neg).name() == pd::Neg::NAME)
    else {
        return false;
    };
    let (x, ty) = (r.body.operand(neg, 0), r.body.value_type(negative));
    let cube = r.op("demo.cube").operand(x).result(ty).value();
    let negated = r.op(pd::Neg::NAME).operand(cube).result(ty).value();
    r.take_name(r.body.result(op, 0), negated);
    r.replace_op(op, &[negated]);
    true
}

/// The pass `expand-cubes`.
pub struct ExpandCubes;

impl Pass for ExpandCubes {
    fn name(&self) -> &'static str {
        "expand-cubes"
    }

    fn summary(&self) -> &'static str {
        "Write cubes as products"
    }

    fn description(&self) -> &'static str {
        "Replaces `demo.cube (x)` with `x * x * x`."
    }

    fn scope(&self) -> Scope {
        Scope::Body
    }

    fn run(&self, module: &mut Module, cx: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        let mut patterns = PatternSet::default();
        patterns.add("demo.cube", 1, Arc::new(expand));
        let patterns = patterns.by_op(&module.ctx);
        apply_patterns(module, &patterns, cx)
    }
}

fn expand(r: &mut Rewriter<'_>, op: OpId, _: &[Option<Attr>]) -> bool {
    let x = r.body.operand(op, 0);
    let product = pd::evaluate(r, |scope| {
        let x = scope.expr(x);
        x * x * x
    });
    // Without a product of this type, the operation stays.
    let Ok(product) = product else { return false };
    r.take_name(r.body.result(op, 0), product);
    r.replace_op(op, &[product]);
    true
}
