//! The interface for parsing `custom<NAME>` of a row.

use super::parser::{Failure, Parser};
use super::pending::Pending;
use crate::assembly::{TextReader, Unreadable};
use crate::context::Context;
use crate::diagnostics::Span;
use crate::entity::{Sym, ValueId};
use crate::ods::{ArgName, AttrPresence, Ods, OdsReader, OdsRow};
use crate::text::cursor;
use crate::types::{Attr, AttrData, Type};

type Read<T> = Result<T, Unreadable>;

/// The text at the place of a `custom<NAME>`, and the operation that is being read.
pub(super) struct RowReader<'r, 's> {
    parser: &'r mut Parser<'s>,
    pending: &'r mut Pending,
    row: &'r OdsRow,
    args: &'r [Box<str>],
}

fn read<T>(result: Result<T, Failure>) -> Read<T> {
    result.map_err(Unreadable::from)
}

impl<'r, 's> RowReader<'r, 's> {
    pub(super) fn new(
        parser: &'r mut Parser<'s>,
        pending: &'r mut Pending,
        row: &'r OdsRow,
        args: &'r [Box<str>],
    ) -> Self {
        RowReader {
            parser,
            pending,
            row,
            args,
        }
    }

    /// The name of an attribute, which the row is likely to know.
    fn sym(&self, name: &str) -> Sym {
        match self.row.attr(name) {
            Some(at) => self.row.attrs[at].sym(self.parser.ctx),
            None => self.parser.ctx.sym(name),
        }
    }
}

impl TextReader for RowReader<'_, '_> {
    fn eat(&mut self, text: &str) -> bool {
        self.parser.eat_literal(text)
    }

    fn expected(&mut self, what: &str) -> Unreadable {
        Unreadable::from(self.parser.expected_in_ods(self.pending, what))
    }

    fn is_next(&self, sign: char) -> bool {
        self.parser.sign_is_next(sign)
    }

    fn int(&mut self) -> Read<i64> {
        read(self.parser.ods_int(self.pending))
    }

    fn bracketed(&mut self, open: char) -> Read<String> {
        let text = read(self.parser.bracketed_text(open))?;
        text.ok_or_else(|| self.expected(&format!("`{open}`")))
    }

    fn set(&mut self, name: &str, text: &str) -> Read<()> {
        let value = self.composed(text)?;
        self.set_attr(name, value)
    }

    fn set_array(&mut self, name: &str, ty: &str, list: &[i64]) -> Read<()> {
        let value = read(self.parser.number_list(ty, list))?;
        self.set_attr(name, value)
    }
}

impl<'r> OdsReader<'r> for RowReader<'r, '_> {
    fn ctx(&self) -> &Context {
        self.parser.ctx
    }

