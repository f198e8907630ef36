//! MLIR's custom assembly of operations that have a row ([`crate::ods`]).
//!
//! A format is gone through with a place in it; at a region it is left, and resumed after it, so that nothing recurses on the
//! nesting of a program. Where a format has no types, they follow from others by the rules of the row.

use smallvec::SmallVec;

use super::ods_hooks::OdsReader;
use super::parser::{Failure, Parser};
use super::pending::Pending;
use crate::body::Successor;
use crate::declare::{Presence, Traits};
use crate::diagnostics::Span;
use crate::entity::ValueId;
use crate::ods::{
    Arity, AttrKind, AttrPresence, Element, OPERAND_SEGMENTS, Ods, OdsRow, Of, RESULT_SEGMENTS, Slot, TypeRule,
};
use crate::registry::OpDef;
use crate::text::cursor;
use crate::types::{Attr, AttrData, Type};

type Types = SmallVec<[Type; 4]>;

/// What was read of an operation in custom assembly.
#[derive(Default)]
pub(super) struct OdsState {
    /// The element that comes next.
    at: usize,
    pub(super) operands: SmallVec<[(u16, ValueId, Span); 6]>,
    types: SmallVec<[(u16, Type); 4]>,
    /// Slots whose types are written, be it that there are none.
    written: u64,
    /// The types of all operands, and of all results, in one list.
    pub(super) all_operands: Option<Vec<Type>>,
    pub(super) all_results: Option<Vec<Type>>,
    /// Which region of the row each of those that were read is.
    pub(super) regions: SmallVec<[u16; 2]>,
    /// What counts the elements of a list that a hook reads around its regions.
    pub(super) ints: Vec<i64>,
}

