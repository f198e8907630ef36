//! Derivatives through buffers: `memref.load`, `memref.store` and `memref.copy`.
//!
//! A buffer that the derivative passes through has a *shadow*, a buffer of the same type with the cotangents of its elements. The adjoint of
//! `v = load b[i]` adds the cotangent of `v` to that of the element, the adjoint of `store v, b[i]` takes that of the element for `v` and
//! leaves zero, since what was there before is overwritten. What a formula reads of a buffer is the value that was loaded, which is recorded
//! like others: so nothing has to be restored when it is overwritten.
//!
//! The shadow of a buffer that a block allocates is made at the start of the adjoint of the block, with zeros. That of an argument is an
//! argument after those of the function: it begins with the cotangents of what the function leaves in the buffer, and ends with those of what
//! was there before.
//!
//! The shadow of a view of a buffer, or of one of two that `arith.select` chooses, is the same view or choice of shadows.
//!
//! Which buffer a load or a store is of has to be certain: what gives buffers other names in another way is refused, and what is not made by
//! `memref.alloc`, `memref.alloca` or is an argument. Arguments may be the same buffer, if their shadows are.

use pir_dialects::func;
use pir_dialects::mlir::{arith, memref, sizes};
use pir_ir::{Arith, Body, Context, Diagnostic, OpId, Rewriter, Type, TypeData, Use, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::elements::{each_element, number};
use super::functions::adjoint_of_call;
use super::naming::spelled;

/// An access of an element of a buffer, or of all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Access {
    Load,
    Store,
    Copy,
}

/// Buffers between which elements are copied.
#[derive(Default, Debug)]
struct Group {
    roots: Vec<ValueId>,
    loads: Vec<OpId>,
    stores: Vec<OpId>,
    copies: Vec<OpId>,
    /// Calls whose adjoints take the shadows.
    calls: Vec<OpId>,
    /// It has an argument, or is an argument of a call: there are accesses elsewhere.
    outside: bool,
    varied: bool,
    useful: bool,
}

/// The buffers of floats of a body, as far as it is certain which they are.
#[derive(Default, Debug)]
pub(crate) struct Memory {
    group_of: FxHashMap<ValueId, usize>,
    groups: Vec<Group>,
    /// Operations that alias a buffer, or whose effect on it is unknown.
    strangers: FxHashMap<ValueId, OpId>,
    /// The operations around active accesses.
    around: FxHashSet<OpId>,
}

/// Whether a type is a buffer of floats.
pub(crate) fn is_buffer(ctx: &Context, ty: Type) -> bool {
    matches!(ctx.type_data(ty), TypeData::MemRef { elem, .. } if ctx.is_float(*elem))
}

/// The arguments of a body that are buffers of floats.
pub(crate) fn buffer_arguments(ctx: &Context, body: &Body) -> Vec<ValueId> {
    let entry = body.entry_block(body.root());
    let args = entry
        .into_iter()
        .flat_map(|entry| body.block_args(entry).iter().copied());
    args.filter(|&v| is_buffer(ctx, body.value_type(v))).collect()
}

/// The access of an operation, and which operand is the buffer.
fn access(ctx: &Context, body: &Body, op: OpId) -> Option<(Access, usize)> {
    match ctx.op_str(body.op_name(op)) {
        memref::Load::NAME => Some((Access::Load, 0)),
        memref::Store::NAME => Some((Access::Store, 1)),
        memref::Copy::NAME => Some((Access::Copy, 0)),
        _ => None,
    }
}

fn is_access(ctx: &Context, body: &Body, op: OpId, what: Access) -> bool {
    access(ctx, body, op).is_some_and(|(access, _)| access == what)
}

/// The groups of buffers whose loads, or stores, were reported.
#[derive(Default)]
pub(crate) struct Given(FxHashSet<usize>);

