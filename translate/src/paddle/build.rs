//! Builds a program from the operations that a reader finds, in the order in which it finds them.
//!
//! Names, values and operand positions are converted here, whatever the format. Conversions that need the whole program
//! are in [`constants`](super::constants) and [`loops`](super::loops).

use pir_dialects::{cf, pd};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::arrays::is_on_arrays;
use super::carried::Changes;
use super::gradients::Flags;
use super::inplace::Sharing;
use pir_dialects::marks::{ABSENT_OPERANDS, ABSENT_RESULTS};
use pir_ir::{
    Arity, Attr, BlockId, Body, Context, Diagnostic, OpId, OpSpec, RegionId, Span, Sym, Type, TypeData, ValueId,
    ValueName, nearest,
};

/// The number of a value in the source; 0 is an absent value.
pub(crate) type SourceId = i64;

/// An operation as read from the source.
pub(crate) struct SourceOp {
    /// The name in the dialect `pd`: `pd.add`.
    pub(crate) name: String,
    pub(crate) operands: SmallVec<[SourceId; 4]>,
    pub(crate) results: SmallVec<[(SourceId, Option<Type>); 2]>,
    pub(crate) attrs: Vec<(Sym, Attr)>,
    pub(crate) regions: usize,
    /// Whether PaddlePaddle's own gradients stop at the results, where the source declares it.
    pub(crate) stops: SmallVec<[bool; 2]>,
    pub(crate) span: Span,
}

pub(super) struct RegionScope {
    pub(super) block: BlockId,
    /// Outer values that were changed in place.
    pub(super) changed: Vec<SourceId>,
    /// The outer values of the numbers redefined in the scope.
    hidden: Vec<(SourceId, Option<ValueId>)>,
}

pub(crate) struct Builder<'c> {
    pub(crate) ctx: &'c Context,
    pub(crate) body: Body,
    pub(crate) errors: Vec<Diagnostic>,
    values: FxHashMap<SourceId, ValueId>,
    pub(super) scopes: Vec<RegionScope>,
    allow_unregistered: bool,
    num_args: usize,
    /// The spelling of a value's number in the source.
    pub(crate) spelling: fn(SourceId) -> String,
    /// Results that the operations here do not have. Programs unpack them from lists all the same.
    pub(super) surplus: FxHashSet<SourceId>,
    pub(super) einsums: super::einsum::Operands,
    pub(super) flags: Flags,
    pub(super) changes: Changes,
    pub(super) sharing: Sharing,
    /// The operands of lists.
    pub(super) lists: FxHashMap<SourceId, SmallVec<[SourceId; 4]>>,
    /// Names of unknown operations that have been reported.
    unknown: FxHashSet<String>,
}

impl<'c> Builder<'c> {
    /// A builder of a module's body, at top level.
    pub(crate) fn new(ctx: &'c Context, allow_unregistered: bool) -> Self {
        let mut body = Body::new();
        let root = body.root();
        let top = body.create_block(root);
        Builder {
            ctx,
            body,
            errors: Vec::new(),
            values: FxHashMap::default(),
            scopes: vec![RegionScope {
                block: top,
                changed: Vec::new(),
                hidden: Vec::new(),
            }],
            allow_unregistered,
            num_args: 0,
            spelling: |id| format!("value {id}"),
            surplus: FxHashSet::default(),
            einsums: super::einsum::Operands::default(),
            flags: Flags::default(),
            changes: Changes::default(),
            sharing: Sharing::default(),
            lists: FxHashMap::default(),
            unknown: FxHashSet::default(),
        }
    }

    /// Enters a region: the next operations are appended to its only block.
    pub(crate) fn enter(&mut self, region: RegionId) {
        let block = self.body.create_block(region);
        self.scopes.push(RegionScope {
            block,
            changed: Vec::new(),
            hidden: Vec::new(),
        });
    }

