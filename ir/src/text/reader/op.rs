//! Operations in the text.

use super::parser::{Failure, Parser};
use super::pending::{Pending, ResultNames};
use crate::body::Successor;
use crate::declare::Traits;
use crate::diagnostics::Span;
use crate::entity::{BlockId, Sym, ValueId};
use crate::text::cursor;
use crate::text::options::VISIBILITIES;
use crate::text::writer::attr::print_type;
use crate::types::{AttrData, AttrDict, Type};

impl<'s> Parser<'s> {
    /// Reads an operation as far as its first region, or whole.
    pub(super) fn operation(&mut self, comment: String) -> Result<(), Failure> {
        let mut names = ResultNames::default();
        if self.peek() == b'%' {
            self.result_names(&mut names)?;
        }
        self.skip();
        let start = self.pos;
        let generic = self.peek() == b'"';
        let (mut format, mut ods) = (None, None);
        let (name, span) = if generic {
            let Some(end) = cursor::string_end(self.src, start) else {
                return Err(self.unclosed_string(start));
            };
            let span = Span::new(start + 1, end - 1);
            let text = &self.src[start + 1..end - 1];
            let name = match text.contains(&b'\\') {
                false => self.op_name(text),
                true => {
                    let text = self.parse_string()?;
                    self.find_op(&text)
                }
            };
            let Some(name) = name else {
                let word = self.text(span);
                return Err(self.unknown_op(span, word.as_bytes()));
            };
            self.pos = end;
            (name, span)
        } else {
            let Ok((rest, word)) = cursor::name(&self.src[start..]) else {
                return Err(self.expected(
                    "an operation",
                    "an operation is written `%result = dialect.name (%operand) {attribute = 1} : type`",
                ));
            };
            let end = self.src.len() - rest.len();
            let span = Span::new(start, end);
            let name = self.ctx.aliased_op(word).or_else(|| match word.contains(&b'.') {
                true => self.op_name(word),
                false => self.op_of_function(word),
            });
            let Some(name) = name else {
                return Err(self.unknown_op(span, word));
            };
            self.pos = end;
            let ctx = self.ctx.clone();
            match ctx.op_def(name) {
                def if ctx.ods(name).is_some_and(|row| self.is_ods_form(def, row)) => ods = Some(Box::default()),
                None => self.check_unregistered_form(span)?,
                Some(def) => {
                    format = def
                        .assembly
                        .as_ref()
                        .and_then(|assembly| self.foreign_form(def, assembly))
                }
            }
            (name, span)
        };
        let mut pending = self.spare.pop().unwrap_or_default();
        pending.names = names;
        pending.name = name;
        pending.span = span;
        pending.comment = comment;
        pending.generic = generic;
        pending.format = format;
        pending.ods = ods;
        if generic {
            self.generic_head(&mut pending)?;
        } else if pending.format.is_none() && pending.ods.is_none() {
            self.pretty_head(&mut pending)?;
        }
        self.continue_operation(pending)
    }

    fn result_names(&mut self, names: &mut ResultNames) -> Result<(), Failure> {
        loop {
            let (name, mut span) = self.new_name()?;
            let mut count = 1;
            if self.eat(b":") {
                let digits = cursor::digits(&self.src[self.pos..]);
                // More results than bytes of input cannot have types.
                match digits.parse::<u32>() {
                    Ok(n) if n > 0 && (n as usize) <= self.src.len() => count = n,
                    _ => {
                        return Err(self
                            .error_at(
                                self.pos,
                                self.pos + digits.len().max(1),
                                "result-count",
                                "this is no number of results".to_owned(),
                            )
                            .with_help("`%r:2` names two results, `%r#0` and `%r#1`"));
                    }
                }
                self.pos += digits.len();
                span = Span {
                    end: self.pos as u32,
                    ..span
                };
            }
            names.names.push((name, count, span));
            self.skip();
            if self.eat(b"=") {
                return Ok(());
            }
            // The specification separates the last result by a full-width comma.
            if !self.eat("，".as_bytes()) {
                self.expect(b",", "`,` or `=`", "results are written `%a, %b = …`")?;
            }
        }
    }

    // ----- generic form -----

    fn generic_head(&mut self, pending: &mut Pending) -> Result<(), Failure> {
        self.expect(
            b"(",
            "`(`",
            "the generic form is `\"dialect.op\"(%operands) : (types) -> types`",
        )?;
        self.operand_list(pending, b")")?;
        self.skip();
        if self.eat(b"[") {
            self.successor_list(pending)?;
            self.expect(b"]", "`]`", "successors are written `[^a, ^b]`")?;
            self.skip();
        }
        if self.starts_with(b"<{") {
            self.pos += 1;
            let mut entries = Vec::new();
            pending.dicts.push(self.pos as u32);
            self.parse_dict(&mut entries)?;
            self.expect(b">", "`>`", "properties are written `<{name = value}>`")?;
            if pending.def(&self.ctx).is_some() || self.ctx.ods(pending.name).is_some() {
                pending.attrs.extend(entries);
            } else {
                let dict = self.ctx.dict(&entries);
                let dict = self.ctx.attr(AttrData::Dict(dict));
                pending.attrs.push((self.ctx.sym("<{}>"), dict));
            }
            self.skip();
        }
        Ok(())
    }