/// The operands that may be the buffer that an operation gives, if it gives one of its operands or a view of it.
pub(crate) fn aliased(ctx: &Context, body: &Body, op: OpId) -> &'static [usize] {
    let of_buffers = body.num_results(op) == 1 && is_buffer(ctx, body.value_type(body.result(op, 0)));
    match ctx.op_str(body.op_name(op)) {
        _ if !of_buffers => &[],
        arith::Select::NAME => &[1, 2],
        memref::Cast::NAME
        | memref::CollapseShape::NAME
        | memref::ExpandShape::NAME
        | memref::ReinterpretCast::NAME
        | memref::Subview::NAME => &[0],
        _ => &[],
    }
}

/// Whether an operation does nothing but make buffers, free them, or read and write their elements.
pub(crate) fn changes_buffers(ctx: &Context, body: &Body, op: OpId) -> bool {
    let name = ctx.op_str(body.op_name(op));
    access(ctx, body, op).is_some()
        || [memref::Alloc::NAME, memref::Alloca::NAME, memref::Dealloc::NAME].contains(&name)
}

/// The operands of a call with an adjoint that are buffers, which the adjoint takes the shadows of.
pub(crate) fn given_to_adjoint(ctx: &Context, body: &Body, op: OpId) -> Vec<ValueId> {
    if adjoint_of_call(ctx, body, op).is_none() {
        return Vec::new();
    }
    let operands = body.operands(op);
    operands.filter(|&v| is_buffer(ctx, body.value_type(v))).collect()
}

/// Whether a body has buffers of floats. Hardly any program has some.
fn has_buffers(ctx: &Context, body: &Body) -> bool {
    let mut before = None;
    (0..body.num_value_slots()).map(ValueId::new).any(|value| {
        let ty = body.value_type(value);
        before.replace(ty) != Some(ty) && is_buffer(ctx, ty)
    })
}

impl Memory {
    pub(crate) fn new(ctx: &Context, body: &Body) -> Self {
        let mut this = Memory::default();
        if !has_buffers(ctx, body) {
            return this;
        }
        for root in buffer_arguments(ctx, body) {
            this.enter(root, true);
        }
        let mut aliases = Vec::new();
        for op in body.walk_all() {
            let name = ctx.op_str(body.op_name(op));
            if [memref::Alloc::NAME, memref::Alloca::NAME].contains(&name)
                && is_buffer(ctx, body.value_type(body.result(op, 0)))
            {
                this.enter(body.result(op, 0), false);
            }
            let of = aliased(ctx, body, op);
            let known = |&at: &usize| this.group_of.contains_key(&body.operand(op, at));
            if !of.is_empty() && of.iter().all(known) {
                this.enter(body.result(op, 0), false);
                aliases.push((op, of));
            }
        }
        for (op, of) in aliases {
            for &at in of {
                let (into, from) = (this.group_of[&body.operand(op, at)], this.group_of[&body.result(op, 0)]);
                this.unite(into, from);
            }
        }
        if this.groups.is_empty() {
            return this;
        }
        let roots: Vec<ValueId> = this.groups.iter().flat_map(|group| group.roots.clone()).collect();
        for &root in &roots {
            for at in body.uses(root).collect::<Vec<_>>() {
                this.enter_use(ctx, body, root, at);
            }
        }
        this
    }

    /// Whether the body has no buffers of floats.
    pub(crate) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    fn enter(&mut self, root: ValueId, outside: bool) {
        self.group_of.insert(root, self.groups.len());
        self.groups.push(Group {
            roots: vec![root],
            outside,
            ..Group::default()
        });
    }

