//! Aliases of types and attributes: `#map = affine_map<(d0) -> (d0)>`, `!t = tensor<4xf32>`.
//!
//! Where an alias stands for itself, what it means takes its place. Inside text that is kept as it is written, it stays,
//! and so it does in front of its definition, where nobody knows yet what it means. Then the definition is kept too, and
//! printed in front of the module, or behind it if it was used before: what is read again means what it meant.

use rustc_hash::{FxHashMap, FxHashSet};

use super::cursor::is_suffix_byte;
use crate::body::Frame;
use crate::types::{Attr, Type};

/// What an alias stands for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Meaning {
    Attr(Attr),
    Type(Type),
}

#[derive(Debug)]
struct Alias<'s> {
    meaning: Meaning,
    /// How many types and attributes it is when it is written out.
    size: usize,
    /// The definition.
    text: &'s [u8],
    /// Whether text that is kept refers to it in front of the definition.
    late: bool,
}

/// The aliases of a text.
#[derive(Default, Debug)]
pub(super) struct Aliases<'s> {
    all: Vec<Alias<'s>>,
    attrs: FxHashMap<&'s [u8], usize>,
    types: FxHashMap<&'s [u8], usize>,
    /// Words with their sigils that occur in text that is kept.
    mentioned: FxHashSet<&'s [u8]>,
    /// `{-# … #-}`.
    pub(super) resources: &'s [u8],
}

/// The words behind a `#` or a `!` in a text, with their sigils.
fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    memchr::memchr2_iter(b'#', b'!', text).filter_map(|at| {
        let len = text[at + 1..].iter().take_while(|&&b| is_suffix_byte(b)).count();
        (len > 0).then(|| &text[at..at + 1 + len])
    })
}

impl<'s> Aliases<'s> {
    /// Defines an alias; `false` if there is one of its name.
    pub(super) fn define(&mut self, word: &'s [u8], meaning: Meaning, size: usize, text: &'s [u8]) -> bool {
        let names = match meaning {
            Meaning::Attr(_) => &mut self.attrs,
            Meaning::Type(_) => &mut self.types,
        };
        let free = names.insert(word, self.all.len()).is_none();
        let late = text
            .get(..1 + word.len())
            .is_some_and(|name| self.mentioned.contains(name));
        self.all.push(Alias {
            meaning,
            size,
            text,
            late,
        });
        free
    }

    /// The attribute that an alias stands for, and its size.
    pub(super) fn attr(&self, word: &[u8]) -> Option<(Attr, usize)> {
        match self.attrs.get(word).map(|&at| &self.all[at]) {
            Some(&Alias {
                meaning: Meaning::Attr(attr),
                size,
                ..
            }) => Some((attr, size)),
            _ => None,
        }
    }

    /// The type that an alias stands for, and its size.
    pub(super) fn ty(&self, word: &[u8]) -> Option<(Type, usize)> {
        match self.types.get(word).map(|&at| &self.all[at]) {
            Some(&Alias {
                meaning: Meaning::Type(ty),
                size,
                ..
            }) => Some((ty, size)),
            _ => None,
        }
    }

    /// Says that a text is kept as it is written.
    pub(super) fn mention(&mut self, text: &'s [u8]) {
        self.mentioned.extend(words(text));
    }

    /// What is printed around the module: the definitions that kept texts refer to, and the data of other tools.
    pub(super) fn frame(self) -> Option<Box<Frame>> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned().into_boxed_str();
        let mut needed: Vec<usize> = Vec::new();
        let mut seen = vec![false; self.all.len()];
        let mut pending: Vec<&[u8]> = self.mentioned.into_iter().collect();
        while let Some(word) = pending.pop() {
            let names = if word[0] == b'#' { &self.attrs } else { &self.types };
            if let Some(&at) = names.get(&word[1..])
                && !std::mem::replace(&mut seen[at], true)
            {
                needed.push(at);
                pending.extend(words(self.all[at].text).skip(1));
            }
        }
        if needed.is_empty() && self.resources.is_empty() {
            return None;
        }
        needed.sort_unstable();
        // Those that come behind a late one may refer to it.
        let late = needed.iter().position(|&at| self.all[at].late).unwrap_or(needed.len());
        let texts = |range: &[usize]| range.iter().map(|&at| text(self.all[at].text)).collect();
        Some(Box::new(Frame {
            aliases: texts(&needed[..late]),
            late_aliases: texts(&needed[late..]),
            resources: text(self.resources),
        }))
    }
}
