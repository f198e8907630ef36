//! Names of affine maps and sets in MLIR's custom assembly: `#map = affine_map<(d0) -> (d0)>` in front of the module.
//!
//! As MLIR does it, each is named where it is printed first, be it that it is printed once. Which of them are printed at all depends on the
//! formats; so they are named when the text is there, and the text is kept until all are named.

use std::borrow::Cow;
use std::io::{self, Write};

use memchr::memmem::Finder;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::context::Context;
use crate::text::cursor;
use crate::types::AttrData;

/// What the texts of maps and of sets begin with, and their names.
const KINDS: [(&[u8], &str); 2] = [(b"affine_map<", "#map"), (b"affine_set<", "#set")];

/// How both begin.
const WORD: &[u8] = b"affine_";

/// The maps and sets of a context, which the text of a module may have.
pub(super) fn maps(ctx: &Context) -> impl Iterator<Item = &str> {
    let is_map = |text: &str| KINDS.iter().any(|kind| text.as_bytes().starts_with(kind.0));
    ctx.all_attrs().filter_map(move |attr| match attr {
        AttrData::Opaque(text) if is_map(text) => Some(&**text),
        _ => None,
    })
}

/// The names that were given, and the text that has them as long as there may be more.
#[derive(Default)]
pub(super) struct MapNames {
    names: FxHashMap<String, String>,
    definitions: [String; 2],
    next: [usize; 2],
    /// Names that the source defines.
    taken: FxHashSet<String>,
    /// Maps and sets of the context without a name.
    unnamed: FxHashSet<String>,
    pieces: Vec<String>,
    /// Whether the definitions are written: what has no name by then keeps its text.
    defined: bool,
}

impl MapNames {
    /// No names yet for these maps and sets; those of the definitions are not given.
    pub(super) fn new<'d>(maps: impl Iterator<Item = &'d str>, definitions: impl Iterator<Item = &'d str>) -> Self {
        let names = definitions.filter_map(|line| line.split(' ').next());
        MapNames {
            taken: names.map(str::to_owned).collect(),
            unnamed: maps.map(str::to_owned).collect(),
            ..MapNames::default()
        }
    }

    /// Writes a piece of the text, with names in place of maps and sets, or keeps it while the definitions in front are not known; whether
    /// it begins a line.
    pub(super) fn write(&mut self, text: &str, begins_line: bool, writer: &mut dyn Write) -> io::Result<()> {
        let piece = self.named(text, begins_line);
        if self.unnamed.is_empty() {
            self.finish(writer)?;
            return writer.write_all(piece.as_bytes());
        }
        self.pieces.push(piece.into_owned());
        Ok(())
    }

    /// Writes the definitions, and what was kept.
    pub(super) fn finish(&mut self, writer: &mut dyn Write) -> io::Result<()> {
        self.defined = true;
        let definitions = self.definitions.iter_mut().map(std::mem::take);
        let mut kept = definitions.chain(self.pieces.drain(..));
        kept.try_for_each(|text| writer.write_all(text.as_bytes()))
    }

    fn named<'t>(&mut self, text: &'t str, begins_line: bool) -> Cow<'t, str> {
        let places = places(text.as_bytes(), begins_line);
        if places.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut piece = String::with_capacity(text.len());
        let mut from = 0;
        for (kind, start, end) in places {
            piece.push_str(&text[from..start]);
            piece.push_str(self.name(kind, &text[start..end]));
            from = end;
        }
        piece.push_str(&text[from..]);
        Cow::Owned(piece)
    }

    fn name<'n>(&'n mut self, kind: usize, meaning: &'n str) -> &'n str {
        if !self.names.contains_key(meaning) {
            if self.defined {
                return meaning;
            }
            self.unnamed.remove(meaning);
            let name = loop {
                let number = self.next[kind];
                self.next[kind] += 1;
                let name = match number {
                    0 => KINDS[kind].1.to_owned(),
                    number => format!("{}{number}", KINDS[kind].1),
                };
                if !self.taken.contains(&name) {
                    break name;
                }
            };
            self.definitions[kind].push_str(&format!("{name} = {meaning}\n"));
            self.names.insert(meaning.to_owned(), name);
        }
        &self.names[meaning]
    }
}

/// Which kind is where: outside of strings, comments, definitions, and the text of attributes and types of other dialects.
fn places(text: &[u8], begins_line: bool) -> Vec<(usize, usize, usize)> {
    let finder = Finder::new(WORD);
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(next) = finder.find(&text[at..]) {
        let next = at + next;
        let line = memchr::memrchr(b'\n', &text[at..next]).map_or(at, |end| at + end + 1);
        let end = cursor::line_end(text, next);
        let is_first = if line == 0 {
            begins_line
        } else {
            text[line - 1] == b'\n'
        };
        // A definition of the source.
        let is_definition = is_first && matches!(text[line], b'#' | b'!');
        at = match is_definition {
            true => end,
            false => in_line(text, line, end, &mut found).max(end),
        };
    }
    found
}

