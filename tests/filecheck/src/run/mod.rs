//! Test files with RUN lines.
//!
//! A RUN line is read as a shell would read it, with words in quotes, pipes, `&&` and redirections, but no shell is
//! involved. `FileCheck`, `expected-errors`, `not` and `env` are built in; the programs under test and a few programs of
//! the system are run, in a folder of the test's own. The commands of a pipe run one after the other, each with all of
//! what the one before it wrote, and all of them must succeed.
//!
//! | In a RUN line | means |
//! | --- | --- |
//! | `%s` | the test file |
//! | `%S` | its folder |
//! | `%t` | a path for a file of the test's own |
//! | `%{name}` | what the harness gives as `name` |
//! | `%%` | `%` |

mod bless;
mod builtin;
mod echo;
mod process;
mod script;
mod words;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use bless::{GENERATED, bless_file};
use process::{Finished, Status};
use script::{RunLine, Script};
use words::{Command, Pipeline, Redirection};

/// The programs of the system that a RUN line may name.
const SYSTEM: &[&str] = &[
    "cat", "cmp", "cp", "diff", "echo", "false", "grep", "head", "ls", "mkdir", "mv", "printf", "rm", "sed", "sleep",
    "sort", "tail", "test", "touch", "tr", "true", "wc",
];
/// How much of what a failing command said is shown.
const SHOWN: usize = 4000;

/// What test files are run with.
#[derive(Clone, Debug)]
pub struct Config {
    /// The programs under test. The name of each is a feature, too.
    pub programs: BTreeMap<String, PathBuf>,
    /// What `REQUIRES`, `UNSUPPORTED` and `XFAIL` ask for.
    pub features: BTreeSet<String>,
    /// What represents `%{name}`.
    pub substitutions: BTreeMap<String, String>,
    /// How long a command may take.
    pub timeout: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            programs: BTreeMap::new(),
            features: BTreeSet::new(),
            substitutions: BTreeMap::new(),
            timeout: Duration::from_secs(30),
        }
    }
}

impl Config {
    /// Whether there is a feature; `!` asks that there is none, `*` always holds.
    fn has(&self, feature: &str) -> bool {
        match feature.strip_prefix('!') {
            Some(absent) => !self.has(absent),
            None => feature == "*" || self.features.contains(feature) || self.programs.contains_key(feature),
        }
    }
}

/// How a test ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Well.
    Passed,
    /// It was not run, for this reason.
    Ignored(String),
    /// It failed, with this message.
    Failed(String),
}

/// Whether a file has RUN lines, which only a text can have.
fn is_test(path: &Path) -> bool {
    fs::read_to_string(path).is_ok_and(|text| script::has_run_lines(&text))
}

/// The test files in a folder and its subfolders, sorted by name: all with RUN lines, and every `.pir` file, so that
/// none remains untested. Folders named `inputs` contain files for other tests.
///
/// # Errors
/// If a folder cannot be listed, or there is no test file.
pub fn collect(root: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        let failed = |error: io::Error| format!("cannot list `{}`: {error}", folder.display());
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let path = entry.path();
            if entry.file_type().map_err(failed)?.is_dir() {
                if entry.file_name() != "inputs" {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|extension| extension == "pir") || is_test(&path) {
                found.push(path);
            }
        }
    }
    found.sort();
    match found.is_empty() {
        true => Err(format!("there is no test file in `{}`", root.display())),
        false => Ok(found),
    }
}

/// Executes the RUN lines of a file.
#[must_use]
pub fn run_file(path: &Path, config: &Config) -> Outcome {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => return Outcome::Failed(format!("cannot read `{}`: {error}", path.display())),
    };
    let script = match script::parse(&text) {
        Ok(script) => script,
        Err(error) => return Outcome::Failed(format!("{}: {error}", path.display())),
    };
    if let Some(reason) = skipped(&script, config) {
        return Outcome::Ignored(reason);
    }
    let expected_to_fail = script.xfail.iter().any(|feature| config.has(feature));
    let result = Test::new(path, config).and_then(|test| script.lines.iter().try_for_each(|line| test.run(line)));
    match (result, expected_to_fail) {
        (Ok(()), false) | (Err(_), true) => Outcome::Passed,
        (Ok(()), true) => Outcome::Failed(format!("{}: passes, and should fail (XFAIL)", path.display())),
        (Err(message), false) => Outcome::Failed(message),
    }
}

/// Why a file is not to be tested.
fn skipped(script: &Script, config: &Config) -> Option<String> {
    let missing = script.requires.iter().find(|feature| !config.has(feature));
    let present = || script.unsupported.iter().find(|feature| config.has(feature));
    let missing = missing.map(|feature| format!("requires {feature}"));
    missing.or_else(|| present().map(|feature| format!("unsupported with {feature}")))
}

/// A test that is being run.
struct Test<'a> {
    path: &'a Path,
    config: &'a Config,
    folder: tempfile::TempDir,
}

/// A command after substitution, without what is done to its result.
struct Prepared {
    words: Vec<String>,
    redirections: Vec<Redirection>,
    environment: Vec<(String, String)>,
    inverted: bool,
}

impl<'a> Test<'a> {
    fn new(path: &'a Path, config: &'a Config) -> Result<Self, String> {
        let folder = tempfile::tempdir().map_err(|error| format!("cannot make a folder: {error}"))?;
        Ok(Test { path, config, folder })
    }

    fn run(&self, line: &RunLine) -> Result<(), String> {
        for pipeline in &line.pipelines {
            self.pipeline(pipeline).map_err(|message| {
                let place = format!("{}:{}", self.path.display(), line.number);
                format!("{place}: RUN: {}\n{message}", line.text)
            })?;
        }
        Ok(())
    }

