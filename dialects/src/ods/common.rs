//! Formats that several dialects share.

use pir_ir::text::{OdsPrinter, OdsReader, Unreadable};
use pir_ir::{AttrData, OdsHook, Type, TypeData};

use crate::mlir::OPERAND;

pub(super) type Read = Result<(), Unreadable>;

/// `[4, %n, 2]`: numbers in an array, and values in an operand, for which the array has a sign.
pub(super) const INDEX_LIST: OdsHook = OdsHook {
    name: "DynamicIndexList",
    read: |r| {
        let (values, array) = (r.arg(0), r.arg(1));
        let list = index_list(r, values, "[", "]")?;
        r.set_array(array, "i64", &list)
    },
    print: |p| {
        let (values, list) = (p.values(p.arg(0)), p.ints(p.arg(1)));
        p.text("[");
        print_index_list(p, &values, &list);
        p.text("]");
    },
};

/// Reads `[4, %n]`, in whatever brackets.
pub(super) fn index_list(
    r: &mut dyn OdsReader<'_>,
    values: &str,
    open: &str,
    close: &str,
) -> Result<Vec<i64>, Unreadable> {
    let mut list = Vec::new();
    r.expect(open)?;
    if r.eat(close) {
        return Ok(list);
    }
    loop {
        if r.is_next('%') {
            r.operand(values)?;
            list.push(OPERAND);
        } else {
            list.push(r.int()?);
        }
        if r.eat(close) {
            return Ok(list);
        }
        r.expect(",")?;
    }
}

/// Prints `4, %n`.
pub(super) fn print_index_list(p: &mut dyn OdsPrinter<'_>, values: &[pir_ir::ValueId], list: &[i64]) {
    let mut values = values.iter();
    for (at, &number) in list.iter().enumerate() {
        if at > 0 {
            p.text(", ");
        }
        match values.as_slice() {
            [value, ..] if number == OPERAND => {
                p.value(*value);
                values.next();
            }
            _ => p.int(number),
        }
    }
}

/// `%c, %a, %b`.
pub(super) const SELECT: OdsHook = OdsHook {
    name: "Select",
    read: |r| {
        r.operand("condition")?;
        r.expect(",")?;
        r.operand("true_value")?;
        r.expect(",")?;
        r.operand("false_value").map(|_| ())
    },
    print: |p| {
        for (at, name) in ["condition", "true_value", "false_value"].into_iter().enumerate() {
            if at > 0 {
                p.text(", ");
            }
            let values = p.values(name);
            p.values_list(&values);
        }
    },
};

/// `tensor<4xi1>, tensor<4xf32>`, the first only if it is not a truth value.
pub(super) const SELECT_TYPES: OdsHook = OdsHook {
    name: "SelectTypes",
    read: |r| {
        let first = r.ty()?;
        if r.eat(",") {
            let second = r.ty()?;
            r.set_types("condition", &[first]);
            r.set_types("result", &[second]);
        } else {
            r.set_types("condition", &[Type::I1]);
            r.set_types("result", &[first]);
        }
        Ok(())
    },
    print: |p| {
        let condition = p.types_of(&p.values("condition"));
        if condition.first() != Some(&Type::I1) {
            p.types(&condition);
            p.text(", ");
        }
        let types = p.result_types();
        p.types(&types);
    },
};

/// The number of a case in front of its region.
pub(super) const CASE: OdsHook = OdsHook {
    name: "Case",
    read: |r| {
        let value = r.int()?;
        r.ints().push(value);
        Ok(())
    },
    print: |p| {
        if let Some(case) = p.int_at("cases", p.repetition()) {
            p.int(case);
        }
    },
};

/// Nothing: the numbers of all cases, after the last of them.
pub(super) const ALL_CASES: OdsHook = OdsHook {
    name: "AllCases",
    read: |r| {
        let all = std::mem::take(r.ints());
        if !all.is_empty() {
            let text = all.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
            let array = r.composed(&format!("array<i64: {text}>"))?;
            r.replace_attr("cases", array);
        }
        Ok(())
    },
    print: |_| {},
};

