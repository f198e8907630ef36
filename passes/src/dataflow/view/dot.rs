//! Nodes, edges, boxes and the legend, in the language of Graphviz.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use pir_ir::text::{print_attr, print_type};
use pir_ir::{Body, Context, EffectKind, OpId, OpView, Traits, Type, ValueId};

use super::Style;

/// The style of a node. The order is that of the legend.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum NodeStyle {
    Input,
    Output,
    Operation,
    Derivative,
    Carried,
    Condition,
    Stack,
    /// A merge, or what leads into or out of a frame.
    Frame,
    Message,
}

/// The style of an edge. The order is that of the legend.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum EdgeStyle {
    Data,
    Carried,
    NextIteration,
    Recorded,
    Control,
    Message,
}

impl NodeStyle {
    /// Colour, attributes and meaning.
    fn parts(self) -> (&'static str, &'static str, &'static str) {
        match self {
            NodeStyle::Input => ("#d5efd5", "", "input"),
            NodeStyle::Output => ("#fbe0c4", "", "output"),
            NodeStyle::Operation => ("#ffffff", "", "operation"),
            NodeStyle::Derivative => ("#fff3bf", "", "operation of the derivative"),
            NodeStyle::Carried => ("#dbe7fb", ", style = \"filled,rounded\"", "value of a loop or branch"),
            NodeStyle::Condition => ("#eeeeee", ", shape = hexagon", "condition"),
            NodeStyle::Stack => ("#e6daf5", ", shape = cylinder", "operation on a stack"),
            NodeStyle::Frame => ("#dbe7fb", ", style = \"filled,rounded\"", "control of a loop or branch"),
            NodeStyle::Message => ("#f8d3d3", ", peripheries = 2", "message"),
        }
    }
}

impl EdgeStyle {
    /// Colour, attributes, sign and meaning.
    fn parts(self) -> (&'static str, &'static str, &'static str, &'static str) {
        match self {
            EdgeStyle::Data => ("#555555", "", "→", "use of a value"),
            EdgeStyle::Carried => ("#2461c2", "", "→", "enters or leaves a region"),
            EdgeStyle::NextIteration => (
                "#2461c2",
                ", style = bold, constraint = false",
                "➔",
                "goes to the next iteration",
            ),
            EdgeStyle::Recorded => (
                "#7b3fb5",
                ", style = dotted, penwidth = 1.6",
                "⋯",
                "recorded on a stack",
            ),
            EdgeStyle::Control => ("#888888", ", style = dashed", "⇢", "order only"),
            EdgeStyle::Message => ("#c0392b", ", style = bold", "➔", "from send to receive"),
        }
    }
}

/// The colours of devices, in turn.
const DEVICES: [&str; 8] = [
    "#cfe2ff", "#ffe0c2", "#d3f0d0", "#f3d2e6", "#e3d9f7", "#fff2b3", "#cdeeee", "#e8ddd0",
];

/// Longer lines are cut.
const WIDTH: usize = 34;

pub(super) struct Drawing<'a> {
    pub(super) ctx: &'a Context,
    pub(super) style: Style,
    out: String,
    edges: String,
    depth: usize,
    boxes: usize,
    nodes_used: BTreeSet<NodeStyle>,
    edges_used: BTreeSet<EdgeStyle>,
    devices: BTreeSet<i64>,
    /// The ends of messages, by key and devices.
    messages: BTreeMap<(String, i64, i64), [Option<String>; 2]>,
}

/// Text for labels in the form of HTML.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// A text that fits into a line.
pub(super) fn cut(text: &str) -> String {
    if text.chars().count() <= WIDTH {
        return text.to_owned();
    }
    let short: String = text.chars().take(WIDTH - 1).collect();
    format!("{short}…")
}

impl<'a> Drawing<'a> {
    pub(super) fn new(ctx: &'a Context, style: Style) -> Self {
        let mut out = String::from("digraph program {\n");
        let direction = if style.right { "LR" } else { "TB" };
        for line in [
            format!("graph [rankdir = {direction}, nodesep = 0.15, ranksep = 0.3, fontname = \"Helvetica,Arial,sans-serif\", fontsize = 11];"),
            "node [shape = box, style = filled, fillcolor = white, color = \"#777777\", fontname = \"Helvetica,Arial,sans-serif\", \
             fontsize = 10, height = 0.2, margin = \"0.08,0.04\"];"
                .to_owned(),
            "edge [color = \"#555555\", arrowsize = 0.6, fontname = \"Helvetica,Arial,sans-serif\", fontsize = 9];".to_owned(),
        ] {
            let _ = writeln!(out, "  {line}");
        }
        Drawing {
            ctx,
            style,
            out,
            edges: String::new(),
            depth: 1,
            boxes: 0,
            nodes_used: BTreeSet::new(),
            edges_used: BTreeSet::new(),
            devices: BTreeSet::new(),
            messages: BTreeMap::new(),
        }
    }

