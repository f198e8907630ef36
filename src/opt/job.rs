//! One run of `pir-opt`: reads the programs of the input, runs the passes and writes the output.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;

use pir_ir::text::{self, PrintOptions};
use pir_ir::{Context, Diagnostic, Module};
use pir_passes::{Observer, PASS_CRASH, Pipeline};

use super::args::Args;
use super::stats;
use crate::cli::{self, Exit};
use crate::driver::dump::Dump;
use crate::driver::emission::{Emission, Request};
use crate::driver::locations;
use crate::driver::reproducer::{Configuration, Reproducer};
use crate::driver::roundtrip;
use crate::driver::select::Select;
use crate::driver::show::{Filter, Show, ShowOptions};
use crate::driver::statistics::Statistics;
use crate::driver::times::Times;
use crate::driver::{self, LoadOptions, RunOptions};
use crate::formats::To;
use crate::output::write_output;
use crate::progress;
use crate::render::{Look, Renderer, Style};
use crate::source::Source;
use crate::tool::Tool;

/// The options of a run, and its state.
pub(super) struct Job<'a> {
    tool: &'a Tool,
    args: &'a Args,
    ctx: Option<Arc<Context>>,
    pipeline: &'a Pipeline,
    renderer: &'a Renderer,
    times: Times,
    statistics: Statistics,
    select: Option<Select>,
    dump: Option<Dump>,
    /// With `--verify-diagnostics`, the diagnostics so far.
    said: Vec<u8>,
    /// With `--emit` of another system's format, the output so far.
    saved: Vec<Vec<u8>>,
    /// The options with which the last program was written.
    emission: Emission,
    crashed: bool,
    /// A reproducer of a failure was written.
    reproduced: bool,
}

type Transformed = Result<(Module, Vec<Diagnostic>), Vec<Diagnostic>>;

impl<'a> Job<'a> {
    /// `ctx` is for the first program; later ones get new contexts, so that they do not depend on its interned data.
    pub(super) fn new(
        tool: &'a Tool,
        args: &'a Args,
        ctx: Arc<Context>,
        pipeline: &'a Pipeline,
        renderer: &'a Renderer,
        times: Times,
    ) -> Self {
        let debug = &args.debug;
        let selects = debug.opt_bisect_limit.is_some() || !debug.debug_counter.is_empty();
        Job {
            tool,
            args,
            ctx: Some(ctx),
            pipeline,
            renderer,
            times,
            statistics: Statistics::default(),
            select: selects.then(|| Select::new(debug.opt_bisect_limit, debug.debug_counter.clone())),
            dump: None,
            said: Vec::new(),
            saved: Vec::new(),
            emission: Emission::default(),
            crashed: false,
            reproduced: false,
        }
    }

    pub(super) fn run(mut self, source: Source) -> Exit {
        if let Some(folder) = &self.args.watch.dump_to_dir {
            match Dump::new(folder, self.print_options()) {
                Ok(dump) => self.dump = Some(dump),
                Err(error) => {
                    cli::report_plain(self.renderer, &error);
                    return Exit::Failure;
                }
            }
        }
        let parts = match self.args.output.split_input_file {
            true => source.split(),
            false => Vec::new(),
        };
        let parts = if parts.is_empty() {
            std::slice::from_ref(&source)
        } else {
            &parts
        };
        progress::start("reading");
        let mut modules = Vec::with_capacity(parts.len());
        let mut failed = false;
        for part in parts {
            match self.process(part) {
                Ok(module) => modules.push(module),
                Err(()) => failed = true,
            }
        }
        let output = &self.args.output;
        if output.verify_diagnostics {
            failed = self.crashed || !self.as_expected(&source);
        }
        // When the input is split, parts without errors are still printed: they are independent tests.
        let print = !output.verify_only
            && !output.verify_diagnostics
            && (!failed || output.split_input_file && output.output.is_none());
        if print && let Err(diagnostic) = self.write(&modules) {
            cli::report_plain(self.renderer, &diagnostic);
            failed = true;
        }
        progress::finish();
        if let Some(error) = self.dump.as_mut().and_then(Dump::take_error) {
            cli::report_plain(self.renderer, &error);
            failed = true;
        }
        if self.args.watch.pass_statistics {
            cli::say(&self.statistics.report());
        }
        if self.args.watch.timing {
            cli::say(&self.times.report());
        }
        // The process ends here; freeing the memory piece by piece would only take time.
        std::mem::forget(modules);
        match (self.crashed, failed) {
            (true, _) => Exit::Internal,
            (false, true) => Exit::Failure,
            (false, false) => Exit::Success,
        }
    }

