//! `--engine`: hands a program and its inputs to an engine that is installed, and takes its results.
//!
//! Each engine is a script in Python that is called as `SCRIPT PROGRAM INPUTS.npz OUTPUTS.npz`, the ones that are under `tools/` too.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use pir_dialects::pd;
use pir_interp::{Tensor, inputs_of};
use pir_ir::{Context, Diagnostic, Module};
use pir_passes::Pipeline;

use crate::arrays::{read_arrays, write_npz};
use crate::driver::{self, LoadOptions, RunOptions, emission::Emission};
use crate::formats::To;
use crate::output::write_output;
use crate::source::Source;

/// An engine.
struct Engine {
    name: &'static str,
    /// The format that it reads, and the extension of the file.
    format: To,
    end: &'static str,
    script: &'static str,
    /// The command that installs it.
    install: &'static str,
}

const ENGINES: [Engine; 4] = [
    Engine {
        name: "xla",
        format: To::Stablehlo,
        end: "mlir",
        script: include_str!("../../tools/jax/run.py"),
        install: "pip install jax",
    },
    Engine {
        name: "iree",
        format: To::Stablehlo,
        end: "mlir",
        script: include_str!("../../tools/jax/run_iree.py"),
        install: "pip install iree-base-compiler iree-base-runtime",
    },
    Engine {
        name: "tensorflow",
        format: To::Graphdef,
        end: "pb",
        script: include_str!("../../tools/tensorflow/run.py"),
        install: "pip install tensorflow-cpu",
    },
    Engine {
        name: "paddle",
        format: To::PaddleJson,
        end: "json",
        script: include_str!("../../tools/paddle/run.py"),
        install: "pip install paddlepaddle",
    },
];

/// The engine that `--engine` names.
#[derive(Clone, Copy, Debug)]
pub struct Chosen {
    /// The place among the engines.
    at: usize,
    /// Whether its results are compared with ours.
    pub check: bool,
}

/// Reads the option's value: `NAME` or `NAME,check`.
pub(super) fn parse(text: &str) -> Result<Chosen, String> {
    let (name, check) = match text.split_once(',') {
        None => (text, false),
        Some((name, "check")) => (name, true),
        Some((_, other)) => return Err(format!("only `check` may follow the engine, not `{other}`")),
    };
    match ENGINES.iter().position(|engine| engine.name == name) {
        Some(at) => Ok(Chosen { at, check }),
        None => {
            let names: Vec<&str> = ENGINES.iter().map(|engine| engine.name).collect();
            Err(format!("the engines are {}", names.join(", ")))
        }
    }
}

fn error(message: impl Into<String>) -> Vec<Diagnostic> {
    vec![Diagnostic::error("engine", message)]
}

/// The results of the engine for a program and its inputs: what it fetches, then the results of its function.
///
/// # Errors
/// If the program cannot be written for the engine, the engine is not installed, or it fails.
pub(super) fn run(
    chosen: Chosen,
    module: &Module,
    inputs: &[(String, Tensor)],
) -> Result<Vec<(String, Tensor)>, Vec<Diagnostic>> {
    let engine = &ENGINES[chosen.at];
    let program = program(engine, module)?;
    let ordered = match engine.format {
        To::Stablehlo => arguments(&module.ctx, &program, inputs)?,
        _ => inputs.to_vec(),
    };
    let folder = tempfile::tempdir().map_err(|why| error(format!("cannot create a temporary folder: {why}")))?;
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let (file, given, made) = (
        path(&format!("program.{}", engine.end)),
        path("in.npz"),
        path("out.npz"),
    );
    fs::write(&file, &program).map_err(|why| error(format!("cannot write `{file}`: {why}")))?;
    let arrays = ordered.iter().map(|(name, tensor)| (name.as_str(), tensor));
    write_output(Some(&given), |out| write_npz(arrays, out)).map_err(|why| vec![why])?;
    call(engine, [&file, &given, &made])?;
    let mut results = read_arrays(&made).map_err(|why| vec![why])?;
    let names = names(module);
    match engine.format {
        // They are numbered there.
        To::Stablehlo => {
            results.sort_by_key(|(name, _)| name.parse::<usize>().unwrap_or(usize::MAX));
            for (at, (name, _)) in results.iter_mut().enumerate() {
                *name = match names.get(at) {
                    Some(fetched) => fetched.clone(),
                    None => format!("out:{}", at - names.len()),
                };
            }
        }
        _ => results.sort_by_key(|(name, _)| names.iter().position(|fetched| fetched == name)),
    }
    Ok(results)
}

