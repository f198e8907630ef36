//! Checks operations, types and attributes of a dialect of IRDL.
//!
//! Variables are bound as `mlir-opt` binds them: the first type or attribute that a variable is compared with, and that its
//! constraint admits, is what it represents from then on; of alternatives the first that fits is taken.

use std::ops::Range;
use std::sync::Arc;

use pir_ir::text::{parse_attr, print_attr};
use pir_ir::verify::verify_constraints;
use pir_ir::{Arity, Attr, Constraints, Context, Diagnostic, OpView, nearest};

use super::base::{is_of, kind, parameters};
use super::{Constraint, Declared, Definition, Dialect, SEGMENTS, lists};

/// How many constraints are evaluated for one operation or type: nested alternatives may double the number each time.
const MAX_STEPS: usize = 100_000;
/// How deeply types may be parameters of types.
const MAX_DEPTH: usize = 64;

/// A mismatch of a type or an attribute.
struct Mismatch {
    expected: String,
    /// Where that is declared.
    place: String,
    /// The part that it was compared with, if it is not the whole.
    found: Attr,
}

struct Checker<'a> {
    ctx: &'a Context,
    shared: &'a Arc<Context>,
    definition: &'a Definition,
    bound: Vec<Option<Attr>>,
    steps: usize,
}

impl<'a> Checker<'a> {
    fn new(ctx: &'a Context, shared: &'a Arc<Context>, definition: &'a Definition) -> Self {
        let bound = vec![None; definition.vars.len()];
        let steps = MAX_STEPS;
        Checker {
            ctx,
            shared,
            definition,
            bound,
            steps,
        }
    }

    /// Whether a variable may represent a type or an attribute, which it then does.
    fn verify(&mut self, var: usize, value: Attr) -> Result<(), Mismatch> {
        let variable = &self.definition.vars[var];
        let mismatch = |expected: String| Mismatch {
            expected,
            place: variable.place.clone(),
            found: value,
        };
        if let Some(bound) = self.bound[var] {
            return match bound == value {
                true => Ok(()),
                false => Err(mismatch(format!(
                    "`{}`, as in its first use",
                    print_attr(self.ctx, bound)
                ))),
            };
        }
        self.steps = match self.steps.checked_sub(1) {
            Some(left) => left,
            None => return Err(mismatch("what is found in fewer steps".to_owned())),
        };
        let expected = || mismatch(self.definition.described(var));
        match &variable.constraint {
            Constraint::Any => {}
            Constraint::Is(text) if print_attr(self.ctx, value) == *text => {}
            Constraint::Base(base) if is_of(self.ctx, value, base) => {}
            Constraint::Is(_) | Constraint::Base(_) => return Err(expected()),
            Constraint::AnyOf(vars) => {
                let mut vars = vars.iter();
                if !stacker::maybe_grow(32 * 1024, 1 << 20, || vars.any(|&var| self.verify(var, value).is_ok())) {
                    return Err(mismatch(self.definition.described(var)));
                }
            }
            Constraint::AllOf(vars) => {
                for &var in vars {
                    stacker::maybe_grow(32 * 1024, 1 << 20, || self.verify(var, value))?;
                }
            }
            Constraint::Parametric(base, vars) => {
                let parts = parameters(self.ctx, value, base).ok_or_else(expected)?;
                if parts.len() != vars.len() {
                    return Err(expected());
                }
                let parts: Option<Vec<Attr>> = parts.iter().map(|part| parse_attr(self.shared, part).ok()).collect();
                let parts = parts.ok_or_else(expected)?;
                for (&var, part) in vars.iter().zip(parts) {
                    stacker::maybe_grow(32 * 1024, 1 << 20, || self.verify(var, part))?;
                }
            }
        }
        self.bound[var] = Some(value);
        Ok(())
    }
}

impl Definition {
    /// A description of a variable.
    pub(super) fn described(&self, var: usize) -> String {
        self.described_to(var, 4)
    }