    fn line(&mut self, text: &str) {
        // Deep programs are not indented without end.
        for _ in 0..self.depth.min(20) {
            self.out.push_str("  ");
        }
        self.out.push_str(text);
        self.out.push('\n');
    }

    pub(super) fn open(&mut self, title: &str) {
        let number = self.boxes;
        self.boxes += 1;
        self.line(&format!("subgraph cluster_{number} {{"));
        self.depth += 1;
        self.line(&format!(
            "label = <<b>{}</b>>; labeljust = l; style = rounded; color = \"#999999\";",
            escaped(&cut(title))
        ));
    }

    pub(super) fn close(&mut self) {
        self.depth -= 1;
        self.line("}");
    }

    /// A node. The first line is its title; the last one, in grey, its types.
    pub(super) fn node(&mut self, id: &str, style: NodeStyle, lines: &[String], types: &str, device: Option<i64>) {
        let mut label = String::new();
        for (at, line) in lines.iter().enumerate() {
            let text = escaped(&cut(line));
            match at {
                0 => label.push_str(&text),
                _ => {
                    let _ = write!(label, "<br/><font point-size=\"9\">{text}</font>");
                }
            }
        }
        if self.style.types && !types.is_empty() {
            let text = escaped(&cut(types));
            let _ = write!(label, "<br/><font point-size=\"8\" color=\"#777777\">{text}</font>");
        }
        let (own, more, _) = style.parts();
        let fill = match device {
            Some(device) => {
                self.devices.insert(device);
                colour(device)
            }
            None => {
                self.nodes_used.insert(style);
                own
            }
        };
        self.line(&format!("{id} [label = <{label}>, fillcolor = \"{fill}\"{more}];"));
    }

    pub(super) fn edge(&mut self, from: &str, to: &str, style: EdgeStyle, label: &str) {
        self.edges_used.insert(style);
        let (colour, more, _, _) = style.parts();
        let label = match label {
            "" => String::new(),
            label => format!(", label = \"{label}\""),
        };
        let _ = writeln!(self.edges, "  {from} -> {to} [color = \"{colour}\"{more}{label}];");
    }

    /// Puts a node below another one.
    pub(super) fn below(&mut self, upper: &str, lower: &str) {
        let _ = writeln!(self.edges, "  {upper} -> {lower} [style = invis];");
    }

    /// The node of a send or of a receive.
    pub(super) fn message(&mut self, view: OpView<'_>, sends: bool, id: &str) {
        let key = view.str("key").unwrap_or_default().to_owned();
        let ends = (view.int("from").unwrap_or(0), view.int("to").unwrap_or(0));
        self.messages.entry((key, ends.0, ends.1)).or_default()[usize::from(!sends)] = Some(id.to_owned());
    }

    /// The text of the drawing.
    pub(super) fn finish(mut self) -> String {
        for ends in std::mem::take(&mut self.messages).into_values() {
            if let [Some(send), Some(receive)] = ends {
                self.edge(&send, &receive, EdgeStyle::Message, "");
            }
        }
        let edges = std::mem::take(&mut self.edges);
        self.out.push_str(&edges);
        if self.style.legend {
            self.legend();
        }
        self.out.push_str("}\n");
        self.out
    }

    /// The label of the whole drawing: what the colours and edges in it mean, four to a line.
    fn legend(&mut self) {
        let mut entries = Vec::new();
        for &device in &self.devices {
            entries.push((colour(device), " ", format!("device {device}")));
        }
        for style in &self.nodes_used {
            let (colour, _, meaning) = style.parts();
            entries.push((colour, " ", meaning.to_owned()));
        }
        let nodes = entries.len();
        for style in &self.edges_used {
            let (colour, _, sign, meaning) = style.parts();
            entries.push((colour, sign, meaning.to_owned()));
        }
        if entries.is_empty() {
            return;
        }
        let mut table = String::from("<table border=\"0\" cellspacing=\"3\" cellpadding=\"1\">");
        for (at, row) in entries.chunks(4).enumerate() {
            table.push_str("<tr>");
            for (column, (colour, sign, meaning)) in row.iter().enumerate() {
                let cell = match at * 4 + column < nodes {
                    true => format!("<td border=\"1\" width=\"18\" bgcolor=\"{colour}\"> </td>"),
                    false => format!("<td><font color=\"{colour}\" point-size=\"14\">{sign}</font></td>"),
                };
                let _ = write!(table, "{cell}<td align=\"left\">{meaning}</td>");
            }
            table.push_str("</tr>");
        }
        table.push_str("</table>");
        self.line(&format!("label = <{table}>; labelloc = b; labeljust = l;"));
    }
}

