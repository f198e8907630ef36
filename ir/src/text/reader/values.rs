//! Names of values: uses, definitions, and diagnostics of undefined ones.

use ecow::EcoString;
use rustc_hash::FxHashMap;

use super::parser::{Failure, Parser};
use super::pending::Pending;
use super::scope::{Binding, Forward};
use crate::body::{Body, ValueName};
use crate::diagnostics::{Span, nearest};
use crate::entity::{BlockId, Sym, ValueId};
use crate::names::Name;
use crate::text::cursor;
use crate::text::writer::attr::print_type;
use crate::types::Type;

impl Parser<'_> {
    // ----- bodies, scopes, values -----

    pub(super) fn body(&mut self) -> &mut Body {
        let last = self.bodies.len() - 1;
        &mut self.bodies[last]
    }

    /// The value that a use at the present place names.
    pub(super) fn value_use(&mut self) -> Result<ValueId, Failure> {
        self.skip();
        self.value()
    }

    /// The value that is named here, if it is defined.
    #[inline(always)]
    pub(super) fn defined_value(&mut self) -> Option<ValueId> {
        let name = self.value_name()?;
        let mut index = 0;
        if self.eat(b"#") {
            let digits = cursor::digits(&self.src[self.pos..]);
            index = digits.parse().ok()?;
            self.pos += digits.len();
        }
        let binding = self.scopes.get(name).filter(|binding| index < binding.count)?;
        Some(ValueId::new(binding.first.index() + index as usize))
    }

    /// The value that is named here.
    #[inline(always)]
    pub(super) fn value(&mut self) -> Result<ValueId, Failure> {
        let start = self.pos;
        let Some(name) = self.value_name() else {
            return Err(self.expected("a value", "values are written `%name`"));
        };
        let mut index = 0;
        if self.eat(b"#") {
            let digits = cursor::digits(&self.src[self.pos..]);
            index = digits.parse().unwrap_or(u32::MAX);
            self.pos += digits.len();
        }
        match self.scopes.get(name) {
            Some(binding) if index < binding.count => Ok(ValueId::new(binding.first.index() + index as usize)),
            found => self.undefined_use(name, index, Span::new(start, self.pos), found),
        }
    }

    /// A use of a value that is not yet defined, or has fewer results.
    #[cold]
    fn undefined_use(
        &mut self,
        name: Name,
        index: u32,
        span: Span,
        found: Option<Binding>,
    ) -> Result<ValueId, Failure> {
        if let Some(Binding { count, start, .. }) = found {
            let message = format!(
                "`%{}` has {count} results, not number {index}",
                self.ctx.name_text(name)
            );
            let failure = self.error("no-such-result", message, span);
            return Err(failure
                .with_label(self.name_span(start), "defined here")
                .with_help("results are counted from 0"));
        }
        let placeholder = self.body().create_placeholder(Type::NONE);
        if let Some(region) = self.scopes.region() {
            region.forward.entry(name).or_default().push((index, placeholder, span));
        }
        Ok(placeholder)
    }

    /// The name of a value, if it is next.
    #[inline(always)]
    fn value_name(&mut self) -> Option<Name> {
        let (src, start) = (self.src, self.pos + 1);
        if self.peek() != b'%' {
            return None;
        }
        let behind = src.get(start..)?;
        if let Some(word) = behind.first_chunk().map(|first| u64::from_le_bytes(*first))
            && let Some(len @ 1..) = cursor::short_suffix_len(word)
        {
            self.pos = start + len;
            return Some(self.short_name(word, &behind[..len]));
        }
        let text = behind
            .get(..cursor::suffix_len(behind))
            .filter(|text| !text.is_empty())?;
        self.pos = start + text.len();
        Some(self.name_of(text))
    }

    /// A name that is defined here, and where its sigil is.
    pub(super) fn new_name(&mut self) -> Result<(Name, u32), Failure> {
        self.skip();
        self.result_name()
    }

    /// The same without blanks in front of it.
    #[inline(always)]
    pub(super) fn result_name(&mut self) -> Result<(Name, u32), Failure> {
        let start = self.pos;
        match self.value_name() {
            Some(name) => Ok((name, start as u32)),
            None if self.peek() == b'%' => Err(self.expected("a value", "values are written `%name`")),
            None => Err(self.expected("the name of a value", "values are written `%name`")),
        }
    }

    /// The stretch of the name whose sigil is at `start`, with the number of results after it.
    pub(super) fn name_span(&self, start: u32) -> Span {
        self.numbered_span(start, b':')
    }

    /// The span of a name and of the number after the following sign.
    fn numbered_span(&self, start: u32, sign: u8) -> Span {
        let name = self.src.get(start as usize + 1..).unwrap_or_default();
        let end = start as usize + 1 + cursor::suffix(name).map_or(0, |(_, text)| text.len());
        let behind = self.src.get(end..).unwrap_or_default().strip_prefix(&[sign]);
        let digits = behind.map_or(0, |behind| cursor::digits(behind).len());
        Span::new(start as usize, if digits > 0 { end + 1 + digits } else { end })
    }

    /// Checks the type that is written for an operand.
    pub(super) fn check_operand(&mut self, op: &Pending, at: usize, written: Type) {
        let Some(&value) = op.operands.get(at) else { return };
        if self.body().value_type(value) != written {
            let start = op.operand_starts.get(at).copied();
            let start = start.unwrap_or_else(|| self.operand_start(op, at));
            self.check_operand_type(value, written, self.numbered_span(start, b'#'));
        }
    }

    /// The position of an operand in our own form or in the generic form: only operands have a `%` after the name of the
    /// operation.
    fn operand_start(&self, op: &Pending, operand: usize) -> u32 {
        let mut at = op.span.end as usize + usize::from(op.generic);
        let mut operands = operand + 1;
        while let Some(&byte) = self.src.get(at) {
            at = match byte {
                b'"' => cursor::string_end(self.src, at).unwrap_or(self.src.len()),
                b'/' if self.src[at..].starts_with(b"//") => cursor::line_end(self.src, at),
                _ => at + 1,
            };
            operands -= usize::from(byte == b'%');
            if operands == 0 {
                return at as u32 - 1;
            }
        }
        op.span.start
    }

    pub(super) fn check_operand_type(&mut self, value: ValueId, written: Type, span: Span) {
        let actual = self.body().value_type(value);
        if actual == Type::NONE {
            // A forward reference: the written type is its type.
            self.body().set_value_type(value, written);
        } else if actual != written {
            let (actual, written) = (print_type(self.ctx, actual), print_type(self.ctx, written));
            let failure = self
                .error(
                    "operand-type",
                    format!("this operand has type `{actual}`, not `{written}`"),
                    span,
                )
                .with_help(format!("write `{actual}`, or omit the types of the operands"));
            self.report(failure);
        }
    }

    /// Makes a name visible, and settles earlier uses of it.
    pub(super) fn define(&mut self, name: Name, first: ValueId, count: u32, start: u32) {
        let pack = count > 1;
        for at in 0..count as usize {
            let value = ValueId::new(first.index() + at);
            self.body().set_value_name(value, Some(ValueName { name, pack }));
        }
        if let Err(old) = self.scopes.define(name, Binding { first, count, start }) {
            let failure = self
                .error(
                    "redefinition",
                    format!("`%{}` is defined twice", self.ctx.name_text(name)),
                    self.name_span(start),
                )
                .with_label(self.name_span(old.start), "first defined here")
                .with_help("give one of them another name");
            self.report(failure);
            return;
        }
        let forward = self.scopes.region().map(|region| &mut region.forward);
        let Some(forward) = forward.filter(|f| !f.is_empty()) else {
            return;
        };
        let mut uses = forward.remove(&name).unwrap_or_default();
        if let Some(first_wrong) = uses.iter().position(|&(index, ..)| index >= count) {
            // The pack has no such element; reported at the end of the region.
            let rest = uses
                .iter()
                .skip(first_wrong)
                .copied()
                .filter(|u| u.0 >= count)
                .collect();
            uses.retain(|u| u.0 < count);
            if let Some(region) = self.scopes.region() {
                region.forward.insert(name, rest);
            }
        }
        for (index, placeholder, used) in uses {
            let value = ValueId::new(first.index() + index as usize);
            let (written, actual) = (self.body().value_type(placeholder), self.body().value_type(value));
            if written != Type::NONE && actual != Type::NONE && written != actual {
                self.report_forward_type(name, written, actual, used, self.name_span(start));
            }
            self.body().replace_all_uses(placeholder, value);
        }
    }

    /// Says that a use in front of the definition has another type than that.
    fn report_forward_type(&mut self, name: Name, written: Type, actual: Type, used: Span, defined: Span) {
        let types = [written, actual].map(|ty| print_type(self.ctx, ty));
        let [written, actual] = types;
        let failure = self
            .error(
                "operand-type",
                format!(
                    "`%{}` is used as `{written}` here, but has type `{actual}`",
                    self.ctx.name_text(name)
                ),
                used,
            )
            .with_label(defined, format!("defined here, of type `{actual}`"))
            .with_help(format!("write `{actual}` for the use"));
        self.report(failure);
    }

    /// Whether what a value denotes could not be read.
    pub(super) fn is_poison(&mut self, value: ValueId) -> bool {
        self.poison.contains(&value) || self.body().value_type(value) == Type::NONE
    }

    /// Reports the names that a body used and did not define, each once.
    pub(super) fn report_undefined(&mut self, forward: Forward) {
        let uses = forward.into_iter();
        let mut firsts: Vec<(Span, Name)> = uses.filter_map(|(name, uses)| Some((uses.first()?.2, name))).collect();
        firsts.sort_unstable_by_key(|f| (f.0.start, f.1));
        let mut visible: Option<Vec<EcoString>> = None;
        for (span, name) in firsts {
            let text = self.ctx.name_text(name);
            let failure = self.error("undefined-value", format!("there is no value `%{text}` here"), span);
            let failure = match self.scopes.ended(name) {
                Some(ended) => failure.with_label(self.name_span(ended), "defined here, in a region that has ended").with_help(
                    "a value defined in a region is not visible outside it: yield it, and use the result of the operation",
                ),
                None => {
                    let texts = || self.scopes.names().map(|n| self.ctx.name_text(n)).collect();
                    let visible = visible.get_or_insert_with(texts);
                    match nearest(&text, visible.iter().map(EcoString::as_str)) {
                        Some(near) => failure.suggesting("%", near),
                        None => failure.with_help("define it before its use, in this region or an enclosing one"),
                    }
                }
            };
            self.report(failure);
        }
    }

    pub(super) fn report_undefined_blocks(&mut self, blocks: FxHashMap<Sym, (BlockId, bool, Span)>) {
        let mut missing: Vec<(Sym, Span)> = blocks
            .into_iter()
            .filter(|(_, (_, defined, _))| !defined)
            .map(|(sym, (_, _, span))| (sym, span))
            .collect();
        missing.sort_by_key(|m| m.1);
        for (sym, span) in missing {
            let failure = self
                .error(
                    "undefined-block",
                    format!("there is no block `^{}` in this region", self.ctx.str(sym)),
                    span,
                )
                .with_help("a successor is a block of the same region");
            self.report(failure);
        }
    }
}
