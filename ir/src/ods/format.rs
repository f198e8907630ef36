//! The `assemblyFormat` of a row, as a list of elements that reading and printing go through.

use super::hooks::OdsHook;
use super::schema::{Anchor, AttrKind, Element, Item, OdsRow, Of};
use crate::assembly::Cursor;

/// Reads a format into a row.
pub(super) fn read(row: &mut OdsRow, text: &str, hooks: &'static [OdsHook]) -> Result<(), String> {
    let mut reader = Reader {
        text: Cursor::new(text, "a format"),
        row,
        hooks,
        items: Vec::new(),
        should_space: true,
        punctuation: false,
    };
    reader.sequence()?;
    if !reader.text.rest.is_empty() {
        return Err(format!("unexpected `{}` in a format", reader.text.rest));
    }
    let items = reader.items;
    for item in &items {
        match &item.element {
            Element::Attr(at) => row.shown.push(row.attrs[*at].name.clone()),
            Element::Custom(_, args) => row.shown.extend(args.iter().cloned()),
            _ => {}
        }
    }
    row.items = items;
    Ok(())
}

struct Reader<'t, 'r> {
    text: Cursor<'t>,
    row: &'r mut OdsRow,
    hooks: &'static [OdsHook],
    items: Vec<Item>,
    /// As MLIR's generator of printers has them.
    should_space: bool,
    punctuation: bool,
}

