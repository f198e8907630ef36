//! JSON as a flat list of nodes that record their offsets in the source.
//!
//! Programs may nest arbitrarily deeply, and an error in a file of one line can be located only by its offset: so this
//! is neither a tree of boxes nor recursive, and every node has a span.

use std::borrow::Cow;

use pir_ir::budget::Reservation;
use pir_ir::{Diagnostic, Span};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum JsonKind {
    Null,
    Bool(bool),
    Number,
    Str,
    Array,
    Object,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    kind: JsonKind,
    start: u32,
    end: u32,
    /// The node after this one and all nodes inside it.
    next: u32,
}

/// A parsed document. The nodes are in the order of the text; children of an object are its keys and values in turn.
pub(crate) struct Json<'s> {
    source: &'s str,
    nodes: Vec<Node>,
    /// The memory of the nodes.
    _held: Reservation,
}

/// One node of a document.
#[derive(Clone, Copy)]
pub(crate) struct Value<'j> {
    json: &'j Json<'j>,
    at: usize,
}

enum State {
    Value,
    /// After `[`: a value or the end.
    FirstItem,
    /// After `{`: a key or the end.
    FirstKey,
    Key,
    AfterValue,
}

impl<'s> Json<'s> {
    /// Parses a document.
    pub(crate) fn parse(source: &'s [u8]) -> Result<Self, Diagnostic> {
        if u32::try_from(source.len()).is_err() {
            return Err(Diagnostic::error(
                "too-large",
                "a source of 4 GiB or more cannot be read",
            ));
        }
        let source = std::str::from_utf8(source).map_err(|e| {
            Diagnostic::error("syntax", "this is not UTF-8").label(Span::new(e.valid_up_to(), e.valid_up_to() + 1), "")
        })?;
        let mut parser = Parser {
            bytes: source.as_bytes(),
            source,
            at: 0,
            nodes: Vec::new(),
            held: Reservation::default(),
        };
        parser.document()?;
        Ok(Json {
            source,
            nodes: parser.nodes,
            _held: parser.held,
        })
    }

    /// The outermost value.
    pub(crate) fn root(&self) -> Value<'_> {
        Value { json: self, at: 0 }
    }
}

struct Parser<'s> {
    bytes: &'s [u8],
    source: &'s str,
    at: usize,
    nodes: Vec<Node>,
    held: Reservation,
}

