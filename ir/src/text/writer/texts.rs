//! Texts that were written lately: the same comes again and again.

use crate::recent::Recent;

/// How many texts are kept, and how long they are at most.
const TEXTS: usize = 64;
pub(super) const MAX_TEXT: usize = 128;

/// What was written lately of each key.
pub(super) struct Texts<K>(Recent<Option<(K, String)>>);

impl<K> Default for Texts<K> {
    fn default() -> Self {
        Texts(Recent::new(TEXTS))
    }
}

impl<K: PartialEq> Texts<K> {
    /// Appends the text of `key`, which `write` appends when it is not known. The number tells the place of the key.
    pub(super) fn push(&mut self, out: &mut String, key: K, number: usize, write: impl FnOnce(&mut String)) {
        let is_known = |kept: &Option<(K, String)>| kept.as_ref().is_some_and(|kept| kept.0 == key);
        if let Some(Some((_, text))) = self.0.find(number, is_known) {
            out.push_str(text);
            return;
        }
        let start = out.len();
        write(out);
        let text = &out[start..];
        if text.len() <= MAX_TEXT {
            match self.0.place(number) {
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
