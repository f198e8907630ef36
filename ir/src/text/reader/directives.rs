//! Directives of test runners (`RUN:`, `CHECK:` and the like): comments of the file itself, not of the output, in which
//! they would match themselves.

use memchr::memmem;
use rustc_hash::FxHashSet;

use crate::text::cursor::{blanks, line_end};

/// The words that begin directives, besides `CHECK…`.
pub(super) struct Directives<'s>(FxHashSet<&'s [u8]>);

impl<'s> Directives<'s> {
    /// The directives of lit, and the FileCheck prefixes that the file names.
    pub(super) fn of(src: &'s [u8]) -> Self {
        let mut words: FxHashSet<&[u8]> = [&b"RUN"[..], b"XFAIL", b"REQUIRES", b"UNSUPPORTED"]
            .into_iter()
            .collect();
        for at in memmem::find_iter(src, b"--check-prefix") {
            let option = &src[at..line_end(src, at)];
            let value = option
                .iter()
                .position(|&b| b == b'=' || b == b' ')
                .map_or(&b""[..], |at| &option[at + 1..]);
            let end = value
                .iter()
                .position(|b| b.is_ascii_whitespace())
                .unwrap_or(value.len());
            words.extend(value[..end].split(|&b| b == b','));
        }
        Directives(words)
    }

    pub(super) fn has(&self, line: &[u8]) -> bool {
        let text = &line[blanks(line, line.iter().take_while(|&&b| b == b'/').count())..];
        let word_end = text
            .iter()
            .position(|b| !(b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')))
            .unwrap_or(0);
        let word = &text[..word_end];
        if text.starts_with(b"expected-") {
            return text.windows(2).any(|w| w == b"{{");
        }
        // `CHECK:`, `CHECK-NEXT:`, `CHECK-COUNT-2:`, `CHECK{LITERAL}:`; the same for other prefixes.
        let prefix = |w: &[u8]| w.starts_with(b"CHECK") || self.0.contains(w);
        let begins = (1..=word.len()).any(|end| (end == word.len() || word[end] == b'-') && prefix(&word[..end]));
        begins && (text[word_end..].starts_with(b":") || text[word_end..].starts_with(b"{LITERAL}:"))
    }
}
