//! Passes that go wrong on purpose, to test what drivers do then. They can be named in pipelines but are not listed.

use pir_ir::{Diagnostic, Module};

use crate::pass::{Changed, Pass, PassContext, Scope};

static PASSES: &[&dyn Pass] = &[&Panic, &Fail, &Break, &Sleep];

/// The pass called `name`.
pub(crate) fn find(name: &str) -> Option<&'static dyn Pass> {
    crate::pass::find_in(PASSES, name)
}

/// Panics.
struct Panic;

impl Pass for Panic {
    fn name(&self) -> &'static str {
        "debug-panic"
    }

    fn summary(&self) -> &'static str {
        "Crash"
    }

    fn description(&self) -> &'static str {
        ""
    }

    fn scope(&self) -> Scope {
        Scope::Body
    }

    fn run(&self, _: &mut Module, _: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        panic!("as `debug-panic` was asked to")
    }
}

/// Fails.
struct Fail;

impl Pass for Fail {
    fn name(&self) -> &'static str {
        "debug-fail"
    }

    fn summary(&self) -> &'static str {
        "Fail"
    }

    fn description(&self) -> &'static str {
        ""
    }

    fn run(&self, _: &mut Module, _: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        Err(vec![
            Diagnostic::error("debug-fail", "this pass always fails").help("remove it from the pipeline"),
        ])
    }
}

/// Leaves a program that is wrong: with an operation that no dialect has.
struct Break;

impl Pass for Break {
    fn name(&self) -> &'static str {
        "debug-break"
    }

    fn summary(&self) -> &'static str {
        "Leave the program invalid"
    }

    fn description(&self) -> &'static str {
        ""
    }

    fn run(&self, module: &mut Module, _: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        let (top, ctx) = (module.top(), module.ctx.clone());
        pir_ir::Rewriter::new(&ctx, &mut module.body)
            .at_end(top)
            .op("debug.broken")
            .build();
        Ok(Changed::Yes)
    }
}

/// Takes its time.
struct Sleep;

impl Pass for Sleep {
    fn name(&self) -> &'static str {
        "debug-sleep"
    }

    fn summary(&self) -> &'static str {
        "Take 1.5 seconds"
    }

    fn description(&self) -> &'static str {
        ""
    }

    fn run(&self, _: &mut Module, _: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        std::thread::sleep(std::time::Duration::from_millis(1500));
        Ok(Changed::No)
    }
}
