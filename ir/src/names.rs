//! Names of values.
//!
//! Nearly all of them are a word and a number: `%v12`, `%arg0`, `%3`. Of those no text is kept: the name states which word
//! and which number, so that a program with a name for each operation needs no table of strings. Any other name is an
//! interned string.

use std::sync::OnceLock;

use ecow::EcoString;

use crate::entity::Sym;

/// The name of a value in the text, without the `%`. Equal names are equal texts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Name(u32);

/// In a [`Name`]: it is a word and a number. Below are the word and the number, or the symbol.
const NUMBERED: u32 = 1 << 30;
/// How many bits the number takes.
const NUMBER_BITS: u32 = 24;
/// An exclusive upper bound of the numbers in names.
const MAX_NUMBER: u32 = (1 << NUMBER_BITS) - 1;
/// How many words there are at most; half of them may have digits inside, like `v0_`.
pub(crate) const MAX_STEMS: usize = 64;
/// How many bytes a word has at most.
const MAX_STEM: usize = 7;

impl Name {
    /// How many lists there are in [`Name::place`].
    pub(crate) const NUM_LISTS: usize = 1 << (31 - NUMBER_BITS);
    /// How long these lists are at most.
    pub(crate) const MAX_LIST: usize = 1 << NUMBER_BITS;

    /// The name as a number below 2³¹ - 1.
    #[inline]
    pub(crate) fn raw(self) -> u32 {
        self.0
    }

    #[inline]
    pub(crate) fn from_raw(raw: u32) -> Self {
        Self(raw)
    }

    /// The name of a word and a number; the number is one that [`split`] gives.
    #[inline]
    pub(crate) fn numbered(stem: u32, number: u32) -> Self {
        Self(NUMBERED | stem << NUMBER_BITS | number)
    }

    /// A place for each name in some lists: those with the same word are next to each other.
    #[inline]
    pub(crate) fn place(self) -> (usize, usize) {
        ((self.0 >> NUMBER_BITS) as usize, self.0 as usize % Self::MAX_LIST)
    }

    /// The name with this place.
    pub(crate) fn at(list: usize, index: usize) -> Self {
        Self((list << NUMBER_BITS | index) as u32)
    }
}

impl From<Sym> for Name {
    /// # Panics
    /// When it is one of more than a thousand million symbols, which do not fit in memory.
    #[inline]
    fn from(sym: Sym) -> Self {
        assert!(sym.0 < NUMBERED, "too many names");
        Self(sym.0)
    }
}

/// The word in front of a number: its bytes, the last of eight states how many.
pub(crate) type Stem = u64;

/// A word that does not end with a digit and the number after it, if that is what the text is.
#[inline]
pub(crate) fn split(text: &[u8]) -> Option<(Stem, u32)> {
    let digits = text.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    let (stem, digits) = text.split_at(text.len() - digits);
    let number_is_short = match digits {
        [] => false,
        [b'0', _, ..] => false,
        _ => digits.len() <= 8,
    };
    if !number_is_short || stem.len() > MAX_STEM {
        return None;
    }
    let number = digits.iter().fold(0, |n, digit| n * 10 + u32::from(digit - b'0'));
    if number >= MAX_NUMBER || !stem.is_ascii() {
        return None;
    }
    let bytes = stem.iter().rev().fold(0, |word, &b| word << 8 | u64::from(b));
    Some((bytes | (stem.len() as u64) << 56, number))
}

/// The same for at most eight ASCII bytes, processed at once; the first one is the lowest byte of `word`.
#[inline]
pub(crate) fn split_short(word: u64, len: usize) -> Option<(Stem, u32)> {
    const EACH: u64 = 0x0101_0101_0101_0101;
    // The last byte of the text becomes the highest one. Of a digit there remains its number.
    let bytes = (word << (64 - 8 * len)) ^ (0x30 * EACH);
    // No byte is above 127, so that none carries into the next.
    let no_digits = (bytes + 0x76 * EACH) & (0x80 * EACH);
    let count = no_digits.leading_zeros() as usize / 8;
    if count == 0 {
        return None;
    }
    let before = u64::MAX.checked_shr(8 * count as u32).unwrap_or(0);
    let digits = bytes & !before;
    if count > 1 && digits >> (64 - 8 * count) & 0xFF == 0 {
        return None;
    }
    // Two, four, eight digits: each number is ten, a hundred, ten thousand times the lower one plus the upper one.
    let pairs = (digits * 10 + (digits >> 8)) & 0x00FF_00FF_00FF_00FF;
    let fours = (pairs * 100 + (pairs >> 16)) & 0x0000_FFFF_0000_FFFF;
    let number = (fours * 10_000 + (fours >> 32)) as u32;
    let stem_len = len - count;
    let stem = word & !(u64::MAX << (8 * stem_len));
    (number < MAX_NUMBER).then_some((stem | (stem_len as u64) << 56, number))
}

/// The words in front of numbers. The first ones are kept; of those that come when there are enough, names are symbols.
pub(crate) struct Stems {
    /// The words with a `%` in front. A place is taken when those before it in its half are.
    known: [OnceLock<(Stem, EcoString)>; MAX_STEMS],
}

impl Stems {
    pub(crate) fn new() -> Self {
        Self {
            known: [const { OnceLock::new() }; MAX_STEMS],
        }
    }

    /// The number that a name ends with, and the word in front of it with its `%`; only of names that are kept so.
    #[inline]
    pub(crate) fn numbered(&self, name: Name) -> Option<(&str, u32)> {
        let below = name.0.checked_sub(NUMBERED)?;
        let (_, stem) = self.known.get((below >> NUMBER_BITS) as usize)?.get()?;
        Some((stem, below & MAX_NUMBER))
    }

    /// The number of a word; nothing if there are too many to give it one.
    #[inline]
    pub(crate) fn get(&self, stem: Stem) -> Option<u32> {
        let bytes = stem.to_le_bytes();
        let bytes = &bytes[..bytes[MAX_STEM] as usize];
        let make = || {
            // Words are ASCII.
            let text = std::str::from_utf8(bytes).unwrap_or_default();
            (stem, ecow::eco_format!("%{text}"))
        };
        // Words with digits can be numerous, and each has few numbers: reserve less for them.
        let first = if bytes.iter().any(u8::is_ascii_digit) {
            MAX_STEMS / 2
        } else {
            0
        };
        let places = first..first + MAX_STEMS / 2;
        let at = self.known[places]
            .iter()
            .position(|place| place.get_or_init(make).0 == stem)?;
        Some((first + at) as u32)
    }
}
