//! The generic form, `%a = "dialect.op"(%b, %c) <{k = 1}> ({…}) {l} : (type, type) -> type`.

use super::attr::{AttrWriter, write_results, write_string, write_types};
use super::printer::{Passed, Printer, Task};
use super::texts::{Generic, MAX_TEXT, Texts};
use crate::body::Body;
use crate::entity::{OpId, Sym};
use crate::ods::OdsRow;
use crate::text::segments;
use crate::types::{Attr, AttrData, AttrDict, Type};
use smallvec::SmallVec;

impl<'a> Printer<'a, '_> {
    pub(super) fn generic(&mut self, body: &'a Body, op: OpId) {
        write_string(&mut self.out, self.ctx.op_str(body.op_name(op)));
        self.out.push('(');
        let segmented = self.is_segmented(body, op);
        let own = match segmented {
            true => body.num_operands(op),
            false => body.num_own_operands(op),
        };
        self.uses(body.operands(op).take(own));
        self.out.push(')');
        if !body.successors(op).is_empty() {
            self.out.push('[');
            self.successors(body, op, if segmented { Passed::Blocks } else { Passed::Typed });
            self.out.push(']');
        }
        let row = self.ctx.ods(body.op_name(op)).and_then(|ods| ods.row().ok());
        match row {
            Some(row) => self.sorted_attributes(segments::all_attrs(self.ctx, body, op), row, true),
            None => self.generic_attributes(body.attrs(op), |recent| &mut recent.heads, properties),
        }
        if body.op_regions(op).is_empty() && body.isolated(op).is_none() {
            self.generic_tail(body, op);
        } else {
            self.out.push_str(" (");
            self.tasks.push(Task::Region {
                body,
                op,
                index: 0,
                generic: true,
            });
        }
    }

    pub(super) fn generic_tail(&mut self, body: &'a Body, op: OpId) {
        let attrs = segments::all_attrs(self.ctx, body, op);
        let row = self.ctx.ods(body.op_name(op)).and_then(|ods| ods.row().ok());
        match row {
            Some(row) => self.sorted_attributes(attrs, row, false),
            None => self.generic_attributes(attrs, |recent| &mut recent.tails, others),
        }
        self.signature(body, op);
        self.location(body, op);
    }

    /// Writes a part of the attributes as `write` does, or as it was written lately.
    #[inline]
    fn generic_attributes(
        &mut self,
        attrs: AttrDict,
        part: impl FnOnce(&mut Generic) -> &mut Texts<AttrDict>,
        write: impl FnOnce(&AttrWriter<'_>, &mut String, AttrDict, Option<Sym>),
    ) {
        if attrs != AttrDict::EMPTY {
            let (writer, name) = (self.attr_writer(true), self.recent_generic.properties);
            let write = |out: &mut String| write(&writer, out, attrs, name);
            part(&mut self.recent_generic).push(&mut self.out, attrs, attrs.0 as usize, write);
        }
    }

    /// Whether what goes to successors is printed among the operands.
    fn is_segmented(&self, body: &Body, op: OpId) -> bool {
        segments::is_segmented(self.ctx, body, op).is_some()
    }

    /// Writes ` <{…}>` or ` {…}`: the attributes that belong to the operation, or the others, by their names.
    fn sorted_attributes(&mut self, attrs: AttrDict, row: &OdsRow, inherent: bool) {
        if attrs == AttrDict::EMPTY {
            return;
        }
        let entries = self.ctx.dict_entries(attrs).iter();
        let entries = entries.map(|&(name, value)| (self.ctx.str(name), value));
        let mut entries: SmallVec<[(&str, Attr); 6]> =
            entries.filter(|entry| row.is_inherent(entry.0) == inherent).collect();
        if entries.is_empty() {
            return;
        }
        // Attributes of our functions keep the order of the source.
        if inherent || !row.own {
            entries.sort_by_key(|entry| entry.0);
        }
        let writer = self.attr_writer(true);
        let mut before = if inherent { " <{" } else { " {" };
        for (name, value) in entries {
            self.out.push_str(std::mem::replace(&mut before, ", "));
            writer.entry(&mut self.out, name, value);
        }
        self.out.push_str(if inherent { "}>" } else { "}" });
    }

    fn signature(&mut self, body: &Body, op: OpId) {
        let own = match self.is_segmented(body, op) {
            true => body.num_operands(op),
            false => body.num_own_operands(op),
        };
        let operands = body.operands(op).take(own).map(|v| body.value_type(v));
        let results = body.results(op).map(|v| body.value_type(v));
        let mut types = operands.clone().chain(results.clone());
        let first = types.next().map_or(0, Type::index);
        let place =
            body.op_name(op).index() ^ first.rotate_left(3) ^ types.last().map_or(0, Type::index).rotate_left(6);
        let known = self.recent_generic.signatures.at(place);
        let (known, known_text) = known.get_or_insert_default();
        if !known_text.is_empty()
            && operands.clone().eq(known.operands.iter().copied())
            && results.clone().eq(known.results.iter().copied())
        {
            self.out.push_str(known_text);
            return;
        }
        known.operands.clear();
        known.operands.extend(operands);
        known.results.clear();
        known.results.extend(results);
        let start = self.out.len();
        self.out.push_str(" : (");
        write_types(self.ctx, &mut self.out, &known.operands, true);
        self.out.push_str(") -> ");
        write_results(self.ctx, &mut self.out, &known.results, true);
        known_text.clear();
        let text = &self.out[start..];
        if text.len() <= MAX_TEXT {
            known_text.push_str(text);
        }
    }
}

/// Writes ` <{…}>`, if there are properties.
fn properties(writer: &AttrWriter<'_>, out: &mut String, attrs: AttrDict, name: Option<Sym>) {
    let entries = writer.ctx.dict_entries(attrs);
    let found = entries.iter().find(|entry| Some(entry.0) == name);
    if let Some(&(_, properties)) = found
        && let AttrData::Dict(dict) = writer.ctx.attr_data(properties)
    {
        out.push_str(" <");
        writer.dict(out, *dict);
        out.push('>');
    }
}

/// Writes ` {…}` if there are attributes other than properties.
fn others(writer: &AttrWriter<'_>, out: &mut String, attrs: AttrDict, name: Option<Sym>) {
    let entries = writer.ctx.dict_entries(attrs);
    let others = entries.iter().filter(|entry| Some(entry.0) != name);
    let mut before = " {";
    for &(name, value) in others {
        out.push_str(std::mem::replace(&mut before, ", "));
        writer.entry(out, writer.ctx.str(name), value);
    }
    if before == ", " {
        out.push('}');
    }
}