    fn enter_use(&mut self, ctx: &Context, body: &Body, root: ValueId, at: Use) {
        let group = self.group_of[&root];
        match (access(ctx, body, at.op), at.index) {
            (Some((Access::Load, _)), 0) => self.groups[group].loads.push(at.op),
            (Some((Access::Store, _)), 1) => self.groups[group].stores.push(at.op),
            (Some((Access::Copy, _)), index) => {
                let other = self.group_of.get(&body.operand(at.op, 1 - index)).copied();
                match other {
                    Some(other) => self.unite(group, other),
                    None => drop(self.strangers.insert(root, at.op)),
                }
                if index == 0 && other.is_some() {
                    let group = self.group_of[&root];
                    self.groups[group].copies.push(at.op);
                }
            }
            _ if !given_to_adjoint(ctx, body, at.op).is_empty() => {
                self.groups[group].calls.push(at.op);
                self.groups[group].outside = true;
            }
            _ => {
                let name = ctx.op_str(body.op_name(at.op));
                let known_alias =
                    aliased(ctx, body, at.op).contains(&at.index) && self.group_of.contains_key(&body.result(at.op, 0));
                if !known_alias && ![memref::Dealloc::NAME, memref::Dim::NAME, memref::Rank::NAME].contains(&name) {
                    self.strangers.insert(root, at.op);
                }
            }
        }
    }

    fn unite(&mut self, into: usize, from: usize) {
        if into == from {
            return;
        }
        let other = std::mem::take(&mut self.groups[from]);
        for &root in &other.roots {
            self.group_of.insert(root, into);
        }
        let group = &mut self.groups[into];
        group.roots.extend(other.roots);
        group.loads.extend(other.loads);
        group.stores.extend(other.stores);
        group.copies.extend(other.copies);
        group.calls.extend(other.calls);
        group.outside |= other.outside;
    }

    /// The values that may be loaded of what is stored by a use; those of each group of buffers are given once.
    pub(crate) fn loaded_behind(&self, ctx: &Context, body: &Body, at: Use, given: &mut Given) -> Vec<ValueId> {
        if self.groups.is_empty() {
            return Vec::new();
        }
        let stored = at.index == 0 && is_access(ctx, body, at.op, Access::Store);
        let group = stored.then(|| self.group_of.get(&body.operand(at.op, 1))).flatten();
        let group = group.filter(|&&group| given.0.insert(group));
        let loads = group.into_iter().flat_map(|&group| &self.groups[group].loads);
        loads.map(|&load| body.result(load, 0)).collect()
    }

    /// The uses by which may have been stored what a value is loaded of; those of each group of buffers are given once.
    pub(crate) fn stored_before(&self, ctx: &Context, body: &Body, value: ValueId, given: &mut Given) -> Vec<Use> {
        if self.groups.is_empty() {
            return Vec::new();
        }
        let load = body.defining_op(value);
        let load = load.filter(|&op| is_access(ctx, body, op, Access::Load));
        let group = load.and_then(|op| self.group_of.get(&body.operand(op, 0)));
        let group = group.filter(|&&group| given.0.insert(group));
        let stores = group.into_iter().flat_map(|&group| &self.groups[group].stores);
        stores.map(|&op| Use { op, index: 0 }).collect()
    }

    /// The values loaded from the arguments, and the results of calls that take buffers.
    pub(crate) fn inputs(&self, ctx: &Context, body: &Body) -> Vec<ValueId> {
        let groups = self.groups.iter().filter(|group| group.outside);
        let of_group = |group: &Group| {
            let loads = group.loads.iter().map(|&load| body.result(load, 0));
            let calls = group.calls.iter().flat_map(|&call| body.results(call));
            loads
                .chain(calls.filter(|&v| ctx.is_continuous(body.value_type(v))))
                .collect::<Vec<_>>()
        };
        groups.flat_map(of_group).collect()
    }

    /// The values stored to the arguments, and the operands of calls that take buffers.
    pub(crate) fn outputs(&self, ctx: &Context, body: &Body) -> Vec<ValueId> {
        let groups = self.groups.iter().filter(|group| group.outside);
        let of_group = |group: &Group| {
            let stores = group.stores.iter().map(|&store| body.operand(store, 0));
            let calls = group.calls.iter().flat_map(|&call| body.operands(call));
            stores
                .chain(calls.filter(|&v| ctx.is_continuous(body.value_type(v))))
                .collect::<Vec<_>>()
        };
        groups.flat_map(of_group).collect()
    }

