//! Segments: nodes that run one after the other, without waiting.
//!
//! Most nodes of a graph need no token of their own to be ready to run. If all inputs of a node come from one other node in
//! the same iteration, it can run when that one has, and it is dead exactly if that one is. So the nodes of a frame are divided into
//! segments: a *head*, which waits for its inputs, and *members*, which run right after it, in an order that is known before the
//! run. A value for a member is only put into its slot; nothing is counted or queued. Such an edge is *silent*.
//!
//! Tokens form *classes*: those of a class are all dead or all live. The results of a segment are a class, and so are each of the
//! two results of a switch, and the value of a constant enter. A class *implies* another one if its tokens exist only after those
//! of the other, and are dead if those are: what a head waits for is implied by its results, transitively. A node joins the segment
//! of the class of one of its inputs if that class implies the classes of all other inputs. If the class is no segment's, the first
//! such node begins a segment for all of them.
//!
//! If all enters of a frame are in one segment, constant enters are *given*: their values are there before anything in the frame
//! runs, in every iteration. If they are dead, so is all that is in the frame, except for what only receives make live: what is dead
//! then is *grounded*. A node whose main input is grounded need not wait for what is given.
//!
//! A merge begins a segment, since it waits for some of its inputs only; it implies nothing. A receive is a segment by itself, and
//! its users begin segments: whether they are dead is known when the message arrives. So do the users of nodes of other frames and
//! other iterations (enters, exits, next-iterations), for which "after" has no meaning here.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::compile::{CONTROL, Edge, Graph, NONE, NodeAction};

/// The most classes that are recorded as implied by another one. Others are waited for: that is always correct.
const MOST_IMPLIED: usize = 12;

type Implied = SmallVec<[u32; MOST_IMPLIED]>;

struct Class {
    /// The head of the segment whose results these are; [`NONE`] for others.
    head: u32,
    implied: Implied,
    /// Whether they are grounded.
    grounded: bool,
    /// The class of the segment that waits for this class only, if it has no segment itself.
    follower: u32,
}

impl Class {
    fn implies(&self, other: u32) -> bool {
        self.implied.contains(&other)
    }
}

/// Divides the nodes of a graph into segments. Without `join`, each node is a segment.
pub(super) fn divide(graph: &mut Graph, join: bool) {
    let mut division = Division::new(graph);
    match join {
        true => division.join(graph),
        false => division.singles(graph),
    }
    division.apply(graph);
}

struct Division {
    classes: Vec<Class>,
    /// The class of a node's results; that of the second result of a switch is the next one.
    out: Vec<u32>,
    /// The head of a node's segment, and the class that it waits for if its inputs have one that implies the others.
    head: Vec<u32>,
    main: Vec<u32>,
    /// The nodes in an order in which all of a segment can run.
    order: Vec<u32>,
    /// The enters of each frame, and whether its constants are given.
    enters: FxHashMap<u32, Vec<u32>>,
    given: Vec<bool>,
    /// Whether a node is grounded.
    grounded: Vec<bool>,
    /// The edges that lead to a node, each with the node that it comes from.
    incoming: Vec<SmallVec<[(u32, u32); 2]>>,
}

impl Division {
    fn new(graph: &Graph) -> Self {
        let count = graph.nodes.len();
        let mut division = Division {
            classes: Vec::new(),
            out: vec![NONE; count],
            head: vec![NONE; count],
            main: vec![NONE; count],
            order: Vec::with_capacity(count),
            enters: FxHashMap::default(),
            given: vec![false; graph.frames.len()],
            grounded: vec![true; count],
            incoming: vec![SmallVec::new(); count],
        };
        for (source, node) in graph.nodes.iter().enumerate() {
            if let NodeAction::Enter { child, .. } = node.kind {
                division.enters.entry(child).or_default().push(source as u32);
            }
            for at in node.edges.0..node.edges.1 {
                division.incoming[graph.edges[at as usize].target as usize].push((source as u32, at));
            }
        }
        division
    }

    fn singles(&mut self, graph: &Graph) {
        for (at, _) in graph.nodes.iter().enumerate().filter(|(_, node)| node.frame != NONE) {
            self.head[at] = at as u32;
            self.order.push(at as u32);
        }
    }

