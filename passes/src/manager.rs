//! The pass manager: runs passes in order.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use pir_ir::verify::{VerifyOptions, verify_with};
use pir_ir::{Body, Context, Diagnostic, Module, OpId};

use crate::bodies::map_bodies;
use crate::pass::{Changed, ConstantEvaluator, PassContext};
use crate::pass::{Invocation, Path, Scope};
use crate::pipeline::{Pipeline, is_module};

/// The code of the error that a crash of a pass is reported with.
pub const PASS_CRASH: &str = "pass-crash";

/// What a pass that has run did.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ran {
    /// Whether it changed the program.
    pub changed: Changed,
    /// How long it took.
    pub time: Duration,
    /// What it counted; see [`PassContext::count`].
    pub counts: BTreeMap<&'static str, u64>,
}

/// Is told what the manager does: to print the program after each pass, to measure times, and so on.
pub trait Observer {
    /// Whether a pass is to run; all observers must agree. `on` is the operation that it would run on, if that is not
    /// the whole program.
    fn permits(&mut self, invocation: &Invocation, on: Option<&str>) -> bool {
        let _ = (invocation, on);
        true
    }

    /// A pass that is a pipeline begins: its passes follow.
    fn enter(&mut self, invocation: &Invocation) {
        let _ = invocation;
    }

    /// The passes of the pass that began last have run.
    fn leave(&mut self) {}

    /// A pass is about to run. Passes that are pipelines are not told of, only the passes in them.
    fn before(&mut self, invocation: &Invocation, module: &Module) {
        let _ = (invocation, module);
    }

    /// A pass has run without errors.
    fn after(&mut self, invocation: &Invocation, module: &Module, ran: &Ran) {
        let _ = (invocation, module, ran);
    }

    /// The program was verified after a pass.
    fn verified(&mut self, invocation: &Invocation, time: Duration) {
        let _ = (invocation, time);
    }

