//! When bodies are shared out among threads.

use crate::body::Body;

/// Fewer operations than this are dealt with before another thread has woken up.
const WORTH_THREADS: usize = 10_000;

/// Whether it pays off to do something with these bodies on the threads of the pool that this is called in. The largest body takes
/// one thread as long as it takes anyway, so the others must be worth it: the memory of a body that is changed on another thread is not
/// used again on this one.
pub fn pays_off_on_threads<'b>(bodies: impl Iterator<Item = &'b Body>) -> bool {
    let (mut all, mut largest) = (0, 0);
    for body in bodies {
        all += body.num_op_slots();
        largest = largest.max(body.num_op_slots());
    }
    all - largest >= WORTH_THREADS && rayon::current_num_threads() > 1
}