    /// Finds what may be live though all that enters its frame is dead: receives, and what depends on them only. Where frames are
    /// nested, what exits counts as the inner nodes do.
    fn ground(&mut self, graph: &Graph) {
        let mut pending: Vec<u32> = Vec::new();
        let mut left: Vec<u32> = graph.nodes.iter().map(|node| node.inputs + node.controls).collect();
        for (at, node) in graph.nodes.iter().enumerate() {
            match node.kind {
                NodeAction::Recv { .. } => pending.push(at as u32),
                // Its control edges are never dead.
                NodeAction::Switch => {
                    for edge in graph.edges_of(at as u32).iter().filter(|edge| edge.port == CONTROL) {
                        left[edge.target as usize] -= 1;
                        if left[edge.target as usize] == 0 {
                            pending.push(edge.target);
                        }
                    }
                }
                _ => {}
            }
        }
        while let Some(at) = pending.pop() {
            if !std::mem::replace(&mut self.grounded[at as usize], false) {
                continue;
            }
            let switches = matches!(graph.nodes[at as usize].kind, NodeAction::Switch);
            for edge in graph
                .edges_of(at)
                .iter()
                .filter(|edge| !switches || edge.port != CONTROL)
            {
                let left = &mut left[edge.target as usize];
                *left = left.saturating_sub(1);
                // A merge is dead only if all of its inputs are.
                if *left == 0 || matches!(graph.nodes[edge.target as usize].kind, NodeAction::Merge { .. }) {
                    pending.push(edge.target);
                }
            }
        }
    }

    fn join(&mut self, graph: &Graph) {
        self.ground(graph);
        for (at, node) in graph.nodes.iter().enumerate() {
            if matches!(node.kind, NodeAction::Enter { constant: true, .. }) {
                self.out[at] = self.class(at as u32, NONE, Implied::new());
            }
        }
        let mut missing: Vec<u32> = self
            .incoming
            .iter()
            .map(|edges| {
                let ordered = edges
                    .iter()
                    .filter(|(source, at)| orders(graph, *source, &graph.edges[*at as usize]));
                ordered.count() as u32
            })
            .collect();
        let mut root = NONE;
        let mut pending = std::collections::VecDeque::new();
        // Those around a frame come before it.
        for frame in 0..graph.frames.len() {
            self.given[frame] = self.is_given(graph, frame as u32);
            let nodes = &graph.frames[frame].nodes;
            pending.extend(nodes.iter().filter(|&&at| missing[at as usize] == 0));
            while let Some(at) = pending.pop_front() {
                self.place(graph, at, &mut root);
                for edge in graph.edges_of(at).iter().filter(|edge| orders(graph, at, edge)) {
                    let missing = &mut missing[edge.target as usize];
                    *missing -= 1;
                    if *missing == 0 {
                        pending.push_back(edge.target);
                    }
                }
            }
            // What is left waits for itself.
            for &at in nodes {
                if self.head[at as usize] == NONE {
                    self.begin(at);
                }
            }
        }
    }

    /// Whether the constants of a frame are given. Its enters have been placed.
    fn is_given(&self, graph: &Graph, frame: u32) -> bool {
        let mut heads = self
            .enters
            .get(&frame)
            .into_iter()
            .flatten()
            .map(|&at| self.head[at as usize]);
        let first = heads.next().unwrap_or(NONE);
        graph.frames[frame as usize].parent != NONE && first != NONE && heads.all(|head| head == first)
    }

    /// A class of results of a node.
    fn class(&mut self, node: u32, head: u32, implied: Implied) -> u32 {
        self.classes.push(Class {
            head,
            implied,
            grounded: self.grounded[node as usize],
            follower: NONE,
        });
        self.classes.len() as u32 - 1
    }

    /// Begins a segment whose results are in no class.
    fn begin(&mut self, at: u32) {
        self.head[at as usize] = at;
        self.order.push(at);
    }

