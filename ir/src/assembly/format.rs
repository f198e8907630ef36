//! The elements of a format.

use std::fmt;

use super::hook::AssemblyHook;
use crate::types::Type;

/// A part of a format.
#[derive(Clone, Debug)]
pub(crate) enum Element {
    /// A word or a sign.
    Literal(Box<str>),
    /// Values of an operand: one, or several between commas.
    Operand { name: Box<str>, variadic: bool },
    /// All operands, between commas.
    Operands,
    /// `%name = %value, …`: operands, and the names that they have in the regions.
    Bind,
    /// The attribute of this name; an integer of this type.
    Attr { name: Box<str>, int: Option<Type> },
    /// `[1, 2]`, an attribute `array<i64: 1, 2>`.
    Ints(Box<str>),
    /// A word, one of these if there are any, which replaces the `*` in an attribute.
    Word {
        attr: Box<str>,
        template: Box<str>,
        words: Vec<Box<str>>,
    },
    /// `<…>`, an attribute without these letters in front.
    Short { attr: Box<str>, prefix: Box<str> },
    /// The attribute if it is not written.
    Default { attr: Box<str>, value: Box<str> },
    /// `@name`, an attribute that is a string.
    Symbol(Box<str>),
    /// Attributes in braces, after the word `attributes` if that is so.
    Dict { keyword: bool },
    /// `(T, U) -> V`, or one type for all, or a type for each operand and result.
    Types,
    /// `(T, U) -> V`.
    FunctionType,
    /// One type that operands and results of these names have.
    Type(Vec<TypeOf>),
    /// A function.
    Custom(&'static str, AssemblyHook),
    /// The region with this index, whose arguments `Bind` has parsed.
    Region { index: usize },
    /// A region that holds only the operation that a hook named, applied to its arguments, and this terminator.
    Applied { index: usize, terminator: Box<str> },
    /// Goes on here if what follows in the text is how the next element begins, else at another one.
    Choice { otherwise: usize },
    /// Goes on there.
    Jump(usize),
}

/// An entity that has a type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TypeOf {
    /// The operand of this number, and all after it if there are several of it.
    Operand(usize),
    /// The result of this number.
    Result(usize),
}

/// A format that has been read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Format {
    pub(crate) elements: Vec<Element>,
}

impl Format {
    /// Whether the text may begin with an opening parenthesis.
    pub(crate) fn begins_with_parenthesis(&self) -> bool {
        match self.elements.first() {
            Some(Element::Literal(text)) => &**text == "(",
            Some(Element::Custom(..) | Element::Choice { .. }) => true,
            _ => false,
        }
    }

    /// Whether the text may begin with attributes.
    pub(crate) fn begins_with_attributes(&self) -> bool {
        matches!(self.elements.first(), Some(Element::Dict { keyword: false }))
    }
}

impl fmt::Display for Format {
    /// The format as shown in error messages.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut ends: Vec<usize> = Vec::new();
        let mut space = false;
        for (at, element) in self.elements.iter().enumerate() {
            while ends.last() == Some(&at) {
                ends.pop();
                f.write_str("]")?;
            }
            let text = match element {
                Element::Literal(text) => text.to_string(),
                Element::Operand { name, variadic: false } => format!("%{name}"),
                Element::Operand { name, .. } => format!("%{name}, …"),
                Element::Operands => "%operand, …".to_owned(),
                Element::Bind => "%name = %operand, …".to_owned(),
                Element::Attr { name, .. } => name.to_string(),
                Element::Ints(_) => "[1, 2]".to_owned(),
                Element::Word { words, .. } if !words.is_empty() => words.join("|"),
                Element::Word { attr, .. } => attr.to_string(),
                Element::Symbol(_) => "@name".to_owned(),
                Element::Short { .. } => "<…>".to_owned(),
                Element::Default { .. } => continue,
                Element::Dict { keyword: false } => "{attributes}".to_owned(),
                Element::Dict { keyword: true } => "attributes {…}".to_owned(),
                Element::Types => "type".to_owned(),
                Element::FunctionType => "(types) -> type".to_owned(),
                Element::Type(_) => "type".to_owned(),
                Element::Custom(name, _) => format!("<{name}>"),
                Element::Region { .. } | Element::Applied { .. } => "{…}".to_owned(),
                Element::Choice { otherwise } => {
                    let end = match self.elements.get(otherwise - 1) {
                        Some(&Element::Jump(end)) => end,
                        _ => *otherwise,
                    };
                    ends.push(end);
                    f.write_str(if space { " [" } else { "[" })?;
                    space = false;
                    continue;
                }
                Element::Jump(_) => "or".to_owned(),
            };
            let glued = matches!(&*text, "," | ")" | "]");
            if space && !glued {
                f.write_str(" ")?;
            }
            f.write_str(&text)?;
            space = !matches!(&*text, "(" | "[");
        }
        for _ in ends {
            f.write_str("]")?;
        }
        Ok(())
    }
}
