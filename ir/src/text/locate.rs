//! Finds the parts of operations that diagnostics name: operands, attributes, types.
//!
//! The IR keeps one span for each operation, that of its name. What an error is about is looked up in the source when there
//! is an error. Text that is not of the common form is not searched: the label stays at the name, and edits are dropped.

use rustc_hash::FxHashMap;

use super::cursor;
use crate::diagnostics::{Diagnostic, Part, Span};

/// Replaces the parts in labels and edits by their spans. An edit whose part cannot be found is dropped, with the others of
/// its diagnostic.
pub fn locate(source: &[u8], diagnostics: &mut [Diagnostic]) {
    let mut scans = Scans { source, last: None };
    for diagnostic in diagnostics {
        for label in &mut diagnostic.labels {
            if let Some(found) = label.part.take().and_then(|part| scans.find(label.span, &part)) {
                label.span = found;
            }
        }
        let mut all = true;
        for edit in &mut diagnostic.edits {
            match edit.part.take() {
                None => {}
                Some(Part::NewAttribute) => all &= scans.new_attribute(&mut edit.text, &mut edit.span),
                Some(Part::BlockEnd) => all &= block_end(source, &mut edit.span, &mut edit.text),
                Some(part) => match scans.find(edit.span, &part) {
                    Some(found) => edit.span = found,
                    None => all = false,
                },
            }
        }
        if !all {
            diagnostic.edits.clear();
        }
    }
}

/// An entry of a dictionary of attributes.
struct Entry {
    name: Span,
    value: Option<Span>,
}

/// The parts of an operation, as far as they were understood.
#[derive(Default)]
struct Written {
    operands: Vec<Span>,
    /// The place after the operands, or after the name of an operation without.
    operands_end: usize,
    /// The place after the opening brace of the first dictionary.
    dict: Option<usize>,
    attributes: Vec<Entry>,
    types: Vec<Span>,
    symbol: Option<Span>,
}

/// Operations as they are written. There may be an error for each part of one that has many, so the last one is kept.
struct Scans<'s> {
    source: &'s [u8],
    last: Option<Scan<'s>>,
}

struct Scan<'s> {
    op: Span,
    /// Nothing if the text is not of the common form.
    written: Option<Written>,
    /// The entries by name, the first of each.
    named: FxHashMap<&'s [u8], usize>,
}

impl<'s> Scans<'s> {
    fn scan(&mut self, op: Span) -> &Scan<'s> {
        let source = self.source;
        let last = self.last.take().filter(|last| last.op == op);
        self.last.insert(last.unwrap_or_else(|| {
            let written = scan(source, op);
            let parts = |written: &Written| written.attributes.len() + written.operands.len() + written.types.len();
            crate::steps::count(written.as_ref().map_or(0, parts));
            let mut named = FxHashMap::default();
            for (at, entry) in written.iter().flat_map(|written| &written.attributes).enumerate() {
                if let Some(name) = source.get(range(entry.name)) {
                    named.entry(name).or_insert(at);
                }
            }
            Scan { op, written, named }
        }))
    }

    fn find(&mut self, op: Span, part: &Part) -> Option<Span> {
        let Scan { written, named, .. } = self.scan(op);
        let written = written.as_ref()?;
        let named = |text: &str| named.get(text.as_bytes()).map(|&at| &written.attributes[at]);
        match part {
            Part::Operand(index) => written.operands.get(*index).copied(),
            Part::ResultType(index) => written.types.get(*index).copied(),
            Part::Symbol => written.symbol,
            Part::AttributeName(name) => named(name).map(|entry| entry.name),
            Part::AttributeValue(name) => named(name).map(|entry| entry.value.unwrap_or(entry.name)),
            Part::OperandAndComma(index) => with_comma(&written.operands, *index),
            Part::NewAttribute | Part::BlockEnd => None,
        }
    }

    /// Makes an edit that adds an attribute: to the dictionary that is there, or with one of its own.
    fn new_attribute(&mut self, text: &mut String, span: &mut Span) -> bool {
        let Some(written) = &self.scan(*span).written else {
            return false;
        };
        let at = match written.dict {
            Some(at) => {
                if !written.attributes.is_empty() {
                    text.push_str(", ");
                }
                at
            }
            None => {
                *text = format!(" {{{text}}}");
                written.operands_end
            }
        };
        *span = Span::new(at, at);
        true
    }
}

fn range(span: Span) -> std::ops::Range<usize> {
    span.start as usize..span.end as usize
}

/// The range of the operand with the separator before it or, for the first, after it.
fn with_comma(operands: &[Span], index: usize) -> Option<Span> {
    let own = *operands.get(index)?;
    let (start, end) = match (index.checked_sub(1), operands.get(index + 1)) {
        (Some(before), _) => (operands[before].end, own.end),
        (None, Some(next)) => (own.start, next.start),
        (None, None) => (own.start, own.end),
    };
    Some(Span { start, end })
}