    fn pipeline(&self, pipeline: &Pipeline) -> Result<(), String> {
        self.commands(&pipeline.commands).map(drop)
    }

    /// Runs the commands of a pipe, and gives what the last one writes.
    fn commands(&self, commands: &[Command]) -> Result<Vec<u8>, String> {
        let mut flowing = Vec::new();
        for command in commands {
            let prepared = self.prepare(command)?;
            for redirection in &prepared.redirections {
                if let Redirection::Input(path) = redirection {
                    flowing = fs::read(self.folder.path().join(path))
                        .map_err(|error| format!("cannot read `{path}`: {error}"))?;
                }
            }
            let finished = self.command(&prepared, flowing)?;
            self.judge(&prepared, &finished)?;
            flowing = finished.out;
        }
        Ok(flowing)
    }

    fn prepare(&self, command: &Command) -> Result<Prepared, String> {
        let words: Result<Vec<_>, _> = command.words.iter().map(|word| self.substitute(word)).collect();
        let mut words = words?;
        let mut redirections = command.redirections.clone();
        for redirection in &mut redirections {
            if let Redirection::Input(path) | Redirection::File { path, .. } = redirection {
                *path = self.substitute(path)?;
            }
        }
        let mut environment = Vec::new();
        let mut inverted = false;
        loop {
            match words.first().map(String::as_str) {
                Some("not") => {
                    inverted = !inverted;
                    words.remove(0);
                }
                Some("env") => {
                    words.remove(0);
                    while let Some((name, value)) = words.first().and_then(|word| word.split_once('=')) {
                        environment.push((name.to_owned(), value.to_owned()));
                        words.remove(0);
                    }
                }
                Some(_) => break,
                None => return Err("a command is missing".to_owned()),
            }
        }
        Ok(Prepared {
            words,
            redirections,
            environment,
            inverted,
        })
    }

    fn substitute(&self, word: &str) -> Result<String, String> {
        let mut out = String::with_capacity(word.len());
        let mut rest = word;
        while let Some((before, after)) = rest.split_once('%') {
            out.push_str(before);
            let (value, after) = match after.chars().next() {
                Some('s') => (self.path.to_string_lossy(), &after[1..]),
                Some('S') => (self.path.parent().unwrap_or(self.path).to_string_lossy(), &after[1..]),
                Some('t') => {
                    let name = self.path.file_name().unwrap_or_default().to_string_lossy();
                    let path = self.folder.path().join(format!("{name}.tmp"));
                    (path.to_string_lossy().into_owned().into(), &after[1..])
                }
                Some('%') => ("%".into(), &after[1..]),
                Some('{') => {
                    let (name, after) = after[1..].split_once('}').ok_or("a `%{` is not closed")?;
                    let value = self.config.substitutions.get(name);
                    let value = value.ok_or_else(|| format!("`%{{{name}}}` stands for nothing"))?;
                    (value.as_str().into(), after)
                }
                // `%arg0` in an argument is a value of the program.
                _ => ("%".into(), after),
            };
            out.push_str(&value);
            rest = after;
        }
        out.push_str(rest);
        Ok(out)
    }

    fn command(&self, prepared: &Prepared, input: Vec<u8>) -> Result<Finished, String> {
        let Some((name, arguments)) = prepared.words.split_first() else {
            return Err("a command is missing".to_owned());
        };
        if let Some(run) = builtin::find(name) {
            let result = run(self.folder.path(), arguments, &input);
            return builtin::finish(result, self.folder.path(), &prepared.redirections);
        }
        let mut command = match self.config.programs.get(name) {
            Some(path) => std::process::Command::new(path),
            None if SYSTEM.contains(&name.as_str()) => std::process::Command::new(name),
            None => {
                let known: Vec<_> = self.config.programs.keys().map(String::as_str).collect();
                return Err(format!(
                    "`{name}` is not a program that RUN lines can use: {}, {}",
                    known.join(", "),
                    SYSTEM.join(", ")
                ));
            }
        };
        command
            .args(arguments)
            .env("LC_ALL", "C")
            .env_remove("NO_COLOR")
            .env_remove("RUST_BACKTRACE")
            .envs(prepared.environment.iter().map(|(name, value)| (name, value)));
        process::run(
            command,
            self.folder.path(),
            input,
            &prepared.redirections,
            self.config.timeout,
        )
    }

    /// Whether a command ended as it should.
    fn judge(&self, prepared: &Prepared, finished: &Finished) -> Result<(), String> {
        let right = match (prepared.inverted, finished.status) {
            (false, status) => status == Status::Exited(0),
            // Anything else is a crash, and no refusal.
            (true, status) => matches!(status, Status::Exited(1 | 2)),
        };
        if right {
            return Ok(());
        }
        let not = if prepared.inverted { "not " } else { "" };
        let mut message = format!("{not}{}: {}", prepared.words.join(" "), finished.status.words());
        if prepared.inverted && finished.status != Status::Exited(0) {
            message.push_str(", which is not a refusal (1 or 2)");
        }
        for (name, bytes) in [("standard error", &finished.err), ("standard output", &finished.out)] {
            let text = String::from_utf8_lossy(bytes);
            if !text.trim().is_empty() {
                message.push_str(&format!("\n--- {name}\n{}", crop(text.trim_end())));
            }
        }
        Err(message)
    }
}

fn crop(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}\n… ({} bytes in all)", &text[..at], text.len()),
        None => text.to_owned(),
    }
}
