//! What the reader remembers: the same words, types and attributes come again and again.

use smallvec::SmallVec;

use crate::entity::{OpName, Sym};
use crate::text::cursor;
use crate::types::{AttrDict, Type};

/// How many symbols the parser remembers at most, of short ones and of others: a power of two.
const MAX_SYMS: usize = 4096;

/// How many symbols the parser remembers of a source of so many bytes.
pub(super) fn num_syms(source: usize) -> usize {
    (source / 8).clamp(1, MAX_SYMS).next_power_of_two()
}

/// How many words in front of numbers are found without asking all threads.
pub(super) const RECENT_STEMS: usize = 16;

/// How many types are found without hashing.
pub(super) const RECENT_TYPES: usize = 16;

/// How many names of operations are found without hashing.
pub(super) const RECENT_OPS: usize = 32;

/// A symbol of at most eight bytes that was met lately. As a number they tell all about it, since none of them is zero.
#[derive(Clone, Copy)]
pub(super) struct ShortSymEntry {
    pub(super) word: u64,
    pub(super) sym: Sym,
}

impl Default for ShortSymEntry {
    fn default() -> Self {
        ShortSymEntry { word: 0, sym: Sym(0) }
    }
}

/// A longer symbol that was met lately: its hash, where it is, how long it is, and what it is. The hash comes first, since
/// comparing the text may cost a cache miss.
#[derive(Clone, Copy)]
pub(super) struct SymEntry {
    pub(super) hash: u32,
    pub(super) start: u32,
    pub(super) len: u32,
    pub(super) sym: Sym,
}

impl Default for SymEntry {
    fn default() -> Self {
        SymEntry {
            hash: 0,
            start: 0,
            len: 0,
            sym: Sym(0),
        }
    }
}

/// What is known of the name of an operation.
#[derive(Clone, Copy)]
pub(super) struct KnownOp {
    /// The name, if it may be used.
    pub(super) name: Option<OpName>,
    /// Whether nothing is known of it but its name.
    pub(super) unregistered: bool,
    /// Whether it is registered, without regions, successors and a symbol of its own.
    pub(super) plain: bool,
    /// Whether MLIR's declaration of its text is known.
    pub(super) ods: bool,
    /// Whether it has a form beside ours.
    pub(super) foreign: bool,
    /// Whether it is declared without results.
    pub(super) resultless: bool,
}

/// The place of the name of an operation in tables of [`RECENT_OPS`]: its length and two of its last letters tell, which differ
/// in `addf`, `addi` and `mulf`.
#[inline]
pub(super) fn op_place(name: &[u8]) -> usize {
    let letter = |from_end: usize| {
        let at = name.len().wrapping_sub(from_end);
        name.get(at).copied().map_or(0, usize::from)
    };
    name.len() + letter(1) + 5 * letter(4)
}

/// How many attribute lists the parser remembers, and how long they are at most.
pub(super) const DICTS: usize = 256;
pub(super) const MAX_DICT: usize = 128;

/// Attributes that were read, whose text ends at its first closing brace and means the same wherever it is.
#[derive(Clone, Copy)]
pub(super) struct RecentDict<'s> {
    pub(super) text: &'s [u8],
    pub(super) attrs: AttrDict,
    /// How many attributes and types were read.
    pub(super) size: usize,
}

impl Default for RecentDict<'_> {
    fn default() -> Self {
        RecentDict {
            text: &[],
            attrs: AttrDict::EMPTY,
            size: 0,
        }
    }
}

/// Whether a text means the same wherever it is: `#word` and `!word` may be aliases, which means something from their
/// definition on, but not with a `<` after them. (Inside strings, where they are none, they count too.)
pub(super) fn is_fixed(text: &[u8]) -> bool {
    memchr::memchr2_iter(b'#', b'!', text).all(|at| {
        let behind = text[at + 1..].iter().find(|&&b| !cursor::is_suffix_byte(b));
        behind == Some(&b'<')
    })
}

/// A signature that was read, `(type, type) -> type`, and means the same wherever it is; no text for none.
#[derive(Default)]
pub(super) struct RecentSignature<'s> {
    pub(super) text: &'s [u8],
    pub(super) operands: SmallVec<[Type; 4]>,
    pub(super) results: SmallVec<[Type; 4]>,
}
