//! The backward engine: a queue of nodes whose incoming gradients are complete.

use std::collections::VecDeque;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::holder::GradTensorHolder;
use super::node::{Edge, GradNodeKind, Node};
use super::rules::Cx;
use super::{Engine, Tensor};
use crate::tensor::Tensor as Dense;

/// Options for computing gradients.
#[derive(Clone, Copy, Default, Debug)]
pub struct GradOptions<'a> {
    /// Keep the saved tensors, so that gradients can be computed again.
    pub retain_graph: bool,
    /// Record the gradient functions, so that they can be differentiated; also keeps the saved tensors.
    pub create_graph: bool,
    /// For `grad`: an input that no output depends on has no gradient; by default this is an error.
    pub allow_unused: bool,
    /// For `grad`: tensors at which gradients stop.
    pub no_grad: &'a [Tensor],
}

/// The parameters of a run of the engine.
#[derive(Default)]
pub(super) struct Request<'a> {
    pub(super) options: GradOptions<'a>,
    /// The inputs whose gradients are returned; `None` accumulates the gradients of all leaves.
    pub(super) targets: Option<&'a [Tensor]>,
    /// No target is reachable through another one.
    pub(super) within: bool,
}

/// The node, slot and rank at which a gradient arrives.
type Place = (*const Node, usize, usize);

fn place(edge: &Edge) -> Place {
    (Rc::as_ptr(&edge.node), edge.slot, edge.rank)
}

struct State {
    node: Rc<Node>,
    /// The number of edges whose gradients are missing.
    in_degree: usize,
    holder: GradTensorHolder,
    /// Whether a requested gradient is at this node or reachable from it.
    needed: bool,
    /// Whether a requested gradient is reachable through this node's edges.
    runs: bool,
}

impl Engine {
    /// Adds the gradients of outputs to those of the leaves that they depend on. The seeds are ones by default.
    ///
    /// # Errors
    /// If an operation has no gradient function, a saved tensor was changed or freed, or shapes do not match.
    pub fn backward(
        &self,
        outputs: &[Tensor],
        seeds: &[Option<Tensor>],
        options: GradOptions<'_>,
    ) -> Result<(), String> {
        let request = Request {
            options,
            ..Request::default()
        };
        self.run(outputs, seeds, &request).map(|_| ())
    }

    /// The gradients of outputs with respect to inputs, which need not be leaves. Leaves are not changed.
    ///
    /// # Errors
    /// As for [`Engine::backward`], and if no output depends on an input, unless that is allowed.
    pub fn grad(
        &self,
        outputs: &[Tensor],
        inputs: &[Tensor],
        seeds: &[Option<Tensor>],
        options: GradOptions<'_>,
    ) -> Result<Vec<Option<Tensor>>, String> {
        let request = Request {
            options,
            targets: Some(inputs),
            within: false,
        };
        let grads = self.run(outputs, seeds, &request)?;
        if !options.allow_unused
            && let Some(at) = grads.iter().position(Option::is_none)
        {
            let name = match &*inputs[at].name() {
                "" => String::new(),
                name => format!(" (`{name}`)"),
            };
            return Err(format!(
                "no output depends on input {at}{name}; use `allow_unused` to allow that"
            ));
        }
        Ok(grads)
    }

    pub(super) fn run(
        &self,
        outputs: &[Tensor],
        seeds: &[Option<Tensor>],
        request: &Request<'_>,
    ) -> Result<Vec<Option<Tensor>>, String> {
        self.recording(request.options.create_graph, || {
            Run::new(self, request).run(outputs, seeds)
        })
    }
}

struct Run<'e> {
    engine: &'e Engine,
    keep: bool,
    within: bool,
    /// For each input, where its gradient arrives.
    targets: Option<Vec<Option<Place>>>,
    found: FxHashMap<Place, Tensor>,
    blocked: FxHashSet<Place>,
    states: FxHashMap<*const Node, State>,
}

