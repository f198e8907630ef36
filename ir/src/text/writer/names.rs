//! Names of values when a body is printed: those that values have, made unique where scopes meet, and numbers.

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::attr::push_int;
use crate::body::Body;
use crate::context::Context;
use crate::entity::{BlockId, OpId, ValueId};
use crate::names::Name;
use crate::text::name_table::NameTable;

/// The printed name of a value: a name or a number, and which of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Printed {
    what: u32,
    kind: u32,
}

const UNSET: u32 = 0;
const NUMBER: u32 = 1;
const NAME: u32 = 2;
/// Plus the index: an element of a pack.
const ELEMENT: u32 = 3;

/// The numbers of what has no name.
#[derive(Clone, Copy, Debug)]
struct Next {
    value: u32,
    arg: u32,
}

/// The names in use in one body.
#[derive(Default)]
struct Scope {
    number: u32,
    printed: Vec<Printed>,
    /// The added names, removed again at the end of their region.
    log: Vec<Name>,
    /// Names of the bodies around that are hidden, and whose they are.
    hidden: Vec<(Name, u32)>,
    /// From which suffix on to look for a free one.
    hints: FxHashMap<Name, u32>,
    /// Found when it is needed.
    next: Option<Next>,
    /// Labels of blocks that have none.
    labels: FxHashMap<BlockId, usize>,
    /// From where blocks are branched to, if it is to be printed.
    predecessors: FxHashMap<BlockId, SmallVec<[BlockId; 2]>>,
    /// Blocks with values that are used before they are defined, once that is requested.
    ahead: Option<FxHashSet<BlockId>>,
}

/// The names in use while a module is printed, body within body.
pub(super) struct Names {
    /// Whether each has to be a name in MLIR.
    mlir: bool,
    /// For each name the number of the body that uses it; 0 for none.
    owner: NameTable<u32>,
    last_number: u32,
    scopes: Vec<Scope>,
    /// The memory of a printed body, for reuse.
    spare: Option<Scope>,
    /// Where names are put together.
    text: String,
}

/// Results in the groups that are written with one name, `%r:2`: the first value and how many.
pub(super) type Groups = SmallVec<[(ValueId, u32); 2]>;

impl Names {
    /// No names yet. With `mlir`, all of them will be names in MLIR as well.
    pub(super) fn new(mlir: bool) -> Self {
        Names {
            mlir,
            owner: NameTable::new(0, 0),
            last_number: 0,
            scopes: Vec::new(),
            spare: None,
            text: String::new(),
        }
    }

    /// Enters a body in which no name is in use.
    pub(super) fn enter(&mut self, body: &Body) {
        let mut scope = self.spare.take().unwrap_or_default();
        self.last_number += 1;
        scope.number = self.last_number;
        scope.printed.clear();
        scope.printed.resize(body.num_value_slots(), Printed::default());
        scope.log.clear();
        scope.log.reserve_exact(body.num_value_slots());
        scope.hints.clear();
        scope.next = None;
        scope.labels.clear();
        scope.predecessors.clear();
        scope.ahead = None;
        self.scopes.push(scope);
        self.owner.make_room(body.num_value_slots());
    }

    /// Leaves the body entered last.
    pub(super) fn leave_body(&mut self) {
        if let Some(mut scope) = self.scopes.pop() {
            for (name, owner) in scope.hidden.drain(..) {
                *self.owner.slot(name, |_| false) = owner;
            }
            self.spare = Some(scope);
        }
    }

    /// A mark to return to with [`Names::leave`].
    pub(super) fn mark(&self) -> usize {
        self.scopes.last().map_or(0, |s| s.log.len())
    }

    /// Forgets the names given since the mark.
    pub(super) fn leave(&mut self, mark: usize) {
        if let Some(scope) = self.scopes.last_mut() {
            for name in scope.log.drain(mark..) {
                *self.owner.slot(name, |_| false) = 0;
            }
        }
    }

    /// Takes back the names given since the mark, for as long as the regions of their operation last.
    pub(super) fn suspend(&mut self, mark: usize) -> Vec<Name> {
        let taken: Vec<Name> = self.scopes.last().map_or(Vec::new(), |s| s.log[mark..].to_vec());
        self.leave(mark);
        taken
    }

