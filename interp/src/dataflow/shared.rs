//! Shared by the devices of a run: messages, the budget, and termination.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;

use super::key::Key;
use super::memory::Spaces;
use crate::exec::ExecError;
use crate::exec::value::Value;

/// A node that waits for a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ticket {
    pub(super) device: u32,
    pub(super) frame: u32,
    pub(super) iteration: u64,
    pub(super) node: u32,
}

/// A message for a node that waits for it; `None` is a dead value.
pub(super) struct Mail {
    pub(super) ticket: Ticket,
    pub(super) value: Option<Value>,
}

enum Entry {
    Sent(Option<Value>),
    Awaited(Ticket),
}

#[derive(Default)]
struct Inner {
    messages: FxHashMap<Key, Entry>,
    mail: Vec<Vec<Mail>>,
    idle: Vec<bool>,
    num_idle: usize,
    /// All devices are idle, and no message is in flight.
    quiet: bool,
    error: Option<ExecError>,
}

pub(super) struct Shared {
    inner: Mutex<Inner>,
    /// One per device.
    wake: Vec<Condvar>,
    has_mail: Vec<AtomicBool>,
    stopped: AtomicBool,
    steps: AtomicU64,
    max_steps: u64,
    pub(super) spaces: Spaces,
}

/// What is left at the end of a run.
pub(super) struct Rest {
    pub(super) error: Option<ExecError>,
    pub(super) awaited: Vec<(Key, Ticket)>,
    /// Messages that were never received.
    pub(super) unreceived: u64,
}