    fn successor_list(&mut self, pending: &mut Pending) -> Result<(), Failure> {
        loop {
            self.successor(pending)?;
            self.skip();
            if !self.eat(b",") {
                return Ok(());
            }
        }
    }

    /// `^name` or `^name(%a, %b)` or `^name(%a, %b : T, U)`.
    fn successor(&mut self, pending: &mut Pending) -> Result<(), Failure> {
        self.skip();
        let start = self.pos;
        // The specification leaves the sigil out now and then.
        if !self.peek().is_ascii_alphabetic() {
            self.expect(b"^", "a block", "successors are written `^name(%operand)`")?;
        }
        let (sym, span) = self.block_name(start)?;
        let block = self.block_of_label(sym, span);
        let before = pending.operands.len();
        if self.next_is(b'(') {
            self.skip();
            self.pos += 1;
            self.operand_list(pending, b")")?;
        }
        let types = pending.operands[before..]
            .iter()
            .map(|&v| self.body().value_type(v))
            .collect();
        if let Some(region) = self.scopes.region() {
            region.passed.entry(block).or_insert(types);
        }
        pending.successors.push(Successor {
            block,
            operands: (pending.operands.len() - before) as u32,
        });
        Ok(())
    }

    pub(super) fn block_of_label(&mut self, sym: Sym, span: Span) -> BlockId {
        if let Some(&(block, _, _)) = self.scopes.region().and_then(|r| r.blocks.get(&sym)) {
            return block;
        }
        let block = self.body().create_detached_block();
        if let Some(region) = self.scopes.region() {
            region.blocks.insert(sym, (block, false, span));
        }
        block
    }

    /// Operands up to the closing bracket, with optional types after a colon.
    fn operand_list(&mut self, pending: &mut Pending, close: &[u8]) -> Result<(), Failure> {
        self.skip();
        if self.eat(close) {
            return Ok(());
        }
        let first = pending.operands.len();
        loop {
            self.operand(pending)?;
            self.skip();
            if self.peek() == b':' && !self.starts_with(b"::") {
                self.pos += 1;
                for at in first.. {
                    let ty = self.parse_type()?;
                    if let (Some(&value), Some(&span)) = (pending.operands.get(at), pending.operand_spans.get(at)) {
                        self.check_operand_type(value, ty, span);
                    }
                    self.skip();
                    if !self.eat(b",") {
                        break;
                    }
                }
                self.skip();
            }
            if self.eat(close) {
                return Ok(());
            }
            self.expect(b",", "`,` or `)`", "operands are separated by commas")?;
            self.skip();
        }
    }

    pub(super) fn operand(&mut self, pending: &mut Pending) -> Result<(), Failure> {
        self.skip();
        let start = self.pos;
        match self.peek() {
            // `pd.const(1)`: the value of a constant.
            b'-' | b'0'..=b'9' if pending.has(&self.ctx, Traits::CONSTANT) => {
                let value = self.parse_attr()?;
                pending.attrs.push((self.ctx.sym("value"), value));
                return Ok(());
            }
            b if b.is_ascii_alphabetic() => {
                let text = cursor::name(&self.src[start..])
                    .map_or(String::new(), |(_, w)| String::from_utf8_lossy(w).into_owned());
                return Err(self
                    .error_at(start, start + text.len(), "syntax", format!("`{text}` is not a value"))
                    .with_help(format!("values are written with a percent sign: `%{text}`")));
            }
            _ => {}
        }
        let value = self.value_use()?;
        pending.operands.push(value);
        pending.operand_spans.push(Span::new(start, self.pos));
        Ok(())
    }

    pub(super) fn check_operand_type(&mut self, value: ValueId, written: Type, span: Span) {
        let actual = self.body().value_type(value);
        if actual == Type::NONE {
            // A forward reference: what is written says what it will be.
            self.body().set_value_type(value, written);
        } else if actual != written {
            let (actual, written) = (print_type(&self.ctx, actual), print_type(&self.ctx, written));
            let failure = self
                .error(
                    "operand-type",
                    format!("this operand has type `{actual}`, not `{written}`"),
                    span,
                )
                .with_help(format!("write `{actual}`, or leave the types of the operands out"));
            self.report(failure);
        }
    }

    // ----- pretty form -----