    /// A pass failed, crashed, or left a program that is wrong. The program may be half changed.
    fn failed(&mut self, invocation: &Invocation, module: &Module) {
        let _ = (invocation, module);
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

/// What is left to do.
enum Pending {
    Run(Invocation),
    /// A pass that is a pipeline ends.
    Leave,
}

type Outcome = Result<Changed, Vec<Diagnostic>>;

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
    /// What the first pass that failed says, each with a note that names the pass; an error of the code
    /// [`PASS_CRASH`] if it panicked. The module must not be used then.
    pub fn run(&mut self, module: &mut Module, pipeline: &Pipeline) -> Outcome {
        let mut changed = Changed::No;
        // A pass that is a pipeline puts its passes in its place; a list, not a call, so that nothing recurses.
        let runs = pipeline.invocations.iter().rev().cloned();
        let mut pending: Vec<Pending> = runs.map(Pending::Run).collect();
        while let Some(next) = pending.pop() {
            let Pending::Run(invocation) = next else {
                self.observers.iter_mut().for_each(|o| o.leave());
                continue;
            };
            if let Some(inner) = invocation.pass.expand(&invocation.options) {
                self.observers.iter_mut().for_each(|o| o.enter(&invocation));
                pending.push(Pending::Leave);
                let path = &invocation.path;
                let inside = inner.into_iter().rev().map(|inner| Invocation {
                    path: path.clone(),
                    ..inner
                });
                pending.extend(inside.map(Pending::Run));
                continue;
            }
            changed |= self.run_one(module, &invocation)?;
        }
        Ok(changed)
    }

    fn run_one(&mut self, module: &mut Module, invocation: &Invocation) -> Outcome {
        let ctx = module.ctx.clone();
        let on_whole = match &*invocation.path {
            [] => true,
            [only] => ctx
                .registered_op(only)
                .and_then(|op| ctx.op_def(op))
                .is_some_and(is_module),
            _ => false,
        };
        if on_whole && !self.observers.iter_mut().all(|o| o.permits(invocation, None)) {
            return Ok(Changed::No);
        }
        for observer in &mut self.observers {
            observer.before(invocation, module);
        }
        let start = Instant::now();
        let mut counts = BTreeMap::new();
        let result = if on_whole {
            self.run_on(module, invocation, &mut counts)
        } else {
            self.run_inside(module, invocation, &mut counts)
        };
        let time = start.elapsed();
        let changed = match result {
            Ok(changed) => changed,
            Err(errors) => {
                self.observers.iter_mut().for_each(|o| o.failed(invocation, module));
                let note = format!("in the pass `{invocation}`");
                return Err(errors.into_iter().map(|e| e.note(note.clone())).collect());
            }
        };
        let ran = Ran { changed, time, counts };
        for observer in &mut self.observers {
            observer.after(invocation, module, &ran);
        }
        // Observers come first: the program that is at fault is what one wants to see.
        if let (VerifyEach::Changed(options), Changed::Yes) = (self.verify, changed) {
            let start = Instant::now();
            // What a pass has left may be such that the verifier itself stumbles.
            let verified = catch_unwind(AssertUnwindSafe(|| verify_with(module, options)));
            let errors = verified.unwrap_or_else(|panic| vec![crash("the verifier", &*panic)]);
            let time = start.elapsed();
            self.observers.iter_mut().for_each(|o| o.verified(invocation, time));
            if !errors.is_empty() {
                self.observers.iter_mut().for_each(|o| o.failed(invocation, module));
                let note = format!("the pass `{invocation}` left the program like this; that is an error of the pass");
                return Err(errors.into_iter().map(|e| e.note(note.clone())).collect());
            }
        }
        Ok(changed)
    }

    /// Runs a pass on a module.
    fn run_on(
        &mut self,
        module: &mut Module,
        invocation: &Invocation,
        counts: &mut BTreeMap<&'static str, u64>,
    ) -> Outcome {
        let (outcome, reports, counted) = attempt(module, invocation, self.evaluator);
        self.reports.extend(reports);
        *counts = counted;
        outcome
    }

    /// Runs a pass on each of the operations that its path leads to.
    fn run_inside(
        &mut self,
        module: &mut Module,
        invocation: &Invocation,
        counts: &mut BTreeMap<&'static str, u64>,
    ) -> Outcome {
        let ctx = module.ctx.clone();
        let mut bodies = Vec::new();
        for (name, body) in targets(&ctx, &mut module.body, &invocation.path) {
            // Asked one after the other, so that the answers do not depend on the threads.
            if self.observers.iter_mut().all(|o| o.permits(invocation, Some(&name))) {
                bodies.push(body);
            }
        }
        let evaluator = self.evaluator;
        let results = map_bodies(&mut bodies, |body| {
            // To the pass, the body is a program of its own.
            let mut module = Module {
                ctx: ctx.clone(),
                body: std::mem::take(body),
            };
            let result = attempt(&mut module, invocation, evaluator);
            std::mem::swap(body, &mut module.body);
            result
        });
        let mut changed = Changed::No;
        let mut errors = Vec::new();
        for (outcome, reports, counted) in results {
            self.reports.extend(reports);
            for (what, by) in counted {
                *counts.entry(what).or_default() += by;
            }
            match outcome {
                Ok(c) => changed |= c,
                Err(e) => errors.extend(e),
            }
        }
        if errors.is_empty() { Ok(changed) } else { Err(errors) }
    }
}

/// Runs a pass, and takes a panic for an error.
fn attempt(
    module: &mut Module,
    invocation: &Invocation,
    evaluator: Option<&dyn ConstantEvaluator>,
) -> (Outcome, Vec<Diagnostic>, BTreeMap<&'static str, u64>) {
    let mut cx = PassContext::new(&invocation.options).with_evaluator(evaluator);
    // A file with one module is that module, also when it has a name or attributes.
    let within = only_module(module).filter(|_| invocation.pass.scope() == Scope::Module);
    let outer = within.and_then(|op| {
        let inner = module.body.take_isolated(op)?;
        Some((op, std::mem::replace(&mut module.body, inner)))
    });
    let preserved = invocation.pass.preserves();
    if !preserved.is_empty() {
        each_body(module, Body::drop_stale_analyses);
    }
    // The module is not used after a failure but for showing it, which is guarded as well.
    let result = catch_unwind(AssertUnwindSafe(|| invocation.pass.run(module, &cx)));
    if !preserved.is_empty() && matches!(result, Ok(Ok(_))) {
        each_body(module, |body| body.keep_analyses(&preserved));
    }
    if let Some((op, outer)) = outer {
        let inner = std::mem::replace(&mut module.body, outer);
        module.body.set_isolated(op, inner);
    }
    let counts = cx.take_counts();
    let outcome = result.unwrap_or_else(|panic| {
        let who = format!("the pass `{}`", invocation.pass.name());
        Err(vec![crash(&who, &*panic)])
    });
    (outcome, cx.into_reports(), counts)
}

fn each_body(module: &mut Module, f: impl Fn(&mut Body)) {
    let mut pending = vec![&mut module.body];
    while let Some(body) = pending.pop() {
        f(body);
        pending.extend(body.isolated_ops_mut().map(|(_, _, inner)| inner));
    }
}

/// The only operation of a program, if that is a module that is not empty.
fn only_module(module: &Module) -> Option<OpId> {
    let mut ops = module.body.block_ops(module.top());
    let op = ops.next().filter(|_| ops.next().is_none())?;
    let inner = module.body.isolated(op)?;
    let is_one = module.body.view(&module.ctx, op).def().is_some_and(is_module);
    (is_one && !inner.region_blocks(inner.root()).is_empty()).then_some(op)
}

fn crash(who: &str, panic: &(dyn Any + Send)) -> Diagnostic {
    Diagnostic::error(PASS_CRASH, format!("{who} crashed: {}", panic_message(panic)))
        .note("this is an error of the pass, whatever the program is")
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(text), _) => text,
        (_, Some(text)) => text,
        _ => "for an unknown reason",
    }
}

