//! The tools where the system does not do its part.

use std::io::Read;
use std::process::{Command, Output, Stdio};

fn tool(name: &str) -> Command {
    let path = match name {
        "pir-opt" => env!("CARGO_BIN_EXE_pir-opt"),
        _ => env!("CARGO_BIN_EXE_pir-run"),
    };
    let mut command = Command::new(path);
    command.stdin(Stdio::null());
    command
}

#[track_caller]
fn refused(output: &Output, words: &str) {
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
    // What stood there before stays when something goes wrong, and nothing is left beside it.
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