    /// Determines which buffers the derivative passes through.
    pub(crate) fn activate(&mut self, body: &Body, varied: impl Fn(ValueId) -> bool, useful: impl Fn(ValueId) -> bool) {
        for group in &mut self.groups {
            group.varied = group.outside || group.stores.iter().any(|&op| varied(body.operand(op, 0)));
            group.useful = group.outside || group.loads.iter().any(|&op| useful(body.result(op, 0)));
            if group.varied && group.useful {
                let allocs = group.roots.iter().filter_map(|&root| body.defining_op(root));
                let accesses = group.loads.iter().chain(&group.stores).chain(&group.copies);
                let ops = accesses.chain(&group.calls).copied();
                for op in ops.chain(allocs) {
                    let mut at = body.parent_op(op);
                    while let Some(parent) = at.filter(|&parent| self.around.insert(parent)) {
                        at = body.parent_op(parent);
                    }
                }
            }
        }
    }

    fn is_active(&self, buffer: ValueId) -> bool {
        let group = self.group_of.get(&buffer).map(|&group| &self.groups[group]);
        group.is_some_and(|group| group.varied && group.useful)
    }

    /// The access of an operation to a buffer that the derivative passes through.
    pub(crate) fn active_access(&self, ctx: &Context, body: &Body, op: OpId) -> Option<Access> {
        if self.groups.is_empty() {
            return None;
        }
        let (access, at) = access(ctx, body, op)?;
        self.is_active(body.operand(op, at)).then_some(access)
    }

    /// Whether an operation is a call whose adjoint takes the shadow of a buffer that the derivative passes through.
    pub(crate) fn active_call(&self, ctx: &Context, body: &Body, op: OpId) -> bool {
        if self.groups.is_empty() {
            return false;
        }
        let buffers = given_to_adjoint(ctx, body, op);
        buffers.into_iter().any(|buffer| self.is_active(buffer))
    }

    /// The buffer that an operation makes, if the derivative passes through it.
    pub(crate) fn makes(&self, ctx: &Context, body: &Body, op: OpId) -> Option<ValueId> {
        self.gives(body, op).filter(|_| aliased(ctx, body, op).is_empty())
    }

    /// The buffer that an operation makes or gives another name, if the derivative passes through it.
    pub(crate) fn gives(&self, body: &Body, op: OpId) -> Option<ValueId> {
        if self.groups.is_empty() {
            return None;
        }
        let mut results = body.results(op);
        let result = results.next().filter(|_| results.next().is_none())?;
        self.is_active(result).then_some(result)
    }

    /// Whether a region of an operation contains such an access.
    pub(crate) fn pass_through(&self, op: OpId) -> bool {
        self.around.contains(&op)
    }

    /// Whether it is known where a store, or a copy, puts what it puts.
    pub(crate) fn is_known(&self, ctx: &Context, body: &Body, op: OpId) -> bool {
        let buffers: &[usize] = match access(ctx, body, op) {
            Some((Access::Store, _)) => &[1],
            Some((Access::Copy, _)) => &[0, 1],
            _ => return false,
        };
        buffers
            .iter()
            .all(|&at| self.group_of.contains_key(&body.operand(op, at)))
    }

