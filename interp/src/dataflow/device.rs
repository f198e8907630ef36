//! A device: it runs the ready nodes of its graph, one at a time.

use pir_ir::budget::Reservation;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use smallvec::{SmallVec, smallvec};

use super::compile::{Graph, NONE, Node, NodeAction};
use super::deliver::{Delivery, broken};
use super::frame::{Active, Iteration, Pool};
use super::key::{self, Random};
use super::memory::Account;
use super::ready::Ready;
use super::report;
use super::shared::{Mail, Shared, Ticket};
use super::trace::Recorder;
use crate::exec::ExecError;
use crate::exec::value::{Value, Values};
use crate::tensor::Tensor;

/// The results of a node; `None` is a dead value.
pub(super) type Outputs = SmallVec<[Option<Value>; 2]>;

/// The counters of a device.
#[derive(Default)]
pub(super) struct Counts {
    /// Executions, by counter.
    pub(super) live: Vec<u64>,
    pub(super) dead: Vec<u64>,
    /// The counters of each frame of the graph.
    pub(super) frames: Vec<FrameCounts>,
    pub(super) pushed_values: u64,
    pub(super) pushed_bytes: u64,
    pub(super) sent_values: u64,
    pub(super) sent_bytes: u64,
    pub(super) stack_bytes: u64,
    pub(super) peak_stack_bytes: u64,
}

#[derive(Clone, Default)]
pub(super) struct FrameCounts {
    pub(super) entered: u64,
    pub(super) iterations: u64,
    pub(super) most_at_once: u64,
}

/// A value that arrived at a node whose other inputs never came.
pub(super) struct Left {
    pub(super) node: u32,
    pub(super) iteration: u64,
    pub(super) have: u32,
}

pub(super) struct Device<'g> {
    pub(super) number: u32,
    pub(super) graph: &'g Graph,
    pub(super) shared: &'g Shared,
    pub(super) counters: &'g [String],
    pub(super) ready: VecDeque<Ready>,
    /// Empty; its memory is used again.
    mail: Vec<Mail>,
    /// The active frames; `None` is a free entry.
    pub(super) frames: Vec<Option<Active>>,
    holes: Vec<u32>,
    pool: Pool,
    /// The stacks: each value, and whether it is in host memory.
    pub(super) stacks: Vec<Vec<(Value, bool)>>,
    /// The memory of the stacks, besides that of the tensors.
    pub(super) held: Reservation,
    random: Option<Random>,
    pub(super) account: Account,
    pub(super) prints: Sender<String>,
    /// Whether there are prints that have not been collected.
    pub(super) has_printed: bool,
    pub(super) recorder: Option<Recorder>,
    pub(super) counts: Counts,
    /// The fetched tensors, with the node that fetched each.
    pub(super) fetched: Vec<(u32, Tensor)>,
    pub(super) dead_fetches: Vec<u32>,
    pub(super) left: Vec<Left>,
}

impl<'g> Device<'g> {
    pub(super) fn new(
        number: u32,
        graph: &'g Graph,
        shared: &'g Shared,
        counters: &'g [String],
        prints: Sender<String>,
    ) -> Self {
        Device {
            number,
            graph,
            shared,
            counters,
            ready: VecDeque::new(),
            mail: Vec::new(),
            frames: Vec::new(),
            holes: Vec::new(),
            pool: Pool::new(graph),
            stacks: Vec::new(),
            held: Reservation::default(),
            random: None,
            account: Account::new(number as usize, false),
            prints,
            has_printed: false,
            recorder: None,
            counts: Counts {
                live: vec![0; counters.len()],
                dead: vec![0; counters.len()],
                frames: vec![FrameCounts::default(); graph.frames.len()],
                ..Counts::default()
            },
            fetched: Vec::new(),
            dead_fetches: Vec::new(),
            left: Vec::new(),
        }
    }

