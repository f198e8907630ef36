//! The pass manager: runs passes in order.

use pir_ir::verify::{VerifyOptions, verify_with};
use pir_ir::{Diagnostic, Module};

use crate::pass::{Changed, ConstantEvaluator, PassContext};
use crate::pipeline::{Invocation, Pipeline};

/// Is told what the manager does: to print the program after each pass, to measure times, and so on.
pub trait Observer {
    /// A pass is about to run. Passes that are pipelines are not told of, only the passes in them.
    fn before(&mut self, invocation: &Invocation, module: &Module) {
        let _ = (invocation, module);
    }

    /// A pass has run without errors.
    fn after(&mut self, invocation: &Invocation, module: &Module, changed: Changed) {
        let _ = (invocation, module, changed);
    }
}

/// When the manager verifies the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VerifyEach {
    /// Never.
    Never,
    /// After each pass that says that it changed something.
    Changed(VerifyOptions),
}

impl Default for VerifyEach {
    fn default() -> Self {
        VerifyEach::Changed(VerifyOptions::default())
    }
}

/// Runs pipelines. By default the program is verified after each pass.
#[derive(Default)]
pub struct PassManager<'a> {
    observers: Vec<&'a mut dyn Observer>,
    evaluator: Option<&'a dyn ConstantEvaluator>,
    reports: Vec<Diagnostic>,
    verify: VerifyEach,
}

impl<'a> PassManager<'a> {
    /// A manager without observers and evaluator.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an observer; observers are told in the order in which they were added.
    pub fn observe(&mut self, observer: &'a mut dyn Observer) -> &mut Self {
        self.observers.push(observer);
        self
    }

    /// Says when the program is verified.
    pub fn verify_each(&mut self, verify: VerifyEach) -> &mut Self {
        self.verify = verify;
        self
    }

    /// Lets passes compute operations on constants.
    pub fn set_evaluator(&mut self, evaluator: &'a dyn ConstantEvaluator) -> &mut Self {
        self.evaluator = Some(evaluator);
        self
    }

    /// The warnings and notes of the passes that ran.
    pub fn take_reports(&mut self) -> Vec<Diagnostic> {
        std::mem::take(&mut self.reports)
    }

    /// Runs the passes of a pipeline in order.
    ///
    /// # Errors
    /// What the first pass that failed says, each with a note that names the pass. The module must not be used then.
    pub fn run(&mut self, module: &mut Module, pipeline: &Pipeline) -> Result<Changed, Vec<Diagnostic>> {
        let mut changed = Changed::No;
        // A pass that is a pipeline puts its passes in its place; a list, not a call, so that nothing recurses.
        let mut pending: Vec<Invocation> = pipeline.invocations.iter().rev().cloned().collect();
        while let Some(invocation) = pending.pop() {
            if let Some(inner) = invocation.pass.expand(&invocation.options) {
                pending.extend(inner.into_iter().rev());
                continue;
            }
            changed |= self.run_one(module, &invocation)?;
        }
        Ok(changed)
    }

