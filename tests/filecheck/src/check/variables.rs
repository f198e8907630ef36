//! The variables that patterns define and use.

use std::collections::BTreeMap;

use super::numeric::Format;

/// What the variables represent at some moment of the check.
#[derive(Clone, Debug, Default)]
pub(crate) struct Variables {
    strings: BTreeMap<String, String>,
    numbers: BTreeMap<String, (i128, Format)>,
}

impl Variables {
    pub(crate) fn string(&self, name: &str) -> Option<&str> {
        self.strings.get(name).map(String::as_str)
    }

    pub(crate) fn number(&self, name: &str) -> Option<i128> {
        self.numbers.get(name).map(|(value, _)| *value)
    }

    pub(crate) fn is_number(&self, name: &str) -> bool {
        self.numbers.contains_key(name)
    }

    pub(crate) fn set_string(&mut self, name: &str, value: &str) {
        self.strings.insert(name.to_owned(), value.to_owned());
    }

    pub(crate) fn set_number(&mut self, name: &str, value: i128, format: Format) {
        self.numbers.insert(name.to_owned(), (value, format));
    }

    /// Forgets the variables whose names do not begin with `$`.
    pub(crate) fn clear_locals(&mut self) {
        self.strings.retain(|name, _| name.starts_with('$'));
        self.numbers.retain(|name, _| name.starts_with('$'));
    }
}
