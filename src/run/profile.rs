//! `--profile`: where the time of a run went, as a table, as JSON, as folded stacks and as a flame graph.

use std::fmt::Write;
use std::path::Path;

use pir_interp::exec::{Profile, Row};
use pir_ir::Diagnostic;
use serde_json::{Value, json};

use crate::cli;
use crate::output::write_output;
use crate::source::Source;

/// The number of operations in a table.
const LISTED: usize = 40;

/// Writes the profile: to a file in the format that its name ends in, or as a table to standard error.
///
/// # Errors
/// If the file cannot be written.
pub(super) fn report(profile: &Profile, file: Option<&str>, source: &Source) -> Result<(), Diagnostic> {
    let Some(file) = file else {
        cli::say(&table(profile, source)?);
        return Ok(());
    };
    let text = match format(file) {
        "json" => to_json(profile, source),
        "folded" => folded(profile, source),
        "svg" => flame_graph(profile, source),
        _ => table(profile, source)?,
    };
    write_output(Some(file), |out| out.write_all(text.as_bytes()))
}

/// Refuses the name of a file before the program is run.
pub(super) fn check(file: &str) -> Result<String, String> {
    match format(file) {
        "json" | "folded" | "svg" | "txt" => Ok(file.to_owned()),
        _ => Err("the file extension must be .txt, .json, .folded or .svg".to_owned()),
    }
}

fn format(file: &str) -> &str {
    let end = Path::new(file).extension();
    end.and_then(|end| end.to_str()).unwrap_or_default()
}

/// The operation, its result, and its line.
fn label(row: &Row, source: &Source) -> String {
    let mut text = row.op.clone();
    if let Some(name) = &row.name {
        let _ = write!(text, " %{name}");
    }
    if let Some(line) = line(row, source) {
        let _ = write!(text, " :{line}");
    }
    text
}

fn line(row: &Row, source: &Source) -> Option<usize> {
    Some(source.position(row.span?.start as usize).line)
}

fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

fn table(profile: &Profile, source: &Source) -> Result<String, Diagnostic> {
    let total = profile.total.as_secs_f64();
    let kernels: f64 = profile.rows.iter().map(|row| row.time.as_secs_f64()).sum();
    let mut text = format!(
        "profile: {total:.4} s, of which {kernels:.4} s in operations and {:.4} s in control flow, stacks and buffers\n",
        (total - kernels).max(0.0)
    );
    let loops: Vec<&Row> = profile.rows.iter().filter(|row| row.iterations.is_some()).collect();
    if !loops.is_empty() {
        text.push_str("     seconds   percent  iterations  loop, with its body\n");
    }
    for row in loops {
        let time = row.inside.as_secs_f64();
        let _ = writeln!(
            text,
            "{time:12.4} {:9.1} {:11}  {}",
            100.0 * ratio(time, total),
            row.iterations.unwrap_or_default(),
            label(row, source)
        );
    }
    let mut rows: Vec<&Row> = profile.rows.iter().filter(|row| row.calls > 0).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.time));
    let peak = match rows.iter().any(|row| row.flops > 0) {
        true => Some(pir_interp::kernels::peak_flops().map_err(|why| Diagnostic::error("execution", why))?),
        false => None,
    };
    text.push_str("     seconds   percent       calls          MB      GB/s   GFLOP/s   of peak  operation\n");
    for row in rows.iter().take(LISTED) {
        let (time, bytes, flops) = (row.time.as_secs_f64(), row.bytes as f64, row.flops as f64);
        let _ = write!(
            text,
            "{time:12.4} {:9.1} {:11} {:11.1} {:9.2}",
            100.0 * ratio(time, total),
            row.calls,
            bytes / 1e6,
            ratio(bytes / 1e9, time)
        );
        match peak {
            Some(peak) if row.flops > 0 => {
                let rate = ratio(flops, time);
                let share = 100.0 * ratio(rate, peak[usize::from(row.is_double)]);
                let _ = write!(text, " {:9.2} {share:8.1}%", rate / 1e9);
            }
            _ => text.push_str("                    "),
        }
        let _ = writeln!(text, "  {}", label(row, source));
    }
    if let Some(rest) = rows.get(LISTED..).filter(|rest| !rest.is_empty()) {
        let time: f64 = rest.iter().map(|row| row.time.as_secs_f64()).sum();
        let percent = 100.0 * ratio(time, total);
        let _ = writeln!(text, "{time:12.4} {percent:9.1}  {} other operations", rest.len());
    }
    if let Some([single, double]) = peak {
        let _ = writeln!(
            text,
            "peak: the rate of a large matrix product on this machine, {:.1} GFLOP/s in f32 and {:.1} in f64",
            single / 1e9,
            double / 1e9
        );
    }
    Ok(text)
}