    /// Gives names that were taken back out again.
    pub(super) fn resume(&mut self, taken: Vec<Name>) {
        for name in taken {
            self.claim(name);
        }
    }

    fn claim(&mut self, name: Name) -> bool {
        let Some(scope) = self.scopes.last_mut() else {
            return true;
        };
        let owner = self.owner.slot(name, |_| false);
        if *owner == scope.number {
            return false;
        }
        if *owner != 0 {
            scope.hidden.push((name, *owner));
        }
        *owner = scope.number;
        scope.log.push(name);
        true
    }

    fn unique(&mut self, ctx: &Context, base: Name) -> Name {
        let base = match self.mlir && ctx.is_digits_and_more(base) {
            true => ctx.name(&format!("v{}", ctx.name_text(base))),
            false => base,
        };
        if self.claim(base) {
            return base;
        }
        let (word, number) = ctx.name_parts(base);
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        text.push_str(word);
        if let Some(number) = number {
            push_int(&mut text, number.into());
        }
        // A name that begins with a digit is a number, in MLIR.
        if text.starts_with(|c: char| c.is_ascii_digit()) {
            text.insert(0, 'v');
        }
        text.push('_');
        let stem = text.len();
        let hint = |this: &Self| this.scopes.last().and_then(|s| s.hints.get(&base).copied());
        let mut suffix = hint(self).unwrap_or(1);
        loop {
            text.truncate(stem);
            push_int(&mut text, suffix.into());
            let name = ctx.name(&text);
            suffix += 1;
            if self.claim(name) {
                self.text = text;
                if let Some(scope) = self.scopes.last_mut() {
                    scope.hints.insert(base, suffix);
                }
                return name;
            }
        }
    }

    /// The numbers from which on nothing is a name already, so that nothing that has a number gets another.
    fn next(&mut self, ctx: &Context, body: &Body) -> Option<&mut Next> {
        let scope = self.scopes.last_mut()?;
        Some(scope.next.get_or_insert_with(|| {
            let mut next = Next { value: 0, arg: 0 };
            for name in body.values.iter().filter_map(|v| v.name()).map(|n| n.name) {
                if let Some(number) = ctx.number_behind(name, "") {
                    next.value = next.value.max(number.saturating_add(1));
                } else if let Some(number) = ctx.number_behind(name, "arg") {
                    next.arg = next.arg.max(number.saturating_add(1));
                }
            }
            next
        }))
    }