    /// Adds a node to a segment.
    fn place(&mut self, graph: &Graph, at: u32, root: &mut u32) {
        let node = &graph.nodes[at as usize];
        let class = match node.kind {
            NodeAction::Recv { .. } => return self.begin(at),
            NodeAction::Merge { .. } => {
                self.begin(at);
                self.class(at, at, Implied::new())
            }
            // All nodes without inputs run at the start.
            _ if self.incoming[at as usize].is_empty() && *root != NONE => self.follow(at, *root),
            _ => {
                let main = self.main_of(graph, at);
                self.main[at as usize] = main;
                let alone = self.classes.get(main as usize).filter(|_| self.all_implied(graph, at));
                let alone = alone.map(|class| if class.head == NONE { class.follower } else { main });
                match alone {
                    Some(class) if class != NONE => self.follow(at, class),
                    _ => {
                        self.begin(at);
                        let implied = self.implied_by(graph, at);
                        let class = self.class(at, at, implied);
                        if alone.is_some() {
                            self.classes[main as usize].follower = class;
                        }
                        class
                    }
                }
            }
        };
        if self.incoming[at as usize].is_empty() && *root == NONE {
            *root = class;
        }
        self.out[at as usize] = match node.kind {
            // Known before; this is about the frame that is entered.
            NodeAction::Enter { .. } => return,
            NodeAction::Switch => {
                let mut implied: Implied = SmallVec::from_slice(&[class]);
                extend(&mut implied, &self.classes[class as usize].implied);
                let first = self.class(at, NONE, implied.clone());
                self.class(at, NONE, implied);
                first
            }
            _ => class,
        };
    }

    fn follow(&mut self, at: u32, class: u32) -> u32 {
        self.head[at as usize] = self.classes[class as usize].head;
        self.order.push(at);
        class
    }

    /// The class of the tokens of an edge; [`NONE`] if they have none.
    fn class_of(&self, graph: &Graph, source: u32, edge: &Edge) -> u32 {
        let out = self.out[source as usize];
        match graph.nodes[source as usize].kind {
            NodeAction::Enter { constant, .. } if !constant => NONE,
            NodeAction::Exit | NodeAction::NextIteration | NodeAction::Recv { .. } => NONE,
            // The control edges of a switch are never dead.
            NodeAction::Switch if edge.port == CONTROL => NONE,
            NodeAction::Switch => out.saturating_add(edge.port),
            _ => out,
        }
    }

    /// Whether the tokens of an edge are given to its target.
    fn is_given_by(&self, graph: &Graph, source: u32, edge: &Edge) -> bool {
        let frame = graph.nodes[edge.target as usize].frame as usize;
        matches!(
            graph.nodes[source as usize].kind,
            NodeAction::Enter { constant: true, .. }
        ) && self.given.get(frame).is_some_and(|&given| given)
    }

    /// The classes of the inputs of a node that are not given.
    fn inputs_of<'a>(&'a self, graph: &'a Graph, at: u32) -> impl Iterator<Item = u32> + 'a {
        let incoming = self.incoming[at as usize].iter();
        let incoming = incoming.filter(|(source, at)| !self.is_given_by(graph, *source, &graph.edges[*at as usize]));
        incoming.map(|(source, at)| self.class_of(graph, *source, &graph.edges[*at as usize]))
    }

    /// The class of an input that implies those of the others, if there is one.
    fn main_of(&self, graph: &Graph, at: u32) -> u32 {
        let mut main = NONE;
        for class in self.inputs_of(graph, at).filter(|&class| class != NONE) {
            if main == NONE || self.classes[class as usize].implies(main) {
                main = class;
            }
        }
        main
    }

    fn all_implied(&self, graph: &Graph, at: u32) -> bool {
        let number = self.main[at as usize];
        let main = &self.classes[number as usize];
        let mut inputs = self.inputs_of(graph, at);
        inputs.all(|class| class != NONE && (class == number || main.implies(class)))
            && (main.grounded || self.inputs_of(graph, at).count() == self.incoming[at as usize].len())
    }

    /// What the results of a node imply that waits for its inputs.
    fn implied_by(&self, graph: &Graph, at: u32) -> Implied {
        let mut implied = Implied::new();
        for class in self.inputs_of(graph, at).filter(|&class| class != NONE) {
            extend(&mut implied, &[class]);
        }
        for at in 0..implied.len() {
            let further = self.classes[implied[at] as usize].implied.clone();
            extend(&mut implied, &further);
        }
        implied
    }

