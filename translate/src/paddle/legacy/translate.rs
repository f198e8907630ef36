//! Translates mutable variables to SSA values.
//!
//! A loop carries the outer variables that its block writes. A branch is a pair of `conditional_block`s, on a condition
//! and its negation, between whose variables `select_input` selects: it becomes one `pd.if` that yields the selected
//! variables and those that both sides write. An `assign` creates no operation: the name is bound to the value.

mod regions;

use pir_dialects::{cf, pd};
use rustc_hash::{FxHashMap, FxHashSet};

use smallvec::SmallVec;

use pir_ir::{DYNAMIC, Diagnostic, OpId, RegionId, Span, Type};

use super::defaults;
use super::pairs::Pairs;
use super::{Block, Op, Var, error};
use crate::paddle::build::{Builder, SourceId, SourceOp, identifier};

/// Stop after this many errors.
const MOST_ERRORS: usize = 50;

/// The binding of a name.
#[derive(Clone, Copy)]
enum Bound {
    Value(SourceId),
    /// The condition of a finished loop: false.
    Ended,
}

/// A result of a branch: the variable, and its values at the end of the two blocks.
#[derive(Clone)]
struct BranchResult<'t> {
    out: &'t str,
    names: [&'t str; 2],
    id: SourceId,
}

/// A branch in translation.
struct Branch<'t> {
    op: Option<OpId>,
    slots: Vec<BranchResult<'t>>,
    /// The `else` block and its region, while the first block is being translated.
    otherwise: Option<(Option<usize>, RegionId)>,
    /// The types at the end of the first block.
    types: Vec<Type>,
}

enum BlockKind<'t> {
    Top,
    Loop {
        condition: &'t str,
        carried: Vec<&'t str>,
        results: Vec<SourceId>,
    },
    Branch(Branch<'t>),
}

struct BlockFrame<'t> {
    /// The block, and the index of its next operation.
    block: Option<usize>,
    at: usize,
    pairs: Pairs<'t>,
    kind: BlockKind<'t>,
    /// The outer bindings of names that are rebound inside.
    hidden: Vec<(&'t str, Option<Bound>)>,
    /// The same for declarations.
    covered: Vec<(&'t str, Option<&'t Var>)>,
    span: Span,
}

pub(super) struct Translator<'t, 'b, 'c> {
    pub(super) builder: &'b mut Builder<'c>,
    pub(super) blocks: &'t [Block],
    vars: Vec<FxHashMap<&'t str, &'t Var>>,
    /// The outer variables that each block writes.
    written: Vec<Vec<&'t str>>,
    /// The variables that are used other than as a condition or by a selection.
    read: FxHashSet<&'t str>,
    names: FxHashMap<&'t str, Bound>,
    /// The declarations in scope.
    visible: FxHashMap<&'t str, &'t Var>,
    frames: Vec<BlockFrame<'t>>,
    next: SourceId,
    /// The top-level variables that were not read since they were last written, with the time of the write.
    unread: FxHashMap<&'t str, usize>,
    writes: usize,
    pub(super) fetches: bool,
}

/// Translates a program into operations of the builder.
pub(super) fn translate(builder: &mut Builder<'_>, blocks: &[Block]) {
    let vars = blocks
        .iter()
        .map(|b| b.vars.iter().map(|v| (v.name.as_str(), v)).collect())
        .collect();
    let mut translator = Translator {
        builder,
        blocks,
        vars,
        written: Vec::new(),
        read: FxHashSet::default(),
        names: FxHashMap::default(),
        visible: blocks
            .iter()
            .take(1)
            .flat_map(|b| &b.vars)
            .map(|v| (v.name.as_str(), v))
            .collect(),
        frames: Vec::new(),
        next: 1,
        unread: FxHashMap::default(),
        writes: 0,
        fetches: false,
    };
    if let Err(error) = translator.program() {
        translator.builder.errors.push(error);
    }
}

pub(super) type Done = Result<(), Diagnostic>;

impl<'t> Translator<'t, '_, '_> {
    fn program(&mut self) -> Done {
        if self.blocks.is_empty() {
            return Err(error(Span::default(), "the program has no blocks"));
        }
        self.find_written()?;
        self.inputs()?;
        self.enter(Some(0), BlockKind::Top, Span::default());
        self.make_arrays();
        while let Some(frame) = self.frames.last_mut() {
            let block = frame.block.and_then(|b| self.blocks.get(b));
            match block.and_then(|b| b.ops.get(frame.at)) {
                Some(op) => {
                    let at = frame.at;
                    frame.at += 1;
                    if !frame.pairs.done.contains(&at)
                        && let Err(error) = self.op(op, at)
                    {
                        self.lose(op, error)?;
                    }
                }
                None => self.leave()?,
            }
        }
        if !self.fetches {
            self.fetch_unread();
        }
        Ok(())
    }

