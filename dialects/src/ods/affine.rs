//! `affine` and `linalg.generic`.

use pir_ir::text::{OdsPrinter, OdsReader, Unreadable};
use pir_ir::{AttrData, OdsHook, Type, ValueId};

use super::common::Read;
use super::loops::{bind, iter_args, print_iter_args};

/// `#map(%a, %b)[%c]`: the map, and the values of its dimensions and symbols.
fn map_of(r: &mut dyn OdsReader<'_>, attr: &str, values: &str) -> Read {
    let map = r.value()?;
    r.set_attr(attr, map)?;
    dims_and_symbols(r, values)
}

/// `(%a, %b)[%c]`.
fn dims_and_symbols(r: &mut dyn OdsReader<'_>, values: &str) -> Read {
    r.expect("(")?;
    r.operands(values)?;
    r.expect(")")?;
    if r.eat("[") {
        r.operands(values)?;
        r.expect("]")?;
    }
    Ok(())
}

/// The text of a map, and how many dimensions it has.
fn map_text<'a>(p: &dyn OdsPrinter<'a>, attr: &str) -> Option<(&'a str, usize)> {
    let AttrData::Opaque(text) = p.ctx().attr_data(p.get_attr(attr)?) else {
        return None;
    };
    let dims = text.split_once('(')?.1.split_once(')')?.0;
    let count = if dims.trim().is_empty() {
        0
    } else {
        dims.split(',').count()
    };
    Some((text, count))
}

fn print_dims_and_symbols(p: &mut dyn OdsPrinter<'_>, dims: usize, values: &[ValueId]) {
    let dims = dims.min(values.len());
    p.text("(");
    p.values_list(&values[..dims]);
    p.text(")");
    if values.len() > dims {
        p.text("[");
        p.values_list(&values[dims..]);
        p.text("]");
    }
}

/// `affine_map<…>(%a)[%b]`.
pub(super) const MAP_OF: OdsHook = OdsHook {
    name: "MapOf",
    read: |r| {
        let values = r.only_operand();
        map_of(r, "map", values)
    },
    print: |p| {
        p.attr("map");
        let dims = map_text(p, "map").map_or(0, |map| map.1);
        let values = p.all_operands();
        print_dims_and_symbols(p, dims, &values);
    },
};

/// `[%i + 1, %j]`: expressions of values.
pub(super) const ACCESS: OdsHook = OdsHook {
    name: "Access",
    read: |r| {
        let map = r.expressions("indices", '[', false)?;
        r.set("map", &map)
    },
    print: |p| {
        let values = p.values("indices");
        p.text("[");
        print_expressions(p, "map", &values);
        p.text("]");
    },
};

/// The results of a map with values in place of the names.
fn print_expressions(p: &mut dyn OdsPrinter<'_>, attr: &str, values: &[ValueId]) {
    let Some((text, dims)) = map_text(p, attr) else { return };
    if let Some((head, results)) = text.split_once("->") {
        print_results(p, head, inside_of(results), dims, values);
    }
}

/// The results of a map, without the parentheses around them.
fn inside_of(results: &str) -> &str {
    let results = results.trim().trim_end_matches('>');
    let inside = results.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
    inside.unwrap_or(results)
}

fn print_results(p: &mut dyn OdsPrinter<'_>, head: &str, results: &str, dims: usize, values: &[ValueId]) {
    let names: Vec<&str> = head
        .trim_start_matches("affine_map<")
        .split(['(', ')', '[', ']', ',', ' '])
        .filter(|name| !name.is_empty())
        .collect();
    let is_inside = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut rest = results;
    while !rest.is_empty() {
        let end = rest.find(|c| !is_inside(c)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end.max(1));
        rest = behind;
        match names.iter().position(|name| *name == word) {
            Some(at) if at < values.len() => {
                if at >= dims {
                    p.text("symbol(");
                }
                p.value(values[at]);
                if at >= dims {
                    p.text(")");
                }
            }
            _ => p.text(word),
        }
    }
}

