//! Assembly formats: how an operation is written in MLIR's custom assembly, as data.
//!
//! A format is a string like those of MLIR's `assemblyFormat`; `docs/dialects.md` describes it. It is read here into a list of
//! elements, which the reader goes through with a place in it: regions in between need no recursion.

use std::fmt;
use std::sync::OnceLock;

use crate::declare::{Arity, List, Text};
use crate::registry::OpDef;
use crate::text::AssemblyReader;
use crate::types::Type;

/// Reads what a format calls `custom<NAME>`.
pub type AssemblyHook = fn(&mut AssemblyReader<'_, '_>) -> Result<(), crate::text::Unreadable>;

/// How an operation is written in MLIR's custom assembly.
#[derive(Clone, Debug)]
pub struct Assembly {
    format: Text,
    hooks: &'static [(&'static str, AssemblyHook)],
    compiled: OnceLock<Result<Format, String>>,
}

impl Assembly {
    /// A format, and what its `custom<NAME>` are read by.
    pub fn new(format: impl Into<Text>, hooks: &'static [(&'static str, AssemblyHook)]) -> Self {
        Assembly {
            format: format.into(),
            hooks,
            compiled: OnceLock::new(),
        }
    }

    /// The format.
    pub fn format(&self) -> &str {
        &self.format
    }

    /// The elements of the format of an operation.
    ///
    /// # Errors
    /// What is wrong with the format.
    pub(crate) fn compiled(&self, def: &OpDef) -> Result<&Format, &str> {
        let format = self
            .compiled
            .get_or_init(|| Format::compile(&self.format, def, self.hooks));
        format.as_ref().map_err(String::as_str)
    }

    /// Checks the format of an operation.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check(&self, def: &OpDef) -> Result<(), String> {
        self.compiled(def).map(|_| ()).map_err(str::to_owned)
    }
}

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
    /// The region of this number, of which what `Bind` read are the arguments.
    Region { index: usize },
    /// A region that holds only the operation that a hook named, applied to its arguments, and this terminator.
    Applied { index: usize, terminator: Box<str> },
    /// Goes on here if what follows in the text is how the next element begins, else at another one.
    Choice { otherwise: usize },
    /// Goes on there.
    Jump(usize),
}

/// What has a type.
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
    fn compile(text: &str, def: &OpDef, hooks: &'static [(&'static str, AssemblyHook)]) -> Result<Self, String> {
        let mut compiler = Compiler {
            rest: text.trim_start(),
            def,
            hooks,
            format: Format::default(),
        };
        compiler.sequence(0)?;
        match compiler.rest {
            "" => Ok(compiler.format),
            rest => Err(format!("unexpected `{}` in an assembly format", first_word(rest))),
        }
    }

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

fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}

/// How deep groups may be nested.
const MAX_DEPTH: usize = 16;

struct Compiler<'t> {
    rest: &'t str,
    def: &'t OpDef,
    hooks: &'static [(&'static str, AssemblyHook)],
    format: Format,
}

impl<'t> Compiler<'t> {
    fn eat(&mut self, sign: &str) -> bool {
        match self.rest.strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest.trim_start();
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, sign: &str) -> Result<(), String> {
        match self.eat(sign) {
            true => Ok(()),
            false => Err(format!(
                "expected `{sign}` in an assembly format before `{}`",
                self.rest
            )),
        }
    }

    fn word(&mut self) -> Result<&'t str, String> {
        let is_inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        let end = self.rest.find(|c| !is_inside(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        match word {
            "" => Err(format!(
                "expected a keyword in an assembly format before `{}`",
                self.rest
            )),
            word => Ok(word),
        }
    }

    /// What is up to a sign.
    fn until(&mut self, sign: char) -> Result<&'t str, String> {
        let (text, rest) = self
            .rest
            .split_once(sign)
            .ok_or_else(|| format!("`{sign}` is missing in an assembly format"))?;
        self.rest = rest.trim_start();
        Ok(text)
    }

    fn push(&mut self, element: Element) {
        self.format.elements.push(element);
    }

    fn sequence(&mut self, depth: usize) -> Result<(), String> {
        while !self.rest.is_empty() && !self.rest.starts_with([')', '|']) {
            if self.eat("(") {
                self.group(depth)?;
            } else {
                self.element()?;
            }
        }
        Ok(())
    }

    /// `(a)?` or `(a | b)`: one that begins like what follows in the text.
    fn group(&mut self, depth: usize) -> Result<(), String> {
        if depth == MAX_DEPTH {
            return Err("the groups of an assembly format are nested too deeply".to_owned());
        }
        let choice = self.format.elements.len();
        self.push(Element::Choice { otherwise: 0 });
        self.sequence(depth + 1)?;
        let jump = self.format.elements.len();
        let alternatives = self.eat("|");
        if alternatives {
            self.push(Element::Jump(0));
        }
        let otherwise = self.format.elements.len();
        self.sequence(depth + 1)?;
        self.expect(")")?;
        if !alternatives {
            self.expect("?")?;
        }
        let end = self.format.elements.len();
        self.format.elements[choice] = Element::Choice { otherwise };
        if alternatives {
            self.format.elements[jump] = Element::Jump(end);
        }
        Ok(())
    }

