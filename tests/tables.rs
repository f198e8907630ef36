//! Every operation of the `pd` tables has what it needs in all crates: inference, documentation, a kernel, a gradient rule.

#![allow(clippy::unwrap_used, reason = "in tests a panic is a failure")]

use pir_interp::kernels::Kernels;
use pir_passes::autodiff::has_rule;

/// Operations whose results hold floats but have no gradient rule, and why.
const WITHOUT_RULE: &[(&str, &str)] = &[
    ("pd.full", "a constant"),
    ("pd.const", "a constant"),
    ("pd.constant", "a constant"),
    ("pd.full_int_array", "a constant"),
    ("pd.assign_value", "a constant"),
    ("pd.arange", "of numbers that are no inputs"),
    ("pd.one_hot", "of indices"),
    ("pd.sequence_mask", "of lengths"),
    ("pd.data", "an input"),
    ("pd.feed", "an input"),
    ("pd.parameter", "an input"),
    ("pd.print", "has effects; it is refused"),
    ("pd.uniform", "of numbers that are no inputs"),
    ("pd.gaussian", "of numbers that are no inputs"),
    ("pd.randint", "integers"),
    ("pd.randperm", "integers"),
    ("pd.eye", "a constant"),
    ("pd.bitwise_not", "of integers"),
    ("pd.bitwise_and", "of integers"),
    ("pd.bitwise_or", "of integers"),
    ("pd.bitwise_xor", "of integers"),
];

/// Operations whose results are truth values or indices.
fn is_discrete(name: &str) -> bool {
    let compares = [
        "equal",
        "not_equal",
        "less_than",
        "less_equal",
        "greater_than",
        "greater_equal",
        "any",
        "all",
    ];
    name.starts_with("logical_") || name.starts_with("is") || compares.contains(&name)
}

#[test]
fn every_operation_is_complete() {
    let ctx = pir_dialects::context();
    let kernels = Kernels::new();
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
        count += 1;
        let input = matches!(short, "data" | "feed" | "parameter");
        let output = matches!(short, "fetch" | "shadow_output" | "print");
        if def.summary.is_empty() {
            missing.push(format!("{}: no summary", def.name));
        }
        if def.infer.is_none() && !def.results.is_empty() && !input {
            missing.push(format!("{}: no inference", def.name));
        }
        if !input && !output && !kernels.has(&def.name) {
            missing.push(format!("{}: no kernel", def.name));
        }
        let excepted =
            WITHOUT_RULE.iter().any(|(name, _)| *name == def.name) || is_discrete(short) || short.ends_with("_grad");
        if def.results.is_empty() || excepted {
            continue;
        }
        if !has_rule(&def.name) {
            missing.push(format!("{}: no gradient rule", def.name));
        }
    }
    assert!(count > 100, "{count} operations");
    assert_eq!(missing, Vec::<String>::new());
    for (name, _) in WITHOUT_RULE {
        assert!(!has_rule(name), "{name} has a rule now");
        assert!(ctx.registered_op(name).is_some(), "{name} is not registered");
    }
}

#[test]
fn every_rule_has_its_operation() {
    let ctx = pir_dialects::context();
    for name in pir_passes::autodiff::rule_names() {
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

/// Operations with a rule in the passes that the eager engine does not have one of.
const NOT_IN_THE_EAGER_ENGINE: &[&str] = &[];

/// Operations that the passes refuse to differentiate, which a trace has no difficulty with.
const IN_THE_EAGER_ENGINE_ONLY: &[&str] = &["pd.inplace_add", "pd.print"];

#[test]
fn the_eager_engine_has_rules_of_its_own() {
    let rules: Vec<&str> = pir_passes::autodiff::rule_names().collect();
    let missing: Vec<&str> = rules
        .iter()
        .copied()
        .filter(|op| !pir_interp::eager::has_rule(op))
        .collect();
    assert_eq!(missing, NOT_IN_THE_EAGER_ENGINE);
    let ctx = pir_dialects::context();
    for name in pir_interp::eager::rule_names().filter(|name| !name.starts_with("eager.")) {
        assert!(ctx.registered_op(name).is_some(), "{name} is not registered");
        let only = IN_THE_EAGER_ENGINE_ONLY.contains(&name);
        assert!(
            only != rules.contains(&name),
            "{name} has a rule in the eager engine only"
        );
    }
}
