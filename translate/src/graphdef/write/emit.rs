//! Writes the nodes of one operation.

use pir_dialects::df;
use pir_ir::text::print_type;
use pir_ir::{Attr, AttrData, Type, TypeData};

use super::super::proto::{AttrValue, ListValue, NodeDef, TensorShape, Value};
use super::super::types::{self, INT32, INT64, Number};
use super::view::View;
use super::{Writer, ops};

/// Why an operation cannot be written.
pub(super) type Result<T> = std::result::Result<T, String>;

/// Constant integers, or an operand that holds them.
pub(super) enum List {
    Known(Vec<i64>),
    Operand(String),
}

/// Writes one operation: auxiliary nodes are named `name/Op`, the node of a result has the name of the operation.
pub(super) struct Emit<'w, 'a> {
    pub(super) w: &'w mut Writer<'a>,
    pub(super) view: View<'a>,
    at: usize,
    /// The first node of this operation.
    start: usize,
    /// The control inputs of this operation.
    controls: Vec<String>,
}

/// The name of the node that forwards a side of a switch.
pub(super) fn side_name(switch: &str, side: usize) -> String {
    format!("{switch}/{}", ["false", "true"][side.min(1)])
}

impl Writer<'_> {
    /// Writes a node and its auxiliary nodes.
    pub(super) fn emit(&mut self, at: usize) {
        let view = self.view(at);
        let mut controls: Vec<String> = Vec::with_capacity(self.nodes[at].controls.len());
        for i in 0..self.nodes[at].controls.len() {
            let from = self.nodes[at].controls[i];
            let name = self.name_on(from, self.nodes[at].device);
            controls.push(format!("^{name}"));
        }
        let start = self.out.len();
        let mut emit = Emit {
            w: self,
            view: View::new(view),
            at,
            start,
            controls,
        };
        let written = ops::write(&mut emit).and_then(|()| emit.view.rest());
        emit.finish();
        if let Err(message) = written {
            let message = format!("`{}` cannot be written for TensorFlow: {message}", view.name());
            self.error(view.body, view.op, message);
        }
    }

    /// Whether a node reads an output of a switch through an identity, as in TensorFlow's loops. Grappler adds control
    /// edges from the operands of an operation; from a switch, they would lead from either output.
    pub(super) fn reads_side(&self, at: usize) -> bool {
        !matches!(
            self.view(at).name(),
            df::SWITCH | df::MERGE | df::EXIT | df::IDENTITY | df::NEXT_ITERATION | df::ENTER
        )
    }

    /// The name of a node, or that of its copy on a device.
    fn name_on(&self, at: usize, device: Option<i64>) -> &str {
        let copy = device.and_then(|d| self.copies.get(&(at, d)));
        copy.unwrap_or(&self.nodes[at].name)
    }
}

impl Emit<'_, '_> {
    // ----- operands and attributes -----

    /// How many operands there are.
    pub(super) fn num_operands(&self) -> usize {
        self.view.body.num_operands(self.view.op)
    }

    /// The tensor name of an operand.
    pub(super) fn input(&self, index: usize) -> Result<String> {
        self.view.sees_operand(index);
        let missing = || format!("operand {index} is missing");
        let (from, result) = self.w.source(self.at, index).ok_or_else(missing)?;
        self.tensor(from, result)
    }

    fn tensor(&self, mut from: usize, mut result: usize) -> Result<String> {
        // Users of `df.loop_cond` read its operand: the node `LoopCond` gives a scalar.
        while self.w.view(from).name() == df::LOOP_COND {
            (from, result) = self.w.source(from, 0).ok_or("a condition is missing")?;
        }
        let name = self.w.name_on(from, self.w.nodes[self.at].device);
        if self.w.view(from).name() == df::SWITCH && self.w.reads_side(self.at) {
            return Ok(side_name(name, result));
        }
        Ok(match result {
            0 => name.to_owned(),
            _ if ops::gives_all(self.w.view(from).name()) => format!("{name}:{result}"),
            _ => format!("{name}/{result}"),
        })
    }

    /// All operands.
    pub(super) fn inputs(&self) -> Result<Vec<String>> {
        (0..self.num_operands()).map(|i| self.input(i)).collect()
    }

