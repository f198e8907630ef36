//! Reads graphs: a `GraphDef` becomes a `df.graph`, or a structured program if it has no control flow.
//!
//! Operands in TensorFlow that are attributes in the dialect `pd` (axes, shapes) are read from constants, which become
//! operations only where something else reads them. Shapes are inferred from the operations, starting at the
//! placeholders.

mod const_operands;
mod constants;
mod devices;
mod ops;
mod select;
mod signature;

use pir_dialects::{df, pd};
use std::cell::RefCell;
use std::sync::Arc;

use pir_ir::budget::Reservation;
use pir_ir::{
    Attr, AttrDict, Body, Context, DYNAMIC, Diagnostic, Module, OpId, OpSpec, Span, Sym, Type, TypeData, ValueId,
    ValueName,
};
use prost::Message;
use rustc_hash::{FxHashMap, FxHashSet};

use super::proto::{GraphDef, NodeDef, Value};
use super::types::{self, Number, RESOURCE};
use crate::paddle::build::identifier;
use crate::schemas;
use crate::wire;
use pir_dialects::df::DEVICE_NAME;

/// Why a node cannot be read.
type Result<T> = std::result::Result<T, String>;

/// A constant node: its dimensions, its numbers (one, or as many as elements), its element type.
type Constant = (Vec<i64>, Vec<Number>, i32);

/// Reads a message.
pub(super) fn read(ctx: &Arc<Context>, source: &[u8]) -> std::result::Result<Module, Vec<Diagnostic>> {
    let mut held = Reservation::default();
    let faults = wire::check(source, &schemas::GRAPH, &mut held);
    if !faults.is_empty() {
        let tell = |f: wire::Fault| {
            error(format!(
                "this is not a graph of TensorFlow: {}, at byte {}",
                f.message, f.at
            ))
        };
        return Err(faults.into_iter().map(tell).collect());
    }
    let graph = GraphDef::decode(source).map_err(|e| vec![error(format!("this is not a graph of TensorFlow: {e}"))])?;
    let mut reader = Reader::new(ctx, graph.nodes, wire::spans(source, 1));
    reader.run();
    match reader.errors.is_empty() {
        true => Ok(reader.module()),
        false => Err(reader.errors),
    }
}

fn error(message: String) -> Diagnostic {
    Diagnostic::error("graphdef", message)
}

/// Where an input comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Input {
    node: usize,
    index: usize,
}

/// Stop after this many errors.
const MOST_ERRORS: usize = 100;

/// The inputs and attributes of the current node that its reader has used.
#[derive(Default)]
struct Seen {
    attrs: Vec<String>,
    inputs: FxHashSet<usize>,
}

struct Reader<'c> {
    ctx: &'c Arc<Context>,
    nodes: Vec<NodeDef>,
    /// The location of each node in the file.
    spans: Vec<Span>,
    seen: RefCell<Seen>,
    /// The nodes that could not be read, and their users.
    failed: Vec<bool>,
    devices: devices::Devices,
    body: Body,
    inputs: Vec<Vec<Input>>,
    controls: Vec<Vec<usize>>,
    constants: Vec<Option<Constant>>,
    /// The results of each node that was read.
    values: Vec<Vec<ValueId>>,
    /// Auxiliary operations of a node that have no operands: they get the control dependences of the node.
    pieces: Vec<(ValueId, usize)>,
    /// Operands to set when all nodes have been read.
    back_edges: Vec<(OpId, usize, Input)>,
    /// Whether there is no control flow.
    plain: bool,
    errors: Vec<Diagnostic>,
}

impl<'c> Reader<'c> {
    fn new(ctx: &'c Arc<Context>, nodes: Vec<NodeDef>, spans: Vec<Span>) -> Self {
        let mut body = Body::new();
        let root = body.root();
        body.create_block(root);
        let flow = |n: &NodeDef| !n.device.is_empty() || ops::is_control_flow(&n.op);
        let count = nodes.len();
        Reader {
            ctx,
            plain: !nodes.iter().any(flow),
            constants: nodes.iter().map(constants::of).collect(),
            devices: devices::Devices::of(&nodes),
            failed: vec![false; count],
            spans,
            seen: RefCell::default(),
            nodes,
            body,
            inputs: Vec::new(),
            controls: Vec::new(),
            values: vec![Vec::new(); count],
            pieces: Vec::new(),
            back_edges: Vec::new(),
            errors: Vec::new(),
        }
    }

    fn fail(&mut self, at: usize, message: &str) {
        let node = &self.nodes[at];
        let place = self.spans.get(at).map_or(0, |span| span.start);
        let message = format!("node `{}` (`{}`): {message}, at byte {place}", node.name, node.op);
        self.errors.push(error(message));
        self.failed[at] = true;
    }