impl Parser<'_> {
    fn document(&mut self) -> Result<(), Diagnostic> {
        let mut open: Vec<usize> = Vec::new();
        let mut state = State::Value;
        loop {
            self.blanks();
            state = match state {
                State::Value => self.value(&mut open)?,
                State::FirstItem if self.peek() == Some(b']') => self.close(&mut open),
                State::FirstItem => self.value(&mut open)?,
                State::FirstKey if self.peek() == Some(b'}') => self.close(&mut open),
                State::FirstKey | State::Key => self.key()?,
                State::AfterValue => {
                    let Some(&container) = open.last() else { break };
                    let object = self.nodes.get(container).is_some_and(|n| n.kind == JsonKind::Object);
                    match (self.peek(), object) {
                        (Some(b','), _) => {
                            self.at += 1;
                            if object { State::Key } else { State::Value }
                        }
                        (Some(b'}'), true) | (Some(b']'), false) => self.close(&mut open),
                        (_, true) => return Err(self.error("expected `,` or `}`")),
                        (_, false) => return Err(self.error("expected `,` or `]`")),
                    }
                }
            };
        }
        if self.at < self.bytes.len() {
            return Err(self.error("expected nothing more"));
        }
        Ok(())
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn error(&self, what: &str) -> Diagnostic {
        let found = match self.source.get(self.at..).and_then(|rest| rest.chars().next()) {
            Some(c) => format!("`{}`", c.escape_debug()),
            None => "the end of the file".to_owned(),
        };
        Diagnostic::error("syntax", format!("{what}, found {found}")).label(Span::new(self.at, self.at + 1), "")
    }

    fn push(&mut self, kind: JsonKind, start: usize) -> Result<(), Diagnostic> {
        self.held.room_for_one(&mut self.nodes)?;
        let next = self.nodes.len() as u32 + 1;
        self.nodes.push(Node {
            kind,
            start: start as u32,
            end: self.at as u32,
            next,
        });
        Ok(())
    }

    fn value(&mut self, open: &mut Vec<usize>) -> Result<State, Diagnostic> {
        let start = self.at;
        match self.peek() {
            Some(c @ (b'{' | b'[')) => {
                self.at += 1;
                open.push(self.nodes.len());
                let object = c == b'{';
                self.push(if object { JsonKind::Object } else { JsonKind::Array }, start)?;
                return Ok(if object { State::FirstKey } else { State::FirstItem });
            }
            Some(b'"') => {
                self.string()?;
                self.push(JsonKind::Str, start)?;
            }
            Some(b'-' | b'0'..=b'9') => {
                while matches!(self.peek(), Some(b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')) {
                    self.at += 1;
                }
                let number = self.source.get(start..self.at).and_then(|t| t.parse::<f64>().ok());
                if number.is_none() {
                    self.at = start;
                    return Err(self.error("expected a number"));
                }
                self.push(JsonKind::Number, start)?;
            }
            _ => {
                let words = [
                    ("null", JsonKind::Null),
                    ("true", JsonKind::Bool(true)),
                    ("false", JsonKind::Bool(false)),
                ];
                let word = words.into_iter().find(|(word, _)| {
                    self.bytes
                        .get(start..)
                        .is_some_and(|rest| rest.starts_with(word.as_bytes()))
                });
                let Some((word, kind)) = word else {
                    return Err(self.error("expected a value"));
                };
                self.at += word.len();
                self.push(kind, start)?;
            }
        }
        Ok(State::AfterValue)
    }

    fn key(&mut self) -> Result<State, Diagnostic> {
        if self.peek() != Some(b'"') {
            return Err(self.error("expected a key in quotes"));
        }
        let start = self.at;
        self.string()?;
        self.push(JsonKind::Str, start)?;
        self.blanks();
        if self.peek() != Some(b':') {
            return Err(self.error("expected `:`"));
        }
        self.at += 1;
        Ok(State::Value)
    }

    /// Advances past the closing quote.
    fn string(&mut self) -> Result<(), Diagnostic> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => self.at += 2,
                Some(_) => self.at += 1,
                None => {
                    return Err(Diagnostic::error("syntax", "a string is not closed")
                        .label(Span::new(start, start + 1), "it starts here"));
                }
            }
        }
    }

    fn close(&mut self, open: &mut Vec<usize>) -> State {
        self.at += 1;
        let (end, next) = (self.at as u32, self.nodes.len() as u32);
        if let Some(node) = open.pop().and_then(|at| self.nodes.get_mut(at)) {
            node.end = end;
            node.next = next;
        }
        State::AfterValue
    }
}

impl<'j> Value<'j> {
    fn node(self) -> Node {
        self.json.nodes.get(self.at).copied().unwrap_or(Node {
            kind: JsonKind::Null,
            start: 0,
            end: 0,
            next: self.at as u32 + 1,
        })
    }

    pub(crate) fn kind(self) -> JsonKind {
        self.node().kind
    }

    pub(crate) fn span(self) -> Span {
        let node = self.node();
        Span {
            start: node.start,
            end: node.end,
        }
    }

