//! The roots of a graph, and the nodes that they depend on.

use pir_dialects::pd;
use pir_ir::{OpId, TypeData};

use super::super::InputShape;
use super::super::proto::{NodeDef, Value};
use super::arrays;
use super::reader::{Input, Reader, Result};
use super::row::plain_name;

/// Nodes that run only for their effects: it stops the run where something is not as it should be.
const CHECK: &str = "Assert";

impl Reader<'_> {
    /// The outputs with their names: those that are asked for, those with marks, or the nodes without users.
    pub(super) fn outputs(&self) -> Result<Vec<(String, Input)>> {
        if !self.options.named.is_empty() {
            let one = |(name, text): &(String, String)| Ok((name.clone(), self.find(text)?));
            return self.options.named.iter().map(one).collect();
        }
        if !self.options.outputs.is_empty() {
            let one = |text: &String| Ok((text.clone(), self.find(text)?));
            return self.options.outputs.iter().map(one).collect();
        }
        // A node with a mark makes its output itself.
        let marked = |n: &NodeDef| n.attrs.contains_key("_output");
        if self.nodes.iter().any(marked) {
            let all = (0..self.nodes.len()).map(|node| (String::new(), Input { node, index: 0 }));
            return Ok(all.collect());
        }
        let mut read = vec![false; self.nodes.len()];
        for input in self.inputs.iter().flatten() {
            read[input.node] = true;
        }
        for at in self.controls.iter().flatten() {
            read[*at] = true;
        }
        let leaves = (0..self.nodes.len()).map(|at| {
            let name = if read[at] {
                String::new()
            } else {
                self.nodes[at].name.clone()
            };
            (name, Input { node: at, index: 0 })
        });
        Ok(leaves.collect())
    }

    /// The name of an input whose shape is given and that does not exist.
    pub(super) fn unknown_input(&self) -> Option<&str> {
        let is = |node: &NodeDef, name: &str| {
            let own = match node.attrs.get("_input").and_then(|a| a.value.as_ref()) {
                Some(Value::Bytes(own)) => own == name.as_bytes(),
                _ => node.name == name,
            };
            node.op == "Placeholder" && own
        };
        let names = self.options.shapes.iter().filter_map(|shape| match shape {
            InputShape::Of(name, _) => Some(name.as_str()),
            InputShape::Open(_) => None,
        });
        names
            .into_iter()
            .find(|name| !self.nodes.iter().any(|node| is(node, name)))
    }

    /// Keeps the nodes that these depend on. Nothing depends on a check: it has no result.
    pub(super) fn prune(&mut self, roots: &[usize]) {
        self.kept = vec![false; self.nodes.len()];
        let mut pending = roots.to_vec();
        while let Some(at) = pending.pop() {
            if !std::mem::replace(&mut self.kept[at], true) && self.nodes[at].op != CHECK {
                pending.extend(self.inputs[at].iter().map(|input| input.node));
                pending.extend(&self.controls[at]);
            }
        }
        for at in 0..self.nodes.len() {
            if self.nodes[at].op == CHECK {
                self.kept[at] = false;
            }
        }
    }

    /// Whether the options name the outputs.
    pub(super) fn is_asked(&self) -> bool {
        !(self.options.outputs.is_empty() && self.options.named.is_empty())
    }

    /// Makes the outputs.
    pub(super) fn fetch(&mut self, outputs: &[(String, Input)]) {
        let asked = self.is_asked();
        for (name, input) in outputs.iter().filter(|(name, _)| !name.is_empty()) {
            let at = input.node;
            let value = match asked {
                true => self.value(*input),
                false => self.values[at].get(input.index).copied().ok_or_else(String::new),
            };
            let tensor = |v| matches!(self.ctx.type_data(self.body.value_type(v)), TypeData::Tensor { .. });
            let value = match value {
                Ok(value) if tensor(value) => value,
                _ if !asked => continue,
                Ok(_) => return self.fail(at, "it is not a tensor"),
                Err(message) => return self.fail(at, &message),
            };
            let name = self.ctx.str_attr(name);
            if let Err(message) = self.append(at, pd::Fetch::NAME, &[value], &[], &[("name", name)]) {
                self.fail(at, &message);
            }
        }
    }

    /// The type of a merge follows from what comes back to it too.
    pub(super) fn settle(&mut self, op: OpId, index: usize, input: Input) {
        let (Some(&first), Some(back)) = (
            self.body.results(op).collect::<Vec<_>>().first(),
            self.body.get_operand(op, index),
        ) else {
            return;
        };
        let (ty, other) = (self.body.value_type(first), self.body.value_type(back));
        if self.changed || ty == other {
            return;
        }
        let merge = (0..self.nodes.len())
            .find(|&at| plain_name(&self.nodes[at].op) == "Merge" && self.values[at].first() == Some(&first));
        match (self.general(ty, other), merge) {
            (Ok(general), Some(merge)) => {
                let key = self.place(merge);
                self.learn(&key, general, ty);
            }
            (Err(message), merge) => {
                // A sum of gradients of an array begins with a number: it is entered as an array.
                let inputs = merge.map(|merge| self.inputs[merge].clone()).unwrap_or_default();
                let enter = inputs.into_iter().find(|i| self.is(i.node, &["Enter"]));
                let scalar = self.ctx.as_tensor(ty).is_some_and(|(dims, _)| dims.is_empty());
                let value = self.inputs[input.node].first().copied();
                let slope = value.is_some_and(|value| arrays::is_slope(self, value));
                match enter.filter(|_| scalar && slope) {
                    Some(enter) => {
                        let key = self.place(enter.node);
                        self.learn(&key, other, ty);
                    }
                    None => self.fail(input.node, &message),
                }
            }
            _ => {}
        }
    }
}
