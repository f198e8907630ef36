//! The printer: explicit levels in place of recursion, one buffer, written out in pieces.

use std::cell::Cell;
use std::io::{self, Write};

use smallvec::SmallVec;

use super::attr::{AttrWriter, write_type, write_types};
use super::map_aliases::{self, MapNames};
use super::names::{Names, groups};
use super::repeated::Repeated;
use super::texts::{Generic, Texts};
use crate::body::{Body, ValueDef};
use crate::context::Context;
use crate::declare::{Presence, Traits};
use crate::entity::{OpId, RegionId, Sym, ValueId};
use crate::module::Module;
use crate::names::Name;
use crate::ods::OdsRow;
use crate::registry::OpDef;
use crate::text::options::PrintOptions;
use crate::types::{AttrDict, Type};

/// How much is collected before it is written.
const PIECE: usize = 128 * 1024;
/// Deeper nesting is not indented further: the blanks would outweigh the text.
const MAX_INDENT: usize = 32;
const BLANKS: &str = "                                                                ";

/// A block whose operations are printed.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) body: &'a Body,
    pub(super) region: RegionId,
    /// Which of the blocks of the region.
    pub(super) block: usize,
    /// Where the names of the region begin.
    pub(super) mark: usize,
}

/// Work that is left to do at a level.
pub(super) enum Task<'a> {
    /// The operations of a region's blocks, from here on.
    Block(Place<'a>, Option<OpId>),
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
    /// The end of an isolated body.
    EndBody,
    /// The rest of a format, and the brace in front of it.
    Ods {
        body: &'a Body,
        op: OpId,
        row: &'a OdsRow,
        then: (usize, usize),
        closes: bool,
    },
}

pub(super) struct Printer<'a, 'w> {
    pub(super) ctx: &'a Context,
    pub(super) options: PrintOptions,
    pub(super) out: String,
    /// Whether what has left `out` ended with a line break.
    line_ended: bool,
    pub(super) writer: Option<&'w mut dyn Write>,
    /// The names of maps and sets, which are defined in front of the text: nothing is written before all are named.
    map_names: Option<MapNames>,
    pub(super) error: Option<io::Error>,
    pub(super) names: Names,
    pub(super) indent: usize,
    pub(super) tasks: Vec<Task<'a>>,
    /// Whether bodies may be printed on several threads.
    pub(super) parallel: bool,
    /// How many isolated operations are printed in turn before it is looked again whether several can be at a time.
    pub(super) in_turn: usize,
    /// The name of the attribute that calls have.
    pub(super) callee: Option<Sym>,
    /// The type of the only result of an operation that was written last, and what was written of it.
    pub(super) last_type: (Type, String),
    /// Recently printed operations in the generic form.
    pub(super) recent_generic: Generic,
    /// Texts of attributes that were written lately.
    pub(super) recent_dicts: Texts<AttrDict>,
    /// Texts of types of block arguments that were written lately, by whether they are of the generic form.
    pub(super) recent_types: Texts<(Type, bool)>,
    /// Texts of operations that were written lately, without the names of their operands.
    pub(super) repeated: Repeated<'a>,
    /// Whether what prints an operation has looked at more than that operation.
    pub(super) looked_around: Cell<bool>,
    /// The names that the results of the operation at each level will have in scope after it.
    pub(super) deferred: Vec<(usize, Vec<Name>)>,
    /// Operations that end regions and are not printed, the innermost last.
    pub(super) elided: Vec<OpId>,
    /// The operation whose region is implied by its format, until the region is skipped.
    pub(super) hidden_regions: Option<OpId>,
    /// How many names there were before the head of an operation named the arguments of its region.
    pub(super) args_mark: Option<usize>,
    /// The default dialects of the operations that have the bodies that are being printed, and whether operations of such a body may use
    /// what comes after them.
    owners: Vec<(&'a str, bool)>,
}

impl<'a, 'w> Printer<'a, 'w> {
    pub(super) fn new(ctx: &'a Context, options: PrintOptions, writer: Option<&'w mut dyn Write>) -> Self {
        Printer {
            ctx,
            options,
            out: String::new(),
            line_ended: true,
            writer,
            map_names: None,
            error: None,
            names: Names::new(options.generic),
            indent: 0,
            tasks: Vec::new(),
            parallel: false,
            in_turn: 0,
            callee: ctx.find_sym("callee"),
            last_type: (Type::NONE, " : none".to_owned()),
            recent_generic: Generic::new(ctx),
            recent_dicts: Texts::default(),
            recent_types: Texts::default(),
            repeated: Repeated::default(),
            looked_around: Cell::new(false),
            deferred: Vec::new(),
            elided: Vec::new(),
            hidden_regions: None,
            args_mark: None,
            owners: vec![("builtin", true)],
        }
    }

