//! A generator of programs.

use std::fmt::Write;

use pir_interp::{Options, Tensor};

/// A generator of numbers (splitmix64), or of those that bytes say.
pub struct Random {
    said: std::vec::IntoIter<u8>,
    state: u64,
}

impl Random {
    pub fn new(seed: u64) -> Self {
        Random {
            said: Vec::new().into_iter(),
            state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678,
        }
    }

    /// First the bytes, then numbers that are the same for all bytes: a small change of the bytes is one of what is made.
    #[allow(dead_code, reason = "the fuzzers need it")]
    pub fn of(bytes: &[u8]) -> Self {
        Random {
            said: Vec::from(bytes).into_iter(),
            ..Random::new(0)
        }
    }

    fn next(&mut self) -> u64 {
        if let Some(byte) = self.said.next() {
            return byte.into();
        }
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number less than `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of the items.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Float,
    Int,
    Bool,
    /// A list of a tensor of floats and one of integers.
    List,
}

impl Kind {
    fn ty(self) -> &'static str {
        match self {
            Kind::Float => "tensor<4xf64>",
            Kind::Int => "tensor<1xi64>",
            Kind::Bool => "tensor<1xi1>",
            Kind::List => "vec<tensor<4xf64>, tensor<1xi64>>",
        }
    }
}

type Scope = Vec<(String, Kind)>;

struct Generator<'r> {
    random: &'r mut Random,
    text: String,
    next: usize,
    /// Prints, stacks, and what may fail.
    effects: bool,
    /// Lists, and operations that read shapes.
    lists: bool,
    /// Functions that may be called, with what they return. All take the same arguments.
    functions: Vec<(String, Vec<Kind>)>,
}

/// What functions take, and how the inputs are called.
const INPUTS: [(&str, Kind); 5] = [
    ("x", Kind::Float),
    ("y", Kind::Float),
    ("n", Kind::Int),
    ("z", Kind::Int),
    ("c", Kind::Bool),
];

/// Values for the inputs of every program, and a limit on steps that no program reaches.
pub fn bindings() -> Options {
    let mut options = Options {
        max_steps: Some(2_000_000),
        ..Options::default()
    };
    let mut add = |name: &str, tensor: Result<Tensor, String>| {
        options.inputs.insert(name.into(), tensor.expect("the shape fits"));
    };
    add("x", Tensor::new(&[4], vec![0.5, -0.0, -1.25, 3.0]));
    add("y", Tensor::new(&[4], vec![0.0, 2.0, -0.75, 0.125]));
    add("n", Tensor::new(&[1], vec![3i64]));
    add("z", Tensor::new(&[1], vec![0i64]));
    add("c", Tensor::new(&[1], vec![true]));
    options
}

fn inputs() -> (Scope, String) {
    let scope = INPUTS.iter().map(|(name, kind)| (format!("%{name}"), *kind)).collect();
    let params: Vec<String> = INPUTS
        .iter()
        .map(|(name, kind)| format!("%{name}: {}", kind.ty()))
        .collect();
    (scope, params.join(", "))
}

/// A program with the inputs `x`, `y` (floats), `n`, `z` (integers) and `c` (a truth value). Without effects it can be
/// differentiated.
pub fn program(random: &mut Random, effects: bool) -> String {
    let size = 4 + random.below(6);
    sized(random, effects, size, 3)
}

/// A program of `size` operations, nested `depth` levels deep.
pub fn sized(random: &mut Random, effects: bool, size: usize, depth: usize) -> String {
    let mut g = Generator {
        random,
        text: String::new(),
        next: 0,
        effects,
        lists: false,
        functions: Vec::new(),
    };
    g.top_level(size, depth);
    g.text
}

/// A program in which branches yield lists and loops carry them, and in which shapes are read.
#[allow(dead_code, reason = "the fuzzers do not need it")]
pub fn with_lists(random: &mut Random, effects: bool) -> String {
    let mut g = Generator {
        random,
        text: String::new(),
        next: 0,
        effects,
        lists: true,
        functions: Vec::new(),
    };
    let size = 4 + g.random.below(6);
    g.top_level(size, 3);
    g.text
}

/// Functions that call each other, some of them of several blocks, and a program or a function that calls them.
pub fn functions(random: &mut Random) -> String {
    let mut g = Generator {
        random,
        text: String::new(),
        next: 0,
        effects: true,
        lists: false,
        functions: Vec::new(),
    };
    for at in 0..2 + g.random.below(2) {
        let name = format!("f{at}");
        if g.random.chance(35) {
            g.blocks(&format!("private @{name}"));
            g.functions.push((name, vec![Kind::Float, Kind::Float]));
        } else {
            let results = g.kinds(3);
            g.function(&name, &results);
            g.functions.push((name, results));
        }
    }
    if g.random.chance(50) {
        let size = 4 + g.random.below(4);
        g.top_level(size, 2);
    } else {
        g.blocks("@main");
    }
    g.text
}

/// A function whose body has several blocks: two ways that join, and a loop of at most three rounds.
pub fn blocks(random: &mut Random) -> String {
    let mut g = Generator {
        random,
        text: String::new(),
        next: 0,
        effects: true,
        lists: false,
        functions: Vec::new(),
    };
    g.blocks("@main");
    g.text
}

/// A function of blocks that go on anywhere; what goes back does so a few times at most. The graph need not be reducible.
pub fn graph(random: &mut Random) -> String {
    let mut g = Generator {
        random,
        text: String::new(),
        next: 0,
        effects: true,
        lists: false,
        functions: Vec::new(),
    };
    let (mut scope, params) = inputs();
    let float = Kind::Float.ty();
    let _ = writeln!(g.text, "func.func @main({params}) -> ({float}, {float}) {{");
    let one = g.define(&mut scope, Kind::Int, "pd.full {shape = [1], value = 1, dtype = i64}");
    let zero = g.define(&mut scope, Kind::Int, "pd.full {shape = [1], value = 0, dtype = i64}");
    let fuel = g.define(&mut scope, Kind::Int, "pd.full {shape = [1], value = 12, dtype = i64}");
    let count = 2 + g.random.below(6);
    let _ = writeln!(g.text, "pd.branch ^b0({fuel}, %x, %y)");
    let mut tails = String::new();
    for at in 0..count {
        let mut inner = scope.clone();
        let names = g.label(&format!("b{at}"), &mut inner, &[Kind::Int, Kind::Float, Kind::Float]);
        let size = g.random.below(3);
        g.ops(&mut inner, size, 1);
        let mut targets = Vec::new();
        for side in ["l", "r"] {
            let values = format!(
                "({}, {}, {})",
                names[0],
                g.recent(&inner, Kind::Float),
                g.recent(&inner, Kind::Float)
            );
            let to = g.random.below(count + 1);
            if to == count {
                let _ = writeln!(tails, "^e{at}{side}(%p{at}{side}: {float}, %q{at}{side}: {float}):");
                let exit = if g.random.chance(40) {
                    format!("func.return (%q{at}{side}, %p{at}{side})\n")
                } else {
                    format!("pd.branch ^end(%p{at}{side}, %q{at}{side})\n")
                };
                tails.push_str(&exit);
                let (a, b) = (g.recent(&inner, Kind::Float), names[1].clone());
                targets.push(format!("^e{at}{side}({a}, {b})"));
            } else if to <= at {
                // Going back costs fuel.
                let int = Kind::Int.ty();
                let (label, p, q, f) = (format!("t{at}{side}"), g.fresh(), g.fresh(), g.fresh());
                let (less, go) = (g.fresh(), g.fresh());
                let _ = writeln!(
                    tails,
                    "^{label}({f}: {int}, {p}: {float}, {q}: {float}):\n{less} = pd.subtract ({f}, {one}) : {int}\n\
                     {go} = pd.greater_than ({less}, {zero}) : {}\n\
                     pd.condition_branch {go}, ^b{to}({less}, {p}, {q}), ^end({p}, {q})",
                    Kind::Bool.ty()
                );
                targets.push(format!("^{label}{values}"));
            } else {
                targets.push(format!("^b{to}{values}"));
            }
        }
        let condition = if g.random.chance(50) {
            let (a, b) = (names[0].clone(), g.recent(&inner, Kind::Int));
            let limit = g.random.below(12);
            let limit = g.define(
                &mut inner,
                Kind::Int,
                &format!("pd.full {{shape = [1], value = {limit}, dtype = i64}}"),
            );
            let sum = g.define(&mut inner, Kind::Int, &format!("pd.maximum ({a}, {b})"));
            g.define(&mut inner, Kind::Bool, &format!("pd.less_than ({sum}, {limit})"))
        } else {
            g.recent(&inner, Kind::Bool)
        };
        let _ = writeln!(
            g.text,
            "pd.condition_branch {condition}, {}, {}",
            targets[0], targets[1]
        );
    }
    g.text.push_str(&tails);
    let _ = writeln!(g.text, "^end(%pe: {float}, %qe: {float}):\nfunc.return (%pe, %qe)\n}}");
    g.text
}

impl Generator<'_> {
    fn top_level(&mut self, size: usize, depth: usize) {
        let mut scope: Scope = Vec::new();
        for (name, kind) in INPUTS {
            let ty = match kind {
                Kind::Float => "shape = [4], dtype = f64",
                Kind::Int => "shape = [1], dtype = i64",
                Kind::Bool => "shape = [1], dtype = i1",
                Kind::List => continue,
            };
            let _ = writeln!(
                self.text,
                "%{name} = pd.data {{name = \"{name}\", {ty}}} : {}",
                kind.ty()
            );
            scope.push((format!("%{name}"), kind));
        }
        if self.lists {
            self.define(&mut scope, Kind::List, "builtin.combine (%x, %n)");
        }
        self.ops(&mut scope, size, depth);
        for at in 0..3 {
            let value = self.recent(&scope, Kind::Float);
            let _ = writeln!(self.text, "pd.fetch ({value}) {{name = \"out{at}\"}}");
        }
    }

    fn function(&mut self, name: &str, results: &[Kind]) {
        let (mut scope, params) = inputs();
        let _ = writeln!(
            self.text,
            "func.func private @{name}({params}) -> ({}) {{",
            Self::types(results)
        );
        let size = self.random.below(5);
        self.ops(&mut scope, size, 2);
        let values = self.values(&scope, results);
        let _ = writeln!(self.text, "func.return ({values})\n}}");
    }

    /// A call of one of the functions.
    fn call(&mut self, scope: &mut Scope) {
        let (name, kinds) = self.random.pick(&self.functions).clone();
        let values: Vec<String> = INPUTS
            .iter()
            .map(|(name, kind)| match kind {
                // Loops run so often.
                Kind::Int => format!("%{name}"),
                kind => self.recent(scope, *kind),
            })
            .collect();
        let results = self.results(scope, &kinds);
        let types = if kinds.is_empty() {
            String::new()
        } else {
            format!(" : {}", Self::types(&kinds))
        };
        let _ = writeln!(self.text, "{results}func.call @{name} ({}){types}", values.join(", "));
    }

    fn blocks(&mut self, name: &str) {
        let (mut scope, params) = inputs();
        let float = Kind::Float.ty();
        let _ = writeln!(self.text, "func.func {name}({params}) -> ({float}, {float}) {{");
        let size = 1 + self.random.below(4);
        self.ops(&mut scope, size, 1);
        // Two ways, to blocks of their own or to the same one.
        let condition = self.recent(&scope, Kind::Bool);
        let joined = self.kinds(3);
        if self.random.chance(30) {
            let (a, b) = (self.passed(&scope, &joined), self.passed(&scope, &joined));
            let _ = writeln!(self.text, "pd.condition_branch {condition}, ^join{a}, ^join{b}");
        } else {
            let sides = [self.kinds(2), self.kinds(2)];
            let (a, b) = (self.passed(&scope, &sides[0]), self.passed(&scope, &sides[1]));
            let _ = writeln!(self.text, "pd.condition_branch {condition}, ^left{a}, ^right{b}");
            for (label, kinds) in ["left", "right"].iter().zip(&sides) {
                let mut inner = scope.clone();
                self.label(label, &mut inner, kinds);
                let size = self.random.below(4);
                self.ops(&mut inner, size, 1);
                let values = self.passed(&inner, &joined);
                let _ = writeln!(self.text, "pd.branch ^join{values}");
            }
        }
        self.label("join", &mut scope, &joined);
        let size = self.random.below(4);
        self.ops(&mut scope, size, 1);
        let mut carried = vec![Kind::Int];
        carried.extend(self.kinds(3));
        let zero = self.define(&mut scope, Kind::Int, "pd.full {shape = [1], value = 0, dtype = i64}");
        let values = self.counted(&scope, &carried, &zero);
        let _ = writeln!(self.text, "pd.branch ^loop{values}");
        let names = self.label("loop", &mut scope, &carried);
        let size = self.random.below(3);
        self.ops(&mut scope, size, 1);
        let go = self.define(&mut scope, Kind::Bool, &format!("pd.less_than ({}, %n)", names[0]));
        let _ = writeln!(self.text, "pd.condition_branch {go}, ^body, ^end");
        let mut inner = scope.clone();
        self.label("body", &mut inner, &[]);
        let size = 1 + self.random.below(4);
        self.ops(&mut inner, size, 1);
        let next = self.define(
            &mut inner,
            Kind::Int,
            &format!("pd.increment ({}) {{value = 1.0}}", names[0]),
        );
        let values = self.counted(&inner, &carried, &next);
        let _ = writeln!(self.text, "pd.branch ^loop{values}");
        self.label("end", &mut scope, &[]);
        let size = self.random.below(3);
        self.ops(&mut scope, size, 1);
        let (a, b) = (self.recent(&scope, Kind::Float), self.recent(&scope, Kind::Float));
        let _ = writeln!(self.text, "func.return ({a}, {b})\n}}");
    }

    /// Values passed to a block.
    fn passed(&mut self, scope: &Scope, kinds: &[Kind]) -> String {
        if kinds.is_empty() {
            return String::new();
        }
        format!("({})", self.values(scope, kinds))
    }

    /// The same with the first one given.
    fn counted(&mut self, scope: &Scope, kinds: &[Kind], first: &str) -> String {
        let mut values = vec![first.to_owned()];
        for &kind in &kinds[1..] {
            values.push(self.recent(scope, kind));
        }
        format!("({})", values.join(", "))
    }

    /// Begins a block.
    fn label(&mut self, label: &str, scope: &mut Scope, kinds: &[Kind]) -> Vec<String> {
        let (names, args) = self.args(scope, kinds);
        let _ = writeln!(self.text, "^{label}{}:", args.trim_end());
        names
    }

    fn fresh(&mut self) -> String {
        self.next += 1;
        format!("%v{}", self.next)
    }

    fn any(&mut self, scope: &Scope, kind: Kind) -> String {
        let fitting: Vec<&String> = scope.iter().filter(|(_, k)| *k == kind).map(|(n, _)| n).collect();
        (*self.random.pick(&fitting)).clone()
    }

    /// A value, more likely one of the last.
    fn recent(&mut self, scope: &Scope, kind: Kind) -> String {
        let fitting: Vec<&String> = scope.iter().filter(|(_, k)| *k == kind).map(|(n, _)| n).collect();
        let from = if self.random.chance(60) {
            fitting.len().saturating_sub(3)
        } else {
            0
        };
        (*self.random.pick(&fitting[from..])).clone()
    }

    fn kind(&mut self) -> Kind {
        if self.lists && self.random.chance(30) {
            return Kind::List;
        }
        *self.random.pick(&[Kind::Float, Kind::Float, Kind::Int, Kind::Bool])
    }

    fn define(&mut self, scope: &mut Scope, kind: Kind, text: &str) -> String {
        let name = self.fresh();
        let _ = writeln!(self.text, "{name} = {text} : {}", kind.ty());
        scope.push((name.clone(), kind));
        name
    }

    fn ops(&mut self, scope: &mut Scope, count: usize, depth: usize) {
        for _ in 0..count {
            let nested = if depth > 0 { 30 } else { 0 };
            if self.random.chance(nested) {
                match self.random.below(5) {
                    0 | 1 => self.branch(scope, depth),
                    2 if self.effects => self.stack(scope),
                    _ => self.repeat(scope, depth),
                }
            } else if !self.functions.is_empty() && self.random.chance(20) {
                self.call(scope);
            } else {
                self.simple(scope);
            }
        }
    }

    /// Makes a list or takes one apart, or takes a tensor apart and puts it together again.
    fn pieces(&mut self, scope: &mut Scope) {
        match self.random.below(4) {
            0 => {
                let (a, b) = (self.recent(scope, Kind::Float), self.any(scope, Kind::Int));
                self.define(scope, Kind::List, &format!("builtin.combine ({a}, {b})"));
            }
            1 => {
                let list = self.recent(scope, Kind::List);
                let results = self.results(scope, &[Kind::Float, Kind::Int]);
                let types = Self::types(&[Kind::Float, Kind::Int]);
                let _ = writeln!(self.text, "{results}builtin.split ({list}) : {types}");
                // It may be anything, and loops run so often.
                scope.pop();
            }
            2 => {
                let value = self.recent(scope, Kind::Float);
                let [square, a, b] = [(); 3].map(|()| self.fresh());
                let _ = writeln!(
                    self.text,
                    "{square} = pd.reshape ({value}) {{shape = [2, 2]}} : tensor<2x2xf64>\n\
                     {a}, {b} = pd.unbind ({square}) {{axis = 0}} : tensor<2xf64>, tensor<2xf64>"
                );
                self.define(scope, Kind::Float, &format!("pd.concat ({b}, {a}) {{axis = 0}}"));
            }
            _ => {
                let value = self.recent(scope, Kind::Float);
                let [a, b] = [(); 2].map(|()| self.fresh());
                let _ = writeln!(
                    self.text,
                    "{a}, {b} = pd.split ({value}) {{sections = [3, 1], axis = 0}} : tensor<3xf64>, tensor<1xf64>"
                );
                self.define(scope, Kind::Float, &format!("pd.concat ({b}, {a}) {{axis = 0}}"));
            }
        }
    }

    fn simple(&mut self, scope: &mut Scope) {
        if self.lists && self.random.chance(30) {
            return self.pieces(scope);
        }
        match self.random.below(12) {
            0 | 1 => {
                let value = *self.random.pick(&["0.0", "-0.0", "1.0", "0.5", "2.0"]);
                let shape = *self.random.pick(&["4", "4", "4"]);
                self.define(
                    scope,
                    Kind::Float,
                    &format!("pd.full {{shape = [{shape}], value = {value}, dtype = f64}}"),
                );
            }
            2 => {
                let value = self.random.below(4);
                self.define(
                    scope,
                    Kind::Int,
                    &format!("pd.full {{shape = [1], value = {value}, dtype = i64}}"),
                );
            }
            3 => {
                let value = self.random.chance(50);
                self.define(
                    scope,
                    Kind::Bool,
                    &format!("pd.full {{shape = [1], value = {value}, dtype = i1}}"),
                );
            }
            4 => {
                let (a, b) = (self.recent(scope, Kind::Int), self.recent(scope, Kind::Int));
                let op = match self.random.below(if self.effects { 8 } else { 6 }) {
                    0..3 => "add",
                    3..5 => "subtract",
                    5 => "maximum",
                    _ => "floor_divide",
                };
                self.define(scope, Kind::Int, &format!("pd.{op} ({a}, {b})"));
            }
            5 => {
                let (a, b) = (self.recent(scope, Kind::Int), self.recent(scope, Kind::Int));
                let op = *self.random.pick(&["less_than", "greater_equal", "equal"]);
                self.define(scope, Kind::Bool, &format!("pd.{op} ({a}, {b})"));
            }
            6 => {
                let (a, b) = (self.recent(scope, Kind::Bool), self.recent(scope, Kind::Bool));
                let text = match self.random.below(3) {
                    0 => format!("pd.logical_not ({a})"),
                    1 => format!("pd.logical_and ({a}, {b})"),
                    _ => format!("pd.logical_or ({a}, {b})"),
                };
                self.define(scope, Kind::Bool, &text);
            }
            7 if self.effects => {
                let value = self.recent(scope, Kind::Float);
                let message = self.random.below(100);
                self.define(
                    scope,
                    Kind::Float,
                    &format!("pd.print ({value}) {{message = \"m{message}\"}}"),
                );
            }
            8 => {
                let value = self.recent(scope, Kind::Float);
                let op = *self.random.pick(&["tanh", "neg", "sin", "assign"]);
                self.define(scope, Kind::Float, &format!("pd.{op} ({value})"));
            }
            _ => {
                let (a, b) = (self.recent(scope, Kind::Float), self.any(scope, Kind::Float));
                let op = *self.random.pick(&["add", "subtract", "multiply", "add"]);
                self.define(scope, Kind::Float, &format!("pd.{op} ({a}, {b})"));
            }
        }
    }

    fn values(&mut self, scope: &Scope, kinds: &[Kind]) -> String {
        let values: Vec<String> = kinds.iter().map(|&k| self.recent(scope, k)).collect();
        values.join(", ")
    }

    fn kinds(&mut self, most: usize) -> Vec<Kind> {
        let count = self.random.below(most + 1);
        (0..count).map(|_| self.kind()).collect()
    }

    fn types(kinds: &[Kind]) -> String {
        kinds.iter().map(|k| k.ty()).collect::<Vec<_>>().join(", ")
    }

    fn results(&mut self, scope: &mut Scope, kinds: &[Kind]) -> String {
        let names: Vec<String> = kinds.iter().map(|_| self.fresh()).collect();
        scope.extend(names.iter().cloned().zip(kinds.iter().copied()));
        if names.is_empty() {
            String::new()
        } else {
            format!("{} = ", names.join(", "))
        }
    }

    /// A branch, and often others on the same condition or on its negation after it, and in it.
    fn branch(&mut self, scope: &mut Scope, depth: usize) {
        let condition = self.recent(scope, Kind::Bool);
        self.branch_on(scope, depth, &condition);
        while self.random.chance(25) {
            let negated = self.random.chance(30);
            let condition = match negated {
                true => self.define(scope, Kind::Bool, &format!("pd.logical_not ({condition})")),
                false => condition.clone(),
            };
            self.branch_on(scope, depth, &condition);
        }
    }

    fn branch_on(&mut self, scope: &mut Scope, depth: usize, condition: &str) {
        let kinds = self.kinds(3);
        let before = std::mem::take(&mut self.text);
        let mut regions = Vec::new();
        for _ in 0..2 {
            let mut inner = scope.clone();
            let count = self.random.below(4);
            if depth > 1 && self.random.chance(15) {
                self.branch_on(&mut inner, depth - 1, condition);
            }
            self.ops(&mut inner, count, depth - 1);
            let values = self.values(&inner, &kinds);
            let _ = writeln!(self.text, "cf.yield ({values})");
            regions.push(std::mem::take(&mut self.text));
        }
        self.text = before;
        let results = self.results(scope, &kinds);
        let types = if kinds.is_empty() {
            String::new()
        } else {
            format!(" : {}", Self::types(&kinds))
        };
        let _ = writeln!(
            self.text,
            "{results}pd.if ({condition}) then {{\n{}}} else {{\n{}}}{types}",
            regions[0], regions[1]
        );
    }

    /// Arguments of a region, entered into its scope.
    fn args(&mut self, scope: &mut Scope, kinds: &[Kind]) -> (Vec<String>, String) {
        let names: Vec<String> = kinds.iter().map(|_| self.fresh()).collect();
        scope.extend(names.iter().cloned().zip(kinds.iter().copied()));
        let list: Vec<String> = names
            .iter()
            .zip(kinds)
            .map(|(n, k)| format!("{n}: {}", k.ty()))
            .collect();
        (
            names,
            if list.is_empty() {
                String::new()
            } else {
                format!("({}) ", list.join(", "))
            },
        )
    }

    /// A loop of at most four iterations: its first carried value counts, up or down, and perhaps a second one with it.
    fn repeat(&mut self, scope: &mut Scope, depth: usize) {
        let mut carried = vec![Kind::Int];
        let twin = self.random.chance(20);
        carried.extend(twin.then_some(Kind::Int));
        carried.extend(self.kinds(3));
        let zero = self.define(scope, Kind::Int, "pd.full {shape = [1], value = 0, dtype = i64}");
        let (comparison, step) = match self.random.below(6) {
            0 => ("pd.less_equal", 1),
            1 => ("pd.less_than", 2),
            2 => ("pd.greater_than", -1),
            _ => ("pd.less_than", 1),
        };
        let limit = match self.random.below(4) {
            0 => "%n".to_owned(),
            1 => "%z".to_owned(),
            _ => {
                let limit = self.random.below(4);
                self.define(
                    scope,
                    Kind::Int,
                    &format!("pd.full {{shape = [1], value = {limit}, dtype = i64}}"),
                )
            }
        };
        // Down from the limit to zero, or up the other way.
        let (start, limit) = if step < 0 { (limit, zero) } else { (zero, limit) };
        let mut operands = vec![start.clone()];
        for (at, &kind) in carried.iter().enumerate().skip(1) {
            operands.push(match twin && at == 1 {
                true => start.clone(),
                false => self.recent(scope, kind),
            });
        }
        let before = std::mem::take(&mut self.text);

        let mut inner = scope.clone();
        let (args, cond_args) = self.args(&mut inner, &carried);
        let count = self.random.below(3);
        self.ops(&mut inner, count, depth - 1);
        let go = self.define(&mut inner, Kind::Bool, &format!("{comparison} ({}, {limit})", args[0]));
        // The counter, then mostly the arguments as they are, then others.
        let mut forwarded = vec![Kind::Int];
        let mut values = vec![args[0].clone()];
        for (at, (arg, &kind)) in args.iter().zip(&carried).enumerate().skip(1) {
            if twin && at == 1 {
                forwarded.push(kind);
                values.push(arg.clone());
            } else if self.random.chance(85) {
                forwarded.push(kind);
                let value = if self.random.chance(70) {
                    arg.clone()
                } else {
                    self.recent(&inner, kind)
                };
                values.push(value);
            }
        }
        if self.random.chance(30) {
            let kind = self.kind();
            forwarded.push(kind);
            values.push(self.recent(&inner, kind));
        }
        let _ = writeln!(self.text, "cf.cond_yield ({go}, {})", values.join(", "));
        let cond = std::mem::take(&mut self.text);

        let mut inner = scope.clone();
        let (args, body_args) = self.args(&mut inner, &forwarded);
        if self.random.chance(25) {
            // What is known here.
            let again = *self
                .random
                .pick(&["pd.less_than", "pd.greater_equal", "pd.greater_than"]);
            self.define(&mut inner, Kind::Bool, &format!("{again} ({}, {limit})", args[0]));
        }
        let count = 1 + self.random.below(4);
        self.ops(&mut inner, count, depth - 1);
        let stepped = |of: &str| format!("pd.increment ({of}) {{value = {step}.0}}");
        let next = self.define(&mut inner, Kind::Int, &stepped(&args[0]));
        let mut values = vec![next];
        if twin {
            values.push(self.define(&mut inner, Kind::Int, &stepped(&args[1])));
        }
        for &kind in &carried[values.len()..] {
            let own: Vec<&String> = args
                .iter()
                .zip(&forwarded)
                .skip(1)
                .filter(|(_, k)| **k == kind)
                .map(|(a, _)| a)
                .collect();
            // Often an argument as it is, its own or another.
            let value = if !own.is_empty() && self.random.chance(50) {
                (*self.random.pick(&own)).clone()
            } else {
                self.recent(&inner, kind)
            };
            values.push(value);
        }
        let _ = writeln!(self.text, "cf.yield ({})", values.join(", "));
        let body = std::mem::take(&mut self.text);

        self.text = before;
        let results = self.results(scope, &forwarded);
        let _ = writeln!(
            self.text,
            "{results}pd.while ({}) cond {cond_args}{{\n{cond}}} body {body_args}{{\n{body}}} : {}",
            operands.join(", "),
            Self::types(&forwarded)
        );
    }

    /// Some pushes, in a branch too, and a loop that pops until there is nothing left.
    fn stack(&mut self, scope: &mut Scope) {
        let stack = self.fresh();
        let _ = writeln!(self.text, "{stack} = cf.create_stack () : cf.stack");
        for _ in 0..self.random.below(4) {
            if self.random.chance(40) {
                self.look_at(scope, &stack);
            }
            let value = self.recent(scope, Kind::Float);
            if self.random.chance(40) {
                let condition = self.recent(scope, Kind::Bool);
                let _ = writeln!(
                    self.text,
                    "pd.if ({condition}) then {{\ncf.push_back ({stack}, {value})\n}}"
                );
            } else {
                let _ = writeln!(self.text, "cf.push_back ({stack}, {value})");
            }
            if self.random.chance(30) {
                self.take(scope, &stack);
            }
        }
        let start = self.recent(scope, Kind::Float);
        let [arg, empty, more, carried, popped, sum, result] = [(); 7].map(|()| self.fresh());
        let ty = Kind::Float.ty();
        let _ = writeln!(
            self.text,
            "{result} = pd.while ({start}) cond ({arg}: {ty}) {{\n\
             {empty} = cf.is_empty ({stack}) : i1\n{more} = pd.logical_not ({empty}) : i1\n\
             cf.cond_yield ({more}, {arg})\n}} body ({carried}: {ty}) {{\n\
             {popped} = cf.pop_back ({stack}) : {ty}\n{sum} = pd.subtract ({popped}, {carried}) : {ty}\n\
             cf.yield ({sum})\n}} : {ty}"
        );
        scope.push((result, Kind::Float));
        if self.random.chance(50) {
            self.look_at(scope, &stack);
        }
    }

    /// Pops a value in a branch, if there is one.
    fn take(&mut self, scope: &mut Scope, stack: &str) {
        let [empty, more, popped, sum, result] = [(); 5].map(|()| self.fresh());
        let (value, ty) = (self.recent(scope, Kind::Float), Kind::Float.ty());
        let _ = writeln!(self.text, "{empty} = cf.is_empty ({stack}) : i1");
        let pop = format!(
            "{popped} = cf.pop_back ({stack}) : {ty}\n{sum} = pd.subtract ({popped}, {value}) : {ty}\ncf.yield ({sum})"
        );
        let other = format!("cf.yield ({value})");
        let not = format!("{more} = pd.logical_not ({empty}) : i1");
        let _ = match self.random.below(3) {
            0 => writeln!(
                self.text,
                "{result} = pd.if ({empty}) then {{\n{other}\n}} else {{\n{pop}\n}} : {ty}"
            ),
            1 => writeln!(
                self.text,
                "{not}\n{result} = pd.if ({more}) then {{\n{pop}\n}} else {{\n{other}\n}} : {ty}"
            ),
            _ => {
                let pop = format!("{popped} = cf.pop_back ({stack}) : {ty}\ncf.yield ()");
                let _ = writeln!(self.text, "{not}\npd.if ({more}) then {{\n{pop}\n}}");
                return;
            }
        };
        scope.push((result, Kind::Float));
    }

    /// A value that depends on whether the stack is empty.
    fn look_at(&mut self, scope: &mut Scope, stack: &str) {
        let empty = self.fresh();
        let _ = writeln!(self.text, "{empty} = cf.is_empty ({stack}) : i1");
        let (value, kept, ty) = (self.recent(scope, Kind::Float), self.fresh(), Kind::Float.ty());
        let _ = writeln!(
            self.text,
            "{kept} = pd.if ({empty}) then {{\ncf.yield ({value})\n}} else {{\ncf.yield (%x)\n}} : {ty}"
        );
        scope.push((kept, Kind::Float));
    }
}
