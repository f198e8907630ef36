//! The end of an operation in MLIR's custom assembly: the types that are not written follow from others by the rules of its row, and
//! it is created.

use smallvec::SmallVec;

use super::parser::{Failure, Parser};
use super::pending::{OdsState, Pending};
use crate::assembly::array_text;
use crate::declare::Traits;
use crate::entity::Sym;
use crate::ods::{Arity, AttrPresence, OdsRow, Slot, TypeRule};
use crate::text::print_attr;
use crate::types::{Attr, AttrData, AttrDict, Type};

type Types = SmallVec<[Type; 4]>;

impl Parser<'_> {
    /// The operation has been read: types are settled, and it is created.
    pub(super) fn end_of_ods(&mut self, mut pending: Box<Pending>, row: &OdsRow) -> Result<(), Failure> {
        let before = self.pos;
        self.skip();
        let loc = self.location()?;
        if loc.is_none() {
            self.pos = before;
        }
        let Some(mut state) = pending.ods.take() else {
            return self.tail(pending);
        };
        if !state.operands.is_sorted_by_key(|operand| operand.0) {
            state.operands.sort_by_key(|operand| operand.0);
        }
        pending.operands.extend(state.operands.iter().map(|operand| operand.1));
        self.order_regions(&mut pending, row, &state);
        let attrs = self.complete_attributes(&mut pending, row, &state)?;
        let settled = Settled {
            row,
            state: &state,
            vars: self.bind(row, &state),
        };
        self.check_operands(&pending, &settled)?;
        let segments = self.result_types(&mut pending, &settled)?;
        if row.result_segments {
            let value = self.number_list("i32", &segments)?;
            self.put(&mut pending, row.result_segments(self.ctx), value);
        }
        state.clear();
        self.spare_states.push(state);
        self.create_ods(pending, row, attrs, loc)
    }

    /// `array<i32: 1, 2>`. The same numbers come again and again.
    pub(super) fn number_list(&mut self, ty: &str, list: &[i64]) -> Result<Attr, Failure> {
        let known = match ty {
            "i32" => self.narrow_lists.get(list),
            "i64" => self.wide_lists.get(list),
            _ => None,
        };
        if let Some(&known) = known {
            return Ok(known);
        }
        let value = self.composed(&array_text(ty, list), self.pos)?;
        match ty {
            "i32" => self.narrow_lists.insert(list.into(), value),
            "i64" => self.wide_lists.insert(list.into(), value),
            _ => None,
        };
        Ok(value)
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

    fn put(&mut self, pending: &mut Pending, sym: Sym, value: Attr) {
        if pending.attrs.iter().all(|entry| entry.0 != sym) {
            pending.attrs.push((sym, value));
        }
    }

    /// Adds omitted attributes, in the order of MLIR's generic form. Gives all attributes if they are known, and whether all are defaults,
    /// as those of most operations are.
    fn complete_attributes(
        &mut self,
        pending: &mut Pending,
        row: &OdsRow,
        state: &OdsState,
    ) -> Result<(Option<AttrDict>, bool), Failure> {
        let are_defaults = pending.attrs.is_empty() && !row.segments && !row.result_segments;
        if let Some(&defaults) = row.derived.defaults.get().filter(|_| are_defaults) {
            return Ok((Some(defaults), true));
        }
        for attr in &row.attrs {
            match &attr.presence {
                AttrPresence::Default(text) => {
                    let value = match attr.known.default.get() {
                        Some(&value) => value,
                        None => {
                            let value = self.composed(text, self.pos)?;
                            // The printer compares texts.
                            if print_attr(self.ctx, value) == **text {
                                attr.known.default.get_or_init(|| value);
                            }
                            value
                        }
                    };
                    self.put(pending, attr.sym(self.ctx), value);
                }
                AttrPresence::Required => {
                    let sym = attr.sym(self.ctx);
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
            let mut counts: SmallVec<[i64; 6]> = SmallVec::from_elem(0, row.operands.len());
            for operand in &state.operands {
                counts[usize::from(operand.0)] += 1;
            }
            let value = self.number_list("i32", &counts)?;
            self.put(pending, row.operand_segments(self.ctx), value);
        }
        let ctx = self.ctx;
        if !pending.attrs.is_sorted_by_key(|entry| ctx.str(entry.0)) {
            pending.attrs.sort_by(|a, b| ctx.str(a.0).cmp(ctx.str(b.0)));
        }
        Ok((None, are_defaults))
    }

    /// The types to which the type variables of the row are bound.
    fn bind(&mut self, row: &OdsRow, state: &OdsState) -> [Option<Type>; 8] {
        let (mut vars, mut open) = ([None; 8], row.derived.letters);
        if open == 0 {
            return vars;
        }
        for &(slot, ty) in &state.types {
            if let Some(TypeRule::Same(letter)) = row.value(slot.into()).map(|value| &value.rule) {
                vars[usize::from(*letter)].get_or_insert(ty);
                open &= !(1 << letter);
            }
        }
        if open == 0 {
            return vars;
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
            let own = &state.operands[first..at];
            let shared = match settled.is_written(slot) {
                true if own.len() == 1 => settled.only_written(slot).map(Some),
                true => None,
                false => settled.shared(slot),
            };
            if let Some(shared) = shared {
                for &(_, value, span) in own {
                    if let Some(ty) = shared.filter(|&ty| self.body().value_type(value) != ty) {
                        self.check_operand_type(value, ty, span);
                    }
                }
                continue;
            }
            let Some(types) = self.types_of(pending, settled, slot) else {
                continue;
            };
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
                let sym = settled.row.attrs[*at].sym(self.ctx);
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
        let ctx = self.ctx;
        match ctx.attr_data(attr) {
            AttrData::Int { ty, .. } | AttrData::Float { ty, .. } => Some(*ty),
            AttrData::Bool(_) => Some(Type::I1),
            AttrData::Elements(elements) => Some(elements.ty()),
            AttrData::Opaque(text) => {
                let (_, ty) = text.rsplit_once(" : ").or_else(|| text.rsplit_once(':'))?;
                super::parse_type(ctx, ty.trim()).ok()
            }
            _ => None,
        }
    }

    /// Adds the types of the results, and counts those of each group.
    fn result_types(&mut self, pending: &mut Pending, settled: &Settled<'_>) -> Result<SmallVec<[i64; 4]>, Failure> {
        let row = settled.row;
        let mut segments = SmallVec::new();
        if let Some(all) = &settled.state.all_results {
            pending.results.extend_from_slice(all);
            return Ok(segments);
        }
        for at in 0..row.results.len() {
            let slot = row.operands.len() + at;
            let before = pending.results.len();
            let types = match settled.is_written(slot) {
                true => {
                    pending.results.extend(settled.written(slot));
                    Some(Types::new())
                }
                false => match settled.shared(slot) {
                    Some(shared) => shared.map(|ty| Types::from_slice(&[ty])),
                    None => self.types_of(pending, settled, slot),
                },
            };
            match types {
                Some(types) => pending.results.extend_from_slice(&types),
                None if row.results[at].arity == Arity::One => {
                    let message = format!("the type of the result `{}` cannot be inferred", row.results[at].name);
                    return Err(self.error("untyped-result", message, pending.span));
                }
                None => {}
            }
            segments.push((pending.results.len() - before) as i64);
        }
        Ok(segments)
    }

    fn create_ods(
        &mut self,
        mut pending: Box<Pending>,
        row: &OdsRow,
        (attrs, are_defaults): (Option<AttrDict>, bool),
        loc: Option<Attr>,
    ) -> Result<(), Failure> {
        let (count, results) = (pending.num_named, pending.results.len());
        if let Some(first) = pending.names.first().filter(|_| results != count) {
            let message = super::finish_op::result_names(results, count);
            let failure = self.error("result-count", message, self.name_span(first.start));
            return Err(failure.with_help("name each result, or none"));
        }
        if pending.has(self.ctx, Traits::SEGMENTS) {
            self.segments(&mut pending)?;
        }
        let attrs = match attrs {
            Some(attrs) => attrs,
            None => {
                let attrs = self.ctx.dict(&pending.attrs);
                self.check_attributes(&pending, attrs, &[])?;
                // With other options, attributes are not checked.
                if are_defaults && !self.options.allow_unregistered {
                    row.derived.defaults.get_or_init(|| attrs);
                }
                attrs
            }
        };
        self.create_pending(pending, attrs, loc);
        Ok(())
    }
}

/// The state of types after all of an operation has been read.
struct Settled<'r> {
    row: &'r OdsRow,
    state: &'r OdsState,
    vars: [Option<Type>; 8],
}

impl Settled<'_> {
    fn is_written(&self, slot: Slot) -> bool {
        self.state.written & 1 << slot.min(63) != 0
    }

    /// The only type that is written of a group.
    fn only_written(&self, slot: Slot) -> Option<Type> {
        let mut types = self.written(slot);
        types.next().filter(|_| types.next().is_none())
    }

    /// The type that all values of a group have whose types are not written, or that they have none; nothing if they may have several.
    fn shared(&self, slot: Slot) -> Option<Option<Type>> {
        match self.row.value(slot)?.rule {
            TypeRule::Written => Some(None),
            TypeRule::Same(letter) => Some(self.vars[usize::from(letter)]),
            TypeRule::Fixed(ty) => Some(Some(ty)),
            _ => None,
        }
    }

    fn written(&self, slot: Slot) -> impl Iterator<Item = Type> {
        self.state
            .types
            .iter()
            .filter(move |ty| usize::from(ty.0) == slot)
            .map(|ty| ty.1)
    }
}
