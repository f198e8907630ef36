//! Provenance of handles: which values certainly refer to the same object.
//!
//! A handle, such as a stack, refers to an object that changes. A property proven for one handle is useless unless it
//! is known which other values refer to the same object, and whether a handle refers to the same object whenever it is
//! read. This analysis proves that through regions, by the region-flow interface, and nowhere else: the result of an
//! ordinary operation, or an outer value, is a root, and the caller must know what such an operation does. A region
//! argument or result that control binds to different roots is in *doubt*. It is a fixpoint over {unvisited, one root,
//! in doubt}, in which a loop that forwards a handle unchanged is not a contradiction.

use pir_ir::{Analysis, Body, Context, Type, TypeData, ValueDef, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

/// The origin of a handle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Known {
    /// Always an alias of this value.
    Root(ValueId),
    /// An alias of an unknown value; the origin becomes uncertain at this value.
    Doubt(ValueId),
}

/// Where the handles of a body come from.
#[derive(Default, Debug, PartialEq)]
pub(crate) struct Provenance {
    known: FxHashMap<ValueId, Known>,
    /// All handles, in the order in which they are defined.
    handles: Vec<ValueId>,
    /// For each root, its names.
    names: FxHashMap<ValueId, Vec<ValueId>>,
    /// Handles that control binds to others, with these, where they are not names of the same.
    joins: Vec<(ValueId, ValueId)>,
    /// The roots of the former.
    doubtful: FxHashSet<ValueId>,
}

/// Whether values of the type refer to mutable objects, or contain such values.
pub(crate) fn is_handle_type(ctx: &Context, ty: Type) -> bool {
    match ctx.type_data(ty) {
        TypeData::List(items) => {
            stacker::maybe_grow(32 * 1024, 256 * 1024, || items.iter().any(|&t| is_handle_type(ctx, t)))
        }
        _ => ctx.is_of_dialect(ty),
    }
}

impl Analysis for Provenance {
    fn compute(ctx: &Context, body: &Body) -> Self {
        let mut this = Provenance::default();
        // Hardly any value is a handle: what is known of each type, by its index.
        let mut types: Vec<Option<bool>> = Vec::new();
        let values = (0..body.num_value_slots()).map(ValueId::new);
        this.handles = values
            .filter(|&v| {
                let ty = body.value_type(v);
                if types.len() <= ty.index() {
                    types.resize(ty.index() + 1, None);
                }
                let is_handle = *types[ty.index()].get_or_insert_with(|| is_handle_type(ctx, ty));
                is_handle && body.value_def(v) != ValueDef::None
            })
            .collect();
        // A handle may be used by most operations.
        let mut targets_of: FxHashMap<ValueId, Vec<ValueId>> = FxHashMap::default();
        let mut pending: Vec<ValueId> = this.handles.iter().rev().copied().collect();
        while let Some(value) = pending.pop() {
            let Some(known) = this.look_at(ctx, body, value) else {
                continue;
            };
            if this.known.insert(value, known) != Some(known) {
                pending.extend(&*targets_of.entry(value).or_insert_with(|| targets(ctx, body, value)));
            }
        }
        for at in 0..this.handles.len() {
            let value = this.handles[at];
            // A value that nothing flows to is never computed, or unknown.
            let known = *this.known.entry(value).or_insert(Known::Doubt(value));
            if let Known::Root(root) = known {
                this.names.entry(root).or_default().push(value);
            }
        }
        for &value in &this.handles {
            let targets = targets_of.remove(&value).unwrap_or_else(|| targets(ctx, body, value));
            for target in targets {
                if this.known.get(&target) != this.known.get(&value) || this.doubt(target) == Some(target) {
                    this.joins.push((value, target));
                    let root = this.root(value);
                    this.doubtful.insert(root);
                }
            }
        }
        this
    }
}

impl Provenance {
    fn look_at(&self, ctx: &Context, body: &Body, value: ValueId) -> Option<Known> {
        let own_doubt = Known::Doubt(value);
        if self.known.get(&value) == Some(&own_doubt) {
            return Some(own_doubt);
        }
        let Some(sources) = body.flow_sources(ctx, value) else {
            return Some(Known::Root(value));
        };
        let ways = body.flow_place(value).and_then(|(op, to, _)| {
            let flow = body.region_flow(ctx, op)?;
            Some(flow.edges_to(body.view(ctx, op), to).len())
        });
        if sources.is_empty() || ways != Some(sources.len()) {
            return Some(own_doubt);
        }
        let mut known = None;
        for source in sources {
            let source = self.known.get(&body.operand(source.op, source.index)).copied();
            match (known, source) {
                (_, None) => {}
                (None, _) => known = source,
                (Some(a), Some(b)) if a == b => {}
                _ => return Some(own_doubt),
            }
        }
        known
    }

    /// Whether there are no handles.
    pub(crate) fn is_empty(&self) -> bool {
        self.handles.is_empty()
    }

    /// All handles.
    pub(crate) fn handles(&self) -> &[ValueId] {
        &self.handles
    }

    /// The value that a handle is another name of; where it is in doubt, the one that is the reason.
    pub(crate) fn root(&self, handle: ValueId) -> ValueId {
        match self.known.get(&handle) {
            Some(&(Known::Root(value) | Known::Doubt(value))) => value,
            None => handle,
        }
    }

    /// A value on the way to a handle that may refer to different objects, if there is one.
    pub(crate) fn doubt(&self, handle: ValueId) -> Option<ValueId> {
        match self.known.get(&handle) {
            Some(&Known::Doubt(value)) => Some(value),
            _ => None,
        }
    }

    /// The names of a root.
    pub(crate) fn names(&self, root: ValueId) -> &[ValueId] {
        self.names.get(&root).map_or(&[], Vec::as_slice)
    }

    /// Whether a name of a root may become one of those in doubt.
    pub(crate) fn becomes_doubtful(&self, root: ValueId) -> bool {
        self.doubtful.contains(&root)
    }

    /// Handles, and those in doubt that control may make another name of them.
    pub(crate) fn joins(&self) -> &[(ValueId, ValueId)] {
        &self.joins
    }
}

/// The values that a handle flows to.
fn targets(ctx: &Context, body: &Body, value: ValueId) -> Vec<ValueId> {
    let targets = body.uses(value).filter_map(|at| body.flow_targets(ctx, at));
    targets.flatten().collect()
}
