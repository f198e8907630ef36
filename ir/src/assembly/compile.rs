//! Formats as text, compiled for the definition of their operation.

use super::Assembly;
use super::cursor::Cursor;
use super::format::{Element, Format, TypeOf};
use super::hook::AssemblyHook;
use crate::declare::{Arity, List};
use crate::registry::OpDef;
use crate::types::Type;

impl Assembly {
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

impl Format {
    fn compile(text: &str, def: &OpDef, hooks: &'static [(&'static str, AssemblyHook)]) -> Result<Self, String> {
        let mut compiler = Compiler {
            text: Cursor::new(text, "an assembly format"),
            def,
            hooks,
            format: Format::default(),
        };
        compiler.sequence(0)?;
        match compiler.text.rest {
            "" => Ok(compiler.format),
            rest => Err(format!("unexpected `{}` in an assembly format", first_word(rest))),
        }
    }
}

fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}

/// How deep groups may be nested.
const MAX_DEPTH: usize = 16;

struct Compiler<'t> {
    text: Cursor<'t>,
    def: &'t OpDef,
    hooks: &'static [(&'static str, AssemblyHook)],
    format: Format,
}

impl<'t> Compiler<'t> {
    fn word(&mut self) -> Result<&'t str, String> {
        match self.text.word(&['_', '-', '.']) {
            "" => Err(format!(
                "expected a keyword in an assembly format before `{}`",
                self.text.rest
            )),
            word => Ok(word),
        }
    }

    /// The text up to a character.
    fn until(&mut self, sign: char) -> Result<&'t str, String> {
        let (text, rest) = self
            .text
            .rest
            .split_once(sign)
            .ok_or_else(|| format!("`{sign}` is missing in an assembly format"))?;
        self.text.set(rest);
        Ok(text)
    }

    fn push(&mut self, element: Element) {
        self.format.elements.push(element);
    }

    fn sequence(&mut self, depth: usize) -> Result<(), String> {
        while !self.text.rest.is_empty() && !self.text.rest.starts_with([')', '|']) {
            if self.text.eat("(") {
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
        let alternatives = self.text.eat("|");
        if alternatives {
            self.push(Element::Jump(0));
        }
        let otherwise = self.format.elements.len();
        self.sequence(depth + 1)?;
        self.text.expect(")")?;
        if !alternatives {
            self.text.expect("?")?;
        }
        let end = self.format.elements.len();
        self.format.elements[choice] = Element::Choice { otherwise };
        if alternatives {
            self.format.elements[jump] = Element::Jump(end);
        }
        Ok(())
    }

    fn element(&mut self) -> Result<(), String> {
        if self.text.eat("`") {
            let text = self.until('`')?;
            self.push(Element::Literal(text.into()));
            return Ok(());
        }
        if self.text.eat("$") {
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
                self.text.expect("<")?;
                let name = self.until('>')?;
                let &(name, hook) = self
                    .hooks
                    .iter()
                    .find(|hook| hook.0 == name)
                    .ok_or_else(|| format!("there is no function `custom<{name}>` for an assembly format"))?;
                Element::Custom(name, hook)
            }
            word @ ("ints" | "symbol" | "short" | "default" | "word" | "type" | "region" | "applied") => {
                self.text.expect("(")?;
                let element = self.call(word)?;
                self.text.expect(")")?;
                element
            }
            word => return Err(format!("unknown directive `{word}` in an assembly format")),
        };
        self.push(element);
        Ok(())
    }

    fn call(&mut self, word: &str) -> Result<Element, String> {
        self.text.expect("$")?;
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
                while self.text.eat(",") {
                    words.push(self.word()?.into());
                }
                Element::Word { attr, template, words }
            }
            "region" => Element::Region {
                index: self.region(name)?,
            },
            "applied" => {
                let index = self.region(name)?;
                self.text.expect(",")?;
                Element::Applied {
                    index,
                    terminator: self.word()?.into(),
                }
            }
            _ => {
                let mut all = vec![self.value(name)?];
                while self.text.eat(",") {
                    self.text.expect("$")?;
                    let name = self.word()?;
                    all.push(self.value(name)?);
                }
                Element::Type(all)
            }
        })
    }

    /// `, "text"`, in which `\'` represents quotes.
    fn quoted(&mut self) -> Result<Box<str>, String> {
        self.text.expect(",")?;
        self.text.expect("\"")?;
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