    fn described_to(&self, var: usize, depth: usize) -> String {
        let all = |vars: &[usize], word: &str| -> String {
            let parts: Vec<String> = vars.iter().map(|&var| self.described_to(var, depth - 1)).collect();
            parts.join(word)
        };
        match &self.vars[var].constraint {
            Constraint::Any => "anything".to_owned(),
            Constraint::Is(text) => format!("`{text}`"),
            Constraint::Base(base) => format!("a `{base}`"),
            _ if depth == 0 => "…".to_owned(),
            Constraint::AnyOf(vars) => all(vars, " or "),
            Constraint::AllOf(vars) => all(vars, " and "),
            Constraint::Parametric(base, vars) if vars.is_empty() => format!("`{base}`"),
            Constraint::Parametric(base, vars) => format!("`{base}` of {}", all(vars, ", ")),
        }
    }
}

impl Constraints for Dialect {
    fn verify_op(&self, op: OpView<'_>, errors: &mut Vec<Diagnostic>) {
        let name = op.name().split_once('.').map_or("", |(_, name)| name);
        let (Some(definition), Some(shared)) = (self.get(name), op.ctx.shared()) else {
            return;
        };
        let mut check = Checker::new(op.ctx, &shared, definition);
        if let Err(error) = verify_op(op, definition, &mut check) {
            errors.push(*error);
        }
    }

    fn verify_value(&self, ctx: &Context, value: Attr) -> Result<(), String> {
        let text = print_attr(ctx, value);
        let (Some(shared), Some(kind)) = (ctx.shared(), kind(ctx, value)) else {
            return Ok(());
        };
        let name = kind.replacen(&format!("{}.", self.name), "", 1);
        let noun = if kind.starts_with('!') { "type" } else { "attribute" };
        let Some(definition) = self.get(&name) else {
            let known = self.definitions.iter().map(|(name, _)| name.as_str());
            let near = nearest(&name, known.filter(|known| known.starts_with(&name[..1])));
            let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            return Err(format!("the dialect `{}` has no {noun} `{name}`{near}", self.name));
        };
        if nesting(&text) > MAX_DEPTH {
            return Err(format!("a {noun} is nested more than {MAX_DEPTH} deep"));
        }
        let parts = parameters(ctx, value, &kind).unwrap_or_default();
        let wanted = &definition.parameters;
        if parts.len() != wanted.len() {
            return Err(format!(
                "`{kind}` has {} parameters, not {}: `{text}`",
                wanted.len(),
                parts.len()
            ));
        }
        let mut check = Checker::new(ctx, &shared, definition);
        for (at, (part, &var)) in parts.into_iter().zip(wanted).enumerate() {
            let part =
                parse_attr(&shared, &part).map_err(|error| format!("parameter {at} of `{text}`: {}", error.message))?;
            check.verify(var, part).map_err(|why| {
                format!(
                    "parameter {at} of `{text}` must be {}, as {} requires",
                    why.expected, why.place
                )
            })?;
            verify_constraints(ctx, part)?;
        }
        Ok(())
    }
}

type Verified = Result<(), Box<Diagnostic>>;

fn fault(op: OpView<'_>, message: String) -> Box<Diagnostic> {
    Box::new(Diagnostic::error("constraint", message).label(op.body.op_span(op.op), "this operation"))
}

fn mismatched(op: OpView<'_>, what: &str, value: Attr, mismatch: &Mismatch) -> Box<Diagnostic> {
    let part = match mismatch.found == value {
        true => String::new(),
        false => format!(" with `{}`", print_attr(op.ctx, mismatch.found)),
    };
    let message = format!(
        "{what} of `{}` must be {}, not `{}`{part}",
        op.name(),
        mismatch.expected,
        print_attr(op.ctx, value)
    );
    Box::new(fault(op, message).note(format!("required by {}", mismatch.place)))
}