/// The same from a place in a line to its end; returns that end, or the end of what continues after it.
fn in_line(text: &[u8], start: usize, end: usize, found: &mut Vec<(usize, usize, usize)>) -> usize {
    let mut at = start;
    while at < end {
        match text[at] {
            b'"' => at = cursor::string_end(text, at).unwrap_or(end),
            b'/' if text.get(at + 1) == Some(&b'/') => return end,
            b'#' | b'!' => {
                at += 1 + cursor::suffix_len(&text[at + 1..]);
                if text.get(at) == Some(&b'<') {
                    at = cursor::balanced_end(text, at).unwrap_or(end);
                }
            }
            b'a' if text[at..].starts_with(WORD) && (at == 0 || !cursor::is_suffix_byte(text[at - 1])) => {
                let kind = KINDS.iter().position(|kind| text[at..].starts_with(kind.0));
                let close = kind.and_then(|kind| cursor::balanced_end(text, at + KINDS[kind].0.len() - 1));
                if let (Some(kind), Some(close)) = (kind, close) {
                    found.push((kind, at, close));
                    at = close;
                } else {
                    at += WORD.len();
                }
            }
            _ => at += 1,
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::MapNames;

    /// The text with names, and how much of it was written before it ended.
    fn written(pieces: &[&str], maps: &[&str], definitions: &[&str]) -> (String, usize) {
        let mut names = MapNames::new(maps.iter().copied(), definitions.iter().copied());
        let (mut begins_line, mut out) = (true, Vec::new());
        for piece in pieces {
            names.write(piece, begins_line, &mut out).unwrap();
            begins_line = piece.ends_with('\n');
        }
        let before = out.len();
        names.finish(&mut out).unwrap();
        (String::from_utf8(out).unwrap(), before)
    }

    /// The same if there is a map that is never printed.
    fn named(pieces: &[&str], definitions: &[&str]) -> String {
        let (text, before) = written(pieces, &["affine_map<(d9) -> (d9)>"], definitions);
        assert_eq!(before, 0);
        text
    }

    #[test]
    fn text_is_written_as_soon_as_all_are_named() {
        let (a, b) = ("affine_map<() -> ()>", "affine_map<() -> (0)>");
        let pieces = [
            "a.b affine_map<() -> (0)>\n",
            "c\n",
            "d affine_map<() -> ()>\n",
            "e affine_map<() -> (0)>",
        ];
        let wanted = "#map = affine_map<() -> (0)>\n#map1 = affine_map<() -> ()>\na.b #map\nc\nd #map1\ne #map";
        assert_eq!(written(&pieces, &[a, b], &[]), (wanted.to_owned(), wanted.len()));
        // One that the context does not have keeps its text once the definitions are written.
        let wanted = "#map = affine_map<() -> (0)>\na.b #map\nc\nd affine_map<() -> ()>\ne #map";
        assert_eq!(written(&pieces, &[b], &[]), (wanted.to_owned(), wanted.len()));
    }

    #[test]
    fn maps_and_sets_are_named_where_they_are_first() {
        let text = "a.b affine_map<(d0) -> (d0)>(%x), \"affine_map<() -> ()>\"\n  // affine_map<() -> ()>\n\
                    c affine_set<(d0) : (d0 - 1 >= 0)>(%y)[affine_map<() -> (0)>, affine_map<(d0) -> (d0)>] #u.v<affine_map<() -> ()>>\n";
        let wanted = "#map = affine_map<(d0) -> (d0)>\n#map1 = affine_map<() -> (0)>\n#set = affine_set<(d0) : (d0 - 1 >= 0)>\n\
                      a.b #map(%x), \"affine_map<() -> ()>\"\n  // affine_map<() -> ()>\n\
                      c #set(%y)[#map1, #map] #u.v<affine_map<() -> ()>>\n";
        assert_eq!(named(&[text], &[]), wanted);
        assert_eq!(named(&["x\n\"affine_map<\"\n"], &[]), "x\n\"affine_map<\"\n");
        // What the source defines has its name; a piece may begin within a line.
        let kept = "#map = affine_map<() -> ()>\nu.v";
        let wanted = "#map1 = affine_map<() -> ()>\n#map = affine_map<() -> ()>\nu.v #w.x<#map> #map1";
        assert_eq!(named(&[kept, " #w.x<#map> affine_map<() -> ()>"], &[kept]), wanted);
    }
}
