//! Operations that change operands in place.
//!
//! The op tables declare which operands known operations change (`formats::PaddleForm::inplace`); for others,
//! PaddlePaddle itself does (`inplace.txt`, made by `tools/paddle/inplace`). In SSA form `add_` becomes `add`, whose
//! result replaces the operand from then on: in the operations that follow and, carried by loops and yielded by
//! branches, after the enclosing ones. The same holds for every operation whose name without the underscore is known,
//! and for those listed below. Unknown operations are kept: their effects are undeclared, so they may change whatever
//! their operands and the operands' aliases hold, and no pass moves or removes them.
//!
//! Two values share a tensor if one is the result of a change in place of the other, or of `share_data_`; changing one
//! changes the other. Nothing else shares: in Paddle's executor, the result of a reshape, a slice or a branch is a
//! separate tensor. The initial value of a loop may be lost when the loop changes the carried value.
//!
//! Parameters outlive a run. When something other than an optimizer step changes one, `pd.assign_out_` assigns it the
//! new value.

use pir_dialects::pd;
use std::sync::OnceLock;

use pir_dialects::formats;
use pir_ir::{Attr, AttrData, BlockId, Body, Context, Diagnostic, OpId, OpSpec, OpView, ValueDef, ValueId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::arrays::is_on_arrays;
use super::build::{Builder, SourceId, SourceOp};

/// Operands that are changed, each with the index of the result that replaces it.
pub(super) type Changed = SmallVec<[(SourceId, usize); 2]>;
/// Indices of operands that are changed, each with that of the result.
pub(super) type Pairs = SmallVec<[(usize, usize); 2]>;

/// The first number of values that are created here; no file has such numbers.
const MADE: SourceId = SourceId::MIN;

/// The operands that PaddlePaddle's operation of this name, which ends in `_`, changes in place.
fn pairs(name: &str) -> Option<&'static [(usize, usize)]> {
    static TABLE: OnceLock<FxHashMap<&str, Pairs>> = OnceLock::new();
    let twin = name.strip_suffix('_')?;
    let form = formats::paddle(name).or_else(|| formats::paddle(twin));
    if let Some(form) = form.filter(|form| !form.inplace.is_empty()) {
        return Some(form.inplace);
    }
    let table = TABLE.get_or_init(|| {
        let lines = include_str!("inplace.txt")
            .lines()
            .filter(|line| !line.starts_with('#'));
        let pair = |word: &str| {
            let (operand, result) = word.split_once('>')?;
            Some((operand.parse().ok()?, result.parse().ok()?))
        };
        let line = |line: &'static str| {
            let mut words = line.split_whitespace();
            Some((words.next()?, words.filter_map(pair).collect()))
        };
        lines.filter_map(line).collect()
    });
    table.get(name).map(|pairs| &**pairs)
}

/// The operands that an operation changes in place when it is written for PaddlePaddle, each with the index of the
/// result that replaces it here.
pub(super) fn written_back(view: OpView<'_>) -> Option<Pairs> {
    let pairs = pairs(view.name().strip_prefix("pd.")?)?;
    let absent = view.ints("absent_operands").unwrap_or(&[]);
    let given = |place: usize| {
        let before = absent.iter().filter(|&&at| at < place as i64).count();
        let at = place
            .checked_sub(before)
            .filter(|_| !absent.contains(&(place as i64)))?;
        (at < view.body.num_operands(view.op)).then_some(at)
    };
    // They are in the order of the results. A result is present if its operand is.
    let operands = pairs.iter().filter_map(|&(place, _)| given(place));
    Some(
        operands
            .enumerate()
            .map(|(result, operand)| (operand, result))
            .collect(),
    )
}

/// The indices of the operands that PaddlePaddle's operation of this name changes, in the order of its results.
pub(super) fn changed_places(name: &str) -> Option<impl Iterator<Item = usize>> {
    Some(pairs(name)?.iter().map(|&(place, _)| place))
}

