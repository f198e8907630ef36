//! Options of passes: what kinds there are, their values, and their form as text.
//!
//! A value is a word, a quoted string or a list of those; what it means depends on the kind that the pass declares.
//! Printing a value and reading it again gives the same value.

use std::fmt;

use crate::values::{RawValue, is_word_char, read_value};

/// The kind of an option's values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OptionKind {
    /// `true` or `false`; the name alone means `true`.
    Bool,
    /// A whole number, not less than the first and not greater than the second.
    Int(i64, i64),
    /// A whole number of at least 0; the name alone means 0.
    Count,
    /// Any text.
    Str,
    /// A list of texts; a text alone is a list of one.
    List,
    /// One of these words.
    Enum(&'static [&'static str]),
}

/// A declared option.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OptionSpec {
    /// The name before the `=`.
    pub name: &'static str,
    /// The kind of its values.
    pub kind: OptionKind,
    /// The value it has when it is not given, as it would be written; `None` when it then has none.
    pub default: Option<&'static str>,
    /// One line, without a full stop.
    pub help: &'static str,
}

/// The value of an option.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OptionValue {
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A text, or the word of an enumeration.
    Str(String),
    /// A list of texts.
    List(Vec<String>),
}

impl OptionKind {
    /// The value of `raw`, or a description of the expected one.
    pub(crate) fn read(self, raw: RawValue) -> Result<OptionValue, String> {
        let text = match (self, raw) {
            (OptionKind::List, RawValue::List(items)) => return Ok(OptionValue::List(items)),
            (OptionKind::List, RawValue::Text(item)) => return Ok(OptionValue::List(vec![item])),
            (_, RawValue::List(_)) => return Err(format!("expected {self}, not a list")),
            (_, RawValue::Text(text)) => text,
        };
        match self {
            OptionKind::Bool => match &*text {
                "true" | "1" | "on" | "yes" => Ok(OptionValue::Bool(true)),
                "false" | "0" | "off" | "no" => Ok(OptionValue::Bool(false)),
                _ => Err(format!("expected {self}")),
            },
            OptionKind::Int(min, max) => match text.parse::<i64>() {
                Ok(value) if (min..=max).contains(&value) => Ok(OptionValue::Int(value)),
                _ => Err(format!("expected {self}")),
            },
            OptionKind::Count => match text.parse::<i64>() {
                Ok(value) if value >= 0 => Ok(OptionValue::Int(value)),
                _ => Err(format!("expected {self}")),
            },
            OptionKind::Enum(words) if !words.contains(&&*text) => Err(format!("expected {self}")),
            OptionKind::Enum(_) | OptionKind::Str | OptionKind::List => Ok(OptionValue::Str(text)),
        }
    }
}

impl fmt::Display for OptionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionKind::Bool => f.write_str("true or false"),
            OptionKind::Count => f.write_str("a whole number of at least 0, or the name alone"),
            OptionKind::Int(i64::MIN, i64::MAX) => f.write_str("a whole number"),
            OptionKind::Int(min, i64::MAX) => write!(f, "a whole number of at least {min}"),
            OptionKind::Int(min, max) => write!(f, "a whole number from {min} to {max}"),
            OptionKind::Str => f.write_str("a string"),
            OptionKind::List => f.write_str("a list of strings"),
            OptionKind::Enum(words) => {
                for (at, word) in words.iter().enumerate() {
                    let before = match at {
                        0 => "",
                        _ if at + 1 == words.len() => " or ",
                        _ => ", ",
                    };
                    write!(f, "{before}`{word}`")?;
                }
                Ok(())
            }
        }
    }
}

fn write_text(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    use fmt::Write;
    if !text.is_empty() && text.chars().all(is_word_char) {
        return f.write_str(text);
    }
    f.write_char('"')?;
    for c in text.chars() {
        match c {
            '"' | '\\' => write!(f, "\\{c}")?,
            '\n' => f.write_str("\\n")?,
            '\t' => f.write_str("\\t")?,
            c => f.write_char(c)?,
        }
    }
    f.write_char('"')
}

impl fmt::Display for OptionValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionValue::Bool(value) => write!(f, "{value}"),
            OptionValue::Int(value) => write!(f, "{value}"),
            OptionValue::Str(text) => write_text(f, text),
            OptionValue::List(items) => {
                f.write_str("[")?;
                for (at, item) in items.iter().enumerate() {
                    f.write_str(if at == 0 { "" } else { ", " })?;
                    write_text(f, item)?;
                }
                f.write_str("]")
            }
        }
    }
}

/// The options of one run of a pass.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    specs: &'static [OptionSpec],
    given: Vec<(&'static str, OptionValue)>,
}

impl Options {
    /// No options given: the defaults.
    pub fn new(specs: &'static [OptionSpec]) -> Self {
        Options {
            specs,
            given: Vec::new(),
        }
    }

    /// The declared option called `name`.
    pub fn spec(&self, name: &str) -> Option<&'static OptionSpec> {
        self.specs.iter().find(|s| s.name == name)
    }

    /// Gives an option a value; `false` if none of that name is declared.
    pub fn set(&mut self, name: &str, value: OptionValue) -> bool {
        let Some(spec) = self.spec(name) else { return false };
        match self.given.iter_mut().find(|(n, _)| *n == name) {
            Some((_, old)) => *old = value,
            None => self.given.push((spec.name, value)),
        }
        true
    }

    /// Gives the options of `other` that are declared here too the same values. With this a pass that is a pipeline
    /// hands its options on.
    pub fn forward_from(&mut self, other: &Options) {
        for (name, value) in &other.given {
            self.set(name, value.clone());
        }
    }

    /// Whether the option was given, rather than being left at its default.
    pub fn is_given(&self, name: &str) -> bool {
        self.given.iter().any(|(n, _)| *n == name)
    }

    /// The options that were given, in order.
    pub fn given(&self) -> impl Iterator<Item = (&'static str, &OptionValue)> {
        self.given.iter().map(|(name, value)| (*name, value))
    }

    /// The value of an option: the one given, or else the default.
    pub fn get(&self, name: &str) -> Option<OptionValue> {
        if let Some((_, value)) = self.given.iter().find(|(n, _)| *n == name) {
            return Some(value.clone());
        }
        let spec = self.spec(name)?;
        let raw = read_value(spec.default?)?;
        spec.kind.read(raw).ok()
    }

    /// The truth value of an option; `false` when there is none.
    pub fn flag(&self, name: &str) -> bool {
        matches!(self.get(name), Some(OptionValue::Bool(true)))
    }

    /// The number that an option has.
    pub fn int(&self, name: &str) -> Option<i64> {
        match self.get(name) {
            Some(OptionValue::Int(value)) => Some(value),
            _ => None,
        }
    }

    /// The text or word that an option has.
    pub fn text(&self, name: &str) -> Option<String> {
        match self.get(name) {
            Some(OptionValue::Str(text)) => Some(text),
            _ => None,
        }
    }

    /// The list that an option has; `None` when it is neither given nor has a default.
    pub fn list(&self, name: &str) -> Option<Vec<String>> {
        match self.get(name) {
            Some(OptionValue::List(items)) => Some(items),
            _ => None,
        }
    }
}
