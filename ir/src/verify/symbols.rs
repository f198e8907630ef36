//! Symbols: names of operations, and operations that refer to them.
//!
//! A symbol is looked up in the body of the use, then in the bodies around it; a nested reference `@m::@f` goes on
//! from there inwards.

use rustc_hash::FxHashMap;

use crate::body::{Body, OpData, OpView};
use crate::context::Context;
use crate::declare::{AttrSpec, Traits};
use crate::diagnostics::{Diagnostic, Part, nearest};
use crate::entity::{OpId, Sym};
use crate::types::{Attr, AttrData, AttrDict, Type, TypeData};

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
    /// Functions with an attribute `custom_vjp`.
    derivatives: Vec<OpId>,
}

/// The symbols of all bodies of a module.
pub(super) struct Symbols<'a> {
    ctx: &'a Context,
    /// The name of the attribute that calls have, if anything has such an attribute.
    callee: Option<Sym>,
    tables: Vec<Table<'a>>,
}

impl<'a> Symbols<'a> {
    pub(super) fn new(ctx: &'a Context) -> Self {
        Symbols {
            ctx,
            callee: ctx.find_sym("callee"),
            tables: Vec::new(),
        }
    }

    fn is_call(&self, attrs: AttrDict) -> bool {
        let is_callee = |&(name, _): &(Sym, Attr)| Some(name) == self.callee;
        attrs != AttrDict::EMPTY && self.ctx.dict_entries(attrs).iter().any(is_callee)
    }

    /// Whether a body has symbols, calls, or other bodies inside. Most bodies of functions have none: that is seen without a walk from
    /// operation to operation.
    pub(super) fn concern(&self, body: &Body) -> bool {
        let is_symbol = |op: &OpData| self.ctx.op_def(op.name).is_some_and(|def| def.has(Traits::SYMBOL));
        let mut ops = body.ops.iter();
        ops.any(|op| self.is_call(op.attrs) || is_symbol(op)) || body.isolated_bodies().next().is_some()
    }

