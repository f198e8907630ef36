//! The keys of messages between devices: an edge, and an iteration of a frame.
//!
//! A frame is identified by a hash of its parent, the parent's iteration, and the frame's name: all devices compute the
//! same one without communication.

/// The key of a message.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Key {
    /// The number of the edge.
    pub(super) edge: u32,
    pub(super) frame: u64,
    pub(super) iteration: u64,
}

/// The hash of a frame's name.
pub(super) fn frame_name(name: &str) -> u64 {
    name.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    })
}

/// The hash of a frame.
pub(super) fn frame(parent: u64, iteration: u64, name: u64) -> u64 {
    mix(mix(mix(parent) ^ iteration) ^ name)
}

/// A step of splitmix64.
fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A pseudo-random generator.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64, stream: u64) -> Self {
        Random(mix(seed) ^ mix(stream.wrapping_add(1)))
    }

    /// A number below `bound`, which must not be zero.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(1);
        (mix(self.0) % bound.max(1) as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_have_numbers_of_their_own() {
        let (a, b) = (frame_name("a"), frame_name("b"));
        let all = [
            frame(0, 0, a),
            frame(0, 0, b),
            frame(0, 1, a),
            frame(frame(0, 0, a), 0, b),
            frame(frame(0, 0, b), 0, a),
            frame(frame(0, 0, a), 1, b),
        ];
        for (at, one) in all.iter().enumerate() {
            assert!(!all[..at].contains(one), "{at}");
        }
    }
}
