//! The attributes and the inputs of a node.

use pir_dialects::df;
use pir_ir::{DYNAMIC, Type, TypeData, ValueId};

use super::super::proto::Value;
use super::super::types::{self, RESOURCE};
use super::constants;
use super::reader::{Constant, Input, Reader, Result, whole_numbers};

impl Reader<'_> {
    pub(super) fn attr(&self, at: usize, name: &str) -> Option<&Value> {
        self.seen.borrow_mut().attrs.push(name.to_owned());
        self.nodes[at].attrs.get(name)?.value.as_ref()
    }

    pub(super) fn int(&self, at: usize, name: &str) -> Option<i64> {
        match self.attr(at, name)? {
            Value::Int(value) => Some(*value),
            _ => None,
        }
    }

    /// A float attribute, or its default.
    pub(super) fn float(&self, at: usize, name: &str, usual: f64) -> f64 {
        match self.attr(at, name) {
            Some(Value::Float(value)) => f64::from(*value),
            _ => usual,
        }
    }

    pub(super) fn flag(&self, at: usize, name: &str) -> bool {
        matches!(self.attr(at, name), Some(Value::Bool(true)))
    }

    /// The same, where an attribute that is left out has a value.
    pub(super) fn flag_or(&self, at: usize, name: &str, usual: bool) -> bool {
        match self.attr(at, name) {
            Some(_) => self.flag(at, name),
            None => usual,
        }
    }

    pub(super) fn text(&self, at: usize, name: &str) -> Option<String> {
        match self.attr(at, name)? {
            Value::Bytes(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
            _ => None,
        }
    }

    /// The element type given by an attribute.
    pub(super) fn elem(&self, at: usize, name: &str) -> Result<Type> {
        let Some(Value::Type(code)) = self.attr(at, name) else {
            return Err(format!("it has no type `{name}`"));
        };
        let unknown = || format!("elements of type {} are not supported", types::name(*code));
        types::elem(self.ctx, *code).ok_or_else(unknown)
    }

    /// A tensor type from dimensions as TensorFlow writes them.
    pub(super) fn tensor(&self, dims: &[i64], elem: Type) -> Result<Type> {
        match dims.iter().find(|&&d| d < DYNAMIC) {
            Some(d) => Err(format!("a dimension cannot be {d}")),
            None => Ok(self.ctx.tensor(dims, elem)),
        }
    }

    /// The shape that the node declares for a result.
    pub(super) fn written_shape(&self, at: usize, result: usize) -> Option<Vec<i64>> {
        let Some(Value::List(list)) = self.attr(at, "_output_shapes") else {
            return None;
        };
        list.shapes.get(result)?.known()
    }

    pub(super) fn num_inputs(&self, at: usize) -> usize {
        self.inputs[at].len()
    }

    pub(super) fn input(&self, at: usize, index: usize) -> Result<Input> {
        self.seen.borrow_mut().inputs.insert(index);
        let input = self.inputs[at].get(index).copied();
        input.ok_or_else(|| format!("its input {index} is missing"))
    }

    /// The constant that defines an input, if one does.
    pub(super) fn constant(&self, at: usize, index: usize) -> Option<&Constant> {
        let input = self.input(at, index).ok()?;
        self.constants[input.node].as_deref()
    }

    /// The type code of an input, if it is already known.
    pub(super) fn input_code(&self, at: usize, index: usize) -> Option<i32> {
        let input = self.inputs[at].get(index)?;
        if let Some(constant) = &self.constants[input.node] {
            return Some(constant.2);
        }
        let ty = self.body.value_type(*self.values[input.node].get(input.index)?);
        match self.ctx.type_data(ty) {
            TypeData::Tensor { elem, .. } => types::code(self.ctx, *elem),
            TypeData::Dialect { .. } if df::is_stack(self.ctx, ty) => Some(RESOURCE),
            _ => None,
        }
    }

    /// The integers of an input that is a constant.
    pub(super) fn known(&self, at: usize, index: usize) -> Option<Vec<i64>> {
        let input = self.input(at, index).ok()?;
        whole_numbers(self.computed(input)?)
    }

    pub(super) fn list(&self, at: usize, index: usize, what: &str) -> Result<Vec<i64>> {
        self.known(at, index)
            .ok_or_else(|| format!("its {what}, input {index}, must be a constant"))
    }

    pub(super) fn scalar(&self, at: usize, index: usize, what: &str) -> Result<i64> {
        match self.list(at, index, what)?[..] {
            [value] => Ok(value),
            _ => Err(format!("its {what}, input {index}, must be a single number")),
        }
    }

    /// The value of an input.
    pub(super) fn operand(&mut self, at: usize, index: usize) -> Result<ValueId> {
        let input = self.input(at, index)?;
        self.value(input)
    }

    pub(super) fn value(&mut self, input: Input) -> Result<ValueId> {
        if self.values[input.node].is_empty() && self.constants[input.node].is_some() {
            constants::make(self, input.node)?;
        }
        let value = self.values[input.node].get(input.index);
        value.copied().ok_or_else(|| {
            let node = &self.nodes[input.node];
            format!("`{}` (`{}`) has no result {}", node.name, node.op, input.index)
        })
    }

    pub(super) fn operands(&mut self, at: usize, count: usize) -> Result<Vec<ValueId>> {
        (0..count).map(|i| self.operand(at, i)).collect()
    }

    pub(super) fn dims(&self, value: ValueId) -> Result<(Vec<i64>, Type)> {
        let tensor = self.ctx.as_tensor(self.body.value_type(value));
        let (dims, elem) = tensor.ok_or("an operand is not a tensor")?;
        Ok((dims.to_vec(), elem))
    }
}
