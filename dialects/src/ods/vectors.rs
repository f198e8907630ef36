//! `vector`.

use pir_ir::text::{OdsPrinter, OdsReader, Unreadable};
use pir_ir::{Attr, AttrData, Context, OdsHook, Type, TypeData};

use super::common::{Read, shaped};

/// `{…} : memref<4xf32>, vector<4xf32>`, in the order of the operands.
pub(super) const TRANSFER: OdsHook = OdsHook {
    name: "Transfer",
    read: transfer,
    print: print_transfer,
};

/// The results of a map, each the number of a dimension, or nothing for a constant.
fn map_results(ctx: &Context, map: Attr) -> Option<(usize, Vec<Option<usize>>)> {
    let AttrData::Opaque(text) = ctx.attr_data(map) else {
        return None;
    };
    let inside = text.strip_prefix("affine_map<")?.trim_end_matches('>');
    let (dims, results) = inside.split_once("->")?;
    let list = |text: &str| {
        let text = text.trim().trim_start_matches('(');
        let text = text.split(')').next().unwrap_or_default();
        let items = text.split(',').map(|item| item.trim().to_owned());
        items.filter(|item| !item.is_empty()).collect::<Vec<_>>()
    };
    let (dims, results) = (list(dims), list(results));
    let place = |item: &String| dims.iter().position(|dim| dim == item);
    Some((dims.len(), results.iter().map(place).collect()))
}

/// `(d0, d1, d2) -> (d1, d2)`.
fn minor_identity(rank: usize, results: usize) -> String {
    let dims: Vec<String> = (0..rank).map(|at| format!("d{at}")).collect();
    let last = &dims[rank.saturating_sub(results)..];
    format!("affine_map<({}) -> ({})>", dims.join(", "), last.join(", "))
}

/// How many dimensions the memory and the vector have, without those of its elements.
fn ranks(ctx: &Context, memory: Type, vector: Type) -> Option<(usize, usize)> {
    let (shape, elem) = shaped(ctx, memory)?;
    let inner = match ctx.type_data(elem) {
        TypeData::Vector { shape, .. } => shape.len(),
        _ => 0,
    };
    let (vector, _) = shaped(ctx, vector)?;
    Some((shape.len(), vector.len().saturating_sub(inner)))
}

fn default_map(ctx: &Context, memory: Type, vector: Type) -> Option<String> {
    let (rank, results) = ranks(ctx, memory, vector)?;
    let single = shaped(ctx, vector).is_some_and(|(shape, _)| shape == [1]);
    Some(match rank {
        0 if single => "affine_map<() -> (0)>".to_owned(),
        _ => minor_identity(rank, results),
    })
}

fn transfer(r: &mut dyn OdsReader<'_>) -> Read {
    r.dict()?;
    r.expect(":")?;
    let first = r.ty()?;
    r.expect(",")?;
    let second = r.ty()?;
    let reads = r.has_operand("padding");
    let (memory, vector) = if reads { (first, second) } else { (second, first) };
    r.set_types("source", &[memory]);
    r.set_types("vector", &[vector]);
    let elem = shaped(r.ctx(), memory).map(|(_, elem)| elem);
    if let Some(elem) = elem.filter(|_| reads) {
        r.set_types("padding", &[elem]);
    }
    if !reads {
        let is_tensor = matches!(
            r.ctx().type_data(memory),
            TypeData::Tensor { .. } | TypeData::EncodedTensor { .. }
        );
        r.set_types("result", if is_tensor { std::slice::from_ref(&memory) } else { &[] });
    }
    if r.get_attr("permutation_map").is_none() {
        let Some(map) = default_map(r.ctx(), memory, vector) else {
            return Err(r.expected("a memref or tensor, and a vector, before"));
        };
        r.set("permutation_map", &map)?;
    }
    let map = r.get_attr("permutation_map");
    let Some((_, results)) = map.and_then(|map| map_results(r.ctx(), map)) else {
        return Err(r.expected("a permutation map before"));
    };
    if r.get_attr("in_bounds").is_none() {
        let falses = vec!["false"; results.len()].join(", ");
        r.set("in_bounds", &format!("[{falses}]"))?;
    }
    if !r.values("mask").is_empty() {
        let mask = mask_type(r.ctx(), vector, &results);
        r.set_types("mask", mask.as_slice());
    }
    Ok(())
}

/// The type of the mask: what the vector has for each dimension of the memory, in its order.
fn mask_type(ctx: &Context, vector: Type, results: &[Option<usize>]) -> Option<Type> {
    let TypeData::Vector { shape, scalable, .. } = ctx.type_data(vector) else {
        return None;
    };
    let mut used: Vec<(usize, usize)> = results
        .iter()
        .enumerate()
        .filter_map(|(at, dim)| Some(((*dim)?, at)))
        .collect();
    used.sort_unstable();
    let dims = |at: &(usize, usize)| Some((*shape.get(at.1)?, *scalable.get(at.1)?));
    let (shape, scalable): (Vec<i64>, Vec<bool>) = used.iter().filter_map(dims).unzip();
    let (shape, scalable) = match shape.is_empty() {
        true => (vec![1], vec![false]),
        false => (shape, scalable),
    };
    Some(ctx.intern_type(TypeData::Vector {
        shape: shape.into(),
        scalable: scalable.into(),
        elem: Type::I1,
    }))
}

