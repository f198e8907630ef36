//! Graphs in which the shape of a result depends on constants: whatever these are, the graph is read or refused.

#![allow(clippy::unwrap_used, reason = "a test ends at what it does not expect")]

#[path = "../../tests/common/parallel.rs"]
mod parallel;

use pir_ir::text::print;
use pir_ir::verify::verify;
use pir_translate::graphdef::{Options, read_text};

/// An input of the node under test: known integers, or a number of floats.
#[derive(Clone, Debug)]
enum Input {
    Ints(Vec<i64>, Vec<i64>),
    Floats(Vec<i64>),
    Zero,
}

/// A node, its attributes, and its inputs.
#[derive(Clone)]
struct Node {
    op: &'static str,
    attrs: String,
    inputs: Vec<Input>,
}

fn list(numbers: &[i64]) -> Input {
    Input::Ints(vec![numbers.len() as i64], numbers.to_vec())
}

fn table(rows: i64, columns: i64, numbers: &[i64]) -> Input {
    Input::Ints(vec![rows, columns], numbers.to_vec())
}

/// An attribute.
fn attr(name: &str, value: &str) -> String {
    format!("attr {{ key: \"{name}\" value {{ {value} }} }} ")
}

const MASKS: [&str; 5] = ["begin", "end", "ellipsis", "new_axis", "shrink_axis"];

/// The text of a graph with this node.
fn graph(Node { op, attrs, inputs }: &Node) -> String {
    let constant = |(at, input): (usize, &Input)| {
        let (dims, ty, numbers) = match input {
            Input::Ints(dims, numbers) => {
                let numbers: String = numbers.iter().map(|n| format!("int64_val: {n} ")).collect();
                (&dims[..], "DT_INT64", numbers)
            }
            Input::Floats(dims) => (&dims[..], "DT_FLOAT", "float_val: 0.5".to_owned()),
            Input::Zero => (&[][..], "DT_FLOAT", "float_val: 0".to_owned()),
        };
        let dims: String = dims.iter().map(|d| format!("dim {{ size: {d} }} ")).collect();
        format!(
            "node {{ name: \"c{at}\" op: \"Const\" attr {{ key: \"dtype\" value {{ type: {ty} }} }} \
             attr {{ key: \"value\" value {{ tensor {{ dtype: {ty} tensor_shape {{ {dims}}} {numbers} }} }} }} }}\n"
        )
    };
    let constants: String = inputs.iter().enumerate().map(constant).collect();
    let names: String = (0..inputs.len()).map(|at| format!("input: \"c{at}\" ")).collect();
    format!("{constants}node {{ name: \"node\" op: \"{op}\" {names}{attrs}}}\n")
}

/// The message that a graph is refused with, if it is; what is read is valid.
fn refused(node: &Node) -> Option<String> {
    thread_local! {
        static CONTEXT: std::sync::Arc<pir_ir::Context> = pir_dialects::context();
    }
    let text = graph(node);
    match CONTEXT.with(|context| read_text(context, text.as_bytes(), &Options::default())) {
        Ok(module) => {
            assert_eq!(verify(&module), [], "{text}\n{}", print(&module, &Default::default()));
            None
        }
        Err(errors) => Some(errors[0].message.clone()),
    }
}

