//! `pir-opt`: reads a program, runs passes on it, and prints it.

mod args;
mod explain;
mod fix;
mod habits;
mod job;
mod list;
mod show_op;
mod stats;

use std::process::ExitCode;

use clap::Parser;
use pir_ir::{Context, Diagnostic};
use pir_passes::{Pipeline, refine_shapes};

pub use args::Args;

use crate::cli::{self, Exit};
use crate::driver::reproducer;
use crate::driver::select::check_passes;
use crate::driver::times::Times;
use crate::driver::{LoadOptions, MANY_BYTES, set_threads};
use crate::memory;
use crate::output::write_output;
use crate::progress;
use crate::render::{Renderer, Style};
use crate::source::Source;
use crate::tool::Tool;
use job::Job;

impl Tool {
    /// The main function of a tool like `pir-opt`: reads a program, runs passes on it and prints it.
    pub fn opt(&self) -> ExitCode {
        cli::run(self.name(), || main(self))
    }
}

/// Runs the tool.
pub fn main(tool: &Tool) -> Exit {
    let times = Times::new();
    let words = habits::translate(&tool.passes, std::env::args_os());
    let mut args: Args = match cli::parse_words(tool, words) {
        Ok(args) => args,
        Err(exit) => return exit,
    };
    let renderer = args.common.renderer();
    memory::limit(args.common.max_memory);
    let output = args.output.output.as_deref();
    let finish = |result| cli::exit(&renderer, result);
    if args.listing.list_passes {
        return finish(write_output(output, |out| list::passes(&tool.passes, out)));
    }
    if let Some(code) = &args.listing.explain {
        return match explain::explain(code) {
            Ok(text) => finish(write_output(output, |out| out.write_all(text.as_bytes()))),
            Err(error) => usage(&renderer, &error),
        };
    }
    let mut source = None;
    if args.debug.run_reproducer {
        let Some(read) = read_source(&args, &renderer) else {
            return Exit::Failure;
        };
        if let Err(error) = configure(&mut args, &read) {
            return finish(Err(error));
        }
        source = Some(read);
    }
    let ctx = match args.common.context(tool, &renderer) {
        Ok(ctx) => ctx,
        Err(exit) => return exit,
    };
    let output = args.output.output.as_deref();
    if let Some(shell) = args.common.completions {
        return finish(write_output(output, |out| {
            cli::write_completions::<Args>(tool, shell, &ctx, out)
        }));
    }
    if args.listing.show_dialects {
        return finish(write_output(output, |out| list::dialects(&ctx, out)));
    }
    if args.listing.list_ops {
        return finish(write_output(output, |out| list::ops(&ctx, out)));
    }
    if let Some(name) = &args.listing.show_op {
        return match show_op::describe(&ctx, name) {
            Ok(text) => finish(write_output(output, |out| out.write_all(text.as_bytes()))),
            Err(error) => usage(&renderer, &error),
        };
    }
    if let Some(name) = &args.listing.help_pass {
        if let Err(error) = check_passes(&tool.passes, std::slice::from_ref(name), "--help-pass") {
            return usage(&renderer, &error);
        }
        let pass = tool.passes.find(name);
        return finish(write_output(output, |out| {
            pass.map_or(Ok(()), |pass| list::pass(pass, out))
        }));
    }
    let counted = args.debug.debug_counter.iter().map(|counter| counter.pass().to_owned());
    let named = [
        (&args.watch.print_ir_before, "--print-ir-before"),
        (&args.watch.print_ir_after, "--print-ir-after"),
        (&args.watch.debug_only, "--debug-only"),
        (&Some(counted.collect()), "--debug-counter"),
    ];
    for (names, option) in named {
        if let Err(error) = check_passes(&tool.passes, names.as_deref().unwrap_or_default(), option) {
            return usage(&renderer, &error);
        }
    }
    let Some(mut pipeline) = read_pipeline(tool, &ctx, &args) else {
        return Exit::Usage;
    };
    if args.listing.print_pipeline {
        let output = args.output.output.as_deref();
        return finish(write_output(output, |out| writeln!(out, "{pipeline}")));
    }
    if source.is_none() && cli::input_file(args.file.as_deref(), &renderer).is_none() {
        return Exit::Usage;
    }
    let Some(source) = source.or_else(|| read_source(&args, &renderer)) else {
        return Exit::Failure;
    };
    if args.output.fix {
        return fix_source(tool, &args, &source, &renderer);
    }
    let shapes = &args.output.input_shape;
    let is_graph = args
        .output
        .from
        .format(&source)
        .is_some_and(pir_translate::Format::is_graph);
    if !shapes.is_empty() && !is_graph {
        let first = refine_shapes(shapes.iter().map(ToString::to_string).collect());
        let passes = std::mem::replace(&mut pipeline, first);
        pipeline.extend(passes);
    }
    cli::remember("pipeline", pipeline.to_string());
    let many = args.passes.threads.is_some() || source.bytes().len() > MANY_BYTES;
    if many && let Err(error) = set_threads(args.passes.threads.map(usize::from)) {
        return finish(Err(error));
    }
    Job::new(tool, &args, ctx, &pipeline, &renderer, times).run(source)
}