    /// The `LoopCond` node that defines an operand, if one does.
    pub(super) fn loop_cond(&self, index: usize) -> Option<String> {
        let (from, _) = self.w.source(self.at, index)?;
        let condition = self.w.view(from).name() == df::LOOP_COND;
        if condition {
            self.view.sees_operand(index);
        }
        condition.then(|| self.w.nodes[from].name.clone())
    }

    /// Whether an operand is a constant enter: available in every iteration, without starting one.
    pub(super) fn is_constant_enter(&self, index: usize) -> bool {
        self.w
            .source(self.at, index)
            .is_some_and(|(from, _)| self.w.is_constant_enter(from))
    }

    /// The dimensions and the element type of an operand.
    pub(super) fn operand_type(&self, index: usize) -> Result<(Vec<i64>, Type)> {
        let ty = self.view.operand_type(index);
        let tensor = ty.and_then(|ty| self.w.ctx.as_tensor(ty));
        let (dims, elem) = tensor.ok_or_else(|| format!("operand {index} is not a tensor"))?;
        Ok((dims.to_vec(), elem))
    }

    /// The dimensions and the element type of a result.
    pub(super) fn result_type(&self, index: usize) -> Result<(Vec<i64>, Type)> {
        let ty = self.view.result_type(index);
        let tensor = ty.and_then(|ty| self.w.ctx.as_tensor(ty));
        let (dims, elem) = tensor.ok_or_else(|| format!("result {index} is not a tensor"))?;
        Ok((dims.to_vec(), elem))
    }

    /// The element type of the first operand.
    pub(super) fn elem(&self) -> Result<Type> {
        Ok(self.operand_type(0)?.1)
    }

    pub(super) fn is_float(&self, elem: Type) -> bool {
        matches!(self.w.ctx.type_data(elem), TypeData::Float(_))
    }

    pub(super) fn is_complex(&self, elem: Type) -> bool {
        self.w.ctx.is_complex(elem)
    }

    /// The index of the operand that replaces an attribute.
    fn operand_called(&self, name: &str) -> Option<usize> {
        if self.view.attr(name).is_some() {
            return None;
        }
        let optional = |o: &&pir_ir::ValueSpec| o.arity == pir_ir::Arity::Optional;
        let def = self.view.def()?;
        let required = def.operands.iter().filter(|o| !optional(o)).count();
        let mut missing = def
            .operands
            .iter()
            .filter(|o| optional(o) && self.view.attr(&o.name).is_none());
        let at = required + missing.position(|o| o.name == name)?;
        (at < self.num_operands()).then_some(at)
    }

    /// Whether an operand replaces an attribute.
    pub(super) fn is_operand(&self, name: &str) -> bool {
        self.operand_called(name).is_some()
    }

    /// An optional operand, by its name.
    pub(super) fn optional(&self, name: &str) -> Result<Option<String>> {
        let places = self
            .view
            .def()
            .map(|def| def.operands.iter().position(|o| o.name == name));
        let Some(place) = places.flatten() else { return Ok(None) };
        let absent = self.view.ints("absent_operands").unwrap_or(&[]);
        if absent.contains(&(place as i64)) {
            return Ok(None);
        }
        let at = place - absent.iter().filter(|&&a| a < place as i64).count();
        (at < self.num_operands()).then(|| self.input(at)).transpose()
    }

    /// Integers, from an attribute or an operand, of 64 bits.
    pub(super) fn list(&mut self, name: &str) -> Result<Option<List>> {
        if let Some(at) = self.operand_called(name) {
            return Ok(Some(List::Operand(self.wide(at)?)));
        }
        Ok(self.ints(name).map(List::Known))
    }

    /// An operand that holds integers, of 64 bits.
    pub(super) fn wide(&mut self, index: usize) -> Result<String> {
        let (value, from) = (self.input(index)?, self.operand_type(index)?.1);
        self.cast(value, from, Type::I64)
    }

    /// A list of integers; a single integer is a list of one.
    pub(super) fn ints(&self, name: &str) -> Option<Vec<i64>> {
        match self.view.ints(name) {
            Some(list) => Some(list.to_vec()),
            None => self.view.int(name).map(|v| vec![v]),
        }
    }

