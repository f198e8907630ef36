//! Shared by the devices of a run: messages, the budget, and termination.

use std::collections::hash_map;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
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
    /// The number of threads that sleep, and of those that shall wake.
    asleep: usize,
    calls: usize,
    /// All threads sleep, and no device has work.
    quiet: bool,
    error: Option<ExecError>,
}

pub(super) struct Shared {
    inner: Mutex<Inner>,
    wake: Condvar,
    /// The number of threads, and of those that sleep.
    threads: usize,
    asleep: AtomicUsize,
    /// Whether a message always wakes a thread.
    eager: bool,
    /// The devices with messages, and those that have not begun.
    has_mail: Vec<AtomicBool>,
    fresh: Vec<AtomicBool>,
    stopped: AtomicBool,
    steps: AtomicU64,
    max_steps: Option<u64>,
    pub(super) spaces: Spaces,
}

/// The state at the end of a run.
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
        Shared {
            inner: Mutex::new(inner),
            wake: Condvar::new(),
            threads: devices,
            asleep: AtomicUsize::new(0),
            eager: false,
            has_mail: (0..devices).map(|_| AtomicBool::new(false)).collect(),
            fresh: (0..devices).map(|_| AtomicBool::new(true)).collect(),
            stopped: AtomicBool::new(false),
            steps: AtomicU64::new(0),
            max_steps,
            spaces,
        }
    }

    /// Wakes a thread for each message, so that devices run at the same time whatever it costs.
    pub(super) fn hurry(&mut self) {
        self.eager = true;
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A device that panicked has stopped the run; the state is used only for the report.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts an execution.
    #[inline]
    pub(super) fn step(&self) -> Result<(), ExecError> {
        // Without a limit, devices do not share a counter.
        match self.max_steps {
            None => Ok(()),
            Some(most) => self.count(most),
        }
    }

    fn count(&self, most: u64) -> Result<(), ExecError> {
        if self.steps.fetch_add(1, Ordering::Relaxed) < most {
            return Ok(());
        }
        Err(ExecError::new(format!("the run did not end within {most} steps"))
            .help("is the loop infinite? `--max-steps` sets the limit"))
    }

    /// Sends a message. It is an error if the key is in use.
    pub(super) fn send(&self, key: Key, value: Option<Value>) -> Result<(), ExecError> {
        let mut inner = self.lock();
        let inner = &mut *inner;
        let place = match inner.messages.entry(key) {
            hash_map::Entry::Vacant(place) => {
                if let Some(value) = &value {
                    self.spaces.in_flight(value, true);
                }
                place.insert(Entry::Sent(value));
                return Ok(());
            }
            hash_map::Entry::Occupied(place) => place,
        };
        match place.get() {
            Entry::Sent(_) => {
                Err(ExecError::new("it sends a second message with the same key")
                    .help("each message needs a unique key"))
            }
            &Entry::Awaited(ticket) => {
                place.remove();
                let device = ticket.device as usize;
                if let Some(mail) = inner.mail.get_mut(device) {
                    mail.push(Mail { ticket, value });
                }
                self.has_mail[device].store(true, Ordering::Release);
                if self.eager {
                    self.call(inner);
                }
                Ok(())
            }
        }
    }

    /// The message, if it has arrived; otherwise it is delivered later.
    pub(super) fn receive(&self, key: Key, ticket: Ticket) -> Result<Option<Option<Value>>, ExecError> {
        let mut inner = self.lock();
        let place = match inner.messages.entry(key) {
            hash_map::Entry::Vacant(place) => {
                place.insert(Entry::Awaited(ticket));
                return Ok(None);
            }
            hash_map::Entry::Occupied(place) if matches!(place.get(), Entry::Sent(_)) => place,
            hash_map::Entry::Occupied(_) => {
                return Err(ExecError::new("another node waits for a message with the same key")
                    .help("each message needs a unique key"));
            }
        };
        let Entry::Sent(value) = place.remove() else {
            return Ok(None);
        };
        if let Some(value) = &value {
            self.spaces.in_flight(value, false);
        }
        Ok(Some(value))
    }

    /// Takes the messages delivered to a device, in exchange for an empty list.
    pub(super) fn mail(&self, device: usize, list: &mut Vec<Mail>) {
        if self.has_mail[device].load(Ordering::Acquire) {
            let mut inner = self.lock();
            self.has_mail[device].store(false, Ordering::Relaxed);
            std::mem::swap(&mut inner.mail[device], list);
        }
    }

    /// Whether a device has messages.
    pub(super) fn has_mail(&self, device: usize) -> bool {
        self.has_mail[device].load(Ordering::Acquire)
    }

    /// Whether a thread sleeps and there is work for it, besides that of a device which goes on.
    #[inline]
    pub(super) fn may_rouse(&self, device: usize) -> bool {
        self.asleep.load(Ordering::Relaxed) > 0
            && (0..self.has_mail.len()).any(|other| other != device && self.has_work(other))
    }

    /// Takes a device for the first time.
    pub(super) fn begins(&self, device: usize) {
        self.fresh[device].store(false, Ordering::Relaxed);
    }

    /// Whether there may be something to do for a device that no thread runs.
    pub(super) fn has_work(&self, device: usize) -> bool {
        self.has_mail(device) || self.fresh[device].load(Ordering::Relaxed)
    }

    /// Sleeps until another thread has work to give away. Returns false if the run has ended.
    ///
    /// A thread that gave work to a device looks for it before it sleeps, so the run has ended when the last one sleeps.
    pub(super) fn sleep(&self) -> bool {
        let mut inner = self.lock();
        inner.asleep += 1;
        if inner.asleep == self.threads {
            inner.asleep -= 1;
            if (0..self.has_mail.len()).any(|device| self.has_work(device)) {
                return true;
            }
            inner.quiet = true;
            self.wake.notify_all();
            return false;
        }
        self.asleep.store(inner.asleep, Ordering::Relaxed);
        while !inner.quiet && !self.stopped() && inner.calls == 0 {
            inner = self.wake.wait(inner).unwrap_or_else(PoisonError::into_inner);
        }
        inner.calls = inner.calls.saturating_sub(1);
        inner.asleep -= 1;
        self.asleep.store(inner.asleep, Ordering::Relaxed);
        !inner.quiet && !self.stopped()
    }

    /// Wakes a thread if one sleeps and there is work for it, besides that of a device which goes on. To wake it costs more than
    /// to run a few small operations, so this is done only before long ones.
    pub(super) fn rouse(&self, device: usize) {
        if self.may_rouse(device) {
            self.call(&mut self.lock());
        }
    }

    fn call(&self, inner: &mut Inner) {
        if inner.calls < inner.asleep {
            inner.calls += 1;
            self.wake.notify_one();
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
        self.wake.notify_all();
    }

    /// The state after all devices have finished.
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
        let shared = Shared::new(1, None, Spaces::new(1, None, true));
        shared.send(key(0), None).unwrap();
        assert!(matches!(shared.receive(key(0), TICKET), Ok(Some(None))));
        assert!(matches!(shared.receive(key(1), TICKET), Ok(None)));
        let mut mail = Vec::new();
        shared.mail(0, &mut mail);
        assert!(mail.is_empty());
        shared.send(key(1), None).unwrap();
        shared.mail(0, &mut mail);
        assert_eq!(mail.len(), 1);
        assert_eq!(mail[0].ticket.node, 7);
        mail.clear();
        shared.mail(0, &mut mail);
        assert!(mail.is_empty());
    }

    #[test]
    fn one_key_is_for_one_message() {
        let shared = Shared::new(1, None, Spaces::new(1, None, true));
        shared.send(key(0), None).unwrap();
        assert!(shared.send(key(0), None).is_err());
        shared.receive(key(1), TICKET).unwrap();
        assert!(shared.receive(key(1), TICKET).is_err());
        let rest = shared.rest();
        assert_eq!((rest.unreceived, rest.awaited.len()), (1, 1));
    }

    #[test]
    fn the_last_thread_to_sleep_ends_the_run() {
        let shared = Shared::new(2, None, Spaces::new(2, None, true));
        (0..2).for_each(|device| shared.begins(device));
        std::thread::scope(|scope| {
            let other = scope.spawn(|| shared.sleep());
            assert!(!shared.sleep());
            assert!(!other.join().unwrap());
        });
    }

    #[test]
    fn a_thread_with_work_left_does_not_sleep() {
        let shared = Shared::new(1, None, Spaces::new(1, None, true));
        assert!(shared.sleep());
        shared.begins(0);
        shared.receive(key(0), TICKET).unwrap();
        shared.send(key(0), None).unwrap();
        assert!(shared.sleep());
        let mut mail = Vec::new();
        shared.mail(0, &mut mail);
        assert_eq!(mail.len(), 1);
        assert!(!shared.sleep());
    }

    #[test]
    fn work_for_others_wakes() {
        let mut shared = Shared::new(2, None, Spaces::new(2, None, true));
        shared.hurry();
        (0..2).for_each(|device| shared.begins(device));
        shared.receive(key(0), TICKET).unwrap();
        let shared = &shared;
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| shared.sleep());
            while shared.asleep.load(Ordering::Relaxed) == 0 {
                std::thread::yield_now();
            }
            shared.send(key(0), None).unwrap();
            assert!(waiting.join().unwrap());
        });
    }
}