/// The bodies that a path leads to, with names for them: for each anchor the outermost operations of that name, at any
/// depth. A module at the beginning of a path is the program.
fn targets<'m>(ctx: &Context, body: &'m mut Body, path: &Path) -> Vec<(String, &'m mut Body)> {
    let mut found = vec![(String::new(), body)];
    for (depth, anchor) in path.iter().enumerate() {
        let name = ctx.op_name(anchor);
        if depth == 0 && ctx.op_def(name).is_some_and(is_module) {
            continue;
        }
        let mut pending: Vec<(Option<String>, &mut Body)> = found.into_iter().rev().map(|(_, b)| (None, b)).collect();
        found = Vec::new();
        while let Some((label, body)) = pending.pop() {
            if let Some(label) = label {
                found.push((label, body));
                continue;
            }
            let ops: Vec<_> = body.walk_all().filter(|&op| body.isolated(op).is_some()).collect();
            let mut labels: rustc_hash::FxHashMap<_, _> = ops
                .into_iter()
                .map(|op| {
                    let symbol = body.view(ctx, op).str("sym_name");
                    let label = symbol.map_or_else(|| anchor.to_string(), |symbol| format!("@{symbol}"));
                    (op, (body.op_name(op) == name).then_some(label))
                })
                .collect();
            let first = pending.len();
            let inner = body.isolated_ops_mut();
            pending.extend(inner.filter_map(|(op, _, body)| Some((labels.remove(&op)?, body))));
            pending[first..].reverse();
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{OptionKind, OptionSpec, Options};
    use crate::pass::Pass;
    use pir_ir::{ContextBuilder, Preserved};

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
        fn after(&mut self, invocation: &Invocation, _: &Module, ran: &Ran) {
            self.0.push(format!("after {invocation} {:?}", ran.changed));
        }
    }

    fn run(text: &str) -> (Vec<String>, Result<Changed, Vec<Diagnostic>>, usize) {
        let pipeline = Pipeline::parse_with(text, &[&Step, &Twice], None).unwrap();
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
        let pipeline = Pipeline::parse_with("breaker", &[&Breaker], None).unwrap();
        let run = |verify| {
            let mut module = Module::new(ContextBuilder::new().build());
            PassManager::new().verify_each(verify).run(&mut module, &pipeline)
        };
        let errors = run(VerifyEach::default()).unwrap_err();
        assert_eq!(errors[0].code, "unregistered-op");
        assert!(errors[0].notes[0].contains("the pass `breaker` left the program like this"));
        assert!(run(VerifyEach::Never).is_ok());
    }

    /// Three functions, one of them in a module inside.
    fn functions() -> Module {
        let text = "func.func @a () {\n  func.return\n}\nbuiltin.module @m {\n  func.func @b () {\n    func.return\n  }\n}\n\
                    func.func @c () {\n  func.return\n}\n";
        let ctx = pir_dialects::context();
        let parsed = pir_ir::text::parse(&ctx, text.as_bytes(), &Default::default());
        assert!(parsed.diagnostics.is_empty(), "{:#?}", parsed.diagnostics);
        parsed.module
    }

    /// Counts the operations that it is shown.
    struct Look;
    impl Pass for Look {
        fn name(&self) -> &'static str {
            "look"
        }
        fn summary(&self) -> &'static str {
            ""
        }
        fn description(&self) -> &'static str {
            ""
        }
        fn scope(&self) -> Scope {
            Scope::Body
        }
        fn run(&self, module: &mut Module, cx: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
            cx.count("programs", 1);
            cx.count("operations", module.num_ops());
            Ok(Changed::No)
        }
    }

    #[derive(Default)]
    struct Seen {
        asked: Vec<String>,
        refused: &'static str,
        counts: Vec<u64>,
        failed: Vec<String>,
    }
    impl Observer for Seen {
        fn permits(&mut self, invocation: &Invocation, on: Option<&str>) -> bool {
            self.asked.push(format!("{invocation} {}", on.unwrap_or("-")));
            on.is_none_or(|on| on != self.refused)
        }
        fn after(&mut self, _: &Invocation, _: &Module, ran: &Ran) {
            self.counts.extend(ran.counts.values());
        }
        fn failed(&mut self, invocation: &Invocation, _: &Module) {
            self.failed.push(invocation.to_string());
        }
    }

    #[test]
    fn passes_run_on_what_the_anchors_name() {
        let all = |text: &str, refused| {
            let mut module = functions();
            let before = pir_ir::text::print(&module, &Default::default());
            let pipeline = Pipeline::parse_with(text, &[&Look], Some(&module.ctx)).unwrap();
            let mut seen = Seen {
                refused,
                ..Seen::default()
            };
            PassManager::new()
                .observe(&mut seen)
                .run(&mut module, &pipeline)
                .unwrap();
            assert_eq!(pir_ir::text::print(&module, &Default::default()), before);
            (seen.asked, seen.counts)
        };
        let named = |names: &[&str]| names.iter().map(|n| format!("look {n}")).collect::<Vec<_>>();
        assert_eq!(all("look", ""), (named(&["-"]), vec![7, 1]));
        assert_eq!(all("builtin.module(look)", ""), (named(&["-"]), vec![7, 1]));
        for text in ["func.func(look)", "builtin.module(func.func(look))"] {
            assert_eq!(all(text, ""), (named(&["@a", "@b", "@c"]), vec![3, 3]), "{text}");
            assert_eq!(all(text, "@b"), (named(&["@a", "@b", "@c"]), vec![2, 2]), "{text}");
        }
        let inside = "builtin.module(builtin.module(func.func(look)))";
        assert_eq!(all(inside, ""), (named(&["@b"]), vec![1, 1]));
    }

    #[test]
    fn crashes_are_errors() {
        let pipeline = Pipeline::parse("func.func(debug-panic)").unwrap();
        let mut module = functions();
        let mut seen = Seen::default();
        let errors = PassManager::new()
            .observe(&mut seen)
            .run(&mut module, &pipeline)
            .unwrap_err();
        assert_eq!(errors.len(), 3, "one for each function");
        assert_eq!(errors[0].code, PASS_CRASH);
        assert_eq!(
            errors[0].message,
            "the pass `debug-panic` crashed: as `debug-panic` was asked to"
        );
        assert_eq!(seen.failed, ["debug-panic"]);
        assert_eq!(module.num_ops(), 7, "the functions are back in their places");
    }

    #[test]
    fn declared_defaults_can_be_read() {
        for pass in crate::PassRegistry::standard().iter() {
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

    #[derive(PartialEq)]
    struct Blocks(usize);
    impl pir_ir::Analysis for Blocks {
        fn compute(_: &Context, body: &Body) -> Self {
            Blocks(body.region_blocks(body.root()).len())
        }
    }

    /// Adds an operation, or also a block.
    struct Append {
        preserves: bool,
        block: bool,
    }
    impl Pass for Append {
        fn name(&self) -> &'static str {
            "append"
        }
        fn summary(&self) -> &'static str {
            ""
        }
        fn description(&self) -> &'static str {
            ""
        }
        fn preserves(&self) -> Preserved {
            match self.preserves {
                true => Preserved::none().and::<Blocks>(),
                false => Preserved::none(),
            }
        }
        fn run(&self, module: &mut Module, _: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
            let body = &mut module.body;
            body.create_placeholder(pir_ir::Type::F32);
            if self.block {
                body.create_block(body.root());
            }
            Ok(Changed::Yes)
        }
    }

    #[test]
    fn analyses_are_kept_through_passes_that_preserve_them() {
        let kept = |pass: &'static Append| {
            let mut module = Module::new(ContextBuilder::new().build());
            let before = module.body.analysis::<Blocks>(&module.ctx);
            let mut manager = PassManager::new();
            manager.verify_each(VerifyEach::Never);
            let invocations = vec![Invocation::new(pass)];
            manager.run(&mut module, &Pipeline { invocations }).unwrap();
            let after = module.body.analysis::<Blocks>(&module.ctx);
            std::sync::Arc::ptr_eq(&before, &after)
        };
        let pass = |preserves, block| Append { preserves, block };
        assert!(kept(Box::leak(Box::new(pass(true, false)))));
        assert!(!kept(Box::leak(Box::new(pass(false, false)))));
        // A promise that is not kept is found out, in debug builds.
        let wrong = catch_unwind(|| kept(Box::leak(Box::new(pass(true, true)))));
        assert_eq!(wrong.is_err(), cfg!(debug_assertions));
    }
}
