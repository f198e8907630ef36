//! The pass manager: runs passes in order.

mod settled;

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use pir_ir::text::{self, PrintOptions};
use pir_ir::verify::{VerifyOptions, verify_with};
use pir_ir::{Body, Context, Diagnostic, Module, OpId, ValueId};
use rustc_hash::FxHashSet;

use crate::bodies::map_bodies;
use crate::pass::{Changed, ConstantEvaluator, PassContext, Services, WriteFile};
use crate::pass::{Invocation, Path, Scope};
use crate::pipeline::{Pipeline, is_module};
use settled::{is_settled, settle};

/// The code of the error that a crash of a pass is reported with.
pub const PASS_CRASH: &str = "pass-crash";

/// The record of a pass that has run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ran {
    /// Whether it changed the program.
    pub changed: Changed,
    /// How long it took.
    pub time: Duration,
    /// Its counters; see [`PassContext::count`].
    pub counts: BTreeMap<&'static str, u64>,
}

/// Is notified of what the manager does: to print the program after each pass, to measure times, and so on.
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

    /// A pass is about to run. Passes that are pipelines are not reported, only the passes in them.
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

    /// A pass failed, and left the program as it was; or it crashed, or left a program that is wrong.
    fn failed(&mut self, invocation: &Invocation, module: &Module) {
        let _ = (invocation, module);
    }
}

/// When the manager verifies the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VerifyEach {
    /// Never.
    Never,
    /// After each pass that reports a change.
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
    services: Services<'a>,
    reports: Vec<Diagnostic>,
    verify: VerifyEach,
}

/// The remaining work.
enum Pending {
    Run(Invocation),
    /// A pass that is a pipeline ends.
    Leave,
}

type Outcome = Result<Changed, Vec<Diagnostic>>;

impl<'a> PassManager<'a> {
    /// A manager without observers and services.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an observer; observers are notified in the order in which they were added.
    pub fn observe(&mut self, observer: &'a mut dyn Observer) -> &mut Self {
        self.observers.push(observer);
        self
    }

    /// Sets when the program is verified.
    pub fn verify_each(&mut self, verify: VerifyEach) -> &mut Self {
        self.verify = verify;
        self
    }

    /// Lets passes compute operations on constants.
    pub fn set_evaluator(&mut self, evaluator: &'a dyn ConstantEvaluator) -> &mut Self {
        self.services.evaluator = Some(evaluator);
        self
    }

    /// Lets passes write files.
    pub fn set_write_file(&mut self, write: &'a WriteFile) -> &mut Self {
        self.services.write_file = Some(write);
        self
    }

    /// The warnings and notes of the passes that ran.
    pub fn take_reports(&mut self) -> Vec<Diagnostic> {
        std::mem::take(&mut self.reports)
    }

    /// Runs the passes of a pipeline in order.
    ///
    /// # Errors
    /// The errors of the first pass that failed, each with a note that names the pass; an error of the code
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
        // Observers come first: they show the faulty program.
        if let (VerifyEach::Changed(options), Changed::Yes) = (self.verify, changed) {
            let start = Instant::now();
            // The output of a pass may be such that the verifier itself panics.
            let verified = catch_unwind(AssertUnwindSafe(|| verify_with(module, options)));
            let errors = verified.unwrap_or_else(|panic| vec![crash("the verifier", &*panic)]);
            let time = start.elapsed();
            self.observers.iter_mut().for_each(|o| o.verified(invocation, time));
            if !errors.is_empty() {
                self.observers.iter_mut().for_each(|o| o.failed(invocation, module));
                let note = format!("the pass `{invocation}` produced this invalid program; this is a bug in the pass");
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
        let (outcome, reports, counted) = attempt(module, invocation, self.services);
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
        let services = self.services;
        let results = map_bodies(&mut bodies, |body| {
            // The pass sees the body as a program.
            let mut module = Module {
                ctx: ctx.clone(),
                body: std::mem::take(body),
            };
            let result = attempt(&mut module, invocation, services);
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
    services: Services<'_>,
) -> (Outcome, Vec<Diagnostic>, BTreeMap<&'static str, u64>) {
    let settled = is_settled(module, invocation, services);
    if settled && !cfg!(debug_assertions) {
        return (Ok(Changed::No), Vec::new(), BTreeMap::new());
    }
    let mut cx = PassContext::new(&invocation.options).with_services(services);
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
    let before = cfg!(debug_assertions).then(|| module.clone());
    // After a panic the module is not used but for showing it, which is guarded as well.
    let result = catch_unwind(AssertUnwindSafe(|| invocation.pass.run(module, &cx)));
    if let (Some(before), Ok(Err(_))) = (before, &result) {
        let [before, after] = [&before, &*module].map(|module| text::print(module, &PrintOptions::default()));
        let name = invocation.pass.name();
        assert!(before == after, "`{name}` failed after it had changed the program");
    }
    if cfg!(debug_assertions) && matches!(result, Ok(Ok(_))) {
        each_body(module, |body| check_uses(body, invocation.pass.name()));
    }
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
    let reports = cx.into_reports();
    if outcome == Ok(Changed::No) && counts.is_empty() && reports.is_empty() {
        settle(module, invocation, services);
    }
    let name = invocation.pass.name();
    debug_assert!(!settled || outcome == Ok(Changed::No), "`{name}` is not pure");
    (outcome, reports, counts)
}

/// An operation that a pass removed must not count as a use: passes that ask where all uses are would be misled.
fn check_uses(body: &Body, pass: &str) {
    let linked: FxHashSet<OpId> = body.walk_all().collect();
    for value in (0..body.num_value_slots()).map(ValueId::new) {
        let stray = body.uses(value).find(|u| !linked.contains(&u.op));
        assert!(
            stray.is_none(),
            "after `{pass}`, a value is used by an operation that is not in the program"
        );
    }
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
        .note("this is a bug in the pass, even if the program is invalid")
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
mod tests;
