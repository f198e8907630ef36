//! MLIR's custom assembly of operations that have a row ([`crate::ods`]).

use smallvec::SmallVec;

use super::attr::{write_results, write_symbol};
use super::ods_hooks::RowPrinter;
use super::printer::{Printer, Task};
use crate::body::Body;
use crate::context::Context;
use crate::entity::{BlockId, OpId, RegionId, Sym, ValueId};
use crate::ods::{Anchor, AttrKind, Element, Layout, OPERAND_SEGMENTS, OdsRow, Of, RESULT_SEGMENTS, Slot};
use crate::text::segments;
use crate::types::{Attr, AttrData, AttrDict, Type};

impl<'a> Printer<'a, '_> {
    /// Prints the format from an element on, after which regions are left as tasks.
    pub(super) fn ods(&mut self, body: &'a Body, op: OpId, row: &'a OdsRow, from: usize, mut region: usize) {
        let mut at = from;
        // The regions of a list, separated by words, are printed in turn.
        while let Some(item) = row.items.get(at) {
            at += 1;
            if item.space
                && !matches!(
                    item.element,
                    Element::Dict { .. } | Element::Custom(..) | Element::Arrow { .. } | Element::Operand(_)
                )
            {
                self.ods_blank();
            }
            match &item.element {
                Element::Literal(text) => self.out.push_str(text),
                Element::Operand(slot) => {
                    let (start, len) = row.place(self.ctx, body, op, *slot);
                    if item.space && len > 0 {
                        self.ods_blank();
                    }
                    self.uses(body.operands(op).skip(start).take(len));
                }
                Element::Choice { anchor, otherwise } => {
                    if !self.ods_is_there(body, op, row, *anchor, region) {
                        at = *otherwise;
                    }
                }
                Element::Jump(to) => at = *to,
                Element::Region(index) => {
                    let variadic = row.regions.get(*index).is_some_and(|region| region.variadic);
                    let number = if variadic { *index + region } else { *index };
                    if variadic {
                        region += 1;
                    }
                    self.repeated.reach(self.out.len(), ((at, region), number));
                    self.ods_region(body, op, row, number, (at, region));
                    return;
                }
                Element::Custom(hook, args) => {
                    let Some(ods) = self.ctx.ods(body.op_name(op)) else {
                        return;
                    };
                    let before = self.out.len();
                    if item.space {
                        self.out.push(' ');
                    }
                    let start = self.out.len();
                    let mut printer = RowPrinter {
                        printer: self,
                        body,
                        op,
                        row,
                        args,
                        repetition: region,
                    };
                    (ods.hooks[*hook].print)(&mut printer);
                    if self.out.len() == start {
                        self.out.truncate(before);
                    } else if item.space && self.out[start..].starts_with(' ') {
                        self.repeated.moved(start, -1);
                        self.out.remove(start);
                    }
                }
                element => self.ods_element(body, op, row, element),
            }
        }
        self.location(body, op);
    }

    /// A blank, unless one is there: the output of a function may end in one.
    #[inline]
    fn ods_blank(&mut self) {
        if self.out.as_bytes().last() != Some(&b' ') {
            self.out.push(' ');
        }
    }

    fn ods_element(&mut self, body: &'a Body, op: OpId, row: &'a OdsRow, element: &Element) {
        match element {
            Element::Blank => self.out.push(' '),
            Element::NewLine => self.new_line(),
            Element::Operands => self.uses(body.operands(op)),
            Element::Attr(at) => self.ods_attribute(body, op, row, *at),
            Element::Successor(at) => {
                let several = row.successors.get(*at).is_some_and(|successor| successor.1);
                let count = if several { usize::MAX } else { 1 };
                let blocks: SmallVec<[BlockId; 2]> = body
                    .successors(op)
                    .iter()
                    .skip(*at)
                    .take(count)
                    .map(|successor| successor.block)
                    .collect();
                for (at, block) in blocks.into_iter().enumerate() {
                    if at > 0 {
                        self.out.push_str(", ");
                    }
                    self.label(body, block);
                }
            }
            Element::Dict { keyword } => self.ods_dict(body, op, row, *keyword, &[]),
            &Element::Types(Of::Slot(slot)) => match slot.checked_sub(row.operands.len()) {
                None => {
                    let (start, len) = row.place(self.ctx, body, op, slot);
                    self.types_of_values(body, body.operands(op).skip(start).take(len));
                }
                Some(at) => {
                    let (start, len) = row.result_place(self.ctx, body, op, at);
                    self.types_of_values(body, body.results(op).skip(start).take(len));
                }
            },
            Element::Types(of) => {
                let types = self.ods_types(body, op, row, *of);
                self.types_of_list(&types);
            }
            Element::Arrow { of, parens } => {
                let types = self.ods_types(body, op, row, *of);
                if !types.is_empty() {
                    self.out.push_str(" -> ");
                    match parens {
                        true => {
                            self.out.push('(');
                            self.types_of_list(&types);
                            self.out.push(')');
                        }
                        false => write_results(self.ctx, &mut self.out, &types, true),
                    }
                }
            }
            Element::Functional(operands, results) => {
                let types = self.ods_types(body, op, row, *operands);
                self.out.push('(');
                self.types_of_list(&types);
                self.out.push_str(") -> ");
                let types = self.ods_types(body, op, row, *results);
                write_results(self.ctx, &mut self.out, &types, true);
            }
            _ => {}
        }
    }

    pub(super) fn types_of_list(&mut self, types: &[Type]) {
        for (at, &ty) in types.iter().enumerate() {
            if at > 0 {
                self.out.push_str(", ");
            }
            self.write_type(ty, true);
        }
    }

    fn types_of_values(&mut self, body: &Body, values: impl Iterator<Item = ValueId>) {
        for (at, value) in values.enumerate() {
            if at > 0 {
                self.out.push_str(", ");
            }
            self.write_type(body.value_type(value), true);
        }
    }

    /// How many values an operand or a result has.
    fn ods_count(&self, body: &Body, op: OpId, row: &OdsRow, slot: Slot) -> usize {
        match slot.checked_sub(row.operands.len()) {
            None => row.place(self.ctx, body, op, slot).1,
            Some(at) => row.result_place(self.ctx, body, op, at).1,
        }
    }

    /// The values of an operand or of a result.
    pub(super) fn ods_values(&self, body: &Body, op: OpId, row: &OdsRow, slot: Slot) -> SmallVec<[ValueId; 4]> {
        match slot.checked_sub(row.operands.len()) {
            None => {
                let (start, len) = row.place(self.ctx, body, op, slot);
                body.operands(op).skip(start).take(len).collect()
            }
            Some(at) => {
                let (start, len) = row.result_place(self.ctx, body, op, at);
                body.results(op).skip(start).take(len).collect()
            }
        }
    }

    pub(super) fn ods_types(&self, body: &Body, op: OpId, row: &OdsRow, of: Of) -> SmallVec<[Type; 4]> {
        let ty = |value| body.value_type(value);
        match of {
            Of::Slot(slot) => self.ods_values(body, op, row, slot).into_iter().map(ty).collect(),
            Of::Operands => body.operands(op).map(ty).collect(),
            Of::Results => body.results(op).map(ty).collect(),
        }
    }

    fn ods_is_there(&mut self, body: &Body, op: OpId, row: &OdsRow, anchor: Anchor, region: usize) -> bool {
        match anchor {
            Anchor::None => true,
            Anchor::Slot(slot) => self.ods_count(body, op, row, slot) > 0,
            Anchor::Attr(at) => {
                let value = self.ctx.dict_get_sym(body.attrs(op), row.attrs[at].sym(self.ctx));
                value.is_some_and(|value| !self.is_default(row, at, value))
            }
            Anchor::Region(_) if self.hidden_regions.take() == Some(op) => false,
            Anchor::Region(at) => {
                self.looked_around.set(true);
                let number = if row.regions[at].variadic { at + region } else { at };
                let region = body.op_regions(op).get(number);
                region.is_some_and(|&region| !body.region_blocks(region).is_empty())
            }
        }
    }

    fn is_default(&self, row: &OdsRow, at: usize, value: Attr) -> bool {
        let attr = &row.attrs[at];
        if attr.known.default.get() == Some(&value) {
            return true;
        }
        let default = attr.default();
        default.is_some_and(|text| super::attr::print_attr(self.ctx, value) == *text)
    }

    /// An attribute in the form that its kind has in formats.
    pub(super) fn ods_attribute(&mut self, body: &Body, op: OpId, row: &OdsRow, at: usize) {
        let attr = &row.attrs[at];
        let Some(value) = self.ctx.dict_get_sym(body.attrs(op), attr.sym(self.ctx)) else {
            return;
        };
        self.ods_value(&attr.kind, value);
    }

    pub(super) fn ods_value(&mut self, kind: &AttrKind, value: Attr) {
        match (kind, self.ctx.attr_data(value)) {
            (AttrKind::Unit, _) => {}
            (AttrKind::SymName, AttrData::Str(name)) => write_symbol(&mut self.out, name),
            (AttrKind::Int(_), AttrData::Int { value, .. }) => super::attr::push_int(&mut self.out, *value),
            (AttrKind::Ints(_), AttrData::Elements(_)) => {
                let mut text = String::new();
                self.attr_writer(true).write(&mut text, value, true);
                let inside = text.split_once('<').map_or("", |text| text.1).trim_end_matches('>');
                self.out.push('[');
                self.out.push_str(inside.split_once(": ").map_or("", |text| text.1));
                self.out.push(']');
            }
            (AttrKind::Enum { words, .. }, AttrData::Int { value, .. }) => {
                match words.iter().find(|word| i128::from(word.1) == *value) {
                    Some(word) => self.out.push_str(&word.0),
                    None => super::attr::push_int(&mut self.out, *value),
                }
            }
            (AttrKind::Words { prefix, angle, .. }, AttrData::Opaque(text)) => match angle {
                true => self.out.push_str(text.strip_prefix(&**prefix).unwrap_or(text)),
                false => {
                    let word = text.rsplit([' ', '<']).next().unwrap_or_default();
                    self.out.push_str(word.trim_end_matches('>'));
                }
            },
            _ => self.attr_writer(true).write(&mut self.out, value, true),
        }
    }

    /// ` {…}`, of the attributes that the format does not have elsewhere.
    pub(super) fn ods_dict(&mut self, body: &Body, op: OpId, row: &OdsRow, keyword: bool, also: &[&str]) {
        let attrs = body.attrs(op);
        let are_defaults = || row.derived.defaults.get() == Some(&attrs) && also.is_empty();
        if attrs == AttrDict::EMPTY || are_defaults() {
            return;
        }
        let mut entries: SmallVec<[(&str, Attr); 4]> = SmallVec::new();
        for &(name, value) in self.ctx.dict_entries(attrs) {
            let name = self.ctx.str(name);
            let hidden = name == OPERAND_SEGMENTS && row.segments
                || name == RESULT_SEGMENTS && row.result_segments
                || row.shown.iter().any(|shown| **shown == *name)
                || row.attr(name).is_some_and(|at| self.is_default(row, at, value));
            if !hidden || also.contains(&name) {
                entries.push((name, value));
            }
        }
        entries.sort_by_key(|entry| entry.0);
        let mut before = if keyword { " attributes {" } else { " {" };
        for &(name, value) in &entries {
            self.out.push_str(std::mem::replace(&mut before, ", "));
            self.attr_writer(true).entry(&mut self.out, name, value);
        }
        if !entries.is_empty() {
            self.out.push('}');
        }
    }

    /// `{ … }`; what comes after it is left as a task.
    pub(super) fn ods_region(
        &mut self,
        body: &'a Body,
        op: OpId,
        row: &'a OdsRow,
        number: usize,
        then: (usize, usize),
    ) {
        let Some(&region) = body.op_regions(op).get(number) else {
            self.tasks.push(Task::Ods {
                body,
                op,
                row,
                then,
                closes: false,
            });
            return;
        };
        let spec = row.regions.get(number).or_else(|| row.regions.last());
        self.out.push('{');
        self.indent += 1;
        self.tasks.push(Task::Ods {
            body,
            op,
            row,
            then,
            closes: true,
        });
        if let Some(last) = spec.and_then(|spec| self.implied_terminator(body, region, spec)) {
            self.elided.push(last);
        }
        // Arguments that the head of the operation names have names by now.
        let named = body
            .entry_block(region)
            .is_some_and(|entry| body.block_args(entry).iter().all(|&arg| self.names.has(arg)));
        let mark = self.args_mark.take().unwrap_or_else(|| self.names.mark());
        self.blocks_from(body, region, !named, mark);
    }

    /// The operation at the end of a region that is not printed.
    fn implied_terminator(&self, body: &Body, region: RegionId, spec: &crate::ods::RegionRow) -> Option<OpId> {
        let has_results = || body.region_parent(region).is_some_and(|op| body.num_results(op) > 0);
        let keep = spec.keep || spec.keep_with_results && has_results();
        let terminator = spec.terminator.as_deref().filter(|_| !keep)?;
        let block = body.single_block(region)?;
        let last = body.last_op(block)?;
        let is_it = self.ctx.op_str(body.op_name(last)) == terminator
            && body.num_operands(last) == 0
            && body.attrs(last) == AttrDict::EMPTY
            && body.op_regions(last).iter().all(|&region| {
                let mut blocks = body.region_blocks(region).iter();
                blocks.all(|&block| body.first_op(block).is_none())
            });
        is_it.then_some(last)
    }

    /// Resumes after a region.
    pub(super) fn after_ods_region(
        &mut self,
        body: &'a Body,
        op: OpId,
        row: &'a OdsRow,
        then: (usize, usize),
        closes: bool,
    ) {
        if closes {
            self.indent -= 1;
            self.new_line();
            self.out.push('}');
        }
        let more = row.items[then.0..]
            .iter()
            .any(|item| matches!(item.element, Element::Region(_)))
            || row.items[then.0..]
                .iter()
                .any(|item| matches!(item.element, Element::Jump(to) if to < then.0));
        if !more && let Some((_, taken)) = self.deferred.pop_if(|(level, _)| *level == self.tasks.len()) {
            self.names.resume(taken);
        }
        self.ods(body, op, row, then.0, then.1);
    }
}

