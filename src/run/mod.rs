//! `pir-run`: runs a program on inputs from files and the command line.

mod args;
pub mod checkgrad;
mod dataflow;
mod eager;
mod engine;
pub mod inputs;
mod profile;
pub mod promote;
mod stats;
mod timing;
pub mod value;

use std::borrow::Cow;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;

use pir_dialects::stablehlo::refine::has_dynamic;
use pir_dialects::{mlir, pd};
use pir_interp::kernels::Kernels;
use pir_interp::{ExecError, InputSpec, Options, Outcome, Tensor, inputs_of, is_late};
use pir_ir::{Context, Diagnostic, Module, OpView};
use pir_passes::autodiff::decompose_unless;
use pir_passes::{Pipeline, keep_only, refine_shapes};

pub use args::Args;
use args::{CheckGrad, Denormals};
use checkgrad::{Check, Verdict, called};
use inputs::{Given, bind};
use timing::Timing;

use crate::arrays::{Arrays, read_inputs, write_npz};
use crate::cli::{self, Exit};
use crate::driver::{self, LoadOptions, RunOptions};
use crate::memory;
use crate::output::{stdout_is_open, write_output};
use crate::progress;
use crate::render::Renderer;
use crate::source::Source;
use crate::tool::Tool;

impl Tool {
    /// The main function of a tool like `pir-run`: runs a program.
    pub fn run(&self) -> ExitCode {
        cli::run(self.name(), || main(self))
    }
}

/// Runs the tool.
pub fn main(tool: &Tool) -> Exit {
    let args: Args = match cli::parse(tool) {
        Ok(args) => args,
        Err(exit) => return exit,
    };
    let renderer = args.common.renderer();
    memory::limit(args.common.max_memory);
    let ctx = match args.common.context(tool, &renderer) {
        Ok(ctx) => ctx,
        Err(exit) => return exit,
    };
    if let Some(shell) = args.common.completions {
        let written = write_output(None, |out| cli::write_completions::<Args>(tool, shell, &ctx, out));
        return cli::exit(&renderer, written);
    }
    let Some(file) = cli::input_file(args.file.as_deref(), &renderer) else {
        return Exit::Usage;
    };
    cli::remember("input", file);
    let source = match Source::read(file) {
        Ok(source) => source,
        Err(error) => return cli::exit(&renderer, Err(error)),
    };
    let started = match args.threads {
        None => driver::threads_for(&source),
        Some(count) => driver::set_threads(Some(count.into())),
    };
    if let Err(error) = started {
        return cli::exit(&renderer, Err(error));
    }
    progress::start(&format!("reading {}", source.name()));
    match run(&args, &ctx, &source, &renderer) {
        Ok(exit) => exit,
        Err(errors) => {
            cli::report(&renderer, &source, &errors);
            Exit::Failure
        }
    }
}