    /// Continues after an operation that cannot be read: its results are poisoned, so that the error is not repeated.
    /// After an operation with a block, translation stops.
    fn lose(&mut self, op: &'t Op, error: Diagnostic) -> Done {
        if op.sub_block().is_some() || self.builder.errors.len() >= MOST_ERRORS {
            return Err(error);
        }
        self.builder.errors.push(error);
        for name in op.outputs.iter().flat_map(|(_, names)| names) {
            let id = self.fresh();
            self.builder.poison(id);
            self.bind(name, id);
        }
        Ok(())
    }

    /// Finds the outer variables that each block writes: those that it does not declare itself.
    fn find_written(&mut self) -> Done {
        self.written = vec![Vec::new(); self.blocks.len()];
        for op in self.blocks.iter().flat_map(|b| &b.ops) {
            let chooses = |name: &str| {
                matches!(
                    (op.kind.as_str(), name),
                    ("conditional_block", "Cond") | ("select_input", "Mask")
                )
            };
            let read = op
                .inputs
                .iter()
                .filter(|(name, _)| !chooses(name))
                .flat_map(|(_, names)| names);
            self.read.extend(read.map(String::as_str));
        }
        for (index, block) in self.blocks.iter().enumerate().rev() {
            let mut seen: FxHashSet<&str> = FxHashSet::default();
            let mut found = Vec::new();
            for op in &block.ops {
                let inner = match op.sub_block() {
                    // A block comes after its parent; anything else could be cyclic.
                    Some(sub) if sub <= index || sub >= self.blocks.len() => {
                        return Err(error(op.span, format!("`{}` has no block", op.kind)));
                    }
                    Some(sub) => self.written[sub].as_slice(),
                    None => &[],
                };
                let own = op.outputs.iter().flat_map(|(_, names)| names).map(String::as_str);
                for name in own.chain(inner.iter().copied()) {
                    if !self.vars[index].contains_key(name) && seen.insert(name) {
                        found.push(name);
                    }
                }
            }
            self.written[index] = found;
        }
        Ok(())
    }

    /// Parameters, and inputs that no operation feeds.
    fn inputs(&mut self) -> Done {
        let feeds = |op: &&Op| op.kind != "feed" && op.kind != "fetch";
        let ops = || self.blocks.iter().flat_map(|b| &b.ops);
        let read: FxHashSet<&str> = ops()
            .filter(feeds)
            .flat_map(|op| &op.inputs)
            .flat_map(|(_, names)| names)
            .map(String::as_str)
            .collect();
        let written: FxHashSet<&str> = ops()
            .flat_map(|op| &op.outputs)
            .flat_map(|(_, names)| names)
            .map(String::as_str)
            .collect();
        let blocks = self.blocks;
        for var in blocks.iter().take(1).flat_map(|b| &b.vars) {
            let name = var.name.as_str();
            if (read.contains(name) && !written.contains(name))
                || (var.persistable && (read.contains(name) || written.contains(name)))
            {
                self.input(var, var.persistable)?;
            }
        }
        Ok(())
    }

    /// Adds a parameter or an input.
    fn input(&mut self, var: &'t Var, parameter: bool) -> Done {
        let ctx = self.builder.ctx;
        let Some((shape, elem)) = &var.tensor else {
            return Ok(());
        };
        let shape: Vec<i64> = shape.iter().map(|&d| if d < 0 { DYNAMIC } else { d }).collect();
        let mut attrs = vec![(ctx.sym("name"), ctx.str_attr(&var.name))];
        if !parameter {
            attrs.push((ctx.sym("shape"), ctx.ints_attr(&shape)));
            attrs.push((ctx.sym("dtype"), ctx.type_attr(*elem)));
        }
        if var.stop_gradient {
            attrs.push((ctx.sym("stop_gradient"), ctx.bool_attr(true)));
        }
        let name = if parameter { pd::Parameter::NAME } else { pd::Data::NAME };
        let ids = self.emit(name, &[], &[ctx.tensor(&shape, *elem)], attrs, var.span);
        self.names.insert(&var.name, Bound::Value(ids[0]));
        Ok(())
    }

    /// Fetches unread variables, of a program without `fetch`.
    fn fetch_unread(&mut self) {
        let ctx = self.builder.ctx;
        let mut unread: Vec<(usize, &str)> = self.unread.iter().map(|(&name, &at)| (at, name)).collect();
        unread.sort_unstable();
        for (at, (_, name)) in unread.into_iter().enumerate() {
            if let Some(Bound::Value(id)) = self.names.get(name).copied() {
                let attrs = vec![
                    (ctx.sym("name"), ctx.str_attr(name)),
                    (ctx.sym("col"), ctx.int_attr(at as i64)),
                ];
                self.emit(pd::Fetch::NAME, &[id], &[], attrs, Span::default());
            }
        }
    }

    // ----- names -----

    pub(super) fn fresh(&mut self) -> SourceId {
        self.next += 1;
        self.next - 1
    }

