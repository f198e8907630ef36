//! The printer: explicit levels in place of recursion, one buffer, written out in pieces.

use std::io::{self, Write};

use rustc_hash::FxHashMap;

use super::PrintOptions;
use super::print_attr::{AttrWriter, push_int, write_results, write_symbol, write_type, write_types};
use super::print_names::Names;
use crate::body::{Body, ValueDef};
use crate::context::{Context, Sym};
use crate::entity::{BlockId, OpId, RegionId, ValueId};
use crate::module::Module;
use crate::registry::{OpDef, Presence, Traits};
use crate::types::{Attr, AttrData, AttrDict, Type, TypeData};

/// How much is collected before it is written.
const PIECE: usize = 128 * 1024;
/// Deeper nesting is not indented further: the blanks would outweigh the text.
const MAX_INDENT: usize = 32;
const BLANKS: &str = "                                                                ";

/// Work that is left to do at a level.
enum Task<'a> {
    /// The operations of a region's blocks, from here on.
    Block {
        body: &'a Body,
        region: RegionId,
        block: usize,
        next: Option<OpId>,
        mark: usize,
    },
    /// The region at `index` of an operation, and what follows it.
    Region {
        body: &'a Body,
        op: OpId,
        index: usize,
        generic: bool,
    },
    /// The end of the region at `index` of an operation.
    EndRegion {
        body: &'a Body,
        op: OpId,
        index: usize,
        generic: bool,
    },
    /// A body of its own ends.
    EndBody,
}

pub(super) struct Printer<'a, 'w> {
    ctx: &'a Context,
    options: PrintOptions,
    out: String,
    writer: Option<&'w mut dyn Write>,
    error: Option<io::Error>,
    names: Vec<Names>,
    /// Labels of blocks that have none.
    labels: FxHashMap<BlockId, usize>,
    indent: usize,
    tasks: Vec<Task<'a>>,
    /// The names that the results of the operation at each level will have in scope behind it.
    deferred: Vec<(usize, Vec<Sym>)>,
}

impl<'a, 'w> Printer<'a, 'w> {
    pub(super) fn new(ctx: &'a Context, options: PrintOptions, writer: Option<&'w mut dyn Write>) -> Self {
        Printer {
            ctx,
            options,
            out: String::new(),
            writer,
            error: None,
            names: Vec::new(),
            labels: FxHashMap::default(),
            indent: 0,
            tasks: Vec::new(),
            deferred: Vec::new(),
        }
    }