    /// Picks ready nodes at random.
    pub(super) fn shuffle(&mut self, seed: u64) {
        self.random = Some(Random::new(seed, u64::from(self.number)));
    }

    /// Counts live bytes.
    pub(super) fn count_memory(&mut self) {
        self.account = Account::new(self.number as usize, true);
    }

    /// Makes the nodes without inputs ready.
    pub(super) fn start(&mut self) -> Result<(), ExecError> {
        self.enter(0, NONE, 0)?;
        let nodes = &self.graph.nodes;
        for &node in self
            .graph
            .sources
            .iter()
            .filter(|&&node| nodes[node as usize].head == node)
        {
            let index = nodes[node as usize].index as usize;
            if let Some(iteration) = self.frames[0].as_mut().and_then(|root| root.iteration(0)) {
                iteration.states[index].ready = true;
                iteration.outstanding += 1;
            }
            self.ready.push_back(Ready {
                frame: 0,
                iteration: 0,
                node,
                dead: false,
                arrived: false,
            });
        }
        Ok(())
    }

    /// Whether there is work to do.
    pub(super) fn is_busy(&self) -> bool {
        !self.ready.is_empty() || self.shared.has_mail(self.number as usize)
    }

    /// Runs a ready segment, if there is one.
    pub(super) fn step(&mut self) -> Result<bool, ExecError> {
        if self.shared.has_mail(self.number as usize) {
            self.read_mail()?;
        }
        let next = match &mut self.random {
            Some(random) if self.ready.len() > 1 => {
                let at = random.below(self.ready.len());
                self.ready.swap_remove_back(at)
            }
            _ => self.ready.pop_front(),
        };
        let Some(next) = next else { return Ok(false) };
        self.execute(next)?;
        Ok(true)
    }

    /// Makes the nodes ready whose messages have arrived.
    fn read_mail(&mut self) -> Result<(), ExecError> {
        let mut list = std::mem::take(&mut self.mail);
        self.shared.mail(self.number as usize, &mut list);
        for mail in list.drain(..) {
            let Ticket {
                frame, iteration, node, ..
            } = mail.ticket;
            let slot = self.graph.nodes[node as usize].slot as usize;
            let active = self.frames.get_mut(frame as usize).and_then(Option::as_mut);
            let place = active
                .and_then(|active| active.iteration(iteration))
                .ok_or_else(broken)?;
            if let Some(value) = mail.value {
                self.account.hold(&self.shared.spaces, &value);
                place.slots[slot] = value;
            }
            self.ready.push_back(Ready {
                frame,
                iteration,
                node,
                dead: false,
                arrived: true,
            });
        }
        self.mail = list;
        Ok(())
    }

    pub(super) fn located(&self, at: Ready, mut error: ExecError) -> ExecError {
        let node = &self.graph.nodes[at.node as usize];
        error
            .op
            .get_or_insert_with(|| self.counters[node.counter as usize].clone());
        error.span.get_or_insert(node.span);
        if node.frame != 0 {
            let place = self.place(at.frame, at.iteration);
            error.notes.push(place.trim_start_matches(", ").to_owned());
        }
        error
    }

    /// Runs a segment.
    fn execute(&mut self, at: Ready) -> Result<(), ExecError> {
        let members = self.graph.members_of(at.node);
        let straight = !at.dead && self.recorder.is_none() && !self.account.is_on();
        let mut done = 0;
        loop {
            if straight {
                done += self.straight(at, &members[done..])?;
            }
            let Some(&node) = members.get(done) else { break };
            let at = Ready { node, ..at };
            match self.run_node(at) {
                Ok(true) => done += 1,
                // It waits, and is alone.
                Ok(false) => return Ok(()),
                Err(error) => return Err(self.located(at, error)),
            }
        }
        if let Some(iteration) = self.frames[at.frame as usize]
            .as_mut()
            .and_then(|frame| frame.iteration(at.iteration))
        {
            iteration.outstanding -= 1;
            if iteration.outstanding > 0 {
                return Ok(());
            }
        }
        let node = members.last().copied().unwrap_or(at.node);
        self.settle(at.frame)
            .map_err(|error| self.located(Ready { node, ..at }, error))
    }

