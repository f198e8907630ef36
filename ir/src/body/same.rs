//! Whether bodies are the same but for names and places in the source.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use super::Body;
use super::data::{BlockData, Extra, OpData, ValueData};

/// In a program with several bodies of more operations than this, those are hardly ever the same.
const MAX_OPS: usize = 1024;

impl Body {
    /// The same number for bodies that are [the same](Self::is_same_as); mostly another one for others. `None` for those that are the same
    /// as no other: with many operations, with other bodies inside, or with comments or locations.
    pub fn fingerprint(&self) -> Option<u64> {
        let is_alone = self.frame.is_none()
            && self.comments.is_empty()
            && self.end_comments.is_empty()
            && self.locs.is_empty()
            && self.arg_locs.is_empty();
        if !is_alone || self.ops.len() > MAX_OPS || self.extras.iter().any(|extra| extra.isolated.is_some()) {
            return None;
        }
        let mut hasher = FxHasher::default();
        hasher.write_u64((self.ops.len() as u64) << 32 | self.values.len() as u64);
        for op in &self.ops {
            (op.name, op.attrs).hash(&mut hasher);
        }
        for pair in self.operands.chunks(2) {
            let raw = |at: usize| pair.get(at).map_or(0, |value| u64::from(value.raw().get()));
            hasher.write_u64(raw(0) << 32 | raw(1));
        }
        Some(hasher.finish())
    }

    /// Whether a body is the same as another one of the same [fingerprint](Self::fingerprint), but for names of values and places in the
    /// source: then what is true of the one is true of the other. Takes the time of a copy.
    pub fn is_same_as(&self, other: &Body) -> bool {
        self.version == other.version
            && self.root == other.root
            && self.operands == other.operands
            && equal(&self.values, &other.values, ValueData::is_same_as)
            && self.regions == other.regions
            && equal(&self.ops, &other.ops, OpData::is_same_as)
            && equal(&self.blocks, &other.blocks, BlockData::is_same_as)
            && equal(&self.extras, &other.extras, Extra::is_same_as)
            // Those that nothing has asked for are as before any change, of which there have been as many.
            && match (self.use_lists.get(), other.use_lists.get()) {
                (Some(a), Some(b)) => a == b,
                _ => true,
            }
    }
}

fn equal<T>(a: &[T], b: &[T], is_same: impl Fn(&T, &T) -> bool) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b))
}

#[cfg(test)]
mod tests {
    use crate::context::ContextBuilder;
    use crate::edit::OpSpec;
    use crate::types::Type;

    use super::*;

    #[test]
    fn bodies_are_the_same_until_one_changes() {
        let ctx = ContextBuilder::new().build();
        let body = || {
            let mut body = Body::new();
            let block = body.create_block(body.root());
            for name in ["t.one", "t.other"] {
                let op = body.create_op(OpSpec {
                    results: &[Type::I1],
                    ..OpSpec::new(ctx.op_name(name))
                });
                body.append_op(block, op);
            }
            body
        };
        let (one, mut other) = (body(), body());
        assert!(one.is_same_as(&other) && one.fingerprint() == other.fingerprint());
        one.use_lists();
        assert!(one.is_same_as(&other));
        let block = other.region_blocks(other.root())[0];
        let [first, last] = other.block_ops_vec(block)[..] else {
            panic!("there are two operations")
        };
        other.unlink_op(last);
        other.insert_before(first, last);
        assert!(!one.is_same_as(&other));
    }
}