impl<'e> Run<'e> {
    fn new(engine: &'e Engine, request: &Request<'_>) -> Self {
        let places = |tensors: &[Tensor]| -> Vec<Option<Place>> {
            tensors.iter().map(|t| t.edge().as_ref().map(place)).collect()
        };
        Run {
            engine,
            keep: request.options.retain_graph || request.options.create_graph,
            within: request.within,
            targets: request.targets.map(places),
            found: FxHashMap::default(),
            blocked: places(request.options.no_grad).into_iter().flatten().collect(),
            states: FxHashMap::default(),
        }
    }

    fn run(mut self, outputs: &[Tensor], seeds: &[Option<Tensor>]) -> Result<Vec<Option<Tensor>>, String> {
        let starts: Vec<(Edge, &Tensor, Option<&Tensor>)> = outputs
            .iter()
            .enumerate()
            .filter_map(|(at, output)| Some((output.edge()?, output, seeds.get(at).and_then(Option::as_ref))))
            .collect();
        self.prepare(&starts);
        for (edge, output, seed) in &starts {
            let ones = || Dense::full(&output.shape(), output.dtype(), 1.0).map(Tensor::new);
            let seed = match seed {
                Some(seed) if seed.shape() == output.shape() && seed.dtype() == output.dtype() => (*seed).clone(),
                Some(_) => return Err("a seed must have the shape and the type of its output".to_owned()),
                None => ones()?,
            };
            if let Some(state) = self.states.get_mut(&Rc::as_ptr(&edge.node)) {
                state.holder.add(self.engine, edge.slot, edge.rank, &seed)?;
            }
        }
        let mut queue: VecDeque<Rc<Node>> = VecDeque::new();
        let mut queued = FxHashSet::default();
        for (edge, ..) in &starts {
            let at = Rc::as_ptr(&edge.node);
            let ready = self.states.get(&at).is_some_and(|s| s.needed && s.in_degree == 0);
            if ready && queued.insert(at) {
                queue.push_back(edge.node.clone());
            }
        }
        while let Some(node) = queue.pop_front() {
            self.visit(&node, &mut queue)?;
        }
        let targets = self.targets.unwrap_or_default();
        let found = targets.iter().map(|place| self.found.get(place.as_ref()?).cloned());
        Ok(found.collect())
    }

    /// Finds the nodes reachable from the outputs, which of them are needed, and their in-degrees.
    fn prepare(&mut self, starts: &[(Edge, &Tensor, Option<&Tensor>)]) {
        let targets: Option<FxHashSet<*const Node>> =
            self.targets.as_ref().map(|t| t.iter().flatten().map(|p| p.0).collect());
        let is_target = |at: *const Node| targets.as_ref().is_none_or(|t| t.contains(&at));
        let mut pending: Vec<Rc<Node>> = starts.iter().map(|(edge, ..)| edge.node.clone()).collect();
        // The predecessors of each node.
        let mut before: FxHashMap<*const Node, Vec<*const Node>> = FxHashMap::default();
        while let Some(node) = pending.pop() {
            let at = Rc::as_ptr(&node);
            if self.states.contains_key(&at) {
                continue;
            }
            if !(self.within && is_target(at)) {
                for edge in node.output_meta().iter().flatten().filter_map(|m| m.edge.as_ref()) {
                    before.entry(Rc::as_ptr(&edge.node)).or_default().push(at);
                    pending.push(edge.node.clone());
                }
            }
            let holder = GradTensorHolder::new(&node.input_meta());
            let state = State {
                node,
                in_degree: 0,
                holder,
                needed: false,
                runs: false,
            };
            self.states.insert(at, state);
        }
        let mut pending: Vec<*const Node> = self.states.keys().copied().filter(|&at| is_target(at)).collect();
        for at in &pending {
            if let Some(state) = self.states.get_mut(at) {
                state.needed = true;
            }
        }
        while let Some(at) = pending.pop() {
            let sources = before.remove(&at).unwrap_or_default();
            if let Some(state) = self.states.get_mut(&at) {
                state.in_degree = sources.len();
            }
            for source in sources {
                if let Some(state) = self.states.get_mut(&source) {
                    state.runs = true;
                    if !std::mem::replace(&mut state.needed, true) {
                        pending.push(source);
                    }
                }
            }
        }
        // Without targets all nodes are needed, and those with edges run.
        for state in self.states.values_mut() {
            state.runs |= state.node.is_accumulation() && targets.is_none();
        }
    }