    fn element(&mut self) -> Result<(), String> {
        if self.eat("`") {
            let text = self.until('`')?;
            self.push(Element::Literal(text.into()));
            return Ok(());
        }
        if self.eat("$") {
            let name = self.word()?;
            let element = self.variable(name)?;
            self.push(element);
            return Ok(());
        }
        let element = match self.word()? {
            "attr-dict" => Element::Dict { keyword: false },
            "attr-dict-with-keyword" => Element::Dict { keyword: true },
            "operands" => Element::Operands,
            "bind" => Element::Bind,
            "types" => Element::Types,
            "functional-type" => {
                self.until(')')?;
                Element::FunctionType
            }
            "custom" => {
                self.expect("<")?;
                let name = self.until('>')?;
                let &(name, hook) = self
                    .hooks
                    .iter()
                    .find(|hook| hook.0 == name)
                    .ok_or_else(|| format!("there is no function `custom<{name}>` for an assembly format"))?;
                Element::Custom(name, hook)
            }
            word @ ("ints" | "symbol" | "short" | "default" | "word" | "type" | "region" | "applied") => {
                self.expect("(")?;
                let element = self.call(word)?;
                self.expect(")")?;
                element
            }
            word => return Err(format!("unknown directive `{word}` in an assembly format")),
        };
        self.push(element);
        Ok(())
    }

    fn call(&mut self, word: &str) -> Result<Element, String> {
        self.expect("$")?;
        let name = self.word()?;
        Ok(match word {
            "ints" => Element::Ints(self.attribute(name)?),
            "symbol" => Element::Symbol(self.attribute(name)?),
            "short" | "default" => {
                let (attr, text) = (self.attribute(name)?, self.quoted()?);
                match word {
                    "short" => Element::Short { attr, prefix: text },
                    _ => Element::Default { attr, value: text },
                }
            }
            "word" => {
                let (attr, template) = (self.attribute(name)?, self.quoted()?);
                let mut words = Vec::new();
                while self.eat(",") {
                    words.push(self.word()?.into());
                }
                Element::Word { attr, template, words }
            }
            "region" => Element::Region {
                index: self.region(name)?,
            },
            "applied" => {
                let index = self.region(name)?;
                self.expect(",")?;
                Element::Applied {
                    index,
                    terminator: self.word()?.into(),
                }
            }
            _ => {
                let mut all = vec![self.value(name)?];
                while self.eat(",") {
                    self.expect("$")?;
                    let name = self.word()?;
                    all.push(self.value(name)?);
                }
                Element::Type(all)
            }
        })
    }

    /// `, "text"`, in which `\'` represents quotes.
    fn quoted(&mut self) -> Result<Box<str>, String> {
        self.expect(",")?;
        self.expect("\"")?;
        Ok(self.until('"')?.replace('\'', "\"").into())
    }

    fn no_such(&self, what: &str, name: &str) -> String {
        format!(
            "the assembly format of `{}` names `${name}`, which is not an {what}",
            self.def.name
        )
    }

    fn variable(&self, name: &str) -> Result<Element, String> {
        if let Some(spec) = self.def.operands.iter().find(|spec| *spec.name == *name) {
            let (name, variadic) = (name.into(), spec.arity != Arity::One);
            return Ok(Element::Operand { name, variadic });
        }
        let spec = self.def.attrs.iter().find(|spec| *spec.name == *name);
        let spec = spec.ok_or_else(|| self.no_such("operand or attribute", name))?;
        let int = match &*spec.ty {
            "int" => Some(Type::I32),
            "int64_t" => Some(Type::I64),
            _ => None,
        };
        Ok(Element::Attr { name: name.into(), int })
    }

    fn attribute(&self, name: &str) -> Result<Box<str>, String> {
        match self.def.attrs.iter().any(|spec| *spec.name == *name) {
            true => Ok(name.into()),
            false => Err(self.no_such("attribute", name)),
        }
    }

    fn region(&self, name: &str) -> Result<usize, String> {
        let is_it = |keywords: &[&str]| keywords.contains(&name);
        let found = self.def.regions.iter().position(|spec| is_it(spec.keywords));
        found.ok_or_else(|| self.no_such("region", name))
    }

    fn value(&self, name: &str) -> Result<TypeOf, String> {
        let position = |list: &List<crate::declare::ValueSpec>| list.iter().position(|spec| *spec.name == *name);
        match (position(&self.def.operands), position(&self.def.results)) {
            (Some(index), _) => Ok(TypeOf::Operand(index)),
            (_, Some(index)) => Ok(TypeOf::Result(index)),
            _ => Err(self.no_such("operand or result", name)),
        }
    }
}

impl fmt::Display for Format {
    /// As it is shown to somebody who wrote something else.
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
