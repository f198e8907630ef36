//! Counts the live bytes of each memory space.
//!
//! Each device has a memory space, and so has the host, which stores the values of stacks that swap. A buffer counts
//! once per space, however many tokens share it. Counted are values between operations: tokens that wait for their
//! operation, constants of frames, stacks, inputs and fetched values; but not the operands of a running operation.

use std::sync::atomic::{AtomicU64, Ordering};

use rustc_hash::FxHashMap;

use crate::exec::ExecError;
use crate::exec::memory::{address, tensors};
use crate::exec::value::Value;

#[derive(Default)]
struct Space {
    live: AtomicU64,
    peak: AtomicU64,
}

impl Space {
    fn add(&self, bytes: u64) -> u64 {
        let live = self.live.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.peak.fetch_max(live, Ordering::Relaxed);
        live
    }

    fn subtract(&self, bytes: u64) {
        self.live.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// The memory spaces of a run: those of the devices, the host, and messages in flight.
pub(super) struct Spaces {
    spaces: Vec<Space>,
    total: Space,
    limit: Option<u64>,
    /// Whether anything is counted.
    on: bool,
}

impl Spaces {
    pub(super) fn new(devices: usize, limit: Option<u64>, on: bool) -> Self {
        Spaces {
            spaces: (0..devices + 2).map(|_| Space::default()).collect(),
            total: Space::default(),
            limit,
            on,
        }
    }

    pub(super) fn host(&self) -> usize {
        self.spaces.len() - 2
    }

    fn add(&self, space: usize, bytes: u64) {
        self.spaces[space].add(bytes);
        self.total.add(bytes);
    }

    fn subtract(&self, space: usize, bytes: u64) {
        self.spaces[space].subtract(bytes);
        self.total.subtract(bytes);
    }

    /// Counts a value that leaves for another device, or arrives.
    pub(super) fn in_flight(&self, value: &Value, leaves: bool) {
        let space = self.spaces.len() - 1;
        match leaves {
            _ if !self.on => {}
            true => self.add(space, value.bytes()),
            false => self.subtract(space, value.bytes()),
        }
    }

    /// Checks the limit.
    pub(super) fn check(&self) -> Result<(), ExecError> {
        let Some(limit) = self.limit else { return Ok(()) };
        let live = self.total.live.load(Ordering::Relaxed);
        match live > limit {
            true => {
                let host = self.spaces[self.host()].live.load(Ordering::Relaxed);
                Err(ExecError::new(format!(
                    "the tensors of the program take {live} bytes now, more than the limit of {limit} bytes"
                ))
                .help(format!(
                    "{host} of them are on stacks in host memory; `--max-memory` sets the limit"
                )))
            }
            false => Ok(()),
        }
    }

    /// The peak of each space, and of all together.
    pub(super) fn peaks(&self) -> (Vec<u64>, u64) {
        let peak = |space: &Space| space.peak.load(Ordering::Relaxed);
        (self.spaces.iter().map(peak).collect(), peak(&self.total))
    }
}

/// The buffers held by a device, with reference counts. Without it, nothing is counted.
pub(super) struct Account {
    space: usize,
    held: FxHashMap<(usize, usize), u32>,
    on: bool,
}

impl Account {
    pub(super) fn new(space: usize, on: bool) -> Self {
        Account {
            space,
            held: FxHashMap::default(),
            on,
        }
    }

    /// Whether anything is counted.
    #[inline]
    pub(super) fn is_on(&self) -> bool {
        self.on
    }

    /// Adds a reference to a value.
    #[inline]
    pub(super) fn hold(&mut self, spaces: &Spaces, value: &Value) {
        if self.on {
            self.hold_in(spaces, self.space, value);
        }
    }

    pub(super) fn hold_in(&mut self, spaces: &Spaces, space: usize, value: &Value) {
        if !self.on {
            return;
        }
        for tensor in tensors(value) {
            let count = self.held.entry((space, address(tensor))).or_default();
            *count += 1;
            if *count == 1 {
                spaces.add(space, tensor.bytes() as u64);
            }
        }
    }

    /// Removes a reference to a value.
    pub(super) fn release(&mut self, spaces: &Spaces, value: &Value) {
        self.release_in(spaces, self.space, value);
    }

    pub(super) fn release_in(&mut self, spaces: &Spaces, space: usize, value: &Value) {
        if !self.on {
            return;
        }
        for tensor in tensors(value) {
            let key = (space, address(tensor));
            let Some(count) = self.held.get_mut(&key) else { continue };
            *count -= 1;
            if *count == 0 {
                self.held.remove(&key);
                spaces.subtract(space, tensor.bytes() as u64);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::Tensor;

    #[test]
    fn shared_buffers_count_once_in_each_space() {
        let spaces = Spaces::new(2, Some(100), true);
        let mut account = Account::new(1, true);
        let tensor = Tensor::new(&[4], vec![0f64; 4]).unwrap();
        let (a, b) = (Value::Tensor(tensor.clone()), Value::Tensor(tensor));
        account.hold(&spaces, &a);
        account.hold(&spaces, &b);
        account.hold_in(&spaces, spaces.host(), &a);
        assert_eq!(spaces.peaks(), (vec![0, 32, 32, 0], 64));
        spaces.check().unwrap();
        account.release(&spaces, &a);
        assert_eq!(spaces.spaces[1].live.load(Ordering::Relaxed), 32);
        account.release(&spaces, &b);
        assert_eq!(spaces.spaces[1].live.load(Ordering::Relaxed), 0);
        let large = Value::Tensor(Tensor::new(&[20], vec![0f64; 20]).unwrap());
        account.hold(&spaces, &large);
        assert!(spaces.check().is_err());
    }
}