    /// Processes a node whose incoming gradients are complete.
    fn visit(&mut self, node: &Rc<Node>, queue: &mut VecDeque<Rc<Node>>) -> Result<(), String> {
        let at = Rc::as_ptr(node);
        let Some(state) = self.states.get_mut(&at) else {
            return Ok(());
        };
        let holder = std::mem::replace(&mut state.holder, GradTensorHolder::new(&[]));
        let runs = state.runs;
        let mut grads = holder.into_buffer();
        node.apply_gradient_hooks(&mut grads);
        for (slot, grads) in grads.iter_mut().enumerate() {
            for (rank, grad) in grads.iter_mut().enumerate() {
                let place = (at, slot, rank);
                let asked = self.targets.as_ref().is_some_and(|t| t.contains(&Some(place)));
                if let (true, Some(grad)) = (asked, &grad) {
                    self.found.insert(place, grad.clone());
                }
                if self.blocked.contains(&place) {
                    *grad = None;
                }
            }
        }
        if !runs {
            return Ok(());
        }
        let outgoing = match &node.kind {
            GradNodeKind::Accumulation(leaf) => {
                if let (Some(leaf), Some(Some(Some(grad)))) = (leaf.upgrade(), grads.first().map(|g| g.first())) {
                    let sum = match leaf.grad() {
                        Some(before) => self.engine.add(&before, grad)?,
                        None => grad.clone(),
                    };
                    leaf.set_grad(Some(sum));
                }
                node.apply_node_hooks(&grads);
                return Ok(());
            }
            GradNodeKind::Operation(operation) if grads.iter().flatten().any(Option::is_some) => {
                let name = self.engine.ctx().op_str(operation.name);
                let wrong = |why: String| format!("the gradient of `{name}`: {why}");
                let found = match (&operation.custom, operation.rule) {
                    (Some(custom), _) => custom.gradients(self.engine, node, operation, grads),
                    (None, Some(rule)) => Cx::new(self.engine, node, operation, grads).gradients(rule),
                    (None, None) => Err("there is no gradient function".to_owned()),
                };
                found.map_err(wrong)?
            }
            GradNodeKind::Operation(_) => Vec::new(),
        };
        let metas = node.output_meta();
        let mut slots: Vec<Vec<Option<Tensor>>> = Vec::with_capacity(metas.len());
        let mut outgoing = outgoing.into_iter();
        for slot in metas.iter() {
            slots.push(slot.iter().map(|_| outgoing.next().flatten()).collect());
        }
        node.apply_node_hooks(&slots);
        for (metas, grads) in metas.iter().zip(slots) {
            for (meta, grad) in metas.iter().zip(grads) {
                let Some(edge) = &meta.edge else { continue };
                let Some(next) = self.states.get_mut(&Rc::as_ptr(&edge.node)).filter(|s| s.needed) else {
                    continue;
                };
                if let Some(grad) = grad {
                    if grad.shape() != meta.shape || grad.dtype() != meta.dtype {
                        let name = match &node.kind {
                            GradNodeKind::Operation(operation) => self.engine.ctx().op_str(operation.name),
                            GradNodeKind::Accumulation(_) => "",
                        };
                        return Err(format!(
                            "the gradient of `{name}` has shape {:?} and type {}, not {:?} and {} like the operand",
                            grad.shape(),
                            grad.dtype().name(),
                            meta.shape,
                            meta.dtype.name()
                        ));
                    }
                    next.holder.add(self.engine, edge.slot, edge.rank, &grad)?;
                }
                next.in_degree -= 1;
                if next.in_degree == 0 {
                    queue.push_back(next.node.clone());
                }
            }
        }
        drop(metas);
        if !self.keep {
            node.clear();
        }
        Ok(())
    }
}