    fn pretty_head(&mut self, pending: &mut Pending) -> Result<(), Failure> {
        if pending.has(&self.ctx, Traits::FUNCTION) {
            return self.function_head(pending);
        }
        let line = cursor::line_end(self.src, self.pos);
        if self.next_is(b'@') {
            self.skip();
            let attr = if pending.has(&self.ctx, Traits::SYMBOL) {
                let name = self.parse_symbol_name()?;
                ("sym_name", self.ctx.str_attr(&name))
            } else {
                ("callee", self.parse_attr()?)
            };
            pending.attrs.push((self.ctx.sym(attr.0), attr.1));
        }
        if self.next_is(b'(') {
            self.skip();
            self.pos += 1;
            self.operand_list(pending, b")")?;
        } else {
            // Without parentheses, operands must stand on the line of the name: the next line is the next operation.
            while self.next_is(b'%') && (!pending.operands.is_empty() || self.after(self.pos) < line) {
                self.operand(pending)?;
                if !self.next_is(b',') {
                    break;
                }
                self.skip();
                self.pos += 1;
            }
        }
        let branches = pending.def(&self.ctx).is_some_and(|d| d.successors > 0);
        let starts = |p: &Self| {
            let next = p.src.get(p.after(p.pos)).copied().unwrap_or(0);
            (next == b'^' || branches && next.is_ascii_alphabetic()) && p.after(p.pos) < line
        };
        while starts(self) {
            self.successor(pending)?;
            if !self.next_is(b',') {
                break;
            }
            self.skip();
            self.pos += 1;
        }
        Ok(())
    }

    /// Whether the next byte that is neither blank nor comment is this one. Nothing is skipped: the comments may belong
    /// to the next operation.
    pub(super) fn next_is(&self, byte: u8) -> bool {
        self.src.get(self.after(self.pos)) == Some(&byte)
    }

    fn function_head(&mut self, pending: &mut Pending) -> Result<(), Failure> {
        self.skip();
        if let Some(visibility) = VISIBILITIES.iter().find(|v| self.starts_with(v.as_bytes())) {
            self.pos += visibility.len();
            pending
                .attrs
                .push((self.ctx.sym("sym_visibility"), self.ctx.str_attr(visibility)));
            self.skip();
        }
        let name = self.parse_symbol_name()?;
        pending
            .attrs
            .insert(0, (self.ctx.sym("sym_name"), self.ctx.str_attr(&name)));
        self.expect(b"(", "`(`", "a function is written `func.func @name(%x: T) -> U { … }`")?;
        let (mut inputs, mut arg_attrs) = (Vec::new(), Vec::new());
        self.skip();
        if !self.eat(b")") {
            loop {
                self.skip();
                if self.peek() == b'%' {
                    let (name, span) = self.new_name()?;
                    self.expect(b":", "`:`", "arguments of a function have types: `%x: tensor<4xf32>`")?;
                    let ty = self.parse_type()?;
                    inputs.push(ty);
                    arg_attrs.push(self.optional_dict()?);
                    self.skip();
                    let loc = self.location()?;
                    pending.function_args.push((name, ty, loc, span));
                } else {
                    inputs.push(self.parse_type()?);
                    arg_attrs.push(self.optional_dict()?);
                    self.skip();
                    // A declaration has no arguments that keep it.
                    self.aliases.begin();
                    self.location()?;
                    self.aliases.forget();
                }
                self.skip();
                if self.eat(b")") {
                    break;
                }
                self.expect(b",", "`,` or `)`", "arguments are separated by commas")?;
            }
        }
        self.skip();
        let (mut results, mut res_attrs) = (Vec::new(), Vec::new());
        if self.eat(b"->") {
            self.skip();
            if self.eat(b"(") {
                self.skip();
                while !self.eat(b")") {
                    results.push(self.parse_type()?);
                    res_attrs.push(self.optional_dict()?);
                    self.skip();
                    if !self.starts_with(b")") {
                        self.expect(b",", "`,` or `)`", "results are separated by commas")?;
                        self.skip();
                    }
                }
            } else {
                results.push(self.parse_type()?);
            }
        }
        let ty = self.ctx.function_type(&inputs, &results);
        pending
            .attrs
            .push((self.ctx.sym("function_type"), self.ctx.type_attr(ty)));
        for (name, attrs) in [("arg_attrs", arg_attrs), ("res_attrs", res_attrs)] {
            if attrs.iter().any(|&dict| dict != AttrDict::EMPTY) {
                let dicts = attrs.iter().map(|&dict| self.ctx.attr(AttrData::Dict(dict))).collect();
                let list = self.ctx.attr(AttrData::Array(dicts));
                pending.attrs.push((self.ctx.sym(name), list));
            }
        }
        Ok(())
    }

    pub(super) fn optional_dict(&mut self) -> Result<AttrDict, Failure> {
        self.skip();
        let mut entries = Vec::new();
        if self.peek() == b'{' {
            self.parse_dict(&mut entries)?;
        }
        Ok(self.ctx.dict(&entries))
    }
}
