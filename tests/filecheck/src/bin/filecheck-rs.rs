//! The checker as a program, to be compared with other implementations: `filecheck-rs FILE [options] < input`.

use std::io::Read;
use std::process::ExitCode;

use pir_filecheck::{CheckError, CommandLine, check};

const HELP: &str = "Checks a text against the directives in a file, as LLVM's FileCheck does.

Usage: filecheck-rs [OPTIONS] CHECK-FILE < INPUT

Options:
  --check-prefix=P, --check-prefixes=P,Q   The prefixes of directives; default: CHECK
  --comment-prefixes=P,Q                   The prefixes of comments; default: COM, RUN
  --input-file=FILE                        The text to check; default: standard input
  --implicit-check-not=PATTERN             A pattern that must not match between the directives
  -DNAME=VALUE, -D#NAME=VALUE              Define a variable
  --match-full-lines                       Patterns match whole lines
  --strict-whitespace                      White space must match exactly
  --ignore-case                            Ignore case
  --allow-empty                            Accept an empty input
  --allow-unused-prefixes                  Accept prefixes that do not occur
  --enable-var-scope                       Variables without `$` end at each CHECK-LABEL
  -h, --help                               Print help

Exit status: 0 if the text matches, 1 if it does not, 2 if the command line or the check file is invalid.
";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(CheckError::Mismatch(message)) => {
            eprintln!("{message}");
            ExitCode::from(1)
        }
        Err(CheckError::Invalid(message)) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), CheckError> {
    let invalid = |error: String| CheckError::Invalid(error);
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|argument| matches!(&**argument, "-h" | "--help")) {
        print!("{HELP}");
        return Ok(());
    }
    let command = CommandLine::parse(&arguments).map_err(invalid)?;
    let read = |path: &str| std::fs::read_to_string(path).map_err(|e| invalid(format!("cannot read `{path}`: {e}")));
    let check_text = read(&command.check_file)?;
    let mut input = String::new();
    match &command.input_file {
        Some(path) => input = read(path)?,
        None => {
            let read = std::io::stdin().read_to_string(&mut input);
            read.map_err(|e| invalid(format!("cannot read standard input: {e}")))?;
        }
    }
    check(&command.options, &command.check_file, &check_text, &input)
}
