//! `scf`: heads of loops.

use pir_ir::text::{ArgName, OdsPrinter, OdsReader, Unreadable};
use pir_ir::{OdsHook, Type, ValueId};

use super::common::{Read, index_list, print_index_list};

/// `%a = %b, %c = %d)`; gives the names.
fn bindings(r: &mut dyn OdsReader<'_>, values: &str) -> Result<Vec<ArgName>, Unreadable> {
    let mut names = Vec::new();
    if r.eat(")") {
        return Ok(names);
    }
    loop {
        names.push(r.arg_name()?);
        r.expect("=")?;
        r.operand(values)?;
        if r.eat(")") {
            return Ok(names);
        }
        r.expect(",")?;
    }
}

/// `iter_args(%a = %b) -> (T)`, if it is there; gives the names and the types.
pub(super) fn iter_args(r: &mut dyn OdsReader<'_>, values: &str) -> Result<(Vec<ArgName>, Vec<Type>), Unreadable> {
    if !r.eat("iter_args") {
        return Ok((Vec::new(), Vec::new()));
    }
    r.expect("(")?;
    let names = bindings(r, values)?;
    Ok((names, r.arrow()?.unwrap_or_default()))
}

pub(super) fn print_iter_args(p: &mut dyn OdsPrinter<'_>, args: &[ValueId], values: &str) {
    let inits = p.values(values);
    if !inits.is_empty() {
        p.text(" iter_args");
        print_bindings(p, args, &inits);
        p.text(" -> (");
        let types = p.result_types();
        p.types(&types);
        p.text(")");
    }
}

/// Gives the region arguments of these names, and the operands these types.
pub(super) fn bind(r: &mut dyn OdsReader<'_>, names: &[ArgName], types: &[Type], values: &str) -> Read {
    if names.len() != types.len() {
        return Err(r.expected(&format!("{} types, one for each argument,", names.len())));
    }
    for (&name, &ty) in names.iter().zip(types) {
        r.argument(name, ty)?;
    }
    r.set_types(values, types);
    Ok(())
}

/// `(%a = %b, %c = %d)`.
fn print_bindings(p: &mut dyn OdsPrinter<'_>, args: &[ValueId], values: &[ValueId]) {
    p.text("(");
    for (at, (&arg, &value)) in args.iter().zip(values).enumerate() {
        if at > 0 {
            p.text(", ");
        }
        p.value(arg);
        p.text(" = ");
        p.value(value);
    }
    p.text(")");
}

/// `%i = %a to %b step %c iter_args(%x = %y) -> (T) : i32`.
pub(super) const FOR: OdsHook = OdsHook {
    name: "For",
    read: |r| {
        let counter = r.arg_name()?;
        r.expect("=")?;
        r.operand("lowerBound")?;
        r.expect("to")?;
        r.operand("upperBound")?;
        r.expect("step")?;
        r.operand("step")?;
        let (names, types) = iter_args(r, "initArgs")?;
        let ty = if r.eat(":") { r.ty()? } else { Type::INDEX };
        r.set_types("lowerBound", &[ty]);
        r.argument(counter, ty)?;
        bind(r, &names, &types, "initArgs")?;
        r.set_types("results", &types);
        Ok(())
    },
    print: |p| {
        let args = p.region_args(0);
        let Some((&counter, args)) = args.split_first() else {
            return;
        };
        p.value(counter);
        for (word, name) in [(" = ", "lowerBound"), (" to ", "upperBound"), (" step ", "step")] {
            p.text(word);
            let values = p.values(name);
            p.values_list(&values);
        }
        print_iter_args(p, args, "initArgs");
        // With two spaces, as MLIR prints it.
        p.text(" ");
        let ty = p.types_of(&[counter]);
        if ty.first() != Some(&Type::INDEX) {
            p.text(" : ");
            p.types(&ty);
            p.text(" ");
        }
    },
};

/// `(%a = %b) : (T) -> U`.
pub(super) const WHILE: OdsHook = OdsHook {
    name: "While",
    read: |r| {
        let names = match r.eat("(") {
            true => bindings(r, "inits")?,
            false => Vec::new(),
        };
        r.expect(":")?;
        let (inputs, results) = r.signature()?;
        bind(r, &names, &inputs, "inits")?;
        r.set_types("results", &results);
        Ok(())
    },
    print: |p| {
        let args = p.region_args(0);
        let inits = p.values("inits");
        if !inits.is_empty() {
            print_bindings(p, &args, &inits);
            p.text(" ");
        }
        p.text(": (");
        let types = p.types_of(&inits);
        p.types(&types);
        p.text(") -> ");
        let types = p.result_types();
        p.results(&types);
    },
};