/// A bound of a loop: a number, a value, or a map.
fn bound(r: &mut dyn OdsReader<'_>, word: &str, attr: &str, values: &str) -> Read {
    r.eat(word);
    if r.is_next('%') {
        r.operand(values)?;
        return r.set(attr, "affine_map<()[s0] -> (s0)>");
    }
    if r.is_next('#') || r.starts_with("affine_map") {
        return map_of(r, attr, values);
    }
    let value = r.int()?;
    r.set(attr, &format!("affine_map<() -> ({value})>"))
}

fn print_bound(p: &mut dyn OdsPrinter<'_>, word: &str, attr: &str, values: &str) {
    let values = p.values(values);
    let Some((text, dims)) = map_text(p, attr) else { return };
    let results = text.split_once("->").map_or("", |text| text.1.trim());
    let results = results.trim_end_matches('>');
    let inside = results.trim_start_matches('(').trim_end_matches(')');
    if values.is_empty() && inside.parse::<i64>().is_ok() {
        p.text(inside);
    } else if text == "affine_map<()[s0] -> (s0)>" {
        p.values_list(&values);
    } else {
        if inside.contains(',') {
            p.text(word);
            p.text(" ");
        }
        p.attr(attr);
        print_dims_and_symbols(p, dims, &values);
    }
}

/// `%i = 0 to %n step 2 iter_args(%a = %b) -> (T)`.
pub(super) const FOR: OdsHook = OdsHook {
    name: "AffineFor",
    read: |r| {
        let counter = r.arg_name()?;
        r.expect("=")?;
        bound(r, "max", "lowerBoundMap", "lowerBoundOperands")?;
        r.expect("to")?;
        bound(r, "min", "upperBoundMap", "upperBoundOperands")?;
        let step = if r.eat("step") { r.int()? } else { 1 };
        r.set("step", &format!("{step} : index"))?;
        r.argument(counter, Type::INDEX)?;
        let (names, types) = iter_args(r, "inits")?;
        bind(r, &names, &types, "inits")?;
        r.set_types("results", &types);
        Ok(())
    },
    print: |p| {
        let args = p.region_args(0);
        let Some((&counter, args)) = args.split_first() else {
            return;
        };
        p.value(counter);
        p.text(" = ");
        print_bound(p, "max", "lowerBoundMap", "lowerBoundOperands");
        p.text(" to ");
        print_bound(p, "min", "upperBoundMap", "upperBoundOperands");
        if let Some(AttrData::Int { value, .. }) = p.get_attr("step").map(|step| p.ctx().attr_data(step))
            && *value != 1
        {
            p.text(" step ");
            p.int(*value as i64);
        }
        print_iter_args(p, args, "inits");
    },
};