    fn run(&mut self) {
        self.connect();
        let order = match self.errors.is_empty() {
            true => self.order(),
            false => return,
        };
        for &at in &order {
            // A user of a node that cannot be read would only repeat the error.
            let lost = |input: &Input| self.failed[input.node] && !self.is_back_edge(input.node, at);
            if self.inputs[at].iter().any(lost) {
                self.failed[at] = true;
            } else if let Err(message) = self.node(at) {
                self.fail(at, &message);
                if self.errors.len() >= MOST_ERRORS {
                    return;
                }
            }
        }
        if !self.errors.is_empty() {
            return;
        }
        self.close();
        self.fetch_leaves();
        if !self.plain {
            self.write_controls();
        }
    }

    /// Reads a node, and checks that every input and attribute of it was used.
    fn node(&mut self, at: usize) -> Result<()> {
        *self.seen.borrow_mut() = Seen::default();
        let op = ops::plain_name(&self.nodes[at].op).to_owned();
        signature::check(self, at, &op)?;
        if self.constants[at].is_some() {
            return constants::check(self, at);
        }
        ops::read(self, at, &op)?;
        signature::rest(self, at, &op)
    }

    /// Resolves the names of the inputs.
    fn connect(&mut self) {
        let mut places: FxHashMap<&str, usize> = FxHashMap::default();
        let mut errors = Vec::new();
        for (at, node) in self.nodes.iter().enumerate() {
            if places.insert(&node.name, at).is_some() {
                errors.push(error(format!("two nodes are called `{}`", node.name)));
            }
        }
        for node in &self.nodes {
            let (mut inputs, mut controls) = (Vec::new(), Vec::new());
            for text in &node.inputs {
                let (name, control) = match text.strip_prefix('^') {
                    Some(name) => (name, true),
                    None => (text.as_str(), false),
                };
                let (name, index) = match name.rsplit_once(':') {
                    Some((name, index)) if index.bytes().all(|b| b.is_ascii_digit()) => (name, index.parse().ok()),
                    _ => (name, Some(0)),
                };
                match (places.get(name), index) {
                    (Some(&from), _) if control => controls.push(from),
                    (Some(&node), Some(index)) => inputs.push(Input { node, index }),
                    _ => errors.push(error(format!(
                        "node `{}` (`{}`) reads `{text}`, and no node is called so",
                        node.name, node.op
                    ))),
                }
            }
            self.inputs.push(inputs);
            self.controls.push(controls);
        }
        self.errors.extend(errors);
    }

    fn is(&self, at: usize, ops: &[&str]) -> bool {
        ops.contains(&self.nodes[at].op.as_str())
    }

    fn is_back_edge(&self, from: usize, to: usize) -> bool {
        self.is(from, &["NextIteration", "RefNextIteration"]) && self.is(to, &["Merge", "RefMerge"])
    }

    /// The nodes in topological order.
    fn order(&mut self) -> Vec<usize> {
        let mut missing = vec![0usize; self.nodes.len()];
        let mut readers: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        for (at, missing) in missing.iter_mut().enumerate() {
            for input in &self.inputs[at] {
                if !self.is_back_edge(input.node, at) {
                    *missing += 1;
                    readers[input.node].push(at);
                }
            }
        }
        // In the order of the file where the edges allow it.
        let mut order: Vec<usize> = (0..self.nodes.len()).filter(|&at| missing[at] == 0).collect();
        let mut next = 0;
        while let Some(&at) = order.get(next) {
            next += 1;
            for &reader in &readers[at] {
                missing[reader] -= 1;
                if missing[reader] == 0 {
                    order.push(reader);
                }
            }
        }
        if let Some(at) = (0..self.nodes.len()).find(|&at| missing[at] > 0) {
            self.fail(
                at,
                "it waits for itself: only a `NextIteration` read by a `Merge` closes a circle",
            );
        }
        order
    }

    // ----- reading nodes -----

    fn attr(&self, at: usize, name: &str) -> Option<&Value> {
        self.seen.borrow_mut().attrs.push(name.to_owned());
        self.nodes[at].attrs.get(name)?.value.as_ref()
    }

    fn int(&self, at: usize, name: &str) -> Option<i64> {
        match self.attr(at, name)? {
            Value::Int(value) => Some(*value),
            _ => None,
        }
    }

    fn flag(&self, at: usize, name: &str) -> bool {
        matches!(self.attr(at, name), Some(Value::Bool(true)))
    }