    fn process(&mut self, source: &Source) -> Result<Module, ()> {
        let mut result = self.transform(source);
        if let Ok((module, warnings)) = &mut result {
            if self.args.output.print_debuginfo {
                locations::fill(module, source);
            }
            let emitted = self.emission(source).and_then(|emission| {
                let saved = driver::emit(module, self.args.output.emit, &emission)?;
                Ok((saved, emission))
            });
            match emitted {
                Ok((saved, emission)) => {
                    self.saved.extend(saved);
                    self.emission = emission;
                }
                Err(errors) => {
                    let mut all = std::mem::take(warnings);
                    all.extend(errors);
                    result = Err(all);
                }
            }
        }
        let diagnostics = match &result {
            Ok((_, warnings)) => warnings,
            Err(errors) => errors,
        };
        self.crashed |= diagnostics.iter().any(|d| d.code == PASS_CRASH);
        if self.args.output.verify_diagnostics {
            // Writing to memory does not fail.
            let _ = Renderer::new(Style::Short, Look::PLAIN).render(source, diagnostics, &mut self.said);
        } else {
            cli::report(self.renderer, source, diagnostics);
        }
        result.map(|(module, _)| module).map_err(|_| ())
    }

    /// The options for writing a program for another system.
    fn emission(&self, source: &Source) -> Result<Emission, Vec<Diagnostic>> {
        let output = &self.args.output;
        let request = Request {
            to: output.emit,
            input: source.name(),
            variables: output.variables.as_deref(),
            parameters: output.parameters,
            cluster: output.cluster.as_deref(),
            signature: output.signature.as_deref(),
        };
        Emission::new(&request).map_err(|error| vec![error])
    }