/// Nothing: there may be no cases at all.
pub(super) const NO_CASES: OdsHook = OdsHook {
    name: "NoCases",
    read: |r| {
        let array = r.composed("array<i64>")?;
        r.replace_attr("cases", array);
        Ok(())
    },
    print: |_| {},
};

/// `default: ^a(%x : T), 3: ^b]`.
pub(super) const SWITCH_CASES: OdsHook = OdsHook {
    name: "SwitchCases",
    read: switch_cases,
    print: print_switch_cases,
};

/// `^a(%x, %y : T, U)`; gives how many values are passed.
fn destination(r: &mut dyn OdsReader<'_>, values: &str, types: &mut Vec<Type>) -> Result<i64, Unreadable> {
    r.successor()?;
    if !r.eat("(") {
        return Ok(0);
    }
    let before = r.values(values).len();
    r.operands(values)?;
    r.expect(":")?;
    types.extend(r.types()?);
    r.expect(")")?;
    Ok((r.values(values).len() - before) as i64)
}

fn switch_cases(r: &mut dyn OdsReader<'_>) -> Read {
    r.expect("default")?;
    r.expect(":")?;
    let (mut default, mut types) = (Vec::new(), Vec::new());
    destination(r, "defaultOperands", &mut default)?;
    let (mut cases, mut counts) = (Vec::new(), Vec::new());
    while r.eat(",") {
        cases.push(r.int()?.to_string());
        r.expect(":")?;
        counts.push(destination(r, "caseOperands", &mut types)?);
    }
    r.expect("]")?;
    r.set_types("defaultOperands", &default);
    r.set_types("caseOperands", &types);
    r.set_array("case_operand_segments", "i32", &counts)?;
    if !cases.is_empty() {
        let flag = r.read_types("flag").first().copied().unwrap_or(Type::I32);
        let flag = pir_ir::text::print_type(r.ctx(), flag);
        let elements = if cases.iter().all(|case| *case == cases[0]) {
            cases[0].clone()
        } else {
            format!("[{}]", cases.join(", "))
        };
        r.set(
            "case_values",
            &format!("dense<{elements}> : vector<{}x{flag}>", cases.len()),
        )?;
    }
    Ok(())
}

fn print_switch_cases(p: &mut dyn OdsPrinter<'_>) {
    let default = p.values("defaultOperands");
    p.new_line(true);
    p.text("default: ");
    print_destination(p, 0, &default);
    let (cases, counts) = (p.ints("case_values"), p.ints("case_operand_segments"));
    let values = p.values("caseOperands");
    let mut start = 0;
    for (at, &case) in cases.iter().enumerate() {
        let count = counts.get(at).map_or(0, |&count| usize::try_from(count).unwrap_or(0));
        p.text(",");
        p.new_line(true);
        p.int(case);
        p.text(": ");
        print_destination(p, at + 1, values.get(start..start + count).unwrap_or_default());
        start += count;
    }
    p.new_line(false);
    p.text("]");
}

fn print_destination(p: &mut dyn OdsPrinter<'_>, at: usize, values: &[pir_ir::ValueId]) {
    p.successor(at);
    if !values.is_empty() {
        p.text("(");
        p.values_list(values);
        p.text(" : ");
        let types = p.types_of(values);
        p.types(&types);
        p.text(")");
    }
}

/// Whether a type is that of a tensor of known rank, and its element type and shape.
pub(super) fn shaped(ctx: &pir_ir::Context, ty: Type) -> Option<(Vec<i64>, Type)> {
    match ctx.type_data(ty) {
        TypeData::Tensor { shape, elem } | TypeData::EncodedTensor { shape, elem, .. } => Some((shape.to_vec(), *elem)),
        TypeData::MemRef {
            shape: Some(shape),
            elem,
            ..
        } => Some((shape.to_vec(), *elem)),
        TypeData::Vector { shape, elem, .. } => Some((shape.to_vec(), *elem)),
        _ => None,
    }
}

/// Whether an attribute is this truth value.
pub(super) fn is_bool(p: &dyn OdsPrinter<'_>, name: &str, value: bool) -> bool {
    p.get_attr(name)
        .is_some_and(|attr| *p.ctx().attr_data(attr) == AttrData::Bool(value))
}
