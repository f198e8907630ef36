//! Tangents of operations that are alike: what was emitted for one of them is emitted again with other values.
//!
//! A rule sees the name, the attributes and the types of an operation, which of its operands have tangents, which of these values are the
//! same, and whether they are constants. Where all that is equal for two operations, so are the operations that compute their tangents, and
//! need not be found by [transposing the rule](super::linear) again, which takes ten times as long.
//!
//! Integers that are operands may determine the shapes of results, wherever they come from: operations with such operands are left out.

use pir_ir::{AttrDict, Body, OpId, OpName, OpSpec, Rewriter, Traits, Type, ValueId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::super::rules::RuleTable;
use super::linear::{Tangent, Tangents};

/// The most templates that are kept.
const MOST: usize = 1 << 12;
/// The most operands and results that are compared with each other, and the most emitted operations.
const FEW: usize = 8;
const SHORT: usize = 64;

/// What a rule sees of an operation.
type Key = SmallVec<[u32; 32]>;

/// A value that an emitted operation reads.
#[derive(Clone, Copy)]
enum Place {
    Operand(usize),
    Result(usize),
    /// The tangent of an operand.
    Tangent(usize),
    /// A result of an emitted operation.
    Made(usize, usize),
}

struct Made {
    name: OpName,
    attrs: AttrDict,
    operands: SmallVec<[Place; 2]>,
    results: SmallVec<[Type; 1]>,
}

/// The operations that compute the tangents of the results.
struct Template {
    made: Vec<Made>,
    tangents: SmallVec<[Option<Place>; 1]>,
}

#[derive(Default)]
pub(super) struct Templates(FxHashMap<Key, Template>);

/// An operation whose tangents a template may compute.
pub(super) struct Pattern {
    op: OpId,
    key: Key,
    operands: SmallVec<[ValueId; 4]>,
    results: SmallVec<[ValueId; 2]>,
    given: SmallVec<[Option<ValueId>; 4]>,
}

impl Pattern {
    pub(super) fn of(r: &Rewriter<'_>, rules: &RuleTable, op: OpId, tangents: &Tangents) -> Option<Pattern> {
        let body = &*r.body;
        let is_short = body.num_operands(op).max(body.num_results(op)) <= FEW;
        if !is_short || !body.is_plain(op) || rules.is_call(op) {
            return None;
        }
        let operands: SmallVec<[ValueId; 4]> = body.operands(op).collect();
        let results: SmallVec<[ValueId; 2]> = body.results(op).collect();
        let values = || operands.iter().chain(&results).copied();
        if !values().all(|v| r.ctx.is_continuous(body.value_type(v))) {
            return None;
        }
        let given: SmallVec<[Option<ValueId>; 4]> = operands.iter().map(|&v| tangents.one(v)).collect();
        // It would not be known which of both is read.
        if values().any(|v| given.contains(&Some(v))) {
            return None;
        }
        let mut key = Key::new();
        key.extend([body.op_name(op).index() as u32, body.attrs(op).index() as u32]);
        key.extend([operands.len() as u32, results.len() as u32]);
        key.extend(results.iter().map(|&v| body.value_type(v).index() as u32));
        for (at, &operand) in operands.iter().enumerate() {
            let same = operands.iter().position(|&other| other == operand).unwrap_or(at);
            key.push(same as u32);
            about(r, operand, &mut key);
            if let Some(tangent) = given[at] {
                let same = given.iter().position(|&other| other == Some(tangent)).unwrap_or(at);
                key.extend([u32::MAX, same as u32]);
                about(r, tangent, &mut key);
            }
        }
        Some(Pattern {
            op,
            key,
            operands,
            results,
            given,
        })
    }

    fn place(&self, body: &Body, made: &[OpId], value: ValueId) -> Option<Place> {
        let of = |values: &[ValueId]| values.iter().position(|&v| v == value);
        let tangent = || self.given.iter().position(|&v| v == Some(value));
        let computed = || {
            let op = body.defining_op(value)?;
            let at = made.iter().position(|&other| other == op)?;
            Some(Place::Made(at, body.results(op).position(|v| v == value)?))
        };
        let known = of(&self.operands).map(Place::Operand);
        let known = known.or_else(|| of(&self.results).map(Place::Result));
        known.or_else(|| tangent().map(Place::Tangent)).or_else(computed)
    }

    fn value(&self, body: &Body, made: &[OpId], place: Place) -> Option<ValueId> {
        match place {
            Place::Operand(at) => self.operands.get(at).copied(),
            Place::Result(at) => self.results.get(at).copied(),
            Place::Tangent(at) => self.given.get(at).copied().flatten(),
            Place::Made(at, result) => made.get(at).map(|&op| body.result(op, result)),
        }
    }
}

/// The type of a value, and the constant that it is or is computed from at once.
fn about(r: &Rewriter<'_>, value: ValueId, key: &mut Key) {
    let body = &*r.body;
    key.push(body.value_type(value).index() as u32);
    let mut from: SmallVec<[OpId; 2]> = SmallVec::new();
    let mut next = body.defining_op(value);
    while let Some(op) = next.filter(|_| from.len() < 2) {
        from.push(op);
        if r.view(op).has(Traits::CONSTANT) {
            // Their number comes first, so that no two sequences of values have one key.
            key.push(from.len() as u32);
            for op in from {
                key.extend([body.op_name(op).index() as u32, body.attrs(op).index() as u32]);
            }
            return;
        }
        next = body.get_operand(op, 0).and_then(|v| body.defining_op(v));
    }
    key.push(0);
}

impl Templates {
    /// Emits the tangents of the results at the insertion point, if there is a template; whether there is.
    pub(super) fn emit(&self, r: &mut Rewriter<'_>, pattern: &Pattern, tangents: &mut Tangents) -> bool {
        let Some(template) = self.0.get(&pattern.key) else {
            return false;
        };
        let mut made: SmallVec<[OpId; 8]> = SmallVec::new();
        let mut operands: SmallVec<[ValueId; 4]> = SmallVec::new();
        for one in &template.made {
            operands.clear();
            operands.extend(
                one.operands
                    .iter()
                    .filter_map(|&place| pattern.value(r.body, &made, place)),
            );
            made.push(r.create(OpSpec {
                operands: &operands,
                results: &one.results,
                attrs: one.attrs,
                ..OpSpec::new(one.name)
            }));
        }
        for (&result, &place) in pattern.results.iter().zip(&template.tangents) {
            let tangent = place.and_then(|place| pattern.value(r.body, &made, place));
            if let Some(tangent) = tangent {
                if let Some(Place::Made(..)) = place {
                    r.name_like(tangent, result, "_tangent");
                }
                tangents.insert(result, Tangent::One(tangent));
            }
        }
        true
    }

    /// Makes a template of what was emitted for an operation.
    pub(super) fn learn(&mut self, r: &Rewriter<'_>, pattern: Pattern, emitted: &[OpId], tangents: &Tangents) {
        let body = &*r.body;
        let made: SmallVec<[OpId; 8]> = emitted.iter().copied().filter(|&op| body.is_alive(op)).collect();
        let is_in_order = made.windows(2).all(|pair| body.next_op(pair[0]) == Some(pair[1]));
        let is_behind = made
            .first()
            .is_none_or(|&first| body.next_op(pattern.op) == Some(first));
        let fits = self.0.len() < MOST && made.len() <= SHORT;
        if !fits || !is_in_order || !is_behind || !made.iter().all(|&op| body.is_plain(op)) {
            return;
        }
        let place = |value: ValueId| pattern.place(body, &made, value);
        let results: SmallVec<[Option<ValueId>; 2]> = pattern.results.iter().map(|&v| tangents.one(v)).collect();
        // The others have no names.
        let mut values = made.iter().flat_map(|&op| body.results(op));
        if values.any(|v| body.value_name(v).is_some() && !results.contains(&Some(v))) {
            return;
        }
        let parts = made.iter().map(|&op| {
            Some(Made {
                name: body.op_name(op),
                attrs: body.attrs(op),
                operands: body.operands(op).map(place).collect::<Option<_>>()?,
                results: body.results(op).map(|v| body.value_type(v)).collect(),
            })
        });
        let given = results.iter().map(|tangent| match tangent {
            Some(tangent) => place(*tangent).map(Some),
            None => Some(None),
        });
        if let (Some(made), Some(tangents)) = (parts.collect(), given.collect()) {
            self.0.insert(pattern.key, Template { made, tangents });
        }
    }
}