/// Runs the tool. The status of a comparison is that of its verdict.
fn run(args: &Args, ctx: &Arc<Context>, source: &Source, renderer: &Renderer) -> Result<Exit, Vec<Diagnostic>> {
    let mut timing = Timing::new();
    let load = LoadOptions {
        allow_unregistered: args.common.allow_unregistered_dialect,
        ..LoadOptions::default()
    };
    let (mut module, warnings) = driver::load_as(ctx, source, args.from.format(source), load)?;
    cli::report(renderer, source, &warnings);
    timing.end("read");
    mlir::vectors_to_tensors(&mut module);
    lower_gradients(&mut module)?;
    inline_in_regions(&mut module)?;
    if let Some(devices) = args.dataflow {
        dataflow::prepare(&mut module, devices)?;
    }
    let function = args.function.as_deref();
    let inputs = match args.dataflow {
        Some(_) => pir_interp::dataflow::inputs_of(&module, function),
        None => inputs_of(&module, function),
    };
    let inputs = inputs.map_err(|e| vec![e.into_diagnostic()])?;
    let mut given = Given {
        values: args.input.clone(),
        tensors: Vec::new(),
        seed: args.seed,
    };
    for file in &args.inputs {
        given
            .tensors
            .extend(read_given(&module, file).map_err(|error| vec![error])?);
    }
    let values = bind(&module.ctx, &inputs, &given)?;
    if has_dynamic(&module) {
        let shapes = inputs.iter().zip(&values).map(|(input, value)| {
            let dims: Vec<String> = value.shape().iter().map(ToString::to_string).collect();
            format!("{}={}", input.name, dims.join("x"))
        });
        driver::run_passes(&mut module, &refine_shapes(shapes.collect()), RunOptions::default())?;
    }
    timing.end("inputs");
    if args.check_grad.is_some() {
        let module = alone(called(&module, function), function)?;
        return check_gradients(args, &module, &inputs, &values);
    }
    if args.eager_grad {
        let module = alone(called(&module, function), function)?;
        let run = |options: &Options, out: &mut dyn Write| eager::run(&module, options, out);
        let tensors = execute(args, &inputs, values, run)?;
        write_tensors(args, tensors.iter().map(|(name, tensor)| (name.clone(), tensor)))
            .map_err(|error| vec![error])?;
        return Ok(Exit::Success);
    }
    if args.dataflow.is_some() {
        let run = |options: &Options, out: &mut dyn Write| dataflow::run(&module, args, options, out);
        let outcome = execute(args, &inputs, values, run)?;
        cli::report(renderer, source, &dataflow::warnings(&outcome));
        let fetched = outcome.fetched.iter().map(|(name, tensor)| (name.clone(), tensor));
        let written = write_tensors(args, fetched)
            .and_then(|()| write_stats(args, || dataflow::to_json(&outcome.stats)))
            .and_then(|()| match &args.trace {
                Some(path) => dataflow::write_trace(path, &outcome.events),
                None => Ok(()),
            });
        written.map_err(|error| vec![error])?;
        return Ok(Exit::Success);
    }
    if let Some(engine) = args.engine {
        return run_elsewhere(args, engine, &module, &inputs, values);
    }
    let run = |options: &Options, out: &mut dyn Write| {
        pir_interp::run_timed(&module, options, out).map_err(ExecError::into_diagnostic)
    };
    let (outcome, compiling) = execute(args, &inputs, values, run)?;
    timing.end("run");
    timing.split("compile", compiling);
    write_results(args, &outcome).map_err(|error| vec![error])?;
    timing.end("write");
    if args.timing {
        cli::say(&timing.report());
    }
    if let (Some(file), Some(profile)) = (&args.profile, &outcome.profile) {
        profile::report(profile, file.as_deref(), source).map_err(|error| vec![error])?;
    }
    // The process ends here; freeing the memory piece by piece would only take time.
    std::mem::forget((module, outcome));
    Ok(Exit::Success)
}

/// Runs the program with another engine, and here too if the results are to be compared.
fn run_elsewhere(
    args: &Args,
    engine: engine::Chosen,
    module: &Module,
    inputs: &[InputSpec],
    values: Vec<Tensor>,
) -> Result<Exit, Vec<Diagnostic>> {
    let given: Vec<(String, Tensor)> = inputs
        .iter()
        .map(|input| input.name.clone())
        .zip(values.clone())
        .collect();
    progress::doing(|| "running the program in another engine".to_owned());
    let results = engine::run(engine, module, &given);
    progress::finish();
    let results = results?;
    let mut good = true;
    if engine.check {
        let run = |options: &Options, out: &mut dyn Write| {
            pir_interp::run(module, options, out).map_err(ExecError::into_diagnostic)
        };
        let outcome = execute(args, inputs, values, run)?;
        let ours: Vec<(String, Tensor)> = named(&outcome).map(|(name, tensor)| (name, tensor.clone())).collect();
        let (text, same) = engine::compare(&results, &ours);
        cli::say(&text);
        good = same;
    }
    write_tensors(args, results.iter().map(|(name, tensor)| (name.clone(), tensor))).map_err(|error| vec![error])?;
    Ok(if good { Exit::Success } else { Exit::Failure })
}

