//! Names of values: uses, definitions, and what is said of those that are not there.

use ecow::EcoString;
use rustc_hash::FxHashMap;

use super::parser::{Failure, Parser};
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

    /// The value that a use at the present place names; the `%` is next.
    pub(super) fn value_use(&mut self) -> Result<ValueId, Failure> {
        self.skip();
        let start = self.pos;
        if !self.eat(b"%") {
            let failure = self.expected("a value", "values are written `%name`");
            return Err(failure);
        }
        let (name, _) = self.value_name(start)?;
        let mut index = 0;
        if self.peek() == b'#' {
            let digits = cursor::digits(&self.src[self.pos + 1..]);
            index = digits.parse().unwrap_or(u32::MAX);
            self.pos += 1 + digits.len();
        }
        let span = Span::new(start, self.pos);
        match self.scopes.get(name) {
            Some(binding) if index < binding.count => Ok(ValueId::new(binding.first.index() + index as usize)),
            Some(binding) => Err(self
                .error(
                    "no-such-result",
                    format!(
                        "`%{}` has {} results, not number {index}",
                        self.ctx.name_text(name),
                        binding.count
                    ),
                    span,
                )
                .with_label(self.name_span(binding.start), "defined here")
                .with_help("results are counted from 0")),
            None => {
                let placeholder = self.body().create_placeholder(Type::NONE);
                if let Some(region) = self.scopes.region() {
                    region.forward.entry(name).or_default().push((index, placeholder, span));
                }
                Ok(placeholder)
            }
        }
    }

    fn value_name(&mut self, start: usize) -> Result<(Name, Span), Failure> {
        match cursor::suffix(&self.src[self.pos..]) {
            Ok((rest, text)) => {
                self.pos = self.src.len() - rest.len();
                Ok((self.name_of(text), Span::new(start, self.pos)))
            }
            Err(_) => {
                self.pos = start;
                Err(self.expected("a value", "values are written `%name`"))
            }
        }
    }

    /// A name that is defined here; the `%` is next.
    pub(super) fn new_name(&mut self) -> Result<(Name, Span), Failure> {
        self.skip();
        let start = self.pos;
        if !self.eat(b"%") {
            return Err(self.expected("the name of a value", "values are written `%name`"));
        }
        self.value_name(start)
    }

    /// The stretch of the name whose sigil is at `start`, with the number of results after it.
    fn name_span(&self, start: u32) -> Span {
        let name = self.src.get(start as usize + 1..).unwrap_or_default();
        let len = cursor::suffix(name).map_or(0, |(_, text)| text.len());
        let end = start as usize + 1 + len;
        let digits = match self.src.get(end..) {
            Some([b':', rest @ ..]) => cursor::digits(rest).len(),
            _ => 0,
        };
        Span::new(start as usize, if digits > 0 { end + 1 + digits } else { end })
    }

    /// Makes a name visible, and settles earlier uses of it.
    pub(super) fn define(&mut self, name: Name, first: ValueId, count: u32, span: Span) {
        let pack = count > 1;
        for at in 0..count as usize {
            let value = ValueId::new(first.index() + at);
            self.body().set_value_name(value, Some(ValueName { name, pack }));
        }
        if let Err(old) = self.scopes.define(
            name,
            Binding {
                first,
                count,
                start: span.start,
            },
        ) {
            let failure = self
                .error(
                    "redefinition",
                    format!("`%{}` is defined twice", self.ctx.name_text(name)),
                    span,
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
            // There is no such element of the pack: that is said when the region ends.
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
                self.report_forward_type(name, written, actual, used, span);
            }
            self.body().replace_all_uses(placeholder, value);
        }
    }

    /// Says that a use in front of the definition has another type than that.
    fn report_forward_type(&mut self, name: Name, written: Type, actual: Type, used: Span, defined: Span) {
        let types = [written, actual].map(|ty| print_type(&self.ctx, ty));
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
                        None => failure.with_help("define it before it is used, in this region or in one around it"),
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
