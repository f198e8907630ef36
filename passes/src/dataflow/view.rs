//! `view-graph`: a drawing of the program in the language of Graphviz.
//!
//! Each operation is a node, each use of a value an edge. In a `df.graph`, control edges are dashed and back edges bold;
//! each frame and each graph is a box. In other programs each operation with regions is a box, with the arguments of its
//! blocks as nodes. Boxes are written with a list of those that are open, since programs may be nested deeply.

use pir_dialects::df;
use std::fmt::Write as _;
use std::io::Write as _;

use pir_dialects::df::graph::{FrameId, Graph, Node, NodeKind};
use pir_ir::{BlockId, Body, Context, Diagnostic, Module, OpId, ValueDef, ValueId};

use crate::options::{OptionKind, OptionSpec};
use crate::pass::{Changed, Pass, PassContext};

/// The pass `view-graph`.
pub struct ViewGraph;

impl Pass for ViewGraph {
    fn name(&self) -> &'static str {
        "view-graph"
    }

    fn summary(&self) -> &'static str {
        "Draw the program in the language of Graphviz"
    }

    fn description(&self) -> &'static str {
        "Writes a `digraph` that `dot -Tsvg` draws: a node for each operation, an edge for each use of a value, a box for \
         each operation with regions. Of a `df.graph`, control edges are dashed, edges to the next iteration bold, and \
         frames boxes. The program stays as it is."
    }

    fn options(&self) -> &'static [OptionSpec] {
        const OPTIONS: &[OptionSpec] = &[OptionSpec {
            name: "file",
            kind: OptionKind::Str,
            default: None,
            help: "where to write it, the standard error stream if it is not given",
        }];
        OPTIONS
    }

    fn run(&self, module: &mut Module, cx: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        let text = draw(module);
        let written = match cx.options.text("file") {
            Some(path) => std::fs::write(&path, text).map_err(|e| format!("cannot write `{path}`: {e}")),
            None => std::io::stderr()
                .lock()
                .write_all(text.as_bytes())
                .map_err(|e| format!("cannot write to the standard error stream: {e}")),
        };
        written.map_err(|message| {
            vec![
                Diagnostic::error("view-graph", message).help("`file` names a file in a folder that can be written to"),
            ]
        })?;
        Ok(Changed::No)
    }
}

/// The drawing of a module.
fn draw(module: &Module) -> String {
    let mut drawing = Drawing {
        ctx: &module.ctx,
        out: String::from("digraph program {\n  node [shape = box, fontname = \"monospace\"];\n"),
        depth: 1,
        boxes: 0,
    };
    let mut bodies = vec![Task::Body(&module.body, 0)];
    let mut next = 1;
    while let Some(task) = bodies.pop() {
        match task {
            Task::Close => drawing.close(),
            Task::Body(body, prefix) => drawing.structured(body, prefix, &mut bodies, &mut next),
            Task::Open(title, body, prefix) => {
                drawing.open(&title);
                bodies.push(Task::Close);
                match Graph::new(&module.ctx, body).filter(|_| title.starts_with(df::GRAPH)) {
                    Some(graph) => drawing.graph(body, &graph, prefix),
                    None => bodies.push(Task::Body(body, prefix)),
                }
            }
        }
    }
    drawing.out.push_str("}\n");
    drawing.out
}

/// Pending drawing tasks. The ids of bodies are distinguished by a prefix.
enum Task<'a> {
    Body(&'a Body, usize),
    Open(String, &'a Body, usize),
    Close,
}

struct Drawing<'a> {
    ctx: &'a Context,
    out: String,
    depth: usize,
    boxes: usize,
}

/// A text between quotes.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            '\n' => out.push_str("\\n"),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