fn to_json(profile: &Profile, source: &Source) -> String {
    let row = |row: &Row| -> Value {
        json!({
            "op": row.op,
            "name": row.name,
            "line": line(row, source),
            "parent": row.parent,
            "iterations": row.iterations,
            "calls": row.calls,
            "seconds": row.time.as_secs_f64(),
            "seconds_inside": row.inside.as_secs_f64(),
            "bytes": row.bytes,
            "flops": row.flops,
        })
    };
    let rows: Vec<Value> = profile.rows.iter().map(row).collect();
    format!(
        "{:#}\n",
        json!({ "seconds": profile.total.as_secs_f64(), "rows": rows })
    )
}

/// A line for each operation: the operations that it is in, and its nanoseconds. Flame graph tools read that.
fn folded(profile: &Profile, source: &Source) -> String {
    let mut text = String::new();
    let mut paths: Vec<String> = Vec::with_capacity(profile.rows.len());
    for row in &profile.rows {
        let own = label(row, source).replace(';', ",");
        let path = match row.parent {
            Some(parent) => format!("{};{own}", paths[parent]),
            None => own,
        };
        if row.calls > 0 {
            let _ = writeln!(text, "{path} {}", row.time.as_nanos());
        }
        paths.push(path);
    }
    text
}

/// The width of the drawing, and the height of a row, in pixels.
const WIDTH: f64 = 1200.0;
const HEIGHT: f64 = 18.0;

/// Boxes as wide as the time inside, on the box of the operation that they are in.
fn flame_graph(profile: &Profile, source: &Source) -> String {
    let total = profile.total.as_secs_f64();
    let mut depths: Vec<usize> = Vec::new();
    // Where the next box inside each row begins, in seconds.
    let mut next: Vec<f64> = Vec::new();
    let mut at_bottom = 0.0;
    let mut boxes = String::new();
    for row in &profile.rows {
        let time = row.inside.as_secs_f64();
        let depth = row.parent.map_or(1, |parent| depths[parent] + 1);
        let from = match row.parent {
            Some(parent) => &mut next[parent],
            None => &mut at_bottom,
        };
        let start = *from;
        *from += time;
        depths.push(depth);
        next.push(start);
        let hue = 20 + row.op.bytes().fold(0, |sum, byte| (sum * 31 + u32::from(byte)) % 40);
        let label = label(row, source);
        draw(&mut boxes, &label, [start, time, total], depth, hue);
    }
    let height = HEIGHT * (depths.iter().max().map_or(0, |&most| most) + 1) as f64;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 {} {WIDTH} {height}\" \
         font-family=\"monospace\" font-size=\"11\">\n",
        HEIGHT - height
    );
    draw(&mut text, "the run", [0.0, total, total], 0, 0);
    text.push_str(&boxes);
    text.push_str("</svg>\n");
    text
}

/// A box with a label, if it is wide enough to be seen.
fn draw(text: &mut String, label: &str, [start, time, total]: [f64; 3], depth: usize, hue: u32) {
    let (x, width) = (WIDTH * ratio(start, total), WIDTH * ratio(time, total));
    if width < 0.2 {
        return;
    }
    let escaped = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;");
    let y = -HEIGHT * depth as f64;
    // A letter is about 6.6 pixels wide.
    let shown: String = label.chars().take((width / 6.6 - 1.0).max(0.0) as usize).collect();
    let (label, shown) = (escaped(label), escaped(&shown));
    let _ = writeln!(
        text,
        "<g><title>{label}: {time:.6} s, {:.1} %</title><rect x=\"{x:.2}\" y=\"{y}\" width=\"{width:.2}\" \
         height=\"{HEIGHT}\" fill=\"hsl({hue}, 75%, 70%)\" stroke=\"white\"/><text x=\"{:.2}\" y=\"{}\">{shown}</text></g>",
        100.0 * ratio(time, total),
        x + 3.0,
        y + 13.0
    );
}
