//! The caches of the reader: the same words, types and attributes come again and again.

use smallvec::SmallVec;

use crate::entity::OpName;
use crate::text::cursor;
use crate::types::{AttrDict, Type};

/// How many symbols the parser remembers at most, of short ones and of others: a power of two.
const MAX_SYMS: usize = 4096;

/// The number of symbols that the parser caches for a source of `source` bytes.
pub(super) fn num_syms(source: usize) -> usize {
    (source / 8).clamp(1, MAX_SYMS).next_power_of_two()
}

/// How many words in front of numbers are found without asking all threads.
pub(super) const RECENT_STEMS: usize = 16;

/// How many types are found without hashing.
pub(super) const RECENT_TYPES: usize = 64;

/// How many names of operations are found without hashing.
pub(super) const RECENT_OPS: usize = 64;

/// A symbol of more than eight bytes: its hash, where it is, and how long it is. The hash comes first, since comparing the
/// text may cost a cache miss.
#[derive(Clone, Copy)]
pub(super) struct LongSym {
    pub(super) hash: u32,
    pub(super) start: u32,
    pub(super) len: u32,
}

/// The lookup result of an operation name.
#[derive(Clone, Copy)]
pub(super) struct KnownOp {
    /// The name, if it may be used.
    pub(super) name: Option<OpName>,
    /// Whether nothing is known of it but its name.
    pub(super) unregistered: bool,
    /// Whether the operation is registered, and has no regions, successors or symbol name.
    pub(super) plain: bool,
    /// Whether MLIR's declaration of its text is known.
    pub(super) ods: bool,
    /// Whether it has a form beside ours.
    pub(super) foreign: bool,
    /// Whether it is declared without results.
    pub(super) resultless: bool,
}

/// A cache entry of a recently parsed operation.
pub(super) struct RecentOp<'s> {
    pub(super) known: KnownOp,
    /// Attributes that were found to be declared.
    pub(super) declared: AttrDict,
    /// The signature that was read last, `(type, type) -> type`, if its text means the same wherever it is; no text for none.
    pub(super) signature: &'s [u8],
    pub(super) operands: SmallVec<[Type; 4]>,
    pub(super) results: SmallVec<[Type; 4]>,
}

impl From<KnownOp> for RecentOp<'_> {
    fn from(known: KnownOp) -> Self {
        RecentOp {
            known,
            declared: AttrDict::EMPTY,
            signature: &[],
            operands: SmallVec::new(),
            results: SmallVec::new(),
        }
    }
}

/// The index of an operation name in tables of [`RECENT_OPS`]: a hash of its length and two of its last letters, which
/// differ in `addf`, `addi` and `mulf`.
#[inline]
pub(super) fn op_place(name: &[u8]) -> usize {
    let letter = |from_end: usize| {
        let at = name.len().wrapping_sub(from_end);
        name.get(at).copied().map_or(0, usize::from)
    };
    3 * name.len() + letter(1) + 5 * letter(4)
}

/// How many attribute lists the parser remembers, and how long they are at most.
pub(super) const DICTS: usize = 256;
pub(super) const MAX_DICT: usize = 128;

/// Whether a text means the same wherever it is: `#word` and `!word` may be aliases, which means something from their
/// definition on, but not with a `<` after them. (Inside strings, where they are none, they count too.)
pub(super) fn is_fixed(text: &[u8]) -> bool {
    memchr::memchr2_iter(b'#', b'!', text).all(|at| {
        let behind = text[at + 1..].iter().find(|&&b| !cursor::is_suffix_byte(b));
        behind == Some(&b'<')
    })
}
