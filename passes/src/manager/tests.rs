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
    assert!(errors[0].notes[0].contains("the pass `breaker` produced this invalid program"));
    assert!(run(VerifyEach::Never).is_ok());
}

/// Three functions, one of them in a module inside.
fn functions() -> Module {
    let text = "func.func @a () {\n  func.return\n}\nbuiltin.module @m {\n  func.func @b () {\n    func.return\n  }\n}\n\
                func.func @c () {\n  func.return\n}\n";
    let ctx = pir_dialects::context();
    let parsed = text::parse(&ctx, text.as_bytes(), &Default::default());
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
        let before = text::print(&module, &Default::default());
        let pipeline = Pipeline::parse_with(text, &[&Look], Some(&module.ctx)).unwrap();
        let mut seen = Seen {
            refused,
            ..Seen::default()
        };
        PassManager::new()
            .observe(&mut seen)
            .run(&mut module, &pipeline)
            .unwrap();
        assert_eq!(text::print(&module, &Default::default()), before);
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