    /// Runs a node; false if it waits for another device.
    fn run_node(&mut self, at: Ready) -> Result<bool, ExecError> {
        let graph = self.graph;
        let node = &graph.nodes[at.node as usize];
        let begin = self.recorder.as_ref().map(Recorder::now);
        let mut outputs = if at.arrived {
            smallvec![Some(self.only(at)?).filter(|value| !matches!(value, Value::None))]
        } else {
            self.shared.step()?;
            let counts = match at.dead {
                true => &mut self.counts.dead,
                false => &mut self.counts.live,
            };
            counts[node.counter as usize] += 1;
            match self.compute(node, at)? {
                Some(outputs) => outputs,
                None => return Ok(false),
            }
        };
        if let (Some(recorder), Some(begin)) = (&mut self.recorder, begin) {
            let frame = self.frames[at.frame as usize].as_ref();
            let (path, id) = frame.map_or_else(|| (Arc::from(""), 0), |f| (f.path.clone(), f.id));
            recorder.record(node, at, begin, path, id);
        }
        self.propagate(at, node, &mut outputs)?;
        drop(outputs);
        self.shared.spaces.check()?;
        Ok(true)
    }

    /// The slots of the inputs of a node.
    pub(super) fn slots(&mut self, at: Ready, count: u32) -> Result<&mut [Value], ExecError> {
        let first = self.graph.nodes[at.node as usize].slot;
        let frame = self.frames[at.frame as usize].as_mut();
        let iteration = frame.and_then(|f| f.iteration(at.iteration)).ok_or_else(broken)?;
        Ok(&mut iteration.slots[first as usize..(first + count) as usize])
    }

    /// The same of inputs that are about to be used up.
    pub(super) fn consume(&mut self, at: Ready, count: u32) -> Result<&mut [Value], ExecError> {
        if self.account.is_on() {
            let mut account = std::mem::replace(&mut self.account, Account::new(0, false));
            let spaces = &self.shared.spaces;
            let slots = self.slots(at, count);
            slots
                .into_iter()
                .flatten()
                .for_each(|value| account.release(spaces, value));
            self.account = account;
        }
        self.slots(at, count)
    }

    /// Takes the only input of a node.
    pub(super) fn only(&mut self, at: Ready) -> Result<Value, ExecError> {
        Ok(self.consume(at, 1)?.first_mut().map(std::mem::take).unwrap_or_default())
    }

    /// Takes the inputs of a node out of their slots.
    pub(super) fn take(&mut self, at: Ready, count: u32) -> Result<Values, ExecError> {
        Ok(self.consume(at, count)?.iter_mut().map(std::mem::take).collect())
    }

    /// The input that arrived first.
    pub(super) fn winner(&mut self, at: Ready) -> u32 {
        let index = self.graph.nodes[at.node as usize].index as usize;
        let frame = self.frames[at.frame as usize].as_mut();
        frame
            .and_then(|f| f.iteration(at.iteration))
            .map_or(NONE, |iteration| iteration.states[index].winner)
    }

