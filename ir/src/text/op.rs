//! Operations in the text.

use smallvec::SmallVec;

use super::cursor;
use super::parser::{Failure, Parser, ResultNames};
use crate::body::{Body, Successor};
use crate::context::{Context, OpName, Sym};
use crate::diagnostics::Span;
use crate::edit::OpSpec;
use crate::entity::{BlockId, RegionId, ValueId};
use crate::registry::{InferArgs, OpDef, Presence, Traits};
use crate::types::{Attr, AttrData, AttrDict, Type};

/// An operation that has been read in part.
pub(super) struct Pending {
    names: ResultNames,
    name: OpName,
    span: Span,
    comment: String,
    pub(super) generic: bool,
    operands: SmallVec<[ValueId; 6]>,
    operand_spans: SmallVec<[Span; 6]>,
    successors: SmallVec<[Successor; 2]>,
    attrs: Vec<(Sym, Attr)>,
    pub(super) regions: SmallVec<[RegionId; 3]>,
    pub(super) isolated: Option<Body>,
    /// Which of the declared regions comes next.
    next_region: usize,
    /// Where the arguments of the next region stand, in front of its brace.
    pub(super) header: Option<usize>,
    /// The arguments of a function.
    pub(super) function_args: Vec<(Sym, Type, AttrDict, Span)>,
}

impl Pending {
    fn def<'c>(&self, ctx: &'c Context) -> Option<&'c OpDef> {
        ctx.op_def(self.name)
    }

    fn has(&self, ctx: &Context, traits: Traits) -> bool {
        self.def(ctx).is_some_and(|d| d.has(traits))
    }

    pub(super) fn implicit_terminator(&self, ctx: &Context) -> Option<&'static str> {
        self.def(ctx).and_then(|d| d.implicit_terminator)
    }
}