/// The program as the engine reads it.
fn program(engine: &Engine, module: &Module) -> Result<Vec<u8>, Vec<Diagnostic>> {
    let mut module = module.clone();
    if engine.format == To::Graphdef {
        driver::run_passes(
            &mut module,
            &Pipeline::parse("lower-to-dataflow")?,
            RunOptions::default(),
        )?;
    }
    let written = driver::emit(&mut module, engine.format, &Emission::default())?;
    written.ok_or_else(|| error("the format has no writer"))
}

/// The inputs in the order of the arguments of the function that a program became.
fn arguments(
    ctx: &Arc<Context>,
    program: &[u8],
    inputs: &[(String, Tensor)],
) -> Result<Vec<(String, Tensor)>, Vec<Diagnostic>> {
    let source = Source::new("the program for the engine", program.to_vec());
    let (written, _) = driver::load_as(ctx, &source, None, LoadOptions::default())?;
    let specs = inputs_of(&written, None).map_err(|why| vec![why.into_diagnostic()])?;
    let given = |name: &String| inputs.iter().find(|(given, _)| given == name).cloned();
    let of = |(at, name): (usize, &String)| {
        // Arguments of functions keep their order; their names may be lost.
        given(name).or_else(|| inputs.get(at).cloned())
    };
    let ordered: Option<Vec<_>> = specs.iter().map(|spec| &spec.name).enumerate().map(of).collect();
    ordered.ok_or_else(|| error("the inputs of the exported program differ"))
}

/// The names of the fetches of a program at top level, in order.
fn names(module: &Module) -> Vec<String> {
    let (ctx, body) = (&*module.ctx, &module.body);
    let fetched = body.walk_all().filter_map(|op| {
        let view = body.view(ctx, op);
        (view.name() == pd::Fetch::NAME).then(|| view.str("name").unwrap_or_default().to_owned())
    });
    fetched.collect()
}

fn call(engine: &Engine, arguments: [&str; 3]) -> Result<(), Vec<Diagnostic>> {
    let python = std::env::var("PIR_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let done = Command::new(&python)
        .arg("-c")
        .arg(engine.script)
        .args(arguments)
        .output();
    let done = done.map_err(|why| {
        let refused = Diagnostic::error("engine", format!("cannot run `{python}`: {why}"));
        vec![refused.help("set the environment variable `PIR_PYTHON` to a Python interpreter")]
    })?;
    if done.status.success() && Path::new(arguments[2]).is_file() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&done.stderr);
    if said.contains("No module named") {
        let missing = format!("the engine `{}` is not installed for `{python}`", engine.name);
        let help = format!(
            "run `{}`, or set the environment variable `PIR_PYTHON` to a Python interpreter that has it",
            engine.install
        );
        return Err(vec![Diagnostic::error("engine", missing).help(help)]);
    }
    let mut lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines.pop().unwrap_or("there is no error message").trim();
    let mut failed = Diagnostic::error("engine", format!("the engine `{}` failed: {last}", engine.name));
    failed.notes = lines.iter().rev().take(8).rev().map(|&line| line.to_owned()).collect();
    Err(vec![failed])
}

/// A line for each result: the largest difference from ours. An error if one is larger than rounding explains.
pub(super) fn compare(theirs: &[(String, Tensor)], ours: &[(String, Tensor)]) -> (String, bool) {
    let (mut text, mut good) = (String::new(), theirs.len() == ours.len());
    if !good {
        text = format!("check: found {} results, expected {}\n", theirs.len(), ours.len());
    }
    for ((name, found), (_, wanted)) in theirs.iter().zip(ours) {
        if found.shape() != wanted.shape() {
            text += &format!(
                "check: `{name}` has shape {:?}, expected {:?}\n",
                found.shape(),
                wanted.shape()
            );
            good = false;
            continue;
        }
        let (found, values) = (found.to_f64(), wanted.to_f64());
        let largest = values
            .iter()
            .map(|v| v.abs())
            .filter(|v| v.is_finite())
            .fold(0.0, f64::max);
        let difference = |(a, b): (&f64, &f64)| match a == b || a.is_nan() && b.is_nan() {
            true => 0.0,
            false if (a - b).is_finite() => (a - b).abs(),
            false => f64::INFINITY,
        };
        let off = found.iter().zip(&values).map(difference).fold(0.0, f64::max);
        let allowed = match wanted.dtype().size() {
            _ if !wanted.dtype().is_float() => 0.0,
            8 => 1e-9,
            4 => 1e-4,
            _ => 2e-2,
        };
        let same = off <= allowed * largest.max(1.0);
        good &= same;
        let verdict = if same { "equal" } else { "DIFFERENT" };
        text += &format!("check: `{name}` {verdict}: maximum difference {off:.2e}, maximum value {largest:.2e}\n");
    }
    (text, good)
}
