//! MLIR's custom assembly of operations that have a row ([`crate::ods`]).
//!
//! A format is gone through with a place in it; at a region it is left, and resumed after it, so that nothing recurses on the
//! nesting of a program. Where a format has no types, they follow from others by the rules of the row.

use smallvec::SmallVec;

use super::ods_hooks::RowReader;
use super::parser::{Failure, Parser};
use super::pending::Pending;
use crate::body::Successor;
use crate::declare::{Presence, Traits};
use crate::diagnostics::Span;
use crate::ods::{Arity, AttrKind, Element, Ods, OdsRow, Of, Slot};
use crate::registry::OpDef;
use crate::text::cursor;
use crate::types::Type;

impl Parser<'_> {
    /// Whether an operation, whose name has been read, goes on in MLIR's custom assembly, and not in our own form.
    pub(super) fn is_ods_form(&self, def: Option<&OpDef>, ods: &Ods) -> bool {
        let Ok(row) = ods.row() else { return true };
        if row.own || row.items.is_empty() && ods.format().starts_with('-') {
            return false;
        }
        if def.is_some_and(|def| def.successors > 0) {
            return self.has_typed_successors();
        }
        // Attributes, and then what our own form may have after them.
        let open = self.after(self.pos);
        if def.is_some_and(|def| def.has(Traits::SYMBOL)) && self.src.get(open) == Some(&b'@') {
            // In MLIR's form, a type follows the name.
            let end = cursor::symbol_end(self.src, open).unwrap_or(open + 1);
            return self.src.get(self.after(end)) != Some(&b'{');
        }
        // No format of MLIR begins with a word that our own form has in front of a region.
        if def.is_some_and(|def| !def.regions.is_empty() && self.is_own_word(def, open)) {
            return false;
        }
        if let Some(def) = def.filter(|_| self.src.get(open) == Some(&b'{')) {
            let end = cursor::balanced_end(self.src, open);
            // Regions have a word in front of them in our own form: these may be no attributes.
            let keyword = def
                .regions
                .first()
                .filter(|spec| !spec.bare && spec.presence == Presence::Required);
            let keyword = keyword.and_then(|spec| spec.keywords.first());
            if let (Some(keyword), Some(end)) = (keyword, end) {
                return !self.src[self.after(end)..].starts_with(keyword.as_bytes());
            }
            return !end.is_some_and(|end| self.own_goes_on(def, end, cursor::line_end(self.src, open)));
        }
        let Some(def) = def.filter(|_| self.next_is(b'(')) else {
            return true;
        };
        let begins =
            matches!(row.items.first().map(|item| &item.element), Some(Element::Literal(text)) if &**text == "(");
        if begins && row.segments {
            return true;
        }
        // `(%a, %b)`, and then what our own form may have there.
        let line = cursor::line_end(self.src, self.pos);
        let end = self.operands_end(self.after(self.pos));
        let Some(end) = end.filter(|&end| self.own_goes_on(def, end, line)) else {
            return true;
        };
        // Attributes may be between operands in MLIR's form, and its regions have no words in front of them.
        let at = self.after(end);
        let has_words = def
            .regions
            .iter()
            .all(|region| !region.keywords.is_empty() && !region.bare);
        let label = self.after(at + 1);
        if self.src.get(at) == Some(&b'{') && has_words && self.src.get(label) == Some(&b'^') {
            return true;
        }
        let behind = cursor::balanced_end(self.src, at).filter(|_| self.src.get(at) == Some(&b'{'));
        behind.is_some_and(|at| self.src.get(self.after(at)) == Some(&b'%') && self.after(at) < line)
    }

    /// Whether types are in front of the successors of a branch or among their operands, which our own form does not have.
    fn has_typed_successors(&self) -> bool {
        let mut at = self.pos;
        loop {
            match self.src.get(at) {
                Some(b':') => return true,
                None | Some(b'{' | b'}' | b'\n' | b'\r') => return false,
                // A location is not part of the successors.
                Some(b'l') if self.src[at..].starts_with(b"loc(") && self.src[at - 1] == b' ' => return false,
                Some(b'(') => {
                    let end = cursor::balanced_end(self.src, at).unwrap_or(self.src.len());
                    if self.src[at..end].contains(&b':') {
                        return true;
                    }
                    at = end;
                }
                Some(_) => at += 1,
            }
        }
    }

    /// Goes on in the format of an operation, to its end or to a region.
    pub(super) fn in_ods(&mut self, mut pending: Box<Pending>) -> Result<(), Failure> {
        let ctx = self.ctx;
        let Some(ods) = ctx.ods(pending.name) else {
            return self.tail(pending);
        };
        let row = ods
            .row()
            .map_err(|why| self.error("custom-assembly", why, pending.span))?;
        let mut at = pending.ods.as_ref().map_or(0, |state| state.at);
        loop {
            let Some(item) = row.items.get(at) else {
                return self.end_of_ods(pending, row);
            };
            at += 1;
            match &item.element {
                Element::Choice { otherwise, .. } => {
                    let first = row.items[at..]
                        .iter()
                        .find(|item| !matches!(item.element, Element::Blank | Element::NewLine));
                    if !first.is_none_or(|first| self.ods_begins(row, &first.element)) {
                        at = *otherwise;
                    }
                }
                Element::Jump(to) => at = *to,
                Element::Literal(text) => {
                    if !self.eat_literal_inline(text) {
                        return Err(self.expected_in_ods(&pending, &format!("`{text}`")));
                    }
                }
                Element::Operand(slot) => self.ods_operand(&mut pending, row, *slot)?,
                Element::Region(index) => {
                    let state = pending.ods.get_or_insert_default();
                    state.at = at;
                    state.regions.push(*index as u16);
                    self.skip();
                    if self.peek() != b'{' {
                        return Err(self.expected_in_ods(&pending, "`{`"));
                    }
                    self.keep_head(&mut pending);
                    return self.open_region(pending, false);
                }
                Element::Custom(hook, args) => {
                    let mut reader = RowReader::new(self, &mut pending, row, args);
                    (ods.hooks[*hook].read)(&mut reader)?;
                }
                element => self.ods_element(&mut pending, row, element)?,
            }
        }
    }

    /// An error that names the expected text and shows the operation's syntax.
    pub(super) fn expected_in_ods(&mut self, pending: &Pending, what: &str) -> Failure {
        self.skip();
        let ctx = self.ctx;
        let name = ctx.op_str(pending.name);
        let format = ctx.ods(pending.name).map_or("", |ods| ods.format());
        self.expected(what, &format!("the assembly format of `{name}` is {format}"))
    }

    /// Whether what follows is how an element begins.
    fn ods_begins(&self, row: &OdsRow, element: &Element) -> bool {
        let at = self.after(self.pos);
        let rest = &self.src[at..];
        let next = rest.first().copied().unwrap_or(0);
        match element {
            Element::Literal(text) => cursor::is_literal(rest, text),
            Element::Operand(_) | Element::Operands => next == b'%',
            Element::Region(_) => next == b'{',
            Element::Successor(_) => next == b'^',
            Element::Dict { keyword: true } => cursor::is_literal(rest, "attributes"),
            Element::Dict { keyword: false } => next == b'{',
            Element::Arrow { .. } => rest.starts_with(b"->"),
            Element::Attr(at) => match &row.attrs[*at].kind {
                AttrKind::Str => next == b'"',
                AttrKind::SymName | AttrKind::SymRef => next == b'@',
                AttrKind::Int(_) => next == b'-' || next.is_ascii_digit(),
                AttrKind::Ints(_) => next == b'[',
                AttrKind::Enum { words, .. } => words.iter().any(|word| cursor::is_literal(rest, &word.0)),
                AttrKind::Words { words, angle, .. } => match angle {
                    true => next == b'<',
                    false => words.iter().any(|word| cursor::is_literal(rest, word)),
                },
                AttrKind::Bool => rest.starts_with(b"true") || rest.starts_with(b"false"),
                _ => !matches!(next, b':' | b')' | b']' | b',' | b'}' | b'%' | b'^' | 0),
            },
            _ => true,
        }
    }

    fn ods_element(&mut self, pending: &mut Pending, row: &OdsRow, element: &Element) -> Result<(), Failure> {
        match element {
            Element::Operands => {
                for slot in 0..row.operands.len() {
                    if slot > 0 && !self.eat_literal(",") {
                        return Err(self.expected_in_ods(pending, "`,`"));
                    }
                    self.ods_operand(pending, row, slot)?;
                }
            }
            Element::Attr(at) => self.ods_attribute(pending, row, *at)?,
            Element::Successor(at) => {
                let several = row.successors.get(*at).is_some_and(|successor| successor.1);
                loop {
                    self.ods_successor(pending)?;
                    if !several || !self.eat_literal(",") {
                        break;
                    }
                }
            }
            Element::Dict { keyword } => {
                self.skip();
                let is_next = match keyword {
                    true => self.eat_literal("attributes"),
                    false => self.peek() == b'{',
                };
                if is_next {
                    self.skip();
                    self.attributes(pending)?;
                }
            }
            Element::Types(of) => self.ods_types(pending, row, *of)?,
            Element::Arrow { of, .. } => {
                let types = match self.eat_literal("->") {
                    true => self.parse_result_types()?,
                    false => Vec::new(),
                };
                self.set_types(pending, row, *of, types);
            }
            Element::Functional(operands, results) => {
                self.skip();
                if self.peek() != b'(' {
                    return Err(self.expected_in_ods(pending, "`(`"));
                }
                let (inputs, outputs) = self.parse_signature()?;
                self.set_types(pending, row, *operands, inputs);
                self.set_types(pending, row, *results, outputs);
            }
            _ => {}
        }
        Ok(())
    }

    /// `^name`.
    pub(super) fn ods_successor(&mut self, pending: &mut Pending) -> Result<(), Failure> {
        self.skip();
        let start = self.pos;
        self.expect(b"^", "a block", "successors are written `^name`")?;
        let (sym, span) = self.block_name(start)?;
        let block = self.block_of_label(sym, span);
        pending.successors.push(Successor { block, operands: 0 });
        Ok(())
    }

    /// Reads the values of an operand.
    pub(super) fn ods_operand(&mut self, pending: &mut Pending, row: &OdsRow, slot: Slot) -> Result<(), Failure> {
        let arity = row.operands.get(slot).map_or(Arity::One, |value| value.arity);
        let mut start = self.after(self.pos);
        if self.src.get(start) != Some(&b'%') {
            return match arity {
                Arity::One => Err(self.expected_in_ods(pending, "a value")),
                _ => Ok(()),
            };
        }
        loop {
            self.pos = start;
            let value = self.value()?;
            let span = Span::new(start, self.pos);
            if let Some(state) = pending.ods.as_mut() {
                state.operands.push((slot as u16, value, span));
            }
            if arity != Arity::Variadic {
                return Ok(());
            }
            let comma = self.after(self.pos);
            if self.src.get(comma) != Some(&b',') {
                return Ok(());
            }
            start = self.after(comma + 1);
            if self.src.get(start) != Some(&b'%') {
                return Ok(());
            }
        }
    }

    fn ods_types(&mut self, pending: &mut Pending, row: &OdsRow, of: Of) -> Result<(), Failure> {
        let single = match of {
            Of::Slot(slot) => row.value(slot).is_none_or(|value| value.arity != Arity::Variadic),
            _ => false,
        };
        if let (true, Of::Slot(slot)) = (single, of) {
            let ty = self.parse_type()?;
            self.set_type(pending, slot, ty);
            return Ok(());
        }
        let mut types = Vec::new();
        self.skip();
        if matches!(self.peek(), b'(' | b'!') || self.peek().is_ascii_alphabetic() {
            loop {
                types.push(self.parse_type()?);
                if !self.eat_literal(",") {
                    break;
                }
            }
        }
        self.set_types(pending, row, of, types);
        Ok(())
    }

    fn set_type(&mut self, pending: &mut Pending, slot: Slot, ty: Type) {
        if let Some(state) = pending.ods.as_mut() {
            state.types.push((slot as u16, ty));
            state.written |= 1 << slot.min(63);
        }
    }

    pub(super) fn set_types(&mut self, pending: &mut Pending, row: &OdsRow, of: Of, types: Vec<Type>) {
        let Some(state) = pending.ods.as_mut() else { return };
        match of {
            Of::Slot(slot) => {
                state.types.extend(types.into_iter().map(|ty| (slot as u16, ty)));
                state.written |= 1 << slot.min(63);
            }
            Of::Operands => {
                // Each also determines other types.
                let mut slots: SmallVec<[u16; 6]> = state.operands.iter().map(|operand| operand.0).collect();
                slots.sort_unstable();
                for (&slot, &ty) in slots.iter().zip(&types) {
                    state.types.push((slot, ty));
                    state.written |= 1 << slot.min(63);
                }
                state.all_operands = Some(types);
            }
            Of::Results => {
                for (at, &ty) in types.iter().enumerate().take(row.results.len()) {
                    let slot = row.operands.len() + at;
                    state.types.push((slot as u16, ty));
                }
                state.all_results = Some(types);
            }
        }
    }
}