    fn children(self) -> impl Iterator<Item = Value<'j>> {
        let node = self.node();
        let json = self.json;
        let mut at = self.at + 1;
        std::iter::from_fn(move || {
            (at < node.next as usize).then(|| {
                let child = Value { json, at };
                at = child.node().next as usize;
                child
            })
        })
    }

    /// The items of an array; none of anything else.
    pub(crate) fn items(self) -> impl Iterator<Item = Value<'j>> {
        let array = self.kind() == JsonKind::Array;
        self.children().filter(move |_| array)
    }

    /// The keys of an object with their values; none of anything else.
    pub(crate) fn entries(self) -> impl Iterator<Item = (Value<'j>, Value<'j>)> {
        let object = self.kind() == JsonKind::Object;
        let mut children = self.children().filter(move |_| object);
        std::iter::from_fn(move || Some((children.next()?, children.next()?)))
    }

    /// The value of a key of an object.
    pub(crate) fn get(self, key: &str) -> Option<Value<'j>> {
        if self.kind() != JsonKind::Object {
            return None;
        }
        let mut children = self.children();
        while let (Some(name), Some(value)) = (children.next(), children.next()) {
            if name.text() == key || name.str().is_some_and(|s| s == key) {
                return Some(value);
            }
        }
        None
    }

    /// The value as it is written.
    pub(crate) fn raw(self) -> &'j str {
        let node = self.node();
        self.json
            .source
            .get(node.start as usize..node.end as usize)
            .unwrap_or("")
    }

    /// A string between its quotes, escapes as they are.
    fn text(self) -> &'j str {
        let raw = self.raw();
        raw.get(1..raw.len().saturating_sub(1)).unwrap_or("")
    }

    pub(crate) fn str(self) -> Option<Cow<'j, str>> {
        if self.kind() != JsonKind::Str {
            return None;
        }
        let text = self.text();
        if !text.contains('\\') {
            return Some(Cow::Borrowed(text));
        }
        unescape(text).map(Cow::Owned)
    }

    pub(crate) fn int(self) -> Option<i64> {
        match self.kind() {
            JsonKind::Number => self.raw().parse().ok(),
            JsonKind::Bool(b) => Some(i64::from(b)),
            _ => None,
        }
    }

    pub(crate) fn float(self) -> Option<f64> {
        match self.kind() {
            JsonKind::Number => self.raw().parse().ok(),
            _ => None,
        }
    }

    pub(crate) fn bool(self) -> Option<bool> {
        match self.kind() {
            JsonKind::Bool(b) => Some(b),
            JsonKind::Number => self.int().map(|i| i != 0),
            _ => None,
        }
    }
}

fn unescape(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        out.push(match rest.next()? {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'u' => {
                let mut unit = hex(&mut rest)?;
                if (0xD800..0xDC00).contains(&unit) {
                    let low = (rest.next()? == '\\' && rest.next()? == 'u').then(|| hex(&mut rest))??;
                    unit = 0x10000 + ((unit - 0xD800) << 10) + low.checked_sub(0xDC00).filter(|&l| l < 0x400)?;
                }
                char::from_u32(unit)?
            }
            c @ ('"' | '\\' | '/') => c,
            _ => return None,
        });
    }
    Some(out)
}

fn hex(rest: &mut std::str::Chars<'_>) -> Option<u32> {
    (0..4).try_fold(0, |unit, _| Some(unit * 16 + rest.next()?.to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(source: &str) -> (String, u32) {
        match Json::parse(source.as_bytes()) {
            Ok(_) => panic!("`{source}` was accepted"),
            Err(d) => (d.message, d.labels[0].span.start),
        }
    }

    #[test]
    fn values_are_found_by_key_and_place() {
        let json = Json::parse(br#" {"a": [1, -2.5e3, "x\u0041\n\ud83d\ude00"], "b": {}, "c": true} "#).unwrap();
        let root = json.root();
        let a: Vec<_> = root.get("a").unwrap().items().collect();
        assert_eq!(a.len(), 3);
        assert_eq!(a[0].int(), Some(1));
        assert_eq!(a[1].float(), Some(-2500.0));
        assert_eq!(a[2].str().unwrap(), "xA\n\u{1F600}");
        assert_eq!(root.get("c").unwrap().bool(), Some(true));
        assert_eq!(root.get("b").unwrap().get("x").map(|v| v.span()), None);
        assert_eq!(a[1].span(), Span::new(11, 17));
    }

    #[test]
    fn errors_say_where() {
        assert_eq!(
            message("[1, 2"),
            ("expected `,` or `]`, found the end of the file".into(), 5)
        );
        assert_eq!(message("{\"a\" 1}"), ("expected `:`, found `1`".into(), 5));
        assert_eq!(message("[1 2]"), ("expected `,` or `]`, found `2`".into(), 3));
        assert_eq!(message("[1-]"), ("expected a number, found `1`".into(), 1));
        assert_eq!(message("[] []"), ("expected nothing more, found `[`".into(), 3));
        assert_eq!(message("[\"a"), ("a string is not closed".into(), 1));
        assert_eq!(message(""), ("expected a value, found the end of the file".into(), 0));
    }

    #[test]
    fn depth_is_no_matter() {
        let deep = "[".repeat(300_000) + &"]".repeat(300_000);
        assert!(Json::parse(deep.as_bytes()).is_ok());
    }
}