impl<'t> Reader<'t, '_> {
    fn word(&mut self) -> &'t str {
        self.text.word(&['_', '-'])
    }

    fn push(&mut self, element: Element, space: bool) {
        self.items.push(Item { element, space });
    }

    fn sequence(&mut self) -> Result<(), String> {
        while !self.text.rest.is_empty() && !self.text.rest.starts_with(')') {
            if self.text.eat("(") {
                self.group()?;
            } else {
                self.element()?;
            }
        }
        Ok(())
    }

    /// `(a $b^ c)?`, `(a $b^)? : (c)?`, `(a $b^)*`.
    fn group(&mut self) -> Result<(), String> {
        let choice = self.items.len();
        self.push(
            Element::Choice {
                anchor: Anchor::None,
                otherwise: 0,
            },
            false,
        );
        let mut anchor = Anchor::None;
        while !self.text.rest.is_empty() && !self.text.rest.starts_with(')') {
            let at = self.items.len();
            if self.text.eat("(") {
                self.group()?;
                continue;
            }
            self.element()?;
            if self.text.eat("^") {
                anchor = match self.items.get(at).map(|item| &item.element) {
                    Some(
                        Element::Operand(slot)
                        | Element::Types(Of::Slot(slot))
                        | Element::Arrow { of: Of::Slot(slot), .. },
                    ) => Anchor::Slot(*slot),
                    Some(Element::Attr(at)) => Anchor::Attr(*at),
                    Some(Element::Region(at)) => Anchor::Region(*at),
                    _ => return Err("this cannot be the anchor of a group in a format".to_owned()),
                };
            }
        }
        self.text.expect(")")?;
        let repeated = self.text.eat("*");
        if !repeated {
            self.text.expect("?")?;
        }
        if repeated {
            self.push(Element::Jump(choice), false);
        }
        let mut otherwise = self.items.len();
        if self.text.eat(":") {
            self.text.expect("(")?;
            let jump = self.items.len();
            self.push(Element::Jump(0), false);
            otherwise = self.items.len();
            self.sequence()?;
            self.text.expect(")")?;
            self.text.expect("?")?;
            let end = self.items.len();
            self.items[jump].element = Element::Jump(end);
        }
        self.items[choice].element = Element::Choice { anchor, otherwise };
        Ok(())
    }

    fn literal(&mut self, text: &str) {
        let before = if text.len() != 1 && text != "->" {
            true
        } else if self.punctuation {
            !">)}],".contains(&text[..1])
        } else {
            !"<>(){}[],".contains(&text[..1])
        };
        self.push(Element::Literal(text.into()), self.should_space && before);
        self.should_space = text.len() != 1 || !"<({[".contains(text);
        self.punctuation = !text.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic());
    }

    fn other(&mut self, element: Element) {
        let space = self.should_space || !self.punctuation;
        self.push(element, space);
        (self.should_space, self.punctuation) = (true, false);
    }

    fn element(&mut self) -> Result<(), String> {
        if let Some(rest) = self.text.rest.strip_prefix('`') {
            let (text, rest) = rest.split_once('`').ok_or("unclosed literal in a format")?;
            self.text.set(rest);
            match text {
                "" => (self.should_space, self.punctuation) = (false, true),
                " " => {
                    self.push(Element::Blank, false);
                    (self.should_space, self.punctuation) = (false, true);
                }
                "\\n" => {
                    self.push(Element::NewLine, false);
                    (self.should_space, self.punctuation) = (false, true);
                }
                text => self.literal(text),
            }
            return Ok(());
        }
        if self.text.eat("$") {
            let name = self.word();
            let element = self.variable(name)?;
            // The words around a unit attribute determine whether it is printed.
            let is_unit = matches!(element, Element::Attr(at) if matches!(self.row.attrs[at].kind, AttrKind::Unit));
            match element {
                element @ Element::Region(_) => {
                    self.push(element, self.should_space);
                    (self.should_space, self.punctuation) = (true, false);
                }
                element if is_unit => self.push(element, false),
                element => self.other(element),
            }
            return Ok(());
        }
        let element = match self.word() {
            word @ ("attr-dict" | "attr-dict-with-keyword" | "prop-dict") => {
                self.push(
                    Element::Dict {
                        keyword: word == "attr-dict-with-keyword",
                    },
                    true,
                );
                self.punctuation = false;
                return Ok(());
            }
            "operands" => Element::Operands,
            "type" => Element::Types(self.of()?),
            "arrow" => Element::Arrow {
                of: self.of()?,
                parens: false,
            },
            "arrow-list" => Element::Arrow {
                of: self.of()?,
                parens: true,
            },
            "qualified" => {
                self.text.expect("(")?;
                self.element()?;
                return self.text.expect(")");
            }
            "functional-type" => {
                self.text.expect("(")?;
                let operands = self.list()?;
                self.text.expect(",")?;
                let results = self.list()?;
                self.text.expect(")")?;
                Element::Functional(operands, results)
            }
            "custom" => self.custom()?,
            word => {
                return Err(format!(
                    "unknown directive `{word}` in a format, before `{}`",
                    self.text.rest
                ));
            }
        };
        self.other(element);
        Ok(())
    }

    fn custom(&mut self) -> Result<Element, String> {
        self.text.expect("<")?;
        let name = self.word();
        self.text.expect(">")?;
        let hook = self.hooks.iter().position(|hook| hook.name == name);
        let hook = hook.ok_or_else(|| format!("there is no function `custom<{name}>`"))?;
        let mut args = Vec::new();
        if self.text.eat("(") {
            while !self.text.eat(")") {
                self.text.expect("$")?;
                args.push(self.word().into());
                self.text.eat(",");
            }
        }
        Ok(Element::Custom(hook, args.into()))
    }

    fn of(&mut self) -> Result<Of, String> {
        self.text.expect("(")?;
        let of = self.list()?;
        self.text.expect(")")?;
        Ok(of)
    }

    fn list(&mut self) -> Result<Of, String> {
        if self.text.eat("$") {
            let name = self.word();
            let slot = self.row.slot(name);
            return slot
                .map(Of::Slot)
                .ok_or_else(|| format!("there is no operand or result `{name}`"));
        }
        match self.word() {
            "operands" => Ok(Of::Operands),
            "results" => Ok(Of::Results),
            word => Err(format!("`{word}` has no types")),
        }
    }

    fn variable(&self, name: &str) -> Result<Element, String> {
        if let Some(slot) = self.row.slot(name) {
            return Ok(Element::Operand(slot));
        }
        if let Some(at) = self.row.attr(name) {
            return Ok(Element::Attr(at));
        }
        if let Some(at) = self.row.regions.iter().position(|region| *region.name == *name) {
            return Ok(Element::Region(at));
        }
        let successor = self.row.successors.iter().position(|successor| *successor.0 == *name);
        successor
            .map(Element::Successor)
            .ok_or_else(|| format!("there is no operand, attribute, region or successor `{name}`"))
    }
}
