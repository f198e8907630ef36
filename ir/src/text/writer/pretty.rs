//! The form of operations that their definitions give them.

use smallvec::SmallVec;

use super::attr::{write_results, write_symbol, write_types};
use super::printer::{Passed, Printer, Task};
use crate::body::Body;
use crate::declare::Traits;
use crate::entity::OpId;
use crate::ods::Element;
use crate::registry::OpDef;
use crate::text::options::VISIBILITIES;
use crate::types::{Attr, AttrData, AttrDict, Type, TypeData};

impl<'a> Printer<'a, '_> {
    pub(super) fn pretty(&mut self, body: &'a Body, op: OpId, def: &'a OpDef) {
        self.op_name(body, op);
        if def.has(Traits::FUNCTION) {
            self.function(body, op);
            return;
        }
        let is_plain = body.extra(op).is_none();
        if is_plain && body.attrs(op) == AttrDict::EMPTY {
            self.out.push_str(" (");
            self.uses(body.operands(op));
            self.out.push(')');
            self.pretty_tail(body, op);
            return;
        }
        let hidden = self.symbol(body, op, def);
        let own = body.num_own_operands(op);
        if !body.successors(op).is_empty() {
            self.out.push(' ');
            self.uses(body.operands(op).take(own));
            if own > 0 {
                self.out.push_str(", ");
            }
            self.successors(body, op, Passed::Values);
        } else if own > 0
            || (body.attrs(op) == AttrDict::EMPTY && body.op_regions(op).is_empty() && body.isolated(op).is_none())
        {
            self.out.push_str(" (");
            self.uses(body.operands(op).take(own));
            self.out.push(')');
        }
        let flat = body.op_regions(op).is_empty() && body.isolated(op).is_none();
        let with_word = !flat && (self.has_keyword(body, op) || self.is_like_a_region(body, op, hidden));
        self.attributes(body, op, hidden, if with_word { " attributes" } else { "" });
        if flat {
            self.pretty_tail(body, op);
        } else {
            self.tasks.push(Task::Region {
                body,
                op,
                index: 0,
                generic: false,
            });
        }
    }

    /// Whether MLIR writes a word in front of the attributes, where its custom assembly is wanted.
    fn has_keyword(&self, body: &Body, op: OpId) -> bool {
        let row = self.ctx.ods(body.op_name(op)).filter(|_| self.options.mlir);
        let mut items = row
            .and_then(|ods| ods.row().ok())
            .into_iter()
            .flat_map(|row| &row.items);
        items.any(|item| matches!(item.element, Element::Dict { keyword: true, .. }))
    }

    /// Whether the attributes without a word in front would be read as a region: `{a.b}` may be one operation.
    fn is_like_a_region(&self, body: &Body, op: OpId, hidden: &[&str]) -> bool {
        let entries = self.ctx.dict_entries(body.attrs(op)).iter();
        let mut visible = entries.filter(|&&(name, _)| !hidden.contains(&self.ctx.str(name)));
        let is_word =
            |&(name, value)| matches!(self.ctx.attr_data(value), AttrData::Unit) && self.ctx.str(name).contains('.');
        visible.next().is_some_and(is_word) && visible.next().is_none()
    }

    /// Writes the symbol of an operation and determines which attributes that denotes.
    fn symbol(&mut self, body: &'a Body, op: OpId, def: &OpDef) -> &'static [&'static str] {
        let view = body.view(self.ctx, op);
        if def.has(Traits::SYMBOL)
            && let Some(name) = view.str("sym_name")
        {
            self.out.push(' ');
            write_symbol(&mut self.out, name);
            return &["sym_name"];
        }
        let entries = self.ctx.dict_entries(body.attrs(op));
        if let Some(&(_, callee)) = entries.iter().find(|&&(name, _)| Some(name) == self.callee)
            && matches!(self.ctx.attr_data(callee), AttrData::Symbol(_))
        {
            self.out.push(' ');
            self.attr_writer(false).write(&mut self.out, callee, false);
            return &["callee"];
        }
        &[]
    }

    fn attributes(&mut self, body: &'a Body, op: OpId, hidden: &[&str], before: &str) {
        let attrs = body.attrs(op);
        if attrs == AttrDict::EMPTY {
            return;
        }
        if hidden.is_empty() {
            self.out.push_str(before);
            self.out.push(' ');
            let writer = self.attr_writer(false);
            self.recent_dicts
                .push(&mut self.out, attrs, attrs.0 as usize, |out| writer.dict(out, attrs));
            return;
        }
        let mut first = true;
        for &(name, value) in self.ctx.dict_entries(body.attrs(op)) {
            let name = self.ctx.str(name);
            if hidden.contains(&name) {
                continue;
            }
            if std::mem::take(&mut first) {
                self.out.push_str(before);
                self.out.push_str(" {");
            } else {
                self.out.push_str(", ");
            }
            self.attr_writer(false).entry(&mut self.out, name, value);
        }
        if first {
            return;
        }
        self.out.push('}');
    }

    pub(super) fn pretty_tail(&mut self, body: &'a Body, op: OpId) {
        if body.num_results(op) == 1 && body.value_type(body.result(op, 0)) == self.last_type.0 {
            // The same types come again and again.
            self.out.push_str(&self.last_type.1);
            self.location(body, op);
            return;
        }
        let results: SmallVec<[Type; 4]> = body.results(op).map(|v| body.value_type(v)).collect();
        if !results.is_empty() {
            let start = self.out.len();
            self.out.push_str(" : ");
            // A function type in front would be read as a signature.
            if matches!(self.ctx.type_data(results[0]), TypeData::Function { .. }) {
                let operands: SmallVec<[Type; 4]> = body.operands(op).map(|v| body.value_type(v)).collect();
                self.out.push('(');
                write_types(self.ctx, &mut self.out, &operands, false);
                self.out.push_str(") -> ");
                write_results(self.ctx, &mut self.out, &results, false);
            } else {
                for (at, &ty) in results.iter().enumerate() {
                    if at > 0 {
                        self.out.push_str(", ");
                    }
                    self.write_type(ty, false);
                }
                let text = &self.out[start..];
                if results.len() == 1 && text.len() < 64 {
                    self.last_type.0 = results[0];
                    self.last_type.1.clear();
                    self.last_type.1.push_str(text);
                }
            }
        }
        self.location(body, op);
    }

    fn function(&mut self, body: &'a Body, op: OpId) {
        let view = body.view(self.ctx, op);
        self.out.push(' ');
        let visibility = view.str("sym_visibility").filter(|v| VISIBILITIES.contains(v));
        if let Some(visibility) = visibility {
            self.out.push_str(visibility);
            self.out.push(' ');
        }
        write_symbol(&mut self.out, view.str("sym_name").unwrap_or_default());
        let (inputs, results): (&[Type], &[Type]) = match view.ty("function_type").map(|t| self.ctx.type_data(t)) {
            Some(TypeData::Function { inputs, results }) => (inputs, results),
            _ => (&[], &[]),
        };
        let arg_attrs = self.dicts(body, op, "arg_attrs", inputs.len());
        let res_attrs = self.dicts(body, op, "res_attrs", results.len());
        let inner = body.isolated(op);
        let entry = inner.and_then(|i| i.entry_block(i.root()));
        self.out.push('(');
        match (inner, entry) {
            (Some(inner), Some(entry)) => {
                self.names.enter(inner);
                for (at, &arg) in inner.block_args(entry).iter().enumerate() {
                    if at > 0 {
                        self.out.push_str(", ");
                    }
                    self.names.arg(self.ctx, inner, arg);
                    self.names.write(self.ctx, &mut self.out, arg);
                    self.out.push_str(": ");
                    self.write_type(inner.value_type(arg), false);
                    self.dict_of(arg_attrs, at);
                    self.arg_location(inner, arg);
                }
            }
            _ => self.types_with(inputs, arg_attrs),
        }
        self.out.push(')');
        if !results.is_empty() {
            self.out.push_str(" -> ");
            match results {
                _ if res_attrs.is_some() => {
                    self.out.push('(');
                    self.types_with(results, res_attrs);
                    self.out.push(')');
                }
                &[one] if !matches!(self.ctx.type_data(one), TypeData::Function { .. }) => self.write_type(one, false),
                _ => write_results(self.ctx, &mut self.out, results, false),
            }
        }
        let mut said: SmallVec<[&str; 5]> = SmallVec::from_slice(&["sym_name", "function_type"]);
        let others = [
            (visibility.is_some(), "sym_visibility"),
            (arg_attrs.is_some(), "arg_attrs"),
            (res_attrs.is_some(), "res_attrs"),
        ];
        said.extend(others.iter().filter(|other| other.0).map(|other| other.1));
        self.attributes(body, op, &said, " attributes");
        if let (Some(inner), Some(_)) = (inner, entry) {
            self.out.push_str(" {");
            self.indent += 1;
            self.tasks.push(Task::EndRegion {
                body,
                op,
                index: 0,
                generic: false,
            });
            self.enter_body(body, op);
            self.blocks(inner, inner.root(), false);
        } else {
            self.location(body, op);
        }
    }
}