    pub(super) fn flag(&self, name: &str, default: bool) -> bool {
        self.view.bool(name).unwrap_or(default)
    }

    /// A number, from an attribute or a one-element operand, as a scalar of a type.
    pub(super) fn number(&mut self, name: &str, default: f64, elem: Type) -> Result<String> {
        if let Some(at) = self.operand_called(name) {
            let (dims, from) = self.operand_type(at)?;
            let mut value = self.input(at)?;
            if !dims.is_empty() {
                value = self.op("Squeeze", &[value], &[("T", self.dtype(from)?)]);
            }
            return self.cast(value, from, elem);
        }
        let value = match self.view.attr(name) {
            Some(attr) => self.value(attr)?,
            None => Number::Float(default),
        };
        self.scalar(value, elem)
    }

    /// The number of an attribute.
    pub(super) fn value(&self, attr: Attr) -> Result<Number> {
        match self.w.ctx.attr_data(attr) {
            AttrData::Int { value, .. } => Ok(Number::Int(*value)),
            AttrData::Bool(value) => Ok(Number::Int((*value).into())),
            _ => {
                let value = self.w.ctx.attr_f64(attr);
                Ok(Number::Float(value.ok_or("its value is not a number")?))
            }
        }
    }

    /// An element type as an attribute.
    pub(super) fn dtype(&self, elem: Type) -> Result<Value> {
        let code = types::code(self.w.ctx, elem);
        let code = code.ok_or_else(|| format!("TensorFlow has no `{}`", self.spell(elem)))?;
        Ok(Value::Type(code))
    }

    fn spell(&self, ty: Type) -> String {
        print_type(self.w.ctx, ty)
    }

    /// The type of any value, also the handle of a stack, as an attribute.
    pub(super) fn value_dtype(&self, ty: Option<Type>) -> Result<Value> {
        let ty = ty.ok_or("a value is missing")?;
        match self.w.ctx.type_data(ty) {
            TypeData::Dialect { .. } if df::is_stack(self.w.ctx, ty) => Ok(Value::Type(types::RESOURCE)),
            TypeData::Tensor { elem, .. } => self.dtype(*elem),
            _ => Err(format!("TensorFlow has no type for `{}`", self.spell(ty))),
        }
    }

    /// The element type of a stack; arbitrary if nothing pushes to it or pops from it.
    pub(super) fn stack_elem(&self) -> Result<Value> {
        self.dtype(self.w.stack_types.get(&self.at).copied().unwrap_or(Type::F32))
    }

    // ----- nodes -----

    fn push(&mut self, name: String, op: &str, inputs: &[String], attrs: &[(&str, Value)]) {
        let mut inputs = inputs.to_vec();
        inputs.extend(self.controls.iter().cloned());
        let device = self.w.nodes[self.at].device;
        self.w.out.push(NodeDef {
            name,
            op: op.to_owned(),
            inputs,
            device: device.map(|d| self.w.device_name(d)).unwrap_or_default(),
            attrs: attrs
                .iter()
                .map(|(name, value)| ((*name).to_owned(), AttrValue::from(value.clone())))
                .collect(),
        });
    }

    /// Adds an auxiliary node and returns its first result.
    pub(super) fn op(&mut self, op: &str, inputs: &[String], attrs: &[(&str, Value)]) -> String {
        let name = format!("{}/{op}", self.w.nodes[self.at].name);
        let name = self.w.fresh(&name);
        self.push(name.clone(), op, inputs, attrs);
        name
    }

    /// Adds an auxiliary node that several operations share: it does not inherit this operation's control inputs.
    pub(super) fn free_op(&mut self, op: &str, inputs: &[String], attrs: &[(&str, Value)]) -> String {
        let controls = std::mem::take(&mut self.controls);
        let name = self.op(op, inputs, attrs);
        self.controls = controls;
        name
    }

    /// Whether a node reads this output of the written switch through an identity.
    pub(super) fn has_side(&self, side: usize) -> bool {
        self.w.sides.contains(&(self.at, side))
    }

    /// Adds an auxiliary node of this name without the control inputs of this operation.
    pub(super) fn named_op(&mut self, name: String, op: &str, inputs: &[String], attrs: &[(&str, Value)]) {
        let controls = std::mem::take(&mut self.controls);
        self.push(name, op, inputs, attrs);
        self.controls = controls;
    }

