//! The scopes of the graph in which nodes are created, the values visible in them, and their order.

use pir_dialects::{df, pd};
use pir_ir::{AttrDict, Body, Context, OpId, OpSpec, Rewriter, Span, Type, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};

/// A resource, whose operations are ordered: the world, or a class of stacks.
pub(super) type Resource = u32;

/// The world outside of the program.
pub(super) const WORLD: Resource = u32::MAX;

/// Identifies a visible item: a value of the program by its number, or a stack of the graph, numbered after these.
pub(super) type Key = usize;

/// The number of a scope.
pub(super) type ScopeId = u32;

/// The kind of a scope.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// The scope outside of all loops and branches.
    Root,
    /// A side of a choice: 0 is the one taken when the predicate is false.
    Branch(u32, usize),
    /// The condition of a loop, with its frame.
    Frame(u32),
    /// The body of a loop, in the frame of the condition.
    Body(u32),
}

/// The nodes that must have run before the next operation on a resource.
#[derive(Clone, Default, Debug)]
pub(super) struct Order {
    /// The nodes that every operation waits for.
    base: SmallVec<[ValueId; 2]>,
    /// Operations that need not wait for each other.
    since: SmallVec<[ValueId; 2]>,
    /// Whether there was an operation in this scope.
    pub(super) touched: bool,
}

impl Order {
    /// Makes the next operation wait for `nodes`.
    pub(super) fn after(nodes: impl IntoIterator<Item = ValueId>) -> Self {
        Order {
            base: nodes.into_iter().collect(),
            ..Order::default()
        }
    }

    /// The nodes that an operation after all others waits for.
    fn pending(&self) -> &[ValueId] {
        if self.since.is_empty() { &self.base } else { &self.since }
    }
}

pub(super) struct Scope {
    pub(super) parent: Option<ScopeId>,
    pub(super) kind: Kind,
    /// A value that exists if and only if the scope runs.
    pub(super) pivot: Option<ValueId>,
}

/// A predicate, and the scopes of its two sides.
pub(super) struct Choice {
    pub(super) pred: ValueId,
    pub(super) scopes: [ScopeId; 2],
    /// The sides of a switch of the predicate itself.
    sides: Option<[ValueId; 2]>,
}

/// A frame, and what it is entered by.
pub(super) struct FrameInfo {
    pub(super) name: String,
    /// The value that the condition switches last: on the side on which the loop continues.
    pub(super) goes_on: Option<ValueId>,
    pub(super) loop_cond: Option<ValueId>,
}

/// The graph that is being made.
pub(super) struct Builder<'a> {
    pub(super) ctx: &'a Context,
    pub(super) body: Body,
    block: pir_ir::BlockId,
    pub(super) scopes: Vec<Scope>,
    pub(super) choices: Vec<Choice>,
    pub(super) frames: Vec<FrameInfo>,
    pub(super) parallel_iterations: Option<i64>,
    orders: FxHashMap<(ScopeId, Resource), Order>,
    /// The scope and the value in which each item has been defined.
    homes: Vec<Option<(ScopeId, ValueId)>>,
    /// The counterparts of outer items in a scope.
    captures: FxHashMap<(ScopeId, Key), ValueId>,
    /// The first key that is a stack.
    first_stack: Key,
    /// Values that are there in every iteration, the one included in which the loop ends.
    constant: FxHashSet<ValueId>,
    /// The span of the operation being lowered.
    pub(super) span: Span,
}

/// The scope that everything is in.
pub(super) const ROOT: ScopeId = 0;

impl<'a> Builder<'a> {
    pub(super) fn new(ctx: &'a Context, values: usize, stacks: usize) -> Self {
        let mut body = Body::new();
        let block = body.create_block(body.root());
        Builder {
            ctx,
            body,
            block,
            scopes: vec![Scope {
                parent: None,
                kind: Kind::Root,
                pivot: None,
            }],
            orders: FxHashMap::default(),
            choices: Vec::new(),
            frames: Vec::new(),
            parallel_iterations: None,
            homes: vec![None; values + stacks],
            captures: FxHashMap::default(),
            first_stack: values,
            constant: FxHashSet::default(),
            span: Span::default(),
        }
    }

    /// The key of a stack.
    pub(super) fn stack_key(&self, stack: usize) -> Key {
        self.first_stack + stack
    }

    fn scope(&self, id: ScopeId) -> &Scope {
        &self.scopes[id as usize]
    }

    pub(super) fn add_scope(&mut self, parent: ScopeId, kind: Kind) -> ScopeId {
        self.scopes.push(Scope {
            parent: Some(parent),
            kind,
            pivot: None,
        });
        self.scopes.len() as ScopeId - 1
    }

    /// Makes a node as it is.
    pub(super) fn raw(&mut self, name: &str, operands: &[ValueId], results: &[Type], attrs: AttrDict) -> OpId {
        let op = self.body.create_op(OpSpec {
            name: self.ctx.op_name(name),
            operands,
            results,
            attrs,
            regions: &[],
            successors: &[],
            span: self.span,
        });
        self.body.append_op(self.block, op);
        op
    }

