//! Literals kept as text, and their detectable errors: elements that do not fit the type, numbers that do not fit theirs, maps of what is
//! not a dimension, locations that are none.

use super::affine;
use super::parser::{Failure, Parser};
use crate::diagnostics::Span;
use crate::text::cursor;
use crate::text::writer::attr::print_type;
use crate::types::{Signedness, Type, TypeData};

/// The forms of an element of a literal.
#[derive(Clone, Copy)]
enum Element {
    Integer(u32, Signedness),
    Float,
    /// Not checked.
    Other,
}

impl Parser<'_> {
    pub(super) fn wrong_literal(&self, span: Span, message: String, help: &str) -> Failure {
        self.error("literal", message, span).with_help(help)
    }

    /// Whether a number may be of the type, an integer or, for `float`, a number with a point.
    pub(super) fn check_number_type(&self, start: usize, ty: Type, float: bool) -> Result<(), Failure> {
        let fits = match self.ctx.type_data(ty) {
            TypeData::Float(_) => true,
            TypeData::Integer { .. } | TypeData::Index => !float,
            _ => false,
        };
        if fits {
            return Ok(());
        }
        let (what, help) = match float {
            true => ("a number with a decimal point", "its type is a float type: `0.5 : f32`"),
            false => (
                "an integer",
                "its type is an integer or float type, or `index`: `1 : i32`",
            ),
        };
        let message = format!("{what} cannot be of type `{}`", print_type(self.ctx, ty));
        Err(self.wrong_literal(Span::new(start, self.pos), message, help))
    }

    /// Whether an integer fits its type.
    pub(super) fn check_integer(&self, start: usize, value: i128, ty: Type) -> Result<(), Failure> {
        let element = self.element(ty);
        if let Element::Integer(width, sign) = element
            && !fits(value, width, sign)
        {
            let message = format!("{value} does not fit in `{}`", print_type(self.ctx, ty));
            return Err(self.wrong_literal(Span::new(start, self.pos), message, "give it a wider type"));
        }
        Ok(())
    }

    fn element(&self, ty: Type) -> Element {
        match *self.ctx.type_data(ty) {
            TypeData::Integer { width, sign } => Element::Integer(width, sign),
            TypeData::Index => Element::Integer(64, Signedness::Signed),
            TypeData::Float(_) => Element::Float,
            _ => Element::Other,
        }
    }

    /// Whether the text in the brackets of an `affine_map<…>` or `affine_set<…>` is one.
    pub(super) fn check_affine(&self, inside: Span, is_map: bool) -> Result<(), Failure> {
        let text = &self.src[inside.start as usize..inside.end as usize];
        affine::check(text, is_map).map_err(|why| {
            let help = match is_map {
                true => "a map is written `affine_map<(d0, d1)[s0] -> (d0 + s0, d1)>`",
                false => "a set is written `affine_set<(d0)[s0] : (d0 - s0 >= 0)>`",
            };
            self.wrong_literal(inside, why, help)
        })
    }

    /// Whether the text in the parentheses of a `loc(…)` begins like a location.
    pub(super) fn check_location(&self, inside: Span) -> Result<(), Failure> {
        let text = self.src[inside.start as usize..inside.end as usize].trim_ascii();
        let word = cursor::name(text).map_or(&b""[..], |(_, word)| word);
        if matches!(text.first(), Some(b'"' | b'#'))
            || matches!(word, b"unknown" | b"fused" | b"callsite" | b"distinct")
        {
            return Ok(());
        }
        Err(self.wrong_literal(
            inside,
            "this is not a location".to_owned(),
            "a location is written `loc(\"file\":1:2)`, `loc(\"name\")` or `loc(unknown)`",
        ))
    }
}

/// Whether an integer fits a width. One without a sign may be written with or without.
pub(super) fn fits(value: i128, width: u32, sign: Signedness) -> bool {
    if width >= 127 {
        return true;
    }
    let whole = 1i128 << width;
    let half = if width == 0 { 0 } else { whole / 2 };
    match sign {
        Signedness::Signed => (-half..half.max(1)).contains(&value),
        Signedness::Unsigned => (0..whole).contains(&value),
        Signedness::Signless => (-half..whole).contains(&value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_fit() {
        assert!(fits(255, 8, Signedness::Signless) && fits(-128, 8, Signedness::Signless));
        assert!(!fits(256, 8, Signedness::Signless) && !fits(-129, 8, Signedness::Signless));
        assert!(!fits(128, 8, Signedness::Signed) && !fits(-1, 8, Signedness::Unsigned));
        assert!(fits(-1, 1, Signedness::Signless) && fits(0, 0, Signedness::Signless));
    }
}