fn verify_op(op: OpView<'_>, definition: &Definition, check: &mut Checker<'_>) -> Verified {
    let type_attr = |value| op.ctx.type_attr(op.body.value_type(value));
    let operands: Vec<Attr> = op.body.operands(op.op).map(type_attr).collect();
    let results: Vec<Attr> = op.body.results(op.op).map(type_attr).collect();
    let declared = [
        (&definition.operands, operands, "operand"),
        (&definition.results, results, "result"),
    ];
    for ((declared, values, word), segments) in declared.into_iter().zip(SEGMENTS) {
        let ranges = segment_ranges(op, declared, values.len(), segments)?;
        for (&(var, _), range) in declared.iter().zip(ranges) {
            for at in range {
                let verified = check.verify(var, values[at]);
                verified.map_err(|why| mismatched(op, &format!("{word} {at}"), values[at], &why))?;
            }
        }
    }
    for (name, var) in &definition.attributes {
        let Some(value) = op.attr(name) else { continue };
        let verified = check.verify(*var, value);
        verified.map_err(|why| mismatched(op, &format!("the attribute `{name}`"), value, &why))?;
    }
    for (at, (declared, &region)) in definition.regions.iter().zip(op.body.op_regions(op.op)).enumerate() {
        let wrong = |what: String| {
            let message = format!("region {at} of `{}` must have {what}", op.name());
            Box::new(fault(op, message).note(format!("required by {}", declared.place)))
        };
        let blocks = op.body.region_blocks(region);
        if let Some(count) = declared
            .blocks
            .filter(|&count| usize::try_from(count) != Ok(blocks.len()))
        {
            return Err(wrong(format!("{count} blocks, not {}", blocks.len())));
        }
        let Some(wanted) = &declared.args else { continue };
        let args = blocks.first().map_or(&[][..], |&block| op.body.block_args(block));
        if args.len() != wanted.len() {
            return Err(wrong(format!("{} arguments, not {}", wanted.len(), args.len())));
        }
        for (index, (&var, &arg)) in wanted.iter().zip(args).enumerate() {
            let (value, what) = (type_attr(arg), format!("argument {index} of region {at}"));
            let verified = check.verify(var, value);
            verified.map_err(|why| mismatched(op, &what, value, &why))?;
        }
    }
    Ok(())
}

/// Which values are those of each declaration.
fn segment_ranges(
    op: OpView<'_>,
    declared: &[Declared],
    count: usize,
    segments: &str,
) -> Result<Vec<Range<usize>>, Box<Diagnostic>> {
    let sizes: Vec<usize> = match lists(declared) {
        0 | 1 => {
            let rest = (count + 1).saturating_sub(declared.len());
            declared
                .iter()
                .map(|&(_, arity)| if arity == Arity::One { 1 } else { rest })
                .collect()
        }
        _ => {
            let sizes = op.attr(segments).and_then(|attr| sizes(op.ctx, attr));
            let sizes = sizes.ok_or_else(|| {
                let message = format!("`{segments}` of `{}` must be an array of sizes", op.name());
                Box::new(fault(op, message).help(format!(
                    "write `{segments} = array<i32: 1, …>`, a size for each of {}",
                    declared.len()
                )))
            })?;
            let fits = |(&size, &(_, arity)): (&usize, &Declared)| match arity {
                Arity::One => size == 1,
                Arity::Optional => size <= 1,
                Arity::Variadic => true,
            };
            let right = sizes.len() == declared.len() && sizes.iter().zip(declared).all(fits);
            // The sum cannot overflow: there are at most as many sizes as declarations, and each has 32 bits.
            if !right || sizes.iter().sum::<usize>() != count {
                let message = format!(
                    "`{segments}` of `{}` does not match its declaration, or its {count} values",
                    op.name()
                );
                let spelled = declared.iter().map(|&(_, arity)| match arity {
                    Arity::One => "1",
                    Arity::Optional => "0 or 1",
                    Arity::Variadic => "any number",
                });
                let spelled: Vec<&str> = spelled.collect();
                return Err(Box::new(
                    fault(op, message).help(format!("the sizes are {}", spelled.join(", "))),
                ));
            }
            sizes
        }
    };
    let mut from = 0;
    let range = |size: usize| {
        let start = from;
        from += size;
        start.min(count)..from.min(count)
    };
    Ok(sizes.into_iter().map(range).collect())
}

fn sizes(ctx: &Context, attr: Attr) -> Option<Vec<usize>> {
    let text = print_attr(ctx, attr);
    let list = text
        .strip_prefix("array<i32")?
        .strip_suffix('>')?
        .trim_start_matches(':')
        .trim();
    if list.is_empty() {
        return Some(Vec::new());
    }
    list.split(',')
        .map(|size| size.trim().parse::<u32>().ok().map(|size| size as usize))
        .collect()
}

/// How deeply brackets are nested.
fn nesting(text: &str) -> usize {
    let (mut depth, mut most) = (0usize, 0);
    for c in text.chars() {
        match c {
            '<' | '(' | '[' | '{' => depth += 1,
            '>' | ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        most = most.max(depth);
    }
    most
}
