//! Frequent words and their lookup results: symbols and names of operations.

use super::caches::{KnownOp, LongSym};
use super::parser::Parser;
use crate::context::Context;
use crate::declare::Traits;
use crate::entity::{OpName, Sym};
use crate::names::{self, Name, Stem};

/// Spreads a number over the places of a table.
#[inline]
fn scatter(word: u64) -> usize {
    (word.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize
}

impl<'s> Parser<'s> {
    pub(super) fn sym(&mut self, text: &'s [u8]) -> Sym {
        let Some(word) = self.first_bytes(text) else {
            return self.long_sym(text);
        };
        let word = word & (u64::MAX >> (64 - 8 * text.len()));
        let at = scatter(word);
        if let Some(&(_, sym)) = self.short_syms.find(at, |&met| met == word) {
            return sym;
        }
        let sym = self.new_sym(Context::sym_hash(text), text);
        self.short_syms.keep(at, word, sym);
        sym
    }

    /// The name of a value.
    pub(super) fn name_of(&mut self, text: &'s [u8]) -> Name {
        let split = match self.first_bytes(text) {
            Some(word) => names::split_short(word, text.len()),
            None => names::split(text),
        };
        self.split_name(split, text)
    }

    /// The name of a value that has at most eight bytes; the first one is the lowest byte of `word`.
    #[inline(never)]
    pub(super) fn short_name(&mut self, word: u64, text: &'s [u8]) -> Name {
        self.split_name(names::split_short(word, text.len()), text)
    }

    /// The name of a value, and what it is made up of, if it is a word and a number.
    #[inline(always)]
    fn split_name(&mut self, split: Option<(Stem, u32)>, text: &'s [u8]) -> Name {
        let Some((stem, number)) = split else {
            return self.sym(text).into();
        };
        let at = scatter(stem);
        let id = match self.recent_stems.find(at, |&known| known == stem) {
            Some(&(_, id)) => id,
            None => {
                let id = self.ctx.stem(stem);
                self.recent_stems.keep(at, stem, id);
                id
            }
        };
        match id {
            Some(id) => Name::numbered(id, number),
            None => self.sym(text).into(),
        }
    }

    /// Where a text begins in the source, which is shorter than 4 GiB; beyond its end if the text is a constant of the
    /// reader.
    #[inline]
    fn start_of(&self, text: &[u8]) -> usize {
        (text.as_ptr() as usize).wrapping_sub(self.src.as_ptr() as usize)
    }

    /// A text of at most eight bytes as a number, the first byte lowest, with what follows it in the source in the others;
    /// nothing for a longer or an empty one, and near the end of the source.
    #[inline]
    fn first_bytes(&self, text: &[u8]) -> Option<u64> {
        let first = self.src.get(self.start_of(text)..)?.first_chunk()?;
        (1..=8).contains(&text.len()).then(|| u64::from_le_bytes(*first))
    }

    /// A symbol of any length, in the source or outside of it.
    fn long_sym(&mut self, text: &'s [u8]) -> Sym {
        let start = self.start_of(text);
        let hash = Context::sym_hash(text);
        let at = hash as usize;
        let met = self.syms.find(at, |met| {
            met.hash == hash
                && met.len as usize == text.len()
                && self.src.get(met.start as usize..met.start as usize + text.len()) == Some(text)
                && !text.is_empty()
        });
        if let Some(&(_, sym)) = met {
            return sym;
        }
        let sym = self.new_sym(hash, text);
        if self.src.get(start..start.wrapping_add(text.len())).is_some() {
            let (start, len) = (start as u32, text.len() as u32);
            self.syms.keep(at, LongSym { hash, start, len }, sym);
        }
        sym
    }

    fn new_sym(&self, hash: u32, text: &[u8]) -> Sym {
        match std::str::from_utf8(text) {
            Ok(text) => self.ctx.sym_hashed(hash, text),
            Err(_) => self.ctx.sym(&String::from_utf8_lossy(text)),
        }
    }

    /// The cached data of the operation name `text`, at the position that [`op_place`] computes.
    #[inline]
    pub(super) fn known_op(&mut self, place: usize, text: &'s [u8]) -> KnownOp {
        if let Some((_, recent)) = self.recent_ops.find(place, |&known| known == text) {
            return recent.known;
        }
        let known = self.look_up_op(text);
        self.recent_ops.keep(place, text, known.into());
        known
    }

    fn look_up_op(&mut self, text: &'s [u8]) -> KnownOp {
        if let Some(&known) = self.op_names.get(text) {
            return known;
        }
        let known = self.describe_op(self.find_op(&String::from_utf8_lossy(text)));
        self.op_names.insert(text, known);
        known
    }

    /// Looks up the operation of a name.
    pub(super) fn describe_op(&self, name: Option<OpName>) -> KnownOp {
        let def = name.and_then(|name| self.ctx.op_def(name));
        let special = Traits::FUNCTION | Traits::ISOLATED | Traits::SYMBOL;
        let ods = name.is_some_and(|name| self.ctx.ods(name).is_some());
        KnownOp {
            name,
            unregistered: def.is_none(),
            ods,
            foreign: ods || def.is_some_and(|d| d.assembly.is_some()),
            plain: def.is_some_and(|d| d.regions.is_empty() && d.successors == 0 && !d.traits.intersects(special)),
            resultless: def.is_some_and(|d| d.results.is_empty()),
        }
    }

    /// The operation of a name, if it may be used.
    pub(super) fn find_op(&self, name: &str) -> Option<OpName> {
        match self.ctx.registered_op(name) {
            None if self.options.allow_unregistered || self.ctx.is_known_op(name) => Some(self.ctx.op_name(name)),
            found => found,
        }
    }
}