impl<'a> Printer<'a, '_> {
    /// The dictionaries of an attribute, if their number is right and they can be printed next to their subjects.
    fn dicts(&self, body: &Body, op: OpId, name: &str, count: usize) -> Option<&'a [Attr]> {
        let AttrData::Array(items) = self.ctx.attr_data(body.attr(self.ctx, op, name)?) else {
            return None;
        };
        let dict = |item: &Attr| match self.ctx.attr_data(*item) {
            AttrData::Dict(dict) => Some(*dict),
            _ => None,
        };
        let fits = items.len() == count && items.iter().all(|item| dict(item).is_some());
        // Where all are empty, nothing would be written, and the attribute would be gone.
        let says = items.iter().any(|item| dict(item) != Some(AttrDict::EMPTY));
        (fits && says).then_some(&**items)
    }

    /// Writes ` {…}`, if the dictionary at `at` has entries.
    fn dict_of(&mut self, dicts: Option<&[Attr]>, at: usize) {
        if let Some(AttrData::Dict(dict)) = dicts.and_then(|d| d.get(at)).map(|&d| self.ctx.attr_data(d))
            && *dict != AttrDict::EMPTY
        {
            self.out.push(' ');
            self.attr_writer(false).dict(&mut self.out, *dict);
        }
    }

    /// Types, each with its dictionary.
    fn types_with(&mut self, types: &[Type], dicts: Option<&[Attr]>) {
        for (at, &ty) in types.iter().enumerate() {
            if at > 0 {
                self.out.push_str(", ");
            }
            self.write_type(ty, false);
            self.dict_of(dicts, at);
        }
    }
}