    /// Notes the segments in the graph.
    fn apply(self, graph: &mut Graph) {
        for at in 0..graph.nodes.len() {
            let main = self.classes.get(self.main[at] as usize);
            let (mut data, mut control) = (0, 0);
            for (source, number) in &self.incoming[at] {
                let (node, edge) = (&graph.nodes[at], &graph.edges[*number as usize]);
                let waits = match node.kind {
                    NodeAction::Merge { .. } | NodeAction::Recv { .. } => true,
                    _ if self.head[at] != at as u32 => node.frame == NONE,
                    // What the main class implies has arrived before it, and what is given.
                    _ => !main.is_some_and(|main| {
                        main.implies(self.class_of(graph, *source, edge))
                            || main.grounded && self.is_given_by(graph, *source, edge)
                    }),
                };
                match edge.port {
                    CONTROL => control += u32::from(waits),
                    _ => data += u32::from(waits),
                }
                graph.edges[*number as usize].silent = !waits;
            }
            let node = &mut graph.nodes[at];
            node.head = self.head[at];
            node.waits = (data, control);
        }
        for (frame, given) in graph.frames.iter_mut().zip(self.given) {
            frame.given = given;
        }
        set_members(graph, &self.order);
    }
}

/// Numbers the segments, and notes the members of each in the given order of all nodes.
fn set_members(graph: &mut Graph, order: &[u32]) {
    let mut end = 0;
    for at in 0..graph.nodes.len() as u32 {
        let node = &mut graph.nodes[at as usize];
        if let Some(frame) = graph.frames.get_mut(node.frame as usize)
            && node.head == at
        {
            node.index = frame.heads.len() as u32;
            frame.heads.push(at);
        }
    }
    let mut count = vec![0u32; graph.nodes.len()];
    for &at in order {
        count[graph.nodes[at as usize].head as usize] += 1;
    }
    for (node, count) in graph.nodes.iter_mut().zip(count) {
        node.members = (end, end);
        end += count;
    }
    graph.members = vec![0; order.len()];
    for &at in order {
        let head = graph.nodes[at as usize].head as usize;
        graph.nodes[at as usize].index = graph.nodes[head].index;
        let end = &mut graph.nodes[head].members.1;
        graph.members[*end as usize] = at;
        *end += 1;
    }
}

/// Adds classes as long as there is room.
fn extend(implied: &mut Implied, classes: &[u32]) {
    for class in classes {
        if implied.len() == MOST_IMPLIED {
            return;
        }
        if !implied.contains(class) {
            implied.push(*class);
        }
    }
}

/// Whether an edge leads from a node to one that is placed after it.
fn orders(graph: &Graph, source: u32, edge: &Edge) -> bool {
    let leaves = matches!(
        graph.nodes[source as usize].kind,
        NodeAction::Enter { .. } | NodeAction::Exit | NodeAction::NextIteration
    );
    !leaves && !matches!(graph.nodes[edge.target as usize].kind, NodeAction::Merge { .. })
}

#[cfg(test)]
mod tests {
    use super::super::compile::Setup;
    use super::super::graphs;
    use crate::exec::Options;
    use pir_ir::text::{ParseOptions, parse};

    /// The segments of a graph, as the labels of their nodes.
    fn segments(text: &str, join: bool) -> Vec<Vec<String>> {
        let module = parse(&pir_dialects::context(), text.as_bytes(), &ParseOptions::default()).module;
        let options = Options::default();
        let found = graphs(&module, None).unwrap();
        let graph = Setup::new(&module.ctx, &options, join).graph(found[0].body, 0).unwrap();
        let label = |&at: &u32| {
            graph.nodes[at as usize]
                .label
                .split('`')
                .nth(1)
                .unwrap_or_default()
                .to_owned()
        };
        let heads = (0..graph.nodes.len() as u32).filter(|&at| graph.nodes[at as usize].head == at);
        heads
            .map(|head| graph.members_of(head).iter().map(label).collect())
            .collect()
    }

