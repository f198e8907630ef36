//! The positions of fields in a dialect file: the YAML reader returns values without positions.

use std::sync::Arc;

use pir_ir::{Diagnostic, Span};

/// The file, with its text.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) name: Arc<str>,
    pub(super) text: Arc<str>,
}

/// An item of a list of mappings: a row, or a pattern.
#[derive(Clone, Default, Debug)]
pub(super) struct Item {
    /// Its start.
    at: usize,
    fields: Vec<Field>,
}

#[derive(Clone, Debug)]
struct Field {
    name: String,
    at: usize,
    lines: Lines,
}

/// For parts of a text where they are in the file, in order: offset in the text, offset in the file.
pub(super) type Lines = Vec<(usize, usize)>;

/// The place in the file of an offset in a text.
pub(super) fn place(lines: &Lines, offset: usize) -> usize {
    let part = lines.partition_point(|&(from, _)| from <= offset).checked_sub(1);
    part.map_or(0, |part| lines[part].1 + (offset - lines[part].0))
}

impl Item {
    /// Where a field is, its key and value in one line; the item if it has no such field, or is written in another style.
    pub(super) fn field(&self, name: &str) -> usize {
        self.get(name).map_or(self.at, |field| field.at)
    }

    /// Where the text of a field is.
    pub(super) fn lines(&self, name: &str) -> Lines {
        self.get(name).map_or_else(Lines::new, |field| field.lines.clone())
    }

    fn get(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}

impl Source {
    /// An error at a place: the rest of the line is its span.
    pub(super) fn error(&self, at: usize, message: impl Into<String>) -> Diagnostic {
        let at = (0..=at.min(self.text.len()))
            .rev()
            .find(|&at| self.text.is_char_boundary(at));
        let at = at.unwrap_or(0);
        let length = self.text[at..].find('\n').unwrap_or(self.text.len() - at);
        let length = self.text[at..at + length].trim_end().len();
        Diagnostic::error("dialect-file", message).label(Span::new(at, at + length), "here")
    }

    /// `file:line:column` of a place.
    pub(super) fn spelled(&self, at: usize) -> String {
        let before = self.text.get(..at).unwrap_or(&self.text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        format!("{}:{line}:{column}", self.name)
    }

    /// Where a key at the outermost level is.
    pub(super) fn key(&self, name: &str) -> usize {
        let mut lines = offsets(&self.text);
        let found = lines.find(|(_, line)| {
            line.strip_prefix(name)
                .is_some_and(|rest| rest.trim_start().starts_with(':'))
        });
        found.map_or(0, |(at, _)| at)
    }

    /// The items of the list that is the value of an outermost key, in block style.
    pub(super) fn items(&self, section: &str) -> Vec<Item> {
        let lines: Vec<(usize, &str)> = offsets(&self.text).collect();
        let mut items: Vec<Item> = Vec::new();
        let mut inside = false;
        // The columns of the dashes and of the keys.
        let (mut dash, mut keys) = (None, None);
        for (number, &(at, line)) in lines.iter().enumerate() {
            let rest = line.trim();
            if rest.is_empty() || rest.starts_with('#') {
                continue;
            }
            let indent = line.len() - line.trim_start().len();
            if indent == 0 && !rest.starts_with('-') {
                inside = rest
                    .strip_prefix(section)
                    .is_some_and(|rest| rest.trim_start().starts_with(':'));
                dash = None;
                continue;
            }
            if !inside {
                continue;
            }
            let mut column = indent;
            if (rest == "-" || rest.starts_with("- ")) && dash.is_none_or(|dash| dash == indent) {
                let inner = &line[indent + 1..];
                column = indent + 1 + inner.len() - inner.trim_start().len();
                (dash, keys) = (Some(indent), Some(column).filter(|_| rest != "-"));
                items.push(Item {
                    at: at + indent,
                    fields: Vec::new(),
                });
                if rest == "-" {
                    continue;
                }
            }
            let Some(item) = items.last_mut().filter(|_| column == *keys.get_or_insert(column)) else {
                continue;
            };
            let Some((name, value)) = line[column..].split_once(':') else {
                continue;
            };
            let start = column + name.len() + 1 + value.len() - value.trim_start().len();
            let lines = match value.trim_start().chars().next() {
                Some('|' | '>') => block(&lines[number + 1..], column),
                Some('"' | '\'') => vec![(0, at + start + 1)],
                _ => vec![(0, at + start)],
            };
            item.fields.push(Field {
                name: name.trim().to_owned(),
                at: at + column,
                lines,
            });
        }
        items
    }
}

/// The lines of a text without their ends, with their offsets.
fn offsets(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        (start, line.trim_end_matches(['\n', '\r']))
    })
}

/// The lines of a block scalar whose key is in column `column`.
fn block(lines: &[(usize, &str)], column: usize) -> Lines {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let belongs = |line: &str| line.trim().is_empty() || indent(line) > column;
    let first = lines.iter().map(|line| line.1).find(|line| !line.trim().is_empty());
    let common = first.map_or(0, indent);
    let mut out = Lines::new();
    let mut offset = 0;
    for &(at, line) in lines.iter().take_while(|line| belongs(line.1)) {
        let cut = common.min(line.len());
        out.push((offset, at + cut));
        offset += line.len() - cut + 1;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_and_their_texts_are_found() {
        let text = "dialect: my\nops:\n- op: a\n  computes: |\n\n    %b = x\n      c\n  args: (y)\n-   op: 'b'\n    args: \"z\"\n";
        let source = Source {
            name: "f".into(),
            text: text.into(),
        };
        let items = source.items("ops");
        assert_eq!(items.len(), 2);
        let lines = items[0].lines("computes");
        // The block scalar is "\n%b = x\n  c\n".
        let at = |offset: usize| &text[place(&lines, offset)..];
        assert!(at(1).starts_with("%b"), "{lines:?}");
        assert!(at("\n%b = x\n  ".len()).starts_with("c\n"), "{lines:?}");
        assert!(text[items[0].field("args")..].starts_with("args: (y)"));
        assert!(text[items[1].field("args")..].starts_with("args: \"z\""));
        assert!(text[place(&items[1].lines("op"), 0)..].starts_with("b'"));
        assert!(text[items[1].field("vjp")..].starts_with("-   op"));
        assert_eq!(source.spelled(items[0].field("args")), "f:8:3");
    }
}
