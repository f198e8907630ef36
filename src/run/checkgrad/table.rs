//! The comparison as a table.

use std::fmt::Write;

use super::{Row, Verdict};

impl Row {
    fn place(&self, index: usize) -> String {
        let mut rest = index;
        let mut place: Vec<String> = Vec::with_capacity(self.shape.len());
        for &extent in self.shape.iter().rev() {
            place.push((rest % extent.max(1)).to_string());
            rest /= extent.max(1);
        }
        place.reverse();
        format!("[{}]", place.join(", "))
    }

    fn worst_text(&self) -> String {
        let Some(worst) = &self.worst else {
            return self.note.clone().unwrap_or_else(|| "-".to_owned());
        };
        let mut text = match worst.index {
            Some(index) => self.place(index),
            None => "along a direction".to_owned(),
        };
        // Writing to a string does not fail.
        let _ = write!(text, ": {:?}, ", worst.gradient);
        let _ = match worst.estimate {
            Some(estimate) => write!(text, "differences give {:?} ± {:.0e}", estimate.value, estimate.error),
            None => write!(text, "differences give no estimate"),
        };
        for reason in worst.reason.iter().chain(&self.note) {
            let _ = write!(text, "; {reason}");
        }
        text
    }
}

impl Verdict {
    /// The verdict in the table.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Ok => "ok",
            Verdict::Inconclusive => "inconclusive",
            Verdict::Wrong => "WRONG",
        }
    }
}

/// The comparison as a table.
pub fn table(rows: &[Row]) -> String {
    let mut cells = vec![
        [
            "input",
            "elements",
            "max abs error",
            "max rel error",
            "",
            "worst element",
        ]
        .map(str::to_owned),
    ];
    for row in rows {
        cells.push([
            row.name.clone(),
            row.elements.to_string(),
            format!("{:.2e}", row.absolute),
            format!("{:.2e}", row.relative),
            row.verdict.name().to_owned(),
            row.worst_text(),
        ]);
    }
    let width = |column: usize| cells.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..6).map(width).collect();
    let mut out = String::new();
    for row in &cells {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let _ = match column {
                1..=3 => write!(line, "{cell:>width$}  ", width = widths[column]),
                _ => write!(line, "{cell:<width$}  ", width = widths[column]),
            };
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    for row in rows.iter().filter(|row| row.directions.is_some()) {
        let (name, elements) = (&row.name, row.elements);
        let (directions, single) = row.directions.unwrap_or_default();
        let _ = writeln!(
            out,
            "`{name}` was compared along {directions} random directions and in {single} of its {elements} elements; \
             `--check-grad=full` compares all"
        );
    }
    out
}
