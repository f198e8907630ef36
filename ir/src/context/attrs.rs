//! Attributes and dictionaries of common kinds.

use super::Context;
use crate::elements::Elements;
use crate::entity::Sym;
use crate::types::{Attr, AttrData, AttrDict, Type};

impl Context {
    /// A plain integer, of type `i64`.
    pub fn int_attr(&self, value: i64) -> Attr {
        self.attr(AttrData::Int {
            value: value.into(),
            ty: Type::I64,
        })
    }

    /// A plain floating-point number, of type `f64`.
    pub fn float_attr(&self, value: f64) -> Attr {
        self.attr(AttrData::Float {
            bits: value.to_bits(),
            ty: Type::F64,
        })
    }

    /// A string attribute.
    pub fn str_attr(&self, text: &str) -> Attr {
        self.attr(AttrData::Str(text.into()))
    }

    /// `true` or `false`.
    pub fn bool_attr(&self, value: bool) -> Attr {
        self.attr(AttrData::Bool(value))
    }

    /// A list of integers.
    pub fn ints_attr(&self, values: &[i64]) -> Attr {
        self.attr(AttrData::Ints(values.into()))
    }

    /// A type as an attribute.
    pub fn type_attr(&self, ty: Type) -> Attr {
        self.attr(AttrData::Type(ty))
    }

    /// The integer that an attribute holds: an integer or a truth value.
    pub fn attr_int(&self, attr: Attr) -> Option<i64> {
        match self.attr_data(attr) {
            AttrData::Int { value, .. } => i64::try_from(*value).ok(),
            AttrData::Bool(value) => Some(i64::from(*value)),
            _ => None,
        }
    }

    /// The number that an attribute holds, integers and truth values included.
    pub fn attr_f64(&self, attr: Attr) -> Option<f64> {
        match self.attr_data(attr) {
            AttrData::Float { bits, .. } => Some(f64::from_bits(*bits)),
            AttrData::Int { value, .. } => Some(*value as f64),
            AttrData::Bool(value) => Some(f64::from(u8::from(*value))),
            _ => None,
        }
    }

    /// The truth value that an attribute holds.
    pub fn attr_bool(&self, attr: Attr) -> Option<bool> {
        match self.attr_data(attr) {
            AttrData::Bool(value) => Some(*value),
            AttrData::Int { value, .. } => Some(*value != 0),
            _ => None,
        }
    }

    /// The text of a string attribute.
    pub fn attr_str(&self, attr: Attr) -> Option<&str> {
        match self.attr_data(attr) {
            AttrData::Str(text) => Some(text),
            _ => None,
        }
    }

    /// The integers of a list attribute.
    pub fn attr_ints(&self, attr: Attr) -> Option<&[i64]> {
        match self.attr_data(attr) {
            AttrData::Ints(values) => Some(values),
            _ => None,
        }
    }

    /// The elements of a constant.
    pub fn attr_elements(&self, attr: Attr) -> Option<&Elements> {
        match self.attr_data(attr) {
            AttrData::Elements(elements) => Some(elements),
            _ => None,
        }
    }

    /// The type that an attribute holds.
    pub fn attr_type(&self, attr: Attr) -> Option<Type> {
        match self.attr_data(attr) {
            AttrData::Type(ty) => Some(*ty),
            _ => None,
        }
    }

    /// The same entries sorted by name: equal for dictionaries that differ in order only.
    pub fn dict_sorted(&self, dict: AttrDict) -> AttrDict {
        let entries = self.dict_entries(dict);
        if entries.len() < 2 || entries.is_sorted_by_key(|&(name, _)| self.str(name)) {
            return dict;
        }
        let mut sorted = entries.to_vec();
        sorted.sort_by_key(|&(name, _)| self.str(name));
        self.dict(&sorted)
    }

    /// The entry called `name`.
    #[inline]
    pub fn dict_get(&self, dict: AttrDict, name: &str) -> Option<Attr> {
        // Most operations have no attributes.
        match dict {
            AttrDict::EMPTY => None,
            _ => self.find_entry(dict, name),
        }
    }

    fn find_entry(&self, dict: AttrDict, name: &str) -> Option<Attr> {
        let found = self.dict_entries(dict).iter().find(|&&(n, _)| self.str(n) == name);
        found.map(|&(_, attr)| attr)
    }

    /// All attributes that were made.
    pub(crate) fn all_attrs(&self) -> impl Iterator<Item = &AttrData> {
        (0..self.attrs.len() as u32).map(|id| self.attrs.get(id))
    }

    /// The entry of that name.
    #[inline]
    pub(crate) fn dict_get_sym(&self, dict: AttrDict, name: Sym) -> Option<Attr> {
        let entry = self.dict_entries(dict).iter().find(|entry| entry.0 == name);
        entry.map(|entry| entry.1)
    }

    /// The dictionary with `name` set to `value`, at its old place or at the end.
    pub fn dict_with(&self, dict: AttrDict, name: &str, value: Attr) -> AttrDict {
        let name = self.sym(name);
        let mut entries = self.dict_entries(dict).to_vec();
        match entries.iter_mut().find(|(n, _)| *n == name) {
            Some(entry) => entry.1 = value,
            None => entries.push((name, value)),
        }
        self.dict(&entries)
    }

    /// The dictionary without `name`.
    pub fn dict_without(&self, dict: AttrDict, name: &str) -> AttrDict {
        let entries: Vec<_> = self
            .dict_entries(dict)
            .iter()
            .copied()
            .filter(|&(n, _)| self.str(n) != name)
            .collect();
        self.dict(&entries)
    }
}
