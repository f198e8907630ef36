//! Reads the text form of a message: it is encoded by the schema, and then read like the binary form.

use super::types;
use crate::wire::{FieldType, Schema};

/// Messages in messages.
const DEEPEST: usize = 64;

/// Encodes the text of a message.
///
/// # Errors
/// What is wrong, with its line.
pub(super) fn encode(text: &str, schema: &'static Schema) -> Result<Vec<u8>, String> {
    let mut parser = Parser {
        bytes: text.as_bytes(),
        at: 0,
    };
    let message = parser.fields(Some(schema), None, 0);
    message.map_err(|why| {
        let line = 1 + text.as_bytes()[..parser.at.min(text.len())]
            .iter()
            .filter(|&&b| b == b'\n')
            .count();
        format!("line {line}: {why}")
    })
}

struct Parser<'a> {
    bytes: &'a [u8],
    at: usize,
}

fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn delimited(number: u64, content: &[u8], out: &mut Vec<u8>) {
    varint(number << 3 | 2, out);
    varint(content.len() as u64, out);
    out.extend_from_slice(content);
}

impl<'a> Parser<'a> {
    fn skip(&mut self) {
        while let Some(&byte) = self.bytes.get(self.at) {
            if byte == b'#' {
                while self.bytes.get(self.at).is_some_and(|&b| b != b'\n') {
                    self.at += 1;
                }
            } else if byte.is_ascii_whitespace() {
                self.at += 1;
            } else {
                break;
            }
        }
    }

    fn peek(&mut self) -> Option<u8> {
        self.skip();
        self.bytes.get(self.at).copied()
    }

    fn eats(&mut self, byte: u8) -> bool {
        let here = self.peek() == Some(byte);
        self.at += usize::from(here);
        here
    }

