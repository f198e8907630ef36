//! Running a tool and looking at what it did.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// What a tool did.
pub struct Ran {
    /// The exit status.
    pub status: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Ran {
    fn new(output: Output) -> Self {
        Ran {
            status: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// What was written, of a run that must have gone well.
    #[track_caller]
    pub fn ok(self) -> String {
        assert_eq!((self.status, &*self.err), (0, ""), "{}", self.out);
        self.out
    }

    /// What was said, of a run that must have failed with this status and written nothing.
    #[track_caller]
    pub fn fails(self, status: i32) -> String {
        assert_eq!((self.status, &*self.out), (status, ""), "{}", self.err);
        self.err
    }
}

/// A run that is being prepared, with nothing on standard input.
pub fn command(tool: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(tool);
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .env_remove("NO_COLOR")
        .env("COLUMNS", "100");
    command
}

/// Runs a tool with a text on standard input.
pub fn with_input(mut command: Command, input: &str) -> Ran {
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        // A tool that fails early does not read all of its input.
        scope.spawn(move || stdin.write_all(input.as_bytes()).ok());
        Ran::new(child.wait_with_output().unwrap())
    })
}

/// Runs a tool in a folder.
pub fn in_folder(folder: &Path, mut command: Command) -> Ran {
    Ran::new(command.current_dir(folder).output().unwrap())
}

/// Runs a tool.
pub fn run(mut command: Command) -> Ran {
    Ran::new(command.output().unwrap())
}