impl<'a> Drawing<'a> {
    fn line(&mut self, text: &str) {
        // Deep programs are not indented without end.
        for _ in 0..self.depth.min(20) {
            self.out.push_str("  ");
        }
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn open(&mut self, title: &str) {
        let number = self.boxes;
        self.boxes += 1;
        self.line(&format!("subgraph cluster_{number} {{"));
        self.depth += 1;
        self.line(&format!("label = {};", quoted(title)));
    }

    fn close(&mut self) {
        self.depth -= 1;
        self.line("}");
    }

    fn name(&self, body: &Body, value: ValueId) -> Option<String> {
        let name = body.value_name(value)?;
        Some(format!("%{}", self.ctx.name_text(name.name)))
    }

    /// The label of an operation's node.
    fn label(&self, body: &Body, op: OpId) -> String {
        let view = body.view(self.ctx, op);
        let mut label = String::new();
        let mut names: Vec<String> = body.results(op).filter_map(|v| self.name(body, v)).collect();
        names.dedup();
        if !names.is_empty() {
            let _ = write!(label, "{} = ", names.join(", "));
        }
        label.push_str(view.name());
        for attr in ["name", "frame", "key", "sym_name", "callee", "value", "device"] {
            let Some(value) = view.attr(attr) else { continue };
            let text = pir_ir::text::print_attr(self.ctx, value);
            // A constant may have many elements.
            let short: String = text.chars().take(40).collect();
            let _ = write!(
                label,
                "\n{attr} = {short}{}",
                if short.len() < text.len() { "…" } else { "" }
            );
        }
        if view.bool("constant") == Some(true) {
            label.push_str("\nconstant");
        }
        label
    }

    // ----- graphs -----

    fn graph(&mut self, body: &'a Body, graph: &Graph, prefix: usize) {
        // A box for each frame, nested ones after the nodes.
        let mut children: Vec<Vec<FrameId>> = vec![Vec::new(); graph.frames().len()];
        for frame in graph.frames() {
            if let Some(parent) = graph.parent(frame) {
                children[parent.index()].push(frame);
            }
        }
        // What enters a frame, and what leaves it, is drawn in it.
        let mut members: Vec<Vec<Node>> = vec![Vec::new(); graph.frames().len()];
        for node in graph.nodes() {
            let frame = match graph.kind(node) {
                NodeKind::Enter => graph.output_frame(node),
                _ => graph.frame_of(node),
            };
            members[frame.index()].push(node);
        }
        let mut pending = vec![(FrameId::ROOT, true)];
        while let Some((frame, first)) = pending.pop() {
            if !first {
                self.close();
                continue;
            }
            if let Some(name) = graph.frame_name(frame) {
                let title = format!("frame {}", self.ctx.str(name));
                self.open(&title);
                pending.push((frame, false));
            }
            for &node in &members[frame.index()] {
                let label = quoted(&self.label(body, graph.op(node)));
                let shape = match graph.kind(node) {
                    NodeKind::Switch | NodeKind::Merge => ", shape = diamond",
                    NodeKind::Enter | NodeKind::Exit | NodeKind::NextIteration => ", shape = cds",
                    NodeKind::LoopCond => ", shape = hexagon",
                    NodeKind::Send | NodeKind::Recv => ", shape = rarrow",
                    NodeKind::Stack | NodeKind::Push | NodeKind::Pop => ", shape = cylinder",
                    _ => "",
                };
                self.line(&format!("n{prefix}_{} [label = {label}{shape}];", node.index()));
            }
            pending.extend(children[frame.index()].iter().rev().map(|&f| (f, true)));
        }
        for node in graph.nodes() {
            let to = node.index();
            for (input, source) in (0_u32..).zip(graph.inputs(node)) {
                let mut attrs = Vec::new();
                if graph.kind(source.node) == NodeKind::Switch {
                    attrs.push(format!(
                        "label = {}",
                        if source.output == 0 { "\"F\"" } else { "\"T\"" }
                    ));
                }
                if graph.is_back_edge(node, input) {
                    attrs.push("style = bold, constraint = false".to_owned());
                }
                let attrs = if attrs.is_empty() {
                    String::new()
                } else {
                    format!(" [{}]", attrs.join(", "))
                };
                self.line(&format!("n{prefix}_{} -> n{prefix}_{to}{attrs};", source.node.index()));
            }
            for from in graph.controls(node) {
                self.line(&format!(
                    "n{prefix}_{} -> n{prefix}_{to} [style = dashed];",
                    from.index()
                ));
            }
        }
    }

    // ----- programs with regions -----

    fn structured(&mut self, body: &'a Body, prefix: usize, bodies: &mut Vec<Task<'a>>, next: &mut usize) {
        enum Step {
            Block(BlockId),
            Op(Option<OpId>),
            Close,
        }
        let mut steps: Vec<Step> = body
            .region_blocks(body.root())
            .iter()
            .rev()
            .map(|&b| Step::Block(b))
            .collect();
        let mut edges = String::new();
        let mut inner = Vec::new();
        while let Some(step) = steps.pop() {
            match step {
                Step::Close => self.close(),
                Step::Op(None) => {}
                Step::Block(block) => {
                    for &arg in body.block_args(block) {
                        let name = self.name(body, arg).unwrap_or_else(|| "argument".to_owned());
                        self.line(&format!(
                            "a{prefix}_{} [label = {}, shape = ellipse];",
                            arg.index(),
                            quoted(&name)
                        ));
                    }
                    steps.push(Step::Op(body.first_op(block)));
                }
                Step::Op(Some(op)) => {
                    steps.push(Step::Op(body.next_op(op)));
                    let title = self.label(body, op);
                    if let Some(isolated) = body.isolated(op) {
                        let name = body.view(self.ctx, op).name();
                        let device = body.view(self.ctx, op).int("device");
                        let title = match (name, device) {
                            (df::GRAPH, Some(device)) => format!("df.graph on device {device}"),
                            (df::GRAPH, None) => df::GRAPH.to_owned(),
                            _ => title,
                        };
                        inner.push(Task::Open(title, isolated, *next));
                        *next += 1;
                        continue;
                    }
                    let regions = body.op_regions(op);
                    if !regions.is_empty() {
                        self.open(body.view(self.ctx, op).name());
                        steps.push(Step::Close);
                        let blocks = regions.iter().rev().flat_map(|&r| body.region_blocks(r).iter().rev());
                        steps.extend(blocks.map(|&b| Step::Block(b)));
                    }
                    self.line(&format!("n{prefix}_{} [label = {}];", op.index(), quoted(&title)));
                    for operand in body.operands(op) {
                        let from = match body.value_def(operand) {
                            ValueDef::Result(def, _) => format!("n{prefix}_{}", def.index()),
                            _ => format!("a{prefix}_{}", operand.index()),
                        };
                        let _ = writeln!(edges, "  {from} -> n{prefix}_{};", op.index());
                    }
                }
            }
        }
        self.out.push_str(&edges);
        bodies.extend(inner.into_iter().rev());
    }
}