    /// Delivers the results of a node.
    fn propagate(&mut self, at: Ready, node: &Node, outputs: &mut [Option<Value>]) -> Result<(), ExecError> {
        match node.kind {
            NodeAction::Enter { child, constant } => {
                let inner = self.child(at.frame, at.iteration, child)?;
                let Some(active) = self.frames[inner as usize].as_mut() else {
                    return Err(broken());
                };
                active.pending_enters = active
                    .pending_enters
                    .checked_sub(1)
                    .ok_or_else(|| ExecError::new("it enters a frame twice"))?;
                if constant {
                    let value = outputs.first().cloned().flatten();
                    if let Some(value) = &value {
                        self.account.hold(&self.shared.spaces, value);
                    }
                    active.constants.push((at.node, value.clone()));
                    for iteration in active.first..active.next() {
                        self.deliver(at.node, inner, iteration, &mut [value.clone()], at.dead)?;
                    }
                } else {
                    self.deliver(at.node, inner, 0, outputs, at.dead)?;
                }
                self.settle(inner)
            }
            NodeAction::Exit => {
                let Some(active) = self.frames[at.frame as usize].as_mut() else {
                    return Err(broken());
                };
                if at.dead {
                    if at.iteration + 1 == active.next() {
                        active.dead_exits.push(at.node);
                    }
                    return Ok(());
                }
                let (parent, iteration) = (active.parent, active.parent_iteration);
                self.deliver(at.node, parent, iteration, outputs, false)
            }
            NodeAction::NextIteration => {
                let Some(active) = self.frames[at.frame as usize].as_mut() else {
                    return Err(broken());
                };
                let Some(Some(value)) = outputs.first() else {
                    return Ok(());
                };
                let parallel = self.graph.frames[active.frame as usize].parallel;
                if at.iteration + 1 == active.next() {
                    if active.iterations.len() as u64 >= parallel {
                        self.account.hold(&self.shared.spaces, value);
                        active.deferred.push((at.node, value.clone()));
                        return Ok(());
                    }
                    self.begin(at.frame)?;
                }
                self.deliver(at.node, at.frame, at.iteration + 1, outputs, false)
            }
            _ if node.edges.0 == node.edges.1 => Ok(()),
            _ => self.deliver(at.node, at.frame, at.iteration, outputs, at.dead),
        }
    }

    /// Delivers the results of a node in an iteration.
    fn deliver(
        &mut self,
        source: u32,
        frame: u32,
        number: u64,
        outputs: &mut [Option<Value>],
        dead: bool,
    ) -> Result<(), ExecError> {
        let (spaces, at) = (&self.shared.spaces, (frame, number));
        Delivery::new(
            self.graph,
            spaces,
            &mut self.account,
            &mut self.ready,
            &mut self.frames,
            at,
        )?
        .all(source, outputs, dead)
    }

    /// The frame that is entered from an iteration; it is created by the first value that enters it.
    fn child(&mut self, frame: u32, number: u64, child: u32) -> Result<u32, ExecError> {
        let place = self.graph.frames[child as usize].place as usize;
        let active = self.frames[frame as usize].as_mut();
        let iteration = active.and_then(|active| active.iteration(number)).ok_or_else(broken)?;
        match iteration.children[place] {
            NONE => self.enter(child, frame, number),
            inner => Ok(inner),
        }
    }

    fn enter(&mut self, frame: u32, parent: u32, parent_iteration: u64) -> Result<u32, ExecError> {
        let known = &self.graph.frames[frame as usize];
        let outer = self.frames.get(parent as usize).and_then(Option::as_ref);
        let path = match (&self.recorder, outer) {
            (Some(recorder), Some(outer)) => recorder.path(&outer.path, parent, parent_iteration, &known.name),
            _ => Arc::from(""),
        };
        let active = Active {
            frame,
            id: outer.map_or(0, |outer| key::frame(outer.id, parent_iteration, known.hash)),
            parent,
            parent_iteration,
            iterations: VecDeque::new(),
            first: 0,
            pending_enters: known.enters,
            constants: Vec::new(),
            deferred: Vec::new(),
            dead_exits: Vec::new(),
            path,
        };
        let at = match self.holes.pop() {
            Some(hole) => {
                self.frames[hole as usize] = Some(active);
                hole
            }
            None => {
                self.frames.push(Some(active));
                self.frames.len() as u32 - 1
            }
        };
        if let Some(iteration) = self
            .frames
            .get_mut(parent as usize)
            .and_then(Option::as_mut)
            .and_then(|outer| outer.iteration(parent_iteration))
        {
            iteration.children[known.place as usize] = at;
            iteration.inside += 1;
        }
        self.counts.frames[frame as usize].entered += 1;
        self.begin(at)?;
        Ok(at)
    }