    pub(super) fn finish(mut self) -> io::Result<()> {
        self.flush();
        if let (Some(names), Some(writer), None) = (&mut self.map_names, &mut self.writer, &self.error) {
            self.error = names.finish(writer).err();
        }
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
            let written = match &mut self.map_names {
                Some(names) => names.write(&self.out, self.line_ended, writer),
                None => writer.write_all(self.out.as_bytes()),
            };
            self.error = written.err();
            self.line_ended = self.has_line_ended();
            self.out.clear();
        }
    }

    pub(super) fn module(&mut self, module: &'a Module) {
        let body = &module.body;
        self.parallel = rayon::current_num_threads() > 1;
        self.names.enter(body);
        let place = Place {
            body,
            region: body.root(),
            block: 0,
            mark: 0,
        };
        self.tasks.push(Task::Block(place, body.first_op(module.top())));
        let frame = body.frame.as_deref();
        let mut maps = map_aliases::maps(self.ctx).peekable();
        if self.options.mlir && maps.peek().is_some() {
            let definitions = frame.map(|f| f.aliases.iter().chain(&f.late_aliases));
            self.map_names = Some(MapNames::new(
                maps,
                definitions.into_iter().flatten().map(|text| &**text),
            ));
        }
        for definition in frame.map_or(&[][..], |f| &f.aliases) {
            self.new_line();
            self.out.push_str(definition);
        }
        self.run();
        for definition in frame.map_or(&[][..], |f| &f.late_aliases) {
            self.new_line();
            self.out.push_str(definition);
            self.out.push('\n');
        }
        let resources = frame.map_or("", |f| &f.resources);
        if !resources.is_empty() {
            self.new_line();
            // In MLIR's forms with blank lines around them, as MLIR has them.
            let around = if self.options.mlir || self.options.generic {
                "\n"
            } else {
                ""
            };
            for text in [around, resources, "\n", around] {
                self.out.push_str(text);
            }
        }
    }

