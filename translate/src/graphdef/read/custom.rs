//! Custom gradients that are the derivatives of what is computed. A SavedModel holds the functions that compute them.
//!
//! Functions and gradients are compared as terms: products and sums have no order, and operations that forward values are omitted.

use rustc_hash::FxHashMap;

use super::super::proto::{FunctionDef, NodeDef};
use super::constants;
use super::reader::{Input, Reader};
use super::scope::find;

/// Functions of two arguments, and their derivatives by the first one, times a slope.
const KNOWN: &[(&str, &str)] = &[
    // `tf.nn.silu`, which computes the sigmoid once more, so that it need not be kept.
    (
        "(sigmoid((x*y))*x)",
        "(((((1-sigmoid((x*y)))*(x*y))+1)*sigmoid((x*y)))*slope)",
    ),
];

/// Longer terms are none of these, nor deeper ones.
const LONGEST: usize = 1 << 10;
const DEEPEST: usize = 32;

/// Whether the custom gradient of a node, an `IdentityN` of a result and of the arguments that it was computed from, is the
/// derivative. A frozen graph has lost the function: there, what is computed as one of TensorFlow's functions is taken for it.
pub(super) fn is_derivative(r: &Reader<'_>, at: usize, name: &str) -> bool {
    let gradient = r.registered.get(name).and_then(|name| r.library.get(name));
    let &[result, ref arguments @ ..] = &r.inputs[at][..] else {
        return false;
    };
    let ("IdentityN", 2) = (r.nodes[at].op.as_str(), arguments.len()) else {
        return false;
    };
    let forward = Terms {
        nodes: &r.nodes,
        inputs: &r.inputs,
        leaves: arguments.iter().copied().zip(["x", "y"]).collect(),
    };
    let forward = forward.of(result, 0);
    let is_slope = |df: &str| match gradient {
        Some(gradient) => slope(gradient).as_deref() == Some(df),
        None => !r.registered.contains_key(name),
    };
    KNOWN
        .iter()
        .any(|(f, df)| forward.as_deref() == Some(f) && is_slope(df))
}

/// The result of a gradient function for the first argument: its own arguments are a slope for each result, and what it uses.
fn slope(gradient: &FunctionDef) -> Option<String> {
    const RESULTS: usize = 3;
    let signature = gradient.signature.as_ref()?;
    let count = signature.inputs.len();
    let mut nodes: Vec<NodeDef> = Vec::with_capacity(count + gradient.nodes.len());
    nodes.extend(signature.inputs.iter().map(|arg| NodeDef {
        name: arg.name.clone(),
        ..NodeDef::default()
    }));
    nodes.extend(gradient.nodes.iter().cloned());
    let places: FxHashMap<&str, usize> = nodes.iter().enumerate().map(|(at, n)| (n.name.as_str(), at)).collect();
    // The operations of the terms have one result.
    let lead = |text: &str| find(text.split(':').next()?, |name| places.get(name).copied()).ok();
    let inputs = |node: &NodeDef| {
        let values = node.inputs.iter().filter(|text| !text.starts_with('^'));
        values.map(|text| lead(text)).collect::<Option<Vec<Input>>>()
    };
    let inputs = nodes.iter().map(inputs).collect::<Option<Vec<_>>>()?;
    let result = lead(gradient.results.get(&signature.outputs.first()?.name)?)?;
    // Which of what it uses is the first argument does not matter to what is known.
    let names = [(0, "slope"), (RESULTS, "x"), (RESULTS + 1, "y")];
    let leaves = names.map(|(node, name)| (Input { node, index: 0 }, name)).into();
    let terms = Terms {
        nodes: &nodes,
        inputs: &inputs,
        leaves,
    };
    (count == RESULTS + 2).then(|| terms.of(result, 0))?
}

/// Nodes as terms of some of their results.
struct Terms<'a> {
    nodes: &'a [NodeDef],
    inputs: &'a [Vec<Input>],
    leaves: Vec<(Input, &'static str)>,
}

impl Terms<'_> {
    fn of(&self, input: Input, depth: usize) -> Option<String> {
        if let Some((_, name)) = self.leaves.iter().find(|(leaf, _)| *leaf == input) {
            return Some((*name).to_owned());
        }
        let part = |at: usize| self.of(*self.inputs[input.node].get(at)?, depth + 1);
        let pair = |sign: char| {
            let mut parts = [part(0)?, part(1)?];
            if sign != '-' {
                parts.sort_unstable();
            }
            Some(format!("({}{sign}{})", parts[0], parts[1]))
        };
        let node = self
            .nodes
            .get(input.node)
            .filter(|_| depth < DEEPEST && input.index == 0)?;
        let term = match node.op.as_str() {
            "Identity" => part(0)?,
            "Mul" => pair('*')?,
            "Add" | "AddV2" => pair('+')?,
            "Sub" => pair('-')?,
            "Sigmoid" => format!("sigmoid({})", part(0)?),
            "Const" => match constants::of(node)? {
                (dims, numbers, _) if dims.is_empty() => numbers.first()?.f64().to_string(),
                _ => return None,
            },
            _ => return None,
        };
        (term.len() <= LONGEST).then_some(term)
    }
}
