//! The tools where the system does not do its part.

use std::io::Read;
use std::process::{Command, Output, Stdio};

pub fn tool(name: &str) -> Command {
    let path = match name {
        "pir-opt" => env!("CARGO_BIN_EXE_pir-opt"),
        _ => env!("CARGO_BIN_EXE_pir-run"),
    };
    let mut command = Command::new(path);
    command.stdin(Stdio::null());
    command
}

#[track_caller]
pub fn refused(output: &Output, words: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains(words), "{said}");
    assert!(!said.contains("panicked"), "{said}");
}

const PROGRAM: &str = "%x = pd.data {name = \"x\", shape = [2], dtype = f32}\npd.fetch (%x) {name = \"y\"}\n";

#[test]
fn what_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    refused(
        &tool("pir-opt").arg(path("no-such.pir")).output().unwrap(),
        "no-such.pir",
    );
    refused(&tool("pir-opt").arg(folder.path()).output().unwrap(), "directory");
    std::fs::write(path("bytes.pir"), [0xFF, 0xFE, 0, 1, 2]).unwrap();
    refused(&tool("pir-opt").arg(path("bytes.pir")).output().unwrap(), "error");
}

#[test]
fn what_cannot_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("a.pir"), PROGRAM).unwrap();
    let output = |out: &std::path::Path| tool("pir-opt").arg(path("a.pir")).arg("-o").arg(out).output().unwrap();
    refused(&output(&path("missing/out.pir")), "does not exist");
    refused(&output(folder.path()), "directory");
    if std::path::Path::new("/dev/full").exists() {
        refused(&output(std::path::Path::new("/dev/full")), "/dev/full");
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        refused(
            &tool("pir-opt").arg(path("a.pir")).stdout(full).output().unwrap(),
            "standard output",
        );
    }
    // The previous file is kept on failure, and no temporary file remains next to it.
    std::fs::write(path("out.pir"), "before").unwrap();
    std::fs::write(path("bad.pir"), "pd.nothing").unwrap();
    let failed = tool("pir-opt")
        .arg(path("bad.pir"))
        .arg("-o")
        .arg(path("out.pir"))
        .output()
        .unwrap();
    refused(&failed, "pd.nothing");
    assert_eq!(std::fs::read_to_string(path("out.pir")).unwrap(), "before");
    let left: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    assert_eq!(left.len(), 3, "{left:?}");
}

#[test]
fn a_reader_that_goes_away() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.pir");
    let lines: String = (0..50_000)
        .map(|i| format!("%v{i} = pd.full {{shape = [1], value = 1.0, dtype = f32}}\n"))
        .collect();
    std::fs::write(&path, lines).unwrap();
    let mut child = tool("pir-opt")
        .arg(&path)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 16];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn programs_that_do_not_end_or_take_everything() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(
        path("endless.pir"),
        "%t = pd.full {shape = [], value = true, dtype = i1}\npd.while () cond () { cf.cond_yield (%t) } body () { cf.yield () }\n",
    )
    .unwrap();
    let output = tool("pir-run")
        .arg(path("endless.pir"))
        .args(["--max-steps", "1000"])
        .output()
        .unwrap();
    refused(&output, "step");
    std::fs::write(
        path("growing.pir"),
        "%t = pd.full {shape = [], value = true, dtype = i1}\n%x = pd.full {shape = [1024], value = 1.0, dtype = f32}\n\
         %e = pd.while (%x) cond (%a: tensor<?xf32>) { cf.cond_yield (%t, %a) } body (%b: tensor<?xf32>) {\n\
         %c = pd.concat (%b, %b) {axis = 0} : tensor<?xf32>\ncf.yield (%c) } : tensor<?xf32>\npd.fetch (%e) {name = \"e\"}\n",
    )
    .unwrap();
    let output = tool("pir-run")
        .arg(path("growing.pir"))
        .args(["--max-memory", "64M"])
        .output()
        .unwrap();
    refused(&output, "memory");
}