    /// Leaves the current region. A region without a terminator yields nothing.
    pub(crate) fn leave(&mut self) {
        let Some(scope) = self.scopes.pop() else { return };
        let changed = scope.changed.iter().filter_map(|&id| Some((id, self.value(id)?)));
        let changed: Vec<_> = changed.collect();
        for (id, old) in scope.hidden.into_iter().rev() {
            match old {
                Some(value) => self.values.insert(id, value),
                None => self.values.remove(&id),
            };
        }
        let terminated = self
            .body
            .last_op(scope.block)
            .is_some_and(|op| self.ctx.op_str(self.body.op_name(op)) == cf::YIELD);
        if !terminated {
            let op = self.body.create_op(OpSpec::new(self.ctx.op_name(cf::YIELD)));
            self.body.append_op(scope.block, op);
        }
        if let Some(region) = self.body.block_region(scope.block) {
            self.region_ended(region, changed);
        }
    }

    pub(super) fn scope(&mut self) -> Option<&mut RegionScope> {
        self.scopes.last_mut()
    }

    pub(super) fn define(&mut self, id: SourceId, value: ValueId) {
        let old = self.values.insert(id, value);
        if let Some(scope) = self.scope() {
            scope.hidden.push((id, old));
        }
    }

    /// The value of a number in the current scope.
    pub(super) fn value(&self, id: SourceId) -> Option<ValueId> {
        self.values.get(&id).copied()
    }

    /// The type of a value in the current scope.
    pub(crate) fn value_type(&self, id: SourceId) -> Option<Type> {
        self.values.get(&id).map(|&v| self.body.value_type(v))
    }

    /// Defines `id` as a poisoned value, so that an error is reported once.
    pub(crate) fn poison(&mut self, id: SourceId) -> ValueId {
        let placeholder = self.body.create_placeholder(Type::NONE);
        self.define(id, placeholder);
        placeholder
    }

    /// Adds an argument to the current block.
    pub(crate) fn block_arg(&mut self, id: SourceId, ty: Type) {
        let Some(block) = self.scopes.last().map(|s| s.block) else {
            return;
        };
        let name = self.value_name(&format!("arg{}", self.num_args));
        self.num_args += 1;
        let arg = self.body.add_block_arg(block, ty, name);
        self.flags.argument(id);
        self.sharing.forget(id);
        self.define(id, arg);
    }

