//! The nodes that are being read: those of the graph, or of a function in it.

use std::rc::Rc;

use pir_ir::{DYNAMIC, Span, Type, ValueId};
use rustc_hash::FxHashMap;

use super::super::proto::NodeDef;
use super::constants;
use super::reader::{Constant, Input, Reader, Result};

/// A value that exists only in the reader, and not in the program.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Handle {
    /// A variable.
    Variable { name: String, shape: Option<Vec<i64>> },
    /// An array of tensors, by the place of the node that makes it. Its elements travel with the flow.
    Array(String),
    /// The gradient of such an array, to which everything that is written is added.
    Slopes(String),
}

/// An argument or a result of a function.
#[derive(Clone, Default, Debug)]
pub(super) struct Binding {
    pub(super) value: Option<ValueId>,
    pub(super) constant: Option<Rc<Constant>>,
    pub(super) handle: Option<Handle>,
}

impl Binding {
    pub(super) fn of(value: ValueId) -> Binding {
        Binding {
            value: Some(value),
            ..Binding::default()
        }
    }
}

/// The state of reading one list of nodes.
#[derive(Default)]
pub(super) struct Scope {
    pub(super) nodes: Rc<Vec<NodeDef>>,
    pub(super) spans: Vec<Span>,
    pub(super) failed: Vec<bool>,
    pub(super) kept: Vec<bool>,
    pub(super) inputs: Vec<Vec<Input>>,
    pub(super) controls: Vec<Vec<usize>>,
    pub(super) constants: Vec<Option<Rc<Constant>>>,
    pub(super) computed: Vec<Vec<Option<Rc<Constant>>>>,
    pub(super) handles: Vec<Vec<Option<Handle>>>,
    pub(super) values: Vec<Vec<ValueId>>,
}

impl Scope {
    pub(super) fn new(nodes: Rc<Vec<NodeDef>>, spans: Vec<Span>) -> Scope {
        let count = nodes.len();
        Scope {
            constants: nodes.iter().map(|n| constants::of(n).map(Rc::new)).collect(),
            computed: vec![Vec::new(); count],
            handles: vec![Vec::new(); count],
            failed: vec![false; count],
            kept: vec![true; count],
            values: vec![Vec::new(); count],
            inputs: Vec::new(),
            controls: Vec::new(),
            nodes,
            spans,
        }
    }

    /// The same nodes, not read yet.
    pub(super) fn again(&self) -> Scope {
        Scope {
            nodes: self.nodes.clone(),
            spans: self.spans.clone(),
            failed: self.failed.clone(),
            kept: self.kept.clone(),
            inputs: Vec::new(),
            controls: Vec::new(),
            constants: self.constants.clone(),
            computed: self.computed.clone(),
            handles: self.handles.clone(),
            values: self.values.clone(),
        }
    }
}

/// The nodes of a function with inputs as in a graph: arguments become nodes, results are counted.
pub(super) struct Function {
    /// Its nodes, not read yet.
    pub(super) scope: Scope,
    /// The numbers of the nodes by name.
    pub(super) places: FxHashMap<String, usize>,
    pub(super) arguments: usize,
    /// The results.
    pub(super) results: Vec<Input>,
    /// The nodes that run for their effects.
    pub(super) effects: Vec<usize>,
}

/// Operations whose result is their first input.
pub(super) const FORWARDS: &[&str] = &[
    "Identity",
    "Enter",
    "Switch",
    "Exit",
    "Merge",
    "NextIteration",
    "_SwitchN",
];

/// Where the text of an input leads; `place` gives the number of a node.
pub(super) fn find(text: &str, place: impl Fn(&str) -> Option<usize>) -> Result<Input> {
    let text = text.trim_start_matches('^');
    let (name, index) = match text.rsplit_once(':') {
        Some((name, index)) if index.bytes().all(|b| b.is_ascii_digit()) => (name, index.parse().unwrap_or(0)),
        _ => (text, 0),
    };
    let node = place(name).ok_or_else(|| format!("there is no node `{name}`"))?;
    Ok(Input { node, index })
}