    /// Starts the next iteration of a frame, with the constants.
    fn begin(&mut self, frame: u32) -> Result<(), ExecError> {
        let Some(active) = self.frames[frame as usize].as_mut() else {
            return Err(broken());
        };
        let number = active.next();
        active.iterations.push_back(self.pool.take(self.graph, active.frame));
        active.dead_exits.clear();
        let counts = &mut self.counts.frames[active.frame as usize];
        counts.iterations += 1;
        counts.most_at_once = counts.most_at_once.max(active.iterations.len() as u64);
        let constants = std::mem::take(&mut active.constants);
        for (node, value) in &constants {
            self.deliver(*node, frame, number, &mut [value.clone()], value.is_none())?;
        }
        if let Some(active) = self.frames[frame as usize].as_mut() {
            active.constants = constants;
        }
        Ok(())
    }

    /// Ends the completed iterations of a frame, then the frame if none is left, and so on outwards.
    fn settle(&mut self, frame: u32) -> Result<(), ExecError> {
        let mut at = frame;
        while at != 0 {
            let Some(active) = self.frames[at as usize].as_mut() else {
                return Ok(());
            };
            if active.front_is_done() {
                let number = active.first;
                let (which, done) = (active.frame, active.iterations.pop_front());
                active.first += 1;
                let deferred = std::mem::take(&mut active.deferred);
                if let Some(done) = done {
                    let constants = std::mem::take(&mut active.constants);
                    self.end(which, number, &constants, done);
                    if let Some(active) = self.frames[at as usize].as_mut() {
                        active.constants = constants;
                    }
                }
                if !deferred.is_empty() {
                    self.begin(at)?;
                    let next = self.frames[at as usize].as_ref().map_or(1, Active::next);
                    for (node, value) in deferred {
                        self.account.release(&self.shared.spaces, &value);
                        self.deliver(node, at, next - 1, &mut [Some(value)], false)?;
                    }
                }
                continue;
            }
            if !active.iterations.is_empty() || active.pending_enters > 0 {
                return Ok(());
            }
            let (parent, number) = (active.parent, active.parent_iteration);
            let which = active.frame;
            let exits = std::mem::take(&mut active.dead_exits);
            for (_, value) in std::mem::take(&mut active.constants) {
                if let Some(value) = value {
                    self.account.release(&self.shared.spaces, &value);
                }
            }
            self.frames[at as usize] = None;
            self.holes.push(at);
            for exit in exits {
                self.deliver(exit, parent, number, &mut [None], true)?;
            }
            let outer = self.frames[parent as usize].as_mut();
            let iteration = outer.and_then(|outer| outer.iteration(number)).ok_or_else(broken)?;
            iteration.children[self.graph.frames[which as usize].place as usize] = NONE;
            iteration.inside -= 1;
            at = parent;
        }
        Ok(())
    }

    /// Ends an iteration, and records values that were never consumed.
    fn end(&mut self, frame: u32, number: u64, constants: &[(u32, Option<Value>)], mut iteration: Iteration) {
        if !iteration.states.iter().all(|state| state.ready) {
            let known = &self.graph.frames[frame as usize];
            // One record per node suffices: other iterations are alike.
            if self.left.len() < known.nodes.len() {
                let arrived = report::arrived(self.graph, frame, constants, &iteration);
                let room = known.nodes.len() - self.left.len();
                self.left
                    .extend(arrived.into_iter().take(room).map(|(node, have)| Left {
                        node,
                        iteration: number,
                        have,
                    }));
            }
            for slot in iteration.slots.iter_mut().filter(|slot| !matches!(slot, Value::None)) {
                let value = std::mem::take(slot);
                self.account.release(&self.shared.spaces, &value);
            }
        }
        self.pool.give(frame, iteration);
    }
}