    /// The name of the node of a result.
    pub(super) fn result_name(&self, index: usize) -> String {
        let name = &self.w.nodes[self.at].name;
        match index {
            0 => name.clone(),
            _ => format!("{name}/{index}"),
        }
    }

    /// Adds the node of the operation itself.
    pub(super) fn node(&mut self, op: &str, inputs: &[String], attrs: &[(&str, Value)]) {
        let name = self.result_name(0);
        self.push(name, op, inputs, attrs);
    }

    /// Makes a result the value of an auxiliary node.
    pub(super) fn result(&mut self, index: usize, value: String) -> Result<()> {
        let name = self.result_name(index);
        let own = self.w.out.len() > self.start;
        match self.w.out.last_mut().filter(|last| own && last.name == value) {
            // Nothing reads the auxiliary node that was added last yet, so it can be renamed.
            Some(last) => last.name = name,
            None => {
                let ty = self.value_dtype(self.view.result_type(index))?;
                self.push(name, "Identity", &[value], &[("T", ty)]);
            }
        }
        Ok(())
    }

    pub(super) fn unary(&mut self, op: &str, x: &str, elem: Type) -> Result<String> {
        let ty = self.dtype(elem)?;
        Ok(self.op(op, &[x.to_owned()], &[("T", ty)]))
    }

    pub(super) fn binary(&mut self, op: &str, x: &str, y: &str, elem: Type) -> Result<String> {
        let ty = self.dtype(elem)?;
        Ok(self.op(op, &[x.to_owned(), y.to_owned()], &[("T", ty)]))
    }

    /// `x` where the condition holds, else `y`.
    pub(super) fn select(&mut self, condition: &str, x: &str, y: &str, elem: Type) -> Result<String> {
        let ty = self.dtype(elem)?;
        let inputs = [condition, x, y].map(str::to_owned);
        Ok(self.op("SelectV2", &inputs, &[("T", ty)]))
    }

    pub(super) fn cast(&mut self, x: String, from: Type, to: Type) -> Result<String> {
        if from == to {
            return Ok(x);
        }
        let attrs = [("SrcT", self.dtype(from)?), ("DstT", self.dtype(to)?)];
        Ok(self.op("Cast", &[x], &attrs))
    }

    /// A constant. In a frame, a control edge from an operand makes it run in each iteration.
    pub(super) fn constant(&mut self, code: i32, dims: &[i64], values: &[Number]) -> Result<String> {
        let tensor = types::tensor(code, dims, values)?;
        let attrs = [("dtype", Value::Type(code)), ("value", Value::Tensor(tensor))];
        if self.w.nodes[self.at].depth > 0 && self.controls.is_empty() {
            let anchor = self.anchor()?;
            let name = format!("{}/Const", self.w.nodes[self.at].name);
            let name = self.w.fresh(&name);
            self.push(name.clone(), "Const", &[anchor], &attrs);
            return Ok(name);
        }
        if self.controls.is_empty() {
            let key = format!("{:?} {dims:?} {values:?} {code}", self.w.nodes[self.at].device);
            if let Some(name) = self.w.shared.get(&key) {
                return Ok(name.clone());
            }
            let name = self.op("Const", &[], &attrs);
            self.w.shared.insert(key, name.clone());
            return Ok(name);
        }
        Ok(self.op("Const", &[], &attrs))
    }

    /// A control edge from the node of an operand, in each iteration.
    pub(super) fn anchor(&mut self) -> Result<String> {
        for index in 0..self.num_operands() {
            let Some((from, result)) = self.w.source(self.at, index) else {
                continue;
            };
            if self.w.is_constant_enter(from) {
                continue;
            }
            if self.w.view(from).name() != df::SWITCH || !self.w.reads_side(self.at) {
                return Ok(format!("^{}", self.w.nodes[from].name));
            }
            // A control edge from a switch does not select a side.
            return Ok(format!("^{}", side_name(&self.w.nodes[from].name, result)));
        }
        Err("it needs a constant in a loop, but has no operand that depends on the iteration".to_owned())
    }