    /// Makes a node that runs if and only if the scope does, and after `after`.
    pub(super) fn node_after(
        &mut self,
        scope: ScopeId,
        name: &str,
        operands: &[ValueId],
        results: &[Type],
        attrs: AttrDict,
        after: &[ValueId],
    ) -> OpId {
        let free = operands.iter().all(|v| self.constant.contains(v));
        let pivot = if free && !results.is_empty() {
            self.pivot(scope)
        } else {
            None
        };
        let op = self.raw(name, operands, results, attrs);
        let mut edges: SmallVec<[ValueId; 4]> = smallvec![];
        // An operand needs no further edge.
        edges.extend(pivot);
        edges.extend(
            after
                .iter()
                .filter(|v| Some(**v) != pivot && !operands.contains(v))
                .copied(),
        );
        if let (Some(to), false) = (self.body.results(op).next(), edges.is_empty()) {
            edges.insert(0, to);
            self.raw(df::CONTROL, &edges, &[], AttrDict::EMPTY);
        }
        op
    }

    /// Makes a node that runs if and only if the scope does.
    pub(super) fn node(
        &mut self,
        scope: ScopeId,
        name: &str,
        operands: &[ValueId],
        results: &[Type],
        attrs: AttrDict,
    ) -> OpId {
        self.node_after(scope, name, operands, results, attrs, &[])
    }

    /// Makes a node that hands a value on.
    pub(super) fn pass(&mut self, scope: ScopeId, name: &str, value: ValueId, after: &[ValueId]) -> ValueId {
        let ty = self.body.value_type(value);
        let op = self.node_after(scope, name, &[value], &[ty], AttrDict::EMPTY, after);
        self.body.result(op, 0)
    }

    /// A whole number.
    pub(super) fn number(&mut self, scope: ScopeId, value: i64) -> ValueId {
        let ctx = self.ctx;
        let attrs = ctx.dict(&[
            (ctx.sym("shape"), ctx.ints_attr(&[])),
            (ctx.sym("value"), ctx.int_attr(value)),
            (ctx.sym("dtype"), ctx.type_attr(Type::I64)),
        ]);
        let op = self.node(scope, pd::Full::NAME, &[], &[ctx.tensor(&[], Type::I64)], attrs);
        self.body.result(op, 0)
    }

    pub(super) fn name(&mut self, value: ValueId, text: &str) {
        Rewriter::new(self.ctx, &mut self.body).name(value, text);
    }

    /// A value that exists if and only if a scope runs.
    pub(super) fn pivot(&mut self, scope: ScopeId) -> Option<ValueId> {
        if let Some(pivot) = self.scope(scope).pivot {
            return Some(pivot);
        }
        let from = match self.scope(scope).kind {
            Kind::Root | Kind::Frame(_) => return None,
            Kind::Branch(choice, side) => self.sides(choice)[side],
            Kind::Body(frame) => match self.frames[frame as usize].goes_on {
                Some(value) => value,
                None => {
                    let cond = self.frames[frame as usize].loop_cond?;
                    let ty = self.body.value_type(cond);
                    let switch = self.raw(df::SWITCH, &[cond, cond], &[ty, ty], AttrDict::EMPTY);
                    self.body.result(switch, 1)
                }
            },
        };
        let pivot = self.pass(scope, df::IDENTITY, from, &[]);
        self.name(pivot, "pivot");
        self.scopes[scope as usize].pivot = Some(pivot);
        Some(pivot)
    }

    /// The sides of a switch of a predicate by itself.
    pub(super) fn sides(&mut self, choice: u32) -> [ValueId; 2] {
        let Choice { pred, sides, .. } = self.choices[choice as usize];
        if let Some(sides) = sides {
            return sides;
        }
        let ty = self.body.value_type(pred);
        let switch = self.raw(df::SWITCH, &[pred, pred], &[ty, ty], AttrDict::EMPTY);
        let sides = [0, 1].map(|at| self.body.result(switch, at));
        self.choices[choice as usize].sides = Some(sides);
        sides
    }

    /// Starts a choice between two scopes.
    pub(super) fn choose(&mut self, scope: ScopeId, condition: ValueId) -> u32 {
        let choice = self.choices.len() as u32;
        // A separate node, so that two branches on one condition are distinguished.
        let pred = self.pass(scope, df::IDENTITY, condition, &[]);
        self.name(pred, "pred");
        let scopes = [0, 1].map(|side| self.add_scope(scope, Kind::Branch(choice, side)));
        self.choices.push(Choice {
            pred,
            scopes,
            sides: None,
        });
        choice
    }

    pub(super) fn define(&mut self, key: Key, scope: ScopeId, value: ValueId) {
        if let Some(home) = self.homes.get_mut(key) {
            *home = Some((scope, value));
        }
    }