    /// Reports buffers that hold values depending on an input, and that an unknown operation accesses.
    pub(crate) fn refusals(&self, ctx: &Context, body: &Body) -> Vec<Diagnostic> {
        let mut errors = Vec::new();
        let mut strangers: Vec<_> = self.strangers.iter().collect();
        strangers.sort_unstable_by_key(|&(_, &op)| op);
        for (&root, &op) in strangers {
            let group = self.group_of.get(&root).map(|&group| &self.groups[group]);
            if group.is_some_and(|group| group.varied) {
                let (name, buffer) = (ctx.op_str(body.op_name(op)), spelled(ctx, body, root));
                let message = format!(
                    "the derivative passes through the buffer {buffer}, and `{name}` may create an alias of it or change it"
                );
                errors.push(
                    Diagnostic::error("no-derivative", message)
                        .label(body.op_span(op), "used here")
                        .help(match func::callee(ctx, body, op) {
                            Some(_) => "recursive functions cannot return such buffers, and their blocks must be loops and branches",
                            None => "access the buffer only with `memref.load`, `memref.store` and `memref.copy`",
                        }),
                );
            }
        }
        errors
    }
}

/// The shadows of buffers, where the adjoint is built.
#[derive(Default)]
pub(crate) struct Shadows(FxHashMap<ValueId, ValueId>);

impl Shadows {
    pub(crate) fn insert(&mut self, buffer: ValueId, shadow: ValueId) {
        self.0.insert(buffer, shadow);
    }

    pub(crate) fn get(&self, buffer: ValueId) -> Option<ValueId> {
        self.0.get(&buffer).copied()
    }
}

/// A buffer of zeros like another one that an operation makes, of the sizes `sizes`.
pub(crate) fn make_shadow(r: &mut Rewriter<'_>, buffer: ValueId, sizes: &[ValueId]) -> Result<ValueId, String> {
    let ctx = r.ctx;
    let TypeData::MemRef {
        shape: Some(shape),
        elem,
        ..
    } = ctx.type_data(r.body.value_type(buffer))
    else {
        return Err("a buffer of unknown rank has no shadow".to_owned());
    };
    let (shape, elem) = (shape.to_vec(), *elem);
    let make = r
        .body
        .defining_op(buffer)
        .ok_or("a buffer that is not created here has no shadow")?;
    if r.body.num_operands(make) != sizes.len() {
        return Err("the layout of a buffer depends on symbols".to_owned());
    }
    let attrs = r.body.attrs(make);
    let ty = r.body.value_type(buffer);
    let shadow = r
        .op(memref::Alloc::NAME)
        .operands(sizes.iter().copied())
        .attrs(attrs)
        .result(ty)
        .value();
    r.name_like(shadow, buffer, "_grad");
    let zero = number(r, elem, 0.0);
    each_element(r, &shape, sizes, |r, place| {
        r.op(memref::Store::NAME)
            .operands([zero, shadow])
            .operands(place.iter().copied())
            .build();
        Ok(())
    })?;
    Ok(shadow)
}

/// Adds the cotangents of the elements of `from` to those of `to`, and clears them.
pub(crate) fn move_elements(r: &mut Rewriter<'_>, from: ValueId, to: ValueId) -> Result<(), String> {
    let ctx = r.ctx;
    let TypeData::MemRef {
        shape: Some(shape),
        elem,
        ..
    } = ctx.type_data(r.body.value_type(from))
    else {
        return Err("a buffer of unknown rank has no shadow".to_owned());
    };
    let (shape, elem) = (shape.to_vec(), *elem);
    let zero = number(r, elem, 0.0);
    let sizes = sizes(r, from);
    each_element(r, &shape, &sizes, |r, place| {
        let load = |r: &mut Rewriter<'_>, buffer| {
            let load = r.op(memref::Load::NAME).operand(buffer).operands(place.iter().copied());
            load.result(elem).value()
        };
        let (grad, old) = (load(r, from), load(r, to));
        // Copied to itself it stays; zeros come first.
        r.op(memref::Store::NAME)
            .operands([zero, from])
            .operands(place.iter().copied())
            .build();
        let sum = r.compute(Arith::Add, &[old, grad])?;
        r.op(memref::Store::NAME)
            .operands([sum, to])
            .operands(place.iter().copied())
            .build();
        Ok(())
    })
}