/// Makes an edit that adds a terminator before the closing brace at `span`.
fn block_end(source: &[u8], span: &mut Span, text: &mut String) -> bool {
    let brace = span.start as usize;
    if source.get(brace) != Some(&b'}') {
        return false;
    }
    let line = source[..brace].iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
    let indent = &source[line..brace];
    if indent.iter().all(|b| matches!(b, b' ' | b'\t')) {
        *text = format!("{}  {text}\n", String::from_utf8_lossy(indent));
        *span = Span::new(line, line);
    } else {
        text.push(' ');
        *span = Span::new(brace, brace);
    }
    true
}

/// The next place that is neither blank nor comment.
fn skip(source: &[u8], mut at: usize) -> usize {
    loop {
        at = cursor::blanks(source, at);
        if !source.get(at..).is_some_and(|rest| rest.starts_with(b"//")) {
            return at;
        }
        at = cursor::line_end(source, at);
    }
}

/// Reads the operation whose name is at `op`.
fn scan(source: &[u8], op: Span) -> Option<Written> {
    let mut at = op.end as usize;
    // The span of a quoted name may omit the quotes.
    if source.get(at) == Some(&b'"') {
        at += 1;
    }
    let mut written = Written {
        operands_end: at,
        ..Written::default()
    };
    loop {
        let next = skip(source, at);
        let Some(&byte) = source.get(next) else {
            return Some(written);
        };
        at = match byte {
            b'(' if written.operands.is_empty() && written.dict.is_none() => {
                let end = operands(source, next + 1, &mut written.operands)?;
                written.operands_end = end;
                end
            }
            // Regions in parentheses, and arguments of a region.
            b'(' | b'[' | b'<' => cursor::balanced_end(source, next)?,
            b'{' => match entries(source, next, &mut written.attributes) {
                Some(end) => {
                    written.dict.get_or_insert(next + 1);
                    end
                }
                None => cursor::balanced_end(source, next)?,
            },
            b':' => {
                types(source, next + 1, &mut written.types);
                return Some(written);
            }
            b'@' => {
                let end = cursor::symbol_end(source, next)?;
                written.symbol.get_or_insert(Span::new(next, end));
                end
            }
            // The keyword of a region is followed by its arguments or its brace; anything else is the next operation.
            b if b.is_ascii_alphabetic() => {
                let end = next + cursor::name(source.get(next..)?).ok()?.1.len();
                match source.get(skip(source, end)) {
                    Some(b'{' | b'(') if !source[next..end].contains(&b'.') => end,
                    _ => return Some(written),
                }
            }
            _ => return Some(written),
        };
    }
}

/// Reads `%a, %b#1)`; returns the place after the parenthesis.
fn operands(source: &[u8], mut at: usize, found: &mut Vec<Span>) -> Option<usize> {
    loop {
        let start = skip(source, at);
        match *source.get(start)? {
            b')' => return Some(start + 1),
            b',' => at = start + 1,
            b'%' => {
                at = start + 1 + cursor::suffix(source.get(start + 1..)?).ok()?.1.len();
                if source.get(at) == Some(&b'#') {
                    at += 1 + cursor::digits(&source[at + 1..]).len();
                }
                found.push(Span::new(start, at));
            }
            _ => return None,
        }
    }
}

/// Reads the entries of the dictionary whose brace is at `open`; `None` if it is not one.
fn entries(source: &[u8], open: usize, found: &mut Vec<Entry>) -> Option<usize> {
    let before = found.len();
    let mut at = open + 1;
    loop {
        let start = skip(source, at);
        match *source.get(start)? {
            b'}' => return Some(start + 1),
            b',' if found.len() > before => {
                at = start + 1;
                continue;
            }
            _ => {}
        }
        let entry = entry(source, start);
        let Some((entry, end)) = entry else {
            found.truncate(before);
            return None;
        };
        found.push(entry);
        at = end;
    }
}

/// Reads `name` or `name = value`, up to the comma or the brace.
fn entry(source: &[u8], start: usize) -> Option<(Entry, usize)> {
    let (name, end) = if source[start] == b'"' {
        let end = cursor::string_end(source, start)?;
        (Span::new(start + 1, end - 1), end)
    } else {
        let end = start + cursor::name(source.get(start..)?).ok()?.1.len();
        (Span::new(start, end), end)
    };
    let next = skip(source, end);
    match *source.get(next)? {
        b',' | b'}' => Some((Entry { name, value: None }, next)),
        b'=' => {
            let first = skip(source, next + 1);
            let end = value_end(source, first)?;
            let trimmed = source[first..end].trim_ascii_end().len();
            let value = Some(Span::new(first, first + trimmed));
            Some((Entry { name, value }, end))
        }
        _ => None,
    }
}

