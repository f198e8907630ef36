//! Aliases of types and attributes: `#map = affine_map<(d0) -> (d0)>`, `!t = tensor<4xf32>`.
//!
//! An alias that is a whole type or attribute is replaced with its meaning. In opaque text, and before its definition,
//! where its meaning is unknown, it is kept. Then the definition is kept too, and printed in front of the module, or
//! after it if the alias was used before: reading the output gives the same meaning.
//!
//! An alias that only definitions refer to that are not printed is not printed either, since it would be lost in the
//! next round trip.

use rustc_hash::FxHashMap;

use crate::body::ModuleTrivia;
use crate::text::cursor::suffix;
use crate::types::{Attr, Type};

/// The meaning of an alias.
#[derive(Clone, Copy, Debug)]
pub(super) enum Meaning {
    Attr(Attr),
    Type(Type),
}

#[derive(Clone, Debug)]
struct Alias<'s> {
    meaning: Meaning,
    /// How many types and attributes it is when it is written out.
    size: usize,
    /// The definition.
    text: &'s [u8],
    /// The aliases and text that its expansion contains.
    brings: Vec<Brought<'s>>,
    /// Whether it occurs as an alias outside of definitions.
    expanded: bool,
}

/// A part of an alias's expansion that comes from other aliases.
#[derive(Clone, Debug)]
pub(super) enum Brought<'s> {
    /// A word, with its sigil, in text that is kept.
    Word(&'s [u8]),
    /// The meaning of another alias.
    Meaning(usize),
}

/// The aliases of a text.
#[derive(Clone, Default, Debug)]
pub(super) struct Aliases<'s> {
    all: Vec<Alias<'s>>,
    attrs: FxHashMap<&'s [u8], usize>,
    types: FxHashMap<&'s [u8], usize>,
    /// Words with their sigils in text that is kept outside of definitions, and how many aliases were defined before.
    mentioned: FxHashMap<&'s [u8], usize>,
    /// The same of the definition that is being read.
    brings: Option<Vec<Brought<'s>>>,
    /// `{-# … #-}`.
    pub(super) resources: &'s [u8],
}

/// The words after a `#` or a `!` in a text, with their sigils. With a `<` after it a word is not an alias.
fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    memchr::memchr2_iter(b'#', b'!', text).filter_map(|at| {
        let (rest, word) = suffix(&text[at + 1..]).ok()?;
        (rest.first() != Some(&b'<')).then(|| &text[at..at + 1 + word.len()])
    })
}

impl<'s> Aliases<'s> {
    /// Starts recording the definition of an alias.
    pub(super) fn begin(&mut self) {
        self.brings = Some(Vec::new());
    }

    /// Discards the recorded definition.
    pub(super) fn forget(&mut self) {
        self.brings = None;
    }

    /// Defines an alias by the recorded definition; `false` if the name is taken.
    pub(super) fn define(&mut self, word: &'s [u8], meaning: Meaning, size: usize, text: &'s [u8]) -> bool {
        let names = match meaning {
            Meaning::Attr(_) => &mut self.attrs,
            Meaning::Type(_) => &mut self.types,
        };
        let free = names.insert(word, self.all.len()).is_none();
        self.all.push(Alias {
            meaning,
            size,
            text,
            brings: self.brings.take().unwrap_or_default(),
            expanded: false,
        });
        free
    }

    /// Whether there is an alias of this name, after a `#` or a `!`.
    pub(super) fn is_defined(&self, sigil: u8, word: &[u8]) -> bool {
        let names = if sigil == b'#' { &self.attrs } else { &self.types };
        names.contains_key(word)
    }

    /// Expands an alias.
    fn expand(&mut self, at: usize) -> Option<&Alias<'s>> {
        match &mut self.brings {
            Some(brings) => brings.push(Brought::Meaning(at)),
            None => self.all.get_mut(at)?.expanded = true,
        }
        self.all.get(at)
    }

    /// The attribute that takes the place of an alias, and its size.
    pub(super) fn attr(&mut self, word: &[u8]) -> Option<(Attr, usize)> {
        let &at = self.attrs.get(word)?;
        match self.expand(at)? {
            &Alias {
                meaning: Meaning::Attr(attr),
                size,
                ..
            } => Some((attr, size)),
            _ => None,
        }
    }

    /// The type that takes the place of an alias, and its size.
    pub(super) fn ty(&mut self, word: &[u8]) -> Option<(Type, usize)> {
        let &at = self.types.get(word)?;
        match self.expand(at)? {
            &Alias {
                meaning: Meaning::Type(ty),
                size,
                ..
            } => Some((ty, size)),
            _ => None,
        }
    }

    /// Says that a text is kept as it is written.
    pub(super) fn mention(&mut self, text: &'s [u8]) {
        match &mut self.brings {
            Some(brings) => brings.extend(words(text).map(Brought::Word)),
            None => {
                for word in words(text) {
                    self.mentioned.entry(word).or_insert(self.all.len());
                }
            }
        }
    }

    /// The words in what is printed of the operations, and how many aliases were defined before they were read first.
    fn printed(&mut self) -> FxHashMap<&'s [u8], usize> {
        let mut printed = std::mem::take(&mut self.mentioned);
        let mut seen: Vec<bool> = self.all.iter().map(|alias| alias.expanded).collect();
        let mut pending: Vec<usize> = (0..self.all.len()).filter(|&at| seen[at]).collect();
        while let Some(at) = pending.pop() {
            for brought in &self.all[at].brings {
                match *brought {
                    Brought::Word(word) => {
                        let first = printed.entry(word).or_insert(at);
                        *first = at.min(*first);
                    }
                    Brought::Meaning(of) if !std::mem::replace(&mut seen[of], true) => pending.push(of),
                    Brought::Meaning(_) => {}
                }
            }
        }
        printed
    }

    /// The text printed around the module: the definitions that kept texts refer to, and the data of other tools.
    pub(super) fn frame(mut self) -> Option<Box<ModuleTrivia>> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned().into_boxed_str();
        let mut needed: Vec<usize> = Vec::new();
        let mut seen = vec![false; self.all.len()];
        // Aliases defined after their first use, and aliases defined after such ones: they may refer to it.
        let mut late = self.all.len();
        let mut pending: Vec<(&[u8], usize)> = self.printed().into_iter().collect();
        while let Some((word, before)) = pending.pop() {
            let names = if word[0] == b'#' { &self.attrs } else { &self.types };
            let Some(&at) = names.get(&word[1..]) else { continue };
            if before <= at {
                late = late.min(at);
            }
            if !std::mem::replace(&mut seen[at], true) {
                needed.push(at);
                pending.extend(words(self.all[at].text).skip(1).map(|word| (word, at)));
            }
        }
        if needed.is_empty() && self.resources.is_empty() {
            return None;
        }
        needed.sort_unstable();
        let late = needed.partition_point(|&at| at < late);
        let texts = |range: &[usize]| range.iter().map(|&at| text(self.all[at].text)).collect();
        Some(Box::new(ModuleTrivia {
            aliases: texts(&needed[..late]),
            late_aliases: texts(&needed[late..]),
            resources: text(self.resources),
        }))
    }
}