/// Whether an operation may change tensors that others read, in a PaddlePaddle program: one with unknown effects,
/// unless it is PaddlePaddle's own and its name does not end in an underscore.
pub(super) fn may_write(ctx: &Context, body: &Body, op: OpId) -> bool {
    let view = body.view(ctx, op);
    let own = view.name().strip_prefix("pd.");
    view.has_unknown_effects() && own.is_none_or(|name| name.ends_with('_')) && !is_on_arrays(view.name())
}

/// Which values share tensors.
#[derive(Default)]
pub(super) struct Sharing {
    /// The tensor number of each value that shares one.
    tensor: FxHashMap<SourceId, usize>,
    /// The values of each tensor, and whether gradients stop at them.
    members: Vec<SmallVec<[(SourceId, bool); 2]>>,
    /// Values that were overwritten, and the operations that did so.
    lost: FxHashMap<ValueId, OpId>,
    /// How many values were created.
    made: i64,
}

impl Sharing {
    fn tensor(&mut self, id: SourceId) -> usize {
        *self.tensor.entry(id).or_insert_with(|| {
            self.members.push(SmallVec::from_slice(&[(id, false)]));
            self.members.len() - 1
        })
    }

    /// Removes a redefined number from its tensor.
    pub(super) fn forget(&mut self, id: SourceId) {
        if let Some(tensor) = self.tensor.remove(&id) {
            self.members[tensor].retain(|(member, _)| *member != id);
        }
    }

    fn join(&mut self, id: SourceId, with: SourceId, ends: bool) {
        self.forget(id);
        let tensor = self.tensor(with);
        let ends = ends
            || self.members[tensor]
                .iter()
                .any(|&(member, ends)| member == with && ends);
        self.tensor.insert(id, tensor);
        self.members[tensor].push((id, ends));
    }
}