fn colour(device: i64) -> &'static str {
    DEVICES[device.rem_euclid(DEVICES.len() as i64) as usize]
}

// ----- labels -----

/// Attributes that the type, the box or the colour of a node shows.
const SHOWN_ELSEWHERE: [&str; 8] = [
    "shape",
    "dtype",
    "device",
    "backward",
    "sym_name",
    "function_type",
    "from",
    "to",
];

impl Drawing<'_> {
    pub(super) fn name(&self, body: &Body, value: ValueId) -> Option<String> {
        let name = body.value_name(value)?;
        Some(format!("%{}", self.ctx.name_text(name.name)))
    }

    /// The lines of an operation's node, without types: `%y = pd.tanh`, and the attributes.
    pub(super) fn lines(&self, view: OpView<'_>) -> Vec<String> {
        let (body, op) = (view.body, view.op);
        let mut names: Vec<String> = body.results(op).filter_map(|v| self.name(body, v)).collect();
        names.dedup();
        let name = view.name();
        let title = match &names[..] {
            [] => name.to_owned(),
            // The operation is what a reader looks for: long names are cut before it is.
            names => {
                let names = names.join(", ");
                let room = WIDTH.saturating_sub(name.len() + 3).max(8);
                let short = match names.chars().count() > room {
                    true => format!("{}…", names.chars().take(room - 1).collect::<String>()),
                    false => names,
                };
                format!("{short} = {name}")
            }
        };
        let mut lines = vec![title];
        for &(name, value) in self.ctx.dict_entries(body.attrs(op)) {
            let (name, value) = (self.ctx.str(name), print_attr(self.ctx, value));
            let declared = view
                .def()
                .and_then(|def| def.attrs.iter().find(|spec| spec.name == name));
            let is_default = declared.is_some_and(|spec| spec.default.as_deref() == Some(&value));
            if !is_default && !SHOWN_ELSEWHERE.contains(&name) && !name.contains('.') && lines.len() < 4 {
                lines.push(format!("{name} = {value}"));
            }
        }
        lines
    }

    /// The types of the results of an operation.
    pub(super) fn types(&self, body: &Body, op: OpId) -> String {
        let mut types: Vec<String> = body.results(op).map(|v| self.type_of(body.value_type(v))).collect();
        types.dedup();
        types.join(", ")
    }

    pub(super) fn type_of(&self, ty: Type) -> String {
        print_type(self.ctx, ty)
    }

    /// The text of a constant's value, for the nodes that use it.
    pub(super) fn constant(&self, view: OpView<'_>) -> Option<String> {
        let is = !self.style.constants
            && view.body.num_operands(view.op) == 0
            && view.body.num_results(view.op) == 1
            && view.body.op_regions(view.op).is_empty()
            && !view.has_unknown_effects()
            && view.own_effects().is_empty();
        let value = view.attr("value").filter(|_| is)?;
        Some(cut(&print_attr(self.ctx, value)))
    }

    /// The style of the node of an ordinary operation.
    pub(super) fn kind(&self, view: OpView<'_>, derivative: bool) -> NodeStyle {
        let effects = view.own_effects();
        let shared = |kind| effects.iter().any(|e| e.kind == kind && e.target.is_shared());
        let stack = |value| crate::analysis::is_handle_type(self.ctx, view.body.value_type(value));
        let mut touched = view.body.operands(view.op).chain(view.body.results(view.op));
        if view.has_unknown_effects() {
            NodeStyle::Operation
        } else if touched.any(stack) {
            NodeStyle::Stack
        } else if view.body.num_results(view.op) == 0 && (shared(EffectKind::Write) || view.has(Traits::RETURN_LIKE)) {
            NodeStyle::Output
        } else if view.body.num_operands(view.op) == 0 && shared(EffectKind::Read) {
            NodeStyle::Input
        } else if derivative {
            NodeStyle::Derivative
        } else {
            NodeStyle::Operation
        }
    }
}