    /// The counterpart of an item in a scope: brought in through a switch for each enclosing branch, and a constant
    /// enter for each frame. Items without meaning in the graph (the stack of a branch) are zeros.
    pub(super) fn resolve(&mut self, key: Key, scope: ScopeId) -> ValueId {
        let home = self.homes.get(key).copied().flatten();
        let (home, defined) = match home {
            Some(home) => home,
            None => {
                let zero = self.number(ROOT, 0);
                self.define(key, ROOT, zero);
                (ROOT, zero)
            }
        };
        let mut path: SmallVec<[ScopeId; 8]> = smallvec![];
        let mut at = scope;
        let mut value = loop {
            if at == home {
                break defined;
            }
            if let Some(&value) = self.captures.get(&(at, key)) {
                break value;
            }
            path.push(at);
            match self.scope(at).parent {
                Some(parent) => at = parent,
                None => break defined,
            }
        };
        for &scope in path.iter().rev() {
            value = self.bring_in(key, value, scope);
            self.captures.insert((scope, key), value);
        }
        value
    }

    /// Brings an item from the enclosing scope into this one.
    fn bring_in(&mut self, key: Key, value: ValueId, scope: ScopeId) -> ValueId {
        let Some(parent) = self.scope(scope).parent else {
            return value;
        };
        match self.scope(scope).kind {
            Kind::Root | Kind::Body(_) => value,
            Kind::Branch(..) if key >= self.first_stack => value,
            Kind::Branch(choice, side) => {
                let Choice { pred, scopes, .. } = self.choices[choice as usize];
                let ty = self.body.value_type(value);
                let switch = self.node(parent, df::SWITCH, &[value, pred], &[ty, ty], AttrDict::EMPTY);
                let sides = [0, 1].map(|at| self.body.result(switch, at));
                self.captures.insert((scopes[1 - side], key), sides[1 - side]);
                sides[side]
            }
            Kind::Frame(frame) => {
                let inner = self.enter(parent, frame, value, true, &[]);
                if let Some(name) = self.body.value_name(value) {
                    let name = pir_ir::ValueName { pack: false, ..name };
                    self.body.set_value_name(inner, Some(name));
                }
                inner
            }
        }
    }

    /// Hands a value of a scope on to a frame.
    pub(super) fn enter(
        &mut self,
        scope: ScopeId,
        frame: u32,
        value: ValueId,
        constant: bool,
        after: &[ValueId],
    ) -> ValueId {
        let ctx = self.ctx;
        let mut attrs: SmallVec<[_; 3]> =
            smallvec![(ctx.sym("frame"), ctx.str_attr(&self.frames[frame as usize].name))];
        if constant {
            attrs.push((ctx.sym("constant"), ctx.bool_attr(true)));
        }
        if let Some(count) = self.parallel_iterations {
            attrs.push((ctx.sym("parallel_iterations"), ctx.int_attr(count)));
        }
        let ty = self.body.value_type(value);
        let op = self.node_after(scope, df::ENTER, &[value], &[ty], ctx.dict(&attrs), after);
        let inner = self.body.result(op, 0);
        if constant {
            self.constant.insert(inner);
        }
        inner
    }

    /// A stack: it is there in every iteration of every loop.
    pub(super) fn stack(&mut self, stack: usize) -> ValueId {
        let ty = df::stack_type(self.ctx);
        let op = self.raw(df::STACK, &[], &[ty], AttrDict::EMPTY);
        let value = self.body.result(op, 0);
        self.constant.insert(value);
        let key = self.stack_key(stack);
        self.define(key, ROOT, value);
        value
    }

    // ----- order -----

    fn order(&mut self, scope: ScopeId, resource: Resource) -> &mut Order {
        self.orders.entry((scope, resource)).or_default()
    }

    /// The nodes that an operation after all others on a resource waits for.
    pub(super) fn pending(&mut self, scope: ScopeId, resource: Resource) -> SmallVec<[ValueId; 2]> {
        self.order(scope, resource).pending().into()
    }

    /// The nodes that an operation waits for if it need not wait for others like it.
    pub(super) fn base(&mut self, scope: ScopeId, resource: Resource) -> SmallVec<[ValueId; 2]> {
        self.order(scope, resource).base.clone()
    }

    /// Notes an operation that others like it need not wait for.
    pub(super) fn note(&mut self, scope: ScopeId, resource: Resource, node: ValueId) {
        let order = self.order(scope, resource);
        order.since.push(node);
        order.touched = true;
    }

    /// Makes the next operation on a resource wait for this node alone.
    pub(super) fn advance(&mut self, scope: ScopeId, resource: Resource, node: ValueId) {
        let order = self.order(scope, resource);
        (order.base, order.since) = (smallvec![node], smallvec![]);
        order.touched = true;
    }

    /// Lets a scope start with an order.
    pub(super) fn start(&mut self, scope: ScopeId, resource: Resource, order: Order) {
        *self.order(scope, resource) = order;
    }

    /// Whether there was an operation on a resource in a scope.
    pub(super) fn touched(&mut self, scope: ScopeId, resource: Resource) -> bool {
        self.order(scope, resource).touched
    }
}