/// Puts what they compute in the places of PaddlePaddle's gradient operations that have no kernel: programs hold them that it has
/// differentiated. Those whose shapes are open stay: they are expressed for the shapes that they get.
///
/// # Errors
/// The others that cannot be expressed.
pub fn lower_gradients(module: &mut Module) -> Result<(), Vec<Diagnostic>> {
    let ctx = module.ctx.clone();
    let kernels = Kernels::of(&ctx);
    let is_lowered = |op: OpView<'_>| {
        let name = op.name();
        name.ends_with("_grad") && pd::is_foreign(name) && !op.is_composite() && !kernels.has(name)
    };
    let mut found = false;
    module.for_each_body(|body| found |= body.walk_all().any(|op| is_lowered(body.view(&ctx, op))));
    if !found {
        return Ok(());
    }
    let errors = decompose_unless(module, &|op| !is_lowered(op)).1;
    let mut fails = false;
    module.for_each_body(|body| {
        let mut ops = body.walk_all().map(|op| body.view(&ctx, op));
        fails |= ops.any(|op| is_lowered(op) && !is_late(op));
    });
    if fails { Err(errors) } else { Ok(()) }
}

/// Puts functions in the places of their calls, if the region of a reduction or a sort calls one: such regions are evaluated on whole
/// tensors.
fn inline_in_regions(module: &mut Module) -> Result<(), Vec<Diagnostic>> {
    let ctx = module.ctx.clone();
    let mut found = false;
    module.for_each_body(|body| {
        let is_call = |op| ctx.op_str(body.op_name(op)) == "func.call";
        found |= body.walk_all().any(|op| {
            let view = body.view(&ctx, op);
            let semantics = view.semantics().filter(|_| view.name().starts_with("stablehlo."));
            semantics.is_some_and(|semantics| semantics.has_expansion() && semantics.has_regions(view))
                && body.op_regions(op).iter().any(|&region| body.walk(region).any(is_call))
        });
    });
    if found {
        let pipeline = Pipeline::parse("inline{always=true, max-growth=4000000}")?;
        driver::run_passes(module, &pipeline, RunOptions::default())?;
    }
    Ok(())
}

/// The tensors of a file, by name. Parameters without names are those of the program that have elements, in the order of
/// their names.
fn read_given(module: &Module, file: &str) -> Result<Vec<(String, Tensor)>, Diagnostic> {
    let tensors = match read_inputs(file)? {
        Arrays::Named(tensors) => return Ok(tensors),
        Arrays::Parameters(tensors) => tensors,
    };
    let names = parameters(module);
    if names.len() != tensors.len() {
        let message = format!(
            "`{file}` has {} parameters, but the program has {}",
            tensors.len(),
            names.len()
        );
        return Err(Diagnostic::error("input-file", message).help("use the file that was saved with this program"));
    }
    Ok(names.into_iter().zip(tensors).collect())
}

/// The names of the program's parameters, in order, without those that have no elements.
fn parameters(module: &Module) -> Vec<String> {
    let (ctx, body) = (&*module.ctx, &module.body);
    let has_elements = |op| {
        let dims = ctx.as_tensor(body.value_type(body.result(op, 0)));
        dims.is_none_or(|(dims, _)| !dims.contains(&0))
    };
    let parameters = body.walk_all().filter_map(|op| {
        let view = body.view(ctx, op);
        let is = view.name() == pd::Parameter::NAME && has_elements(op);
        is.then(|| view.str("name").map(str::to_owned)).flatten()
    });
    let mut names: Vec<String> = parameters.collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The program of the named function and what it calls: others need no derivative.
fn alone<'m>(module: Cow<'m, Module>, function: Option<&str>) -> Result<Cow<'m, Module>, Vec<Diagnostic>> {
    let Some(name) = function else { return Ok(module) };
    let mut module = module.into_owned();
    driver::run_passes(&mut module, &keep_only(name), RunOptions::default())?;
    Ok(Cow::Owned(module))
}

