//! `place`: a device for each node.
//!
//! # Algorithm
//! Nodes that must be together ([`groups`]) become vertices, values that travel become nets ([`costs`]), and a balanced
//! minimum cut ([`cut`]) determines where what was not placed by hand goes. At last each device that reads a constant enter gets
//! its own ([`enters`]).

mod costs;
mod cut;
mod enters;
mod groups;

use pir_dialects::df::DEVICE_NAME;
use pir_dialects::df::cluster::Cluster;
use pir_dialects::df::graph::Graph;
use pir_dialects::marks::DEVICE;
use pir_ir::{Attr, Body, Context, Diagnostic, Module, OpId};
use rustc_hash::FxHashMap;

pub(super) use costs::bytes;
pub(super) use groups::has_stack;

use super::{Which, for_each_graph};
use crate::options::{OptionKind, OptionSpec};
use crate::pass::{Changed, Pass, PassContext};

/// The most devices that can be requested.
pub(super) const MOST_DEVICES: i64 = 1 << 10;

/// The options of `place` and of `partition`.
pub(super) const OPTIONS: &[OptionSpec] = &[
    OptionSpec {
        name: "devices",
        kind: OptionKind::Int(1, MOST_DEVICES),
        default: Some("2"),
        help: "the number of devices; they are numbered from 0",
    },
    OptionSpec {
        name: "cluster",
        kind: OptionKind::Str,
        default: None,
        help: "a file that describes a cluster, whose tasks provide the devices; `tf.device` names them",
    },
];

/// The devices that nodes are placed on.
pub(super) struct Devices {
    pub(super) count: u32,
    cluster: Option<Cluster>,
}

/// The pass `place`.
pub struct Place;

impl Pass for Place {
    fn name(&self) -> &'static str {
        "place"
    }

    fn summary(&self) -> &'static str {
        "Choose a device for each node of a graph"
    }

    fn description(&self) -> &'static str {
        "Gives each node of a `df.graph` an attribute `device`. Nodes that have one keep it, subject to the placement \
         constraints: an enter and a next-iteration are on the device of their merge, a switch on that of the operation \
         that defines its data, an exit on that of its switch, and all operations on one stack on one device. Each \
         device that reads a constant enter gets its own copy. A balanced minimum cut places the other nodes: it \
         balances the work and minimizes the transferred bytes, and assumes ten iterations per loop. With `cluster`, \
         the attribute `tf.device` requests a device by its full or partial name, such as `/job:worker/task:1`, and \
         each node gets the full name of its device."
    }

    fn options(&self) -> &'static [OptionSpec] {
        OPTIONS
    }

    fn run(&self, module: &mut Module, cx: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        let devices = Devices::of(cx)?;
        let mut changed = Changed::No;
        for_each_graph(module, Which::Whole, |ctx, body, graph| {
            let Some(body) = body.isolated_mut(graph) else {
                return Ok(());
            };
            let (nodes, moved) = place(ctx, body, &devices)?;
            cx.count("placed", nodes);
            cx.count("moved", moved);
            changed |= (nodes > 0).into();
            Ok(())
        })?;
        Ok(changed)
    }
}

impl Devices {
    /// The devices that the options name.
    pub(super) fn of(cx: &PassContext<'_>) -> Result<Devices, Vec<Diagnostic>> {
        let Some(path) = cx.options.text("cluster") else {
            let count = cx.options.int("devices").and_then(|n| u32::try_from(n).ok());
            return Ok(Devices {
                count: count.unwrap_or(1).max(1),
                cluster: None,
            });
        };
        let cluster = Cluster::read(&path).map_err(|why| vec![Diagnostic::error("df-device", why)])?;
        Ok(Devices {
            count: u32::try_from(cluster.len()).unwrap_or(u32::MAX),
            cluster: Some(cluster),
        })
    }

    /// The device that an operation asks for: by name if there is a cluster, else by number.
    fn asked(&self, ctx: &Context, body: &Body, op: OpId) -> Result<Option<u32>, Box<Diagnostic>> {
        let view = body.view(ctx, op);
        let refused =
            |message: String| Diagnostic::error("df-device", message).label(body.op_span(op), "requested here");
        if let (Some(cluster), Some(name)) = (&self.cluster, view.str(DEVICE_NAME)) {
            let found = cluster.find(name).map_err(|why| Box::new(refused(why)))?;
            return Ok(u32::try_from(found).ok());
        }
        if view.attr("device").is_none() {
            return Ok(None);
        }
        let number = view.int("device").and_then(|d| u32::try_from(d).ok());
        let device = number.filter(|&d| d < self.count);
        if device.is_some() {
            return Ok(device);
        }
        let message = match view.int("device") {
            Some(asked) => format!("there is no device {asked}: the devices are 0 to {}", self.count - 1),
            None => "the attribute `device` must be the number of a device".to_owned(),
        };
        Err(Box::new(refused(message).help(match self.cluster {
            Some(_) => "the file of the option `cluster` lists the devices",
            None => "the option `devices` sets the number of devices",
        })))
    }

