//! `symbol-dce`: functions that nothing refers to.
//!
//! # Algorithm
//! Marks from what has to stay: everything at top level but private functions. An operation that is marked marks the
//! symbols that its attributes, and those of everything in it, mention: the target of a call, but also a symbol
//! anywhere inside of an attribute. What is not marked in the end is removed, also functions that only call each other.
//!
//! # Conditions
//! * A symbol is private if it has `sym_visibility`: `func.func private @f`. With the option `keep`, all functions
//!   except those are private.
//! * Only symbols of the module itself are removed, not those of nested modules.

use pir_ir::{Attr, AttrData, AttrDict, Body, Context, Diagnostic, Module, OpId, Sym, Traits};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::options::{OptionKind, OptionSpec, OptionValue};
use crate::pass::{Changed, Invocation, Pass, PassContext};
use crate::pipeline::Pipeline;

/// The pass `symbol-dce`.
pub struct SymbolDce;

/// The pipeline that leaves a function, and what it refers to.
pub fn keep_only(function: &str) -> Pipeline {
    let run = Invocation::new(&SymbolDce).with("keep", OptionValue::List(vec![function.to_owned()]));
    Pipeline { invocations: vec![run] }
}

impl Pass for SymbolDce {
    fn name(&self) -> &'static str {
        "symbol-dce"
    }

    fn summary(&self) -> &'static str {
        "Remove private functions that nothing refers to"
    }

    fn description(&self) -> &'static str {
        "Removes private symbols (`func.func private @f`) that no remaining operation refers to. Public functions stay: \
         they are the program's interface."
    }

    fn options(&self) -> &'static [OptionSpec] {
        const OPTIONS: &[OptionSpec] = &[OptionSpec {
            name: "keep",
            kind: OptionKind::List,
            default: None,
            help: "the functions to keep; all others count as private",
        }];
        OPTIONS
    }

    fn run(&self, module: &mut Module, cx: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        let ctx = module.ctx.clone();
        let keep: Option<FxHashSet<String>> = match cx.options.get("keep") {
            Some(OptionValue::List(names)) => Some(
                names
                    .iter()
                    .map(|n| n.strip_prefix('@').unwrap_or(n).to_owned())
                    .collect(),
            ),
            _ => None,
        };
        if let Some(name) = keep
            .iter()
            .flatten()
            .filter(|n| module.lookup_symbol(n).is_none())
            .min()
        {
            let message = format!("there is no function `@{name}` to keep");
            return Err(vec![
                Diagnostic::error("unknown-symbol", message).help("name functions of the module in `keep`"),
            ]);
        }
        let mut marks = Marks {
            ctx: &ctx,
            seen: FxHashSet::default(),
            seen_attrs: FxHashSet::default(),
            pending: Vec::new(),
        };
        let mut private: FxHashMap<Sym, Vec<OpId>> = FxHashMap::default();
        for op in module.body.block_ops(module.top()) {
            match private_name(&ctx, &module.body, op, keep.as_ref()) {
                Some(name) => private.entry(name).or_default().push(op),
                None => marks.visit(&module.body, op),
            }
        }
        while let Some(name) = marks.pending.pop() {
            for op in private.remove(&name).unwrap_or_default() {
                marks.visit(&module.body, op);
            }
        }
        let mut lost: Vec<OpId> = private.into_values().flatten().collect();
        lost.sort_unstable();
        cx.count("removed", lost.len());
        for &op in &lost {
            module.body.erase_op(op);
        }
        Ok((!lost.is_empty()).into())
    }
}

/// The name of a private symbol.
fn private_name(ctx: &Context, body: &Body, op: OpId, keep: Option<&FxHashSet<String>>) -> Option<Sym> {
    let view = body.view(ctx, op);
    let name = view.str("sym_name").filter(|_| view.has(Traits::SYMBOL))?;
    let private = match keep {
        Some(keep) => view.has(Traits::FUNCTION) && !keep.contains(name),
        None => view.str("sym_visibility") == Some("private"),
    };
    private.then(|| ctx.sym(name))
}

struct Marks<'a> {
    ctx: &'a Context,
    /// Many operations share one dictionary of attributes, which need not be looked into again.
    seen: FxHashSet<AttrDict>,
    seen_attrs: FxHashSet<Attr>,
    pending: Vec<Sym>,
}

impl Marks<'_> {
    /// Marks what an operation mentions.
    fn visit(&mut self, body: &Body, op: OpId) {
        self.dict(body.attrs(op));
        let mut bodies: Vec<&Body> = body.isolated(op).into_iter().collect();
        for &region in body.op_regions(op) {
            for inner in body.walk(region) {
                self.dict(body.attrs(inner));
                bodies.extend(body.isolated(inner));
            }
        }
        while let Some(body) = bodies.pop() {
            for inner in body.walk_all() {
                self.dict(body.attrs(inner));
                bodies.extend(body.isolated(inner));
            }
        }
    }

    fn dict(&mut self, dict: AttrDict) {
        if !self.seen.insert(dict) {
            return;
        }
        let mut pending: Vec<Attr> = self.ctx.dict_entries(dict).iter().map(|&(_, attr)| attr).collect();
        while let Some(attr) = pending.pop() {
            if !self.seen_attrs.insert(attr) {
                continue;
            }
            match self.ctx.attr_data(attr) {
                AttrData::Symbol(path) => self.pending.extend(path.iter().copied()),
                AttrData::Array(items) => pending.extend(items.iter().copied()),
                AttrData::Dict(inner) => pending.extend(self.ctx.dict_entries(*inner).iter().map(|&(_, attr)| attr)),
                AttrData::Opaque(text) => {
                    let is_end = |c: char| !c.is_alphanumeric() && !matches!(c, '_' | '.' | '$' | '-');
                    let names = text.split('@').skip(1).filter_map(|part| part.split(is_end).next());
                    self.pending.extend(names.map(|name| self.ctx.sym(name)));
                }
                _ => {}
            }
        }
    }
}