/// The names of the files in a folder.
fn names(folder: &std::path::Path) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_program_is_replaced_by_what_became_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.pir");
    std::fs::write(&path, PROGRAM).unwrap();
    let output = tool("pir-opt").arg(&path).arg("-o").arg(&path).output().unwrap();
    assert!(output.status.success());
    let once = std::fs::read_to_string(&path).unwrap();
    assert!(once.contains("tensor<2xf32>"), "{once}");
    assert_eq!(names(folder.path()), ["a.pir"]);
}

#[cfg(unix)]
#[test]
fn pipes_with_names() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("a.pir"), PROGRAM).unwrap();
    let made = Command::new("mkfifo").arg(path("pipe")).status().unwrap();
    assert!(made.success());
    let reader = std::thread::spawn({
        let pipe = path("pipe");
        move || std::fs::read_to_string(pipe).unwrap()
    });
    let output = tool("pir-opt")
        .arg(path("a.pir"))
        .arg("-o")
        .arg(path("pipe"))
        .output()
        .unwrap();
    assert!(output.status.success());
    assert!(reader.join().unwrap().contains("pd.fetch"));
    assert_eq!(names(folder.path()), ["a.pir", "pipe"]);
}

/// Ends a tool while it writes, and gives what stays in the folder.
#[cfg(target_os = "linux")]
fn ended(signal: &str) -> (Option<i32>, Vec<String>) {
    use std::os::unix::process::ExitStatusExt;
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let program: String = (0..20_000)
        .map(|i| format!("%v{i} = pd.full {{shape = [1], value = 1.0, dtype = f32}}\n"))
        .collect();
    std::fs::write(path("a.pir"), program).unwrap();
    std::fs::write(path("out.pir"), "before").unwrap();
    // What started the tests, `nohup` for example, may ignore signals, and the tool then does as well.
    let mut child = Command::new("env")
        .arg("--default-signal")
        .arg(env!("CARGO_BIN_EXE_pir-opt"))
        .arg(path("a.pir"))
        .arg("-o")
        .arg(path("out.pir"))
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let half_written = || names(folder.path()).iter().any(|name| name.starts_with(".pir-"));
    while !half_written() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_micros(200));
    }
    let pid = child.id().to_string();
    assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
    let status = child.wait().unwrap();
    if status.signal().is_some() {
        assert_eq!(std::fs::read_to_string(path("out.pir")).unwrap(), "before");
    }
    (status.signal(), names(folder.path()))
}

#[cfg(target_os = "linux")]
#[test]
fn an_end_in_the_middle() {
    for (signal, number) in [("-INT", 2), ("-TERM", 15), ("-HUP", 1)] {
        // The tool may have written all before the signal reaches it.
        let by_signal = (0..20).any(|_| {
            let (by, left) = ended(signal);
            assert_eq!(left, ["a.pir", "out.pir"], "{signal}");
            by == Some(number)
        });
        assert!(by_signal, "{signal} never came in time");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn more_than_a_file_may_hold() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let lines: String = (0..3000)
        .map(|i| format!("%v{i} = pd.full {{shape = [1], value = 1.0, dtype = f32}}\n"))
        .collect();
    std::fs::write(path("a.pir"), lines).unwrap();
    let output = Command::new("sh")
        .arg("-c")
        .arg("ulimit -f 8; exec \"$0\" \"$1\" -o \"$2\"")
        .arg(env!("CARGO_BIN_EXE_pir-opt"))
        .arg(path("a.pir"))
        .arg(path("out.pir"))
        .output()
        .unwrap();
    refused(&output, "out.pir");
    assert_eq!(names(folder.path()), ["a.pir"]);
}

#[test]
fn help_that_cannot_be_written() {
    if !std::path::Path::new("/dev/full").exists() {
        return;
    }
    for option in ["--help", "--version"] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = tool("pir-opt").arg(option).stdout(full).output().unwrap();
        refused(&output, "standard output");
    }
}
