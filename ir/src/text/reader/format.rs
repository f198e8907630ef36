//! MLIR's custom assembly, by the format of the operation ([`Assembly`]).
//!
//! Our own form of the same operation is recognized by what follows the name: `(%a, %b)`, attributes, a colon, or
//! nothing is our own. A format is gone through with a place in it; at a region it is left, and resumed after it.

use super::hooks::FormatReader;
use super::parser::{Failure, Parser};
use super::pending::{FormatState, Pending, Types};
use crate::assembly::{Assembly, Element, Format, TypeOf, array_text};
use crate::declare::Arity;
use crate::diagnostics::Span;
use crate::edit::OpSpec;
use crate::entity::{Sym, ValueId};
use crate::registry::OpDef;
use crate::text::cursor;
use crate::types::{Attr, AttrData, Type};

impl Parser<'_> {
    /// Whether the operation, whose name was read, goes on in MLIR's custom assembly.
    pub(super) fn foreign_form(&self, def: &OpDef, assembly: &Assembly) -> Option<Box<FormatState>> {
        let start = self.after(self.pos);
        let line = cursor::line_end(self.src, self.pos);
        let format = assembly.compiled(def).ok();
        let is_foreign = match self.src.get(start).filter(|_| start < line)? {
            b'(' => {
                let opens = format.is_some_and(Format::begins_with_parenthesis);
                opens
                    && self
                        .operands_end(start)
                        .is_none_or(|end| !self.own_goes_on(def, end, line))
            }
            b'{' => {
                let end = cursor::balanced_end(self.src, start)?;
                format.is_some_and(Format::begins_with_attributes) && !self.own_goes_on(def, end, line)
            }
            b':' | b'}' => false,
            b'l' if self.src[start..].starts_with(b"loc(") => false,
            b if b.is_ascii_alphabetic() => !self.is_own_word(def, start),
            _ => true,
        };
        is_foreign.then(Box::default)
    }

    /// The end of `(%a, %b)`, if present, or of the text before types.
    pub(super) fn operands_end(&self, open: usize) -> Option<usize> {
        let mut at = self.after(open + 1);
        loop {
            match self.src.get(at)? {
                b')' => return Some(at + 1),
                b':' => return cursor::balanced_end(self.src, open),
                b'%' => {
                    let (rest, _) = cursor::suffix(&self.src[at + 1..]).ok()?;
                    at = self.src.len() - rest.len();
                    if self.src.get(at) == Some(&b'#') {
                        at += 1 + cursor::digits(&self.src[at + 1..]).len();
                    }
                    at = self.after(at);
                    match self.src.get(at)? {
                        b',' => at = self.after(at + 1),
                        b')' | b':' => {}
                        _ => return None,
                    }
                }
                _ => return None,
            }
        }
    }

    /// Whether our own form goes on so.
    pub(super) fn own_goes_on(&self, def: &OpDef, at: usize, line: usize) -> bool {
        let at = self.after(at);
        match self.src.get(at).filter(|_| at < line) {
            None | Some(b'{' | b':' | b'}') => true,
            Some(b) if b.is_ascii_alphabetic() => self.is_own_word(def, at) || self.src[at..].starts_with(b"loc("),
            _ => false,
        }
    }

    pub(super) fn is_own_word(&self, def: &OpDef, at: usize) -> bool {
        let word = cursor::name(&self.src[at..]).map_or(&b""[..], |(_, word)| word);
        let is_keyword = |keyword: &&str| keyword.as_bytes() == word;
        word == b"attributes" || def.regions.iter().any(|spec| spec.keywords.iter().any(is_keyword))
    }

    /// Goes on in the format of an operation, to its end or to a region.
    pub(super) fn in_format(&mut self, mut pending: Box<Pending>) -> Result<(), Failure> {
        let ctx = self.ctx;
        let Some((def, assembly)) = pending.def(ctx).and_then(|def| Some((def, def.assembly.as_ref()?))) else {
            return self.tail(pending);
        };
        let format = assembly
            .compiled(def)
            .map_err(|why| self.error("custom-assembly", why, pending.span))?;
        loop {
            let Some(state) = pending.format.as_mut() else {
                return self.tail(pending);
            };
            let at = state.at;
            let Some(element) = format.elements.get(at) else {
                // As MLIR's generic form has them: the declared ones, then others.
                let is_declared = |name: &str| def.attrs.iter().any(|spec| *spec.name == *name);
                let key = |name: Sym| (!is_declared(ctx.str(name)), ctx.str(name));
                pending.attrs.sort_by(|a, b| key(a.0).cmp(&key(b.0)));
                return self.tail(pending);
            };
            state.at = at + 1;
            match element {
                Element::Choice { otherwise } => {
                    let begins = format.elements.get(at + 1).is_none_or(|next| self.begins(next));
                    if !begins {
                        state.at = *otherwise;
                    }
                }
                Element::Jump(to) => state.at = *to,
                Element::Region { index } => {
                    let bound = state.bound.clone();
                    for (&value, (name, start)) in pending.operands.iter().zip(bound) {
                        let ty = self.body().value_type(value);
                        pending.function_args.push((name, ty, None, start));
                    }
                    pending.next_region = index + 1;
                    self.skip();
                    if self.peek() != b'{' {
                        return Err(self.expected_in(def, format, "`{`"));
                    }
                    return self.open_region(pending, def.has(crate::Traits::ISOLATED));
                }
                Element::Applied { index, terminator } => {
                    pending.next_region = index + 1;
                    self.apply(&mut pending, terminator)?;
                }
                Element::Custom(_, hook) => {
                    let mut reader = FormatReader::new(self, &mut pending, def, format);
                    hook(&mut reader)?;
                }
                element => self.format_element(&mut pending, def, format, element)?,
            }
        }
    }

    /// An error that names the expected text and shows the operation's syntax.
    pub(super) fn expected_in(&mut self, def: &OpDef, format: &Format, what: &str) -> Failure {
        self.skip();
        let help = format!(
            "it is written `{} {format}`, or `{} (%operand, …) {{attribute = value}} : type`",
            def.name, def.name
        );
        self.expected(what, &help)
    }

    /// Whether what follows is how an element begins.
    fn begins(&self, element: &Element) -> bool {
        let at = self.after(self.pos);
        let rest = &self.src[at..];
        let next = rest.first().copied().unwrap_or(0);
        match element {
            Element::Literal(text) => cursor::is_literal(rest, text),
            Element::Operand { .. } | Element::Operands | Element::Bind => next == b'%',
            Element::Ints(_) => next == b'[',
            Element::Short { .. } => next == b'<',
            Element::Symbol(_) => next == b'@',
            Element::Dict { keyword: true } => cursor::is_literal(rest, "attributes"),
            Element::Dict { keyword: false } | Element::Region { .. } => next == b'{',
            Element::FunctionType => next == b'(',
            Element::Word { words, .. } => words.iter().any(|word| cursor::is_literal(rest, word)),
            _ => true,
        }
    }

    fn format_element(
        &mut self,
        pending: &mut Pending,
        def: &OpDef,
        format: &Format,
        element: &Element,
    ) -> Result<(), Failure> {
        match element {
            Element::Literal(text) if self.eat_literal(text) => {}
            Element::Literal(text) => return Err(self.expected_in(def, format, &format!("`{text}`"))),
            Element::Operand { variadic: false, .. } => {
                if !self.next_is(b'%') {
                    return Err(self.expected_in(def, format, "a value"));
                }
                self.operand(pending)?;
            }
            Element::Operands if def.operands.iter().all(|spec| spec.arity == Arity::One) => {
                self.fixed_operands(pending, def, format)?;
            }
            Element::Operand { .. } | Element::Operands => self.format_operands(pending)?,
            Element::Bind => self.bindings(pending, def, format)?,
            Element::Dict { keyword } => {
                self.skip();
                let is_next = if *keyword {
                    self.eat_literal("attributes")
                } else {
                    self.peek() == b'{'
                };
                if is_next {
                    self.skip();
                    self.attributes(pending)?;
                }
            }
            Element::Types | Element::FunctionType | Element::Type(_) => {
                self.format_types(pending, def, format, element)?
            }
            element => self.format_attribute(pending, def, format, element)?,
        }
        Ok(())
    }

    /// An element that gives the operation an attribute.
    fn format_attribute(
        &mut self,
        pending: &mut Pending,
        def: &OpDef,
        format: &Format,
        element: &Element,
    ) -> Result<(), Failure> {
        match element {
            Element::Attr { name, int } => {
                let start = self.after(self.pos);
                let value = match *int {
                    // A colon after it belongs to the types of the operation.
                    Some(ty) => {
                        let value = i128::from(self.int(def, format)?);
                        self.ctx.attr(AttrData::Int { value, ty })
                    }
                    None => self.parse_attr()?,
                };
                self.set(pending, name, value, start)?;
            }
            Element::Short { attr, prefix } => {
                let start = self.after(self.pos);
                if self.src.get(start) != Some(&b'<') {
                    return Err(self.expected_in(def, format, "`<`"));
                }
                self.pos = cursor::balanced_end(self.src, start).ok_or_else(|| self.unclosed())?;
                let value = self.composed(&format!("{prefix}{}", self.text(Span::new(start, self.pos))), start)?;
                self.set(pending, attr, value, start)?;
            }
            Element::Default { attr, value } => {
                let sym = self.ctx.sym(attr);
                if pending.attrs.iter().all(|entry| entry.0 != sym) {
                    let value = self.composed(value, self.pos)?;
                    pending.attrs.push((sym, value));
                }
            }
            Element::Ints(name) => {
                let start = self.after(self.pos);
                let list = self.int_list(def, format)?;
                let value = self.composed(&array_text("i64", &list), start)?;
                self.set(pending, name, value, start)?;
            }
            Element::Word { attr, template, words } => {
                self.format_word(pending, def, format, (attr, template, words))?
            }
            Element::Symbol(attr) => {
                let start = self.after(self.pos);
                let name = self.parse_symbol_name()?;
                let value = self.ctx.str_attr(&name);
                self.set(pending, attr, value, start)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Reads a word or a sign, if it is next.
    pub(super) fn eat_literal(&mut self, text: &str) -> bool {
        self.eat_literal_inline(text)
    }

    #[inline(always)]
    pub(super) fn eat_literal_inline(&mut self, text: &str) -> bool {
        let at = self.after(self.pos);
        let found = cursor::is_literal(&self.src[at..], text);
        if found {
            self.pos = at + text.len();
        }
        found
    }

    /// `%a, %b`, as long as commas are followed by values.
    fn format_operands(&mut self, pending: &mut Pending) -> Result<(), Failure> {
        while self.next_is(b'%') {
            self.operand(pending)?;
            let comma = self.after(self.pos);
            if self.src.get(comma) != Some(&b',') || self.src.get(self.after(comma + 1)) != Some(&b'%') {
                break;
            }
            self.pos = comma + 1;
        }
        Ok(())
    }

    /// As many as are declared.
    fn fixed_operands(&mut self, pending: &mut Pending, def: &OpDef, format: &Format) -> Result<(), Failure> {
        for at in 0..def.operands.len() {
            if at > 0 && !self.eat_literal(",") {
                return Err(self.expected_in(def, format, "`,`"));
            }
            if !self.next_is(b'%') {
                return Err(self.expected_in(def, format, "a value"));
            }
            self.operand(pending)?;
        }
        Ok(())
    }

    /// `%name = %value, …`.
    fn bindings(&mut self, pending: &mut Pending, def: &OpDef, format: &Format) -> Result<(), Failure> {
        let mut bound = Vec::new();
        while self.next_is(b'%') {
            bound.push(self.new_name()?);
            if !self.eat_literal("=") {
                return Err(self.expected_in(def, format, "`=`"));
            }
            self.operand(pending)?;
            if !self.eat_literal(",") {
                break;
            }
        }
        if let Some(state) = pending.format.as_mut() {
            state.bound = bound;
        }
        Ok(())
    }

    /// Gives the operation an attribute that is written outside of the dictionary.
    pub(super) fn set(&mut self, pending: &mut Pending, name: &str, value: Attr, start: usize) -> Result<(), Failure> {
        self.set_sym(pending, self.ctx.sym(name), value, start)
    }

    pub(super) fn set_sym(
        &mut self,
        pending: &mut Pending,
        sym: Sym,
        value: Attr,
        start: usize,
    ) -> Result<(), Failure> {
        if pending.attrs.iter().any(|entry| entry.0 == sym) {
            let name = self.ctx.str(sym);
            let message = format!("attribute `{name}` is given twice");
            let failure = self.error_at(start, self.pos, "duplicate-attribute", message);
            return Err(failure.with_help("remove one of them"));
        }
        pending.attrs.push((sym, value));
        Ok(())
    }

    /// The attribute for a composed text. Cached, since the same texts recur.
    pub(super) fn composed(&mut self, text: &str, start: usize) -> Result<Attr, Failure> {
        if let Some(&known) = self.composed_attrs.get(text) {
            return Ok(known);
        }
        crate::steps::count(text.len());
        let attr = super::parse_attr(self.ctx, text)
            .map_err(|why| self.error_at(start, self.pos, why.code, why.message.to_string()))?;
        self.composed_attrs.insert(text.into(), attr);
        Ok(attr)
    }

    /// `[1, -2]`.
    pub(super) fn int_list(&mut self, def: &OpDef, format: &Format) -> Result<Vec<i64>, Failure> {
        let mut list = Vec::new();
        if !self.eat_literal("[") {
            return Err(self.expected_in(def, format, "`[`"));
        }
        if self.eat_literal("]") {
            return Ok(list);
        }
        loop {
            list.push(self.int(def, format)?);
            if self.eat_literal("]") {
                return Ok(list);
            }
            if !self.eat_literal(",") {
                return Err(self.expected_in(def, format, "`,` or `]`"));
            }
        }
    }

    pub(super) fn int(&mut self, def: &OpDef, format: &Format) -> Result<i64, Failure> {
        self.skip();
        let (start, negative) = (self.pos, self.eat(b"-"));
        let digits = cursor::digits(&self.src[self.pos..]);
        let text = if negative {
            format!("-{digits}")
        } else {
            digits.to_owned()
        };
        match text.parse() {
            Ok(value) => {
                self.pos += digits.len();
                Ok(value)
            }
            Err(_) => {
                self.pos = start;
                Err(self.expected_in(def, format, "an integer"))
            }
        }
    }

    fn format_word(
        &mut self,
        pending: &mut Pending,
        def: &OpDef,
        format: &Format,
        (attr, template, words): (&str, &str, &[Box<str>]),
    ) -> Result<(), Failure> {
        self.skip();
        let start = self.pos;
        let word = cursor::name(&self.src[start..]).map_or(&b""[..], |(_, word)| word);
        let word = String::from_utf8_lossy(word).into_owned();
        if word.is_empty() || !words.is_empty() && !words.iter().any(|known| **known == *word) {
            let known: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
            let what = match known.is_empty() {
                true => "a word".to_owned(),
                false => format!("one of {}", known.join(", ")),
            };
            return Err(self.expected_in(def, format, &what));
        }
        self.pos += word.len();
        let value = self.composed(&template.replace('*', &word), start)?;
        self.set(pending, attr, value, start)
    }

    fn format_types(
        &mut self,
        pending: &mut Pending,
        def: &OpDef,
        format: &Format,
        element: &Element,
    ) -> Result<(), Failure> {
        self.skip();
        let mut types = pending
            .format
            .as_mut()
            .and_then(|state| state.types.take())
            .unwrap_or_default();
        match element {
            Element::Type(of) => {
                let ty = self.parse_type()?;
                for &of in of {
                    match of {
                        TypeOf::Operand(index) => self.all_are(pending, index, ty),
                        TypeOf::Result(_) => types.results.push(ty),
                    }
                }
            }
            Element::FunctionType if self.peek() != b'(' => return Err(self.expected_in(def, format, "`(`")),
            _ => {
                types = self.types()?;
                if types.operands.is_none() {
                    self.spread(pending, def, &mut types)?;
                }
            }
        }
        if let Some(state) = pending.format.as_mut() {
            state.types = Some(types);
        }
        Ok(())
    }

    /// Checks that an operand has a type; for a variadic operand, that all have.
    fn all_are(&mut self, pending: &Pending, index: usize, ty: Type) {
        let spec = pending.def(self.ctx).and_then(|def| def.operands.get(index));
        let several = spec.is_some_and(|spec| spec.arity == Arity::Variadic);
        self.are(pending, index, if several { usize::MAX } else { 1 }, ty);
    }

    /// Checks that `count` operands from `first` on have a type.
    fn are(&mut self, pending: &Pending, first: usize, count: usize, ty: Type) {
        for at in first..first.saturating_add(count).min(pending.operands.len()) {
            self.check_operand(pending, at, ty);
        }
    }

    /// One type for all operands and results, or one for each and its result.
    fn spread(&mut self, pending: &Pending, def: &OpDef, types: &mut Types) -> Result<(), Failure> {
        let named = pending.num_named;
        let operands = pending.operands.len();
        let is_fixed = def.results.iter().all(|spec| spec.arity == Arity::One);
        let results = match is_fixed {
            true => def.results.len(),
            false if named > 0 => named,
            false => operands,
        };
        let written = std::mem::take(&mut types.results);
        match (&*written, results) {
            (&[ty], _) => {
                self.are(pending, 0, usize::MAX, ty);
                types.results.extend(std::iter::repeat_n(ty, results));
            }
            (all, 0) if all.len() == operands => types.operands = Some(written),
            (all, _) if all.len() == operands && operands == results => {
                types.operands = Some(written.clone());
                types.results = written;
            }
            (all, _) => {
                let message = format!(
                    "expected types for {operands} operands and {results} results, found {}",
                    all.len()
                );
                let failure = self.error("operand-count", message, types.span);
                return Err(failure.with_help("write `(operand types) -> result types`, or one type for all of them"));
            }
        }
        Ok(())
    }

    /// Makes a region of one operation applied to the arguments, which have the types of the initial values.
    fn apply(&mut self, pending: &mut Pending, terminator: &str) -> Result<(), Failure> {
        let Some((name, span)) = pending.format.as_mut().and_then(|state| state.applied.take()) else {
            return Err(self.expected("a region", "write the region, or its only operation"));
        };
        let Some(op) = self.find_op(&name) else {
            return Err(self.unknown_op(span, name.as_bytes()));
        };
        let ctx = self.ctx;
        let half = pending.operands.len() / 2;
        let types: Vec<Type> = pending
            .operands
            .iter()
            .skip(half)
            .map(|&v| self.body().value_type(v))
            .collect();
        let body = self.body();
        let region = body.create_region();
        let block = body.create_block(region);
        let args: Vec<ValueId> = types
            .iter()
            .chain(&types)
            .map(|&ty| body.add_block_arg(block, ty, None))
            .collect();
        let inner = body.create_op(OpSpec {
            operands: &args,
            results: &types,
            span,
            ..OpSpec::new(op)
        });
        body.append_op(block, inner);
        let results: Vec<ValueId> = body.results(inner).collect();
        let last = body.create_op(OpSpec {
            operands: &results,
            span,
            ..OpSpec::new(ctx.op_name(terminator))
        });
        body.append_op(block, last);
        pending.regions.push(region);
        Ok(())
    }
}
