//! Names of values, as the context keeps them.

use ecow::EcoString;

use super::Context;
use crate::entity::Sym;
use crate::names::{Name, Stem, split};

impl Context {
    /// The name that is written so.
    pub fn name(&self, text: &str) -> Name {
        let numbered = split(text.as_bytes()).and_then(|(stem, number)| Some((self.stem(stem)?, number)));
        match numbered {
            Some((stem, number)) => Name::numbered(stem, number),
            None => self.sym(text).into(),
        }
    }

    /// The number of a word; nothing if there are too many to give it one.
    #[inline]
    pub(crate) fn stem(&self, stem: Stem) -> Option<u32> {
        self.stems.get(stem)
    }

    /// The text of a name.
    pub fn name_text(&self, name: Name) -> EcoString {
        match self.stems.numbered(name) {
            Some((stem, number)) => ecow::eco_format!("{}{number}", &stem[1..]),
            None => self.str(Sym(name.raw())).into(),
        }
    }

    /// A word and the number after it, if the name is stored as these, or its text.
    #[inline]
    pub fn name_parts(&self, name: Name) -> (&str, Option<u32>) {
        match self.stems.numbered(name) {
            Some((stem, number)) => (&stem[1..], Some(number)),
            None => (self.str(Sym(name.raw())), None),
        }
    }

    /// Writes a name with its `%`.
    #[inline]
    pub(crate) fn push_name(&self, out: &mut String, name: Name) {
        match self.stems.numbered(name) {
            Some((stem, number)) => {
                out.push_str(stem);
                out.push_str(itoa::Buffer::new().format(number));
            }
            None => {
                out.push('%');
                out.push_str(self.str(Sym(name.raw())));
            }
        }
    }

    /// Whether a name begins with a digit and is not a number: MLIR has no such names.
    pub(crate) fn is_digits_and_more(&self, name: Name) -> bool {
        let digit = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
        match self.stems.numbered(name) {
            Some((stem, _)) => digit(&stem[1..]),
            None => {
                let text = self.str(Sym(name.raw()));
                digit(text) && !text.bytes().all(|b| b.is_ascii_digit())
            }
        }
    }

    /// The number after a word, or all of a name if the word is empty.
    #[inline]
    pub(crate) fn number_behind(&self, name: Name, word: &str) -> Option<u32> {
        match self.stems.numbered(name) {
            Some((stem, number)) => (&stem[1..] == word).then_some(number),
            None => {
                let text = self.str(Sym(name.raw()));
                // Most names that are kept as texts end with a word.
                text.as_bytes().last().filter(|last| last.is_ascii_digit())?;
                text.strip_prefix(word)?.parse().ok()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::ContextBuilder;
    use crate::names::{MAX_STEMS, split_short};

    #[test]
    fn names_are_their_texts() {
        let ctx = ContextBuilder::new().build();
        let texts = [
            "0",
            "7",
            "x",
            "x0",
            "x1",
            "x01",
            "x00",
            "x10",
            "x",
            "y1",
            "x1y",
            "x1y2",
            "16777214",
            "16777215",
            "99999999",
            "123456789012",
            "v16777214",
            "v16777215",
            "longish1",
            "lengthy1",
            "longest12",
            "a-1",
            "a$b.3",
            "é1",
            "ééé12",
            "\u{1}2",
            "a\u{0}01",
            "a\u{0}\u{0}1",
            "",
        ];
        for text in texts {
            assert_eq!(ctx.name_text(ctx.name(text)), text);
            if (1..=8).contains(&text.len()) && text.is_ascii() {
                let mut bytes = *b"1b2c3d4e";
                bytes[..text.len()].copy_from_slice(text.as_bytes());
                let short = split_short(u64::from_le_bytes(bytes), text.len());
                assert_eq!(short, split(text.as_bytes()), "{text}");
            }
        }
        for (at, a) in texts.iter().enumerate() {
            for b in &texts[at + 1..] {
                assert_eq!(a == b, ctx.name(a) == ctx.name(b), "{a} {b}");
            }
        }
    }

    #[test]
    fn words_beyond_the_limit_are_symbols() {
        let ctx = ContextBuilder::new().build();
        let letter = |at: u8| char::from(b'a' + at);
        // Names with digits do not use up the numbers of other names.
        let inside = (0..100).map(|at| format!("v{at}_1"));
        let plain = (0..100).map(|at| format!("{}{}{at}", letter(at / 26), letter(at % 26)));
        let texts: Vec<String> = inside.chain(plain).collect();
        let names: Vec<_> = texts.iter().map(|t| ctx.name(t)).collect();
        for kind in names.chunks(100) {
            assert_eq!(kind.iter().filter(|n| n.place().0 > 0).count(), MAX_STEMS / 2);
        }
        for (text, &name) in texts.iter().zip(&names) {
            assert_eq!(ctx.name(text), name);
            assert_eq!(ctx.name_text(name), text.as_str());
        }
    }

    #[test]
    fn numbers_behind_words() {
        let ctx = ContextBuilder::new().build();
        let behind = |text: &str, word| ctx.number_behind(ctx.name(text), word);
        assert_eq!(behind("12", ""), Some(12));
        assert_eq!(behind("4000000000", ""), Some(4_000_000_000));
        assert_eq!(behind("arg3", "arg"), Some(3));
        assert_eq!(behind("arg03", "arg"), Some(3));
        assert_eq!(behind("args3", "arg"), None);
        assert_eq!(behind("arg3", ""), None);
    }
}
