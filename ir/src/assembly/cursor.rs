//! A position in a format that is being parsed: words and signs, with white space between them.

/// The rest of the text of a format.
pub(crate) struct Cursor<'t> {
    pub(crate) rest: &'t str,
    /// Its name in error messages.
    kind: &'static str,
}

impl<'t> Cursor<'t> {
    /// The whole text of a format, which is called `kind` in errors.
    pub(crate) fn new(text: &'t str, kind: &'static str) -> Self {
        Cursor {
            rest: text.trim_start(),
            kind,
        }
    }

    /// Advances to `rest`, after white space.
    pub(crate) fn set(&mut self, rest: &'t str) {
        self.rest = rest.trim_start();
    }

    /// Reads a word or a sign, if it is next.
    pub(crate) fn eat(&mut self, sign: &str) -> bool {
        let rest = self.rest.strip_prefix(sign);
        rest.into_iter().for_each(|rest| self.set(rest));
        rest.is_some()
    }

    /// Reads a word or a sign.
    ///
    /// # Errors
    /// When something else is next.
    pub(crate) fn expect(&mut self, sign: &str) -> Result<(), String> {
        match self.eat(sign) {
            true => Ok(()),
            false => Err(format!("expected `{sign}` in {} before `{}`", self.kind, self.rest)),
        }
    }

    /// Reads a word, of letters, digits and these signs; an empty one if none is next.
    pub(crate) fn word(&mut self, signs: &[char]) -> &'t str {
        let is_inside = |c: char| c.is_ascii_alphanumeric() || signs.contains(&c);
        let end = self.rest.find(|c| !is_inside(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.set(rest);
        word
    }
}
