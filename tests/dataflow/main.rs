//! The dataflow executor: small graphs under many schedules, and the reports about graphs that cannot continue.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "in tests a panic is a failure")]

#[allow(dead_code, reason = "other tests need the rest")]
#[path = "../equivalence/generate.rs"]
mod generate;
mod programs;
#[path = "../common/size.rs"]
mod size;

use std::fs;
use std::path::{Path, PathBuf};

use pir_interp::dataflow::{self, Outcome, Schedule};
use pir_interp::{ExecError, Options};
use pir_ir::Module;
use pir_ir::text::{ParseOptions, parse};

fn read(text: &str) -> Module {
    let parsed = parse(&pir_dialects::context(), text.as_bytes(), &ParseOptions::default());
    assert!(parsed.diagnostics.is_empty(), "{text}\n{:#?}", parsed.diagnostics);
    parsed.module
}

fn options() -> Options {
    Options {
        max_steps: Some(100_000),
        ..Options::default()
    }
}

fn run(module: &Module, schedule: &Schedule) -> Result<Outcome, ExecError> {
    dataflow::run(module, &options(), schedule, &mut std::io::sink())
}

fn seeded(seed: u64) -> Schedule {
    Schedule {
        seed: Some(seed),
        count_memory: true,
        ..Schedule::default()
    }
}

/// Schedules of all kinds: in order, at random in turns, at random in threads; by node, and by segments.
fn schedules() -> impl Iterator<Item = Schedule> {
    let in_threads = |seed| Schedule {
        threads: true,
        ..seeded(seed)
    };
    let by_segments = |schedule| Schedule {
        count_memory: false,
        ..schedule
    };
    let by_node = Schedule {
        by_node: true,
        ..Schedule::default()
    };
    [Schedule::default(), by_node]
        .into_iter()
        .chain((0..50).map(seeded))
        .chain((0..10).map(in_threads))
        .chain((0..50).map(seeded).map(by_segments))
        .chain((0..10).map(in_threads).map(by_segments))
}

/// The graphs that are counted by hand.
fn counted() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("test-files/dataflow/counts");
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 20, "{}", files.len());
    files
}

/// The number that a CHECK line of a file expects under a key.
fn expected(text: &str, key: &str) -> u64 {
    let start = format!("// CHECK: {{{{^}}}}  \"{key}\": ");
    let line = text.lines().find_map(|line| line.strip_prefix(start.as_str())).unwrap();
    line.trim_end_matches(',').parse().unwrap()
}

#[test]
fn counts_by_hand_hold_under_every_schedule() {
    for path in counted() {
        let text = fs::read_to_string(&path).unwrap();
        let module = read(&text);
        let (live, dead) = (expected(&text, "live"), expected(&text, "dead"));
        let first = run(&module, &Schedule::default()).unwrap();
        for schedule in schedules() {
            let name = path.display();
            let outcome = run(&module, &schedule).unwrap_or_else(|e| panic!("{name}: {schedule:?}: {e:#?}"));
            let same = first.fetched.iter().zip(&outcome.fetched);
            assert_eq!(first.fetched.len(), outcome.fetched.len());
            for ((name, a), (other, b)) in same {
                assert!(name == other && a.same_bits(b), "{name}: {a} {b}");
            }
            let devices = &outcome.stats.devices;
            assert_eq!(
                devices.iter().map(|d| d.live).sum::<u64>(),
                live,
                "{name}: {schedule:?}"
            );
            assert_eq!(
                devices.iter().map(|d| d.dead).sum::<u64>(),
                dead,
                "{name}: {schedule:?}"
            );
            assert_eq!(outcome.stats.unreceived, 0, "{name}");
        }
    }
}

#[test]
fn a_seed_gives_one_schedule() {
    let order = |seed| {
        let module = read(&fs::read_to_string(&counted()[0]).unwrap());
        let schedule = Schedule {
            trace: true,
            ..seeded(seed)
        };
        let events = run(&module, &schedule).unwrap().events;
        let nodes = events.into_iter().flat_map(|(_, events)| events);
        nodes
            .map(|event| format!("{} {}", event.node, event.iteration))
            .collect::<Vec<_>>()
    };
    assert_eq!(order(1), order(1));
    assert!((2..10).any(|seed| order(seed) != order(1)));
}

