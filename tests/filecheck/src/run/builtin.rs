//! Commands of RUN lines that are not programs.

use std::fs;
use std::io::Write;
use std::path::Path;

use super::echo::without_directives;
use super::process::{Finished, Status, open};
use super::words::{Redirection, Stream};
use crate::{CheckError, CommandLine, check, check_expected};

/// Runs with a folder, arguments and an input.
pub(super) type Builtin = fn(&Path, &[String], &[u8]) -> Result<(), CheckError>;

pub(super) fn find(name: &str) -> Option<Builtin> {
    match name {
        "FileCheck" => Some(file_check),
        "expected-errors" => Some(expected_errors),
        _ => None,
    }
}

/// The result of a command that writes only messages.
pub(super) fn finish(
    result: Result<(), CheckError>,
    folder: &Path,
    redirections: &[Redirection],
) -> Result<Finished, String> {
    let (status, message) = match result {
        Ok(()) => (0, String::new()),
        Err(CheckError::Mismatch(message)) => (1, message),
        Err(CheckError::Invalid(message)) => (2, message),
    };
    let mut finished = Finished {
        status: Status::Exited(status),
        out: Vec::new(),
        err: message.into_bytes(),
    };
    for redirection in redirections {
        match redirection {
            Redirection::Input(_) | Redirection::Copy { stream: Stream::Out } => {}
            Redirection::Copy { stream: Stream::Err } => finished.out = std::mem::take(&mut finished.err),
            Redirection::File { stream, path, append } => {
                let bytes = match stream {
                    Stream::Out => std::mem::take(&mut finished.out),
                    Stream::Err => std::mem::take(&mut finished.err),
                };
                let mut file = open(folder, path, *append)?;
                file.write_all(&bytes)
                    .map_err(|error| format!("cannot write `{path}`: {error}"))?;
            }
        }
    }
    Ok(finished)
}

fn read(folder: &Path, path: &str) -> Result<String, CheckError> {
    fs::read_to_string(folder.join(path)).map_err(|e| CheckError::Invalid(format!("cannot read `{path}`: {e}")))
}

fn text(input: &[u8]) -> Result<&str, CheckError> {
    std::str::from_utf8(input).map_err(|_| CheckError::Invalid("the input is not UTF-8".to_owned()))
}

fn file_check(folder: &Path, arguments: &[String], input: &[u8]) -> Result<(), CheckError> {
    let command = CommandLine::parse(arguments).map_err(CheckError::Invalid)?;
    let check_text = read(folder, &command.check_file)?;
    let from_file;
    let input = match &command.input_file {
        Some(path) => {
            from_file = read(folder, path)?;
            &from_file
        }
        None => text(input)?,
    };
    let input = without_directives(&check_text, input);
    check(&command.options, &command.check_file, &check_text, &input)
}

/// `expected-errors FILE`: the input is what a tool said.
fn expected_errors(folder: &Path, arguments: &[String], input: &[u8]) -> Result<(), CheckError> {
    let [path] = arguments else {
        return Err(CheckError::Invalid("`expected-errors` takes one file".to_owned()));
    };
    let file_text = read(folder, path)?;
    check_expected(&[path, "<stdin>"], &file_text, text(input)?)
}