    /// A name, a number or a constant.
    fn word(&mut self) -> Result<&'a str, String> {
        self.skip();
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let length = rest
            .iter()
            .take_while(|&&b| b.is_ascii_alphanumeric() || b"_.+-".contains(&b))
            .count();
        self.at += length;
        match std::str::from_utf8(&rest[..length]) {
            Ok(word) if length > 0 => Ok(word),
            _ => Err("a name or a number is missing".to_owned()),
        }
    }

    /// The fields up to a brace; those of a schema that is not known are omitted.
    fn fields(&mut self, schema: Option<&'static Schema>, close: Option<u8>, depth: usize) -> Result<Vec<u8>, String> {
        if depth > DEEPEST {
            return Err("messages are nested too deeply".to_owned());
        }
        let mut out = Vec::new();
        loop {
            match (self.peek(), close) {
                (None, None) => return Ok(out),
                (None, Some(_)) => return Err("a brace is not closed".to_owned()),
                (Some(byte), Some(close)) if byte == close => {
                    self.at += 1;
                    return Ok(out);
                }
                _ => {}
            }
            let name = self.word()?;
            let field = schema.map(|schema| {
                let field = schema.fields.iter().find(|f| f.1 == name);
                field.ok_or_else(|| format!("`{}` has no field `{name}`", schema.name))
            });
            let field = field.transpose()?.map(|f| (f.0, f.2));
            let colon = self.eats(b':');
            if colon && self.eats(b'[') {
                while !self.eats(b']') {
                    self.value(field, colon, depth, &mut out)?;
                    self.eats(b',');
                }
            } else {
                self.value(field, colon, depth, &mut out)?;
            }
            if !self.eats(b',') {
                self.eats(b';');
            }
        }
    }

    fn value(
        &mut self,
        field: Option<(u64, FieldType)>,
        colon: bool,
        depth: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        let open = match self.peek() {
            Some(b'{') => Some(b'}'),
            Some(b'<') => Some(b'>'),
            _ => None,
        };
        if let Some(close) = open {
            self.at += 1;
            let inner = match field {
                Some((_, FieldType::Message(inner))) => Some(inner),
                Some((number, FieldType::Entry(inner))) => {
                    let entry = self.entry(inner, close, depth)?;
                    delimited(number, &entry, out);
                    return Ok(());
                }
                _ => None,
            };
            let content = self.fields(inner, Some(close), depth + 1)?;
            if let (Some((number, _)), Some(_)) = (field, inner) {
                delimited(number, &content, out);
            }
            return Ok(());
        }
        if !colon {
            return Err("a colon or a brace is missing".to_owned());
        }
        if let Some(quote @ (b'"' | b'\'')) = self.peek() {
            let content = self.string(quote)?;
            if let Some((number, FieldType::Bytes)) = field {
                delimited(number, &content, out);
            }
            return Ok(());
        }
        let word = self.word()?;
        match field {
            Some((number, FieldType::Varint)) => {
                varint(number << 3, out);
                varint(integer(word).ok_or_else(|| format!("`{word}` is not a number"))?, out);
            }
            Some((number, FieldType::Fixed32)) => {
                varint(number << 3 | 5, out);
                // `1.5f`, but `inf`.
                let digits = word.strip_suffix('f');
                let digits = digits.filter(|digits| digits.ends_with(|c: char| c.is_ascii_digit() || c == '.'));
                let value: f32 = digits
                    .unwrap_or(word)
                    .parse()
                    .map_err(|_| format!("`{word}` is not a number"))?;
                out.extend(value.to_le_bytes());
            }
            Some((number, FieldType::Fixed64)) => {
                varint(number << 3 | 1, out);
                let value: f64 = word.parse().map_err(|_| format!("`{word}` is not a number"))?;
                out.extend(value.to_le_bytes());
            }
            Some((_, FieldType::Bytes | FieldType::Message(_) | FieldType::Entry(_))) => {
                return Err(format!("expected a string or a message, found `{word}`"));
            }
            Some((_, FieldType::Skipped)) | None => {}
        }
        Ok(())
    }

    /// An entry of a map.
    fn entry(&mut self, inner: &'static Schema, close: u8, depth: usize) -> Result<Vec<u8>, String> {
        let (mut key, mut value) = (Vec::new(), Vec::new());
        while !self.eats(close) {
            let name = self.word()?;
            let colon = self.eats(b':');
            match name {
                "key" => self.value(Some((1, FieldType::Bytes)), colon, depth + 1, &mut key)?,
                "value" => self.value(Some((2, FieldType::Message(inner))), colon, depth + 1, &mut value)?,
                _ => return Err(format!("an entry has no field `{name}`")),
            }
        }
        key.extend(value);
        Ok(key)
    }

    /// Adjacent strings are concatenated.
    fn string(&mut self, quote: u8) -> Result<Vec<u8>, String> {
        let mut out = Vec::new();
        let cut = || "a string is not closed".to_owned();
        while self.eats(quote) {
            loop {
                let &byte = self.bytes.get(self.at).ok_or_else(cut)?;
                self.at += 1;
                match byte {
                    b'\\' => self.escape(&mut out).ok_or_else(cut)?,
                    _ if byte == quote => break,
                    _ => out.push(byte),
                }
            }
        }
        Ok(out)
    }

    fn escape(&mut self, out: &mut Vec<u8>) -> Option<()> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        let mut digits = |parser: &mut Self, base: u32, most: usize, mut value: u32| {
            for _ in 0..most {
                let digit = parser.bytes.get(parser.at).and_then(|&b| char::from(b).to_digit(base));
                let Some(digit) = digit else { break };
                value = value * base + digit;
                parser.at += 1;
            }
            out.push(value as u8);
        };
        match byte {
            b'0'..=b'7' => digits(self, 8, 2, u32::from(byte - b'0')),
            b'x' | b'X' => digits(self, 16, 2, 0),
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'a' => out.push(7),
            b'b' => out.push(8),
            b'f' => out.push(12),
            b'v' => out.push(11),
            _ => out.push(byte),
        }
        Some(())
    }
}

/// A number, a boolean or the name of a type.
fn integer(word: &str) -> Option<u64> {
    if let Ok(value) = word.parse::<i64>() {
        return Some(value as u64);
    }
    if let Ok(value) = word.parse::<u64>() {
        return Some(value);
    }
    match word {
        "true" => Some(1),
        "false" => Some(0),
        _ => (0..types::CODES)
            .find(|&code| types::name(code) == word)
            .map(|code| code as u64),
    }
}

/// Whether a text looks like a graph, after its comments.
pub(crate) fn is_graph(text: &[u8]) -> bool {
    let mut text = text.trim_ascii_start();
    while text.starts_with(b"#") {
        let end = text.iter().position(|&byte| byte == b'\n').unwrap_or(text.len());
        text = text[end..].trim_ascii_start();
    }
    let starts = |word: &[u8]| {
        text.strip_prefix(word)
            .is_some_and(|rest| rest.trim_ascii_start().starts_with(b"{"))
    };
    ["node", "library", "versions"]
        .iter()
        .any(|word| starts(word.as_bytes()))
}