/// What stands behind the colon of an operation.
struct Types {
    operands: Option<Vec<Type>>,
    results: Vec<Type>,
    span: Span,
}

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
        let (name, span) = if generic {
            let Some(end) = cursor::string_end(self.src, start) else {
                return Err(self.unclosed());
            };
            let span = Span::new(start + 1, end - 1);
            let text = &self.src[start + 1..end - 1];
            let Some(name) = self.op_name(text) else {
                return Err(self.unknown_op(span));
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
            let word: &[u8] = match word {
                b"module" => b"builtin.module",
                b"pd.yield" => b"cf.yield",
                word => word,
            };
            let Some(name) = self.op_name(word).filter(|_| word.contains(&b'.')) else {
                return Err(self.unknown_op(span));
            };
            self.pos = end;
            (name, span)
        };
        let mut pending = Box::new(Pending {
            names,
            name,
            span,
            comment,
            generic,
            operands: SmallVec::new(),
            operand_spans: SmallVec::new(),
            successors: SmallVec::new(),
            attrs: Vec::new(),
            regions: SmallVec::new(),
            isolated: None,
            next_region: 0,
            header: None,
            function_args: Vec::new(),
        });
        if generic {
            self.generic_head(&mut pending)?;
        } else {
            self.pretty_head(&mut pending)?;
        }
        self.continue_operation(pending)
    }

    fn result_names(&mut self, names: &mut ResultNames) -> Result<(), Failure> {
        loop {
            let (sym, mut span) = self.new_name()?;
            let mut count = 1;
            if self.eat(b":") {
                let digits = self.src[self.pos..].iter().take_while(|b| b.is_ascii_digit()).count();
                let text = std::str::from_utf8(&self.src[self.pos..self.pos + digits]).unwrap_or_default();
                // More results than bytes of input cannot have types.
                match text.parse::<u32>() {
                    Ok(n) if n > 0 && (n as usize) <= self.src.len() => count = n,
                    _ => {
                        return Err(self
                            .error_at(
                                self.pos,
                                self.pos + digits.max(1),
                                "result-count",
                                "this is no number of results".to_owned(),
                            )
                            .with_help("`%r:2` names two results, `%r#0` and `%r#1`"));
                    }
                }
                self.pos += digits;
                span = Span {
                    end: self.pos as u32,
                    ..span
                };
            }
            names.names.push((sym, count, span));
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
            self.parse_dict(&mut entries)?;
            self.expect(b">", "`>`", "properties are written `<{name = value}>`")?;
            if pending.def(&self.ctx).is_some() {
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
        if let Some(region) = self.scope().regions.last_mut() {
            region.passed.entry(block).or_insert(types);
        }
        pending.successors.push(Successor {
            block,
            operands: (pending.operands.len() - before) as u32,
        });
        Ok(())
    }

    fn block_of_label(&mut self, sym: Sym, span: Span) -> BlockId {
        if let Some(&(block, _, _)) = self.scope().regions.last().and_then(|r| r.blocks.get(&sym)) {
            return block;
        }
        let block = self.body().create_detached_block();
        if let Some(region) = self.scope().regions.last_mut() {
            region.blocks.insert(sym, (block, false, span));
        }
        block
    }

    /// Operands up to the closing bracket, with optional types behind a colon.
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

    fn operand(&mut self, pending: &mut Pending) -> Result<(), Failure> {
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

    fn check_operand_type(&mut self, value: ValueId, written: Type, span: Span) {
        let actual = self.body().value_type(value);
        if actual == Type::NONE {
            // A forward reference: what is written says what it will be.
            self.body().set_value_type(value, written);
        } else if actual != written {
            let (actual, written) = (
                super::print_type(&self.ctx, actual),
                super::print_type(&self.ctx, written),
            );
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
            while self.next_is(b'%') && self.after(self.pos) < line {
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
    fn next_is(&self, byte: u8) -> bool {
        self.src.get(self.after(self.pos)) == Some(&byte)
    }

    fn function_head(&mut self, pending: &mut Pending) -> Result<(), Failure> {
        self.skip();
        for visibility in ["private", "public", "nested"] {
            if self.starts_with(visibility.as_bytes()) {
                self.pos += visibility.len();
                pending
                    .attrs
                    .push((self.ctx.sym("sym_visibility"), self.ctx.str_attr(visibility)));
                self.skip();
            }
        }
        let name = self.parse_symbol_name()?;
        pending
            .attrs
            .insert(0, (self.ctx.sym("sym_name"), self.ctx.str_attr(&name)));
        self.expect(b"(", "`(`", "a function is written `func.func @name(%x: T) -> U { … }`")?;
        let mut inputs = Vec::new();
        self.skip();
        if !self.eat(b")") {
            loop {
                self.skip();
                if self.peek() == b'%' {
                    let (sym, span) = self.new_name()?;
                    self.expect(b":", "`:`", "arguments of a function have types: `%x: tensor<4xf32>`")?;
                    let ty = self.parse_type()?;
                    inputs.push(ty);
                    let attrs = self.optional_dict()?;
                    pending.function_args.push((sym, ty, attrs, span));
                } else {
                    inputs.push(self.parse_type()?);
                    self.optional_dict()?;
                }
                self.skip();
                if self.starts_with(b"loc(") {
                    self.pos = cursor::balanced_end(self.src, self.pos + 3).ok_or_else(|| self.unclosed())?;
                    self.skip();
                }
                if self.eat(b")") {
                    break;
                }
                self.expect(b",", "`,` or `)`", "arguments are separated by commas")?;
            }
        }
        self.skip();
        let mut results = Vec::new();
        if self.eat(b"->") {
            self.skip();
            if self.eat(b"(") {
                self.skip();
                while !self.eat(b")") {
                    results.push(self.parse_type()?);
                    self.optional_dict()?;
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
        Ok(())
    }

    fn optional_dict(&mut self) -> Result<AttrDict, Failure> {
        self.skip();
        let mut entries = Vec::new();
        if self.peek() == b'{' {
            self.parse_dict(&mut entries)?;
        }
        Ok(self.ctx.dict(&entries))
    }

    // ----- regions, attributes, types -----

    /// Goes on behind the head or behind a region: opens the next region or finishes the operation.
    pub(super) fn continue_operation(&mut self, mut pending: Box<Pending>) -> Result<(), Failure> {
        if pending.generic {
            self.skip();
            let first = pending.regions.is_empty() && pending.isolated.is_none();
            let isolated = pending.has(&self.ctx, Traits::ISOLATED);
            if first && self.peek() == b'(' {
                self.pos += 1;
                self.skip();
                return self.open_region(pending, isolated);
            }
            if !first {
                if self.eat(b",") {
                    self.skip();
                    return self.open_region(pending, false);
                }
                self.expect(b")", "`,` or `)`", "regions stand in parentheses, separated by commas")?;
            }
            return self.tail(pending);
        }
        loop {
            let before = self.pos;
            self.skip();
            match self.peek() {
                b'{' if self.is_dict(&pending) => {
                    let mut entries = std::mem::take(&mut pending.attrs);
                    self.parse_dict(&mut entries)?;
                    pending.attrs = entries;
                }
                b'{' if self.next_region(&pending, None).is_some() => {
                    return self.enter(pending, None);
                }
                b if b.is_ascii_alphabetic() => {
                    let word = cursor::name(&self.src[self.pos..]).map_or(&b""[..], |(_, w)| w);
                    if word == b"attributes" {
                        self.pos += word.len();
                        self.skip();
                        let mut entries = std::mem::take(&mut pending.attrs);
                        self.parse_dict(&mut entries)?;
                        pending.attrs = entries;
                        continue;
                    }
                    if self.next_region(&pending, Some(word)).is_some() {
                        return self.enter(pending, Some(word));
                    }
                    self.pos = before;
                    return self.tail(pending);
                }
                _ => {
                    self.pos = before;
                    return self.tail(pending);
                }
            }
        }
    }

    /// Which declared region a keyword, or a brace without one, begins.
    fn next_region(&self, pending: &Pending, keyword: Option<&[u8]>) -> Option<usize> {
        let Some(def) = pending.def(&self.ctx) else {
            // Operations that nothing is known of may have regions without keywords.
            return keyword.is_none().then_some(pending.regions.len());
        };
        for (index, spec) in def.regions.iter().enumerate().skip(pending.next_region) {
            let fits = match keyword {
                Some(word) => spec.keywords.iter().any(|k| k.as_bytes() == word),
                None => spec.bare || spec.keywords.is_empty(),
            };
            if fits {
                return Some(index);
            }
            if spec.presence == Presence::Required {
                return None;
            }
        }
        None
    }

    fn enter(&mut self, mut pending: Box<Pending>, keyword: Option<&[u8]>) -> Result<(), Failure> {
        if let Some(index) = self.next_region(&pending, keyword) {
            self.fill_regions(&mut pending, index);
            pending.next_region = index + 1;
        }
        self.pos += keyword.map_or(0, <[u8]>::len);
        self.skip();
        if self.peek() == b'(' {
            pending.header = Some(self.pos);
            self.pos = cursor::balanced_end(self.src, self.pos).ok_or_else(|| self.unclosed())?;
            self.skip();
            // The specification has `body(%arg)){`.
            if self.peek() == b')' {
                self.pos += 1;
                self.skip();
            }
        }
        let isolated = pending.has(&self.ctx, Traits::ISOLATED);
        self.open_region(pending, isolated)
    }

    /// Puts empty regions in the place of those before `until` that were left out.
    fn fill_regions(&mut self, pending: &mut Pending, until: usize) {
        let empty = pending.def(&self.ctx).map_or(0, |def| {
            def.regions
                .iter()
                .take(until)
                .skip(pending.next_region)
                .filter(|s| s.presence == Presence::MayBeEmpty)
                .count()
        });
        for _ in 0..empty {
            let region = self.body().create_region();
            pending.regions.push(region);
        }
    }

    /// Whether the brace that is next begins attributes rather than a region.
    fn is_dict(&self, pending: &Pending) -> bool {
        if self.next_region(pending, None).is_none() {
            return true;
        }
        let mut at = self.after(self.pos + 1);
        match self.src.get(at) {
            Some(b'}') => {
                // `{}`: attributes if what must be a region is still to come.
                let unknown = pending.def(&self.ctx).is_none();
                let next = self.after(at + 1);
                unknown || self.src.get(next) == Some(&b'{') || self.region_keyword_at(pending, next)
            }
            Some(b'"') => match cursor::string_end(self.src, at) {
                Some(end) => matches!(self.src.get(self.after(end)), Some(b'=' | b',' | b'}')),
                None => false,
            },
            Some(b) if b.is_ascii_alphabetic() || *b == b'_' => {
                let word = cursor::name(&self.src[at..]).map_or(&b""[..], |(_, w)| w);
                at = self.after(at + word.len());
                match self.src.get(at) {
                    Some(b'=' | b',') => true,
                    // `{flag}`, but not `{ cf.yield }`.
                    Some(b'}') => !word.contains(&b'.'),
                    _ => false,
                }
            }
            _ => false,
        }
    }

    fn region_keyword_at(&self, pending: &Pending, at: usize) -> bool {
        let word = cursor::name(&self.src[at..]).map_or(&b""[..], |(_, w)| w);
        let first = pending
            .def(&self.ctx)
            .and_then(|d| d.regions.get(self.next_region(pending, None)?));
        first.is_some_and(|spec| spec.keywords.iter().any(|k| k.as_bytes() == word))
    }

    /// The next place that is neither blank nor comment.
    pub(super) fn after(&self, mut at: usize) -> usize {
        loop {
            at = cursor::blanks(self.src, at);
            if !self.src[at.min(self.src.len())..].starts_with(b"//") {
                return at;
            }
            at = cursor::line_end(self.src, at);
        }
    }

    /// What follows the regions: attributes, types, a location. Then the operation is created.
    fn tail(&mut self, mut pending: Box<Pending>) -> Result<(), Failure> {
        if let Some(def) = pending.def(&self.ctx)
            && !pending.generic
            && pending.isolated.is_none()
        {
            let missing = def
                .regions
                .iter()
                .skip(pending.next_region)
                .find(|s| s.presence == Presence::Required);
            if let Some(spec) = missing.filter(|_| !def.has(Traits::FUNCTION)) {
                let word = spec.keywords.first().copied().unwrap_or("region");
                let help = format!("`{}` is written with the regions {}", def.name, region_words(def));
                return Err(self.expected(&format!("`{word}`"), &help));
            }
            let until = def.regions.len();
            if !def.has(Traits::ISOLATED) {
                self.fill_regions(&mut pending, until);
            }
        }
        let mut types = None;
        let mut loc = None;
        loop {
            let before = self.pos;
            self.skip();
            match self.peek() {
                b'{' if pending.generic => {
                    let mut entries = std::mem::take(&mut pending.attrs);
                    self.parse_dict(&mut entries)?;
                    pending.attrs = entries;
                }
                b':' if types.is_none() && !self.starts_with(b"::") => {
                    self.pos += 1;
                    types = Some(self.types()?);
                }
                b'l' if self.starts_with(b"loc(") => {
                    let start = self.pos;
                    self.pos = cursor::balanced_end(self.src, self.pos + 3).ok_or_else(|| self.unclosed())?;
                    let text = self.text(Span::new(start, self.pos));
                    loc = Some(self.ctx.attr(AttrData::Opaque(text.into())));
                }
                _ => {
                    self.pos = before;
                    return self.create(*pending, types, loc);
                }
            }
        }
    }

    fn types(&mut self) -> Result<Types, Failure> {
        self.skip();
        let start = self.pos;
        let parens = self.peek() == b'(';
        if parens {
            self.pos += 1;
            self.skip();
        }
        let mut list = Vec::new();
        if !(parens && self.eat(b")")) {
            loop {
                list.push(self.parse_type()?);
                let end = self.pos;
                self.skip();
                if parens && self.eat(b")") {
                    break;
                }
                if !self.eat(b",") {
                    if parens {
                        return Err(self.expected("`,` or `)`", "separate types by commas"));
                    }
                    self.pos = end;
                    break;
                }
            }
        }
        let end = self.pos;
        self.skip();
        if !self.eat(b"->") {
            if parens {
                return Err(self.expected("`->`", "a full signature is written `(operand types) -> result types`"));
            }
            self.pos = end;
            return Ok(Types {
                operands: None,
                results: list,
                span: Span::new(start, end),
            });
        }
        let results = self.parse_result_types()?;
        Ok(Types {
            operands: Some(list),
            results,
            span: Span::new(start, self.pos),
        })
    }

    // ----- creation -----

    fn create(&mut self, pending: Pending, types: Option<Types>, loc: Option<Attr>) -> Result<(), Failure> {
        if let Some(written) = types.as_ref().and_then(|t| t.operands.as_ref()) {
            let span = types.as_ref().map_or(pending.span, |t| t.span);
            // Operands passed to successors have their types there.
            let passed: u32 = pending.successors.iter().map(|s| s.operands).sum();
            let own = pending.operands.len() - passed as usize;
            if written.len() != own {
                return Err(self
                    .error(
                        "operand-count",
                        format!(
                            "{} operands, but {} types of operands",
                            pending.operands.len(),
                            written.len()
                        ),
                        span,
                    )
                    .with_help("write one type for each operand, or only the types of the results"));
            }
            for ((&value, &ty), &span) in pending.operands.iter().zip(written).zip(&pending.operand_spans) {
                self.check_operand_type(value, ty, span);
            }
        }
        let attrs = self.ctx.dict(&pending.attrs);
        let count: usize = pending.names.names.iter().map(|n| n.1 as usize).sum();
        let results: SmallVec<[Type; 2]> = match types {
            Some(types) => {
                if types.results.len() != count && count > 0 {
                    return Err(self
                        .error(
                            "result-count",
                            format!("{} names for {} results", count, types.results.len()),
                            types.span,
                        )
                        .with_label(pending.names.names[0].2, "the names")
                        .with_help("name each result, or none"));
                }
                types.results.into()
            }
            None => self.infer(&pending, attrs, count)?,
        };
        let body = self.body();
        let op = body.create_op(OpSpec {
            name: pending.name,
            operands: &pending.operands,
            results: &results,
            attrs,
            regions: &pending.regions,
            successors: &pending.successors,
            span: pending.span,
        });
        if let Some(inner) = pending.isolated {
            body.set_isolated(op, inner);
        } else if pending.has(&self.ctx, Traits::ISOLATED) {
            self.body().set_isolated(op, Body::new());
        }
        if let Some(loc) = loc {
            self.body().set_loc(op, loc);
        }
        self.append(op, &pending.comment);
        let mut at = self.body().results(op).next();
        for (sym, count, span) in pending.names.names {
            if let Some(first) = at {
                self.define(sym, first, count, span);
                at = Some(ValueId::new(first.index() + count as usize));
            }
        }
        Ok(())
    }

    fn infer(&mut self, pending: &Pending, attrs: AttrDict, count: usize) -> Result<SmallVec<[Type; 2]>, Failure> {
        let ctx = self.ctx.clone();
        let def = pending.def(&ctx);
        let untyped = |p: &Self, why: String| {
            p.error(
                "untyped-result",
                format!("the results of `{}` cannot be told: {why}", p.ctx.op_str(pending.name)),
                pending.span,
            )
            .with_help("write them behind a colon: `… : tensor<4xf32>`")
        };
        let Some(def) = def else {
            return if count == 0 && !pending.generic {
                Ok(SmallVec::new())
            } else {
                Err(untyped(self, "the operation is not registered".to_owned()))
            };
        };
        if def.results.is_empty() && count == 0 {
            return Ok(SmallVec::new());
        }
        // What could not be read was reported: nothing more is to be said of what depends on it.
        if pending.operands.iter().any(|&v| self.is_poison(v)) {
            return Ok(std::iter::repeat_n(Type::NONE, count).collect());
        }
        let Some(infer) = def.infer else {
            return Err(untyped(self, "they do not follow from the operands".to_owned()));
        };
        let body = &self.bodies[self.bodies.len() - 1];
        let types = infer(InferArgs {
            ctx: &ctx,
            body,
            def,
            operands: &pending.operands,
            attrs,
            regions: &pending.regions,
        })
        .map_err(|why| untyped(self, why))?;
        if types.len() != count && count > 0 {
            return Err(self
                .error(
                    "result-count",
                    format!("{count} names for {} results", types.len()),
                    pending.span,
                )
                .with_label(pending.names.names[0].2, "the names")
                .with_help("name each result, or none"));
        }
        Ok(types)
    }

    /// The types of the arguments of the entry block of the region that was opened last.
    pub(super) fn entry_arg_types(&mut self) -> Option<Vec<Type>> {
        let open = self.open.last()?;
        if open.isolated {
            return None;
        }
        let pending = open.owner.as_ref()?;
        let def = pending.def(&self.ctx)?;
        let args = InferArgs {
            ctx: &self.ctx,
            body: &self.bodies[self.bodies.len() - 1],
            def,
            operands: &pending.operands,
            attrs: self.ctx.dict(&pending.attrs),
            regions: &pending.regions,
        };
        def.region_args
            .and_then(|f| f(args, pending.regions.len()))
            .map(|t| t.to_vec())
    }

    pub(super) fn add_implicit_terminator(&mut self, block: BlockId, name: &str) {
        let ctx = self.ctx.clone();
        let body = self.body();
        let ended = body
            .last_op(block)
            .is_some_and(|op| ctx.op_def(body.op_name(op)).is_none_or(|d| d.has(Traits::TERMINATOR)));
        if !ended {
            let op = body.create_op(OpSpec::new(ctx.op_name(name)));
            body.append_op(block, op);
        }
    }
}

fn region_words(def: &OpDef) -> String {
    let words: Vec<String> = def
        .regions
        .iter()
        .filter_map(|r| r.keywords.first())
        .map(|k| format!("`{k}`"))
        .collect();
    words.join(", ")
}
