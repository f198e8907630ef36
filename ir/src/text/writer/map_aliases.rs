//! Names of affine maps and sets in MLIR's custom assembly: `#map = affine_map<(d0) -> (d0)>` in front of the module.
//!
//! As MLIR does it, each is named where it is printed first, be it that it is printed once. Which of them are printed at all depends on the
//! formats; so they are named when the text is there.

use memchr::memmem::Finder;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::context::Context;
use crate::text::cursor;
use crate::types::AttrData;

/// What the texts of maps and of sets begin with, and their names.
const KINDS: [(&[u8], &str); 2] = [(b"affine_map<", "#map"), (b"affine_set<", "#set")];

/// How both begin.
const WORD: &[u8] = b"affine_";

/// Whether a context has maps or sets, which the text of a module may have.
pub(super) fn has_maps(ctx: &Context) -> bool {
    let is_map = |text: &str| KINDS.iter().any(|kind| text.as_bytes().starts_with(kind.0));
    ctx.all_attrs()
        .any(|attr| matches!(attr, AttrData::Opaque(text) if is_map(text)))
}

/// The names that were given, and the text that has them.
#[derive(Default)]
pub(super) struct MapNames {
    names: FxHashMap<String, String>,
    definitions: [String; 2],
    next: [usize; 2],
    /// Names that the source defines.
    taken: FxHashSet<String>,
    pieces: Vec<String>,
}

impl MapNames {
    /// No names yet; those of these definitions are not given.
    pub(super) fn new<'d>(definitions: impl Iterator<Item = &'d str>) -> Self {
        let names = definitions.filter_map(|line| line.split(' ').next());
        MapNames {
            taken: names.map(str::to_owned).collect(),
            ..MapNames::default()
        }
    }

    /// Keeps a piece of the text, with names in place of maps and sets; whether it begins a line.
    pub(super) fn keep(&mut self, text: &str, begins_line: bool) {
        let mut piece = String::with_capacity(text.len());
        let mut from = 0;
        for (kind, start, end) in places(text.as_bytes(), begins_line) {
            piece.push_str(&text[from..start]);
            piece.push_str(self.name(kind, &text[start..end]));
            from = end;
        }
        piece.push_str(&text[from..]);
        self.pieces.push(piece);
    }

    fn name(&mut self, kind: usize, meaning: &str) -> &str {
        if !self.names.contains_key(meaning) {
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

    /// The definitions, and then the text.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.definitions.iter().chain(&self.pieces).map(String::as_str)
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

/// The same from a place in a line to the end of it; gives where that is, or is in what goes on behind it.
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

    fn named(pieces: &[&str], definitions: &[&str]) -> String {
        let mut names = MapNames::new(definitions.iter().copied());
        let mut begins_line = true;
        for piece in pieces {
            names.keep(piece, begins_line);
            begins_line = piece.ends_with('\n');
        }
        names.texts().collect()
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