    /// Appends an operation to the current block. Returns its regions, to be filled.
    pub(crate) fn op(&mut self, mut source: SourceOp) -> SmallVec<[RegionId; 2]> {
        if super::stacks::translate(self, &source) {
            return SmallVec::new();
        }
        if self.einsum(&source) {
            return SmallVec::new();
        }
        if source.name == "builtin.split" && source.operands.iter().any(|id| self.surplus.contains(id)) {
            self.surplus.extend(source.results.iter().map(|&(id, _)| id));
            return SmallVec::new();
        }
        if source.name == "builtin.combine"
            && let Some(&(list, _)) = source.results.first()
        {
            self.lists.insert(list, source.operands.clone());
        }
        if self.merged_step(&source) || self.loss_scaling(&source) {
            return SmallVec::new();
        }
        self.set_value(&mut source);
        self.all_elements(&mut source);
        let in_place = self.functional_name(&mut source);
        self.check_name(&source);
        let operands = self.operands(&source);
        self.unbind(&mut source, &operands);
        let mut left_out: Vec<i64> = (0i64..)
            .zip(&source.operands)
            .filter_map(|(index, &id)| (id == 0).then_some(index))
            .collect();
        // Absent results at the end are implied, if the number of results is known.
        let known = self.ctx.registered_op(&source.name).is_some();
        let mut kept = source.operands.len();
        while known && left_out.last().is_some_and(|&i| i as usize + 1 == kept) {
            left_out.pop();
            kept -= 1;
        }
        if !left_out.is_empty() {
            let value = self.ctx.ints_attr(&left_out);
            source.attrs.push(ABSENT_OPERANDS.entry(self.ctx, value));
        }
        let is_fetch = source.name == pd::Fetch::NAME;
        if !is_fetch {
            self.drop_surplus(&mut source);
        }
        let ends = self.flags(&mut source);
        self.all_gradients(&mut source, &operands);
        let absent: Vec<i64> = (0i64..)
            .zip(&source.results)
            .filter_map(|(i, (_, ty))| ty.is_none().then_some(i))
            .collect();
        // If the definition has optional results, the operands determine which are absent.
        let def = self
            .ctx
            .registered_op(&source.name)
            .and_then(|name| self.ctx.op_def(name));
        let stated = def.filter(|def| !pd::is_foreign(&def.name));
        let follows = stated.is_some_and(|def| def.results.iter().any(|result| result.arity == Arity::Optional));
        if !absent.is_empty() && !is_fetch && !follows {
            let value = self.ctx.ints_attr(&absent);
            source.attrs.push(ABSENT_RESULTS.entry(self.ctx, value));
        }
        self.check_attributes(&source);
        let results: SmallVec<[Type; 2]> = match is_fetch {
            true => SmallVec::new(),
            false => source.results.iter().filter_map(|&(_, ty)| ty).collect(),
        };
        let regions: SmallVec<[RegionId; 2]> = (0..source.regions).map(|_| self.body.create_region()).collect();
        let op = self.append_op(OpSpec {
            name: self.ctx.op_name(&source.name),
            operands: &operands,
            results: &results,
            attrs: self.ctx.dict(&source.attrs),
            regions: &regions,
            successors: &[],
            span: source.span,
        });
        self.define_results(&source, op, is_fetch.then(|| operands.first().copied()).flatten());
        if !regions.is_empty() {
            self.has_regions(
                op,
                source.results.iter().filter(|(_, ty)| ty.is_some()).map(|&(id, _)| id),
            );
        }
        for index in ends {
            self.detach(&source, op, index);
        }
        for (id, result) in in_place {
            let new = source.results.get(result).map_or(0, |&(id, _)| id);
            if let Some(&value) = self.values.get(&new).filter(|_| id != 0) {
                self.write(id, new, value, op);
            }
        }
        regions
    }

    /// The slices of a dimension that is left open: the file declares their number; the operand does not determine it.
    fn unbind(&self, source: &mut SourceOp, operands: &[ValueId]) {
        let ctx = self.ctx;
        let list = source
            .results
            .first()
            .and_then(|&(_, ty)| ty)
            .map(|ty| ctx.type_data(ty));
        let (pd::Unbind::NAME, &[x], Some(TypeData::List(parts))) = (&*source.name, operands, list) else {
            return;
        };
        if !ctx.is_static(self.body.value_type(x)) {
            source.name = pd::Unstack::NAME.into();
            let count = ctx.int_attr(parts.len() as i64);
            source.attrs.push((ctx.sym("num"), count));
        }
    }

    /// PaddlePaddle omits the elements of a list of gradients that were not requested; here a list is unpacked as a whole.
    fn all_elements(&self, source: &mut SourceOp) {
        let list = source.operands.first().and_then(|&id| self.value_type(id));
        if let ("builtin.split", Some(TypeData::List(types))) = (&*source.name, list.map(|ty| self.ctx.type_data(ty))) {
            for ((_, ty), &own) in source.results.iter_mut().zip(types) {
                *ty = ty.or(Some(own));
            }
        }
    }

