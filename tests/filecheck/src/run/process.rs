//! Running one command, its input and output in memory.

use std::fs::{File, OpenOptions};
use std::io::{self, PipeWriter, Read, Write};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use super::words::{Redirection, Stream};

/// What a command did.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) status: Status,
    pub(crate) out: Vec<u8>,
    pub(crate) err: Vec<u8>,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Exited(i32),
    Signalled,
    TimedOut(Duration),
}

impl Status {
    fn of(status: ExitStatus) -> Status {
        status.code().map_or(Status::Signalled, Status::Exited)
    }

    pub(crate) fn words(self) -> String {
        match self {
            Status::Exited(code) => format!("exit status {code}"),
            Status::Signalled => "ended by a signal".to_owned(),
            Status::TimedOut(limit) => format!("killed after {} s", limit.as_secs_f64()),
        }
    }
}

/// Where a stream of a command goes.
enum Target {
    Pipe(PipeWriter),
    File(File),
}

impl Target {
    fn duplicate(&self) -> io::Result<Target> {
        Ok(match self {
            Target::Pipe(pipe) => Target::Pipe(pipe.try_clone()?),
            Target::File(file) => Target::File(file.try_clone()?),
        })
    }

    fn stdio(self) -> Stdio {
        match self {
            Target::Pipe(pipe) => pipe.into(),
            Target::File(file) => file.into(),
        }
    }
}

/// A file that a redirection writes, in the folder of the test unless its path is absolute.
pub(crate) fn open(folder: &Path, path: &str, append: bool) -> Result<File, String> {
    OpenOptions::new()
        .create(true)
        .write(true)
        .append(append)
        .truncate(!append)
        .open(folder.join(path))
        .map_err(|error| format!("cannot write `{path}`: {error}"))
}

/// Runs a command that has its program and arguments with this input and these redirections.
pub(crate) fn run(
    mut command: Command,
    folder: &Path,
    input: Vec<u8>,
    redirections: &[Redirection],
    limit: Duration,
) -> Result<Finished, String> {
    let system = |error: io::Error| format!("cannot connect a command: {error}");
    let (out_reader, out_writer) = io::pipe().map_err(system)?;
    let (err_reader, err_writer) = io::pipe().map_err(system)?;
    let mut out = Target::Pipe(out_writer);
    let mut err = Target::Pipe(err_writer);
    for redirection in redirections {
        match redirection {
            // Read by the caller.
            Redirection::Input(_) => {}
            Redirection::File { stream, path, append } => {
                let file = Target::File(open(folder, path, *append)?);
                match stream {
                    Stream::Out => out = file,
                    Stream::Err => err = file,
                }
            }
            Redirection::Copy { stream: Stream::Out } => out = err.duplicate().map_err(system)?,
            Redirection::Copy { stream: Stream::Err } => err = out.duplicate().map_err(system)?,
        }
    }
    let deadline = Instant::now() + limit;
    let program = command.get_program().to_string_lossy().into_owned();
    let mut child = command
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(out.stdio())
        .stderr(err.stdio())
        .spawn()
        .map_err(|error| format!("cannot run `{program}`: {error}"))?;
    // It holds the writing ends of the pipes, which must be closed for the readers to end.
    drop(command);
    if let Some(mut stdin) = child.stdin.take() {
        // A command need not read its input to the end.
        thread::spawn(move || stdin.write_all(&input).ok());
    }
    let out = collect(out_reader);
    let err = collect(err_reader);
    let out = receive(&out, deadline);
    let err = receive(&err, deadline);
    let mut pause = Duration::from_micros(50);
    let status = loop {
        match child.try_wait().map_err(system)? {
            Some(status) => break Status::of(status),
            None if Instant::now() >= deadline => {
                // The process may have ended in the meantime; that is not an error.
                let _ = child.kill();
                let _ = child.wait();
                break Status::TimedOut(limit);
            }
            None => thread::sleep(pause),
        }
        pause = (pause * 2).min(Duration::from_millis(10));
    };
    Ok(Finished {
        status,
        out: out.unwrap_or_default(),
        err: err.unwrap_or_default(),
    })
}

/// Reads to the end in the background.
fn collect(mut reader: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was read before an error counts.
        let _ = reader.read_to_end(&mut bytes);
        // Nothing may be waiting any more.
        let _ = sender.send(bytes);
    });
    receiver
}

fn receive(receiver: &Receiver<Vec<u8>>, deadline: Instant) -> Option<Vec<u8>> {
    let left = deadline.saturating_duration_since(Instant::now());
    receiver.recv_timeout(left).ok()
}
