//! Every operation of the `pd` tables has what it needs in all crates: inference, documentation, a kernel, a gradient rule.

#![allow(clippy::unwrap_used, reason = "in tests a panic is a failure")]

use pir_interp::kernels::Kernels;
use pir_ir::Derivative;
use pir_passes::autodiff::Rules;

/// Operations with kernels or rules whose result types must be written in the program.
const WRITTEN: &[&str] = &[
    "as_complex",
    "as_real",
    "assert",
    "box_coder",
    "conj",
    "distribute_fpn_proposals",
    "eig",
    "eig_grad",
    "eigvals",
    "fractional_max_pool2d",
    "fractional_max_pool2d_grad",
    "fractional_max_pool3d",
    "fractional_max_pool3d_grad",
    "gammaincc",
    "generate_proposals",
    "matrix_nms",
    "multiclass_nms3",
    "nms",
    "prior_box",
    "psroi_pool",
    "psroi_pool_grad",
    "roi_align",
    "roi_align_grad",
    "roi_pool",
    "roi_pool_grad",
    "rrelu",
    "unique",
    "unique_consecutive",
    "viterbi_decode",
    "warpctc",
    "warprnnt",
    "yolo_box",
    "yolo_loss",
    "yolo_loss_grad",
];

#[test]
fn every_operation_is_complete() {
    let ctx = pir_dialects::context();
    let (kernels, rules) = (Kernels::standard(), Rules::standard());
    let mut missing = Vec::new();
    let mut count = 0;
    for def in ctx.ops() {
        let Some(short) = def
            .name
            .strip_prefix("pd.")
            .filter(|_| pir_dialects::pd::family(&def.name).is_some())
        else {
            continue;
        };
        if pir_dialects::pd::is_foreign(&def.name) {
            // Only PaddlePaddle's executor runs it, and its own gradient operation is the derivative; that of a collective is another one.
            let is_collective = pir_dialects::pd::family(&def.name) == Some("collective");
            let has_derivative = matches!(def.derivative, Derivative::Operands(_));
            let declared = has_derivative
                == if is_collective {
                    rules.has(&def.name)
                } else {
                    // Gradient operations that are linear in a cotangent have rules of their own.
                    def.backward.is_some() || rules.has(&def.name)
                };
            // These have kernels too; the types of their results are not inferred yet, and their derivative stays PaddlePaddle's.
            let runs = WRITTEN.contains(&short) || is_collective && has_derivative;
            if !declared || def.infer.is_some() || (kernels.has(&def.name) || rules.has(&def.name)) != runs {
                missing.push(format!(
                    "{}: has more than its declaration, and no row of its own",
                    def.name
                ));
            }
            continue;
        }
        count += 1;
        let input = matches!(short, "data" | "feed" | "parameter");
        let output = matches!(short, "fetch" | "shadow_output" | "print");
        if def.summary.is_empty() {
            missing.push(format!("{}: no summary", def.name));
        }
        if def.infer.is_none() && !def.results.is_empty() && !input {
            missing.push(format!("{}: no inference", def.name));
        }
        if !input && !output && !kernels.has(&def.name) && !def.is_composite() {
            missing.push(format!("{}: no kernel", def.name));
        }
        // Programs that change values in place are not differentiated.
        if def.results.is_empty() {
            continue;
        }
        match &def.derivative {
            // Its row has `refused`: the key is required.
            Derivative::Undeclared | Derivative::None if rules.has(&def.name) => {
                missing.push(format!("{}: has a rule, and no derivative", def.name))
            }
            Derivative::Operands(_) if !rules.has(&def.name) && def.semantics.is_none() => {
                missing.push(format!("{}: no gradient rule", def.name))
            }
            _ => {}
        }
    }
    assert!(count > 100, "{count} operations");
    assert_eq!(missing, Vec::<String>::new());
}

#[test]
fn every_rule_has_its_operation() {
    let ctx = pir_dialects::context();
    for name in Rules::standard().names() {
        assert!(
            ctx.registered_op(name).is_some(),
            "there is a rule for {name}, which is not registered"
        );
    }
}

#[test]
fn every_gradient_twin_exists() {
    let ctx = pir_dialects::context();
    for def in ctx.ops() {
        if let Some(twin) = &def.backward {
            assert!(
                ctx.registered_op(twin).is_some(),
                "{} has the twin {twin}, which is not registered",
                def.name
            );
        }
    }
}

/// The engine keeps its own account of what is constant: what is wrongly declared shows here.
#[test]
fn the_eager_engine_has_rules_of_its_own() {
    let ctx = pir_dialects::context();
    for name in pir_interp::eager::rule_names().filter(|name| !name.starts_with("eager.")) {
        assert!(ctx.registered_op(name).is_some(), "{name} is not registered");
    }
    let rules = Rules::standard();
    let (mut count, mut wrong) = (0, Vec::new());
    for def in ctx.ops() {
        let is_tabled = pir_dialects::pd::family(&def.name).is_some() || rules.has(&def.name);
        if !is_tabled || pir_dialects::pd::is_foreign(&def.name) || def.operands.is_empty() || def.results.is_empty() {
            continue;
        }
        count += 1;
        let constant = pir_interp::eager::is_constant(&def.name);
        match &def.derivative {
            // Numbers from a seed: the operands are shapes.
            Derivative::None if def.operands.iter().all(|o| is_integer(&def.name, &o.name)) => {}
            Derivative::None if !constant => wrong.push(format!("{} is constant by its declaration only", def.name)),
            Derivative::Operands(_) if constant => wrong.push(format!("{} is constant for the engine only", def.name)),
            // Those of MLIR are compared with differences alone.
            Derivative::Operands(_) if ["arith.", "math.", "tensor."].iter().any(|d| def.name.starts_with(d)) => {}
            // What has no rule there is differentiated as what it computes.
            Derivative::Operands(_) if !pir_interp::eager::has_rule(&def.name) && !def.is_composite() => {
                wrong.push(format!("{} has no rule in the engine", def.name));
            }
            _ => {}
        }
    }
    assert!(count > 150, "{count} operations");
    assert_eq!(wrong, Vec::<String>::new());
}

/// Operands that are shapes and counts.
fn is_integer(op: &str, operand: &str) -> bool {
    let counts = matches!(op, "pd.gaussian" | "pd.randint" | "pd.randperm" | "pd.eye");
    counts && matches!(operand, "shape" | "num_rows" | "num_columns")
}