fn print_transfer(p: &mut dyn OdsPrinter<'_>) {
    let types = |name| p.types_of(&p.values(name));
    let (memory, vector) = (types("source"), types("vector"));
    let reads = !p.values("padding").is_empty();
    let (Some(&memory), Some(&vector)) = (memory.first(), vector.first()) else {
        return;
    };
    let is_default = |map: Attr| match p.ctx().attr_data(map) {
        AttrData::Opaque(text) => default_map(p.ctx(), memory, vector).is_some_and(|default| **text == *default),
        _ => false,
    };
    let mut shown = Vec::new();
    let all_false = |attr: Attr| match p.ctx().attr_data(attr) {
        AttrData::Array(items) => items
            .iter()
            .all(|&item| *p.ctx().attr_data(item) == AttrData::Bool(false)),
        AttrData::Ints(items) => items.is_empty(),
        _ => false,
    };
    if p.get_attr("in_bounds").is_some_and(|attr| !all_false(attr)) {
        shown.push("in_bounds");
    }
    if p.get_attr("permutation_map").is_some_and(|map| !is_default(map)) {
        shown.push("permutation_map");
    }
    p.dict_with(&shown);
    p.text(" : ");
    let types = if reads { [memory, vector] } else { [vector, memory] };
    p.types(&types);
}

/// `{indexing_maps = …} %a, %b, %c : T, U into V`.
pub(super) const CONTRACT: OdsHook = OdsHook {
    name: "Contract",
    read: |r| {
        if r.is_next('#') {
            r.trait_dict()?;
        } else {
            r.dict()?;
        }
        iterator_types(r, "vector")?;
        r.operand("lhs")?;
        r.expect(",")?;
        r.operand("rhs")?;
        r.expect(",")?;
        r.operand("acc")?;
        r.dict()?;
        r.expect(":")?;
        let lhs = r.ty()?;
        r.expect(",")?;
        let rhs = r.ty()?;
        r.expect("into")?;
        let acc = r.ty()?;
        r.set_types("lhs", &[lhs]);
        r.set_types("rhs", &[rhs]);
        r.set_types("acc", &[acc]);
        r.set_types("result", &[acc]);
        Ok(())
    },
    print: |p| {
        p.text("{indexing_maps = ");
        if let Some(maps) = p.get_attr("indexing_maps") {
            p.any(maps);
        }
        p.text(", iterator_types = ");
        print_iterator_types(p);
        if let Some(kind) = p.get_attr("kind") {
            p.text(", kind = ");
            p.any(kind);
        }
        p.text("} ");
        for (before, name) in [("", "lhs"), (", ", "rhs"), (", ", "acc")] {
            p.text(before);
            let values = p.values(name);
            p.values_list(&values);
        }
        p.dict();
        for (before, name) in [(" : ", "lhs"), (", ", "rhs"), (" into ", "acc")] {
            p.text(before);
            let types = p.types_of(&p.values(name));
            p.types(&types);
        }
    },
};

/// Makes attributes of the strings in `iterator_types`.
pub(super) fn iterator_types(r: &mut dyn OdsReader<'_>, dialect: &str) -> Result<(), Unreadable> {
    let items: Vec<Attr> = match r.get_attr("iterator_types").map(|attr| r.ctx().attr_data(attr).clone()) {
        Some(AttrData::Array(items)) => items.to_vec(),
        _ => return Ok(()),
    };
    let word = |item: &Attr| match r.ctx().attr_data(*item) {
        AttrData::Str(word) => format!("#{dialect}.iterator_type<{word}>"),
        AttrData::Opaque(text) => text.to_string(),
        _ => String::new(),
    };
    let words: Vec<String> = items.iter().map(word).collect();
    let array = r.composed(&format!("[{}]", words.join(", ")))?;
    r.replace_attr("iterator_types", array);
    Ok(())
}

/// Prints `iterator_types` as strings.
pub(super) fn print_iterator_types(p: &mut dyn OdsPrinter<'_>) {
    let items = match p.get_attr("iterator_types").map(|attr| p.ctx().attr_data(attr)) {
        Some(AttrData::Array(items)) => &**items,
        _ => &[],
    };
    p.text("[");
    for (at, &item) in items.iter().enumerate() {
        if at > 0 {
            p.text(", ");
        }
        if let AttrData::Opaque(text) = p.ctx().attr_data(item) {
            let word = text.split_once('<').map_or("", |text| text.1).trim_end_matches('>');
            p.string(word);
        }
    }
    p.text("]");
}