impl OdsRow {
    /// Whether an operation can be printed in the format: it has everything that the row requires.
    pub(super) fn fits(&self, ctx: &Context, body: &Body, op: OpId) -> bool {
        use crate::ods::AttrPresence;
        let derived = &self.derived;
        if !derived.operands.fits(body.num_operands(op)) || !derived.results.fits(body.num_results(op)) {
            return false;
        }
        // Most operations have neither regions nor successors, and no attribute that has to be there.
        if !derived.requires && !self.segments && self.regions.is_empty() && body.extra(op).is_none() {
            return true;
        }
        let attrs = segments::all_attrs(ctx, body, op);
        let required = self
            .attrs
            .iter()
            .filter(|attr| matches!(attr.presence, AttrPresence::Required));
        required
            .into_iter()
            .all(|attr| ctx.dict_get_sym(attrs, attr.sym(ctx)).is_some())
            && (!self.segments || ctx.dict_get_sym(attrs, self.operand_segments(ctx)).is_some())
            && self.regions.iter().filter(|region| !region.variadic).count() <= body.op_regions(op).len()
            && (!self.successors.is_empty() || body.successors(op).is_empty())
            && body.isolated(op).is_none()
    }

    /// Where the values of an operand are among all operands, and how many.
    pub(crate) fn place(&self, ctx: &Context, body: &Body, op: OpId, slot: Slot) -> (usize, usize) {
        place(
            ctx,
            body,
            op,
            slot,
            (self.derived.operands, &self.operands),
            body.num_operands(op),
            self.segments.then(|| self.operand_segments(ctx)),
        )
    }