    pub(super) fn single(&mut self, body: &'a Body, op: OpId) {
        self.names.enter(body);
        for value in body.operands(op) {
            if !self.names.has(value) {
                match body.value_def(value) {
                    ValueDef::Result(def, _) => {
                        let results: SmallVec<[ValueId; 4]> = body.results(def).collect();
                        self.names.results(self.ctx, body, &results);
                    }
                    _ => self.names.arg(self.ctx, body, value),
                }
            }
        }
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
                Task::Block(place, Some(first)) => self.operations(place, first),
                Task::Block(place, None) => self.end_block(place),
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
                    self.owners.pop();
                    self.names.leave_body();
                }
                Task::Ods {
                    body,
                    op,
                    row,
                    then,
                    closes,
                } => self.after_ods_region(body, op, row, then, closes),
            }
        }
        if !self.has_line_ended() && self.writer.is_some() {
            self.out.push('\n');
        }
    }

    /// The operations of a block from one on, as far as the next one that has regions.
    fn operations(&mut self, place: Place<'a>, first: OpId) {
        let body = place.body;
        // An operation without regions leaves no tasks, and needs none for the operations after it.
        let mut at = Some(first);
        if self.parallel && body.isolated(first).is_some() && self.in_parallel(body, &mut at) {
            self.tasks.push(Task::Block(place, at));
            return;
        }
        while let Some(op) = at {
            at = body.next_op(op);
            let last = body.extra(op).is_some() || at.is_none() || self.out.len() > PIECE;
            if last {
                self.tasks.push(Task::Block(place, at));
            }
            if let Some(comment) = body.comment(op) {
                self.comment(comment);
            }
            if self.elided.last() == Some(&op) && at.is_none() {
                self.elided.pop();
                return;
            }
            self.new_line();
            self.operation(body, op);
            if last {
                return;
            }
        }
    }

    /// The end of a block, and the label of the next one.
    fn end_block(&mut self, place: Place<'a>) {
        let body = place.body;
        let blocks = body.region_blocks(place.region);
        if let Some(comment) = blocks.get(place.block).and_then(|&b| body.end_comment(b)) {
            self.comment(comment);
        }
        match blocks.get(place.block + 1) {
            Some(&following) => {
                self.block_header(body, following);
                let block = place.block + 1;
                self.tasks
                    .push(Task::Block(Place { block, ..place }, body.first_op(following)));
            }
            None => {
                self.names.leave(place.mark);
            }
        }
    }

    /// Prints an operation on separate lines, with its regions.
    pub(super) fn alone(&mut self, body: &'a Body, op: OpId) {
        if let Some(comment) = body.comment(op) {
            self.comment(comment);
        }
        self.new_line();
        self.operation(body, op);
        self.run();
    }

    /// Appends lines that were printed elsewhere, and flushes what has collected.
    pub(super) fn whole_lines(&mut self, text: String) {
        if !self.has_line_ended() {
            self.out.push('\n');
        }
        if text.len() > PIECE && self.writer.is_some() {
            self.flush();
            self.out = text;
        } else {
            self.out.push_str(&text);
        }
        if self.out.len() > PIECE {
            self.flush();
        }
    }

    /// Whether a new line can begin here: nothing was written yet, or a line break was last.
    fn has_line_ended(&self) -> bool {
        self.out.as_bytes().last().map_or(self.line_ended, |&b| b == b'\n')
    }

    pub(super) fn new_line(&mut self) {
        if !self.has_line_ended() {
            self.out.push('\n');
        }
        self.out.push_str(&BLANKS[..2 * self.indent.min(MAX_INDENT)]);
    }

    pub(super) fn comment(&mut self, text: &str) {
        for line in text.lines() {
            self.new_line();
            self.out.push_str(line);
        }
    }

    pub(super) fn attr_writer(&self, generic: bool) -> AttrWriter<'a> {
        AttrWriter {
            ctx: self.ctx,
            generic,
            elide: self.options.elide_large,
            mlir: self.options.mlir,
        }
    }

    /// Writes a type that is likely to come again.
    pub(super) fn write_type(&mut self, ty: Type, bang: bool) {
        let ctx = self.ctx;
        self.recent_types.push(&mut self.out, (ty, bang), ty.index(), |out| {
            write_type(ctx, out, ty, bang)
        });
    }

    pub(super) fn use_of(&mut self, value: ValueId) {
        let start = self.out.len();
        self.names.write(self.ctx, &mut self.out, value);
        self.repeated.wrote(start, self.out.len(), value);
    }

    pub(super) fn uses(&mut self, values: impl Iterator<Item = ValueId>) {
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
        let results = body.results(op);
        match results.len() {
            0 => {}
            1 if body.extra(op).is_none() => self.result_name(body, body.result(op, 0)),
            _ => self.result_names(body, op, &results.collect::<SmallVec<[ValueId; 4]>>()),
        }
        if !self.options.generic && self.options.mlir {
            match self.write_again(body, op) {
                Ok(()) => return,
                Err(shape) => {
                    if let Some(row) = self.ods_row(body, op) {
                        self.in_row(body, op, row, shape);
                        return;
                    }
                }
            }
        }
        match def {
            _ if self.options.generic => self.in_generic_form(body, op),
            Some(def) if fits(def, body, op) => self.pretty(body, op, def),
            _ => self.generic(body, op),
        }
    }

    /// The end of an operation's body; until then, its default dialect is omitted.
    pub(super) fn enter_body(&mut self, body: &'a Body, op: OpId) {
        self.tasks.push(Task::EndBody);
        let def = self.ctx.op_def(body.op_name(op));
        // With operations that are not registered, the verifier lets those of a symbol table be in any order, as MLIR does.
        let is_graph = |def: &OpDef| def.has(Traits::GRAPH_REGION) || def.has(Traits::SYMBOL_TABLE);
        let owner = def.map_or(("", true), |def| (def.default_dialect, is_graph(def)));
        self.owners.push(owner);
    }

    /// Whether operations of the body that is being printed may use what comes after them.
    pub(super) fn is_graph(&self) -> bool {
        self.owners.last().is_none_or(|owner| owner.1)
    }

    /// The dialect whose name is left out in front of an operation; nothing for none.
    #[inline]
    pub(super) fn default_dialect(&self, body: &Body, op: OpId) -> &'a str {
        let default = match body.parent_op(op) {
            None => self.owners.last().map(|owner| owner.0),
            Some(parent) => self.ctx.op_def(body.op_name(parent)).map(|def| def.default_dialect),
        };
        default.unwrap_or_default()
    }

    /// The name of an operation, as MLIR writes it if that is wanted.
    pub(super) fn op_name(&mut self, body: &Body, op: OpId) {
        let name = self.ctx.op_str(body.op_name(op));
        let short = || {
            let default = self.default_dialect(body, op);
            let short = name.strip_prefix(default).filter(|_| !default.is_empty())?;
            short.strip_prefix('.').filter(|short| !short.contains('.'))
        };
        let written = if self.options.mlir { short() } else { None };
        self.out.push_str(written.unwrap_or(name));
    }

    /// The row whose format the operation is printed in.
    fn ods_row(&self, body: &Body, op: OpId) -> Option<&'a OdsRow> {
        let row = self.ctx.ods(body.op_name(op))?.row().ok()?;
        (row.regions.is_empty() | !row.own && !row.items.is_empty() && row.fits(self.ctx, body, op)).then_some(row)
    }

    /// `%name = ` for the only result of an operation without regions.
    fn result_name(&mut self, body: &'a Body, result: ValueId) {
        if !self.names.has(result) {
            self.names.result(self.ctx, body, result, 1);
        }
        self.names.write_group(self.ctx, &mut self.out, result, 1);
        self.out.push_str(" = ");
    }

    fn result_names(&mut self, body: &'a Body, op: OpId, results: &[ValueId]) {
        let mark = self.names.mark();
        let named = results.iter().all(|&v| self.names.has(v));
        let groups = if named {
            // Named when the region was entered.
            groups(body, results)
        } else {
            self.names.results(self.ctx, body, results)
        };
        for (at, &(first, len)) in groups.iter().enumerate() {
            if at > 0 {
                self.out.push_str(", ");
            }
            self.names.write_group(self.ctx, &mut self.out, first, len);
        }
        self.out.push_str(" = ");
        // The results are not visible in the operation's own regions, which may use the names.
        if !named && (!body.op_regions(op).is_empty()) {
            let taken = self.names.suspend(mark);
            self.deferred.push((self.tasks.len(), taken));
        }
    }

    pub(super) fn location(&mut self, body: &'a Body, op: OpId) {
        if let Some(loc) = body.loc(op) {
            self.out.push(' ');
            self.attr_writer(true).write(&mut self.out, loc, false);
        }
    }

    pub(super) fn arg_location(&mut self, body: &'a Body, arg: ValueId) {
        if let Some(loc) = body.arg_loc(arg) {
            self.out.push(' ');
            self.attr_writer(true).write(&mut self.out, loc, false);
        }
    }

    pub(super) fn successors(&mut self, body: &'a Body, op: OpId, passed: Passed) {
        for (index, successor) in body.successors(op).iter().enumerate() {
            if index > 0 {
                self.out.push_str(", ");
            }
            self.label(body, successor.block);
            if successor.operands > 0 && passed != Passed::Blocks {
                self.out.push('(');
                let values: SmallVec<[ValueId; 4]> = body.successor_operands(op, index).collect();
                self.uses(values.iter().copied());
                if passed == Passed::Typed {
                    self.out.push_str(" : ");
                    let types: SmallVec<[Type; 4]> = values.iter().map(|&v| body.value_type(v)).collect();
                    write_types(self.ctx, &mut self.out, &types, true);
                }
                self.out.push(')');
            }
        }
    }
}

/// How successors are printed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Passed {
    /// By their blocks alone.
    Blocks,
    /// With the values that go there.
    Values,
    /// With their types as well.
    Typed,
}

/// Whether the pretty form can show the operation as it is: regions and successors as declared.
#[inline]
fn fits(def: &OpDef, body: &Body, op: OpId) -> bool {
    if def.regions.is_empty() && body.extra(op).is_none() {
        return true;
    }
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
