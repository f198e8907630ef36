//! The common case of MLIR's custom assembly: an operation with defined operands, and without attributes, regions and successors.
//!
//! It is read at once. If there is anything else, nothing has happened, and the reader of all formats
//! ([`ods`](super::ods)) reads it, or reports what is wrong with it.

use smallvec::SmallVec;

use super::parser::Parser;
use super::pending::Pending;
use crate::entity::ValueId;
use crate::ods::{Arity, Element, MAX_QUICK, OdsRow, Of, Slot, TypeRule};
use crate::text::cursor;
use crate::types::Type;

/// What has been read of an operation.
#[derive(Default)]
struct Quick {
    /// Where the operands of each slot end.
    ends: [usize; MAX_QUICK],
    /// The slot after the last one that was read.
    next: Slot,
    /// The types that are written of what is one value.
    types: SmallVec<[(Slot, Type); 2]>,
    /// The types bound to type variables.
    vars: [Option<Type>; 8],
}

impl Quick {
    /// The operands of a slot, by their numbers.
    fn range(&self, slot: Slot) -> std::ops::Range<usize> {
        let start = if slot == 0 { 0 } else { self.ends[slot - 1] };
        start..self.ends[slot]
    }

    /// Slots that are left out have no operands.
    fn skip_to(&mut self, slot: Slot, operands: usize) {
        for end in self.ends.iter_mut().take(slot).skip(self.next) {
            *end = operands;
        }
        self.next = slot;
    }

    fn written(&self, slot: Slot) -> Option<Type> {
        self.types.iter().find(|ty| ty.0 == slot).map(|ty| ty.1)
    }
}