    /// Enters the symbols of a body that they [concern](Self::concern), and reports duplicates; gives the index of the table.
    pub(super) fn add_body(
        &mut self,
        body: &'a Body,
        parent: Option<(usize, OpId)>,
        errors: &mut Vec<Diagnostic>,
    ) -> usize {
        let ctx = self.ctx;
        let mut names = FxHashMap::default();
        // Regions that are not isolated bodies have separate symbol tables nevertheless.
        let mut nested = FxHashMap::default();
        let (mut calls, mut derivatives) = (Vec::new(), Vec::new());
        for op in body.walk_all() {
            let Some(def) = ctx.op_def(body.op_name(op)) else {
                continue;
            };
            if self.is_call(body.attrs(op)) {
                calls.push(op);
            }
            if !def.has(Traits::SYMBOL) {
                continue;
            }
            let view = body.view(ctx, op);
            if def.has(Traits::FUNCTION) && view.attr("custom_vjp").is_some() {
                derivatives.push(op);
            }
            let Some(name) = view.str("sym_name") else {
                let optional = |spec: &AttrSpec| spec.name == "sym_name" && spec.default.is_some();
                if def.attrs.iter().any(optional) {
                    continue;
                }
                errors.push(
                    Diagnostic::error("missing-symbol-name", format!("`{}` has no name", def.name))
                        .label(body.op_span(op), "needs an attribute `sym_name`")
                        .help("write the name after the operation: `@name`"),
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
            derivatives,
        });
        index
    }

    /// Resolves a reference in the body of the table.
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

    /// Checks that the targets of calls, and the derivatives that functions name, exist and have a signature that fits.
    pub(super) fn check_calls(&self, ctx: &Context, max_errors: usize, errors: &mut Vec<Diagnostic>) {
        for (index, table) in self.tables.iter().enumerate() {
            for &op in &table.calls {
                self.check_call(ctx, index, op, errors);
                if errors.len() >= max_errors {
                    return;
                }
            }
            for &op in &table.derivatives {
                self.check_derivative(ctx, index, op, errors);
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
            let message = format!("`{caller}` calls {name}, which is not defined");
            let mut error = self.unknown(ctx, message, path);
            // Behind a path it is not known where in it the word is.
            if let ([_], Some(near)) = (&path[..], self.nearest(ctx, path)) {
                error = error.edit_part(span, Part::Symbol, format!("@{near}"));
            }
            errors.push(error.label_part(span, Part::Symbol, "no such symbol"));
            return;
        };
        let target_view = target_body.view(ctx, target);
        let Some((inputs, results)) = signature(target_view) else {
            errors.push(
                Diagnostic::error(
                    "not-callable",
                    format!("`{caller}` calls {name}, which is not a function"),
                )
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
            errors.push(
                Diagnostic::error(code, format!("the {noun} of the call do not match {name}"))
                    .label(span, format!("{noun} {} here", listed(ctx, given, 8)))
                    .label(target_body.op_span(target), format!("{} there", listed(ctx, wanted, 8)))
                    .help("change the call or the function"),
            );
        };
        let operands: Vec<Type> = body.operands(op).map(|v| body.value_type(v)).collect();
        check("call-operands", "operands", &operands, inputs);
        let given: Vec<Type> = body.results(op).map(|v| body.value_type(v)).collect();
        check("call-results", "results", &given, results);
        self.check_marked(ctx, table, op, errors);
    }

    /// The derivative that a call is marked with takes the operands and the cotangents of the results, and returns the
    /// cotangents of the operands. In the place of a cotangent of something else than floats there may be anything.
    fn check_marked(&self, ctx: &Context, table: usize, op: OpId, errors: &mut Vec<Diagnostic>) {
        let body = self.tables[table].body;
        let (view, span) = (body.view(ctx, op), body.op_span(op));
        let Some(AttrData::Symbol(path)) = view.attr("pir.vjp").map(|a| ctx.attr_data(a)) else {
            return;
        };
        let vjp = path.last().map_or("", |&s| ctx.str(s));
        let (1, Some((target_body, target))) = (path.len(), self.resolve(table, path)) else {
            let message = format!("a call names @{vjp} as its derivative, which is not defined");
            errors.push(
                self.unknown(ctx, message, path)
                    .label(span, "the derivative of this call"),
            );
            return;
        };
        let operands: Vec<Type> = body.operands(op).map(|v| body.value_type(v)).collect();
        let results: Vec<Type> = body.results(op).map(|v| body.value_type(v)).collect();
        let cotangent = |given: Type, of: Type| !ctx.is_continuous(of) || compatible(ctx, given, of);
        let fits = |inputs: &[Type], returned: &[Type]| {
            inputs.len() == operands.len() + results.len()
                && returned.len() == operands.len()
                && inputs
                    .iter()
                    .zip(&operands)
                    .all(|(&given, &of)| compatible(ctx, given, of))
                && inputs[operands.len()..]
                    .iter()
                    .zip(&results)
                    .all(|(&given, &of)| cotangent(given, of))
                && returned.iter().zip(&operands).all(|(&given, &of)| cotangent(given, of))
        };
        let given = signature(target_body.view(ctx, target));
        if given.is_some_and(|(inputs, returned)| fits(inputs, returned)) {
            return;
        }
        let wanted = listed(ctx, &[&operands[..], &results].concat(), 64);
        errors.push(
            Diagnostic::error(
                "pir-vjp",
                format!("@{vjp} does not have the signature of a derivative of this call"),
            )
            .label(span, "the derivative of this call")
            .label(target_body.op_span(target), there(ctx, given))
            .help(format!(
                "it must take the operands and the cotangents of all results, and return the cotangents of all \
                     operands: {wanted} -> {}",
                listed(ctx, &operands, 64)
            )),
        );
    }

    /// The symbol that is probably meant by the last word of a path.
    fn nearest<'c>(&self, ctx: &'c Context, path: &[Sym]) -> Option<&'c str> {
        let known = self.tables.iter().flat_map(|t| t.names.keys()).map(|&s| ctx.str(s));
        let mut known: Vec<&str> = known.collect();
        known.sort_unstable();
        nearest(path.last().map_or("", |&s| ctx.str(s)), known)
    }

    fn unknown(&self, ctx: &Context, message: String, path: &[Sym]) -> Diagnostic {
        let error = Diagnostic::error("unknown-symbol", message);
        match self.nearest(ctx, path) {
            Some(near) => error.help(format!("did you mean `@{near}`?")),
            None => error.help("define a function of this name at top level"),
        }
    }

    /// A derivative takes the operands, the results and the cotangents of the results, and returns the cotangents of the
    /// operands of floats.
    fn check_derivative(&self, ctx: &Context, table: usize, op: OpId, errors: &mut Vec<Diagnostic>) {
        let body = self.tables[table].body;
        let (view, span) = (body.view(ctx, op), body.op_span(op));
        let Some(AttrData::Symbol(path)) = view.attr("custom_vjp").map(|a| ctx.attr_data(a)) else {
            return;
        };
        let (name, vjp) = (
            view.str("sym_name").unwrap_or_default(),
            path.last().map_or("", |&s| ctx.str(s)),
        );
        let (1, Some((target_body, target))) = (path.len(), self.resolve(table, path)) else {
            let message = format!("@{name} names @{vjp} as its derivative, which is not defined in the same region");
            errors.push(
                self.unknown(ctx, message, path)
                    .label(span, "the derivative of this function"),
            );
            return;
        };
        let Some((inputs, results)) = signature(view) else {
            return;
        };
        let error =
            |message: String| Diagnostic::error("custom-vjp", message).label(span, "the derivative of this function");
        let floats = |types: &[Type]| {
            types
                .iter()
                .copied()
                .filter(|&t| ctx.is_continuous(t))
                .collect::<Vec<Type>>()
        };
        let unfit = |&&ty: &&Type| !(ctx.is_discrete(ty) || ctx.is_continuous(ty) && ctx.as_tensor(ty).is_some());
        if let Some(&ty) = inputs.iter().chain(results).find(unfit) {
            let ty = describe_type(ctx, ty);
            let error = error(format!(
                "@{name} has a `custom_vjp`, but there are no cotangents of type {ty}"
            ));
            errors.push(error.help("its operands and results must be tensors or integers"));
            return;
        }
        if floats(inputs).is_empty() || floats(results).is_empty() {
            let error = error(format!("@{name} has a `custom_vjp`, but no float operand or result"));
            errors.push(error.help("it needs an operand and a result of float type"));
            return;
        }
        let (wanted, returned) = ([inputs, results, results].concat(), floats(inputs));
        let fits = |given: &[Type], wanted: &[Type]| {
            given.len() == wanted.len() && given.iter().zip(wanted).all(|(&g, &w)| compatible(ctx, g, w))
        };
        let given = signature(target_body.view(ctx, target));
        if !given.is_some_and(|(inputs, results)| fits(inputs, &wanted) && fits(results, &returned)) {
            let wanted = format!("{} -> {}", listed(ctx, &wanted, 64), listed(ctx, &returned, 64));
            let error = error(format!("@{vjp} does not have the signature of a derivative of @{name}"));
            let error = error.label(target_body.op_span(target), there(ctx, given));
            errors.push(error.help(format!(
                "it must take the operands, the results and the cotangents of the results, and return the cotangents \
                 of the float operands: {wanted}"
            )));
        }
    }
}

fn signature(function: OpView<'_>) -> Option<(&[Type], &[Type])> {
    match function.ctx.type_data(function.ty("function_type")?) {
        TypeData::Function { inputs, results } => Some((inputs, results)),
        _ => None,
    }
}

/// Describes a function that does not fit as a derivative.
fn there(ctx: &Context, given: Option<(&[Type], &[Type])>) -> String {
    match given {
        Some((inputs, results)) => format!("{} -> {} there", listed(ctx, inputs, 16), listed(ctx, results, 8)),
        None => "this is not a function".to_owned(),
    }
}

/// Types, the first `most` of them.
fn listed(ctx: &Context, types: &[Type], most: usize) -> String {
    let spelled: Vec<String> = types.iter().take(most).map(|&t| describe_type(ctx, t)).collect();
    let more = if types.len() > most { ", …" } else { "" };
    format!("({}{more})", spelled.join(", "))
}
