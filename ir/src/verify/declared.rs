//! Verification of the declarations of an operation's definition: counts, attributes, regions, terminators, successors, types.

use crate::body::Body;
use crate::context::Context;
use crate::declare::{Arity, Presence, Traits, ValueSpec};
use crate::diagnostics::{Diagnostic, Part, nearest};
use crate::entity::{OpId, RegionId};
use crate::plan::AttrKind;
use crate::registry::OpDef;
use crate::types::{Type, TypeData};

use super::attrs::{are_declared, faults};
use super::describe::{compatible, describe_type, does_not_fit};
use super::memory::{Memory, Simple};
use super::options::VerifyOptions;
use super::plan::{bounds, plan};

pub(super) struct Checker<'a> {
    pub(super) ctx: &'a Context,
    pub(super) body: &'a Body,
    pub(super) options: VerifyOptions,
}

/// "no operands", "1 operand (x)", "2 operands (x, y)", "at least 1 operand (x, ys…)".
fn expected(noun: &str, specs: &[ValueSpec]) -> String {
    let (min, max) = bounds(specs);
    let count = match max {
        None if min == 0 => format!("any number of {noun}s"),
        None => format!("at least {min} {noun}{}", plural(min)),
        Some(max) if max == min => format!("{}{noun}{}", number(max), plural(max)),
        Some(max) => format!("{min} to {max} {noun}s"),
    };
    let names: Vec<String> = specs
        .iter()
        .map(|s| match s.arity {
            Arity::One => s.name.to_string(),
            Arity::Optional => format!("[{}]", s.name),
            Arity::Variadic => format!("{}…", s.name),
        })
        .collect();
    if names.is_empty() {
        count
    } else {
        format!("{count} ({})", names.join(", "))
    }
}

