//! Attributes of StableHLO as they are written in MLIR: `array<i64: 1, 0>`, `dense<…>`, `#stablehlo.dot<…>`.

use pir_ir::{Attr, AttrData, AttrDict, Context};
use smallvec::SmallVec;

/// A list of integers or truth values.
pub(super) type List = SmallVec<[i64; 6]>;

/// The attributes of an operation.
#[derive(Clone, Copy)]
pub(super) struct Attrs<'c> {
    pub(super) ctx: &'c Context,
    pub(super) dict: AttrDict,
}

impl<'c> Attrs<'c> {
    pub(super) fn get(self, name: &str) -> Option<Attr> {
        self.ctx.dict_get(self.dict, name)
    }

    /// An integer.
    pub(super) fn int(self, name: &str) -> Result<i64, String> {
        let value = self.get(name).and_then(|attr| self.ctx.attr_int(attr));
        value.ok_or_else(|| format!("the attribute `{name}` must be an integer"))
    }

    /// Whether a flag is there and true.
    pub(super) fn is_set(self, name: &str) -> bool {
        self.get(name).and_then(|attr| self.ctx.attr_bool(attr)) == Some(true)
    }

    /// A list of integers, which must be given.
    pub(super) fn list(self, name: &str) -> Result<List, String> {
        let attr = self
            .get(name)
            .ok_or_else(|| format!("it needs the attribute `{name}`"))?;
        integers(self.ctx, attr)
            .ok_or_else(|| format!("the attribute `{name}` must be a list of integers: `array<i64: 1, 2>`"))
    }

    /// A list of `count` integers.
    pub(super) fn list_of(self, name: &str, count: usize) -> Result<List, String> {
        let list = self.list(name)?;
        match list.len() == count {
            true => Ok(list),
            false => Err(format!("expected {count} numbers in `{name}`, found {}", list.len())),
        }
    }

    /// A list of `count` integers; without the attribute, `count` times the default.
    pub(super) fn list_or(self, name: &str, default: i64, count: usize) -> Result<List, String> {
        match self.get(name) {
            Some(_) => self.list_of(name, count),
            None => Ok(SmallVec::from_elem(default, count)),
        }
    }

    /// The word of `#stablehlo<KIND WORD>`.
    pub(super) fn word(self, name: &str) -> Option<&'c str> {
        let text = opaque(self.ctx, self.get(name)?)?;
        text.trim_end_matches('>').rsplit(' ').next()
    }

    /// The text of an attribute of the dialect.
    pub(super) fn text(self, name: &str) -> Option<&'c str> {
        opaque(self.ctx, self.get(name)?)
    }

    /// The fields of `#stablehlo.KIND<field = [1, 2], …>`.
    pub(super) fn fields(self, name: &str) -> Result<Fields<'c>, String> {
        let text = self.get(name).and_then(|attr| opaque(self.ctx, attr));
        let inside = text.and_then(|text| text.split_once('<')?.1.strip_suffix('>'));
        let inside = inside.ok_or_else(|| format!("it needs the attribute `{name}`"))?;
        Ok(Fields(inside))
    }
}

/// Named lists of integers.
#[derive(Clone, Copy)]
pub(super) struct Fields<'c>(&'c str);

impl Fields<'_> {
    /// A list; none is an empty one.
    pub(super) fn list(self, name: &str) -> Result<List, String> {
        let Some(text) = self.value(name) else {
            return Ok(List::new());
        };
        let inside = text.strip_prefix('[').and_then(|text| text.split_once(']'));
        inside
            .and_then(|(list, _)| numbers(list))
            .ok_or_else(|| format!("`{name}` must be a list of integers"))
    }

    /// A number; none is zero.
    pub(super) fn number(self, name: &str) -> Result<i64, String> {
        let Some(text) = self.value(name) else { return Ok(0) };
        let word = text.split([',', '>']).next().unwrap_or_default().trim();
        word.parse().map_err(|_| format!("`{name}` must be an integer"))
    }

    fn value(&self, name: &str) -> Option<&str> {
        let mut rest = self.0;
        loop {
            let (word, value) = rest.split_once('=')?;
            let value = value.trim_start();
            if word.trim() == name {
                return Some(value);
            }
            // The next field is after the comma that is not inside of brackets.
            let end = value
                .strip_prefix('[')
                .and_then(|list| list.find(']'))
                .map_or(0, |at| at + 1);
            rest = value[end..].split_once(',')?.1;
        }
    }
}

fn opaque(ctx: &Context, attr: Attr) -> Option<&str> {
    match ctx.attr_data(attr) {
        AttrData::Opaque(text) => Some(text),
        _ => None,
    }
}

fn numbers(list: &str) -> Option<List> {
    let words = list.split(',').map(str::trim).filter(|word| !word.is_empty());
    words
        .map(|word| match word {
            "true" => Some(1),
            "false" => Some(0),
            word => word.parse().ok(),
        })
        .collect()
}

/// The integers of a list, or of `array<…>`, or of the elements of `dense<…>`, the last dimension running fastest.
pub(super) fn integers(ctx: &Context, attr: Attr) -> Option<List> {
    if let Some(list) = ctx.attr_ints(attr) {
        return Some(list.iter().copied().collect());
    }
    ctx.attr_elements(attr)?.ints().map(Iterator::collect)
}