    fn set(&mut self, value: ValueId, what: u32, kind: u32) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.printed[value.index()] = Printed { what, kind };
        }
    }

    fn printed(&self, value: ValueId) -> Printed {
        let scope = self.scopes.last();
        scope
            .and_then(|s| s.printed.get(value.index()).copied())
            .unwrap_or_default()
    }

    /// Names a block argument.
    pub(super) fn arg(&mut self, ctx: &Context, body: &Body, value: ValueId) {
        let name = match body.value_name(value) {
            Some(name) => name.name,
            None => {
                let number = self.next(ctx, body).map_or(0, |next| {
                    next.arg += 1;
                    next.arg - 1
                });
                ctx.name(&format!("arg{number}"))
            }
        };
        let name = self.unique(ctx, name);
        self.set(value, name.raw(), NAME);
    }

    /// Names the results of an operation and determines which are together.
    pub(super) fn results(&mut self, ctx: &Context, body: &Body, results: &[ValueId]) -> Groups {
        let groups = groups(body, results);
        for &(first, len) in &groups {
            self.result(ctx, body, first, len);
        }
        groups
    }

    /// Names a group of results.
    pub(super) fn result(&mut self, ctx: &Context, body: &Body, first: ValueId, len: u32) {
        match body.value_name(first) {
            Some(name) => {
                let name = self.unique(ctx, name.name);
                for index in 0..len {
                    let value = ValueId::new(first.index() + index as usize);
                    self.set(value, name.raw(), if len > 1 { ELEMENT + index } else { NAME });
                }
            }
            None => {
                let number = self.next(ctx, body).map_or(0, |next| {
                    next.value += 1;
                    next.value - 1
                });
                self.set(first, number, NUMBER);
            }
        }
    }

    /// Whether the value has a name.
    pub(super) fn has(&self, value: ValueId) -> bool {
        self.printed(value).kind != UNSET
    }

    /// Writes a use of a value.
    #[inline(always)]
    pub(super) fn write(&self, ctx: &Context, out: &mut String, value: ValueId) {
        let printed = self.printed(value);
        match printed.kind {
            NAME => ctx.push_name(out, Name::from_raw(printed.what)),
            _ => Self::write_other(ctx, out, value, printed),
        }
    }

    /// Writes a use of a value that is not written as a name alone.
    fn write_other(ctx: &Context, out: &mut String, value: ValueId, Printed { what, kind }: Printed) {
        match kind {
            UNSET => {
                // Only in messages about operations outside of what is printed, and in broken programs.
                out.push_str("%<<");
                push_int(out, value.index() as i128);
                out.push_str(">>");
            }
            NUMBER => {
                out.push('%');
                push_int(out, i128::from(what));
            }
            NAME => ctx.push_name(out, Name::from_raw(what)),
            _ => {
                ctx.push_name(out, Name::from_raw(what));
                out.push('#');
                push_int(out, i128::from(kind - ELEMENT));
            }
        }
    }

    /// Whether a value that is defined in the block is used before that, be it deep inside of operations in front of it.
    pub(super) fn is_used_ahead(&mut self, body: &Body, block: BlockId) -> bool {
        let Some(scope) = self.scopes.last_mut() else {
            return false;
        };
        scope.ahead.get_or_insert_with(|| used_ahead(body)).contains(&block)
    }

    /// Writes the names of a group of results where they are defined.
    pub(super) fn write_group(&self, ctx: &Context, out: &mut String, first: ValueId, len: u32) {
        let Printed { what, kind } = self.printed(first);
        if kind < ELEMENT {
            return self.write(ctx, out, first);
        }
        ctx.push_name(out, Name::from_raw(what));
        out.push(':');
        push_int(out, i128::from(len));
    }

    /// Numbers a block without a label.
    pub(super) fn number_block(&mut self, block: BlockId, number: usize) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.labels.entry(block).or_insert(number);
        }
    }

    /// Records the edges between the blocks of a region.
    pub(super) fn add_edges(&mut self, body: &Body, blocks: &[BlockId]) {
        let Some(scope) = self.scopes.last_mut() else { return };
        for &block in blocks {
            for successor in body.last_op(block).map_or(&[][..], |op| body.successors(op)) {
                scope.predecessors.entry(successor.block).or_default().push(block);
            }
        }
    }

    /// The blocks that branch to a block, once for each time, in their order.
    pub(super) fn predecessors(&self, block: BlockId) -> SmallVec<[BlockId; 2]> {
        let scope = self.scopes.last();
        scope
            .and_then(|s| s.predecessors.get(&block).cloned())
            .unwrap_or_default()
    }

    /// Whether a block has a number, also in place of a label that another block has, too.
    pub(super) fn is_numbered(&self, block: BlockId) -> bool {
        self.scopes.last().is_some_and(|s| s.labels.contains_key(&block))
    }

    /// The number of a block that has no label.
    pub(super) fn block_number(&self, block: BlockId) -> usize {
        let scope = self.scopes.last();
        scope.and_then(|s| s.labels.get(&block).copied()).unwrap_or(0)
    }
}

/// The blocks with values that are used before they are defined, or inside of the operation that defines them.
fn used_ahead(body: &Body) -> FxHashSet<BlockId> {
    // For each operation whether all of it has been met.
    let mut is_over = vec![false; body.num_op_slots()];
    let mut open: Vec<OpId> = Vec::new();
    let mut blocks = FxHashSet::default();
    for op in body.walk_all() {
        if !open.is_empty() {
            let parent = body.parent_op(op);
            while let Some(inner) = open.pop_if(|inner| Some(*inner) != parent) {
                is_over[inner.index()] = true;
            }
        }
        for def in body.operands(op).filter_map(|value| body.defining_op(value)) {
            if !is_over[def.index()] {
                blocks.extend(body.op_block(def));
            }
        }
        match body.extra(op) {
            Some(_) => open.push(op),
            None => is_over[op.index()] = true,
        }
    }
    blocks
}

/// Results in the groups in which they are named.
pub(super) fn groups(body: &Body, results: &[ValueId]) -> Groups {
    let mut groups = Groups::new();
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
