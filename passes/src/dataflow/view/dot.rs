//! Nodes, edges, boxes and the legend, in the language of Graphviz.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::rc::Rc;

use pir_ir::text::{print_attr, print_type};
use pir_ir::{Body, Context, EffectKind, OpId, OpView, Traits, Type, ValueId};
use rustc_hash::FxHashMap;

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

/// The name of a node.
#[derive(Clone, Copy)]
pub(super) struct Id {
    letter: char,
    body: usize,
    index: usize,
}

impl Id {
    /// That of an operation, or of a node of a graph.
    pub(super) const fn op(body: usize, index: usize) -> Id {
        Id {
            letter: 'n',
            body,
            index,
        }
    }

    /// That of a value that is no result of an ordinary operation.
    pub(super) const fn value(body: usize, index: usize) -> Id {
        Id {
            letter: 'v',
            body,
            index,
        }
    }

    // Formatting takes several times as long.
    fn write(self, out: &mut String) {
        let mut digits = itoa::Buffer::new();
        out.push(self.letter);
        out.push_str(digits.format(self.body));
        out.push('_');
        out.push_str(digits.format(self.index));
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
    messages: BTreeMap<(String, i64, i64), [Option<Id>; 2]>,
    /// The texts of types.
    printed: FxHashMap<Type, Rc<str>>,
}

/// Writes text for labels in the form of HTML.
fn escape(out: &mut String, text: &str) {
    let is_plain = |b: u8| !matches!(b, b'&' | b'<' | b'>' | b'"' | 0..=0x1f | 0x7f..);
    if text.bytes().all(is_plain) {
        out.push_str(text);
        return;
    }
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
}

/// A text that fits into a line.
pub(super) fn cut(text: &str) -> Cow<'_, str> {
    shortened(text, WIDTH)
}

fn shortened(text: &str, width: usize) -> Cow<'_, str> {
    if text.len() <= width || text.chars().count() <= width {
        return text.into();
    }
    let short: String = text.chars().take(width - 1).collect();
    format!("{short}…").into()
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
            printed: FxHashMap::default(),
        }
    }

    fn indent(&mut self) {
        // Deep programs are not indented without end.
        for _ in 0..self.depth.min(20) {
            self.out.push_str("  ");
        }
    }

    fn line(&mut self, text: &str) {
        self.indent();
        self.out.push_str(text);
        self.out.push('\n');
    }

    pub(super) fn open(&mut self, title: &str) {
        let number = self.boxes;
        self.boxes += 1;
        self.line(&format!("subgraph cluster_{number} {{"));
        self.depth += 1;
        let mut label = String::new();
        escape(&mut label, &cut(title));
        self.line(&format!(
            "label = <<b>{label}</b>>; labeljust = l; style = rounded; color = \"#999999\";"
        ));
    }

    pub(super) fn close(&mut self) {
        self.depth -= 1;
        self.line("}");
    }

    /// A node. The first line is its title; the last one, in grey, its types.
    pub(super) fn node(&mut self, id: Id, style: NodeStyle, lines: &[String], types: &str, device: Option<i64>) {
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
        self.indent();
        let out = &mut self.out;
        id.write(out);
        out.push_str(" [label = <");
        for (at, line) in lines.iter().enumerate() {
            let (before, behind) = match at {
                0 => ("", ""),
                _ => ("<br/><font point-size=\"9\">", "</font>"),
            };
            out.push_str(before);
            escape(out, &cut(line));
            out.push_str(behind);
        }
        if self.style.types && !types.is_empty() {
            out.push_str("<br/><font point-size=\"8\" color=\"#777777\">");
            escape(out, &cut(types));
            out.push_str("</font>");
        }
        out.extend([">, fillcolor = \"", fill, "\"", more, "];\n"]);
    }

    pub(super) fn edge(&mut self, from: Id, to: Id, style: EdgeStyle, label: &str) {
        self.edges_used.insert(style);
        let (colour, more, _, _) = style.parts();
        self.arrow(from, to);
        self.edges.extend([" [color = \"", colour, "\"", more]);
        if !label.is_empty() {
            self.edges.extend([", label = \"", label, "\""]);
        }
        self.edges.push_str("];\n");
    }

    fn arrow(&mut self, from: Id, to: Id) {
        self.edges.push_str("  ");
        from.write(&mut self.edges);
        self.edges.push_str(" -> ");
        to.write(&mut self.edges);
    }

    /// Puts a node below another one.
    pub(super) fn below(&mut self, upper: Id, lower: Id) {
        self.arrow(upper, lower);
        self.edges.push_str(" [style = invis];\n");
    }

    /// The node of a send or of a receive.
    pub(super) fn message(&mut self, view: OpView<'_>, sends: bool, id: Id) {
        let key = view.str("key").unwrap_or_default().to_owned();
        let ends = (view.int("from").unwrap_or(0), view.int("to").unwrap_or(0));
        self.messages.entry((key, ends.0, ends.1)).or_default()[usize::from(!sends)] = Some(id);
    }

    /// The text of the drawing.
    pub(super) fn finish(mut self) -> String {
        for ends in std::mem::take(&mut self.messages).into_values() {
            if let [Some(send), Some(receive)] = ends {
                self.edge(send, receive, EdgeStyle::Message, "");
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
        // Those of results with the same name are one.
        let (mut names, mut last) = (String::new(), 0);
        for name in body.results(op).filter_map(|v| body.value_name(v)) {
            let name = self.ctx.name_text(name.name);
            if !names.is_empty() && names[last..] == *name {
                continue;
            }
            names.push_str(if names.is_empty() { "%" } else { ", %" });
            last = names.len();
            names.push_str(&name);
        }
        let name = view.name();
        let title = match &names[..] {
            "" => name.to_owned(),
            // The operation is what a reader looks for: long names are cut before it is.
            names => {
                let room = WIDTH.saturating_sub(name.len() + 3).max(8);
                [&shortened(names, room), " = ", name].concat()
            }
        };
        let mut lines = vec![title];
        for &(name, value) in self.ctx.dict_entries(body.attrs(op)) {
            let name = self.ctx.str(name);
            if SHOWN_ELSEWHERE.contains(&name) || name.contains('.') || lines.len() >= 4 {
                continue;
            }
            let value = print_attr(self.ctx, value);
            let declared = view
                .def()
                .and_then(|def| def.attrs.iter().find(|spec| spec.name == name));
            if declared.is_none_or(|spec| spec.default.as_deref() != Some(&value)) {
                lines.push(format!("{name} = {value}"));
            }
        }
        lines
    }

    /// The types of the results of an operation.
    pub(super) fn types(&mut self, body: &Body, op: OpId) -> Rc<str> {
        if let (1, Some(result)) = (body.num_results(op), body.results(op).next()) {
            return self.type_of(body.value_type(result));
        }
        let mut types: Vec<Rc<str>> = body.results(op).map(|v| self.type_of(body.value_type(v))).collect();
        types.dedup();
        types.join(", ").into()
    }

    pub(super) fn type_of(&mut self, ty: Type) -> Rc<str> {
        let printed = self.printed.entry(ty);
        Rc::clone(printed.or_insert_with(|| print_type(self.ctx, ty).into()))
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
        Some(cut(&print_attr(self.ctx, value)).into_owned())
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