/// The comma or the bracket at which a value or a type ends.
fn value_end(source: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at = match *source.get(at)? {
            b',' | b'}' | b')' | b']' => return Some(at),
            b'"' => cursor::string_end(source, at)?,
            b'(' | b'[' | b'{' | b'<' => cursor::balanced_end(source, at)?,
            _ => at + 1,
        };
    }
}

/// Reads the types of the results after a colon.
fn types(source: &[u8], at: usize, found: &mut Vec<Span>) {
    let mut at = skip(source, at);
    if source.get(at) == Some(&b'(') {
        let Some(end) = cursor::balanced_end(source, at) else {
            return;
        };
        let arrow = skip(source, end);
        if !source.get(arrow..).is_some_and(|rest| rest.starts_with(b"->")) {
            return;
        }
        at = skip(source, arrow + 2);
        if source.get(at) == Some(&b'(') {
            at = skip(source, at + 1);
        }
    }
    while let Some(end) = type_end(source, at) {
        found.push(Span::new(at, end));
        let next = skip(source, end);
        if source.get(next) != Some(&b',') {
            return;
        }
        at = skip(source, next + 1);
    }
}

/// The end of `word`, `word<…>` or `!dialect.word<…>`.
fn type_end(source: &[u8], start: usize) -> Option<usize> {
    let first = start + usize::from(source.get(start) == Some(&b'!'));
    let end = first + cursor::name(source.get(first..)?).ok()?.1.len();
    match source.get(end) {
        Some(b'<') => cursor::balanced_end(source, end),
        _ => Some(end),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, name: &str, part: &Part) -> Option<String> {
        let start = text.find(name).expect("the name");
        let mut scans = Scans {
            source: text.as_bytes(),
            last: None,
        };
        let span = scans.find(Span::new(start, start + name.len()), part)?;
        Some(text[range(span)].to_owned())
    }

    #[test]
    fn parts_of_an_operation() {
        let text =
            "%y = t.f (%x, // of it\n %z#1) {a = [1, 2], \"b\" = \"}\" , c} : tensor<4x?xf32, #e<1>>, !t.u\n%q = t.g";
        let part = |part| found(text, "t.f", &part);
        assert_eq!(part(Part::Operand(1)).as_deref(), Some("%z#1"));
        assert_eq!(part(Part::AttributeValue("a".into())).as_deref(), Some("[1, 2]"));
        assert_eq!(part(Part::AttributeValue("b".into())).as_deref(), Some("\"}\""));
        assert_eq!(part(Part::AttributeName("c".into())).as_deref(), Some("c"));
        assert_eq!(part(Part::ResultType(0)).as_deref(), Some("tensor<4x?xf32, #e<1>>"));
        assert_eq!(part(Part::ResultType(1)).as_deref(), Some("!t.u"));
        assert_eq!(part(Part::OperandAndComma(0)).as_deref(), Some("%x, // of it\n "));
        assert_eq!(part(Part::Operand(2)), None);
    }

    #[test]
    fn operations_with_regions() {
        let text = "%r = t.if (%c) then {\n %a = t.f (%x) {k = 1} : f32\n} else (%b: f32) { t.g } {z = 2} : f64";
        assert_eq!(found(text, "t.if", &Part::ResultType(0)).as_deref(), Some("f64"));
        assert_eq!(
            found(text, "t.if", &Part::AttributeValue("z".into())).as_deref(),
            Some("2")
        );
        assert_eq!(found(text, "t.if", &Part::AttributeValue("k".into())), None);
    }

    #[test]
    fn signatures_of_the_generic_form() {
        let text = "%r:2 = \"t.f\"(%c) ({\n ^bb0: }) {a = 1} : (f32) -> (f64, tensor<4xf32>)";
        assert_eq!(
            found(text, "t.f", &Part::ResultType(1)).as_deref(),
            Some("tensor<4xf32>")
        );
        assert_eq!(
            found(text, "t.f", &Part::AttributeValue("a".into())).as_deref(),
            Some("1")
        );
    }

    #[test]
    fn what_is_cut_off() {
        for text in [
            "t.f (",
            "t.f (%",
            "t.f {a",
            "t.f {a =",
            "t.f :",
            "t.f : (",
            "t.f : tensor<",
            "t.f (%a) then {",
            "t.f \"",
            "t.f {\"a",
        ] {
            assert_eq!(found(text, "t.f", &Part::ResultType(0)), None, "{text}");
        }
    }
}
