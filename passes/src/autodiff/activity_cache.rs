//! The activity that `stack-locals` computes, cached for `build-backward`: computing it again, and checking again that every operation on
//! the way has a rule, takes a sixth of the instructions of both passes.

use std::sync::Arc;

use pir_ir::{Body, Context, ValueId};

use super::activity::Activity;
use super::rules::RuleTable;
use super::stack_locals::Changes;
use super::targets::{BackwardOptions, Targets};

/// The activity of a body whose locals are recorded, and which `check_rules` found no error in.
pub(crate) struct ActivityCache {
    options: BackwardOptions,
    inputs: Vec<ValueId>,
    outputs: Vec<ValueId>,
    activity: Arc<Activity>,
}

impl ActivityCache {
    /// Keeps the activity for the next pass, unless stacks, buffers or calls of the body take part in it.
    pub(crate) fn store(
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
        body.remember(ActivityCache {
            options: options.clone(),
            inputs: now(targets.input_values()),
            outputs: now(targets.output_values()),
            activity: Arc::new(activity),
        });
    }

    /// Whether there is an entry for the body as it is, whatever the targets.
    pub(crate) fn is_valid(body: &Body) -> bool {
        body.recall::<ActivityCache>().is_some()
    }

    /// The activity for these inputs and outputs, if it is cached. Debug builds compute it again and compare.
    pub(crate) fn get(
        ctx: &Context,
        body: &Body,
        rules: &RuleTable,
        options: &BackwardOptions,
        [inputs, outputs]: [&[ValueId]; 2],
    ) -> Option<Arc<Activity>> {
        let cached = body.recall::<ActivityCache>()?;
        let is_asked_for = cached.options == *options && cached.inputs == inputs && cached.outputs == outputs;
        if !is_asked_for || rules.custom_calls().next().is_some() {
            return None;
        }
        debug_assert!(
            cached
                .activity
                .agrees(&Activity::new(ctx, body, rules, inputs, outputs), body),
            "recording changed what is active"
        );
        Some(cached.activity.clone())
    }
}

#[cfg(test)]
mod tests {
    use pir_dialects::context;
    use pir_ir::Module;
    use pir_ir::text::{ParseOptions, parse};

    use super::*;
    use crate::autodiff::targets::{resolve, units};
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

    fn is_cached(module: &Module, options: &BackwardOptions) -> bool {
        let (ctx, body) = (&module.ctx, &module.body);
        let targets = resolve(ctx, body, &units(module)[0], options).unwrap();
        let (inputs, outputs) = (targets.input_values(), targets.output_values());
        ActivityCache::get(ctx, body, &RuleTable::new(ctx), options, [&inputs, &outputs]).is_some()
    }

    #[test]
    fn the_activity_is_cached_until_the_body_changes() {
        let mut module = parse(&context(), LOOP.as_bytes(), &ParseOptions::default()).module;
        stack_locals(&mut module, &BackwardOptions::default()).unwrap();
        assert!(is_cached(&module, &BackwardOptions::default()));
        let of_others = BackwardOptions {
            from_operands: true,
            ..BackwardOptions::default()
        };
        assert!(!is_cached(&module, &of_others));
        assert!(!is_cached(&module.clone(), &BackwardOptions::default()));
        build_backward(&mut module, &BackwardOptions::default()).unwrap();
        assert!(!ActivityCache::is_valid(&module.body));
        // The stacks of the first derivative take part in the second.
        prune_stacks(&mut module);
        let of_gradient = BackwardOptions {
            of: vec!["x_grad".to_owned()],
            ..BackwardOptions::default()
        };
        stack_locals(&mut module, &of_gradient).unwrap();
        assert!(!ActivityCache::is_valid(&module.body));
    }
}
