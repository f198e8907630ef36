//! Diagnostics as data. How they look on a terminal is the business of the tools.

/// A stretch of the source text, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// The byte after the last.
    pub end: u32,
}

impl Span {
    /// A span from `start` to `end`.
    pub fn new(start: usize, end: usize) -> Self {
        Span {
            start: start as u32,
            end: end as u32,
        }
    }
}

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// The tool stops after collecting all errors of the stage.
    Error,
    /// Suspicious, but the tool goes on.
    Warning,
    /// Information.
    Note,
}

/// A place in the source and a text about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// The label text; may be empty.
    pub text: String,
    /// The part of the operation at `span` that is meant, until [`locate`](crate::text::locate) has found it.
    pub part: Option<Part>,
}

/// A part of an operation that is found in the source only when an error is about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Part {
    /// The operand at an index.
    Operand(usize),
    /// The type of the result at an index.
    ResultType(usize),
    /// The name of an attribute.
    AttributeName(String),
    /// The value of an attribute.
    AttributeValue(String),
    /// The symbol after the name.
    Symbol,
    /// For an edit: an operand with the comma that separates it from its neighbour.
    OperandAndComma(usize),
    /// For an edit: the place for an attribute that is to be added. The edit is `name = value`.
    NewAttribute,
    /// For an edit: the place for a terminator before the brace at which a region ends without one.
    BlockEnd,
}

/// A replacement of a stretch of the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edit {
    /// The range to replace; may be empty.
    pub span: Span,
    /// The part of the operation at `span` that is meant, until [`locate`](crate::text::locate) has found it.
    pub part: Option<Part>,
    /// The new text.
    pub text: String,
}

/// A message about the input.
///
/// The first label is the place of the error.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// A stable, kebab-case name of the kind of error: `syntax`, `unknown-op`, `type-mismatch`, …
    pub code: &'static str,
    /// The problem, without a full stop.
    pub message: String,
    /// Where; the first is the primary one.
    pub labels: Vec<Label>,
    /// A suggestion.
    pub help: Option<String>,
    /// More of the story, each a line.
    pub notes: Vec<String>,
    /// Edits of the source that implement the help, when all are applied.
    pub edits: Vec<Edit>,
}

impl Diagnostic {
    /// An error.
    pub fn error(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            code,
            message: message.into(),
            labels: Vec::new(),
            help: None,
            notes: Vec::new(),
            edits: Vec::new(),
        }
    }

    /// A warning.
    pub fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Warning,
            ..Self::error(code, message)
        }
    }

    /// Adds a label; the first one added is the place of the error.
    #[must_use]
    pub fn label(self, span: Span, text: impl Into<String>) -> Self {
        self.label_at(span, None, text)
    }

    /// Adds a label for a part of the operation at `span`.
    #[must_use]
    pub fn label_part(self, span: Span, part: Part, text: impl Into<String>) -> Self {
        self.label_at(span, Some(part), text)
    }

    fn label_at(mut self, span: Span, part: Option<Part>, text: impl Into<String>) -> Self {
        self.labels.push(Label {
            span,
            text: text.into(),
            part,
        });
        self
    }

    /// Adds an edit that the help describes.
    #[must_use]
    pub fn edit(mut self, span: Span, text: impl Into<String>) -> Self {
        self.edits.push(Edit {
            span,
            part: None,
            text: text.into(),
        });
        self
    }

    /// Adds an edit of a part of the operation at `span`.
    #[must_use]
    pub fn edit_part(mut self, span: Span, part: Part, text: impl Into<String>) -> Self {
        self.edits.push(Edit {
            span,
            part: Some(part),
            text: text.into(),
        });
        self
    }

    /// Suggests the word that was probably meant in place of the one at the first label, which begins with `prefix`.
    #[must_use]
    pub fn suggest(self, prefix: &str, near: &str) -> Self {
        let word = format!("{prefix}{near}");
        let help = format!("did you mean `{word}`?");
        match self.labels.first().cloned() {
            Some(Label { span, part, .. }) => {
                let mut with = self.edit(span, word).help(help);
                if let Some(edit) = with.edits.last_mut() {
                    edit.part = part;
                }
                with
            }
            None => self.help(help),
        }
    }

    /// Says what to do about it.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// Adds a line of explanation.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }
}

/// The nearest of `candidates` to `word` if it is near enough to be meant (Damerau–Levenshtein distance of at most a
/// third of the length); of equally near ones one of the same length, since letters are swapped more often than omitted,
/// then the first.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = word.chars().count();
    let limit = (length / 3).max(1);
    candidates
        .into_iter()
        .filter(|c| c.len().abs_diff(word.len()) <= limit && *c != word)
        .map(|c| (edit_distance(word, c), c))
        // Without a common letter, the words are not similar: any letter is close to any other.
        .filter(|&(d, _)| d <= limit && d < length)
        .min_by_key(|&(d, c)| (d, c.len().abs_diff(word.len())))
        .map(|(_, c)| c)
}

/// Optimal string alignment distance: insertions, deletions, substitutions and swaps of neighbours.
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    // Words of this length are not names that somebody mistyped; the table would grow with the product.
    if a.len() > 256 || b.len() > 256 {
        return usize::MAX;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let cost = usize::from(a[i - 1] != b[j - 1]);
            row[j] = (last[j] + 1).min(row[j - 1] + 1).min(last[j - 1] + cost);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_finds_typos_and_nothing_far() {
        let ops = ["pd.tan", "pd.tanh", "pd.matmul", "pd.while"];
        assert_eq!(nearest("pd.tahn", ops), Some("pd.tanh"));
        assert_eq!(nearest("pd.whlie", ops), Some("pd.while"));
        assert_eq!(nearest("pd.convolution", ops), None);
    }
}