fn check_gradients(
    args: &Args,
    module: &Module,
    inputs: &[InputSpec],
    values: &[Tensor],
) -> Result<Exit, Vec<Diagnostic>> {
    let check = Check {
        module,
        function: args.function.as_deref(),
        inputs,
        tolerance: args.tolerance,
        max_steps: args.max_steps,
        full: args.check_grad == Some(CheckGrad::Full),
        one: false,
    };
    let rows = check.run(values)?;
    write_output(None, |out| out.write_all(checkgrad::table(&rows).as_bytes())).map_err(|error| vec![error])?;
    Ok(match rows.iter().map(|row| row.verdict).max() {
        Some(Verdict::Wrong) => Exit::Failure,
        Some(Verdict::Inconclusive) => Exit::Inconclusive,
        Some(Verdict::Ok) | None => Exit::Success,
    })
}

/// Runs a program on the inputs with an executor.
fn execute<T>(
    args: &Args,
    inputs: &[InputSpec],
    values: Vec<Tensor>,
    run: impl FnOnce(&Options, &mut dyn Write) -> Result<T, Diagnostic>,
) -> Result<T, Vec<Diagnostic>> {
    let options = Options {
        function: args.function.clone(),
        inputs: inputs.iter().map(|input| input.name.clone()).zip(values).collect(),
        max_steps: args.max_steps,
        max_memory: args.common.max_memory,
        flush_subnormals: args.denormals == Denormals::Flush && !args.eager_grad,
        precise: args.precise,
        profile: args.profile.is_some(),
        ..Options::default()
    };
    // The printed output of the program must not end up inside an archive on standard output.
    progress::doing(|| "running the program".to_owned());
    let result = if args.output.as_deref() == Some("-") {
        // Output of the program appears where progress is shown.
        progress::finish();
        run(&options, &mut io::stderr().lock())
    } else {
        let mut out = Quiet(io::stdout().lock());
        run(&options, &mut out).and_then(|done| match out.flush() {
            Ok(()) => Ok(done),
            Err(error) => Err(Diagnostic::error(
                "io",
                format!("cannot write to standard output: {error}"),
            )),
        })
    };
    progress::finish();
    result.map_err(|error| vec![error])
}

/// Ignores a pipe that is closed early, and does not mix output with progress on the same terminal.
struct Quiet<W>(W);

impl<W: Write> Write for Quiet<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        stdout_is_open()?;
        match progress::aside(|| self.0.write(bytes)) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(bytes.len()),
            result => result,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.0.flush() {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            result => result,
        }
    }
}

/// The fetched values by name, then the results of the function as `out:0`, `out:1`, …
fn named(outcome: &Outcome) -> impl Iterator<Item = (String, &Tensor)> {
    let fetched = outcome.fetched.iter().map(|(name, tensor)| (name.clone(), tensor));
    let results = outcome.results.iter().enumerate();
    fetched.chain(results.map(|(at, tensor)| (format!("out:{at}"), tensor)))
}

fn write_tensors<'t>(args: &Args, mut named: impl Iterator<Item = (String, &'t Tensor)>) -> Result<(), Diagnostic> {
    match args.output.as_deref() {
        None => write_output(None, |out| {
            named.try_for_each(|(name, tensor)| writeln!(out, "{name} = {tensor}"))
        }),
        Some(path) => {
            // Names in an archive are unique: the last value of a name is kept.
            let mut tensors: Vec<(String, &Tensor)> = Vec::new();
            for (name, tensor) in named {
                match tensors.iter_mut().find(|(other, _)| *other == name) {
                    Some(entry) => entry.1 = tensor,
                    None => tensors.push((name, tensor)),
                }
            }
            write_output(Some(path), |out| {
                write_npz(tensors.iter().map(|(name, tensor)| (name.as_str(), *tensor)), out)
            })
        }
    }
}

fn write_results(args: &Args, outcome: &Outcome) -> Result<(), Diagnostic> {
    write_tensors(args, named(outcome))?;
    write_stats(args, || stats::to_json(&outcome.stats))
}

fn write_stats(args: &Args, to_json: impl FnOnce() -> String) -> Result<(), Diagnostic> {
    if !args.stats {
        return Ok(());
    }
    let text = to_json();
    match args.output.as_deref() {
        Some(path) if path != "-" => write_output(None, |out| out.write_all(text.as_bytes())),
        _ => {
            // There is nothing left to do if standard error is closed.
            let _ = io::stderr().lock().write_all(text.as_bytes());
            Ok(())
        }
    }
}