impl Reader<'_> {
    /// Gives an argument of a function its value.
    pub(super) fn bind(&mut self, at: usize, binding: &Binding) {
        self.values[at] = binding.value.into_iter().collect();
        self.computed[at] = vec![binding.constant.clone()];
        self.handles[at] = vec![binding.handle.clone()];
    }

    /// Gives a node the results of a function.
    pub(super) fn gives(&mut self, at: usize, results: Vec<Binding>) {
        let mut values = Vec::new();
        let mut handles = Vec::new();
        for result in &results {
            handles.push(result.handle.clone());
            // A handle has no value; the place must be taken by something.
            values.extend(result.value.or_else(|| values.last().copied()));
        }
        self.computed[at] = results.iter().map(|result| result.constant.clone()).collect();
        if values.len() == results.len() {
            self.values[at] = values;
        }
        self.handles[at] = handles;
    }

    /// The handle that an input is.
    pub(super) fn handle(&self, mut input: Input) -> Option<Handle> {
        for _ in 0..=self.nodes.len() {
            if let Some(Some(handle)) = self.handles[input.node].get(input.index) {
                return Some(handle.clone());
            }
            let first = self.inputs[input.node].first().copied();
            match first.filter(|_| FORWARDS.contains(&self.nodes[input.node].op.as_str())) {
                Some(next) => input = next,
                None => return None,
            }
        }
        None
    }

    /// The constant that an input is, or is known to be.
    pub(super) fn computed(&self, input: Input) -> Option<&Rc<Constant>> {
        let own = self.constants[input.node].as_ref();
        own.or_else(|| self.computed[input.node].get(input.index)?.as_ref())
    }

    /// Whether a node only forwards a handle, which needs no operation.
    pub(super) fn forwards_handle(&self, at: usize) -> bool {
        FORWARDS.contains(&self.nodes[at].op.as_str()) && self.handle(Input { node: at, index: 0 }).is_some()
    }

    /// A function of the library.
    pub(super) fn function(&mut self, name: &str) -> Result<Rc<Function>> {
        if let Some(function) = self.functions.get(name) {
            return Ok(function.clone());
        }
        let def = self.library.get(name);
        let def = def.ok_or_else(|| format!("the function `{name}` is not in the file"))?;
        let function = Rc::new(Function::of(def, &self.library)?);
        self.functions.insert(name.to_owned(), function.clone());
        Ok(function)
    }

    /// Where the text of an input leads.
    pub(super) fn find(&self, text: &str) -> Result<Input> {
        find(text, |name| self.nodes.iter().position(|node| node.name == name))
    }

    // ----- what is learned -----

    /// Notes a type, and that the graph must be read again if it is another one than was used.
    pub(super) fn learn(&mut self, key: &str, ty: Type, used: Type) {
        if ty != used {
            self.learned.insert(key.to_owned(), ty);
            self.changed = true;
        }
    }

    /// The type that was learned, or that of a value.
    pub(super) fn learned_or(&self, key: &str, value: ValueId) -> Type {
        self.learned
            .get(key)
            .copied()
            .unwrap_or_else(|| self.body.value_type(value))
    }

    /// A tensor type that covers two.
    pub(super) fn general(&self, a: Type, b: Type) -> Result<Type> {
        let (Some((ad, ae)), Some((bd, be))) = (self.ctx.as_tensor(a), self.ctx.as_tensor(b)) else {
            return if a == b {
                Ok(a)
            } else {
                Err("the merged values have different types".to_owned())
            };
        };
        if ae != be || ad.len() != bd.len() {
            return Err("the merged values have different element types or ranks".to_owned());
        }
        let dims: Vec<i64> = ad
            .iter()
            .zip(bd)
            .map(|(&a, &b)| if a == b { a } else { DYNAMIC })
            .collect();
        Ok(self.ctx.tensor(&dims, ae))
    }

    /// Notes that a value is a list whose elements are those of another one.
    pub(super) fn same_list(&mut self, from: ValueId, to: ValueId) {
        if let Some(list) = self.lists.get(&from).cloned() {
            self.lists.insert(to, list);
        }
    }
}