impl Parser<'_> {
    /// Reads the rest of an operation and creates it, if it is one of the common case.
    pub(super) fn quick_ods(&mut self, op: &mut Pending) -> bool {
        let row = self.ctx.ods(op.name).and_then(|ods| ods.row().ok());
        let Some(row) = row.filter(|row| row.derived.is_quick) else {
            return false;
        };
        let Some(&attrs) = row.derived.defaults.get() else {
            return false;
        };
        let (pos, expanded) = (self.pos, self.expanded);
        if self.quick_parts(op, row).is_none() {
            (self.pos, self.expanded) = (pos, expanded);
            op.operands.clear();
            op.results.clear();
            return false;
        }
        self.keep_whole(op, attrs);
        self.create(op.spec(attrs), &op.names);
        true
    }

    fn quick_parts(&mut self, op: &mut Pending, row: &OdsRow) -> Option<()> {
        let mut quick = Quick::default();
        let mut at = 0;
        while let Some(item) = row.items.get(at) {
            at += 1;
            match &item.element {
                Element::Literal(text) => {
                    if !self.eat_literal_inline(text) {
                        return None;
                    }
                }
                Element::Operand(slot) => self.quick_operands(op, row, *slot, &mut quick)?,
                Element::Choice { otherwise, .. } => {
                    let first = row.items.get(at)?;
                    let rest = &self.src[self.after(self.pos)..];
                    let begins = match &first.element {
                        Element::Literal(text) => cursor::is_literal(rest, text),
                        Element::Operand(_) => rest.first() == Some(&b'%'),
                        _ => return None,
                    };
                    if !begins {
                        at = *otherwise;
                    }
                }
                Element::Jump(to) => at = *to,
                Element::Dict { keyword: false } => {
                    if self.next_is(b'{') {
                        return None;
                    }
                }
                Element::Types(Of::Slot(slot)) => self.quick_types(op, row, *slot, &mut quick)?,
                Element::Blank | Element::NewLine => {}
                _ => return None,
            }
        }
        if self.src[self.after(self.pos)..].starts_with(b"loc(") {
            return None;
        }
        quick.skip_to(row.operands.len(), op.operands.len());
        self.quick_settle(op, row, &mut quick)?;
        (op.results.len() == op.num_named).then_some(())
    }

    #[inline(always)]
    fn quick_operands(&mut self, op: &mut Pending, row: &OdsRow, slot: Slot, quick: &mut Quick) -> Option<()> {
        if slot < quick.next {
            return None;
        }
        quick.skip_to(slot, op.operands.len());
        let arity = row.operands.get(slot)?.arity;
        let mut start = self.after(self.pos);
        if self.src.get(start) == Some(&b'%') {
            loop {
                self.pos = start;
                op.operands.push(self.defined_value()?);
                if arity != Arity::Variadic {
                    break;
                }
                let comma = self.after(self.pos);
                if self.src.get(comma) != Some(&b',') {
                    break;
                }
                start = self.after(comma + 1);
                if self.src.get(start) != Some(&b'%') {
                    break;
                }
            }
        } else if arity == Arity::One {
            return None;
        }
        quick.ends[slot] = op.operands.len();
        quick.next = slot + 1;
        Some(())
    }

    #[inline(always)]
    fn quick_types(&mut self, op: &Pending, row: &OdsRow, slot: Slot, quick: &mut Quick) -> Option<()> {
        if row.value(slot)?.arity != Arity::Variadic {
            let ty = self.parse_type().ok()?;
            quick.types.push((slot, ty));
            return Some(());
        }
        // The operands have been read.
        if slot >= quick.next {
            return None;
        }
        for (at, number) in quick.range(slot).enumerate() {
            if at > 0 && !self.eat_literal_inline(",") {
                return None;
            }
            let ty = self.parse_type().ok()?;
            if self.body().value_type(op.operands[number]) != ty {
                return None;
            }
        }
        (!self.next_is(b',')).then_some(())
    }

    /// Checks the types of the operands, and adds those of the results.
    fn quick_settle(&mut self, op: &mut Pending, row: &OdsRow, quick: &mut Quick) -> Option<()> {
        let mut open = row.derived.letters;
        for &(slot, ty) in &quick.types {
            if let TypeRule::Same(letter) = row.value(slot)?.rule {
                quick.vars[usize::from(letter)].get_or_insert(ty);
                open &= !(1 << letter);
            }
        }
        let body = &self.bodies[self.bodies.len() - 1];
        let type_of = |value: ValueId| body.value_type(value);
        for (slot, value) in row.operands.iter().enumerate() {
            if let TypeRule::Same(letter) = value.rule
                && open != 0
                && let Some(&first) = op.operands.get(quick.range(slot).start)
                && !quick.range(slot).is_empty()
            {
                quick.vars[usize::from(letter)].get_or_insert(type_of(first));
            }
        }
        for (slot, value) in row.operands.iter().enumerate() {
            let written = quick.written(slot);
            if written.is_some() && quick.range(slot).is_empty() {
                return None;
            }
            let wanted = match written {
                Some(ty) => Some(ty),
                None => self.quick_type(op, row, quick, slot, &value.rule)?,
            };
            for number in quick.range(slot) {
                let ty = type_of(op.operands[number]);
                if ty == Type::NONE || wanted.is_some_and(|wanted| wanted != ty) {
                    return None;
                }
            }
        }
        for (at, value) in row.results.iter().enumerate() {
            let slot = row.operands.len() + at;
            let ty = match quick.written(slot) {
                Some(ty) => ty,
                None => self.quick_type(op, row, quick, slot, &value.rule)??,
            };
            op.results.push(ty);
        }
        Some(())
    }

    /// The type that follows from others, or that any will do; nothing if it does not follow.
    #[inline(always)]
    fn quick_type(
        &self,
        op: &Pending,
        row: &OdsRow,
        quick: &Quick,
        slot: Slot,
        rule: &TypeRule,
    ) -> Option<Option<Type>> {
        let body = &self.bodies[self.bodies.len() - 1];
        match *rule {
            TypeRule::Written => Some(None),
            TypeRule::Fixed(ty) => Some(Some(ty)),
            TypeRule::Same(letter) => match quick.vars[usize::from(letter)] {
                Some(ty) => Some(Some(ty)),
                // There are no operands of the type.
                None if slot < row.operands.len() => Some(None),
                None => None,
            },
            TypeRule::From(function, of) => {
                let ty = match (quick.written(of), &row.value(of)?.rule) {
                    (Some(ty), _) => ty,
                    (None, TypeRule::Same(letter)) => quick.vars[usize::from(*letter)]?,
                    (None, TypeRule::Fixed(ty)) => *ty,
                    (None, _) if of < row.operands.len() && !quick.range(of).is_empty() => {
                        body.value_type(op.operands[quick.range(of).start])
                    }
                    _ => return None,
                };
                match &self.ctx.ods_type(function, ty)?[..] {
                    &[ty] => Some(Some(ty)),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}