fn number(count: usize) -> String {
    if count == 0 {
        "no ".to_owned()
    } else {
        format!("{count} ")
    }
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

impl Checker<'_> {
    fn error(&self, op: OpId, code: &'static str, message: String, label: &str) -> Diagnostic {
        Diagnostic::error(code, message).label(self.body.op_span(op), label)
    }

    /// Checks everything of an operation but the visibility of its operands.
    pub(super) fn op(&self, op: OpId, memory: &mut Memory, errors: &mut Vec<Diagnostic>) {
        let before = errors.len();
        let def = self.ctx.op_def(self.body.op_name(op));
        let simple = Simple::of(self.body, op);
        // A terminator has its place as well.
        let is_placed = || {
            let may_be_anywhere = def.is_some_and(|def| !def.has(Traits::TERMINATOR));
            may_be_anywhere || self.body.next_op(op).is_none()
        };
        let is_known = simple.as_ref().is_some_and(|simple| memory.fits(simple)) && is_placed();
        if !is_known && !self.is_plain(op) {
            self.structure(op, def, errors);
        }
        // What MLIR verifies of the operation.
        let of_dialect = |errors: &mut Vec<Diagnostic>| {
            let ods = self.ctx.ods(self.body.op_name(op)).filter(|_| errors.len() == before);
            if let Some(verify) = ods.and_then(|ods| ods.verify) {
                verify(self.body.view(self.ctx, op), errors);
            }
        };
        let Some(def) = def.filter(|_| errors.len() == before) else {
            of_dialect(errors);
            return;
        };
        let hook = |errors: &mut Vec<Diagnostic>| {
            if let Some(hook) = def.verify.filter(|_| errors.len() == before) {
                hook(self.body.view(self.ctx, op), errors);
            }
        };
        // The definition reports errors in yields more precisely.
        if !def.regions.is_empty() {
            hook(errors);
            if errors.len() == before {
                self.types(op, def, errors);
            }
            of_dialect(errors);
            return;
        }
        if is_known {
            if !def.verifies_types {
                hook(errors);
            }
            return;
        }
        self.types(op, def, errors);
        let typed = errors.len() == before;
        hook(errors);
        of_dialect(errors);
        let fits = errors.len() == before || typed && !def.verifies_types;
        if let Some(simple) = simple.filter(|_| fits) {
            memory.remember(simple);
        }
    }

    /// Checks the counts, the attributes, the successors and the regions of an operation.
    fn structure(&self, op: OpId, def: Option<&OpDef>, errors: &mut Vec<Diagnostic>) {
        let name = self.ctx.op_str(self.body.op_name(op));
        self.successors(op, name, errors);
        match def {
            Some(def) => self.counts(op, def, errors),
            None if self.options.allow_unregistered || self.is_declared(op) => {}
            None => errors.push(self.unregistered(op, name)),
        }
        let terminated = def.is_some_and(|d| !d.has(Traits::NO_TERMINATOR));
        for &region in self.body.op_regions(op) {
            self.region(region, def, terminated, errors);
        }
    }

    /// Whether the text or the semantics of an operation that is not registered are known.
    fn is_declared(&self, op: OpId) -> bool {
        let name = self.body.op_name(op);
        self.ctx.ods(name).is_some() || self.ctx.semantics(name).is_some()
    }

    /// Whether the operation is as declared, or need not be declared, and has neither regions nor successors, which is
    /// cheap for most operations.
    fn is_plain(&self, op: OpId) -> bool {
        let body = self.body;
        let Some(plan) = plan(self.ctx, body.op_name(op)) else {
            return self.options.allow_unregistered && body.extra(op).is_none();
        };
        body.extra(op).is_none()
            && plan.may_be_plain
            && plan.operands.contains(&body.num_operands(op))
            && plan.results.contains(&body.num_results(op))
            && !(plan.is_terminator && body.next_op(op).is_some())
            && are_declared(
                self.ctx,
                plan,
                body.attrs(op),
                body.num_operands(op),
                self.options.allow_unregistered,
            )
    }

    fn unregistered(&self, op: OpId, name: &str) -> Diagnostic {
        let error = self.error(
            op,
            "unregistered-op",
            format!("there is no operation `{name}`"),
            "not registered",
        );
        let dialect = name.split_once('.').map_or(name, |(d, _)| d);
        match nearest(name, self.ctx.registered_ops()) {
            Some(near) => error.suggest("", near),
            None if self.ctx.dialect(dialect).is_some() => {
                error.help(format!("the dialect `{dialect}` has no such operation"))
            }
            None => error.help("use --allow-unregistered-dialect to accept unknown dialects"),
        }
    }

    fn counts(&self, op: OpId, def: &OpDef, errors: &mut Vec<Diagnostic>) {
        let body = self.body;
        let passed: usize = body.successors(op).iter().map(|s| s.operands as usize).sum();
        let own = body.num_operands(op).saturating_sub(passed);
        let mut check = |code, noun: &str, verb: &str, specs: &[ValueSpec], count: usize| {
            let (min, max) = bounds(specs);
            if count < min || max.is_some_and(|max| count > max) {
                errors.push(
                    self.error(
                        op,
                        code,
                        format!("`{}` {verb} {}, not {count}", def.name, expected(noun, specs)),
                        &format!("{count} {noun}{} here", plural(count)),
                    )
                    .help(format!("{}: {}", def.name, def.summary)),
                );
            }
        };
        check("operand-count", "operand", "takes", &def.operands, own);
        check("result-count", "result", "has", &def.results, body.num_results(op));
        self.attributes(op, def, errors);
        self.regions(op, def, errors);
        let count = body.successors(op).len();
        if count != def.successors && (def.successors != OpDef::ANY_SUCCESSORS || count == 0) {
            let wanted = match def.successors {
                OpDef::ANY_SUCCESSORS => "at least one successor".to_owned(),
                wanted => format!("{}successor{}", number(wanted), plural(wanted)),
            };
            let message = format!("`{}` needs {wanted}, found {count}", def.name);
            errors.push(
                self.error(op, "successor-count", message, "wrong number of successor blocks")
                    .help("successors are written `^block` or `^block(%argument)`"),
            );
        }
        if def.has(Traits::TERMINATOR)
            && let Some(next) = body.next_op(op)
        {
            errors.push(
                self.error(
                    op,
                    "terminator-not-last",
                    format!("the terminator `{}` is not the last operation of its block", def.name),
                    "this ends the block",
                )
                .label(body.op_span(next), "this would never run")
                .help("remove the following operations, or begin a new block with a label after the terminator"),
            );
        }
    }

    fn attributes(&self, op: OpId, def: &OpDef, errors: &mut Vec<Diagnostic>) {
        let Some(plan) = plan(self.ctx, self.body.op_name(op)) else {
            return;
        };
        let (attrs, operands, open) = (
            self.body.attrs(op),
            self.body.num_operands(op),
            self.options.allow_unregistered,
        );
        if are_declared(self.ctx, plan, attrs, operands, open) {
            return;
        }
        for mut fault in faults(self.ctx, def, plan, attrs, operands, open) {
            let results: Vec<_> = self.body.results(op).map(|r| self.body.value_type(r)).collect();
            let view = self.body.view(self.ctx, op);
            view.with_infer_args(|args| fault.complete(args, &results));
            errors.push(fault.diagnostic(self.ctx, self.body.op_span(op)));
        }
    }

    fn regions(&self, op: OpId, def: &OpDef, errors: &mut Vec<Diagnostic>) {
        let body = self.body;
        let regions = body.op_regions(op);
        if def.has(Traits::ISOLATED) {
            if body.isolated(op).is_none() || !regions.is_empty() {
                errors.push(
                    self.error(
                        op,
                        "isolation",
                        format!("`{}` is isolated, so it must own a body instead of regions", def.name),
                        "has no body of its own",
                    )
                    .help("the pass or tool that built the operation has a bug"),
                );
            }
            return;
        }
        if body.isolated(op).is_some() {
            errors.push(
                self.error(
                    op,
                    "isolation",
                    format!("`{}` is not isolated, but owns a body", def.name),
                    "has a body of its own",
                )
                .help("the pass or tool that built the operation has a bug"),
            );
        }
        let optional = def
            .regions
            .iter()
            .filter(|r| r.presence == Presence::MayBeAbsent)
            .count();
        let (max, min) = (def.regions.len(), def.regions.len() - optional);
        let is_repeated = def.regions.iter().any(|r| r.presence == Presence::Repeated);
        // In MLIR, some of them are optional.
        let any = || {
            let row = self.ctx.ods(self.body.op_name(op)).and_then(|ods| ods.row().ok());
            regions.is_empty() && row.is_some_and(|row| row.regions.iter().all(|r| r.variadic))
        };
        if regions.len() < min && !any() || regions.len() > max && !is_repeated {
            let names: Vec<&str> = def.regions.iter().filter_map(|r| r.keywords.first().copied()).collect();
            let count = if min == max {
                number(max).trim_end().to_owned()
            } else {
                format!("{min} to {max}")
            };
            let names = if names.is_empty() {
                String::new()
            } else {
                format!(" ({})", names.join(", "))
            };
            let message = format!(
                "`{}` has {count} region{}{names}, not {}",
                def.name,
                plural(max),
                regions.len()
            );
            errors.push(
                self.error(op, "region-count", message, "wrong number of regions")
                    .help(format!("{}: {}", def.name, def.summary)),
            );
            return;
        }
        // If several declared regions are optional, the first ones are omitted.
        let mut absent = max.saturating_sub(regions.len());
        let specs = def.regions.iter().filter(|spec| {
            let skip = absent > 0 && spec.presence == Presence::MayBeAbsent;
            absent -= usize::from(skip);
            !skip
        });
        for (spec, &region) in specs.zip(regions) {
            if spec.presence != Presence::MayBeEmpty && body.entry_block(region).is_none() {
                let word = spec.keywords.first().copied().unwrap_or("only");
                errors.push(
                    self.error(
                        op,
                        "empty-region",
                        format!("the {word} region of `{}` has no block", def.name),
                        "an empty region",
                    )
                    .help("an empty region still needs its terminator"),
                );
            }
        }
    }

    /// Checks the blocks of a region that belongs to an operation with the given definition.
    pub(super) fn region(
        &self,
        region: RegionId,
        parent: Option<&OpDef>,
        terminated: bool,
        errors: &mut Vec<Diagnostic>,
    ) {
        let body = self.body;
        let blocks = body.region_blocks(region);
        let span = body
            .region_parent(region)
            .map_or_else(Default::default, |op| body.op_span(op));
        let of = || parent.map_or_else(String::new, |def| format!(" of a region of `{}`", def.name));
        for &block in blocks {
            let Some(last) = body.last_op(block) else {
                // Several blocks mean that control goes from one to the other, which takes operations.
                if terminated || blocks.len() > 1 {
                    errors.push(
                        Diagnostic::error("empty-block", format!("a block{} has no operations", of()))
                            .label(span, "has an empty block")
                            .help("a block ends in a terminator, like `cf.yield`"),
                    );
                }
                continue;
            };
            let def = self.ctx.op_def(body.op_name(last));
            // An operation that is not registered may be a terminator for all we know.
            let may_end = def.is_none_or(|d| d.has(Traits::TERMINATOR));
            if (terminated || blocks.len() > 1) && !may_end {
                let name = self.ctx.op_str(body.op_name(last));
                errors.push(
                    Diagnostic::error(
                        "missing-terminator",
                        format!("a block{} does not end in a terminator", of()),
                    )
                    .label(body.op_span(last), format!("`{name}` is the last operation"))
                    .help(match parent.and_then(|d| d.implicit_terminator) {
                        Some(op) => format!("end the block with `{op}`"),
                        None => "end the block with a terminator, like `cf.yield`".to_owned(),
                    }),
                );
            }
        }
    }

    fn successors(&self, op: OpId, name: &str, errors: &mut Vec<Diagnostic>) {
        let body = self.body;
        let successors = body.successors(op);
        if successors.is_empty() {
            return;
        }
        let passed: usize = successors.iter().map(|s| s.operands as usize).sum();
        if passed > body.num_operands(op) {
            errors.push(
                self.error(
                    op,
                    "successor-operands",
                    format!("`{name}` passes {passed} operands to its successors, but has fewer operands"),
                    "too few operands",
                )
                .help("the pass or tool that built the operation has a bug"),
            );
            return;
        }
        for (index, successor) in successors.iter().enumerate() {
            let block = successor.block;
            let label = match body.block_label(block) {
                Some(sym) => format!("^{}", self.ctx.str(sym)),
                None => block.to_string(),
            };
            if body.block_region(block) != body.op_region(op) || body.op_region(op).is_none() {
                errors.push(
                    self.error(
                        op,
                        "successor-region",
                        format!("the successor {label} of `{name}` is in another region"),
                        "control cannot go there",
                    )
                    .help("control goes to blocks of the same region, or leaves the region by its terminator"),
                );
                continue;
            }
            if body.block_region(block).and_then(|r| body.entry_block(r)) == Some(block) {
                errors.push(
                    self.error(
                        op,
                        "entry-predecessor",
                        format!("the successor {label} of `{name}` is the entry block of the region"),
                        "branches to the entry block",
                    )
                    .help("begin the region with a block that only branches to the intended one"),
                );
            }
            // How an unknown operation hands out its operands is not known either.
            if self.options.allow_unregistered && successor.operands == 0 && self.ctx.op_def(body.op_name(op)).is_none()
            {
                continue;
            }
            let args = body.block_args(block);
            if args.len() != successor.operands as usize {
                errors.push(
                    self.error(
                        op,
                        "successor-operands",
                        format!(
                            "{label} takes {}argument{}, but `{name}` passes {}",
                            number(args.len()),
                            plural(args.len()),
                            successor.operands
                        ),
                        "wrong number of operands for the block",
                    )
                    .help(format!("pass them after the block: `{label}(%value)`")),
                );
                continue;
            }
            for (at, (value, &arg)) in body.successor_operands(op, index).zip(args).enumerate() {
                let (given, wanted) = (body.value_type(value), body.value_type(arg));
                if !compatible(self.ctx, given, wanted) {
                    errors.push(
                        self.error(
                            op,
                            "successor-type",
                            format!(
                                "argument {at} of {label} has type {}, but `{name}` passes a value of type {}",
                                describe_type(self.ctx, wanted),
                                describe_type(self.ctx, given)
                            ),
                            "wrong type for the block argument",
                        )
                        .help("change the type of the argument, or convert the value"),
                    );
                }
            }
        }
    }

    /// Checks that operands in place of lists of extents, places or axes are integers, as far as is known.
    fn int_arrays(&self, op: OpId, def: &OpDef, errors: &mut Vec<Diagnostic>) {
        let (ctx, body) = (self.ctx, self.body);
        let is_list = |spec: &ValueSpec| AttrKind::of(&spec.ty) == AttrKind::IntArray;
        for (place, spec) in def.operands.iter().enumerate().filter(|(_, spec)| is_list(spec)) {
            let view = body.view(ctx, op);
            let Some(at) = view.operand_declared_at(place) else {
                continue;
            };
            let is_fraction = |ty| ctx.is_float(ty) || ctx.complex_part(ty).is_some();
            let is_wrong = |ty: &Type| match ctx.type_data(*ty) {
                TypeData::List(items) => items.iter().any(|&item| is_fraction(item)),
                _ => is_fraction(*ty),
            };
            if let Some(ty) = view.operand_type(at).filter(is_wrong) {
                let message = format!(
                    "`{}` of `{}` must be integers, not `{}`",
                    spec.name,
                    def.name,
                    describe_type(ctx, ty)
                );
                errors.push(
                    Diagnostic::error("inference", message)
                        .label_part(body.op_span(op), Part::Operand(at), "these are no integers")
                        .help(format!(
                            "convert it to integers, or write the attribute `{}`",
                            spec.name
                        )),
                );
            }
        }
    }

    fn types(&self, op: OpId, def: &OpDef, errors: &mut Vec<Diagnostic>) {
        let before = errors.len();
        self.int_arrays(op, def, errors);
        let Some(infer) = def.infer.filter(|_| errors.len() == before) else {
            return;
        };
        let body = self.body;
        let Some(inferred) = body.view(self.ctx, op).with_infer_args(infer) else {
            return;
        };
        let inferred = match inferred {
            Ok(types) => types,
            Err(reason) => {
                let view = body.view(self.ctx, op);
                errors.extend(view.with_infer_args(|args| does_not_fit(args, infer, &reason, body.op_span(op))));
                return;
            }
        };
        let written = body.results(op).map(|r| body.value_type(r));
        if inferred.len() != written.len() {
            let message = format!(
                "`{}` has {} result{} with these operands, not {}",
                def.name,
                inferred.len(),
                plural(inferred.len()),
                written.len()
            );
            errors.push(
                self.error(op, "result-count", message, "wrong number of results")
                    .help(format!("{}: {}", def.name, def.summary)),
            );
            return;
        }
        for (at, (&wanted, ty)) in inferred.iter().zip(written).enumerate() {
            if compatible(self.ctx, wanted, ty) {
                continue;
            }
            let which = match def.results.get(at) {
                Some(spec) => format!("the result `{}`", spec.name),
                None => format!("result {at}"),
            };
            let (wanted, ty) = (describe_type(self.ctx, wanted), describe_type(self.ctx, ty));
            let span = body.op_span(op);
            errors.push(
                Diagnostic::error(
                    "result-type",
                    format!("{which} of `{}` is written as {ty}, but is {wanted}", def.name),
                )
                .label_part(
                    span,
                    Part::ResultType(at),
                    format!("{wanted} follows from the operands and attributes"),
                )
                .help(format!("write {wanted}, or omit the type"))
                .edit_part(span, Part::ResultType(at), wanted),
            );
        }
    }
}