    /// The names of devices: those of the cluster, or those that nodes of the graph have.
    fn names(&self, ctx: &Context, body: &Body) -> FxHashMap<u32, Attr> {
        match &self.cluster {
            Some(cluster) => (0..).zip(cluster.names().map(|name| ctx.str_attr(&name))).collect(),
            None => device_names(ctx, body),
        }
    }
}

/// Gives each node of a graph a device; determines how many nodes there are then, and how many were asked to be elsewhere.
pub(super) fn place(ctx: &Context, body: &mut Body, devices: &Devices) -> Result<(usize, usize), Box<Diagnostic>> {
    let graph = read(ctx, body)?;
    let mut asked = Vec::with_capacity(graph.len());
    for node in graph.nodes() {
        asked.push(devices.asked(ctx, body, graph.op(node))?);
    }
    let groups = groups::find(ctx, body, &graph, |node| asked[node.index()]);
    let part_of = cut::assign(&costs::problem(ctx, body, &graph, &groups), devices.count);
    let device_of: Vec<Option<u32>> = (groups.of.iter())
        .map(|group| group.and_then(|g| part_of.get(g as usize).copied()))
        .collect();
    let differs = |(asked, got): (&Option<u32>, &Option<u32>)| asked.is_some() && got.is_some() && asked != got;
    let moved = asked.iter().zip(&device_of).filter(|&pair| differs(pair)).count();
    let copies = enters::copy(ctx, body, &graph, &device_of);
    let nodes = graph.nodes().filter_map(|n| Some((graph.op(n), device_of[n.index()]?)));
    let mut placed: Vec<(OpId, u32)> = nodes.chain(copies).collect();
    placed.sort_unstable();
    let names = devices.names(ctx, body);
    for &(op, device) in &placed {
        let attrs = DEVICE.set(ctx, body.attrs(op), ctx.int_attr(i64::from(device)));
        let attrs = match names.get(&device) {
            Some(&name) => ctx.dict_with(attrs, DEVICE_NAME, name),
            None => ctx.dict_without(attrs, DEVICE_NAME),
        };
        body.set_attrs(op, attrs);
    }
    Ok((placed.len(), moved))
}

/// The names of devices, from the attributes of operations.
pub(super) fn device_names(ctx: &Context, body: &Body) -> FxHashMap<u32, Attr> {
    let mut names = FxHashMap::default();
    let block = body.entry_block(body.root());
    for op in block.into_iter().flat_map(|b| body.block_ops(b)) {
        let view = body.view(ctx, op);
        if let (Some(device), Some(name)) = (view.int("device"), view.attr(DEVICE_NAME))
            && let Ok(device) = u32::try_from(device)
        {
            names.entry(device).or_insert(name);
        }
    }
    names
}

/// Reads a graph that is not partitioned.
pub(super) fn read(ctx: &Context, body: &Body) -> Result<Graph, Box<Diagnostic>> {
    use pir_dialects::df::graph::NodeKind;
    let place = body.entry_block(body.root()).and_then(|b| body.first_op(b));
    let broken = |what: &str, op: Option<OpId>| {
        let span = op.or(place).map(|op| body.op_span(op)).unwrap_or_default();
        Box::new(Diagnostic::error("df-partition", what).label(span, "in this graph"))
    };
    let graph =
        Graph::new(ctx, body).ok_or_else(|| broken("a node reads a value that no node of the graph defines", None))?;
    if let Some(&node) = graph.cyclic().first() {
        return Err(broken(
            "a cycle does not go through a `df.next_iteration`",
            Some(graph.op(node)),
        ));
    }
    let message = graph
        .nodes()
        .find(|&n| matches!(graph.kind(n), NodeKind::Send | NodeKind::Recv));
    if let Some(node) = message {
        let error = broken(
            "a graph with messages to other devices was partitioned before",
            Some(graph.op(node)),
        );
        return Err(Box::new(
            error.help("the graph of each device has an attribute `device`"),
        ));
    }
    if let Some(node) = graph.nodes().find(|&n| !body.op_regions(graph.op(n)).is_empty()) {
        let error = broken("a node with regions cannot be placed on a device", Some(graph.op(node)));
        return Err(Box::new(error.help("`lower-to-dataflow` lowers regions to nodes")));
    }
    Ok(graph)
}