impl Shared {
    pub(super) fn new(devices: usize, max_steps: Option<u64>, spaces: Spaces) -> Self {
        let mut inner = Inner::default();
        inner.mail.resize_with(devices, Vec::new);
        inner.idle.resize(devices, false);
        Shared {
            inner: Mutex::new(inner),
            wake: (0..devices).map(|_| Condvar::new()).collect(),
            has_mail: (0..devices).map(|_| AtomicBool::new(false)).collect(),
            stopped: AtomicBool::new(false),
            steps: AtomicU64::new(0),
            max_steps: max_steps.unwrap_or(u64::MAX),
            spaces,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A device that panicked has stopped the run; the state is used only for the report.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts an execution.
    pub(super) fn step(&self) -> Result<(), ExecError> {
        if self.steps.fetch_add(1, Ordering::Relaxed) < self.max_steps {
            return Ok(());
        }
        Err(
            ExecError::new(format!("the run did not end within {} steps", self.max_steps))
                .help("is the loop infinite? `--max-steps` sets the limit"),
        )
    }

    /// Sends a message. It is an error if the key is in use.
    pub(super) fn send(&self, key: Key, value: Option<Value>) -> Result<(), ExecError> {
        let mut inner = self.lock();
        let inner = &mut *inner;
        match inner.messages.get(&key) {
            Some(Entry::Sent(_)) => {
                Err(ExecError::new("it sends a second message with the same key")
                    .help("each message needs a unique key"))
            }
            Some(&Entry::Awaited(ticket)) => {
                inner.messages.remove(&key);
                let device = ticket.device as usize;
                if let Some(mail) = inner.mail.get_mut(device) {
                    mail.push(Mail { ticket, value });
                }
                self.has_mail[device].store(true, Ordering::Release);
                if std::mem::take(&mut inner.idle[device]) {
                    inner.num_idle -= 1;
                    self.wake[device].notify_one();
                }
                Ok(())
            }
            None => {
                if let Some(value) = &value {
                    self.spaces.in_flight(value, true);
                }
                inner.messages.insert(key, Entry::Sent(value));
                Ok(())
            }
        }
    }

    /// The message, if it has arrived; otherwise it is delivered later.
    pub(super) fn receive(&self, key: Key, ticket: Ticket) -> Result<Option<Option<Value>>, ExecError> {
        let mut inner = self.lock();
        match inner.messages.remove(&key) {
            Some(Entry::Sent(value)) => {
                if let Some(value) = &value {
                    self.spaces.in_flight(value, false);
                }
                Ok(Some(value))
            }
            Some(other) => {
                inner.messages.insert(key, other);
                Err(ExecError::new("another node waits for a message with the same key")
                    .help("each message needs a unique key"))
            }
            None => {
                inner.messages.insert(key, Entry::Awaited(ticket));
                Ok(None)
            }
        }
    }

    /// Takes the messages delivered to a device.
    pub(super) fn mail(&self, device: usize) -> Vec<Mail> {
        if !self.has_mail[device].load(Ordering::Acquire) {
            return Vec::new();
        }
        let mut inner = self.lock();
        self.has_mail[device].store(false, Ordering::Relaxed);
        std::mem::take(&mut inner.mail[device])
    }

    /// Whether a device has messages.
    pub(super) fn has_mail(&self, device: usize) -> bool {
        self.has_mail[device].load(Ordering::Acquire)
    }

    /// Waits for a message. Returns false if the run has ended.
    pub(super) fn wait(&self, device: usize) -> bool {
        let mut inner = self.lock();
        if !inner.mail[device].is_empty() {
            return true;
        }
        inner.idle[device] = true;
        inner.num_idle += 1;
        if inner.num_idle == self.wake.len() {
            inner.quiet = true;
            self.wake.iter().for_each(Condvar::notify_all);
            return false;
        }
        loop {
            if inner.quiet || self.stopped() {
                return false;
            }
            if !inner.idle[device] {
                return true;
            }
            inner = self.wake[device].wait(inner).unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub(super) fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Stops the run; the first error is kept.
    pub(super) fn stop(&self, error: Option<ExecError>) {
        let mut inner = self.lock();
        self.stopped.store(true, Ordering::Relaxed);
        if inner.error.is_none() {
            inner.error = error;
        }
        self.wake.iter().for_each(Condvar::notify_all);
    }

    /// What is left, after all devices have finished.
    pub(super) fn rest(&self) -> Rest {
        let mut inner = self.lock();
        let mut rest = Rest {
            error: inner.error.take(),
            awaited: Vec::new(),
            unreceived: 0,
        };
        for (&key, entry) in &inner.messages {
            match entry {
                Entry::Sent(_) => rest.unreceived += 1,
                &Entry::Awaited(ticket) => rest.awaited.push((key, ticket)),
            }
        }
        let place = |t: &Ticket| (t.device, t.node, t.iteration, t.frame);
        rest.awaited.sort_by_key(|(_, ticket)| place(ticket));
        rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(edge: u32) -> Key {
        Key {
            edge,
            frame: 0,
            iteration: 0,
        }
    }

    const TICKET: Ticket = Ticket {
        device: 0,
        frame: 0,
        iteration: 0,
        node: 7,
    };

    #[test]
    fn messages_meet_in_either_order() {
        let shared = Shared::new(1, None, Spaces::new(1, None));
        shared.send(key(0), None).unwrap();
        assert!(matches!(shared.receive(key(0), TICKET), Ok(Some(None))));
        assert!(matches!(shared.receive(key(1), TICKET), Ok(None)));
        assert!(shared.mail(0).is_empty());
        shared.send(key(1), None).unwrap();
        let mail = shared.mail(0);
        assert_eq!(mail.len(), 1);
        assert_eq!(mail[0].ticket.node, 7);
        assert!(shared.mail(0).is_empty());
    }

    #[test]
    fn one_key_is_for_one_message() {
        let shared = Shared::new(1, None, Spaces::new(1, None));
        shared.send(key(0), None).unwrap();
        assert!(shared.send(key(0), None).is_err());
        shared.receive(key(1), TICKET).unwrap();
        assert!(shared.receive(key(1), TICKET).is_err());
        let rest = shared.rest();
        assert_eq!((rest.unreceived, rest.awaited.len()), (1, 1));
    }

    #[test]
    fn the_last_device_to_idle_ends_the_run() {
        let shared = Shared::new(2, None, Spaces::new(2, None));
        std::thread::scope(|scope| {
            let other = scope.spawn(|| shared.wait(1));
            assert!(!shared.wait(0));
            assert!(!other.join().unwrap());
        });
    }

    #[test]
    fn mail_wakes() {
        let shared = Shared::new(2, None, Spaces::new(2, None));
        shared.receive(key(0), TICKET).unwrap();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| shared.wait(0));
            shared.send(key(0), None).unwrap();
            assert!(waiting.join().unwrap());
        });
    }
}
