//! Assigns nodes to devices, by the rules that TensorFlow's partitioner relies on.
//!
//! The enter and the next iteration of a loop variable are on the device of its merge, a switch on that of its data
//! operand, an exit on that of its switch, and a constant is entered on every device that reads it.

use super::Writer;
use pir_dialects::df;

/// The name of a device.
pub(in super::super) fn device_name(device: i64) -> String {
    format!("/job:localhost/replica:0/task:0/device:CPU:{device}")
}

impl Writer<'_> {
    pub(super) fn is_constant_enter(&self, at: usize) -> bool {
        let view = self.view(at);
        view.name() == df::ENTER && view.bool("constant") == Some(true)
    }

    /// Assigns a device to all nodes, if any has one.
    pub(super) fn place(&mut self) {
        if !self.placed {
            return;
        }
        // If devices have names, nodes without one are left to TensorFlow, which placed them before.
        if self.device_names.is_empty() {
            for node in &mut self.nodes {
                node.device.get_or_insert(0);
            }
        }
        self.place_stacks();
        // Merges first: the nodes around them follow.
        for at in 0..self.nodes.len() {
            if self.view(at).name() == df::MERGE {
                let Some(device) = self.nodes[at].device else { continue };
                let sources: Vec<usize> = self.sources(at).map(|(from, _)| from).collect();
                for from in sources {
                    let name = self.view(from).name();
                    if name == df::NEXT_ITERATION || name == df::ENTER && !self.is_constant_enter(from) {
                        self.nodes[from].device = Some(device);
                    }
                }
            }
        }
        for at in 0..self.nodes.len() {
            if self.view(at).name() == df::SWITCH
                && let Some((from, _)) = self.source(at, 0)
                && !self.is_constant_enter(from)
            {
                self.nodes[at].device = self.nodes[from].device.or(self.nodes[at].device);
            }
        }
        for at in 0..self.nodes.len() {
            if self.view(at).name() == df::EXIT
                && let Some((from, _)) = self.source(at, 0)
            {
                self.nodes[at].device = self.nodes[from].device.or(self.nodes[at].device);
            }
        }
        self.copy_constants();
    }

    /// Pushes and pops are on the device of the stack: handles are not sent between devices.
    fn place_stacks(&mut self) {
        for (stack, users) in self.stacks() {
            for user in users {
                self.nodes[user].device = self.nodes[stack].device.or(self.nodes[user].device);
            }
        }
    }

    /// The users of each stack's handle, through all nodes that forward it.
    fn stacks(&self) -> Vec<(usize, Vec<usize>)> {
        let stacks: Vec<usize> = (0..self.nodes.len())
            .filter(|&at| self.view(at).name() == df::STACK)
            .collect();
        if stacks.is_empty() {
            return Vec::new();
        }
        let mut readers: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        for at in 0..self.nodes.len() {
            for (from, index) in self.sources(at) {
                let ty = self.view(from).result_type(index);
                let handle = |ty| df::is_stack(self.ctx, ty);
                if ty.is_some_and(handle) {
                    readers[from].push(at);
                }
            }
        }
        let mut seen = vec![usize::MAX; self.nodes.len()];
        let users = |stack: usize| {
            let (mut users, mut pending) = (Vec::new(), vec![stack]);
            while let Some(at) = pending.pop() {
                if std::mem::replace(&mut seen[at], stack) != stack {
                    users.extend(&readers[at]);
                    pending.extend(&readers[at]);
                }
            }
            (stack, users)
        };
        stacks.into_iter().map(users).collect()
    }

    /// Determines the element types of stacks, from pushes and pops.
    pub(super) fn type_stacks(&mut self) {
        for (stack, users) in self.stacks() {
            for user in users {
                let view = self.view(user);
                let ty = match view.name() {
                    df::STACK_PUSH => view.operand_type(1),
                    df::STACK_POP => view.result_type(0),
                    _ => None,
                };
                let Some(ty) = ty.map(|ty| self.ctx.elem_type(ty)) else {
                    continue;
                };
                if *self.stack_types.entry(stack).or_insert(ty) != ty {
                    let message = "a TensorFlow stack has one element type, but this stack has several".to_owned();
                    let view = self.view(stack);
                    self.error(view.body, view.op, message);
                    break;
                }
            }
        }
    }

    /// Adds a copy of each constant enter for every other device that reads it.
    fn copy_constants(&mut self) {
        let enters: Vec<usize> = (0..self.nodes.len()).filter(|&at| self.is_constant_enter(at)).collect();
        let mut readers: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        for at in 0..self.nodes.len() {
            let before: Vec<usize> = self.sources(at).map(|(from, _)| from).collect();
            for from in before.into_iter().chain(self.nodes[at].controls.clone()) {
                readers[from].push(at);
            }
        }
        // The devices that need each enter: those of its users; for a user that is a constant enter, those of its
        // users.
        let mut needed: Vec<Vec<i64>> = vec![Vec::new(); self.nodes.len()];
        let mut pending: Vec<(usize, i64)> = Vec::new();
        for &at in &enters {
            for &reader in &readers[at] {
                if !self.is_constant_enter(reader) {
                    pending.extend(self.nodes[reader].device.map(|d| (at, d)));
                }
            }
        }
        while let Some((at, device)) = pending.pop() {
            if needed[at].contains(&device) {
                continue;
            }
            needed[at].push(device);
            if let Some((from, _)) = self.source(at, 0)
                && self.is_constant_enter(from)
            {
                pending.push((from, device));
            }
        }
        for at in enters {
            let mut devices = std::mem::take(&mut needed[at]);
            devices.sort_unstable();
            if let Some(&first) = devices.first() {
                self.nodes[at].device = Some(first);
            }
            for &device in devices.iter().skip(1) {
                let name = self.fresh(&format!("{}/device_{device}", self.nodes[at].name));
                self.copies.insert((at, device), name);
            }
        }
    }
}