    pub(super) fn scalar(&mut self, value: Number, elem: Type) -> Result<String> {
        let Value::Type(code) = self.dtype(elem)? else {
            return Err("it has no element type".to_owned());
        };
        self.constant(code, &[], &[value])
    }

    /// A scalar of a type.
    pub(super) fn num(&mut self, value: f64, elem: Type) -> Result<String> {
        self.scalar(Number::Float(value), elem)
    }

    /// A vector of integers: axes, a shape.
    pub(super) fn vector(&mut self, values: &[i64]) -> Result<String> {
        let numbers: Vec<Number> = values.iter().map(|&v| Number::Int(v.into())).collect();
        self.constant(INT64, &[values.len() as i64], &numbers)
    }

    /// An axis.
    pub(super) fn axis(&mut self, axis: i64) -> Result<String> {
        self.constant(INT32, &[], &[Number::Int(axis.into())])
    }

    /// Reshapes to a shape with at most one dynamic dimension.
    pub(super) fn reshape(&mut self, x: String, dims: &[i64], elem: Type) -> Result<String> {
        if dims.iter().filter(|&&d| d < 0).count() > 1 {
            return Err("several dimensions of its result are unknown".to_owned());
        }
        let shape = self.vector(dims)?;
        let attrs = [("T", self.dtype(elem)?), ("Tshape", Value::Type(INT64))];
        Ok(self.op("Reshape", &[x, shape], &attrs))
    }

    /// The shape of an operand as a tensor.
    pub(super) fn shape_of(&mut self, index: usize) -> Result<String> {
        let (dims, elem) = self.operand_type(index)?;
        self.view.sees_operand(index);
        match dims.iter().all(|&d| d >= 0) {
            true => self.vector(&dims),
            false => {
                let x = self.input(index)?;
                let attrs = [("T", self.dtype(elem)?), ("out_type", Value::Type(INT64))];
                Ok(self.op("Shape", &[x], &attrs))
            }
        }
    }

    // ----- finishing -----

    /// Annotates the shapes of the results, and copies a constant enter to the devices that read it.
    fn finish(&mut self) {
        let name = self.view.name();
        let count = match self.view.body.num_results(self.view.op) {
            0 => return,
            count if ops::gives_all(name) => count,
            _ => 1,
        };
        for index in 0..self
            .view
            .body
            .num_results(self.view.op)
            .min(if count > 1 { 1 } else { usize::MAX })
        {
            let results = if count > 1 { 0..count } else { index..index + 1 };
            let shapes = results.map(|i| self.shape(i)).collect();
            let node = self.result_name(index);
            let own = self.w.out.get_mut(self.start..).unwrap_or(&mut []);
            if let Some(node) = own.iter_mut().rev().find(|n| n.name == node) {
                let shapes = ListValue {
                    shapes,
                    ..ListValue::default()
                };
                node.attrs
                    .insert("_output_shapes".to_owned(), Value::List(shapes).into());
            }
        }
        self.copy();
    }

    fn shape(&self, index: usize) -> TensorShape {
        let tensor = self.view.result_type(index).and_then(|ty| self.w.ctx.as_tensor(ty));
        match tensor {
            Some(_) if self.view.name() == df::LOOP_COND => TensorShape::of(&[]),
            Some((dims, _)) => TensorShape::of(dims),
            None => TensorShape::unknown(),
        }
    }

    fn copy(&mut self) {
        if self.w.copies.is_empty() || self.view.name() != df::ENTER {
            return;
        }
        let mut copies: Vec<(i64, String)> = self
            .w
            .copies
            .iter()
            .filter(|((at, _), _)| *at == self.at)
            .map(|((_, device), name)| (*device, name.clone()))
            .collect();
        copies.sort();
        let Some(node) = self.w.out.last().cloned() else { return };
        for (device, name) in copies {
            let mut copy = node.clone();
            copy.name = name;
            copy.device = self.w.device_name(device);
            // The operand of the enter may be such a copy itself.
            if let (Some((from, 0)), Some(input)) = (self.w.source(self.at, 0), copy.inputs.first_mut()) {
                *input = self.w.name_on(from, Some(device)).to_owned();
            }
            self.w.out.push(copy);
        }
    }
}
