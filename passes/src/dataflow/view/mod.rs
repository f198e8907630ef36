//! `view-graph`: a drawing of the program in the language of Graphviz.
//!
//! - [`dot`] writes nodes, edges and boxes, and the legend of those that occur;
//! - [`structured`] draws programs with regions;
//! - [`graph`] draws a `df.graph`.
//!
//! What would make a drawing wide or tangled is omitted from it: a constant is a line in the nodes that use it, and a stack on which
//! a loop records is an edge from each recorded value to where it is taken off.

mod dot;
mod graph;
mod structured;

use std::io::Write as _;

use pir_dialects::df;
use pir_dialects::df::graph::Graph;
use pir_ir::{Body, Diagnostic, Module, Traits};

use crate::options::{OptionKind, OptionSpec};
use crate::pass::{Changed, Pass, PassContext};
use dot::Drawing;

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
        "Writes a `digraph` that `dot -Tsvg` draws: a node for each operation, an edge for each use of a value, and a \
         box for each region and each frame. Blue edges are values that enter a region, leave it, or go to the next \
         iteration; dotted edges connect the push of a recorded value with its pop; red edges connect a send with its \
         receive. In a program with devices, the colour of a node is that of its device. A legend explains the colours. \
         The pass does not change the program."
    }

    fn options(&self) -> &'static [OptionSpec] {
        const OPTIONS: &[OptionSpec] = &[
            OptionSpec {
                name: "file",
                kind: OptionKind::Str,
                default: None,
                help: "the file to write; default: the standard error stream",
            },
            OptionSpec {
                name: "direction",
                kind: OptionKind::Enum(&["down", "right"]),
                default: Some("down"),
                help: "the direction of edges",
            },
            OptionSpec {
                name: "constants",
                kind: OptionKind::Enum(&["inline", "nodes"]),
                default: Some("inline"),
                help: "write constants into the nodes that use them, or draw each as a node",
            },
            OptionSpec {
                name: "types",
                kind: OptionKind::Bool,
                default: Some("true"),
                help: "label results with their types",
            },
            OptionSpec {
                name: "legend",
                kind: OptionKind::Bool,
                default: Some("true"),
                help: "draw a legend of colours and edges",
            },
        ];
        OPTIONS
    }

    fn run(&self, module: &mut Module, cx: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        let is = |name, value: &str| cx.options.text(name).as_deref() == Some(value);
        let text = draw(
            module,
            Style {
                right: is("direction", "right"),
                constants: is("constants", "nodes"),
                types: cx.options.flag("types"),
                legend: cx.options.flag("legend"),
            },
        );
        let written = match (cx.options.text("file"), cx.services.write_file) {
            (Some(path), Some(write)) => write(&path, &text).map_err(|error| error.message),
            (Some(path), None) => Err(format!("cannot write `{path}`: this program writes no files")),
            (None, _) => std::io::stderr()
                .lock()
                .write_all(text.as_bytes())
                .map_err(|e| format!("cannot write to the standard error stream: {e}")),
        };
        written.map_err(|message| {
            vec![Diagnostic::error("view-graph", message).help("the option `file` names a file in an existing folder")]
        })?;
        Ok(Changed::No)
    }
}

/// The options of a drawing.
#[derive(Clone, Copy)]
struct Style {
    right: bool,
    constants: bool,
    types: bool,
    legend: bool,
}

/// Pending drawing tasks. The ids of bodies are distinguished by a prefix.
enum Task<'a> {
    Body(&'a Body, usize),
    Graph(String, &'a Body, usize, Option<i64>),
    Function(String, &'a Body, usize),
    Close,
}

/// The drawing of a module.
fn draw(module: &Module, style: Style) -> String {
    let mut drawing = Drawing::new(&module.ctx, style);
    let mut tasks = vec![Task::Body(&module.body, 0)];
    let mut next = 1;
    while let Some(task) = tasks.pop() {
        match task {
            Task::Close => drawing.close(),
            Task::Body(body, prefix) => {
                let inner = structured::draw(&mut drawing, body, prefix, &mut next);
                tasks.extend(inner.into_iter().rev());
            }
            Task::Function(title, body, prefix) => {
                drawing.open(&title);
                tasks.extend([Task::Close, Task::Body(body, prefix)]);
            }
            Task::Graph(title, body, prefix, device) => {
                drawing.open(&title);
                tasks.push(Task::Close);
                match Graph::new(&module.ctx, body) {
                    Some(graph) => graph::draw(&mut drawing, body, &graph, prefix, device),
                    None => tasks.push(Task::Body(body, prefix)),
                }
            }
        }
    }
    drawing.finish()
}

/// The task that draws the body of an isolated operation.
fn inner<'a>(view: pir_ir::OpView<'a>, body: &'a Body, prefix: usize) -> Task<'a> {
    if view.name() == df::GRAPH {
        let device = view.int("device");
        let title = device.map_or_else(|| "graph".to_owned(), |d| format!("graph of device {d}"));
        return Task::Graph(title, body, prefix, device);
    }
    let symbol = view.str("sym_name").filter(|_| view.has(Traits::SYMBOL));
    let title = symbol.map_or_else(|| view.name().to_owned(), |name| format!("{} @{name}", view.name()));
    Task::Function(title, body, prefix)
}