    pub(super) fn finish(mut self) -> io::Result<()> {
        self.flush();
        match self.error {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    pub(super) fn into_string(self) -> String {
        self.out
    }

    fn flush(&mut self) {
        if let Some(writer) = &mut self.writer
            && self.error.is_none()
        {
            self.error = writer.write_all(self.out.as_bytes()).err();
            self.out.clear();
        }
    }

    pub(super) fn module(&mut self, module: &'a Module) {
        let body = &module.body;
        self.names.push(Names::new(self.ctx, body));
        let next = body.first_op(module.top());
        self.tasks.push(Task::Block {
            body,
            region: body.root(),
            block: 0,
            next,
            mark: 0,
        });
        self.run();
    }

    pub(super) fn single(&mut self, body: &'a Body, op: OpId) {
        let mut names = Names::new(self.ctx, body);
        for value in body.operands(op) {
            if !names.has(value) {
                match body.value_def(value) {
                    ValueDef::Result(def, _) => {
                        let results: Vec<ValueId> = body.results(def).collect();
                        names.results(self.ctx, body, &results);
                    }
                    _ => names.arg(self.ctx, body, value),
                }
            }
        }
        self.names.push(names);
        self.operation(body, op);
        self.run();
    }

    fn run(&mut self) {
        while let Some(task) = self.tasks.pop() {
            if self.out.len() > PIECE && self.writer.is_some() {
                self.flush();
                if self.error.is_some() {
                    return;
                }
            }
            match task {
                Task::Block {
                    body,
                    region,
                    block,
                    next: Some(op),
                    mark,
                } => {
                    self.tasks.push(Task::Block {
                        body,
                        region,
                        block,
                        next: body.next_op(op),
                        mark,
                    });
                    if let Some(comment) = body.comment(op) {
                        self.comment(comment);
                    }
                    self.new_line();
                    self.operation(body, op);
                }
                Task::Block {
                    body,
                    region,
                    block,
                    next: None,
                    mark,
                } => {
                    let blocks = body.region_blocks(region);
                    if let Some(comment) = blocks.get(block).and_then(|&b| body.end_comment(b)) {
                        self.comment(comment);
                    }
                    match blocks.get(block + 1) {
                        Some(&following) => {
                            self.block_header(body, following);
                            let next = body.first_op(following);
                            self.tasks.push(Task::Block {
                                body,
                                region,
                                block: block + 1,
                                next,
                                mark,
                            });
                        }
                        None => {
                            if let Some(names) = self.names.last_mut() {
                                names.leave(mark);
                            }
                        }
                    }
                }
                Task::Region {
                    body,
                    op,
                    index,
                    generic,
                } => self.region(body, op, index, generic),
                Task::EndRegion {
                    body,
                    op,
                    index,
                    generic,
                } => self.end_region(body, op, index, generic),
                Task::EndBody => {
                    self.names.pop();
                }
            }
        }
        if !self.out.is_empty() && !self.out.ends_with('\n') && self.writer.is_some() {
            self.out.push('\n');
        }
    }

    fn new_line(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
        self.out.push_str(&BLANKS[..2 * self.indent.min(MAX_INDENT)]);
    }

    fn comment(&mut self, text: &str) {
        for line in text.lines() {
            self.new_line();
            self.out.push_str(line);
        }
    }

    fn attr_writer(&self, generic: bool) -> AttrWriter<'a> {
        AttrWriter {
            ctx: self.ctx,
            generic,
            elide: self.options.elide_large,
        }
    }

    fn use_of(&mut self, value: ValueId) {
        if let Some(names) = self.names.last() {
            names.write(self.ctx, &mut self.out, value);
        }
    }

    fn uses(&mut self, values: impl Iterator<Item = ValueId>) {
        for (at, value) in values.enumerate() {
            if at > 0 {
                self.out.push_str(", ");
            }
            self.use_of(value);
        }
    }

    // ----- operations -----

    fn operation(&mut self, body: &'a Body, op: OpId) {
        let def = self.ctx.op_def(body.op_name(op));
        let results: Vec<ValueId> = body.results(op).collect();
        if !results.is_empty() {
            self.result_names(body, op, &results);
        }
        match def {
            Some(def) if !self.options.generic && fits(def, body, op) => self.pretty(body, op, def),
            _ => self.generic(body, op),
        }
    }

    fn result_names(&mut self, body: &'a Body, op: OpId, results: &[ValueId]) {
        let Some(names) = self.names.last_mut() else { return };
        let mark = names.mark();
        let named = results.iter().all(|&v| names.has(v));
        let groups = if named {
            // Named when the region was entered.
            group_named(body, results)
        } else {
            names.results(self.ctx, body, results)
        };
        for (at, &(first, len)) in groups.iter().enumerate() {
            if at > 0 {
                self.out.push_str(", ");
            }
            names.write_group(self.ctx, &mut self.out, first, len);
        }
        self.out.push_str(" = ");
        // The results are not visible in the operation's own regions, which may use the names.
        if !named && (!body.op_regions(op).is_empty()) {
            let taken = names.suspend(mark);
            self.deferred.push((self.tasks.len(), taken));
        }
    }

    fn generic(&mut self, body: &'a Body, op: OpId) {
        self.out.push('"');
        self.out.push_str(self.ctx.op_str(body.op_name(op)));
        self.out.push_str("\"(");
        let own = body.num_own_operands(op);
        self.uses(body.operands(op).take(own));
        self.out.push(')');
        if !body.successors(op).is_empty() {
            self.out.push('[');
            self.successors(body, op, true);
            self.out.push(']');
        }
        let properties = body.attr(self.ctx, op, "<{}>");
        if let Some(properties) = properties
            && let AttrData::Dict(dict) = self.ctx.attr_data(properties)
        {
            self.out.push_str(" <");
            self.attr_writer(true).dict(&mut self.out, *dict);
            self.out.push('>');
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

    fn generic_tail(&mut self, body: &'a Body, op: OpId) {
        let mut dict = body.attrs(op);
        if body.attr(self.ctx, op, "<{}>").is_some() {
            dict = self.ctx.dict_without(dict, "<{}>");
        }
        if dict != AttrDict::EMPTY {
            self.out.push(' ');
            self.attr_writer(true).dict(&mut self.out, dict);
        }
        self.out.push_str(" : (");
        let own = body.num_own_operands(op);
        let operands: Vec<Type> = body.operands(op).take(own).map(|v| body.value_type(v)).collect();
        write_types(self.ctx, &mut self.out, &operands, true);
        self.out.push_str(") -> ");
        let results: Vec<Type> = body.results(op).map(|v| body.value_type(v)).collect();
        write_results(self.ctx, &mut self.out, &results, true);
        self.location(body, op);
    }

    fn location(&mut self, body: &'a Body, op: OpId) {
        if let Some(loc) = body.loc(op) {
            self.out.push(' ');
            self.attr_writer(true).write(&mut self.out, loc, false);
        }
    }

    fn successors(&mut self, body: &'a Body, op: OpId, typed: bool) {
        for (index, successor) in body.successors(op).iter().enumerate() {
            if index > 0 {
                self.out.push_str(", ");
            }
            self.label(body, successor.block);
            if successor.operands > 0 {
                self.out.push('(');
                let values: Vec<ValueId> = body.successor_operands(op, index).collect();
                self.uses(values.iter().copied());
                if typed {
                    self.out.push_str(" : ");
                    let types: Vec<Type> = values.iter().map(|&v| body.value_type(v)).collect();
                    write_types(self.ctx, &mut self.out, &types, true);
                }
                self.out.push(')');
            }
        }
    }

    fn pretty(&mut self, body: &'a Body, op: OpId, def: &'a OpDef) {
        self.out.push_str(&def.name);
        if def.has(Traits::FUNCTION) {
            self.function(body, op);
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
            self.successors(body, op, false);
        } else if own > 0
            || (body.attrs(op) == AttrDict::EMPTY && body.op_regions(op).is_empty() && body.isolated(op).is_none())
        {
            self.out.push_str(" (");
            self.uses(body.operands(op).take(own));
            self.out.push(')');
        }
        self.attributes(body, op, &hidden, "");
        if body.op_regions(op).is_empty() && body.isolated(op).is_none() {
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

    /// Writes the symbol of an operation and tells which attributes that stands for.
    fn symbol(&mut self, body: &'a Body, op: OpId, def: &OpDef) -> Vec<&'static str> {
        let view = body.view(self.ctx, op);
        if let Some(name) = view.str("sym_name").filter(|_| def.has(Traits::SYMBOL)) {
            self.out.push(' ');
            write_symbol(&mut self.out, name);
            return vec!["sym_name"];
        }
        if let Some(callee) = view.attr("callee")
            && matches!(self.ctx.attr_data(callee), AttrData::Symbol(_))
        {
            self.out.push(' ');
            self.attr_writer(false).write(&mut self.out, callee, false);
            return vec!["callee"];
        }
        Vec::new()
    }

    fn attributes(&mut self, body: &'a Body, op: OpId, hidden: &[&str], before: &str) {
        let shown: Vec<(Sym, Attr)> = self
            .ctx
            .dict_entries(body.attrs(op))
            .iter()
            .copied()
            .filter(|&(name, _)| !hidden.contains(&self.ctx.str(name)))
            .collect();
        if shown.is_empty() {
            return;
        }
        self.out.push_str(before);
        self.out.push_str(" {");
        for (at, (name, value)) in shown.into_iter().enumerate() {
            if at > 0 {
                self.out.push_str(", ");
            }
            self.attr_writer(false).entry(&mut self.out, self.ctx.str(name), value);
        }
        self.out.push('}');
    }

    fn pretty_tail(&mut self, body: &'a Body, op: OpId) {
        let results: Vec<Type> = body.results(op).map(|v| body.value_type(v)).collect();
        if !results.is_empty() {
            self.out.push_str(" : ");
            // A function type in front would be read as a signature.
            if matches!(self.ctx.type_data(results[0]), TypeData::Function { .. }) {
                let operands: Vec<Type> = body.operands(op).map(|v| body.value_type(v)).collect();
                self.out.push('(');
                write_types(self.ctx, &mut self.out, &operands, false);
                self.out.push_str(") -> ");
                write_results(self.ctx, &mut self.out, &results, false);
            } else {
                write_types(self.ctx, &mut self.out, &results, false);
            }
        }
        self.location(body, op);
    }

    fn function(&mut self, body: &'a Body, op: OpId) {
        let view = body.view(self.ctx, op);
        self.out.push(' ');
        if let Some(visibility) = view.str("sym_visibility") {
            self.out.push_str(visibility);
            self.out.push(' ');
        }
        write_symbol(&mut self.out, view.str("sym_name").unwrap_or_default());
        let (inputs, results): (&[Type], &[Type]) = match view.ty("function_type").map(|t| self.ctx.type_data(t)) {
            Some(TypeData::Function { inputs, results }) => (inputs, results),
            _ => (&[], &[]),
        };
        let inner = body.isolated(op);
        let entry = inner.and_then(|i| i.entry_block(i.root()));
        self.out.push('(');
        match (inner, entry) {
            (Some(inner), Some(entry)) => {
                let mut names = Names::new(self.ctx, inner);
                for (at, &arg) in inner.block_args(entry).iter().enumerate() {
                    if at > 0 {
                        self.out.push_str(", ");
                    }
                    names.arg(self.ctx, inner, arg);
                    names.write(self.ctx, &mut self.out, arg);
                    self.out.push_str(": ");
                    write_type(self.ctx, &mut self.out, inner.value_type(arg), false);
                    let attrs = inner.arg_attrs(arg);
                    if attrs != AttrDict::EMPTY {
                        self.out.push(' ');
                        self.attr_writer(false).dict(&mut self.out, attrs);
                    }
                }
                self.names.push(names);
            }
            _ => write_types(self.ctx, &mut self.out, inputs, false),
        }
        self.out.push(')');
        if !results.is_empty() {
            self.out.push_str(" -> ");
            write_results(self.ctx, &mut self.out, results, false);
        }
        self.attributes(
            body,
            op,
            &["sym_name", "sym_visibility", "function_type"],
            " attributes",
        );
        if let (Some(inner), Some(_)) = (inner, entry) {
            self.out.push_str(" {");
            self.indent += 1;
            self.tasks.push(Task::EndRegion {
                body,
                op,
                index: 0,
                generic: false,
            });
            self.tasks.push(Task::EndBody);
            self.blocks(inner, inner.root(), false);
        } else {
            self.location(body, op);
        }
    }

    // ----- regions -----

    fn region(&mut self, body: &'a Body, op: OpId, index: usize, generic: bool) {
        if let Some(inner) = body.isolated(op) {
            self.out.push_str(if generic { "{" } else { " {" });
            self.names.push(Names::new(self.ctx, inner));
            self.indent += 1;
            self.tasks.push(Task::EndRegion {
                body,
                op,
                index,
                generic,
            });
            self.tasks.push(Task::EndBody);
            self.blocks(inner, inner.root(), generic || has_args(inner, inner.root()));
            return;
        }
        let Some(&region) = body.op_regions(op).get(index) else {
            return;
        };
        let spec = self.spec(body, op, index).filter(|_| !generic);
        if spec.is_some_and(|s| s.presence == Presence::MayBeEmpty) && body.region_blocks(region).is_empty() {
            self.tasks.push(Task::EndRegion {
                body,
                op,
                index,
                generic,
            });
            return;
        }
        let header = spec.is_some() && body.single_block(region).is_some();
        if let Some(keyword) = spec.and_then(|s| s.keywords.first()) {
            self.out.push(' ');
            self.out.push_str(keyword);
        }
        let mark = self.names.last().map_or(0, Names::mark);
        if header
            && let Some(entry) = body.entry_block(region)
            && !body.block_args(entry).is_empty()
        {
            self.out.push_str(" (");
            self.args(body, entry);
            self.out.push(')');
        }
        self.out.push_str(if generic { "{" } else { " {" });
        self.indent += 1;
        self.tasks.push(Task::EndRegion {
            body,
            op,
            index,
            generic,
        });
        let with_label = !header && (generic || has_args(body, region) || body.region_blocks(region).len() > 1);
        self.blocks_from(body, region, with_label, mark);
    }

    fn blocks(&mut self, body: &'a Body, region: RegionId, with_label: bool) {
        let mark = self.names.last().map_or(0, Names::mark);
        self.blocks_from(body, region, with_label, mark);
    }

    fn blocks_from(&mut self, body: &'a Body, region: RegionId, with_label: bool, mark: usize) {
        let blocks = body.region_blocks(region);
        if blocks.len() > 1 {
            // Values of one block are visible in others: all names of the region are given up front.
            for &block in blocks {
                if let Some(names) = self.names.last_mut() {
                    for &arg in body.block_args(block) {
                        if !names.has(arg) {
                            names.arg(self.ctx, body, arg);
                        }
                    }
                    for op in body.block_ops(block) {
                        let results: Vec<ValueId> = body.results(op).collect();
                        names.results(self.ctx, body, &results);
                    }
                }
            }
            for (at, &block) in blocks.iter().enumerate() {
                self.labels.entry(block).or_insert(at);
            }
        }
        let Some(&entry) = blocks.first() else { return };
        let entry_needs_label = with_label && (!body.block_args(entry).is_empty() || body.block_label(entry).is_some());
        if entry_needs_label || self.is_target(body, region, entry) {
            self.block_header(body, entry);
        }
        let next = body.first_op(entry);
        self.tasks.push(Task::Block {
            body,
            region,
            block: 0,
            next,
            mark,
        });
    }

    fn is_target(&self, body: &Body, region: RegionId, block: BlockId) -> bool {
        body.region_blocks(region).len() > 1
            && body.region_blocks(region).iter().any(|&b| {
                body.last_op(b)
                    .is_some_and(|t| body.successors(t).iter().any(|s| s.block == block))
            })
    }

    fn spec(&self, body: &Body, op: OpId, index: usize) -> Option<&'a crate::registry::RegionSpec> {
        let def = self.ctx.op_def(body.op_name(op))?;
        let missing = def.regions.len().checked_sub(body.op_regions(op).len())?;
        def.regions
            .iter()
            .scan(missing, |left, spec| {
                let absent = *left > 0 && spec.presence == Presence::MayBeAbsent;
                *left -= usize::from(absent);
                Some((spec, absent))
            })
            .filter(|(_, absent)| !absent)
            .map(|(spec, _)| spec)
            .nth(index)
    }

    fn end_region(&mut self, body: &'a Body, op: OpId, index: usize, generic: bool) {
        let skipped = !generic
            && body.isolated(op).is_none()
            && body
                .op_regions(op)
                .get(index)
                .is_some_and(|&r| body.region_blocks(r).is_empty())
            && self
                .spec(body, op, index)
                .is_some_and(|s| s.presence == Presence::MayBeEmpty);
        if !skipped {
            self.indent -= 1;
            self.new_line();
            self.out.push('}');
        }
        if body.isolated(op).is_none() && index + 1 < body.op_regions(op).len() {
            if generic {
                self.out.push_str(", ");
            }
            self.tasks.push(Task::Region {
                body,
                op,
                index: index + 1,
                generic,
            });
            return;
        }
        if let Some((_, taken)) = self.deferred.pop_if(|(level, _)| *level == self.tasks.len())
            && let Some(names) = self.names.last_mut()
        {
            names.resume(taken);
        }
        if generic {
            self.out.push(')');
            self.generic_tail(body, op);
        } else {
            self.pretty_tail(body, op);
        }
    }

    fn label(&mut self, body: &Body, block: BlockId) {
        self.out.push('^');
        match body.block_label(block) {
            Some(label) => self.out.push_str(self.ctx.str(label)),
            None => {
                // Numbered by its place; labels that were written may say the same, so those come first.
                self.out.push_str("bb");
                let at = self.labels.get(&block).copied().unwrap_or(0);
                push_int(&mut self.out, at as i128);
            }
        }
    }

    fn block_header(&mut self, body: &'a Body, block: BlockId) {
        self.indent -= 1;
        self.new_line();
        self.indent += 1;
        self.label(body, block);
        if !body.block_args(block).is_empty() {
            self.out.push('(');
            self.args(body, block);
            self.out.push(')');
        }
        self.out.push(':');
    }

    fn args(&mut self, body: &'a Body, block: BlockId) {
        for (at, &arg) in body.block_args(block).iter().enumerate() {
            if at > 0 {
                self.out.push_str(", ");
            }
            if let Some(names) = self.names.last_mut()
                && !names.has(arg)
            {
                names.arg(self.ctx, body, arg);
            }
            self.use_of(arg);
            self.out.push_str(": ");
            write_type(self.ctx, &mut self.out, body.value_type(arg), self.options.generic);
        }
    }
}

fn has_args(body: &Body, region: RegionId) -> bool {
    body.entry_block(region).is_some_and(|b| !body.block_args(b).is_empty())
}

/// Results that have names already, in the groups in which those were given.
fn group_named(body: &Body, results: &[ValueId]) -> Vec<(ValueId, u32)> {
    let mut groups = Vec::new();
    let mut at = 0;
    while let Some(&value) = results.get(at) {
        let name = body.value_name(value);
        let len = match name {
            Some(n) if n.pack => results[at..]
                .iter()
                .take_while(|&&v| body.value_name(v) == name)
                .count(),
            _ => 1,
        };
        groups.push((value, len as u32));
        at += len;
    }
    groups
}

/// Whether the pretty form can show the operation as it is: regions and successors as declared.
fn fits(def: &OpDef, body: &Body, op: OpId) -> bool {
    let count = body.op_regions(op).len();
    let required = def
        .regions
        .iter()
        .filter(|r| r.presence != Presence::MayBeAbsent)
        .count();
    if def.has(Traits::FUNCTION) {
        return true;
    }
    let regions = body.isolated(op).is_some() || (required..=def.regions.len()).contains(&count);
    let blocks = body
        .op_regions(op)
        .iter()
        .zip(def.regions.iter().skip(def.regions.len().saturating_sub(count)))
        .all(|(&region, spec)| spec.presence == Presence::MayBeEmpty || !body.region_blocks(region).is_empty());
    regions && blocks
}
