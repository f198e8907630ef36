//! Texts that were written lately: the same comes again and again.

use smallvec::SmallVec;

use crate::context::Context;
use crate::entity::Sym;
use crate::recent::Recent;
use crate::types::{AttrDict, Type};

/// How many texts are kept, and how long they are at most.
const TEXTS: usize = 64;
pub(super) const MAX_TEXT: usize = 128;

/// The recently printed text of each key.
pub(super) struct Texts<K>(Recent<K, String>);

impl<K> Default for Texts<K> {
    fn default() -> Self {
        Texts(Recent::new(TEXTS))
    }
}

impl<K: PartialEq> Texts<K> {
    /// Appends the text of `key`, which `write` appends when it is not known. The number selects the position of the key.
    pub(super) fn push(&mut self, out: &mut String, key: K, number: usize, write: impl FnOnce(&mut String)) {
        if let Some((_, text)) = self.0.find(number, |known| *known == key) {
            out.push_str(text);
            return;
        }
        let start = out.len();
        write(out);
        let text = &out[start..];
        if text.len() <= MAX_TEXT {
            match self.0.at(number) {
                Some((known, kept)) => {
                    *known = key;
                    kept.clear();
                    kept.push_str(text);
                }
                free => *free = Some((key, text.to_owned())),
            }
        }
    }
}

/// How many signatures are kept.
const SIGNATURES: usize = 256;

/// The types of operands and results.
#[derive(Default)]
pub(super) struct Signature {
    pub(super) operands: SmallVec<[Type; 4]>,
    pub(super) results: SmallVec<[Type; 4]>,
}

/// The recently printed parts of the generic form.
pub(super) struct Generic {
    /// The name under which the properties of operations that nothing is known of are among their attributes.
    pub(super) properties: Option<Sym>,
    /// Texts of properties, and of the other attributes.
    pub(super) heads: Texts<AttrDict>,
    pub(super) tails: Texts<AttrDict>,
    /// Texts of signatures, ` : (type, type) -> type`, at a position that the name of the operation and its first and last type select.
    pub(super) signatures: Recent<Signature, String>,
}

impl Generic {
    pub(super) fn new(ctx: &Context) -> Self {
        Generic {
            properties: ctx.find_sym("<{}>"),
            heads: Texts::default(),
            tails: Texts::default(),
            signatures: Recent::new(SIGNATURES),
        }
    }
}
