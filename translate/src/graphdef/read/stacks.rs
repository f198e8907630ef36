//! Stacks of TensorFlow's own gradients: what is popped has the type of what is pushed.
//!
//! A push may come after the pop in the order of the nodes: then the graph is read again with its type (`Reader::learn`).

use pir_ir::{Type, ValueId};

use super::reader::{Reader, Result};
use super::scope;

/// The place of the node that makes the stack that a node gets.
fn stack_of(r: &Reader<'_>, at: usize) -> Option<String> {
    let mut node = r.inputs[at].first()?.node;
    for _ in 0..r.nodes.len() {
        if r.nodes[node].op == "StackV2" {
            return Some(format!("{} on the stack", r.place(node)));
        }
        let forwards = scope::FORWARDS.contains(&super::row::plain_name(&r.nodes[node].op));
        node = r.inputs[node].first().filter(|_| forwards)?.node;
    }
    None
}

/// The type of what is popped.
pub(super) fn popped(r: &mut Reader<'_>, at: usize, elem: Type) -> Result<Type> {
    if let Some(dims) = r.written_shape(at, 0) {
        return r.tensor(&dims, elem);
    }
    let stack = stack_of(r, at).ok_or("it is unknown which stack this is")?;
    if let Some(&ty) = r.learned.get(&stack) {
        return Ok(ty);
    }
    // Any type will do until the push has been read.
    let pushed = (0..r.nodes.len())
        .any(|push| r.is(push, &["StackPushV2"]) && r.kept[push] && stack_of(r, push).as_ref() == Some(&stack));
    match pushed {
        true => r.tensor(&[], elem),
        false => Err("its stack has no push".to_owned()),
    }
}

/// Notes the type of what is pushed.
pub(super) fn pushed(r: &mut Reader<'_>, at: usize, value: ValueId) {
    let Some(stack) = stack_of(r, at) else { return };
    let ty = r.body.value_type(value);
    let before = r.learned.get(&stack).copied().unwrap_or(Type::NONE);
    let general = match before {
        Type::NONE => ty,
        _ => r.general(before, ty).unwrap_or(ty),
    };
    r.learn(&stack, general, before);
}