/// The expressions in a list, which parentheses may be in.
fn expressions(list: &str) -> Vec<&str> {
    let (mut depth, mut start, mut all) = (0_usize, 0, Vec::new());
    for (at, sign) in list.bytes().enumerate() {
        match sign {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                all.push(list[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    all.push(list[start..].trim());
    all.retain(|one| !one.is_empty());
    all
}

/// `(%a + 1, min(%b, 10))`: bounds of nested loops, each of one or several expressions; all are results of one map.
fn parallel_bounds(r: &mut dyn OdsReader<'_>, word: &str, map: &str, groups: &str) -> Result<usize, Unreadable> {
    let text = r.expressions("mapOperands", '(', true)?;
    let Some((head, results)) = text.split_once("->") else {
        return Err(r.expected("bounds"));
    };
    let (mut flat, mut counts) = (Vec::new(), Vec::new());
    for bound in expressions(inside_of(results)) {
        let several = bound.strip_prefix(word).map(str::trim_start);
        let several = several.and_then(|text| text.strip_prefix('(')?.strip_suffix(')'));
        let bounds = several.map_or(vec![bound], expressions);
        counts.push(bounds.len().to_string());
        flat.extend(bounds);
    }
    r.set(map, &format!("{head}-> ({})>", flat.join(", ")))?;
    let list = match counts.as_slice() {
        [] => String::new(),
        [first, rest @ ..] if rest.iter().all(|count| count == first) => first.clone(),
        counts => format!("[{}]", counts.join(", ")),
    };
    r.set(groups, &format!("dense<{list}> : tensor<{}xi32>", counts.len()))?;
    Ok(counts.len())
}

fn print_parallel_bounds(p: &mut dyn OdsPrinter<'_>, word: &str, map: &str, groups: &str, values: &[ValueId]) {
    let Some((text, dims)) = map_text(p, map) else { return };
    let Some((head, results)) = text.split_once("->") else {
        return;
    };
    let results = expressions(inside_of(results));
    let mut rest = results.as_slice();
    for (at, count) in p.ints(groups).into_iter().enumerate() {
        if at > 0 {
            p.text(", ");
        }
        let (bounds, others) = rest.split_at(usize::try_from(count).unwrap_or(0).min(rest.len()));
        rest = others;
        if bounds.len() == 1 {
            print_results(p, head, bounds[0], dims, values);
        } else {
            p.text(word);
            p.text("(");
            print_results(p, head, &bounds.join(", "), dims, values);
            p.text(")");
        }
    }
}

/// The kinds of reductions, in the order of their numbers.
const REDUCTIONS: [&str; 15] = [
    "addf", "addi", "assign", "maximumf", "maxs", "maxu", "minimumf", "mins", "minu", "mulf", "muli", "ori", "andi",
    "maxnumf", "minnumf",
];

/// `(%i, %j) = (0, max(%a, %b)) to (10, %n) step (1, 2) reduce ("addf") -> (f32)`.
pub(super) const PARALLEL: OdsHook = OdsHook {
    name: "AffineParallel",
    read: |r| {
        r.expect("(")?;
        let counters = super::loops::names(r)?;
        r.expect("=")?;
        let count = parallel_bounds(r, "max", "lowerBoundsMap", "lowerBoundsGroups")?;
        r.expect("to")?;
        let upper = parallel_bounds(r, "min", "upperBoundsMap", "upperBoundsGroups")?;
        if count != counters.len() || upper != counters.len() {
            return Err(r.expected(&format!("{} lower and upper bounds before", counters.len())));
        }
        let steps = match r.eat("step") {
            true => super::common::index_list(r, "mapOperands", "(", ")")?,
            false => vec![1; counters.len()],
        };
        if steps.len() != counters.len() || steps.iter().any(|&step| step <= 0) {
            return Err(r.expected(&format!("{} positive steps before", counters.len())));
        }
        let steps: Vec<String> = steps.iter().map(i64::to_string).collect();
        r.set("steps", &format!("[{}]", steps.join(", ")))?;
        let mut kinds: Vec<String> = Vec::new();
        if r.eat("reduce") {
            r.expect("(")?;
            loop {
                let found = REDUCTIONS.iter().position(|kind| r.eat(&format!("\"{kind}\"")));
                let Some(number) = found else {
                    return Err(r.expected("the kind of a reduction, like `\"addf\"`,"));
                };
                kinds.push(number.to_string());
                if r.eat(")") {
                    break;
                }
                r.expect(",")?;
            }
        }
        r.set("reductions", &format!("[{}]", kinds.join(", ")))?;
        let types = r.arrow()?.unwrap_or_default();
        r.set_types("results", &types);
        for counter in counters {
            r.argument(counter, Type::INDEX)?;
        }
        Ok(())
    },
    print: |p| {
        let args = p.region_args(0);
        let operands = p.all_operands();
        let lower = map_operands(p, "lowerBoundsMap").min(operands.len());
        p.text("(");
        p.values_list(&args);
        p.text(") = (");
        print_parallel_bounds(p, "max", "lowerBoundsMap", "lowerBoundsGroups", &operands[..lower]);
        p.text(") to (");
        print_parallel_bounds(p, "min", "upperBoundsMap", "upperBoundsGroups", &operands[lower..]);
        p.text(")");
        let numbers = |list: Vec<i64>| list.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
        let steps = p.numbers("steps");
        if steps.iter().any(|&step| step != 1) {
            p.text(&format!(" step ({})", numbers(steps)));
        }
        let types = p.result_types();
        if !types.is_empty() {
            let kinds = p.numbers("reductions");
            let name = |&kind: &i64| usize::try_from(kind).ok().and_then(|kind| REDUCTIONS.get(kind));
            let names: Vec<String> = kinds
                .iter()
                .filter_map(name)
                .map(|name| format!("\"{name}\""))
                .collect();
            p.text(&format!(" reduce ({}) -> (", names.join(", ")));
            p.types(&types);
            p.text(")");
        }
    },
};

/// How many operands a map takes.
fn map_operands(p: &dyn OdsPrinter<'_>, attr: &str) -> usize {
    let head = map_text(p, attr).and_then(|(text, _)| text.split_once("->"));
    let words = head.map_or("", |(head, _)| head.trim_start_matches("affine_map<"));
    let words = words.split(['(', ')', '[', ']', ',', ' ']);
    words.filter(|word| !word.is_empty()).count()
}

/// `#set(%i)[%n]`.
pub(super) const IF: OdsHook = OdsHook {
    name: "AffineIf",
    read: |r| map_of(r, "condition", "operands"),
    print: |p| {
        p.attr("condition");
        let dims = map_text(p, "condition").map_or(0, |map| map.1);
        let values = p.all_operands();
        print_dims_and_symbols(p, dims, &values);
    },
};

/// `{indexing_maps = …} ins(%a : T) outs(%b : U) attrs = {…}`.
pub(super) const GENERIC: OdsHook = OdsHook {
    name: "Generic",
    read: |r| {
        if r.is_next('#') {
            r.trait_dict()?;
        } else {
            r.dict()?;
        }
        super::vectors::iterator_types(r, "linalg")?;
        structured(r, ["inputs", "outputs"])?;
        if r.eat("attrs") {
            r.expect("=")?;
            r.dict()?;
        }
        Ok(())
    },
    print: |p| {
        p.text("{");
        let mut before = "";
        for name in ["doc", "indexing_maps", "iterator_types", "library_call"] {
            let Some(value) = p.get_attr(name) else { continue };
            p.text(before);
            before = ", ";
            p.text(name);
            p.text(" = ");
            match name {
                "iterator_types" => super::vectors::print_iterator_types(p),
                _ => p.any(value),
            }
        }
        p.text("}");
        print_structured(p, ["inputs", "outputs"]);
        let start = p.mark();
        p.dict();
        // With two spaces, as MLIR prints it.
        p.insert_if_longer(start, " attrs = ");
    },
};

/// `ins(%a, %b : T, U) outs(%c : V)`; each part is optional.
pub(super) fn structured(r: &mut dyn OdsReader<'_>, names: [&str; 2]) -> Result<(), Unreadable> {
    for (word, name) in ["ins", "outs"].into_iter().zip(names) {
        let mut types = Vec::new();
        if r.eat(word) {
            r.expect("(")?;
            r.operands(name)?;
            if r.eat(":") {
                types = r.types()?;
            }
            r.expect(")")?;
        }
        r.set_types(name, &types);
    }
    Ok(())
}

pub(super) fn print_structured(p: &mut dyn OdsPrinter<'_>, names: [&str; 2]) {
    for (word, name) in [" ins(", " outs("].into_iter().zip(names) {
        let values = p.values(name);
        if !values.is_empty() {
            p.text(word);
            p.values_list(&values);
            p.text(" : ");
            let types = p.types_of(&values);
            p.types(&types);
            p.text(")");
        }
    }
}