fn usage(renderer: &Renderer, error: &Diagnostic) -> Exit {
    cli::report_plain(renderer, error);
    Exit::Usage
}

/// Makes the edits that errors offer, and writes the source back; of standard input, to standard output.
fn fix_source(tool: &Tool, args: &Args, source: &Source, renderer: &Renderer) -> Exit {
    if args.output.from.format(source).is_some() {
        let error = Diagnostic::error("usage", "`--fix` only supports programs in the text format");
        return usage(renderer, &error);
    }
    let options = LoadOptions {
        allow_unregistered: args.common.allow_unregistered_dialect,
        ..LoadOptions::default()
    };
    progress::start(&format!("fixing {}", source.name()));
    let fixed = fix::fix(source, options, || args.common.context(tool, renderer));
    progress::finish();
    let fixed = match fixed {
        Ok(fixed) => fixed,
        Err(exit) => return exit,
    };
    let file = args.output.output.as_deref().or(args.file.as_deref()).unwrap_or("-");
    // A file in which there is nothing to do is not touched.
    if (fixed.made > 0 || file == "-" || args.output.output.is_some())
        && let Err(error) = write_output(Some(file), |out| out.write_all(fixed.source.bytes()))
    {
        cli::report_plain(renderer, &error);
        return Exit::Failure;
    }
    fix::report(&fixed);
    match cli::report(renderer, &fixed.source, &fixed.left) {
        true => Exit::Failure,
        false => Exit::Success,
    }
}

/// Reads the input; `None` if that fails, which has been reported.
fn read_source(args: &Args, renderer: &Renderer) -> Option<Source> {
    let file = cli::input_file(args.file.as_deref(), renderer)?;
    cli::remember("input", file);
    match Source::read(file) {
        Ok(source) => Some(source),
        Err(error) => {
            cli::report_plain(renderer, &error);
            None
        }
    }
}

/// Applies the command line of a reproducer.
fn configure(args: &mut Args, source: &Source) -> Result<(), Diagnostic> {
    let words = reproducer::command_line(source.name(), source.bytes())?;
    let all = std::iter::once("pir-opt".to_owned()).chain(words);
    let inner = Args::try_parse_from(all).map_err(|error| {
        let text = error.to_string();
        let first = text.lines().next().unwrap_or_default();
        let first = first.strip_prefix("error: ").unwrap_or(first);
        Diagnostic::error(
            "reproducer",
            format!("invalid configuration in `{}`: {first}", source.name()),
        )
    })?;
    args.passes.pass_pipeline = inner.passes.pass_pipeline;
    args.passes.optimize = inner.passes.optimize;
    args.passes.no_verify_each |= inner.passes.no_verify_each;
    args.common.allow_unregistered_dialect |= inner.common.allow_unregistered_dialect;
    args.common.load_dialect.extend(inner.common.load_dialect);
    Ok(())
}

/// The passes of the command line, in order; `None` if it is wrong, which has been reported.
fn read_pipeline(tool: &Tool, ctx: &Context, args: &Args) -> Option<Pipeline> {
    // Editors cannot open the command line: the error is drawn inside it, unless another style is requested.
    let style = args.common.diagnostics.unwrap_or(Style::Fancy);
    let renderer = Renderer::for_stderr(Some(style), args.common.color);
    let level = args.passes.optimize.map(|level| format!("O{level}"));
    let level = level.iter().map(|text| ("-O", text));
    let passes = args.passes.pass.iter().map(|text| ("--pass", text));
    let pipelines = args.passes.pass_pipeline.iter().map(|text| ("--pass-pipeline", text));
    let mut all = Pipeline::default();
    let mut good = true;
    for (option, text) in level.chain(passes).chain(pipelines) {
        match tool.passes.parse(text, Some(ctx)) {
            Ok(pipeline) => all.extend(pipeline),
            Err(errors) => {
                cli::report(&renderer, &Source::new(option, text.as_str()), &errors);
                good = false;
            }
        }
    }
    good.then_some(all)
}