    /// Binds a name to a value in the current block.
    pub(super) fn bind(&mut self, name: &'t str, id: SourceId) {
        let id = self.keep(name, id);
        self.bind_to(name, Bound::Value(id));
        if self.frames.len() == 1 {
            self.writes += 1;
            self.unread.insert(name, self.writes);
        }
        self.builder.name_value(id, &identifier(name));
    }

    /// Writes a persistable variable back outside of loops and branches: its value is kept for the next run.
    fn keep(&mut self, name: &'t str, id: SourceId) -> SourceId {
        let Some(&Bound::Value(old)) = self.names.get(name).filter(|_| self.frames.len() == 1) else {
            return id;
        };
        let persistable = self
            .vars
            .first()
            .and_then(|vars| vars.get(name))
            .is_some_and(|var| var.persistable);
        if !persistable || old == id || self.builder.is_step(id, old) {
            return id;
        }
        let kept = self.builder.assign_out(id, old);
        let id = self.fresh();
        self.builder.define_if(id, kept);
        id
    }

    fn bind_to(&mut self, name: &'t str, bound: Bound) {
        let old = self.names.insert(name, bound);
        if let Some(frame) = self.frames.last_mut() {
            frame.hidden.push((name, old));
        }
    }

    /// Whether a variable is bound.
    pub(super) fn is_bound(&self, name: &str) -> bool {
        self.names.contains_key(name)
    }

    /// The value of a variable.
    pub(super) fn value(&mut self, name: &'t str, span: Span) -> Result<SourceId, Diagnostic> {
        self.unread.remove(name);
        match self.names.get(name) {
            Some(&Bound::Value(id)) => Ok(id),
            Some(Bound::Ended) => {
                let id = self.full(&[1], 0, Type::I1, span);
                self.bind_to(name, Bound::Value(id));
                Ok(id)
            }
            None => Err(error(span, format!("the variable `{name}` has no value here"))),
        }
    }

    /// The declaration of a variable in scope.
    pub(super) fn declared(&self, name: &str) -> Option<(&'t [i64], Type)> {
        let var = self.visible.get(name)?;
        var.tensor.as_ref().map(|(shape, elem)| (shape.as_slice(), *elem))
    }

    // ----- operations -----

    /// Emits an operation. The types of the results are inferred where possible.
    pub(super) fn emit(
        &mut self,
        name: &str,
        operands: &[SourceId],
        types: &[Type],
        attrs: Vec<(pir_ir::Sym, pir_ir::Attr)>,
        span: Span,
    ) -> Vec<SourceId> {
        let ids: Vec<SourceId> = types.iter().map(|_| self.fresh()).collect();
        self.emit_as(name, operands, &ids, types, attrs, 0, span);
        self.builder.infer_last();
        ids
    }

    #[expect(clippy::too_many_arguments, reason = "an operation has that many parts")]
    fn emit_as(
        &mut self,
        name: &str,
        operands: &[SourceId],
        ids: &[SourceId],
        types: &[Type],
        attrs: Vec<(pir_ir::Sym, pir_ir::Attr)>,
        regions: usize,
        span: Span,
    ) -> Vec<RegionId> {
        let source = SourceOp {
            name: name.to_owned(),
            operands: operands.into(),
            results: ids.iter().copied().zip(types.iter().copied().map(Some)).collect(),
            attrs,
            regions,
            stops: SmallVec::new(),
            span,
        };
        self.builder.op(source).to_vec()
    }

    pub(super) fn full(&mut self, shape: &[i64], value: i64, elem: Type, span: Span) -> SourceId {
        let ctx = self.builder.ctx;
        let attrs = vec![
            (ctx.sym("shape"), ctx.ints_attr(shape)),
            (ctx.sym("value"), ctx.int_attr(value)),
            (ctx.sym("dtype"), ctx.type_attr(elem)),
        ];
        self.emit(pd::Full::NAME, &[], &[ctx.tensor(shape, elem)], attrs, span)[0]
    }

    fn terminate(&mut self, values: &[SourceId], span: Span) {
        self.emit_as(cf::YIELD, values, &[], &[], Vec::new(), 0, span);
        self.builder.leave();
    }

    fn op(&mut self, op: &'t Op, at: usize) -> Done {
        match op.kind.as_str() {
            "while" => self.open_loop(op),
            "conditional_block" => self.open_branch(op, at),
            "select_input" => Err(error(
                op.span,
                "a `select_input` that does not select between two `conditional_block`s",
            )),
            "feed" => {
                let names = op.outputs("Out").iter();
                let vars: Vec<&Var> = names.filter_map(|n| self.vars[0].get(n.as_str()).copied()).collect();
                vars.into_iter().try_for_each(|var| self.input(var, false))
            }
            _ => self.ordinary(op),
        }?;
        self.builder.errors.extend(defaults::unread(op));
        Ok(())
    }
}
