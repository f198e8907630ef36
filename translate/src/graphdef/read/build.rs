//! Builds the operations of nodes.

use pir_ir::{Attr, AttrDict, DYNAMIC, OpId, OpSpec, RegionId, Sym, Type, ValueId, ValueName, infer_by_semantics};

use super::reader::{Reader, Result};
use crate::paddle::build::identifier;
use pir_dialects::df::DEVICE_NAME;
use pir_dialects::pd;

impl Reader<'_> {
    pub(super) fn entry(&self, name: &str, attr: Attr) -> (Sym, Attr) {
        (self.ctx.sym(name), attr)
    }

    pub(super) fn dict(&self, attrs: &[(&str, Attr)]) -> AttrDict {
        let entries: Vec<(Sym, Attr)> = attrs.iter().map(|(name, attr)| self.entry(name, *attr)).collect();
        self.ctx.dict(&entries)
    }

    /// Notes that the results of an operation are auxiliary values of a node.
    pub(super) fn is_piece(&mut self, at: usize, op: OpId) {
        if !self.plain {
            self.pieces.extend(self.body.results(op).map(|value| (value, at)));
        }
    }

    /// Appends an auxiliary operation of a node.
    pub(super) fn helper(
        &mut self,
        at: usize,
        name: &str,
        operands: &[ValueId],
        attrs: &[(&str, Attr)],
    ) -> Result<ValueId> {
        let op = self.append(at, name, operands, &[Type::NONE], attrs)?;
        self.is_piece(at, op);
        Ok(self.body.result(op, 0))
    }

    /// A value with elements of a type: itself, if it has them.
    pub(super) fn of_elem(&mut self, at: usize, value: ValueId, elem: Type) -> Result<ValueId> {
        match self.dims(value)?.1 == elem {
            true => Ok(value),
            false => self.helper(at, pd::Cast::NAME, &[value], &[("dtype", self.ctx.type_attr(elem))]),
        }
    }

    /// Integers that are known, as a vector.
    pub(super) fn vector(&mut self, at: usize, numbers: &[i64], elem: Type) -> Result<ValueId> {
        let attrs = [
            ("value", self.ctx.ints_attr(numbers)),
            ("dtype", self.ctx.type_attr(elem)),
        ];
        self.helper(at, pd::FullIntArray::NAME, &[], &attrs)
    }

    /// Appends the operation that gives the result of a node.
    pub(super) fn op(&mut self, at: usize, name: &str, operands: &[ValueId], attrs: &[(&str, Attr)]) -> Result<()> {
        self.op_of(at, name, operands, attrs, 1)
    }

    /// The same for several results.
    pub(super) fn op_of(
        &mut self,
        at: usize,
        name: &str,
        operands: &[ValueId],
        attrs: &[(&str, Attr)],
        results: usize,
    ) -> Result<()> {
        let op = self.append(at, name, operands, &vec![Type::NONE; results], attrs)?;
        self.is_node(at, op);
        Ok(())
    }

    /// Makes an operation's results those of a node.
    pub(super) fn is_node(&mut self, at: usize, op: OpId) {
        let name = identifier(&self.nodes[at].name);
        let values: Vec<ValueId> = self.body.results(op).collect();
        for &value in &values {
            let name = ValueName {
                name: self.ctx.name(&name),
                pack: values.len() > 1,
            };
            self.body.set_value_name(value, Some(name));
        }
        self.values[at] = values;
    }

    /// Appends an operation; its types are inferred from the operands or declared by the node.
    pub(super) fn append(
        &mut self,
        at: usize,
        name: &str,
        operands: &[ValueId],
        results: &[Type],
        attrs: &[(&str, Attr)],
    ) -> Result<OpId> {
        let ctx = self.ctx;
        let mut attrs = attrs.to_vec();
        let device = &self.nodes[at].device;
        if let Some(number) = self.devices.number(device) {
            attrs.push(("device", ctx.int_attr(number)));
            if self.devices.are_named() {
                attrs.push((DEVICE_NAME, ctx.str_attr(device)));
            }
        }
        let op = self.body.create_op(OpSpec {
            operands,
            results,
            attrs: self.dict(&attrs),
            ..OpSpec::new(ctx.op_name(name))
        });
        self.body.append_op(self.block, op);
        if results.iter().all(|&ty| ty != Type::NONE) {
            return Ok(op);
        }
        let view = self.body.view(ctx, op);
        let inferred = view.with_infer_args(|args| match args.def.infer {
            Some(infer) => Some(infer(args)),
            None => infer_by_semantics(args).ok().map(Ok),
        });
        let types = match inferred.flatten() {
            Some(types) => types?,
            None => {
                let elem = operands
                    .first()
                    .map_or(Type::F32, |&v| ctx.elem_type(self.body.value_type(v)));
                let written = |i| self.written_shape(at, i).map(|dims| ctx.tensor(&dims, elem));
                let types = (0..results.len()).map(written).collect::<Option<_>>();
                types.ok_or("its shape is unknown")?
            }
        };
        if types.len() != results.len() {
            return Err(format!("it returns {} values, expected {}", types.len(), results.len()));
        }
        for (i, mut ty) in types.into_iter().enumerate() {
            // The declared shape may be more specific than the inferred one.
            if let (Some((dims, elem)), Some(written)) = (ctx.as_tensor(ty), self.written_shape(at, i)) {
                let fits = dims.len() == written.len()
                    && dims
                        .iter()
                        .zip(&written)
                        .all(|(&d, &w)| d == w || d == DYNAMIC && w >= DYNAMIC);
                if fits {
                    ty = ctx.tensor(&written, elem);
                }
            }
            let value = self.body.result(op, i);
            self.body.set_value_type(value, ty);
        }
        Ok(op)
    }

    /// Appends an operation with regions.
    pub(super) fn regional(
        &mut self,
        at: usize,
        name: &str,
        operands: &[ValueId],
        types: &[Type],
        regions: &[RegionId],
    ) -> OpId {
        let op = self.body.create_op(OpSpec {
            operands,
            results: types,
            regions,
            ..OpSpec::new(self.ctx.op_name(name))
        });
        self.body.append_op(self.block, op);
        let name = identifier(&self.nodes[at].name);
        let values: Vec<ValueId> = self.body.results(op).collect();
        for (index, &value) in values.iter().enumerate() {
            let name = match values.len() {
                1 => name.clone(),
                _ => format!("{name}_{index}"),
            };
            let name = ValueName {
                name: self.ctx.name(&name),
                pack: false,
            };
            self.body.set_value_name(value, Some(name));
        }
        op
    }
}