/// Valid nodes.
fn nodes() -> Vec<Node> {
    let places = || table(2, 2, &[0, 0, 1, 1]);
    let (shape, values) = (|| list(&[3, 3]), || Input::Floats(vec![2]));
    let float = || attr("T", "type: DT_FLOAT");
    let ragged = attr("PARAMS_RAGGED_RANK", "i: 1") + &attr("OUTPUT_RAGGED_RANK", "i: 1");
    let concat = float() + &attr("N", "i: 2") + &attr("concat_dim", "i: 1");
    let bounds = || [list(&[0, 1]), list(&[2, 3]), list(&[1, 2])];
    let part = || Input::Floats(vec![2, 1]);
    let whole = || Input::Floats(vec![3, 4]);
    let slice = [vec![whole()], bounds().to_vec()].concat();
    let spread = [vec![list(&[3, 4])], bounds().to_vec(), vec![part()]].concat();
    let update = [vec![whole()], bounds().to_vec(), vec![part()]].concat();
    let sparse = || vec![places(), values(), shape()];
    let with = |more: Vec<Input>| [sparse(), more].concat();
    let all = [
        ("StridedSlice", float(), slice),
        ("StridedSliceGrad", float(), spread),
        ("TensorStridedSliceUpdate", float(), update),
        (
            "RaggedGather",
            ragged,
            vec![list(&[0, 1, 3]), Input::Floats(vec![3]), list(&[1, 0])],
        ),
        (
            "RaggedRange",
            String::new(),
            vec![list(&[0, 1]), list(&[3, 5]), list(&[1, 2])],
        ),
        ("SparseAdd", float(), with([sparse(), vec![Input::Zero]].concat())),
        (
            "SparseConcat",
            concat,
            vec![places(), places(), values(), values(), shape(), shape()],
        ),
        ("SparseFillEmptyRows", float(), with(vec![Input::Floats(vec![])])),
        ("SparseReorder", float(), sparse()),
        ("SparseReshape", String::new(), vec![places(), shape(), list(&[9, -1])]),
        ("SparseSlice", float(), with(vec![list(&[1, 0]), list(&[2, 2])])),
        ("SparseSoftmax", float(), sparse()),
        ("Unique", attr("T", "type: DT_INT64"), vec![list(&[3, 1, 3])]),
        ("UniqueV2", attr("T", "type: DT_INT64"), vec![places(), list(&[0])]),
        ("Where", attr("T", "type: DT_INT64"), vec![list(&[0, 1, 1])]),
        (
            "ListDiff",
            attr("T", "type: DT_INT64"),
            vec![list(&[0, 1, 2]), list(&[1])],
        ),
    ];
    let node = |(op, attrs, inputs)| Node { op, attrs, inputs };
    all.into_iter().map(node).collect()
}

/// The node with one number or one length of an input changed.
fn changed(node: &Node) -> Vec<Node> {
    let mut all = Vec::new();
    for (at, input) in node.inputs.iter().enumerate() {
        let Input::Ints(dims, numbers) = input else { continue };
        let mut others = Vec::new();
        for place in 0..numbers.len() {
            for number in [i64::MIN, -1, 0, 2, 1 << 33, i64::MAX] {
                let mut numbers = numbers.clone();
                numbers[place] = number;
                others.push(Input::Ints(dims.clone(), numbers));
            }
        }
        others.push(list(&[]));
        others.push(list(&[numbers.clone(), vec![1]].concat()));
        others.push(list(numbers.get(1..).unwrap_or_default()));
        let columns = dims.last().copied().unwrap_or(1) + 1;
        others.push(table(2, columns, &vec![1; 2 * columns as usize]));
        for other in others {
            let mut node = node.clone();
            node.inputs[at] = other;
            all.push(node);
        }
    }
    all
}

#[test]
fn numbers_out_of_range_are_refused() {
    let nodes = nodes();
    for node in &nodes {
        assert_eq!(refused(node), None, "{}", graph(node));
    }
    let all: Vec<Node> = nodes.iter().flat_map(changed).collect();
    // And two at once.
    let twice: Vec<Node> = all.iter().step_by(7).flat_map(changed).step_by(5).collect();
    let all = [all, twice].concat();
    let count = std::sync::atomic::AtomicUsize::new(0);
    parallel::for_each(&all, |node| {
        let wrong = usize::from(refused(node).is_some());
        count.fetch_add(wrong, std::sync::atomic::Ordering::Relaxed);
    });
    assert!(count.into_inner() > all.len() / 2);
}

#[test]
fn masks_of_slices_are_read_or_refused() {
    let mut slices = nodes();
    slices.retain(|node| node.op.contains("StridedSlice"));
    // Each mask has a bit for each entry.
    let masks: Vec<u32> = (0..1 << 10).collect();
    parallel::for_each(&masks, |&bits| {
        let mask = |(at, name): (usize, &&str)| attr(&format!("{name}_mask"), &format!("i: {}", bits >> (2 * at) & 3));
        let masks: String = MASKS.iter().enumerate().map(mask).collect();
        for slice in &slices {
            let mut slice = slice.clone();
            slice.attrs += &masks;
            let message = refused(&slice).unwrap_or_default();
            let ellipses = (bits >> 4 & 3).count_ones();
            assert_eq!(
                ellipses > 1,
                message.contains("more than one ellipsis"),
                "{} {masks}: {message}",
                slice.op
            );
        }
    });
}