impl OdsState {
    /// The types that were read of an operand or a result.
    pub(super) fn types(&self, slot: Slot) -> impl Iterator<Item = Type> {
        self.types
            .iter()
            .filter(move |ty| usize::from(ty.0) == slot)
            .map(|ty| ty.1)
    }
}

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
                // A location is no part of the successors.
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
        let ctx = self.ctx.clone();
        let Some(ods) = ctx.ods(pending.name) else {
            return self.tail(pending);
        };
        let row = ods
            .row()
            .map_err(|why| self.error("custom-assembly", why, pending.span))?;
        loop {
            let Some(state) = pending.ods.as_mut() else {
                return self.tail(pending);
            };
            let at = state.at;
            let Some(item) = row.items.get(at) else {
                return self.end_of_ods(pending, row);
            };
            state.at = at + 1;
            match &item.element {
                Element::Choice { otherwise, .. } => {
                    let first = row.items[at + 1..]
                        .iter()
                        .find(|item| !matches!(item.element, Element::Blank | Element::NewLine));
                    if !first.is_none_or(|first| self.ods_begins(row, &first.element)) {
                        state.at = *otherwise;
                    }
                }
                Element::Jump(to) => state.at = *to,
                Element::Region(index) => {
                    state.regions.push(*index as u16);
                    self.skip();
                    if self.peek() != b'{' {
                        return Err(self.expected_in_ods(&pending, "`{`"));
                    }
                    return self.open_region(pending, false);
                }
                Element::Custom(hook, args) => {
                    let mut reader = OdsReader::new(self, &mut pending, row, args);
                    (ods.hooks[*hook].read)(&mut reader).map_err(|unreadable| unreadable.0)?;
                }
                element => self.ods_element(&mut pending, row, element)?,
            }
        }
    }

    /// Says what was expected, and how the operation is written.
    pub(super) fn expected_in_ods(&mut self, pending: &Pending, what: &str) -> Failure {
        self.skip();
        let ctx = self.ctx.clone();
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
            Element::Literal(text) => super::format::is_literal(rest, text),
            Element::Operand(_) | Element::Operands => next == b'%',
            Element::Region(_) => next == b'{',
            Element::Successor(_) => next == b'^',
            Element::Dict { keyword: true } => super::format::is_literal(rest, "attributes"),
            Element::Dict { keyword: false } => next == b'{',
            Element::Arrow { .. } => rest.starts_with(b"->"),
            Element::Attr(at) => match &row.attrs[*at].kind {
                AttrKind::Str => next == b'"',
                AttrKind::SymName | AttrKind::SymRef => next == b'@',
                AttrKind::Int(_) => next == b'-' || next.is_ascii_digit(),
                AttrKind::Ints(_) => next == b'[',
                AttrKind::Enum { words, .. } => words.iter().any(|word| super::format::is_literal(rest, &word.0)),
                AttrKind::Words { words, angle, .. } => match angle {
                    true => next == b'<',
                    false => words.iter().any(|word| super::format::is_literal(rest, word)),
                },
                AttrKind::Bool => rest.starts_with(b"true") || rest.starts_with(b"false"),
                _ => !matches!(next, b':' | b')' | b']' | b',' | b'}' | b'%' | b'^' | 0),
            },
            _ => true,
        }
    }

    fn ods_element(&mut self, pending: &mut Pending, row: &OdsRow, element: &Element) -> Result<(), Failure> {
        match element {
            Element::Literal(text) if self.eat_literal(text) => {}
            Element::Literal(text) => return Err(self.expected_in_ods(pending, &format!("`{text}`"))),
            Element::Operand(slot) => self.ods_operand(pending, row, *slot)?,
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
        if !self.next_is(b'%') {
            return match arity {
                Arity::One => Err(self.expected_in_ods(pending, "a value")),
                _ => Ok(()),
            };
        }
        loop {
            self.skip();
            let start = self.pos;
            let value = self.value_use()?;
            let span = Span::new(start, self.pos);
            if let Some(state) = pending.ods.as_mut() {
                state.operands.push((slot as u16, value, span));
            }
            if arity != Arity::Variadic {
                return Ok(());
            }
            let comma = self.after(self.pos);
            if self.src.get(comma) != Some(&b',') || self.src.get(self.after(comma + 1)) != Some(&b'%') {
                return Ok(());
            }
            self.pos = comma + 1;
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

    fn ods_attribute(&mut self, pending: &mut Pending, row: &OdsRow, at: usize) -> Result<(), Failure> {
        let attr = &row.attrs[at];
        let start = self.after(self.pos);
        let value = self.ods_value(pending, &attr.kind)?;
        self.set(pending, &attr.name, value, start)
    }

    /// The value of an attribute, in the form that its kind has in formats.
    pub(super) fn ods_value(&mut self, pending: &Pending, kind: &AttrKind) -> Result<Attr, Failure> {
        self.skip();
        let start = self.pos;
        Ok(match kind {
            AttrKind::Unit => self.ctx.attr(AttrData::Unit),
            AttrKind::Any => self.parse_attr()?,
            AttrKind::Bool => match (self.eat_literal("true"), self.eat_literal("false")) {
                (false, false) => return Err(self.expected_in_ods(pending, "`true` or `false`")),
                (value, _) => self.ctx.attr(AttrData::Bool(value)),
            },
            AttrKind::Str if self.peek() == b'"' => {
                let text = self.parse_string()?;
                self.ctx.str_attr(&text)
            }
            AttrKind::Str => return Err(self.expected_in_ods(pending, "a string")),
            AttrKind::SymName => {
                let name = self.parse_symbol_name()?;
                self.ctx.str_attr(&name)
            }
            AttrKind::SymRef if self.peek() == b'@' => self.parse_attr()?,
            AttrKind::SymRef => return Err(self.expected_in_ods(pending, "a symbol")),
            AttrKind::Type => {
                let ty = self.parse_type()?;
                self.ctx.type_attr(ty)
            }
            &AttrKind::Int(ty) => {
                let value = i128::from(self.ods_int(pending)?);
                self.ctx.attr(AttrData::Int { value, ty })
            }
            AttrKind::Ints(elem) => {
                let end = cursor::balanced_end(self.src, start).filter(|_| self.peek() == b'[');
                let Some(end) = end else {
                    return Err(self.expected_in_ods(pending, "`[`"));
                };
                let inside = String::from_utf8_lossy(&self.src[start + 1..end - 1]).trim().to_owned();
                self.pos = end;
                let colon = if inside.is_empty() { "" } else { ": " };
                self.composed(&format!("array<{elem}{colon}{inside}>"), start)?
            }
            AttrKind::Enum { ty, words } => {
                let quoted = self.peek() == b'"';
                let text = match quoted {
                    true => self.parse_string()?,
                    false => {
                        let word = cursor::name(&self.src[start..]).map_or(&b""[..], |(_, word)| word);
                        self.pos += word.len();
                        String::from_utf8_lossy(word).into_owned()
                    }
                };
                let Some(found) = words.iter().find(|word| *word.0 == *text) else {
                    self.pos = start;
                    let known: Vec<String> = words.iter().map(|word| format!("`{}`", word.0)).collect();
                    return Err(self.expected_in_ods(pending, &format!("one of {}", known.join(", "))));
                };
                let value = i128::from(found.1);
                self.ctx.attr(AttrData::Int { value, ty: *ty })
            }
            AttrKind::Words {
                words,
                angle,
                separator,
                ..
            } => {
                if self.peek() == b'#' {
                    return self.parse_attr();
                }
                if *angle && !self.eat(b"<") {
                    return Err(self.expected_in_ods(pending, "`<`"));
                }
                let mut found = vec![false; words.len()];
                loop {
                    self.skip();
                    let rest = &self.src[self.pos..];
                    let Some(at) = words.iter().position(|word| super::format::is_literal(rest, word)) else {
                        let known: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
                        return Err(self.expected_in_ods(pending, &format!("one of {}", known.join(", "))));
                    };
                    found[at] = true;
                    self.pos += words[at].len();
                    self.skip();
                    if !*angle || !(self.eat(b",") || self.eat(b"|")) {
                        break;
                    }
                }
                if *angle && !self.eat(b">") {
                    return Err(self.expected_in_ods(pending, "`>`"));
                }
                let found: Vec<&str> = words
                    .iter()
                    .zip(found)
                    .filter(|word| word.1)
                    .map(|word| &**word.0)
                    .collect();
                self.composed(&crate::ods::row::words_text(kind, &found.join(separator)), start)?
            }
        })
    }

    pub(super) fn ods_int(&mut self, pending: &Pending) -> Result<i64, Failure> {
        self.skip();
        let (start, negative) = (self.pos, self.eat(b"-"));
        if let Ok((rest, digits)) = cursor::hex(&self.src[self.pos..])
            && let Ok(value) = i64::from_str_radix(std::str::from_utf8(digits).unwrap_or_default(), 16)
        {
            self.pos = self.src.len() - rest.len();
            return Ok(if negative { value.wrapping_neg() } else { value });
        }
        let digits = cursor::digits(&self.src[self.pos..]);
        let text = format!("{}{digits}", if negative { "-" } else { "" });
        match text.parse() {
            Ok(value) => {
                self.pos += digits.len();
                Ok(value)
            }
            Err(_) => {
                self.pos = start;
                Err(self.expected_in_ods(pending, "an integer"))
            }
        }
    }

    /// The operation has been read: types are settled, and it is created.
    fn end_of_ods(&mut self, mut pending: Box<Pending>, row: &OdsRow) -> Result<(), Failure> {
        let before = self.pos;
        self.skip();
        let loc = self.location()?;
        if loc.is_none() {
            self.pos = before;
        }
        let Some(mut state) = pending.ods.take() else {
            return self.tail(pending);
        };
        state.operands.sort_by_key(|operand| operand.0);
        let counts: SmallVec<[i64; 6]> = (0..row.operands.len())
            .map(|slot| {
                state
                    .operands
                    .iter()
                    .filter(|operand| usize::from(operand.0) == slot)
                    .count() as i64
            })
            .collect();
        pending.operands.extend(state.operands.iter().map(|operand| operand.1));
        self.order_regions(&mut pending, row, &state);
        self.complete_attributes(&mut pending, row, &counts)?;
        let settled = Settled {
            row,
            state: &state,
            vars: self.bind(row, &state),
        };
        self.check_operands(&pending, &settled)?;
        let (results, segments) = self.result_types(&pending, &settled)?;
        if row.result_segments {
            let value = self.composed(&super::format::array_text("i32", &segments), before)?;
            self.put(&mut pending, RESULT_SEGMENTS, value);
        }
        self.create_ods(pending, results, loc)
    }

    fn order_regions(&mut self, pending: &mut Pending, row: &OdsRow, state: &OdsState) {
        if row.regions.is_empty() {
            return;
        }
        let read = std::mem::take(&mut pending.regions);
        for (at, spec) in row.regions.iter().enumerate() {
            let mine = read
                .iter()
                .zip(&state.regions)
                .filter(|read| usize::from(*read.1) == at);
            let before = pending.regions.len();
            pending.regions.extend(mine.map(|read| *read.0));
            if pending.regions.len() == before && !spec.variadic {
                let region = self.body().create_region();
                pending.regions.push(region);
            }
        }
    }

    fn put(&mut self, pending: &mut Pending, name: &str, value: Attr) {
        let sym = self.ctx.sym(name);
        if pending.attrs.iter().all(|entry| entry.0 != sym) {
            pending.attrs.push((sym, value));
        }
    }

    /// Adds what is not written, in the order of MLIR's generic form.
    fn complete_attributes(&mut self, pending: &mut Pending, row: &OdsRow, counts: &[i64]) -> Result<(), Failure> {
        for attr in &row.attrs {
            match &attr.presence {
                AttrPresence::Default(text) => {
                    let value = self.composed(text, self.pos)?;
                    self.put(pending, &attr.name, value);
                }
                AttrPresence::Required => {
                    let sym = self.ctx.sym(&attr.name);
                    if pending.attrs.iter().all(|entry| entry.0 != sym) {
                        let message = format!(
                            "`{}` needs the attribute `{}`",
                            self.ctx.op_str(pending.name),
                            attr.name
                        );
                        return Err(self.error("missing-attribute", message, pending.span));
                    }
                }
                _ => {}
            }
        }
        if row.segments {
            let value = self.composed(&super::format::array_text("i32", counts), self.pos)?;
            self.put(pending, OPERAND_SEGMENTS, value);
        }
        if pending.attrs.len() > 1 {
            let ctx = self.ctx.clone();
            pending.attrs.sort_by(|a, b| ctx.str(a.0).cmp(ctx.str(b.0)));
        }
        Ok(())
    }

    /// The types that the letters of the row stand for.
    fn bind(&mut self, row: &OdsRow, state: &OdsState) -> [Option<Type>; 8] {
        let mut vars = [None; 8];
        for &(slot, ty) in &state.types {
            if let Some(TypeRule::Same(letter)) = row.value(slot.into()).map(|value| &value.rule) {
                vars[usize::from(*letter)].get_or_insert(ty);
            }
        }
        for &(slot, value, _) in &state.operands {
            if let Some(TypeRule::Same(letter)) = row.value(slot.into()).map(|value| &value.rule) {
                let ty = self.body().value_type(value);
                if ty != Type::NONE {
                    vars[usize::from(*letter)].get_or_insert(ty);
                }
            }
        }
        vars
    }

    fn check_operands(&mut self, pending: &Pending, settled: &Settled<'_>) -> Result<(), Failure> {
        let state = settled.state;
        if let Some(all) = &state.all_operands {
            if all.len() != state.operands.len() {
                let message = format!(
                    "expected types for {1} operands, found {0}",
                    all.len(),
                    state.operands.len()
                );
                return Err(self.error("operand-count", message, pending.span));
            }
            for (&(_, value, span), &ty) in state.operands.iter().zip(all) {
                self.check_operand_type(value, ty, span);
            }
            return Ok(());
        }
        let mut at = 0;
        for slot in 0..settled.row.operands.len() {
            let first = at;
            while state
                .operands
                .get(at)
                .is_some_and(|operand| usize::from(operand.0) == slot)
            {
                at += 1;
            }
            let Some(types) = self.types_of(pending, settled, slot) else {
                continue;
            };
            let own = &state.operands[first..at];
            // One omitted type applies to all values of the slot.
            let is_shared = types.len() == 1 && !settled.is_written(slot);
            if types.len() != own.len() && !is_shared {
                let message = format!(
                    "{} types for {} values of `{}`",
                    types.len(),
                    own.len(),
                    settled.row.operands[slot].name
                );
                return Err(self.error("operand-count", message, pending.span));
            }
            for (at, &(_, value, span)) in own.iter().enumerate() {
                if let Some(&ty) = types.get(at).or_else(|| types.last()) {
                    self.check_operand_type(value, ty, span);
                }
            }
        }
        Ok(())
    }

    /// The types of an operand or a result: those that are written, or the one that follows from others.
    fn types_of(&mut self, pending: &Pending, settled: &Settled<'_>, slot: Slot) -> Option<Types> {
        if settled.is_written(slot) {
            return Some(settled.written(slot).collect());
        }
        match &settled.row.value(slot)?.rule {
            TypeRule::Written => None,
            TypeRule::Same(letter) => settled.vars[usize::from(*letter)].map(|ty| Types::from_slice(&[ty])),
            TypeRule::Fixed(ty) => Some(Types::from_slice(&[*ty])),
            TypeRule::Each(of) => {
                let each = settled
                    .state
                    .operands
                    .iter()
                    .filter(|operand| usize::from(operand.0) == *of);
                Some(each.map(|_| Type::I1).collect())
            }
            TypeRule::OfAttr(at) => {
                let sym = self.ctx.sym(&settled.row.attrs[*at].name);
                let value = pending.attrs.iter().find(|entry| entry.0 == sym)?.1;
                self.type_of_attr(value).map(|ty| Types::from_slice(&[ty]))
            }
            &TypeRule::From(function, of) => {
                let written = settled.written(of).next();
                let ty = match (written, &settled.row.value(of)?.rule) {
                    (Some(ty), _) => ty,
                    (None, TypeRule::Same(letter)) => settled.vars[usize::from(*letter)]?,
                    (None, TypeRule::Fixed(ty)) => *ty,
                    (None, _) => {
                        let found = settled
                            .state
                            .operands
                            .iter()
                            .find(|operand| usize::from(operand.0) == of)?;
                        let value = found.1;
                        self.body().value_type(value)
                    }
                };
                self.ctx.ods_type(function, ty)
            }
        }
    }

    /// The type of a number or of elements.
    fn type_of_attr(&mut self, attr: Attr) -> Option<Type> {
        let ctx = self.ctx.clone();
        match ctx.attr_data(attr) {
            AttrData::Int { ty, .. } | AttrData::Float { ty, .. } => Some(*ty),
            AttrData::Bool(_) => Some(Type::I1),
            AttrData::Elements(elements) => Some(elements.ty()),
            AttrData::Opaque(text) => {
                let (_, ty) = text.rsplit_once(" : ").or_else(|| text.rsplit_once(':'))?;
                super::parse_type(&ctx, ty.trim()).ok()
            }
            _ => None,
        }
    }

    fn result_types(
        &mut self,
        pending: &Pending,
        settled: &Settled<'_>,
    ) -> Result<(Types, SmallVec<[i64; 4]>), Failure> {
        let row = settled.row;
        if let Some(all) = &settled.state.all_results {
            return Ok((all.iter().copied().collect(), SmallVec::new()));
        }
        let (mut results, mut segments) = (Types::new(), SmallVec::new());
        for at in 0..row.results.len() {
            let slot = row.operands.len() + at;
            let before = results.len();
            match self.types_of(pending, settled, slot) {
                Some(types) => results.extend(types),
                None if row.results[at].arity == Arity::One => {
                    let message = format!("the type of the result `{}` cannot be inferred", row.results[at].name);
                    return Err(self.error("untyped-result", message, pending.span));
                }
                None => {}
            }
            segments.push((results.len() - before) as i64);
        }
        Ok((results, segments))
    }

    fn create_ods(&mut self, mut pending: Box<Pending>, results: Types, loc: Option<Attr>) -> Result<(), Failure> {
        let count = pending.num_named;
        if let Some(first) = pending.names.first().filter(|_| results.len() != count) {
            let message = super::finish_op::result_names(results.len(), count);
            let failure = self.error("result-count", message, self.name_span(first.start));
            return Err(failure.with_help("name each result, or none"));
        }
        if pending.has(&self.ctx, Traits::SEGMENTS) {
            self.segments(&mut pending)?;
        }
        let attrs = self.ctx.dict(&pending.attrs);
        self.check_attributes(&pending, attrs, &[])?;
        pending.results.extend_from_slice(&results);
        self.create_pending(pending, attrs, loc);
        Ok(())
    }
}

/// What is known when all of an operation has been read.
struct Settled<'r> {
    row: &'r OdsRow,
    state: &'r OdsState,
    vars: [Option<Type>; 8],
}

impl Settled<'_> {
    fn is_written(&self, slot: Slot) -> bool {
        self.state.written & 1 << slot.min(63) != 0
    }

    fn written(&self, slot: Slot) -> impl Iterator<Item = Type> {
        self.state
            .types
            .iter()
            .filter(move |ty| usize::from(ty.0) == slot)
            .map(|ty| ty.1)
    }
}