    fn run_one(&mut self, module: &mut Module, invocation: &Invocation) -> Result<Changed, Vec<Diagnostic>> {
        for observer in &mut self.observers {
            observer.before(invocation, module);
        }
        let cx = PassContext::new(&invocation.options).with_evaluator(self.evaluator);
        let result = invocation.pass.run(module, &cx);
        self.reports.extend(cx.into_reports());
        let changed = result.map_err(|errors| {
            let note = format!("in the pass `{invocation}`");
            errors.into_iter().map(|e| e.note(note.clone())).collect::<Vec<_>>()
        })?;
        for observer in &mut self.observers {
            observer.after(invocation, module, changed);
        }
        // Observers come first: the program that is at fault is what one wants to see.
        if let (VerifyEach::Changed(options), Changed::Yes) = (self.verify, changed) {
            let errors = verify_with(module, options);
            if !errors.is_empty() {
                let note = format!("the pass `{invocation}` left the program like this; that is an error of the pass");
                return Err(errors.into_iter().map(|e| e.note(note.clone())).collect());
            }
        }
        Ok(changed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{OptionKind, OptionSpec, Options};
    use crate::pass::Pass;
    use pir_ir::ContextBuilder;

    const OPTIONS: &[OptionSpec] = &[OptionSpec {
        name: "fail",
        kind: OptionKind::Bool,
        default: Some("false"),
        help: "whether it fails",
    }];

    struct Step;
    impl Pass for Step {
        fn name(&self) -> &'static str {
            "step"
        }
        fn summary(&self) -> &'static str {
            ""
        }
        fn description(&self) -> &'static str {
            ""
        }
        fn options(&self) -> &'static [OptionSpec] {
            OPTIONS
        }
        fn run(&self, _: &mut Module, cx: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
            cx.report(Diagnostic::warning("w", "careful"));
            if cx.options.flag("fail") {
                return Err(vec![Diagnostic::error("e", "failed")]);
            }
            Ok(Changed::Yes)
        }
    }

    struct Twice;
    impl Pass for Twice {
        fn name(&self) -> &'static str {
            "twice"
        }
        fn summary(&self) -> &'static str {
            ""
        }
        fn description(&self) -> &'static str {
            ""
        }
        fn options(&self) -> &'static [OptionSpec] {
            OPTIONS
        }
        fn expand(&self, options: &Options) -> Option<Vec<Invocation>> {
            Some(vec![Invocation::new(&Step), Invocation::forwarding(&Step, options)])
        }
        fn run(&self, _: &mut Module, _: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
            unreachable!("the manager expands it")
        }
    }

    #[derive(Default)]
    struct Log(Vec<String>);
    impl Observer for Log {
        fn before(&mut self, invocation: &Invocation, _: &Module) {
            self.0.push(format!("before {invocation}"));
        }
        fn after(&mut self, invocation: &Invocation, _: &Module, changed: Changed) {
            self.0.push(format!("after {invocation} {changed:?}"));
        }
    }

    fn run(text: &str) -> (Vec<String>, Result<Changed, Vec<Diagnostic>>, usize) {
        let pipeline = Pipeline::parse_with(text, &[&Step, &Twice]).unwrap();
        let mut module = Module::new(ContextBuilder::new().build());
        let mut log = Log::default();
        let mut manager = PassManager::new();
        manager.observe(&mut log);
        let result = manager.run(&mut module, &pipeline);
        let reports = manager.take_reports().len();
        (log.0, result, reports)
    }

    #[test]
    fn runs_in_order_and_expands_pipelines() {
        let (log, result, reports) = run("twice,step");
        assert_eq!(result, Ok(Changed::Yes));
        assert_eq!(reports, 3);
        assert_eq!(log, ["before step", "after step Yes"].repeat(3));
    }

    #[test]
    fn stops_at_the_first_failure_and_names_the_pass() {
        let (log, result, reports) = run("twice{fail},step");
        let errors = result.unwrap_err();
        assert_eq!(errors[0].notes, ["in the pass `step{fail=true}`"]);
        assert_eq!(reports, 2);
        assert_eq!(log, ["before step", "after step Yes", "before step{fail=true}"]);
    }

    #[test]
    fn verifies_between_passes() {
        struct Breaker;
        impl Pass for Breaker {
            fn name(&self) -> &'static str {
                "breaker"
            }
            fn summary(&self) -> &'static str {
                ""
            }
            fn description(&self) -> &'static str {
                ""
            }
            fn run(&self, module: &mut Module, _: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
                let top = module.top();
                let ctx = module.ctx.clone();
                pir_ir::Rewriter::new(&ctx, &mut module.body)
                    .at_end(top)
                    .op("no.such")
                    .build();
                Ok(Changed::Yes)
            }
        }
        let pipeline = Pipeline::parse_with("breaker", &[&Breaker]).unwrap();
        let run = |verify| {
            let mut module = Module::new(ContextBuilder::new().build());
            PassManager::new().verify_each(verify).run(&mut module, &pipeline)
        };
        let errors = run(VerifyEach::default()).unwrap_err();
        assert_eq!(errors[0].code, "unregistered-op");
        assert!(errors[0].notes[0].contains("the pass `breaker` left the program like this"));
        assert!(run(VerifyEach::Never).is_ok());
    }

    #[test]
    fn declared_defaults_can_be_read() {
        for pass in crate::all_passes() {
            let options = Options::new(pass.options());
            for spec in pass.options() {
                assert_eq!(
                    options.get(spec.name).is_some(),
                    spec.default.is_some(),
                    "{}",
                    spec.name
                );
            }
        }
    }
}