/// `%a, %b, %c {kind = …} : T, U`.
pub(super) const OUTER_PRODUCT: OdsHook = OdsHook {
    name: "OuterProduct",
    read: |r| {
        r.operand("lhs")?;
        r.expect(",")?;
        r.operand("rhs")?;
        let acc = r.eat(",");
        if acc {
            r.operand("acc")?;
        }
        r.dict()?;
        r.expect(":")?;
        let lhs = r.ty()?;
        r.expect(",")?;
        let rhs = r.ty()?;
        let result = match (r.ctx().type_data(lhs), r.ctx().type_data(rhs)) {
            (
                TypeData::Vector { shape, scalable, elem },
                TypeData::Vector {
                    shape: other,
                    scalable: others,
                    ..
                },
            ) => r.ctx().intern_type(TypeData::Vector {
                shape: shape.iter().chain(other).copied().collect(),
                scalable: scalable.iter().chain(others).copied().collect(),
                elem: *elem,
            }),
            _ => lhs,
        };
        r.set_types("lhs", &[lhs]);
        r.set_types("rhs", &[rhs]);
        r.set_types("acc", if acc { std::slice::from_ref(&result) } else { &[] });
        r.set_types("result", &[result]);
        Ok(())
    },
    print: |p| {
        let (lhs, rhs, acc) = (p.values("lhs"), p.values("rhs"), p.values("acc"));
        p.values_list(&lhs);
        p.text(", ");
        p.values_list(&rhs);
        if !acc.is_empty() {
            p.text(", ");
            p.values_list(&acc);
            p.dict_with(&["kind"]);
        }
        p.text(" : ");
        let types = [p.types_of(&lhs), p.types_of(&rhs)].concat();
        p.types(&types);
    },
};

/// `%x : T`, `str "text"` or `punctuation <newline>`.
pub(super) const PRINT: OdsHook = OdsHook {
    name: "Print",
    read: |r| {
        if r.is_next('%') {
            r.operand("source")?;
            r.expect(":")?;
            let ty = r.ty()?;
            r.set_types("source", &[ty]);
        }
        loop {
            if r.eat("str") {
                r.attr("stringLiteral")?;
            } else if r.eat("punctuation") {
                r.attr("punctuation")?;
            } else {
                return Ok(());
            }
        }
    },
    print: |p| {
        let source = p.values("source");
        if !source.is_empty() {
            p.values_list(&source);
            p.text(" : ");
            let types = p.types_of(&source);
            p.types(&types);
        }
        let mut before = if source.is_empty() { "" } else { " " };
        if p.get_attr("stringLiteral").is_some() {
            p.text(before);
            p.text("str ");
            p.attr("stringLiteral");
            before = " ";
        }
        let newline = p.get_attr("punctuation").is_none_or(
            |attr| matches!(p.ctx().attr_data(attr), AttrData::Opaque(text) if text.ends_with("<newline>")),
        );
        if !newline {
            p.text(before);
            p.text("punctuation ");
            p.attr("punctuation");
        }
    },
};

/// `vector<2xf32>, vector<4xf32>`, which determine the result type.
pub(super) const SHUFFLE: OdsHook = OdsHook {
    name: "Shuffle",
    read: |r| {
        let (first, second) = {
            let first = r.ty()?;
            r.expect(",")?;
            (first, r.ty()?)
        };
        r.set_types("v1", &[first]);
        r.set_types("v2", &[second]);
        let count = match r.get_attr("mask").map(|mask| r.ctx().attr_data(mask)) {
            Some(AttrData::Ints(mask)) => mask.len(),
            _ => return Err(r.expected("a list of integers before")),
        };
        let TypeData::Vector { shape, elem, .. } = r.ctx().type_data(first) else {
            return Err(r.expected("vectors before"));
        };
        let mut shape = shape.to_vec();
        match shape.first_mut() {
            Some(first) => *first = count as i64,
            None => shape.push(count as i64),
        }
        let result = r.ctx().intern_type(TypeData::Vector {
            scalable: vec![false; shape.len()].into(),
            shape: shape.into(),
            elem: *elem,
        });
        r.set_types("vector", &[result]);
        Ok(())
    },
    print: |p| {
        let types = [p.types_of(&p.values("v1")), p.types_of(&p.values("v2"))].concat();
        p.types(&types);
    },
};

/// `(%lane)[32] args(%a : T) -> (U)`.
pub(super) const WARP: OdsHook = OdsHook {
    name: "Warp",
    read: |r| {
        r.expect("(")?;
        r.operand("laneid")?;
        r.expect(")")?;
        r.expect("[")?;
        r.attr("warp_size")?;
        r.expect("]")?;
        let mut types = Vec::new();
        if r.eat("args") {
            r.expect("(")?;
            r.operands("args")?;
            r.expect(":")?;
            types = r.types()?;
            r.expect(")")?;
        }
        r.set_types("args", &types);
        Ok(())
    },
    print: |p| {
        let (lane, args) = (p.values("laneid"), p.values("args"));
        p.text("(");
        p.values_list(&lane);
        p.text(")[");
        p.attr("warp_size");
        p.text("]");
        if !args.is_empty() {
            p.text(" args(");
            p.values_list(&args);
            p.text(" : ");
            let types = p.types_of(&args);
            p.types(&types);
            p.text(")");
        }
    },
};