    /// Reads a program and runs the passes.
    fn transform(&mut self, source: &Source) -> Transformed {
        self.times.next_program();
        self.statistics.next_program();
        let format = self.args.output.from.format(source);
        let load = LoadOptions {
            allow_unregistered: self.args.common.allow_unregistered_dialect,
            graph: pir_translate::graphdef::Options {
                outputs: self.args.output.outputs.clone(),
                derive_custom_gradients: self.args.output.derive_custom_gradients,
                signature: self.args.output.signature.clone(),
                shapes: self.args.output.input_shape.clone(),
                ..Default::default()
            },
        }
        .of_format(format);
        let ctx = match self.ctx.take() {
            Some(ctx) => ctx,
            // Errors in a file of `--load-dialect` have been reported.
            None => self
                .args
                .common
                .context(self.tool, self.renderer)
                .map_err(|_| Vec::new())?,
        };
        progress::doing(|| format!("reading {}", source.name()));
        let (mut module, mut warnings) = self
            .times
            .stage("parse", |_| driver::read_as(&ctx, source, format, &load))?;
        progress::doing(|| format!("verifying {}", source.name()));
        warnings.extend(
            self.times
                .stage("verify", |_| driver::verify_source(&module, source, &load)),
        );
        if driver::has_errors(&warnings) {
            return Err(warnings);
        }
        if self.args.output.verify_roundtrip {
            roundtrip::verify(&module, &load)?;
        }
        if let Some(dump) = &mut self.dump {
            dump.input(&module);
        }
        if self.pipeline.invocations.is_empty() && self.args.debug.emit_reproducer.is_none() {
            return Ok((module, warnings));
        }
        match self.run_passes(&mut module, &load) {
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

    fn run_passes(&mut self, module: &mut Module, load: &LoadOptions) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
        let configuration = Configuration {
            verify_each: !self.args.passes.no_verify_each,
            allow_unregistered: load.allow_unregistered,
            load_dialect: self.args.common.load_dialect.clone(),
        };
        let verify_each = configuration.verify_each;
        let show = self.show_options();
        let mut show = show.any().then(|| Show::new(show));
        // If several programs fail, the reproducer of the first is kept.
        let path = self.args.debug.emit_reproducer.as_deref().filter(|_| !self.reproduced);
        let mut reproducer = path
            .map(|path| Reproducer::new(path, configuration, module, self.pipeline))
            .transpose()
            .map_err(|error| vec![error])?;
        let watch = &self.args.watch;
        let pipeline = self.pipeline;
        let (select, dump, statistics) = (&mut self.select, &mut self.dump, &mut self.statistics);
        let result = self.times.stage("passes", |times| {
            let mut observers: Vec<&mut dyn Observer> = Vec::new();
            observers.extend(select.as_mut().map(|o| o as &mut dyn Observer));
            observers.extend(show.as_mut().map(|o| o as &mut dyn Observer));
            observers.extend(dump.as_mut().map(|o| o as &mut dyn Observer));
            observers.extend(reproducer.as_mut().map(|o| o as &mut dyn Observer));
            if watch.pass_statistics {
                observers.push(statistics);
            }
            if watch.timing {
                observers.push(times);
            }
            let options = RunOptions {
                verify: verify_each.then(|| load.verify()),
                observers,
            };
            driver::run_passes(module, pipeline, options)
        });
        let Err(mut errors) = result else { return result };
        if let Some(reproducer) = &mut reproducer {
            if let (Some(note), Some(last)) = (reproducer.note(), errors.last_mut()) {
                last.notes.push(note);
            }
            errors.extend(reproducer.take_error());
            self.reproduced = true;
        } else if let Some(crash) = errors.iter_mut().rev().find(|error| error.code == PASS_CRASH) {
            crash.help = Some("use `--emit-reproducer=FILE` to write a reproducer, and please report it".into());
        }
        Err(errors)
    }

    fn show_options(&self) -> ShowOptions {
        let watch = &self.args.watch;
        let filter = |all: bool, names: &Option<Vec<String>>| match names {
            _ if all => Filter::All,
            None => Filter::None,
            Some(names) if names.iter().all(String::is_empty) => Filter::All,
            // A pass may be called by MLIR's name for it.
            Some(names) => Filter::Named(
                names
                    .iter()
                    .map(|name| {
                        self.tool
                            .passes
                            .find(name)
                            .map_or(name.clone(), |pass| pass.name().to_owned())
                    })
                    .collect(),
            ),
        };
        ShowOptions {
            before: filter(watch.print_ir_before_all, &watch.print_ir_before),
            after: filter(watch.print_ir_after_all, &watch.print_ir_after),
            changes: watch.print_ir_after_change,
            debug: filter(false, &watch.debug_only),
            failure: watch.print_ir_after_failure,
            scope: watch.print_ir_scope,
            print: self.print_options(),
            color: self.renderer.color(),
        }
    }

    fn print_options(&self) -> PrintOptions {
        PrintOptions {
            generic: self.args.output.print_generic || self.args.output.emit == To::Generic,
            mlir: self.args.output.print_mlir,
            elide_large: self.args.output.elide_large_attributes,
        }
    }

    /// Whether the diagnostics match the expectations in the input. Reports mismatches.
    fn as_expected(&self, source: &Source) -> bool {
        let names = [source.name()];
        let text = String::from_utf8_lossy(source.bytes());
        match pir_filecheck::check_expected(&names, &text, &String::from_utf8_lossy(&self.said)) {
            Ok(()) => true,
            Err(error) => {
                cli::say(&format!("{error}\n"));
                false
            }
        }
    }

    fn write(&mut self, modules: &[Module]) -> Result<(), Diagnostic> {
        let options = self.print_options();
        let output = &self.args.output;
        if output.output.as_deref().is_none_or(|file| file == "-") && io::stdout().is_terminal() {
            progress::finish();
        }
        progress::doing(|| "writing".to_owned());
        self.times.next_program();
        let (saved, emission) = (&self.saved, &self.emission);
        self.times.stage("print", |_| {
            if let (To::SavedModel, [message]) = (output.emit, &saved[..]) {
                return emission.write_folder(output.output.as_deref(), message);
            }
            write_output(output.output.as_deref(), |out| match output.stats {
                Some(form) => stats::write(modules, form, out),
                None if !saved.is_empty() => saved.iter().try_for_each(|s| out.write_all(s)),
                None => print(modules, &options, out),
            })
        })
    }
}

fn print(modules: &[Module], options: &PrintOptions, out: &mut dyn Write) -> io::Result<()> {
    for (at, module) in modules.iter().enumerate() {
        if at > 0 {
            writeln!(out, "// -----")?;
        }
        text::print_to(module, options, out)?;
    }
    Ok(())
}
