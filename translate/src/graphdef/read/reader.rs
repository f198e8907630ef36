//! The state of reading a graph.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use pir_ir::{BlockId, Body, Context, Diagnostic, OpId, Span, Type, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::Options;
use super::super::proto::{FunctionDef, NodeDef};
use super::super::types::Number;
use super::devices::Devices;
use super::scope::{Function, Handle, Scope};

/// Why a node cannot be read.
pub(super) type Result<T> = std::result::Result<T, String>;

/// A constant node: its dimensions, its numbers (one, or as many as elements, or none where they stay bytes), its element type.
pub(super) type Constant = (Vec<i64>, Vec<Number>, i32);

/// Where an input comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Input {
    pub(super) node: usize,
    pub(super) index: usize,
}

/// The inputs and attributes of the current node that its reader has used.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) attrs: Vec<String>,
    pub(super) inputs: FxHashSet<usize>,
}

pub(super) struct Reader<'c> {
    pub(super) ctx: &'c Arc<Context>,
    pub(super) options: &'c Options,
    /// The functions of the graph, and those that have been prepared.
    pub(super) library: Rc<FxHashMap<String, FunctionDef>>,
    pub(super) functions: FxHashMap<String, Rc<Function>>,
    /// The functions of custom gradients.
    pub(super) registered: Rc<FxHashMap<String, String>>,
    /// The calls around the nodes that are being read.
    pub(super) path: Vec<String>,
    /// Types that are known only after the point where they are needed: by the name of a loop's variable or of a list.
    pub(super) learned: FxHashMap<String, Type>,
    /// Whether something was learned, so that the graph must be read again.
    pub(super) changed: bool,
    /// The lists whose elements have a learned shape.
    pub(super) lists: FxHashMap<ValueId, String>,
    /// The values that do not represent tensors, by the position of their inferred type.
    pub(super) missing: FxHashMap<ValueId, String>,
    pub(super) nodes: Rc<Vec<NodeDef>>,
    /// The location of each node in the file.
    pub(super) spans: Vec<Span>,
    pub(super) seen: RefCell<Seen>,
    /// The nodes that could not be read, and their users.
    pub(super) failed: Vec<bool>,
    /// The nodes that something wanted depends on.
    pub(super) kept: Vec<bool>,
    pub(super) devices: Devices,
    pub(super) body: Body,
    /// Where operations are appended.
    pub(super) block: BlockId,
    /// The parameters, which are in front of all else in `front`.
    pub(super) parameters: FxHashMap<String, ValueId>,
    pub(super) front: BlockId,
    pub(super) inputs: Vec<Vec<Input>>,
    pub(super) controls: Vec<Vec<usize>>,
    pub(super) constants: Vec<Option<Rc<Constant>>>,
    /// The numbers that the results of nodes are known to be.
    pub(super) computed: Vec<Vec<Option<Rc<Constant>>>>,
    /// The results that have no value here.
    pub(super) handles: Vec<Vec<Option<Handle>>>,
    /// The results of each node that was read.
    pub(super) values: Vec<Vec<ValueId>>,
    /// A number that chooses one of several ways, where it is none of those before this one, and whether it is this one.
    pub(super) ways: FxHashMap<(ValueId, i64), (ValueId, ValueId)>,
    /// Auxiliary operations of nodes: if no operand determines the iteration in which they run, they get the control dependences of the
    /// node.
    pub(super) pieces: Vec<(ValueId, usize)>,
    /// Operands to set when all nodes have been read.
    pub(super) back_edges: Vec<(OpId, usize, Input)>,
    /// Whether the graph has no control flow.
    pub(super) plain: bool,
    pub(super) errors: Vec<Diagnostic>,
}

impl<'c> Reader<'c> {
    pub(super) fn new(
        ctx: &'c Arc<Context>,
        mut scope: Scope,
        library: Rc<FxHashMap<String, FunctionDef>>,
        options: &'c Options,
    ) -> Self {
        let mut body = Body::new();
        let root = body.root();
        let block = body.create_block(root);
        let mut reader = Reader {
            ctx,
            options,
            library,
            functions: FxHashMap::default(),
            registered: Rc::default(),
            path: Vec::new(),
            learned: FxHashMap::default(),
            changed: false,
            lists: FxHashMap::default(),
            missing: FxHashMap::default(),
            nodes: Rc::default(),
            spans: Vec::new(),
            seen: RefCell::default(),
            failed: Vec::new(),
            kept: Vec::new(),
            devices: Devices::of(&[]),
            body,
            block,
            parameters: FxHashMap::default(),
            front: block,
            inputs: Vec::new(),
            controls: Vec::new(),
            constants: Vec::new(),
            computed: Vec::new(),
            handles: Vec::new(),
            values: Vec::new(),
            ways: FxHashMap::default(),
            pieces: Vec::new(),
            back_edges: Vec::new(),
            plain: true,
            errors: Vec::new(),
        };
        reader.swap(&mut scope);
        reader
    }

    /// Exchanges what is being read with another list of nodes.
    pub(super) fn swap(&mut self, scope: &mut Scope) {
        use std::mem::swap;
        swap(&mut scope.nodes, &mut self.nodes);
        swap(&mut scope.spans, &mut self.spans);
        swap(&mut scope.failed, &mut self.failed);
        swap(&mut scope.kept, &mut self.kept);
        swap(&mut scope.inputs, &mut self.inputs);
        swap(&mut scope.controls, &mut self.controls);
        swap(&mut scope.constants, &mut self.constants);
        swap(&mut scope.computed, &mut self.computed);
        swap(&mut scope.handles, &mut self.handles);
        swap(&mut scope.values, &mut self.values);
    }

    pub(super) fn fail(&mut self, at: usize, message: &str) {
        self.failed[at] = true;
        // Said already, of a node in a function.
        if message.is_empty() {
            return;
        }
        let node = &self.nodes[at];
        let mut text = format!("node `{}` (`{}`): {message}", self.place(at), node.op);
        if let Some(span) = self.spans.get(at) {
            text = format!("{text}, at byte {}", span.start);
        }
        self.errors.push(super::error(text));
    }

    /// The name of a node, with those of the calls around it.
    pub(super) fn place(&self, at: usize) -> String {
        let name = &self.nodes[at].name;
        match self.path.is_empty() {
            true => name.clone(),
            false => format!("{}/{name}", self.path.join("/")),
        }
    }

    pub(super) fn is(&self, at: usize, ops: &[&str]) -> bool {
        ops.contains(&self.nodes[at].op.as_str())
    }

    pub(super) fn is_back_edge(&self, from: usize, to: usize) -> bool {
        self.is(from, &["NextIteration", "RefNextIteration"]) && self.is(to, &["Merge", "RefMerge"])
    }
}

/// The integers of a constant.
pub(super) fn whole_numbers((dims, numbers, _): &Constant) -> Option<Vec<i64>> {
    /// Lists of axes and dimensions are short.
    const LONGEST: i64 = 1 << 12;
    let count = dims.iter().try_fold(1i64, |n, &d| n.checked_mul(d))?;
    let int = |n: &Number| match n {
        Number::Int(value) => i64::try_from(*value).ok(),
        Number::Float(_) => None,
    };
    let values: Vec<i64> = numbers.iter().map(int).collect::<Option<_>>()?;
    match values[..] {
        // Its numbers are bytes.
        [] if count > 0 => None,
        [one] if (0..=LONGEST).contains(&count) => Some(vec![one; count as usize]),
        _ => Some(values),
    }
}
