//! Operations in the text, from the names of their results to the text after their operands.

use super::caches::{KnownOp, op_place};
use super::parser::{Failure, Parser};
use super::pending::{Pending, ResultName};
use super::repeated::ReadSoFar;
use crate::declare::Traits;
use crate::diagnostics::Span;
use crate::text::cursor;
use crate::text::options::VISIBILITIES;
use crate::types::{AttrData, AttrDict};

impl Parser<'_> {
    /// Reads an operation as far as its first region, or whole.
    ///
    /// Nearly all have no regions and are spelled as they are printed, in one of these ways:
    ///
    /// ```text
    /// %a, %b = dialect.op (%c, %d#1) {k = 1} : type, type
    /// %a, %b = "dialect.op"(%c, %d#1) {k = 1} : (type, type) -> (type, type)
    /// ```
    ///
    /// They are read to their end here. If one goes on in another way, so does the reader with what it has of it.
    #[inline(always)]
    pub(super) fn operation(&mut self) -> Result<(), Failure> {
        let mut op = self
            .ready
            .take()
            .unwrap_or_else(|| self.spare.pop().unwrap_or_default());
        op.restart();
        if self.peek() == b'%' {
            self.result_names(&mut op)?;
        }
        op.generic = match self.peek() {
            b if b.is_ascii_alphabetic() => false,
            _ => {
                self.skip();
                self.peek() == b'"'
            }
        };
        let (place, known) = match op.generic {
            true => self.quoted_name(&mut op)?,
            false => self.bare_name(&mut op)?,
        };
        let is_plain = if op.generic {
            let help = "the generic form is `\"dialect.op\"(%operands) : (types) -> types`";
            self.expect(b"(", "`(`", help)?;
            self.operand_list(&mut op)?;
            known.plain || known.unregistered
        } else {
            let is_other = known.foreign || !known.plain;
            // Our own form has ways of its own.
            if known.foreign || known.name.is_none() {
                match self.met_before(&mut op) {
                    ReadSoFar::Whole(attrs) => {
                        self.create(op.spec(attrs), &op.names);
                        op.regions.clear();
                        self.ready = Some(op);
                        return Ok(());
                    }
                    ReadSoFar::Head => {
                        op.comment = std::mem::take(&mut self.comment);
                        return self.open_region(op, false);
                    }
                    ReadSoFar::Not => {}
                }
            }
            let is_foreign = is_other && self.is_foreign(&mut op)?;
            let is_ours = known.plain && !is_foreign;
            if is_ours && self.eat(b" (") {
                self.operand_list(&mut op)?;
            } else if !is_ours || !self.starts_with(b" {") {
                if let Some(state) = op.ods.take() {
                    if self.quick_ods(&mut op) {
                        self.spare_states.push(state);
                        self.ready = Some(op);
                        return Ok(());
                    }
                    op.ods = Some(state);
                }
                op.comment = std::mem::take(&mut self.comment);
                if !is_foreign {
                    self.pretty_head(&mut op)?;
                }
                return self.continue_operation(op);
            }
            true
        };
        let behind = self.pos;
        let mut attrs = AttrDict::EMPTY;
        let mut is_done = false;
        // The value of a constant may be written among the operands.
        if is_plain && op.attrs.is_empty() {
            attrs = self.plain_attributes(op.generic, known)?;
            let (end, expanded) = (self.pos, self.expanded);
            is_done = self.plain_types(&mut op, place, known)?
                && (known.unregistered || self.are_declared(place, op.name, attrs))
                && !self.goes_on(&op, known);
            if !is_done {
                (self.pos, self.expanded) = (end, expanded);
            }
        }
        if is_done {
            self.create(op.spec(attrs), &op.names);
            self.ready = Some(op);
            return Ok(());
        }
        op.comment = std::mem::take(&mut self.comment);
        self.behind_operands(op, behind, attrs)
    }

    /// Continues with an uncommon operation. Its operands have been read, and the text after them up to the
    /// present place: attributes.
    #[cold]
    fn behind_operands(&mut self, mut op: Box<Pending>, behind: usize, attrs: AttrDict) -> Result<(), Failure> {
        op.results.clear();
        if self.pos > behind {
            let properties = self.src[behind..].starts_with(b" <");
            op.dicts.push((behind + 1 + usize::from(properties)) as u32);
            op.attrs.extend_from_slice(self.ctx.dict_entries(attrs));
            if op.generic && !properties {
                return self.tail(op);
            }
        } else if op.generic {
            self.generic_head(&mut op)?;
        } else {
            self.successors(&mut op)?;
        }
        self.continue_operation(op)
    }

    #[inline(always)]
    fn result_names(&mut self, op: &mut Pending) -> Result<(), Failure> {
        loop {
            let (name, start) = self.result_name()?;
            let count = match self.peek() {
                b':' => self.result_count()?,
                _ => 1,
            };
            op.names.push(ResultName { name, count, start });
            op.num_named += count as usize;
            if self.eat(b" = ") {
                return Ok(());
            }
            self.skip();
            if self.eat(b"=") {
                return Ok(());
            }
            // The specification separates the last result by a full-width comma.
            if !self.eat("，".as_bytes()) {
                self.expect(b",", "`,` or `=`", "results are written `%a, %b = …`")?;
            }
            self.skip();
        }
    }

    /// `:2`.
    fn result_count(&mut self) -> Result<u32, Failure> {
        self.pos += 1;
        let digits = cursor::digits(&self.src[self.pos..]);
        // More results than bytes of input cannot have types.
        match digits.parse::<u32>() {
            Ok(count) if count > 0 && (count as usize) <= self.src.len() => {
                self.pos += digits.len();
                Ok(count)
            }
            _ => {
                let message = "this is not a number of results".to_owned();
                let end = self.pos + digits.len().max(1);
                let failure = self.error_at(self.pos, end, "result-count", message);
                Err(failure.with_help("`%r:2` names two results, `%r#0` and `%r#1`"))
            }
        }
    }

    /// The name of an operation in quotes, which are next: its place in tables, and what is known of it.
    #[inline(always)]
    fn quoted_name(&mut self, op: &mut Pending) -> Result<(usize, KnownOp), Failure> {
        let (src, start) = (self.src, self.pos);
        let Some(end) = cursor::string_end(src, start) else {
            return Err(self.unclosed_string(start));
        };
        let text = &src[start + 1..end - 1];
        let place = op_place(text);
        op.span = Span::new(start + 1, end - 1);
        let known = match text.contains(&b'\\') {
            false => self.known_op(place, text),
            true => {
                let text = self.parse_string()?;
                self.describe_op(self.find_op(&text))
            }
        };
        op.name = known.name.ok_or_else(|| self.unknown_op(op.span, text))?;
        self.pos = end;
        Ok((place, known))
    }

    /// The name of an operation without quotes.
    #[inline(always)]
    fn bare_name(&mut self, op: &mut Pending) -> Result<(usize, KnownOp), Failure> {
        let (src, start) = (self.src, self.pos);
        let end = start + cursor::name_len(&src[start..]);
        let word = &src[start..end];
        if word.is_empty() {
            return Err(self.expected(
                "an operation",
                "an operation is written `%result = dialect.name (%operand) {attribute = 1} : type`",
            ));
        }
        let place = op_place(word);
        op.span = Span::new(start, end);
        let known = self.known_op(place, word);
        let name = match known.plain {
            true => known.name,
            false => self.ctx.aliased_op(word).or_else(|| match word.contains(&b'.') {
                true => known.name,
                false => self.op_of_function(word),
            }),
        };
        op.name = name.ok_or_else(|| self.unknown_op(op.span, word))?;
        self.pos = end;
        Ok((place, known))
    }

    /// Whether an operation, whose name has been read, goes on in MLIR's custom assembly, and not in our own form.
    fn is_foreign(&mut self, op: &mut Pending) -> Result<bool, Failure> {
        let def = op.def(self.ctx);
        if self.ctx.ods(op.name).is_some_and(|row| self.is_ods_form(def, row)) {
            op.ods = Some(self.spare_states.pop().unwrap_or_default());
        } else if let Some(def) = def {
            let assembly = def.assembly.as_ref();
            op.format = assembly.and_then(|assembly| self.foreign_form(def, assembly));
        } else {
            self.check_unregistered_form(op.span)?;
        }
        Ok(op.ods.is_some() || op.format.is_some())
    }

    /// The parts after the operands in the generic form and before its end: successors, properties.
    fn generic_head(&mut self, op: &mut Pending) -> Result<(), Failure> {
        self.skip();
        if self.eat(b"[") {
            loop {
                self.successor(op)?;
                self.skip();
                if !self.eat(b",") {
                    break;
                }
            }
            self.expect(b"]", "`]`", "successors are written `[^a, ^b]`")?;
            self.skip();
        }
        if self.starts_with(b"<{") {
            let inherent = op.def(self.ctx).is_some() || self.ctx.ods(op.name).is_some();
            op.dicts.push(self.pos as u32 + 1);
            let attrs = self.properties(inherent)?;
            op.attrs.extend_from_slice(self.ctx.dict_entries(attrs));
        }
        Ok(())
    }

    fn pretty_head(&mut self, op: &mut Pending) -> Result<(), Failure> {
        if op.has(self.ctx, Traits::FUNCTION) {
            return self.function_head(op);
        }
        let line = cursor::line_end(self.src, self.pos);
        if self.next_is(b'@') {
            self.skip();
            let attr = if op.has(self.ctx, Traits::SYMBOL) {
                let name = self.parse_symbol_name()?;
                ("sym_name", self.ctx.str_attr(&name))
            } else {
                ("callee", self.parse_attr()?)
            };
            op.attrs.push((self.ctx.sym(attr.0), attr.1));
        }
        if self.next_is(b'(') {
            self.skip();
            self.pos += 1;
            self.operand_list(op)?;
        } else {
            // Without parentheses, operands must be on the line of the name: the next line is the next operation.
            while self.next_is(b'%') && (!op.operands.is_empty() || self.after(self.pos) < line) {
                self.next_operand(op)?;
                if !self.next_is(b',') {
                    break;
                }
                self.skip();
                self.pos += 1;
            }
        }
        self.successors(op)
    }

    fn function_head(&mut self, op: &mut Pending) -> Result<(), Failure> {
        self.skip();
        if let Some(visibility) = VISIBILITIES.iter().find(|v| self.starts_with(v.as_bytes())) {
            self.pos += visibility.len();
            op.attrs
                .push((self.ctx.sym("sym_visibility"), self.ctx.str_attr(visibility)));
            self.skip();
        }
        let name = self.parse_symbol_name()?;
        op.attrs.insert(0, (self.ctx.sym("sym_name"), self.ctx.str_attr(&name)));
        self.expect(b"(", "`(`", "a function is written `func.func @name(%x: T) -> U { … }`")?;
        let (mut inputs, mut arg_attrs) = (Vec::new(), Vec::new());
        self.skip();
        if !self.eat(b")") {
            loop {
                self.skip();
                if self.peek() == b'%' {
                    let (name, start) = self.new_name()?;
                    self.expect(b":", "`:`", "arguments of a function have types: `%x: tensor<4xf32>`")?;
                    let ty = self.parse_type()?;
                    inputs.push(ty);
                    arg_attrs.push(self.optional_dict()?);
                    self.skip();
                    let loc = self.location()?;
                    op.function_args.push((name, ty, loc, start));
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
        op.attrs.push((self.ctx.sym("function_type"), self.ctx.type_attr(ty)));
        for (name, attrs) in [("arg_attrs", arg_attrs), ("res_attrs", res_attrs)] {
            if attrs.iter().any(|&dict| dict != AttrDict::EMPTY) {
                let dicts = attrs.iter().map(|&dict| self.ctx.attr(AttrData::Dict(dict))).collect();
                let list = self.ctx.attr(AttrData::Array(dicts));
                op.attrs.push((self.ctx.sym(name), list));
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