/// Why a graph does not run to its end, under several schedules: the report does not depend on them.
#[track_caller]
fn waits(text: &str) -> ExecError {
    let module = read(text);
    let first = run(&module, &Schedule::default()).expect_err("it cannot end");
    for schedule in schedules() {
        assert_eq!(run(&module, &schedule).expect_err("it cannot end"), first);
    }
    first
}

const NOT_DONE: &str = "no node can run, but the run is not complete";

#[test]
fn a_message_that_nobody_sends_is_told() {
    let error = waits(
        r#"
df.graph {device = 0} {
  %x = df.recv () {key = "x", from = 1, to = 0} : tensor<i64>
  pd.fetch (%x) {name = "x"}
}
df.graph {device = 1} {
  %y = pd.full {shape = [], value = 3, dtype = i64} : tensor<i64>
  %sent = df.send (%y) {key = "y", from = 1, to = 0} : df.control
}"#,
    );
    assert_eq!(error.message, NOT_DONE);
    assert_eq!(
        error.notes,
        [r#"device 0: `%x` (`df.recv`) waits for a message with the key "x"; no `df.send` has this key"#]
    );
}

#[test]
fn devices_that_wait_for_each_other_are_told() {
    let error = waits(
        r#"
df.graph {device = 0} {
  %x = df.recv () {key = "x", from = 1, to = 0} : tensor<i64>
  %sent = df.send (%x) {key = "y", from = 0, to = 1} : df.control
}
df.graph {device = 1} {
  %y = df.recv () {key = "y", from = 0, to = 1} : tensor<i64>
  %sent = df.send (%y) {key = "x", from = 1, to = 0} : df.control
}"#,
    );
    assert_eq!(error.message, NOT_DONE);
    assert_eq!(
        error.notes,
        [
            r#"device 0: `%x` (`df.recv`) waits for a message with the key "x""#,
            r#"device 1: `%y` (`df.recv`) waits for a message with the key "y""#,
        ]
    );
}

#[test]
fn nodes_that_need_each_other_are_told() {
    let error = waits(
        r#"
df.graph {
  %x = pd.full {shape = [], value = 3, dtype = i64} : tensor<i64>
  %a = pd.add (%x, %b) : tensor<i64>
  %b = df.identity (%a) : tensor<i64>
  %c = df.identity (%d) : tensor<i64>
  %d = df.identity (%c) : tensor<i64>
}"#,
    );
    assert_eq!(error.message, NOT_DONE);
    assert_eq!(
        error.notes,
        [
            "`%a` (`pd.add`) has 1 of 2 inputs",
            "`%c` (`df.identity`) and 1 more can never run: its operands depend on it",
        ]
    );
}

#[test]
fn a_frame_that_is_not_entered_by_all_is_told() {
    let error = waits(
        r#"
df.graph {device = 0} {
  %x = pd.full {shape = [], value = 3, dtype = i64} : tensor<i64>
  %y = df.recv () {key = "y", from = 1, to = 0} : tensor<i64>
  %a = df.enter (%x) {frame = "w"} : tensor<i64>
  %b = df.enter (%y) {frame = "w", constant = true} : tensor<i64>
  %sum = pd.add (%a, %b) : tensor<i64>
  %out = df.exit (%sum) : tensor<i64>
}
df.graph {device = 1} {
  %x = pd.full {shape = [], value = 3, dtype = i64} : tensor<i64>
}"#,
    );
    assert_eq!(
        error.notes,
        [
            r#"device 0: `%y` (`df.recv`) waits for a message with the key "y"; no `df.send` has this key"#,
            "device 0: `%sum` (`pd.add`) has 1 of 2 inputs, in iteration 0 of the frame `w`",
            "device 0: the frame `w` waits for 1 of 2 `df.enter`",
        ]
    );
}

#[test]
fn a_recv_in_a_loop_is_told_with_its_iteration() {
    // Only the first iteration is served.
    let error = waits(
        r#"
df.graph {device = 0} {
  %zero = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
  %e = df.enter (%zero) {frame = "w"} : tensor<i64>
  %m, %index = df.merge (%e, %next) : tensor<i64>, tensor<i32>
  %limit = pd.full {shape = [], value = 3, dtype = i64} : tensor<i64>
  df.control (%limit, %m)
  %p = pd.less_than (%m, %limit) : tensor<i1>
  %f, %t = df.switch (%m, %p) : tensor<i64>, tensor<i64>
  %x = df.exit (%f) : tensor<i64>
  %back = df.recv () {key = "sum", from = 1, to = 0} : tensor<i64>
  df.control (%back, %m)
  %next = df.next_iteration (%back) : tensor<i64>
}
df.graph {device = 1} {
  %one = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
  %e = df.enter (%one) {frame = "w"} : tensor<i64>
  %sent = df.send (%e) {key = "sum", from = 1, to = 0} : df.control
}"#,
    );
    assert_eq!(
        error.notes,
        [
            r#"device 0: `%back` (`df.recv`) waits for a message with the key "sum", in iteration 1 of the frame `w`"#,
            "device 0: the frame `w` is in iteration 1, which has not ended",
        ]
    );
}

#[test]
fn values_that_are_left_behind_are_told() {
    // What is constant in the frame and what only its first iteration has.
    let error = waits(
        r#"
df.graph {
  %zero = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
  %e = df.enter (%zero) {frame = "w"} : tensor<i64>
  %m, %index = df.merge (%e, %next) : tensor<i64>, tensor<i32>
  %limit = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
  %el = df.enter (%limit) {frame = "w", constant = true} : tensor<i64>
  %p = pd.less_than (%m, %el) : tensor<i1>
  %f, %t = df.switch (%m, %p) : tensor<i64>, tensor<i64>
  %x = df.exit (%f) : tensor<i64>
  %sum = pd.add (%t, %el) : tensor<i64>
  %odd = pd.add (%e, %el) : tensor<i64>
  %next = df.next_iteration (%sum) : tensor<i64>
  pd.fetch (%x) {name = "x"}
}"#,
    );
    assert_eq!(
        error.notes,
        ["`%odd` (`pd.add`) had 1 of 2 inputs when iteration 1 of the frame `w` ended"]
    );
}

const ENDLESS: &str = r#"
df.graph {
  %zero = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
  %e = df.enter (%zero) {frame = "w"} : tensor<i64>
  %m, %index = df.merge (%e, %next) : tensor<i64>, tensor<i32>
  %next = df.next_iteration (%m) : tensor<i64>
}"#;

#[test]
fn a_loop_without_end_runs_out_of_its_budget() {
    for schedule in schedules() {
        let options = Options {
            max_steps: Some(1000),
            ..Options::default()
        };
        let result = dataflow::run(&read(ENDLESS), &options, &schedule, &mut std::io::sink());
        assert_eq!(
            result.expect_err("it has no end").message,
            "the run did not end within 1000 steps"
        );
    }
}

#[test]
fn the_budget_is_that_of_all_devices() {
    let graph = |device: u32| ENDLESS.replace("df.graph", &format!("df.graph {{device = {device}}}"));
    for schedule in [Schedule::default(), seeded(3)] {
        let error = run(&read(&(graph(0) + &graph(1))), &schedule).expect_err("it has no end");
        assert_eq!(error.message, "the run did not end within 100000 steps");
    }
}

#[test]
fn memory_is_limited() {
    let text = r#"
df.graph {
  %zero = pd.full {shape = [1000], value = 0, dtype = f64} : tensor<1000xf64>
  %stack = df.stack () : df.stack
  %e = df.enter (%zero) {frame = "w"} : tensor<1000xf64>
  %s = df.enter (%stack) {frame = "w", constant = true} : df.stack
  %m, %index = df.merge (%e, %next) : tensor<1000xf64>, tensor<i32>
  %pushed = df.stack_push (%s, %m) {swap = true} : tensor<1000xf64>
  %more = pd.add (%pushed, %pushed) : tensor<1000xf64>
  %next = df.next_iteration (%more) : tensor<1000xf64>
}"#;
    let options = Options {
        max_memory: Some(100_000),
        ..options()
    };
    let error = dataflow::run(&read(text), &options, &Schedule::default(), &mut std::io::sink());
    let error = error.expect_err("it needs more and more");
    assert!(
        error.message.contains("more than the limit of 100000 bytes"),
        "{error:?}"
    );
    assert!(error.help.is_some_and(|help| help.contains("in host memory")));
}

#[test]
fn peaks_are_told_for_each_memory_space() {
    let text = |swap: bool| {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("test-files/dataflow/counts/stack.pir");
        let text = fs::read_to_string(file).unwrap();
        text.replace("(%es, %tx)", &format!("(%es, %tx) {{swap = {swap}}}"))
    };
    for seed in 0..20 {
        let stats = |swap| run(&read(&text(swap)), &seeded(seed)).unwrap().stats;
        let (plain, swapped) = (stats(false), stats(true));
        // Three integers of 8 bytes are on the stack between the loops.
        assert_eq!((plain.peak_host_bytes, swapped.peak_host_bytes), (0, 24));
        assert_eq!(plain.devices[0].peak_stack_bytes, 24);
        assert!(swapped.devices[0].peak_bytes < plain.devices[0].peak_bytes);
    }
}

#[test]
fn iterations_overlap_unless_the_loop_forbids() {
    // Waiting for the sum keeps no iteration from counting ahead.
    let text = |parallel: u32| {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("test-files/dataflow/counts/two_devices_while.pir");
        let text = fs::read_to_string(file).unwrap();
        text.replace(
            r#"frame = "w""#,
            &format!(r#"frame = "w", parallel_iterations = {parallel}"#),
        )
    };
    for seed in 0..20 {
        let one = run(&read(&text(1)), &seeded(seed)).unwrap();
        assert!(one.stats.devices.iter().all(|d| d.frames[0].most_at_once == 1));
    }
    let overlap = (0..20).any(|seed| {
        let many = run(&read(&text(10)), &seeded(seed)).unwrap();
        many.stats.devices.iter().any(|d| d.frames[0].most_at_once > 1)
    });
    assert!(overlap);
}

/// A device that only receives the condition need not wait for one that computes.
const AHEAD: &str = r#"
df.graph {device = 0} {
  %zero = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
  %e = df.enter (%zero) {frame = "w"} : tensor<i64>
  %m, %index = df.merge (%e, %next) : tensor<i64>, tensor<i32>
  %limit = pd.full {shape = [], value = 6, dtype = i64} : tensor<i64>
  df.control (%limit, %m)
  %p = pd.less_than (%m, %limit) : tensor<i1>
  %more = df.loop_cond (%p) : tensor<i1>
  %sent_p = df.send (%more) {key = "p", from = 0, to = 1} : df.control
  %f, %t = df.switch (%m, %more) : tensor<i64>, tensor<i64>
  %x = df.exit (%f) : tensor<i64>
  %sent = df.send (%t) {key = "i", from = 0, to = 1} : df.control
  %pivot = df.identity (%t) : tensor<i64>
  %one = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
  df.control (%one, %pivot)
  %counted = pd.add (%t, %one) : tensor<i64>
  %next = df.next_iteration (%counted) : tensor<i64>
}
df.graph {device = 1} {
  %zero = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
  %e = df.enter (%zero) {frame = "w"} : tensor<i64>
  %m, %index = df.merge (%e, %next) : tensor<i64>, tensor<i32>
  %p = df.recv () {key = "p", from = 0, to = 1} : tensor<i1>
  df.control (%p, %m)
  %more = df.loop_cond (%p) : tensor<i1>
  %f, %t = df.switch (%m, %more) : tensor<i64>, tensor<i64>
  %x = df.exit (%f) : tensor<i64>
  %i = df.recv () {key = "i", from = 0, to = 1} : tensor<i64>
  df.control (%i, %m)
  %i1 = df.identity (%i) : tensor<i64>
  %i2 = df.identity (%i1) : tensor<i64>
  %i3 = df.identity (%i2) : tensor<i64>
  %i4 = df.identity (%i3) : tensor<i64>
  %i5 = df.identity (%i4) : tensor<i64>
  %i6 = df.identity (%i5) : tensor<i64>
  %i7 = df.identity (%i6) : tensor<i64>
  %i8 = df.identity (%i7) : tensor<i64>
  %sum = pd.add (%i8, %t) : tensor<i64>
  %next = df.next_iteration (%sum) : tensor<i64>
  pd.fetch (%x) {name = "sum"}
}"#;

#[test]
fn a_trace_shows_iterations_overlap_across_devices() {
    let ahead = (0..20).filter(|&seed| {
        let schedule = Schedule {
            trace: true,
            ..seeded(seed)
        };
        let outcome = run(&read(AHEAD), &schedule).unwrap();
        assert_eq!(outcome.fetched[0].1.to_i64(), [15]);
        // When an iteration of the loop begins on a device: its merge runs.
        let begins = |device: usize, iteration: u64| {
            let events = outcome.events[device].1.iter();
            let mut merges = events.filter(|e| e.node.contains("df.merge") && e.iteration == iteration);
            merges.next().map(|event| event.begin).unwrap()
        };
        // Device 0 begins one of the next iterations before device 1 reaches this one.
        begins(0, 3) < begins(1, 2)
    });
    assert!(ahead.count() > 0);
}

#[test]
fn what_was_printed_before_an_error_is_told() {
    let text = r#"
df.graph {
  %x = pd.full {shape = [], value = 3, dtype = i64} : tensor<i64>
  %zero = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
  %y = pd.print (%x) {message = "before"} : tensor<i64>
  %z = pd.divide (%y, %zero) : tensor<i64>
  pd.fetch (%z) {name = "z"}
}"#;
    for schedule in schedules() {
        let mut printed = Vec::new();
        let error = dataflow::run(&read(text), &options(), &schedule, &mut printed).expect_err("it divides by zero");
        assert_eq!(error.message, "an integer is divided by zero");
        assert_eq!(error.op.as_deref(), Some("pd.divide"));
        assert_eq!(
            String::from_utf8(printed).unwrap(),
            "before tensor<i64> 3\n",
            "{schedule:?}"
        );
    }
}

/// A frame that dead values enter, and in which a message is live.
#[test]
fn a_dead_constant_makes_what_uses_a_message_dead() {
    let text = r#"
df.graph {device = 0} {
  %x = pd.full {shape = [], value = 3, dtype = i64} : tensor<i64>
  %p = pd.less_than (%x, %x) : tensor<i1>
  %f, %t = df.switch (%x, %p) : tensor<i64>, tensor<i64>
  %e = df.enter (%t) {frame = "w"} : tensor<i64>
  %n = df.enter (%t) {frame = "w", constant = true} : tensor<i64>
  %m, %index = df.merge (%e, %next) : tensor<i64>, tensor<i32>
  %r = df.recv {key = "a", from = 1, to = 0} : tensor<i64>
  df.control (%r, %m)
  %live = pd.add (%r, %r) : tensor<i64>
  %s = pd.add (%live, %n) : tensor<i64>
  %u = pd.multiply (%s, %n) : tensor<i64>
  %next = df.next_iteration (%u) : tensor<i64>
  %a = df.exit (%live) : tensor<i64>
  %b = df.exit (%u) : tensor<i64>
  pd.fetch (%a) {name = "live"}
  pd.fetch (%b) {name = "dead"}
}
df.graph {device = 1} {
  %y = pd.full {shape = [], value = 4, dtype = i64} : tensor<i64>
  %e = df.enter (%y) {frame = "w"} : tensor<i64>
  %z = df.identity (%e) : tensor<i64>
  %sent = df.send (%z) {key = "a", from = 1, to = 0} : df.control
}"#;
    for schedule in schedules() {
        let outcome = run(&read(text), &schedule).unwrap();
        assert_eq!(outcome.fetched.len(), 1, "{schedule:?}");
        assert_eq!(outcome.fetched[0].1.to_i64(), [8]);
        assert_eq!(outcome.dead, ["dead"], "{schedule:?}");
    }
}

/// Values of a segment that waits have arrived at others, also where nobody counts them.
#[test]
fn what_segments_wait_for_is_told_for_each_node() {
    let error = waits(
        r#"
df.graph {device = 0} {
  %x = pd.full {shape = [], value = 3, dtype = i64} : tensor<i64>
  %two = pd.full {shape = [], value = 2, dtype = i64} : tensor<i64>
  %n = df.enter (%two) {frame = "w", constant = true} : tensor<i64>
  %e = df.enter (%x) {frame = "w"} : tensor<i64>
  %m, %index = df.merge (%e, %next) : tensor<i64>, tensor<i32>
  %a = df.recv () {key = "a", from = 1, to = 0} : tensor<i64>
  df.control (%a, %m)
  %b = pd.add (%m, %a) : tensor<i64>
  %c = pd.add (%b, %n) : tensor<i64>
  %d = pd.add (%c, %m) : tensor<i64>
  %next = df.next_iteration (%d) : tensor<i64>
}
df.graph {device = 1} {
}"#,
    );
    assert_eq!(error.message, NOT_DONE);
    assert_eq!(
        error.notes[1..],
        [
            "device 0: `%b` (`pd.add`) has 1 of 2 inputs, in iteration 0 of the frame `w`",
            "device 0: `%c` (`pd.add`) has 1 of 2 inputs, in iteration 0 of the frame `w`",
            "device 0: `%d` (`pd.add`) has 1 of 2 inputs, in iteration 0 of the frame `w`",
        ]
    );
}

/// What is wrong with a graph before it runs, or while it does.
#[track_caller]
fn fails(text: &str) -> String {
    run(&read(text), &Schedule::default()).expect_err("it is wrong").message
}

#[test]
fn wrong_graphs_are_refused() {
    let one = "%x = pd.full {shape = [], value = 3, dtype = i64} : tensor<i64>\n";
    let graph = |rest: &str| format!("df.graph {{\n{one}{rest}\n}}");
    assert_eq!(
        fails(&graph(
            "%e = df.enter (%x) {frame = \"w\"} : tensor<i64>\n%y = pd.add (%x, %e) : tensor<i64>"
        )),
        "its operand from `%e` (`df.enter`) is in the frame `w`, but the others are in no frame"
    );
    assert_eq!(fails(&graph("%e = df.exit (%x) : tensor<i64>")), "it is in no frame");
    assert_eq!(
        fails(&graph(
            "%e = df.enter (%x) {frame = \"w\", parallel_iterations = 0} : tensor<i64>"
        )),
        "`parallel_iterations` must be at least 1"
    );
    assert_eq!(
        fails(&graph(
            "%e = df.enter (%x) {frame = \"w\"} : tensor<i64>\npd.fetch (%e) {name = \"e\"}"
        )),
        "nothing can be fetched inside a frame"
    );
    assert_eq!(
        fails(&graph(
            "%s = df.stack () : df.stack\n%y = df.stack_pop (%s) : tensor<i64>"
        )),
        "the stack is empty"
    );
    let send = "%a = df.send (%x) {key = \"k\", from = 0, to = 0} : df.control\n";
    assert_eq!(
        fails(&graph(&format!("{send}{}", send.replace("%a", "%b")))),
        "it sends a second message with the same key"
    );
    assert_eq!(
        fails(&format!("{}{}", graph(""), graph(""))),
        "there are two graphs for device 0"
    );
    assert_eq!(
        fails(&format!("{one}{}", graph(""))),
        "it is outside of the `df.graph`, so it does not run"
    );
    assert_eq!(fails(one), "there is no `df.graph` to run");
}

#[test]
fn structured_runs_tell_of_graphs() {
    let module = read("df.graph {\n}");
    let error = pir_interp::run(&module, &options(), &mut std::io::sink()).expect_err("it is no structured program");
    assert_eq!(error.help.unwrap(), "`pir-run --dataflow` runs it");
}

#[test]
fn what_is_dead_is_not_fetched() {
    let text = r#"
df.graph {
  %x = pd.full {shape = [], value = 3, dtype = i64} : tensor<i64>
  %p = pd.less_than (%x, %x) : tensor<i1>
  %f, %t = df.switch (%x, %p) : tensor<i64>, tensor<i64>
  pd.fetch (%f) {name = "f"}
  pd.fetch (%t) {name = "t"}
}"#;
    let outcome = run(&read(text), &Schedule::default()).unwrap();
    assert_eq!(
        outcome.fetched.iter().map(|(name, _)| &**name).collect::<Vec<_>>(),
        ["f"]
    );
    assert_eq!(outcome.dead, ["t"]);
}

/// Loops in loops, so deep that nothing may recurse on it.
#[test]
fn frames_nest_deeply() {
    let depth = 3000;
    let mut text = String::from("df.graph {\n%v0 = pd.full {shape = [], value = 3, dtype = i64} : tensor<i64>\n");
    for at in 0..depth {
        text += &format!("%v{} = df.enter (%v{at}) {{frame = \"w\"}} : tensor<i64>\n", at + 1);
    }
    for at in depth..2 * depth {
        text += &format!("%v{} = df.exit (%v{at}) : tensor<i64>\n", at + 1);
    }
    text += &format!("pd.fetch (%v{}) {{name = \"x\"}}\n}}", 2 * depth);
    for schedule in [Schedule::default(), seeded(1)] {
        let outcome = run(&read(&text), &schedule).unwrap();
        assert_eq!(outcome.fetched[0].1.to_i64(), [3]);
        assert_eq!(outcome.stats.devices[0].live, 2 * depth + 2);
    }
}
