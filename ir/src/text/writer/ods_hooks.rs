//! The interface for printing `custom<NAME>` of a row.

use smallvec::SmallVec;

use super::attr::{write_results, write_string};
use super::printer::Printer;
use super::repeated::name_region_args;
use crate::body::Body;
use crate::context::Context;
use crate::entity::{OpId, ValueId};
use crate::ods::{OdsPrinter, OdsRow};
use crate::text::segments;
use crate::types::{Attr, AttrData, Type};

/// Where a `custom<NAME>` of a row prints to, and the operation that is being printed.
pub(super) struct RowPrinter<'p, 'a, 'w> {
    pub(super) printer: &'p mut Printer<'a, 'w>,
    pub(super) body: &'a Body,
    pub(super) op: OpId,
    pub(super) row: &'a OdsRow,
    pub(super) args: &'a [Box<str>],
    pub(super) repetition: usize,
}

impl<'a> OdsPrinter<'a> for RowPrinter<'_, 'a, '_> {
    fn ctx(&self) -> &'a Context {
        self.printer.ctx
    }

    fn body(&self) -> &'a Body {
        self.printer.looked_around.set(true);
        self.body
    }

    fn op(&self) -> OpId {
        self.printer.looked_around.set(true);
        self.op
    }

    fn arg(&self, at: usize) -> &'a str {
        self.args.get(at).map_or("", |arg| arg)
    }

    fn text(&mut self, text: &str) {
        self.printer.out.push_str(text);
    }

    fn string(&mut self, text: &str) {
        write_string(&mut self.printer.out, text);
    }

    fn int(&mut self, value: i64) {
        super::attr::push_int(&mut self.printer.out, i128::from(value));
    }

    fn value(&mut self, value: ValueId) {
        self.printer.use_of(value);
    }

    fn values_list(&mut self, values: &[ValueId]) {
        self.printer.uses(values.iter().copied());
    }

    fn ty(&mut self, ty: Type) {
        self.printer.write_type(ty, true);
    }

    fn types(&mut self, types: &[Type]) {
        self.printer.types_of_list(types);
    }

    fn results(&mut self, types: &[Type]) {
        write_results(self.printer.ctx, &mut self.printer.out, types, true);
    }

    fn values(&self, name: &str) -> SmallVec<[ValueId; 4]> {
        match self.row.slot(name) {
            Some(slot) => self.printer.ods_values(self.body, self.op, self.row, slot),
            None => SmallVec::new(),
        }
    }

    fn types_of(&self, values: &[ValueId]) -> SmallVec<[Type; 4]> {
        values.iter().map(|&value| self.body.value_type(value)).collect()
    }

    fn result_types(&self) -> SmallVec<[Type; 4]> {
        self.body
            .results(self.op)
            .map(|value| self.body.value_type(value))
            .collect()
    }

    fn get_attr(&self, name: &str) -> Option<Attr> {
        let ctx = self.printer.ctx;
        let attrs = segments::all_attrs(ctx, self.body, self.op);
        match self.row.attr(name) {
            Some(at) => ctx.dict_get_sym(attrs, self.row.attrs[at].sym(ctx)),
            None => ctx.dict_get(attrs, name),
        }
    }

    fn ints(&self, name: &str) -> Vec<i64> {
        match self.get_attr(name).map(|attr| self.printer.ctx.attr_data(attr)) {
            Some(AttrData::Elements(elements)) => elements.ints().map_or(Vec::new(), Iterator::collect),
            Some(AttrData::Ints(list)) => list.to_vec(),
            _ => Vec::new(),
        }
    }

    fn int_at(&self, name: &str, at: usize) -> Option<i64> {
        match self.printer.ctx.attr_data(self.get_attr(name)?) {
            AttrData::Elements(elements) => elements.int(at),
            AttrData::Ints(list) => list.get(at).copied(),
            _ => None,
        }
    }

    fn numbers(&self, name: &str) -> Vec<i64> {
        let ctx = self.printer.ctx;
        match self.get_attr(name).map(|attr| ctx.attr_data(attr)) {
            Some(AttrData::Array(list)) => {
                let number = |attr: &Attr| match *ctx.attr_data(*attr) {
                    AttrData::Int { value, .. } => i64::try_from(value).ok(),
                    _ => None,
                };
                list.iter().filter_map(number).collect()
            }
            _ => self.ints(name),
        }
    }

    fn head_of(&mut self, op: OpId, wanted: &dyn Fn(Attr) -> bool) {
        let (ctx, attrs) = (self.printer.ctx, self.body.attrs(op));
        self.printer.out.push_str(ctx.op_str(self.body.op_name(op)));
        let entries = ctx.dict_entries(attrs).iter().filter(|entry| wanted(entry.1));
        let mut entries: SmallVec<[(&str, Attr); 4]> = entries.map(|&(name, value)| (ctx.str(name), value)).collect();
        entries.sort_by_key(|entry| entry.0);
        for (at, &(name, value)) in entries.iter().enumerate() {
            self.printer.out.push_str(if at > 0 { ", " } else { " {" });
            self.printer.attr_writer(true).entry(&mut self.printer.out, name, value);
        }
        if !entries.is_empty() {
            self.printer.out.push('}');
        }
    }

    fn attr(&mut self, name: &str) {
        if let Some(at) = self.row.attr(name) {
            self.printer.ods_attribute(self.body, self.op, self.row, at);
        }
    }

    fn any(&mut self, attr: Attr) {
        self.printer.attr_writer(true).write(&mut self.printer.out, attr, true);
    }

    fn repetition(&self) -> usize {
        self.repetition
    }

    fn without_type(&mut self, attr: Attr) {
        let mut text = String::new();
        self.printer.attr_writer(true).write(&mut text, attr, true);
        let end = text.rfind(" : ").unwrap_or(text.len());
        self.printer.out.push_str(&text[..end]);
    }

    fn all_operands(&self) -> SmallVec<[ValueId; 4]> {
        self.body.operands(self.op).collect()
    }

    fn dict_with(&mut self, shown: &[&str]) {
        self.printer.ods_dict(self.body, self.op, self.row, false, shown);
    }

    fn mark(&self) -> usize {
        self.printer.out.len()
    }

    fn insert_if_longer(&mut self, mark: usize, text: &str) {
        if self.printer.out.len() > mark {
            self.printer.repeated.moved(mark, text.len() as isize);
            self.printer.out.insert_str(mark, text);
        }
    }

    fn dict(&mut self) {
        self.printer.ods_dict(self.body, self.op, self.row, false, &[]);
    }

    fn region_args(&mut self, region: usize) -> SmallVec<[ValueId; 4]> {
        if region > 0 {
            self.printer.looked_around.set(true);
        }
        self.printer.repeated.named_args();
        let Printer {
            ctx, names, args_mark, ..
        } = &mut *self.printer;
        name_region_args(ctx, (names, args_mark), self.body, self.op, region)
    }

    fn hide_regions(&mut self) {
        self.printer.looked_around.set(true);
        self.printer.hidden_regions = Some(self.op);
    }

    fn indent(&mut self, deeper: bool) {
        self.printer.looked_around.set(true);
        match deeper {
            true => self.printer.indent += 1,
            false => self.printer.indent -= 1,
        }
    }

    fn successor(&mut self, at: usize) {
        if let Some(successor) = self.body.successors(self.op).get(at) {
            self.printer.label(self.body, successor.block);
        }
    }

    fn new_line(&mut self, deeper: bool) {
        self.printer.indent += usize::from(deeper);
        self.printer.new_line();
        self.printer.indent -= usize::from(deeper);
    }
}