    /// The same of a result.
    pub(crate) fn result_place(&self, ctx: &Context, body: &Body, op: OpId, at: usize) -> (usize, usize) {
        place(
            ctx,
            body,
            op,
            at,
            (self.derived.results, &self.results),
            body.num_results(op),
            self.result_segments.then(|| self.result_segments(ctx)),
        )
    }
}

fn place(
    ctx: &Context,
    body: &Body,
    op: OpId,
    at: usize,
    (layout, values): (Layout, &[crate::ods::Value]),
    total: usize,
    sizes: Option<Sym>,
) -> (usize, usize) {
    use crate::ods::Arity;
    // The index depends on the number of values only after a variadic group.
    if sizes.is_none() && at < layout.leading && at < total {
        return (at, 1);
    }
    if let Some(AttrData::Elements(counts)) = sizes
        .and_then(|name| ctx.dict_get_sym(segments::all_attrs(ctx, body, op), name))
        .map(|counts| ctx.attr_data(counts))
    {
        let count = |at| {
            counts
                .int(at)
                .and_then(|count| usize::try_from(count).ok())
                .unwrap_or(0)
        };
        // Counts that the verifier has not seen may be any numbers.
        return ((0..at).map(count).fold(0, usize::saturating_add), count(at));
    }
    if at < layout.leading && at < total {
        return (at, 1);
    }
    // Variadic groups share the remaining values.
    let several = layout.groups - layout.ones;
    let rest = total.saturating_sub(layout.ones).checked_div(several).unwrap_or(0);
    if at == layout.leading {
        return (at, rest);
    }
    let len = |value: &crate::ods::Value| if value.arity == Arity::One { 1 } else { rest };
    (values.iter().take(at).map(len).sum(), values.get(at).map_or(0, len))
}
