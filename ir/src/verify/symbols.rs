//! Symbols: names of operations, and operations that refer to them.
//!
//! A symbol is looked up in the body of the use, then in the bodies around it; a nested reference `@m::@f` goes on
//! from there inwards.

use rustc_hash::FxHashMap;

use crate::body::{Body, OpData};
use crate::context::Context;
use crate::declare::{AttrSpec, Traits};
use crate::diagnostics::{Diagnostic, nearest};
use crate::entity::{OpId, Sym};
use crate::types::{AttrData, AttrDict, Type, TypeData};

use super::describe::{compatible, describe_type};

/// The symbols of one body.
struct Table<'a> {
    body: &'a Body,
    /// The body around, and the operation there that owns this one.
    parent: Option<usize>,
    names: FxHashMap<Sym, OpId>,
    /// The tables of the bodies of operations in this one.
    inner: FxHashMap<OpId, usize>,
    /// Operations with an attribute `callee`.
    calls: Vec<OpId>,
}

/// The symbols of all bodies of a module.
#[derive(Default)]
pub(super) struct Symbols<'a> {
    tables: Vec<Table<'a>>,
}

impl<'a> Symbols<'a> {
    /// Enters the symbols of a body and reports duplicates; gives the index of the table, if there is anything to enter.
    pub(super) fn add_body(
        &mut self,
        ctx: &Context,
        body: &'a Body,
        parent: Option<(usize, OpId)>,
        errors: &mut Vec<Diagnostic>,
    ) -> Option<usize> {
        let mut names = FxHashMap::default();
        // Regions that are no bodies of their own have names of their own all the same.
        let mut nested = FxHashMap::default();
        let mut calls = Vec::new();
        let callee = ctx.find_sym("callee");
        let is_call = |attrs: AttrDict| {
            attrs != AttrDict::EMPTY && ctx.dict_entries(attrs).iter().any(|&(name, _)| Some(name) == callee)
        };
        // Most bodies of functions have neither: that is seen without a walk from operation to operation.
        let is_symbol = |op: &OpData| ctx.op_def(op.name).is_some_and(|def| def.has(Traits::SYMBOL));
        let has_any = body.ops.iter().any(|op| is_call(op.attrs) || is_symbol(op));
        if !has_any && body.isolated_bodies().next().is_none() {
            return None;
        }
        let ops = has_any.then(|| body.walk_all());
        for op in ops.into_iter().flatten() {
            let Some(def) = ctx.op_def(body.op_name(op)) else {
                continue;
            };
            if is_call(body.attrs(op)) {
                calls.push(op);
            }
            if !def.has(Traits::SYMBOL) {
                continue;
            }
            let view = body.view(ctx, op);
            let Some(name) = view.str("sym_name") else {
                let optional = |spec: &AttrSpec| spec.name == "sym_name" && spec.default.is_some();
                if def.attrs.iter().any(optional) {
                    continue;
                }
                errors.push(
                    Diagnostic::error("missing-symbol-name", format!("`{}` has no name", def.name))
                        .label(body.op_span(op), "needs an attribute `sym_name`")
                        .help("write the name behind the operation: `@name`"),
                );
                continue;
            };
            let sym = ctx.sym(name);
            let first = match body.op_region(op) {
                Some(region) if region != body.root() => *nested.entry((region, sym)).or_insert(op),
                _ => *names.entry(sym).or_insert(op),
            };
            if first != op {
                errors.push(
                    Diagnostic::error("duplicate-symbol", format!("the symbol `@{name}` is defined twice"))
                        .label(body.op_span(op), "defined again here")
                        .label(body.op_span(first), "first defined here")
                        .help("give one of them another name"),
                );
            }
        }
        let index = self.tables.len();
        if let Some((outer, op)) = parent {
            self.tables[outer].inner.insert(op, index);
        }
        self.tables.push(Table {
            body,
            parent: parent.map(|(outer, _)| outer),
            names,
            inner: FxHashMap::default(),
            calls,
        });
        Some(index)
    }

    /// What a reference in the body of the table means.
    fn resolve(&self, mut table: usize, path: &[Sym]) -> Option<(&'a Body, OpId)> {
        let (&first, rest) = path.split_first()?;
        let mut op = loop {
            if let Some(&op) = self.tables[table].names.get(&first) {
                break op;
            }
            table = self.tables[table].parent?;
        };
        for name in rest {
            table = *self.tables[table].inner.get(&op)?;
            op = *self.tables[table].names.get(name)?;
        }
        Some((self.tables[table].body, op))
    }

    /// Checks that the targets of calls exist and have a signature that fits.
    pub(super) fn check_calls(&self, ctx: &Context, max_errors: usize, errors: &mut Vec<Diagnostic>) {
        for (index, table) in self.tables.iter().enumerate() {
            for &op in &table.calls {
                self.check_call(ctx, index, op, errors);
                if errors.len() >= max_errors {
                    return;
                }
            }
        }
    }

    fn check_call(&self, ctx: &Context, table: usize, op: OpId, errors: &mut Vec<Diagnostic>) {
        let body = self.tables[table].body;
        let view = body.view(ctx, op);
        let Some(AttrData::Symbol(path)) = view.attr("callee").map(|a| ctx.attr_data(a)) else {
            return;
        };
        let name: Vec<String> = path.iter().map(|&s| format!("@{}", ctx.str(s))).collect();
        let name = name.join("::");
        let caller = view.name();
        let span = body.op_span(op);
        let Some((target_body, target)) = self.resolve(table, path) else {
            let known = self.tables.iter().flat_map(|t| t.names.keys()).map(|&s| ctx.str(s));
            let mut known: Vec<&str> = known.collect();
            known.sort_unstable();
            let word = path.last().map_or("", |&s| ctx.str(s));
            errors.push(
                Diagnostic::error(
                    "unknown-symbol",
                    format!("`{caller}` calls {name}, which is not defined"),
                )
                .label(span, "no such symbol")
                .help(match nearest(word, known) {
                    Some(near) => format!("did you mean `@{near}`?"),
                    None => "define a function of this name at top level".to_owned(),
                }),
            );
            return;
        };
        let target_view = target_body.view(ctx, target);
        let signature = target_view.ty("function_type").map(|ty| ctx.type_data(ty));
        let Some(TypeData::Function { inputs, results }) = signature else {
            errors.push(
                Diagnostic::error("not-callable", format!("`{caller}` calls {name}, which is no function"))
                    .label(span, "called here")
                    .label(
                        target_body.op_span(target),
                        format!("this is a `{}`", target_view.name()),
                    )
                    .help("call an operation that has a function type"),
            );
            return;
        };
        let mut check = |code, noun: &str, given: &[Type], wanted: &[Type]| {
            let fits = given.len() == wanted.len() && given.iter().zip(wanted).all(|(&g, &w)| compatible(ctx, g, w));
            if fits {
                return;
            }
            let list = |types: &[Type]| {
                let types: Vec<String> = types.iter().take(8).map(|&t| describe_type(ctx, t)).collect();
                format!("({})", types.join(", "))
            };
            errors.push(
                Diagnostic::error(code, format!("the {noun} of the call do not fit {name}"))
                    .label(span, format!("{noun} {} here", list(given)))
                    .label(target_body.op_span(target), format!("{} there", list(wanted)))
                    .help("change the call or the function"),
            );
        };
        let operands: Vec<Type> = body.operands(op).map(|v| body.value_type(v)).collect();
        check("call-operands", "operands", &operands, inputs);
        let given: Vec<Type> = body.results(op).map(|v| body.value_type(v)).collect();
        check("call-results", "results", &given, results);
    }
}
