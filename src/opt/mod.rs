//! `pir-opt`: reads a program, runs passes on it, prints it.

mod args;
mod list;

use std::io::{self, Write};

use clap::Parser;
use pir_ir::text::{self, PrintOptions};
use pir_ir::{Diagnostic, Module};
use pir_passes::Pipeline;

pub use args::Args;

use crate::cli::{self, Exit};
use crate::driver::{self, LoadOptions, RunOptions};
use crate::output::write_output;
use crate::render::{Renderer, Style};
use crate::source::Source;

/// Runs the tool.
pub fn main() -> Exit {
    let args = Args::parse();
    let renderer = Renderer::for_stderr(args.common.diagnostics);
    let output = args.output.as_deref();
    let finish = |result: Result<(), Diagnostic>| match result {
        Ok(()) => Exit::Success,
        Err(diagnostic) => {
            cli::report_plain(&renderer, &diagnostic);
            Exit::Failure
        }
    };
    if let Some(shell) = args.common.completions {
        return finish(write_output(output, |out| cli::write_completions::<Args>(shell, out)));
    }
    if args.list_passes {
        return finish(write_output(output, list::passes));
    }
    if args.list_ops {
        return finish(write_output(output, list::ops));
    }
    let Some(pipeline) = read_pipeline(&args) else {
        return Exit::Usage;
    };
    if args.print_pipeline {
        return finish(write_output(output, |out| writeln!(out, "{pipeline}")));
    }
    let Some(file) = cli::input_file(args.file.as_deref(), &renderer) else {
        return Exit::Usage;
    };
    cli::remember("input", file);
    cli::remember("pipeline", pipeline.to_string());
    let source = match Source::read(file) {
        Ok(source) => source,
        Err(diagnostic) => return finish(Err(diagnostic)),
    };
    let job = Job {
        args: &args,
        pipeline: &pipeline,
        renderer: &renderer,
    };
    job.run(source)
}

/// All passes that the command line asks for, in order; `None` when it is wrong, which has been said then.
fn read_pipeline(args: &Args) -> Option<Pipeline> {
    // No editor opens the command line: the error is drawn in it, unless another style is asked for.
    let renderer = Renderer::for_stderr(Some(args.common.diagnostics.unwrap_or(Style::Fancy)));
    let ctx = pir_dialects::context();
    let passes = args.pass.iter().map(|text| ("--pass", text));
    let pipelines = args.pass_pipeline.iter().map(|text| ("--pass-pipeline", text));
    let mut all = Pipeline::default();
    let mut good = true;
    for (option, text) in passes.chain(pipelines) {
        match Pipeline::parse_in(&ctx, text) {
            Ok(pipeline) => all.extend(pipeline),
            Err(errors) => {
                cli::report(&renderer, &Source::new(option, text.as_str()), &errors);
                good = false;
            }
        }
    }
    good.then_some(all)
}

struct Job<'a> {
    args: &'a Args,
    pipeline: &'a Pipeline,
    renderer: &'a Renderer,
}

impl Job<'_> {
    fn run(&self, source: Source) -> Exit {
        let parts = if self.args.split_input_file {
            source.split()
        } else {
            vec![source]
        };
        let mut modules = Vec::with_capacity(parts.len());
        let mut failed = false;
        for part in &parts {
            match self.process(part) {
                Ok(module) => modules.push(module),
                Err(()) => failed = true,
            }
        }
        // Of a file in parts, those without errors are printed all the same: they are tests of their own.
        let print = !self.args.verify_only && (!failed || self.args.split_input_file && self.args.output.is_none());
        if print && let Err(diagnostic) = write_output(self.args.output.as_deref(), |out| self.print(&modules, out)) {
            cli::report_plain(self.renderer, &diagnostic);
            failed = true;
        }
        // The process ends here; giving the memory back piece by piece would only take time.
        std::mem::forget(modules);
        if failed { Exit::Failure } else { Exit::Success }
    }

    fn process(&self, source: &Source) -> Result<Module, ()> {
        let result = self.transform(source);
        let diagnostics = match &result {
            Ok((_, warnings)) => warnings,
            Err(errors) => errors,
        };
        cli::report(self.renderer, source, diagnostics);
        result.map(|(module, _)| module).map_err(|_| ())
    }

    /// Reads a program and runs the passes.
    fn transform(&self, source: &Source) -> Result<(Module, Vec<Diagnostic>), Vec<Diagnostic>> {
        let load = LoadOptions {
            allow_unregistered: self.args.common.allow_unregistered_dialect,
        };
        let ctx = pir_dialects::context();
        let (mut module, mut warnings) = driver::load(&ctx, source, load)?;
        let options = RunOptions {
            verify: (!self.args.no_verify_each).then(|| load.verify()),
            print_after: self.args.print_ir_after_all.then(|| self.print_options()),
        };
        match driver::run_passes(&mut module, self.pipeline, options) {
            Ok(more) => {
                warnings.extend(more);
                Ok((module, warnings))
            }
            Err(errors) => {
                warnings.extend(errors);
                Err(warnings)
            }
        }
    }

    fn print_options(&self) -> PrintOptions {
        PrintOptions {
            generic: self.args.print_generic,
            ..PrintOptions::default()
        }
    }

    fn print(&self, modules: &[Module], out: &mut dyn Write) -> io::Result<()> {
        for (at, module) in modules.iter().enumerate() {
            if at > 0 {
                writeln!(out, "// -----")?;
            }
            text::print_to(module, &self.print_options(), out)?;
        }
        Ok(())
    }
}