    /// PaddlePaddle omits gradients that were not requested; a gradient operation that is defined here has them, of the types of the
    /// operands.
    fn all_gradients(&self, source: &mut SourceOp, operands: &[ValueId]) {
        let def = self
            .ctx
            .registered_op(&source.name)
            .and_then(|name| self.ctx.op_def(name));
        let Some(def) = def.filter(|def| def.name.ends_with("_grad") && !pd::is_foreign(&def.name)) else {
            return;
        };
        // Positions are those of the declaration while all operands are there.
        if source.operands.contains(&0) || def.operands.len() < operands.len() {
            return;
        }
        for (spec, (_, ty)) in def.results.iter().zip(&mut source.results) {
            let own = spec.name.strip_suffix("_grad");
            let place = own.and_then(|own| def.operands.iter().position(|operand| operand.name == own));
            if let (None, Some(&value), Arity::One) = (*ty, place.and_then(|at| operands.get(at)), spec.arity) {
                *ty = Some(self.body.value_type(value));
            }
        }
    }

    /// Drops results at the end that the operation here does not have: values saved for PaddlePaddle's own gradient,
    /// like the shape before a `reshape` in programs of older versions.
    fn drop_surplus(&mut self, source: &mut SourceOp) {
        let def = self
            .ctx
            .registered_op(&source.name)
            .and_then(|name| self.ctx.op_def(name));
        if let Some(def) = def
            && source.regions == 0
            && def.results.iter().all(|result| result.arity == Arity::One)
        {
            let surplus = source.results.drain(def.results.len().min(source.results.len())..);
            self.surplus.extend(surplus.map(|(id, _)| id));
        }
    }

    /// The values of the operands that are present. An undefined one is reported and poisoned.
    pub(crate) fn operands(&mut self, source: &SourceOp) -> Vec<ValueId> {
        let mut operands = Vec::with_capacity(source.operands.len());
        for (index, &id) in source.operands.iter().enumerate() {
            match self.values.get(&id) {
                _ if id == 0 => {}
                Some(&value) => {
                    self.check_current(id, source);
                    operands.push(value);
                }
                None => {
                    let message = format!(
                        "operand {index} of `{}` is {}, which is not defined here",
                        source.name,
                        (self.spelling)(id)
                    );
                    self.errors.push(
                        Diagnostic::error("unknown-value", message)
                            .label(source.span, "in this operation")
                            .help("a value is visible after its definition, in the same region and nested ones"),
                    );
                    operands.push(self.poison(id));
                }
            }
        }
        operands
    }

    /// The last operation in the current block.
    pub(crate) fn last_op(&self) -> Option<OpId> {
        self.scopes.last().and_then(|scope| self.body.last_op(scope.block))
    }

    /// Infers the result types of the last operation, where possible.
    pub(crate) fn infer_last(&mut self) {
        let Some(op) = self.last_op() else { return };
        let view = self.body.view(self.ctx, op);
        let inferred = view.with_infer_args(|args| view.def().and_then(|def| def.infer).map(|infer| infer(args)));
        // The verifier reports mismatches.
        if let Some(Some(Ok(types))) = inferred {
            for (at, ty) in types.into_iter().enumerate() {
                self.set_result_type(Some(op), at, ty);
            }
        }
    }

    /// Sets the type of a result.
    pub(crate) fn set_result_type(&mut self, op: Option<OpId>, index: usize, ty: Type) {
        if let Some(value) = op.and_then(|op| self.body.results(op).nth(index)) {
            self.body.set_value_type(value, ty);
        }
    }

    /// Names a value that has no name yet.
    pub(crate) fn name_value(&mut self, id: SourceId, text: &str) {
        let name = self.value_name(text);
        if let Some(&value) = self.values.get(&id)
            && self.body.value_name(value).is_none()
        {
            self.body.set_value_name(value, name);
        }
    }

    fn append_op(&mut self, spec: OpSpec<'_>) -> OpId {
        let op = self.body.create_op(spec);
        if let Some(scope) = self.scopes.last() {
            self.body.append_op(scope.block, op);
        }
        op
    }

    /// Appends an operation, and returns its first result.
    pub(crate) fn append(&mut self, spec: OpSpec<'_>) -> Option<ValueId> {
        let op = self.append_op(spec);
        self.body.results(op).next()
    }