    const LOOP: &str = r#"
df.graph {
  %zero = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
  %ten = pd.full {shape = [], value = 10, dtype = i64} : tensor<i64>
  %i0 = df.enter (%zero) {frame = "w"} : tensor<i64>
  %x0 = df.enter (%ten) {frame = "w"} : tensor<i64>
  %n = df.enter (%ten) {frame = "w", constant = true} : tensor<i64>
  %i, %ii = df.merge (%i0, %i2) : tensor<i64>, tensor<i32>
  %x, %xi = df.merge (%x0, %x2) : tensor<i64>, tensor<i32>
  %p = pd.less_than (%i, %n) : tensor<i1>
  %go = df.loop_cond (%p) : tensor<i1>
  %if, %it = df.switch (%i, %go) : tensor<i64>, tensor<i64>
  %xf, %xt = df.switch (%x, %go) : tensor<i64>, tensor<i64>
  %pivot = df.identity (%it) : tensor<i64>
  %one = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
  df.control (%one, %pivot)
  %i1 = pd.add (%pivot, %one) : tensor<i64>
  %i2 = df.next_iteration (%i1) : tensor<i64>
  %a = pd.add (%xt, %one) : tensor<i64>
  %b = pd.multiply (%a, %one) : tensor<i64>
  %c = pd.multiply (%b, %n) : tensor<i64>
  %x2 = df.next_iteration (%c) : tensor<i64>
  %y = df.exit (%xf) : tensor<i64>
  pd.fetch (%y) {name = "y"}
}"#;

    #[test]
    fn a_segment_waits_once() {
        assert_eq!(
            segments(LOOP, true),
            [
                vec!["%zero", "%ten", "%i0", "%x0", "%n"],
                // `%n` is given.
                vec!["%i", "%p", "%go", "%if"],
                vec!["%x"],
                // This waits for `%x` and for `%go`.
                vec!["%xf"],
                vec!["%pivot", "%one", "%i1", "%i2"],
                // `%one` is waited for once, for all users.
                vec!["%a", "%b", "%c", "%x2"],
                vec!["%y"],
                vec!["pd.fetch"],
            ]
        );
        assert!(segments(LOOP, false).iter().all(|segment| segment.len() == 1));
    }

    #[test]
    fn messages_and_waiting_circles_stay_alone() {
        let text = r#"
df.graph {
  %a = df.recv () {key = "a", from = 1, to = 0} : tensor<i64>
  %b = df.identity (%a) : tensor<i64>
  %c = pd.add (%b, %b) : tensor<i64>
  %d = pd.add (%c, %e) : tensor<i64>
  %e = pd.add (%d, %c) : tensor<i64>
}"#;
        assert_eq!(
            segments(text, true),
            [vec!["%a"], vec!["%b", "%c"], vec!["%d"], vec!["%e"]]
        );
    }

    #[test]
    fn users_of_one_side_of_a_branch_wait_once() {
        let text = r#"
df.graph {
  %x = pd.full {shape = [], value = 3, dtype = i64} : tensor<i64>
  %p = pd.less_than (%x, %x) : tensor<i1>
  %f, %t = df.switch (%x, %p) : tensor<i64>, tensor<i64>
  %a = df.identity (%t) : tensor<i64>
  %b = pd.add (%t, %x) : tensor<i64>
  %c = pd.add (%a, %b) : tensor<i64>
  %d = pd.add (%f, %x) : tensor<i64>
  %m, %index = df.merge (%c, %d) : tensor<i64>, tensor<i32>
  %n = pd.add (%m, %x) : tensor<i64>
}"#;
        assert_eq!(
            segments(text, true),
            [
                vec!["%x", "%p", "%f"],
                vec!["%a", "%b", "%c"],
                vec!["%d"],
                vec!["%m"],
                vec!["%n"]
            ]
        );
    }

    #[test]
    fn constants_are_given_if_all_enters_run_at_once() {
        // The first value enters when the branch is decided.
        let late = LOOP.replace(
            "  %i0 = df.enter (%zero)",
            "  %q = pd.less_than (%zero, %ten) : tensor<i1>
  %sf, %st = df.switch (%zero, %q) : tensor<i64>, tensor<i64>
  %i0 = df.enter (%st)",
        );
        let found = segments(&late, true);
        let has = |names: &[&str]| found.iter().any(|segment| segment == names);
        assert!(has(&["%i"]) && has(&["%p", "%go", "%if"]), "{found:?}");
        // The condition has waited for `%n`.
        assert!(has(&["%a", "%b", "%c", "%x2"]), "{found:?}");
    }
}