    fn arg(&self, at: usize) -> &'r str {
        self.args.get(at).map_or("", |arg| arg)
    }

    fn starts_with(&self, text: &str) -> bool {
        self.parser.src[self.parser.after(self.parser.pos)..].starts_with(text.as_bytes())
    }

    fn word(&mut self) -> Option<String> {
        self.parser.skip();
        let (_, word) = cursor::name(&self.parser.src[self.parser.pos..]).ok()?;
        self.parser.pos += word.len();
        Some(String::from_utf8_lossy(word).into_owned())
    }

    fn ty(&mut self) -> Read<Type> {
        read(self.parser.parse_type())
    }

    fn value(&mut self) -> Read<Attr> {
        read(self.parser.parse_attr())
    }

    fn attr(&mut self, name: &str) -> Read<()> {
        let Some(row) = self.row.attr(name).map(|at| &self.row.attrs[at]) else {
            return Err(self.expected(&format!("an operation with the attribute `{name}`")));
        };
        let value = read(self.parser.ods_value(self.pending, &row.kind))?;
        self.set_attr(name, value)
    }

    fn dict(&mut self) -> Read<()> {
        self.parser.skip();
        if self.parser.peek() == b'{' {
            let mut entries = std::mem::take(&mut self.pending.attrs);
            read(self.parser.parse_dict(&mut entries))?;
            self.pending.attrs = entries;
        }
        Ok(())
    }

    fn set_attr(&mut self, name: &str, value: Attr) -> Read<()> {
        let (start, sym) = (self.parser.pos, self.sym(name));
        read(self.parser.set_sym(self.pending, sym, value, start))
    }

    fn replace_attr(&mut self, name: &str, value: Attr) {
        let sym = self.sym(name);
        self.pending.attrs.retain(|entry| entry.0 != sym);
        self.pending.attrs.push((sym, value));
    }

    fn get_attr(&self, name: &str) -> Option<Attr> {
        let sym = self.sym(name);
        self.pending
            .attrs
            .iter()
            .find(|entry| entry.0 == sym)
            .map(|entry| entry.1)
    }

    fn take_attr(&mut self, name: &str) -> Option<Attr> {
        let value = self.get_attr(name);
        let sym = self.sym(name);
        self.pending.attrs.retain(|entry| entry.0 != sym);
        value
    }

    fn composed(&mut self, text: &str) -> Read<Attr> {
        let start = self.parser.pos;
        read(self.parser.composed(text, start))
    }

    fn operands(&mut self, name: &str) -> Read<()> {
        let slot = self.row.slot(name).unwrap_or_default();
        read(self.parser.ods_operand(self.pending, self.row, slot))
    }

    fn operand(&mut self, name: &str) -> Read<ValueId> {
        let start = self.parser.after(self.parser.pos);
        if self.parser.src.get(start) != Some(&b'%') {
            return Err(self.expected("a value"));
        }
        let value = read(self.parser.value_use())?;
        let span = Span::new(start, self.parser.pos);
        let slot = self.row.slot(name).unwrap_or_default();
        if let Some(state) = self.pending.ods.as_mut() {
            state.operands.push((slot as u16, value, span));
        }
        Ok(value)
    }

    fn push_operand(&mut self, name: &str, value: ValueId) {
        let slot = self.row.slot(name).unwrap_or_default();
        if let Some(state) = self.pending.ods.as_mut() {
            let span = Span::new(self.parser.pos, self.parser.pos);
            state.operands.push((slot as u16, value, span));
        }
    }

    fn begin_region(&mut self, types: &[Type]) -> Vec<ValueId> {
        let body = self.parser.body();
        let region = body.create_region();
        let block = body.create_block(region);
        let args = types.iter().map(|&ty| body.add_block_arg(block, ty, None)).collect();
        self.pending.regions.push(region);
        self.pending.ods.get_or_insert_default().regions.push(0);
        args
    }

    fn op(
        &mut self,
        name: &str,
        operands: &[ValueId],
        result: Option<Type>,
        attrs: &[(&str, Attr)],
    ) -> Option<ValueId> {
        let span = self.pending.span;
        let name = self.parser.ctx.op_name(name);
        let entries: Vec<_> = attrs
            .iter()
            .map(|&(name, value)| (self.parser.ctx.sym(name), value))
            .collect();
        let attrs = self.parser.ctx.dict(&entries);
        let region = *self.pending.regions.last()?;
        let body = self.parser.body();
        let block = body.entry_block(region)?;
        let op = body.create_op(crate::edit::OpSpec {
            name,
            operands,
            results: result.as_slice(),
            attrs,
            span,
            ..crate::edit::OpSpec::new(name)
        });
        body.append_op(block, op);
        body.results(op).next()
    }

    fn with_defaults(&mut self, name: &str, mut attrs: Vec<(String, Attr)>) -> Read<Vec<(String, Attr)>> {
        let ctx = self.parser.ctx;
        let Some(Ok(row)) = ctx.ods(ctx.op_name(name)).map(Ods::row) else {
            return Ok(attrs);
        };
        for attr in &row.attrs {
            if let AttrPresence::Default(text) = &attr.presence
                && attrs.iter().all(|known| *known.0 != *attr.name)
            {
                attrs.push((attr.name.to_string(), self.composed(text)?));
            }
        }
        Ok(attrs)
    }

    fn op_name(&self) -> &str {
        self.parser.ctx.op_str(self.pending.name)
    }

    fn has_operand(&self, name: &str) -> bool {
        self.row.operands.iter().any(|value| *value.name == *name)
    }

    fn only_operand(&self) -> &'r str {
        self.row.operands.first().map_or("", |value| &value.name)
    }

    fn trait_dict(&mut self) -> Read<()> {
        let value = self.value()?;
        let ctx = self.parser.ctx;
        let AttrData::Dict(dict) = ctx.attr_data(value) else {
            return Err(self.expected("a dictionary before"));
        };
        for &(name, value) in ctx.dict_entries(*dict) {
            self.set_attr(ctx.str(name), value)?;
        }
        Ok(())
    }

    fn expressions(&mut self, name: &str, open: char, apart: bool) -> Read<String> {
        let end = match self.is_next(open) {
            true => cursor::balanced_end(self.parser.src, self.parser.after(self.parser.pos)),
            false => return Err(self.expected(&format!("`{open}`"))),
        };
        let end = end.ok_or_else(|| Unreadable::from(self.parser.unclosed()))? - 1;
        self.parser.pos = self.parser.after(self.parser.pos) + 1;
        let (mut names, mut text): (Vec<(String, bool, ValueId)>, _) = (Vec::new(), String::new());
        // The kind of each value in the expression, and how deep in parentheses it is.
        let (mut kinds, mut depth): (Vec<(String, bool)>, usize) = (Vec::new(), 0);
        while self.parser.pos < end {
            let symbol = self.parser.starts_with(b"symbol(");
            if symbol {
                self.parser.pos += 7;
            }
            let Some(value) = self.peek_value().filter(|_| symbol || self.parser.peek() == b'%') else {
                match self.parser.peek() {
                    b'(' => depth += 1,
                    b')' => depth = depth.saturating_sub(1),
                    b',' if apart && depth == 0 => kinds.clear(),
                    _ => {}
                }
                text.push(char::from(self.parser.peek()));
                self.parser.pos += 1;
                continue;
            };
            let id = self.free_value()?;
            if symbol {
                self.expect(")")?;
            }
            let known = kinds.iter().find(|known| known.0 == value).map(|known| known.1);
            let symbol = known.unwrap_or(symbol);
            if known.is_none() {
                kinds.push((value.clone(), symbol));
            }
            let at = names.iter().position(|known| known.0 == value && known.1 == symbol);
            let at = at.unwrap_or_else(|| {
                names.push((value, symbol, id));
                names.len() - 1
            });
            let number = names[..at].iter().filter(|known| known.1 == symbol).count();
            text.push_str(&format!("{}{number}", if symbol { "s" } else { "d" }));
        }
        self.parser.pos = end + 1;
        let mut list = |symbol: bool, letter: &str| {
            let mine = names.iter().filter(|known| known.1 == symbol);
            let ids: Vec<ValueId> = mine.map(|known| known.2).collect();
            let names: Vec<String> = (0..ids.len()).map(|at| format!("{letter}{at}")).collect();
            for id in ids {
                self.push_operand(name, id);
            }
            names.join(", ")
        };
        let (dims, symbols) = (list(false, "d"), list(true, "s"));
        let symbols = if symbols.is_empty() {
            symbols
        } else {
            format!("[{symbols}]")
        };
        Ok(format!("affine_map<({dims}){symbols} -> ({text})>"))
    }

    fn values(&self, name: &str) -> Vec<ValueId> {
        let slot = self.row.slot(name).unwrap_or_default();
        let operands = self.pending.ods.iter().flat_map(|state| &state.operands);
        operands
            .filter(|operand| usize::from(operand.0) == slot)
            .map(|operand| operand.1)
            .collect()
    }

    fn peek_value(&self) -> Option<String> {
        let start = self.parser.after(self.parser.pos);
        let src = self.parser.src;
        if src.get(start) != Some(&b'%') {
            return None;
        }
        let (_, name) = cursor::suffix(&src[start + 1..]).ok()?;
        let mut end = start + 1 + name.len();
        if src.get(end) == Some(&b'#') {
            end += 1 + cursor::digits(&src[end + 1..]).len();
        }
        Some(String::from_utf8_lossy(&src[start..end]).into_owned())
    }

    fn free_value(&mut self) -> Read<ValueId> {
        self.parser.skip();
        read(self.parser.value_use())
    }

    fn type_of(&mut self, value: ValueId) -> Type {
        self.parser.body().value_type(value)
    }

    fn set_types(&mut self, name: &str, types: &[Type]) {
        let slot = self.row.slot(name).unwrap_or_default();
        if let Some(state) = self.pending.ods.as_mut() {
            state.types.extend(types.iter().map(|&ty| (slot as u16, ty)));
            state.written |= 1 << slot.min(63);
        }
    }

    fn set_results(&mut self, types: &[Type]) {
        if let Some(state) = self.pending.ods.as_mut() {
            state.all_results = Some(types.to_vec());
        }
    }

    fn arrow(&mut self) -> Read<Option<Vec<Type>>> {
        match self.eat("->") {
            true => read(self.parser.parse_result_types()).map(Some),
            false => Ok(None),
        }
    }

    fn signature(&mut self) -> Read<(Vec<Type>, Vec<Type>)> {
        if !self.is_next('(') {
            return Err(self.expected("`(`"));
        }
        read(self.parser.parse_signature())
    }

    fn read_types(&self, name: &str) -> Vec<Type> {
        let slot = self.row.slot(name).unwrap_or_default();
        self.pending.ods.iter().flat_map(|state| state.types(slot)).collect()
    }

    fn value_of_type(&mut self, ty: Type) -> Read<Attr> {
        self.parser.skip();
        let start = self.parser.pos;
        let word = self.word().unwrap_or_default();
        if !matches!(&*word, "dense" | "dense_resource" | "sparse") {
            self.parser.pos = start;
            return self.value();
        }
        let inside = self.bracketed('<')?;
        let ty = crate::text::print_type(self.parser.ctx, ty);
        read(self.parser.composed(&format!("{word}{inside} : {ty}"), start))
    }

    fn arg_name(&mut self) -> Read<ArgName> {
        if !self.is_next('%') {
            return Err(self.expected("the name of an argument"));
        }
        let (name, start) = read(self.parser.new_name())?;
        Ok(ArgName { name, start })
    }

    fn argument(&mut self, name: ArgName, ty: Type) -> Read<()> {
        self.pending.function_args.push((name.name, ty, None, name.start));
        Ok(())
    }

    fn argument_location(&mut self) -> Read<()> {
        if !self.starts_with("loc(") {
            return Ok(());
        }
        self.parser.skip();
        let loc = read(self.parser.location())?;
        if let Some(last) = self.pending.function_args.last_mut() {
            last.2 = loc;
        }
        Ok(())
    }

    fn successor(&mut self) -> Read<()> {
        read(self.parser.ods_successor(self.pending))
    }

    fn ints(&mut self) -> &mut Vec<i64> {
        &mut self.pending.ods.get_or_insert_default().ints
    }

    fn attr_type(&self, attr: Attr) -> Option<Type> {
        match self.parser.ctx.attr_data(attr) {
            AttrData::Type(ty) => Some(*ty),
            _ => None,
        }
    }
}
