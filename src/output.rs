//! Writes programs and results to standard output, or to files that are replaced atomically.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use pir_ir::Diagnostic;
use tempfile::NamedTempFile;

use crate::interrupt::Unfinished;

/// Whether standard output was closed when the process started. Rust's runtime opens `/dev/null` in its place before
/// `main`, and output would be lost without an error: so this is checked earlier.
static CLOSED: AtomicBool = AtomicBool::new(false);

#[cfg(unix)]
#[ctor::ctor]
fn look_at_stdout() {
    use std::os::fd::AsFd;
    CLOSED.store(io::stdout().as_fd().try_clone_to_owned().is_err(), Ordering::Relaxed);
}

/// Whether standard output is open.
///
/// # Errors
/// If it was closed, as by `>&-`.
pub fn stdout_is_open() -> io::Result<()> {
    match CLOSED.load(Ordering::Relaxed) {
        true => Err(io::Error::other("it is closed")),
        false => Ok(()),
    }
}

/// Writes the output of `write` to a file, or to standard output for `None` and `-`.
///
/// A regular file is written under a temporary name in the same folder and then renamed, so that it is never seen
/// incomplete and is left untouched if something fails. Anything else, like `/dev/null` or a pipe, is written directly.
///
/// A pipe that is closed early, as in `… | head -1`, is not an error; a closed standard output is one.
///
/// # Errors
/// Why it cannot be written, for the user.
pub fn write_output(
    path: Option<&str>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Diagnostic> {
    match path {
        None | Some("-") => match write_stdout(write) {
            Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            Err(e) => Err(Diagnostic::error("io", format!("cannot write to standard output: {e}"))),
            Ok(()) => Ok(()),
        },
        Some(path) => write_file(Path::new(path), write)
            .map_err(|e| Diagnostic::error("io", format!("cannot write `{path}`: {}", describe(path, &e)))),
    }
}

fn describe(path: &str, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "its folder does not exist".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ if Path::new(path).is_dir() => "it is a directory".to_owned(),
        _ => error.to_string(),
    }
}

fn write_stdout(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    stdout_is_open()?;
    // The locked handle flushes at every line break.
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    write(&mut out)?;
    out.flush()
}

fn write_file(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    // A symbolic link is kept: its target is replaced.
    let target = behind_links(path);
    let permissions = match fs::metadata(&target) {
        Ok(meta) => {
            // Renaming over a read-only file would succeed. Opening it also fails for a directory.
            let file = OpenOptions::new().write(true).open(&target)?;
            if !meta.is_file() {
                return write_through(file, write);
            }
            Some(meta.permissions())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let folder = match target.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let make = || new_file_mode(tempfile::Builder::new().prefix(".pir-")).tempfile_in(folder);
    let (file, _unfinished) = Unfinished::new(make, NamedTempFile::path)?;
    write_through(file.as_file().try_clone()?, write)?;
    if let Some(permissions) = permissions {
        fs::set_permissions(file.path(), permissions)?;
    }
    file.persist(&target)?;
    Ok(())
}

/// Follows symbolic links; the target need not exist.
fn behind_links(path: &Path) -> PathBuf {
    if let Ok(target) = fs::canonicalize(path) {
        return target;
    }
    let mut target = path.to_owned();
    // Operating systems follow at most forty, too.
    for _ in 0..40 {
        let Ok(next) = fs::read_link(&target) else { break };
        target = target.parent().unwrap_or(Path::new("")).join(next);
    }
    target
}

fn write_through(file: File, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, file);
    write(&mut out)?;
    out.flush()
}

/// Temporary files are private by default; outputs get the mode of the user's umask.
#[cfg(unix)]
fn new_file_mode<'a, 'b>(builder: &'a mut tempfile::Builder<'b, 'b>) -> &'a mut tempfile::Builder<'b, 'b> {
    use std::os::unix::fs::PermissionsExt;
    builder.permissions(fs::Permissions::from_mode(0o666))
}

#[cfg(not(unix))]
fn new_file_mode<'a, 'b>(builder: &'a mut tempfile::Builder<'b, 'b>) -> &'a mut tempfile::Builder<'b, 'b> {
    builder
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_failure_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.pir");
        fs::write(&path, "old").unwrap();
        let error = write_output(path.to_str(), |out| {
            out.write_all(b"half")?;
            Err(io::Error::other("no more"))
        })
        .unwrap_err();
        assert!(error.message.ends_with("no more"), "{}", error.message);
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(names(folder.path()), ["a.pir"]);
        write_output(path.to_str(), |out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(names(folder.path()), ["a.pir"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_stay() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("a"), folder.path().join("b"));
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o751)).unwrap();
        std::os::unix::fs::symlink("a", &link).unwrap();
        write_output(link.to_str(), |out| out.write_all(b"new")).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o751);
    }

    #[cfg(unix)]
    #[test]
    fn links_to_nothing_get_a_target() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        symlink("second", path("first")).unwrap();
        symlink(path("file"), path("second")).unwrap();
        write_output(path("first").to_str(), |out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read_to_string(path("file")).unwrap(), "new");
        assert_eq!(names(folder.path()), ["file", "first", "second"]);
        assert!(fs::symlink_metadata(path("first")).unwrap().is_symlink());
        symlink("b", path("a")).unwrap();
        symlink("a", path("b")).unwrap();
        assert!(write_output(path("a").to_str(), |out| out.write_all(b"new")).is_err());
        assert!(fs::symlink_metadata(path("a")).unwrap().is_symlink());
    }

    #[cfg(unix)]
    #[test]
    fn special_files_are_written_directly() {
        write_output(Some("/dev/null"), |out| out.write_all(b"text")).unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }

    #[test]
    fn folders_that_do_not_exist_are_told() {
        let error = write_output(Some("/no/such/folder/a.pir"), |_| Ok(())).unwrap_err();
        assert_eq!(
            error.message,
            "cannot write `/no/such/folder/a.pir`: its folder does not exist"
        );
    }
}