/// `%i, %j)`.
pub(super) fn names(r: &mut dyn OdsReader<'_>) -> Result<Vec<ArgName>, Unreadable> {
    let mut names = Vec::new();
    if r.eat(")") {
        return Ok(names);
    }
    loop {
        names.push(r.arg_name()?);
        if r.eat(")") {
            return Ok(names);
        }
        r.expect(",")?;
    }
}

/// `(%i, %j) = (%a, %b) to (%c, %d) step (%e, %f) init (%x) -> T`.
pub(super) const PARALLEL: OdsHook = OdsHook {
    name: "Parallel",
    read: |r| {
        r.expect("(")?;
        let counters = names(r)?;
        for (word, name) in [("=", "lowerBound"), ("to", "upperBound"), ("step", "step")] {
            r.expect(word)?;
            r.expect("(")?;
            r.operands(name)?;
            r.expect(")")?;
        }
        if r.eat("init") {
            r.expect("(")?;
            r.operands("initVals")?;
            r.expect(")")?;
        }
        for counter in counters {
            r.argument(counter, Type::INDEX)?;
        }
        let types = r.arrow()?.unwrap_or_default();
        r.set_types("initVals", &types);
        r.set_types("results", &types);
        Ok(())
    },
    print: |p| {
        let args = p.region_args(0);
        p.text("(");
        p.values_list(&args);
        p.text(")");
        for (word, name) in [(" = (", "lowerBound"), (" to (", "upperBound"), (" step (", "step")] {
            p.text(word);
            let values = p.values(name);
            p.values_list(&values);
            p.text(")");
        }
        let inits = p.values("initVals");
        if !inits.is_empty() {
            p.text(" init (");
            p.values_list(&inits);
            p.text(")");
        }
        let types = p.result_types();
        if !types.is_empty() {
            p.text(" -> ");
            p.results(&types);
        }
    },
};

/// `(%i, %j) in (4, %n) shared_outs(%x = %y) -> (T)`, or `= (…) to (…) step (…)`.
pub(super) const FORALL: OdsHook = OdsHook {
    name: "Forall",
    read: |r| {
        r.expect("(")?;
        let counters = names(r)?;
        let (lower, upper, step);
        if r.eat("in") {
            upper = index_list(r, "dynamicUpperBound", "(", ")")?;
            (lower, step) = (vec![0; upper.len()], vec![1; upper.len()]);
        } else {
            r.expect("=")?;
            lower = index_list(r, "dynamicLowerBound", "(", ")")?;
            r.expect("to")?;
            upper = index_list(r, "dynamicUpperBound", "(", ")")?;
            r.expect("step")?;
            step = index_list(r, "dynamicStep", "(", ")")?;
        }
        r.set_array("staticLowerBound", "i64", &lower)?;
        r.set_array("staticUpperBound", "i64", &upper)?;
        r.set_array("staticStep", "i64", &step)?;
        for counter in counters {
            r.argument(counter, Type::INDEX)?;
        }
        if r.eat("shared_outs") {
            r.expect("(")?;
            let names = bindings(r, "outputs")?;
            let types = r.arrow()?.unwrap_or_default();
            bind(r, &names, &types, "outputs")?;
            r.set_types("results", &types);
        }
        Ok(())
    },
    print: |p| {
        let args = p.region_args(0);
        let (lower, upper, step) = (
            p.ints("staticLowerBound"),
            p.ints("staticUpperBound"),
            p.ints("staticStep"),
        );
        let rank = upper.len().min(args.len());
        p.text("(");
        p.values_list(&args[..rank]);
        p.text(")");
        let dynamic = [
            p.values("dynamicLowerBound"),
            p.values("dynamicUpperBound"),
            p.values("dynamicStep"),
        ];
        if lower.iter().all(|&bound| bound == 0) && step.iter().all(|&step| step == 1) {
            p.text(" in (");
            print_index_list(p, &dynamic[1], &upper);
        } else {
            for ((word, values), list) in [" = (", ") to (", ") step ("]
                .into_iter()
                .zip(&dynamic)
                .zip([lower, upper, step])
            {
                p.text(word);
                print_index_list(p, values, &list);
            }
        }
        p.text(")");
        let outputs = p.values("outputs");
        if !outputs.is_empty() {
            p.text(" shared_outs");
            print_bindings(p, &args[rank..], &outputs);
            p.text(" -> (");
            let types = p.result_types();
            p.types(&types);
            p.text(")");
        }
    },
};
