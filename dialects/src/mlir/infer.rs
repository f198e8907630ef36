//! Types of results, which operands and attributes determine.

use pir_ir::text::print_type;
use pir_ir::{AttrData, Context, InferArgs, Type};
use smallvec::{SmallVec, smallvec};

use super::types::{element, int_width, with_element};

type Types = Result<SmallVec<[Type; 2]>, String>;

/// The type of all operands, whose elements are of a kind.
fn common(args: &InferArgs<'_>, is_of: fn(&Context, Type) -> bool, kind: &str) -> Result<Type, String> {
    let first = args.operand_type(0).ok_or("an operand is missing")?;
    let types = (0..args.operands.len()).filter_map(|index| args.operand_type(index));
    if let Some(other) = types.into_iter().find(|&ty| ty != first) {
        return Err(format!(
            "expected operands of one type, found `{}` and `{}`",
            print_type(args.ctx, first),
            print_type(args.ctx, other)
        ));
    }
    match is_of(args.ctx, element(args.ctx, first)) {
        true => Ok(first),
        false => Err(format!("expected {kind}, found `{}`", print_type(args.ctx, first))),
    }
}

fn ints(args: &InferArgs<'_>) -> Result<Type, String> {
    let is_int = |ctx: &Context, elem| int_width(ctx, elem).is_some();
    common(args, is_int, "signless integers, or index")
}

fn floats(args: &InferArgs<'_>) -> Result<Type, String> {
    let is_float = |ctx: &Context, elem: Type| elem.float_kind(ctx).is_some();
    common(args, is_float, "floating-point numbers")
}

fn index(args: &InferArgs<'_>) -> Result<Type, String> {
    common(args, |_, elem| elem == Type::INDEX, "index").and_then(|ty| match ty {
        Type::INDEX => Ok(ty),
        _ => Err("expected index, found a vector or a tensor".to_owned()),
    })
}

pub(super) fn same_ints(args: InferArgs<'_>) -> Types {
    Ok(smallvec![ints(&args)?])
}

pub(super) fn same_floats(args: InferArgs<'_>) -> Types {
    Ok(smallvec![floats(&args)?])
}

pub(super) fn same_index(args: InferArgs<'_>) -> Types {
    Ok(smallvec![index(&args)?])
}

/// A base and an exponent that is an integer, of one shape.
pub(super) fn float_power(args: InferArgs<'_>) -> Types {
    let part = |at: usize| InferArgs {
        operands: &args.operands[at..=at],
        ..args
    };
    if args.operands.len() != 2 {
        return Err("expected two operands".to_owned());
    }
    let (base, exponent) = (floats(&part(0))?, ints(&part(1))?);
    match with_element(args.ctx, exponent, element(args.ctx, base)) == base {
        true => Ok(smallvec![base]),
        false => Err("the base and the exponent must have the same shape".to_owned()),
    }
}

/// The number of a relation below a bound.
fn relation(args: &InferArgs<'_>, bound: i64) -> Result<(), String> {
    let number = args.attr("predicate").and_then(|attr| args.ctx.attr_int(attr));
    match number.is_some_and(|number| (0..bound).contains(&number)) {
        true => Ok(()),
        false => Err(format!("`predicate` must be a number from 0 to {}", bound - 1)),
    }
}

pub(super) fn compare_ints(args: InferArgs<'_>) -> Types {
    relation(&args, 10)?;
    Ok(smallvec![with_element(args.ctx, ints(&args)?, Type::I1)])
}

pub(super) fn compare_floats(args: InferArgs<'_>) -> Types {
    relation(&args, 16)?;
    Ok(smallvec![with_element(args.ctx, floats(&args)?, Type::I1)])
}

/// The relations of `index.cmp`, as they are written.
pub(crate) const INDEX_RELATIONS: [&str; 10] = ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"];

/// The word of `#index<cmp_predicate WORD>`.
pub(crate) fn index_relation(ctx: &Context, attr: pir_ir::Attr) -> Option<&'static str> {
    let AttrData::Opaque(text) = ctx.attr_data(attr) else {
        return None;
    };
    let word = text.trim_end_matches([')', '>']).rsplit([' ', '<', '(']).next()?;
    INDEX_RELATIONS.into_iter().find(|relation| *relation == word)
}

pub(super) fn compare_index(args: InferArgs<'_>) -> Types {
    index(&args)?;
    match args.attr("pred").and_then(|attr| index_relation(args.ctx, attr)) {
        Some(_) => Ok(smallvec![Type::I1]),
        None => Err("`pred` must be `#index<cmp_predicate …>`".to_owned()),
    }
}

/// A condition, which is one for all or one for each element, and two values of one type.
pub(super) fn select(args: InferArgs<'_>) -> Types {
    let (Some(condition), Some(ty), Some(other)) = (args.operand_type(0), args.operand_type(1), args.operand_type(2))
    else {
        return Err("expected three operands".to_owned());
    };
    if ty != other {
        return Err("both values must have the same type".to_owned());
    }
    if condition != Type::I1 && condition != with_element(args.ctx, ty, Type::I1) {
        return Err(format!(
            "the condition must be `i1`, or have element type `i1` and the shape of the values, found `{}`",
            print_type(args.ctx, condition)
        ));
    }
    Ok(smallvec![ty])
}

pub(super) fn index_constant(args: InferArgs<'_>) -> Types {
    match args.attr("value").map(|attr| args.ctx.attr_data(attr)) {
        Some(AttrData::Int { .. }) => Ok(smallvec![Type::INDEX]),
        _ => Err("`value` must be an integer".to_owned()),
    }
}

pub(super) fn bool_constant(args: InferArgs<'_>) -> Types {
    match args.attr("value").map(|attr| args.ctx.attr_data(attr)) {
        Some(AttrData::Bool(_)) => Ok(smallvec![Type::I1]),
        _ => Err("`value` must be `true` or `false`".to_owned()),
    }
}

pub(super) fn sizeof(_: InferArgs<'_>) -> Types {
    Ok(smallvec![Type::INDEX])
}

pub(super) fn add_extended(args: InferArgs<'_>) -> Types {
    let ty = ints(&args)?;
    Ok(smallvec![ty, with_element(args.ctx, ty, Type::I1)])
}

pub(super) fn mul_extended(args: InferArgs<'_>) -> Types {
    let ty = ints(&args)?;
    Ok(smallvec![ty, ty])
}