    fn text(&self, at: usize, name: &str) -> Option<String> {
        match self.attr(at, name)? {
            Value::Bytes(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
            _ => None,
        }
    }

    /// The element type given by an attribute.
    fn elem(&self, at: usize, name: &str) -> Result<Type> {
        let Some(Value::Type(code)) = self.attr(at, name) else {
            return Err(format!("it has no type `{name}`"));
        };
        let unknown = || format!("elements of type {} are not known here", types::name(*code));
        types::elem(self.ctx, *code).ok_or_else(unknown)
    }

    /// A tensor type from dimensions as TensorFlow writes them.
    fn tensor(&self, dims: &[i64], elem: Type) -> Result<Type> {
        match dims.iter().find(|&&d| d < DYNAMIC) {
            Some(d) => Err(format!("a dimension cannot be {d}")),
            None => Ok(self.ctx.tensor(dims, elem)),
        }
    }

    /// The shape that the node declares for a result.
    fn written_shape(&self, at: usize, result: usize) -> Option<Vec<i64>> {
        let Some(Value::List(list)) = self.attr(at, "_output_shapes") else {
            return None;
        };
        list.shapes.get(result)?.known()
    }

    fn num_inputs(&self, at: usize) -> usize {
        self.inputs[at].len()
    }

    fn input(&self, at: usize, index: usize) -> Result<Input> {
        self.seen.borrow_mut().inputs.insert(index);
        let input = self.inputs[at].get(index).copied();
        input.ok_or_else(|| format!("its input {index} is missing"))
    }

    /// The constant that defines an input, if one does.
    fn constant(&self, at: usize, index: usize) -> Option<&Constant> {
        let input = self.input(at, index).ok()?;
        self.constants[input.node].as_ref()
    }

    /// The type code of an input, if it is already known.
    fn input_code(&self, at: usize, index: usize) -> Option<i32> {
        let input = self.inputs[at].get(index)?;
        if let Some((_, _, code)) = &self.constants[input.node] {
            return Some(*code);
        }
        let ty = self.body.value_type(*self.values[input.node].get(input.index)?);
        match self.ctx.type_data(ty) {
            TypeData::Tensor { elem, .. } => types::code(self.ctx, *elem),
            TypeData::Dialect { .. } if df::is_stack(self.ctx, ty) => Some(RESOURCE),
            _ => None,
        }
    }

    /// The integers of an input that is a constant.
    fn known(&self, at: usize, index: usize) -> Option<Vec<i64>> {
        /// Lists of axes and dimensions are short.
        const LONGEST: i64 = 1 << 12;
        let (dims, numbers, _) = self.constant(at, index)?;
        let count = dims.iter().try_fold(1i64, |n, &d| n.checked_mul(d))?;
        let int = |n: &Number| match n {
            Number::Int(value) => i64::try_from(*value).ok(),
            Number::Float(_) => None,
        };
        let values: Vec<i64> = numbers.iter().map(int).collect::<Option<_>>()?;
        match values[..] {
            [one] if (0..=LONGEST).contains(&count) => Some(vec![one; count as usize]),
            _ => Some(values),
        }
    }

    fn list(&self, at: usize, index: usize, what: &str) -> Result<Vec<i64>> {
        self.known(at, index)
            .ok_or_else(|| format!("its {what}, input {index}, must be a constant"))
    }

    fn scalar(&self, at: usize, index: usize, what: &str) -> Result<i64> {
        match self.list(at, index, what)?[..] {
            [value] => Ok(value),
            _ => Err(format!("its {what}, input {index}, must be one number")),
        }
    }

    /// The value of an input.
    fn operand(&mut self, at: usize, index: usize) -> Result<ValueId> {
        let input = self.input(at, index)?;
        self.value(input)
    }

    fn value(&mut self, input: Input) -> Result<ValueId> {
        if self.values[input.node].is_empty() && self.constants[input.node].is_some() {
            constants::make(self, input.node)?;
        }
        let value = self.values[input.node].get(input.index);
        value.copied().ok_or_else(|| {
            let node = &self.nodes[input.node];
            format!("`{}` (`{}`) has no result {}", node.name, node.op, input.index)
        })
    }

    fn operands(&mut self, at: usize, count: usize) -> Result<Vec<ValueId>> {
        (0..count).map(|i| self.operand(at, i)).collect()
    }

    fn dims(&self, value: ValueId) -> Result<(Vec<i64>, Type)> {
        let tensor = self.ctx.as_tensor(self.body.value_type(value));
        let (dims, elem) = tensor.ok_or("an operand is not a tensor")?;
        Ok((dims.to_vec(), elem))
    }

    // ----- building operations -----

    fn entry(&self, name: &str, attr: Attr) -> (Sym, Attr) {
        (self.ctx.sym(name), attr)
    }

    fn dict(&self, attrs: &[(&str, Attr)]) -> AttrDict {
        let entries: Vec<(Sym, Attr)> = attrs.iter().map(|(name, attr)| self.entry(name, *attr)).collect();
        self.ctx.dict(&entries)
    }

    /// Appends an auxiliary operation of a node.
    fn helper(&mut self, at: usize, name: &str, operands: &[ValueId], attrs: &[(&str, Attr)]) -> Result<ValueId> {
        let op = self.append(at, name, operands, &[Type::NONE], attrs)?;
        let value = self.body.result(op, 0);
        if operands.is_empty() {
            self.pieces.push((value, at));
        }
        Ok(value)
    }

    /// Appends the operation that gives the result of a node.
    fn op(&mut self, at: usize, name: &str, operands: &[ValueId], attrs: &[(&str, Attr)]) -> Result<()> {
        self.op_of(at, name, operands, attrs, 1)
    }

    /// The same for several results.
    fn op_of(
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
    fn is_node(&mut self, at: usize, op: OpId) {
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
    fn append(
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
        let root = self.body.root();
        if let Some(block) = self.body.entry_block(root) {
            self.body.append_op(block, op);
        }
        if results.iter().all(|&ty| ty != Type::NONE) {
            return Ok(op);
        }
        let view = self.body.view(ctx, op);
        let inferred = view.with_infer_args(|args| view.def().and_then(|def| def.infer).map(|infer| infer(args)));
        let types = match inferred.flatten() {
            Some(types) => types?,
            None => {
                let elem = operands
                    .first()
                    .map_or(Type::F32, |&v| ctx.elem_type(self.body.value_type(v)));
                let written = |i| self.written_shape(at, i).map(|dims| ctx.tensor(&dims, elem));
                let types = (0..results.len()).map(written).collect::<Option<_>>();
                types.ok_or("its shape is not known")?
            }
        };
        if types.len() != results.len() {
            return Err(format!("it gives {} values, and not {}", types.len(), results.len()));
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

    // ----- finishing -----

    /// Sets the back edges of merges.
    fn close(&mut self) {
        for (op, index, input) in std::mem::take(&mut self.back_edges) {
            match self.value(input) {
                Ok(value) => self.body.set_operand(op, index, value),
                Err(message) => self.fail(input.node, &message),
            }
        }
    }

    /// Without fetch marks, the outputs are the nodes without users.
    fn fetch_leaves(&mut self) {
        let marked = |n: &NodeDef| n.attrs.contains_key("_output");
        if self.nodes.iter().any(marked) {
            return;
        }
        let mut read = vec![false; self.nodes.len()];
        for input in self.inputs.iter().flatten() {
            read[input.node] = true;
        }
        for at in self.controls.iter().flatten() {
            read[*at] = true;
        }
        for (at, read) in read.into_iter().enumerate() {
            let tensor = |v: &ValueId| matches!(self.ctx.type_data(self.body.value_type(*v)), TypeData::Tensor { .. });
            if let Some(&value) = self.values[at].first().filter(|v| !read && tensor(v)) {
                let name = self.ctx.str_attr(&self.nodes[at].name);
                if let Err(message) = self.append(at, pd::Fetch::NAME, &[value], &[], &[("name", name)]) {
                    self.fail(at, &message);
                }
            }
        }
    }

    /// Writes control edges, each to all operations of a node.
    fn write_controls(&mut self) {
        let mut to: Vec<(ValueId, usize)> = (0..self.nodes.len())
            .filter_map(|at| Some((*self.values[at].first()?, at)))
            .collect();
        let own = to.len();
        to.append(&mut self.pieces);
        for (number, (value, at)) in to.into_iter().enumerate() {
            let mut from: Vec<ValueId> = vec![value];
            if number >= own {
                // An operation without operands runs in the frame of the node's operands.
                let given = self.inputs[at].iter().filter(|i| self.constants[i.node].is_none());
                from.extend(given.filter_map(|i| self.values[i.node].get(i.index).copied()));
            }
            for i in 0..self.controls[at].len() {
                let node = self.controls[at][i];
                if self.values[node].is_empty() && self.constants[node].is_some() {
                    // A control edge from a constant forwards the constant's own control edges.
                    let inner = self.controls[node].clone();
                    from.extend(inner.iter().filter_map(|&n| self.values[n].first().copied()));
                    continue;
                }
                from.extend(self.values[node].first());
            }
            from.dedup();
            if from.len() > 1 {
                let name = self.ctx.op_name(df::CONTROL);
                let op = self.body.create_op(OpSpec {
                    operands: &from,
                    ..OpSpec::new(name)
                });
                let root = self.body.root();
                if let Some(block) = self.body.entry_block(root) {
                    self.body.append_op(block, op);
                }
            }
        }
    }

    fn module(self) -> Module {
        if self.plain {
            return Module {
                ctx: self.ctx.clone(),
                body: self.body,
            };
        }
        let mut module = Module::new(self.ctx.clone());
        let graph = module.body.create_op(OpSpec::new(self.ctx.op_name(df::GRAPH)));
        module.body.set_isolated(graph, self.body);
        let top = module.top();
        module.body.append_op(top, graph);
        module
    }
}
