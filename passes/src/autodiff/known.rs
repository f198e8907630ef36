//! What `stack-locals` finds out about a body and `build-backward` needs again: to find the active values and to see that all that they
//! pass through has a derivative takes an eighth of the time of both.

use std::sync::Arc;

use pir_ir::{Body, Context, ValueId};

use super::activity::Activity;
use super::rules::RuleTable;
use super::stack_locals::Changes;
use super::targets::{BackwardOptions, Targets};

/// The activity of a body whose locals have been recorded, and in which nothing is in the way of the derivative.
pub(crate) struct Known {
    /// What it was asked for.
    options: BackwardOptions,
    inputs: Vec<ValueId>,
    outputs: Vec<ValueId>,
    activity: Arc<Activity>,
}

impl Known {
    /// Keeps the activity for the next pass, unless the body is one whose stacks or calls take part in it.
    pub(crate) fn remember(
        ctx: &Context,
        body: &Body,
        options: &BackwardOptions,
        targets: &Targets,
        activity: Arc<Activity>,
        changes: &Changes,
    ) {
        let activity = Arc::into_inner(activity);
        let Some(activity) = activity.and_then(|a| a.after_recording(ctx, body, changes)) else {
            return;
        };
        let now = |values: Vec<ValueId>| values.into_iter().map(|v| changes.renamed.get_or_self(v)).collect();
        body.remember(Known {
            options: options.clone(),
            inputs: now(targets.input_values()),
            outputs: now(targets.output_values()),
            activity: Arc::new(activity),
        });
    }

    /// Whether there is something known of the body as it is.
    pub(crate) fn is_there(body: &Body) -> bool {
        body.recall::<Known>().is_some()
    }

    /// The activity for these targets, if it is known. In debug builds it is found again and compared.
    pub(crate) fn recall(
        ctx: &Context,
        body: &Body,
        rules: &RuleTable,
        options: &BackwardOptions,
        targets: &Targets,
    ) -> Option<Arc<Activity>> {
        let (inputs, outputs) = (targets.input_values(), targets.output_values());
        let known = body.recall::<Known>()?;
        let is_asked_for = known.options == *options && known.inputs == inputs && known.outputs == outputs;
        if !is_asked_for || rules.custom_calls().next().is_some() {
            return None;
        }
        debug_assert!(
            known
                .activity
                .agrees(&Activity::new(ctx, body, rules, &inputs, &outputs), body),
            "recording changed what is active"
        );
        Some(known.activity.clone())
    }
}

#[cfg(test)]
mod tests {
    use pir_dialects::context;
    use pir_ir::Module;
    use pir_ir::text::{ParseOptions, parse};

    use super::*;
    use crate::autodiff::{build_backward, prune_stacks, stack_locals};

    const LOOP: &str = "%x = pd.data {name = \"x\", shape = [2], dtype = f32}\n\
        %n = pd.full {shape = [], value = 3, dtype = i64}\n\
        %zero = pd.full {shape = [], value = 0, dtype = i64}\n\
        %one = pd.full {shape = [], value = 1, dtype = i64}\n\
        %c, %r = pd.while (%zero, %x) cond (%i: tensor<i64>, %a: tensor<2xf32>) {\n\
        %go = pd.less_than (%i, %n)\n\
        cf.cond_yield (%go, %i, %a)\n\
        } body (%j: tensor<i64>, %b: tensor<2xf32>) {\n\
        %next = pd.add (%j, %one)\n\
        %y = pd.multiply (%b, %x)\n\
        cf.yield (%next, %y)\n\
        }\n\
        pd.fetch (%r) {name = \"r\"}\n";

    fn recorded(text: &str) -> Module {
        let mut module = parse(&context(), text.as_bytes(), &ParseOptions::default()).module;
        stack_locals(&mut module, &BackwardOptions::default()).unwrap();
        module
    }

    fn is_recalled(module: &Module, options: &BackwardOptions) -> bool {
        let ctx = &module.ctx;
        let body = &module.body;
        let unit = &crate::autodiff::targets::units(module)[0];
        let targets = crate::autodiff::targets::resolve(ctx, body, unit, options).unwrap();
        Known::recall(ctx, body, &RuleTable::new(ctx), options, &targets).is_some()
    }

    #[test]
    fn the_activity_is_known_until_the_body_changes() {
        let mut module = recorded(LOOP);
        assert!(is_recalled(&module, &BackwardOptions::default()));
        let of_others = BackwardOptions {
            from_operands: true,
            ..BackwardOptions::default()
        };
        assert!(!is_recalled(&module, &of_others));
        assert!(!is_recalled(&module.clone(), &BackwardOptions::default()));
        build_backward(&mut module, &BackwardOptions::default()).unwrap();
        assert!(!Known::is_there(&module.body));
        // The stacks of the first derivative take part in the second.
        prune_stacks(&mut module);
        let of_gradient = BackwardOptions {
            of: vec!["x_grad".to_owned()],
            ..BackwardOptions::default()
        };
        stack_locals(&mut module, &of_gradient).unwrap();
        assert!(!Known::is_there(&module.body));
    }
}
