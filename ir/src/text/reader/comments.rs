//! Comments, which belong to the operation after them.

use super::directives::Directives;
use super::parser::Parser;
use crate::text::cursor::{blanks, line_end};

impl Parser<'_> {
    /// Skips blanks, and collects comments for what follows; the first is at the end of the last operation's line when no line break was
    /// before it.
    #[inline(always)]
    pub(super) fn comments(&mut self) {
        // The last operation was read up to the next one if there are no comments; a region begins on a new line.
        let is_token = |next: u8| next > b' ' && next != b'/';
        match self.peek() {
            next if is_token(next) => {}
            b'\n' if self.src.get(self.pos + 1).is_some_and(|&next| is_token(next)) => self.pos += 1,
            _ => self.collect_comments(),
        }
    }

    fn collect_comments(&mut self) {
        let start = self.pos;
        loop {
            let before = self.pos;
            self.pos = blanks(self.src, self.pos);
            if self.peek() != b'/' || !self.starts_with(b"//") {
                return;
            }
            let end = line_end(self.src, self.pos);
            let bytes = &self.src[self.pos..end];
            let same_line = before == start && !self.src[before..self.pos].iter().any(|b| matches!(b, b'\n' | b'\r'));
            self.pos = end;
            // MLIR prints this after labels.
            if same_line && before.checked_sub(1).is_some_and(|at| self.src[at] == b':') && lists_predecessors(bytes) {
                continue;
            }
            if self
                .directives
                .get_or_insert_with(|| Directives::of(self.whole))
                .has(bytes)
            {
                continue;
            }
            let line = String::from_utf8_lossy(bytes);
            let line = line.trim_end();
            if same_line
                && let Some(open) = self.open.last()
                && let Some(op) = open.last
            {
                let comment = match self.body().comment(op) {
                    Some(old) => format!("{old}\n{line}"),
                    None => line.to_owned(),
                };
                self.body().set_comment(op, &comment);
                continue;
            }
            if !self.comment.is_empty() {
                self.comment.push('\n');
            }
            self.comment.push_str(line);
        }
    }
}

/// Whether a comment lists the predecessors of a block: `// 2 preds: ^bb0, ^bb1`.
fn lists_predecessors(comment: &[u8]) -> bool {
    let Some(text) = comment.strip_prefix(b"// ") else {
        return false;
    };
    let counted = text
        .iter()
        .position(|byte| !byte.is_ascii_digit())
        .unwrap_or(text.len());
    text.trim_ascii_end() == b"no predecessors"
        || text.starts_with(b"pred: ^")
        || counted > 0 && text[counted..].starts_with(b" preds: ^")
}