impl Builder<'_> {
    /// Whether an operation is defined here, by its own name or without the underscore.
    pub(crate) fn is_known(&self, name: &str) -> bool {
        let defined = |name: &str| self.ctx.registered_op(name).is_some();
        defined(name)
            || name.strip_suffix('_').is_some_and(defined)
            || matches!(
                name,
                pd::AssignOutInplace::NAME
                    | "pd.share_data_"
                    | "pd.fill_"
                    | "pd.set_value"
                    | "pd.set_value_"
                    | "pd.merged_adam_"
                    | "pd.merged_momentum_"
                    | "pd.check_finite_and_unscale_"
                    | "pd.update_loss_scaling_"
            )
            || is_on_arrays(name)
    }

    /// A number that no file has.
    pub(super) fn fresh(&mut self) -> SourceId {
        self.sharing.made += 1;
        MADE + self.sharing.made
    }

    /// Whether the first result has the element type of the first operand.
    fn keeps_elements(&self, source: &SourceOp) -> bool {
        let operand = source.operands.first().and_then(|&id| self.value_type(id));
        let result = source.results.first().and_then(|&(_, ty)| ty);
        matches!((operand, result), (Some(a), Some(b)) if self.ctx.elem_type(a) == self.ctx.elem_type(b))
    }

    /// Turns the attribute `values` of `set_value` and `set_value_` into a constant operand: here, a slice is set to a
    /// tensor.
    pub(super) fn set_value(&mut self, source: &mut SourceOp) {
        if !matches!(&*source.name, "pd.set_value" | "pd.set_value_") {
            return;
        }
        let ctx = self.ctx;
        let given = |name: &str| source.attrs.iter().find(|(n, _)| ctx.str(*n) == name).map(|&(_, a)| a);
        let values = given("values").map(|values| match ctx.attr_data(values) {
            AttrData::Ints(ints) => ints.iter().map(|&n| ctx.int_attr(n)).collect(),
            AttrData::Array(items) => items.to_vec(),
            _ => vec![values],
        });
        let shape = given("shape").and_then(|shape| ctx.attr_ints(shape));
        let x = source.operands.first().and_then(|&id| self.value_type(id));
        let (Some(values), Some(shape), Some(elem)) = (values, shape, x.map(|ty| ctx.elem_type(ty))) else {
            return;
        };
        let numbers = |a: &Attr| ctx.attr_f64(*a).is_some() || ctx.attr_bool(*a).is_some();
        if !values.iter().all(numbers) || values.is_empty() {
            return;
        }
        let ty = ctx.tensor(shape, elem);
        let dtype = (ctx.sym("dtype"), ctx.type_attr(elem));
        let shape = (ctx.sym("shape"), ctx.ints_attr(shape));
        let (name, value) = match values[..] {
            [one] => (pd::Full::NAME, (ctx.sym("value"), one)),
            _ => (
                pd::AssignValue::NAME,
                (ctx.sym("values"), ctx.attr(AttrData::Array(values.into()))),
            ),
        };
        let value = self.append(OpSpec {
            results: &[ty],
            attrs: ctx.dict(&[shape, value, dtype]),
            span: source.span,
            ..OpSpec::new(ctx.op_name(name))
        });
        let id = self.fresh();
        self.define_if(id, value);
        source.operands.insert(1, id);
        let in_place = if source.name.ends_with('_') { "_" } else { "" };
        source.name = format!("pd.set_value_with_tensor{in_place}");
        source
            .attrs
            .retain(|(name, _)| !matches!(ctx.str(*name), "values" | "shape"));
    }

    /// Renames an operation that changes operands in place to the functional one. Returns the operands that are
    /// changed, with the results that replace them.
    pub(super) fn functional_name(&mut self, source: &mut SourceOp) -> Changed {
        for &(id, _) in &source.results {
            self.sharing.forget(id);
        }
        // Fills a tensor of a computed shape with a number.
        if source.name == "pd.full_with_tensor" && self.keeps_elements(source) {
            source.name = pd::Expand::NAME.to_owned();
            source.attrs.clear();
        }
        // In PaddlePaddle, where it knows no place, it is the cotangent as it is.
        if source.name == "pd.set_value_grad" && source.operands.len() == 1 {
            source.name = pd::Assign::NAME.to_owned();
        }
        // Another name of the same tensor; `detach` has the same semantics.
        if source.name == "pd.share_data_" {
            let ends = source.stops.first() == Some(&true);
            source.name = if ends { pd::Detach::NAME } else { pd::Assign::NAME }.to_owned();
            if let (Some(&of), Some(&(id, _))) = (source.operands.first(), source.results.first()) {
                self.sharing.join(id, of, ends);
            }
            return Changed::new();
        }
        let Some(short) = source.name.strip_prefix("pd.") else {
            return Changed::new();
        };
        let Some(pairs) = pairs(short) else {
            return Changed::new();
        };
        let flag = |name: &str| {
            let given = source.attrs.iter().find(|(n, _)| self.ctx.str(*n) == name);
            given.and_then(|&(_, attr)| self.ctx.attr_bool(attr)) == Some(true)
        };
        let fixed = flag("use_global_stats") || (flag("is_test") && !flag("trainable_statistics"));
        let mut changed: Changed = pairs
            .iter()
            .filter_map(|&(operand, result)| Some((*source.operands.get(operand)?, result)))
            .collect();
        let def = |name: &str| self.ctx.registered_op(name).and_then(|op| self.ctx.op_def(op));
        let twin = match short {
            "fill_" => "full_like",
            "assign_out_" => "assign",
            _ => &short[..short.len() - 1],
        };
        let twin = format!("pd.{twin}");
        match short {
            // Operations on arrays are translated later.
            "array_write_" => source.name = twin,
            // Running statistics that stay unchanged.
            "batch_norm_" if fixed => {
                source.name = twin;
                changed.clear();
            }
            _ if short != "assign_out_" && def(&source.name).is_some() => {}
            _ if def(&twin).is_none() => changed.clear(),
            // It assigns the first operand to the second.
            "assign_out_" => {
                source.name = twin;
                source.operands.truncate(1);
            }
            // They overwrite a tensor that was created for the purpose.
            "assign_value_" | "full_" => {
                source.name = twin;
                source.operands.clear();
            }
            _ => source.name = twin,
        }
        changed
    }

    /// Replaces `id`, and the values that share its tensor, with the result `new` of an operation that changed it.
    pub(super) fn write(&mut self, id: SourceId, new: SourceId, value: ValueId, by: OpId) {
        self.lose_start(id, by);
        self.sharing.join(new, id, false);
        self.change_tensor(id, value, by);
    }

    /// Replaces all values that share the tensor of `id`.
    pub(super) fn change_tensor(&mut self, id: SourceId, value: ValueId, by: OpId) {
        let tensor = self.sharing.tensor(id);
        let members = self.sharing.members[tensor].clone();
        let through_end = members.iter().any(|&(member, ends)| member == id && ends);
        let value = self.keep_parameter(&members, value, by);
        let is_norm = self.ctx.op_str(self.body.op_name(by)) == pd::BatchNorm::NAME;
        for &(member, ends) in &members {
            if self.value(member).is_none() {
                // The member belongs to a region that has ended.
            } else if member == id || ends == through_end {
                // Running statistics have no gradients: what reads them takes them for constants.
                match is_norm && self.is_constant(member) {
                    true => self.change_detached(member, value, by),
                    false => self.change(member, value),
                }
            } else if through_end {
                // Gradients refer to the old value, which no longer exists.
                if let Some(old) = self.value(member) {
                    self.sharing.lost.insert(old, by);
                }
            } else {
                self.change_detached(member, value, by);
            }
        }
    }

    /// Whether the program declares that a parameter has no gradient.
    fn is_constant(&self, id: SourceId) -> bool {
        let op = self.value(id).and_then(|value| self.body.defining_op(value));
        op.is_some_and(|op| {
            let view = self.body.view(self.ctx, op);
            view.name() == pd::Detach::NAME || view.bool("stop_gradient") == Some(true)
        })
    }

    /// Replaces `id` with a value whose gradient stops.
    fn change_detached(&mut self, id: SourceId, value: ValueId, by: OpId) {
        let ty = self.body.value_type(value);
        let detached = self.append(OpSpec {
            operands: &[value],
            results: &[ty],
            span: self.body.op_span(by),
            ..OpSpec::new(self.ctx.op_name(pd::Detach::NAME))
        });
        if let Some(detached) = detached {
            self.change(id, detached);
        }
    }

    /// Replaces `id` with the result of a loop or a branch that has changed it; the values that share its tensor have
    /// their own results.
    pub(super) fn carry_out(&mut self, id: SourceId, value: ValueId, by: OpId) {
        let value = self.keep_parameter(&[(id, false)], value, by);
        self.change(id, value);
    }

    /// Writes a changed parameter back, outside of loops and branches, for the next run.
    fn keep_parameter(&mut self, members: &[(SourceId, bool)], value: ValueId, by: OpId) -> ValueId {
        let at_top = self.scopes.len() == 1;
        let parameter = members.iter().find_map(|&(id, _)| {
            let old = self.value(id)?;
            self.is_parameter(old).then_some(old)
        });
        let says_so = written_back(self.body.view(self.ctx, by)).is_some();
        let Some(parameter) = parameter.filter(|_| at_top && !says_so) else {
            return value;
        };
        let ty = self.body.value_type(value);
        let kept = self.append(OpSpec {
            operands: &[value, parameter],
            results: &[ty],
            span: self.body.op_span(by),
            ..OpSpec::new(self.ctx.op_name(pd::AssignOutInplace::NAME))
        });
        kept.unwrap_or(value)
    }

    /// Assigns a value to a parameter. Returns the parameter's new value.
    pub(super) fn assign_out(&mut self, new: SourceId, parameter: SourceId) -> Option<ValueId> {
        let operands = [self.value(new)?, self.value(parameter)?];
        self.append(OpSpec {
            operands: &operands,
            results: &[self.body.value_type(operands[0])],
            ..OpSpec::new(self.ctx.op_name(pd::AssignOutInplace::NAME))
        })
    }

    /// Whether a value is the result of an optimizer step on another one.
    pub(super) fn is_step(&self, new: SourceId, old: SourceId) -> bool {
        let (Some(new), Some(old)) = (self.value(new), self.value(old)) else {
            return false;
        };
        let Some(op) = self.body.defining_op(new) else {
            return false;
        };
        let pairs = written_back(self.body.view(self.ctx, op)).unwrap_or_default();
        let is = |&(operand, result): &(usize, usize)| {
            self.body.operand(op, operand) == old && self.body.results(op).nth(result) == Some(new)
        };
        pairs.iter().any(is)
    }

    /// Whether a value is a parameter or replaces one.
    fn is_parameter(&self, mut value: ValueId) -> bool {
        loop {
            let Some(op) = self.body.defining_op(value) else {
                return false;
            };
            let view = self.body.view(self.ctx, op);
            if view.name() == pd::Parameter::NAME || view.bool("persistable") == Some(true) {
                return true;
            }
            let pairs = written_back(view).zip(self.body.results(op).position(|result| result == value));
            let operand = pairs.and_then(|(pairs, at)| pairs.into_iter().find(|(_, result)| *result == at));
            match operand.and_then(|(operand, _)| self.body.get_operand(op, operand)) {
                Some(operand) => value = operand,
                None => return false,
            }
        }
    }

    /// Marks the initial value of a loop as overwritten when the loop changes its argument in place.
    fn lose_start(&mut self, id: SourceId, by: OpId) {
        let Some(value) = self.value(id) else { return };
        let ValueDef::Arg(block, at) = self.body.value_def(value) else {
            return;
        };
        let Some(start) = self.start_of(block, at as usize) else {
            return;
        };
        let inside = |op: OpId| {
            let region = self.body.block_region(block);
            let of_op = self.body.op_region(op);
            region
                .zip(of_op)
                .is_some_and(|(region, of_op)| region == of_op || self.body.region_contains(region, of_op))
        };
        match self.body.uses(start).map(|at| at.op).find(|&op| inside(op)) {
            Some(reader) => self.refuse_lost(by, self.body.op_span(reader)),
            None => {
                self.sharing.lost.insert(start, by);
            }
        }
    }

    /// The initial value of a body argument of a loop.
    fn start_of(&self, block: BlockId, at: usize) -> Option<ValueId> {
        let op = self
            .body
            .block_region(block)
            .and_then(|region| self.body.region_parent(region))?;
        if self.ctx.op_str(self.body.op_name(op)) != pd::While::NAME {
            return None;
        }
        let args = self.body.block_args(block).len();
        let first = self.body.num_operands(op).checked_sub(args)?;
        self.body.get_operand(op, first + at)
    }

    /// Reports the use of an overwritten operand.
    pub(super) fn check_current(&mut self, id: SourceId, source: &SourceOp) {
        if self.sharing.lost.is_empty() {
            return;
        }
        let lost = self.value(id).and_then(|value| self.sharing.lost.get(&value)).copied();
        if let Some(by) = lost {
            self.refuse_lost(by, source.span);
        }
    }

    fn refuse_lost(&mut self, by: OpId, reader: pir_ir::Span) {
        let name = self.body.view(self.ctx, by).name();
        let message = format!("`{name}` has changed this value in place, and its new value is unknown");
        self.errors.push(
            Diagnostic::error("in-place", message)
                .label(reader, "read here")
                .label(self.body.op_span(by), "changed here")
                .help("copy the tensor before the change, with `paddle.assign`"),
        );
    }

    /// Replaces `id` with the result of a change in place. An outer value is carried out of the region.
    fn change(&mut self, id: SourceId, value: ValueId) {
        let here = self.scopes.last().map(|s| s.block);
        let local = self.value(id).and_then(|v| self.body.value_block(v)) == here;
        self.define(id, value);
        if !local && let Some(scope) = self.scope() {
            scope.changed.push(id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::pairs;

    #[test]
    fn the_table_is_what_paddle_says() {
        assert_eq!(pairs("add_").map(|p| p.to_vec()), Some(vec![(0, 0)]));
        assert_eq!(pairs("where_").map(|p| p.to_vec()), Some(vec![(1, 0)]));
        assert_eq!(
            pairs("momentum_").map(|p| p.to_vec()),
            Some(vec![(0, 0), (2, 1), (4, 2)])
        );
        assert_eq!(pairs("array_pop"), None);
        assert_eq!(pairs("tanh"), None);
    }
}