    /// Appends an operation in place of one in the source, and returns its result, if it has one.
    pub(super) fn emit(
        &mut self,
        name: &str,
        operands: &[ValueId],
        result: Option<Type>,
        attrs: &[(&str, Attr)],
        span: Span,
    ) -> Option<ValueId> {
        let ctx = self.ctx;
        let attrs: Vec<_> = attrs.iter().map(|&(name, value)| (ctx.sym(name), value)).collect();
        self.append(OpSpec {
            operands,
            results: result.as_slice(),
            attrs: ctx.dict(&attrs),
            span,
            ..OpSpec::new(ctx.op_name(name))
        })
    }

    /// Defines `id` as a value, if there is one.
    pub(crate) fn define_if(&mut self, id: SourceId, value: Option<ValueId>) {
        if let Some(value) = value {
            self.define(id, value);
        }
    }

    fn define_results(&mut self, source: &SourceOp, op: OpId, fetched: Option<ValueId>) {
        let mut values = self.body.results(op);
        for &(id, ty) in &source.results {
            // `pd.fetch` has no result: PaddlePaddle's result is the fetched value.
            let value = if fetched.is_some() {
                fetched
            } else {
                ty.and_then(|_| values.next())
            };
            if let Some(value) = value {
                self.define(id, value);
            }
        }
        if let Some(name) = self.body.view(self.ctx, op).str("name")
            && matches!(
                source.name.as_str(),
                pd::Data::NAME | pd::Parameter::NAME | pd::Feed::NAME
            )
            && let Some(value) = self.body.results(op).next()
        {
            let name = self.value_name(&identifier(name));
            self.body.set_value_name(value, name);
        }
    }

    fn value_name(&self, text: &str) -> Option<ValueName> {
        Some(ValueName {
            name: self.ctx.name(text),
            pack: false,
        })
    }

    /// Reports duplicate attributes.
    fn check_attributes(&mut self, source: &SourceOp) {
        let mut names: SmallVec<[Sym; 8]> = source.attrs.iter().map(|&(name, _)| name).collect();
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            let name = self.ctx.str(pair[0]);
            let message = format!("attribute `{name}` of `{}` is given twice", source.name);
            let error = Diagnostic::error("duplicate-attribute", message);
            self.errors
                .push(error.label(source.span, "in this operation").help("remove one of them"));
        }
    }

    fn check_name(&mut self, source: &SourceOp) {
        if self.allow_unregistered || self.ctx.registered_op(&source.name).is_some() || is_on_arrays(&source.name) {
            return;
        }
        // Once for each name: a program may have thousands of them.
        if !self.unknown.insert(source.name.clone()) {
            return;
        }
        let mut error = Diagnostic::error("unknown-op", format!("unknown operation `{}`", source.name))
            .label(source.span, "no dialect defines it");
        error = match nearest(&source.name, self.ctx.registered_ops()) {
            Some(known) => error.help(format!("did you mean `{known}`?")),
            None => error.help("`--allow-unregistered-dialect` accepts unknown operations unchanged"),
        };
        self.errors.push(error);
    }
}

/// The text as the name of a value: letters, digits and `_ . $ -`, not beginning with a digit.
pub(crate) fn identifier(text: &str) -> String {
    let mut name: String = text
        .chars()
        .map(|c| match c {
            c if c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$' | '-') => c,
            _ => '_',
        })
        .collect();
    if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        name.insert(0, '_');
    }
    name
}

#[cfg(test)]
mod tests {
    use super::identifier;

    #[test]
    fn names_become_identifiers() {
        assert_eq!(identifier("lstm_cell_1.b_1"), "lstm_cell_1.b_1");
        assert_eq!(identifier("0/x y"), "_0_x_y");
        assert_eq!(identifier(""), "_");
    }
}
