//! `memref`.

use pir_ir::{AttrData, OdsHook};

use super::common::{is_bool, shaped};

/// `memref<2xf32> = dense<…>`, without the type of the elements, or `= uninitialized`.
pub(super) const GLOBAL_TYPE: OdsHook = OdsHook {
    name: "GlobalType",
    read: |r| {
        let ty = r.ty()?;
        let attr = r.ctx().type_attr(ty);
        r.set_attr("type", attr)?;
        if !r.eat("=") {
            return Ok(());
        }
        if r.eat("uninitialized") {
            return r.set("initial_value", "unit");
        }
        let tensor = shaped(r.ctx(), ty).map(|(shape, elem)| r.ctx().tensor(&shape, elem));
        let Some(tensor) = tensor else {
            return Err(r.expected("a memref of known shape before the value"));
        };
        let value = r.value_of_type(tensor)?;
        r.set_attr("initial_value", value)
    },
    print: |p| {
        p.attr("type");
        if let Some(value) = p.get_attr("initial_value") {
            p.text(" = ");
            match p.ctx().attr_data(value) {
                AttrData::Unit => p.text("uninitialized"),
                _ => p.without_type(value),
            }
        }
    },
};

/// `read` or `write`.
pub(super) const READ_WRITE: OdsHook = OdsHook {
    name: "ReadWrite",
    read: |r| match r.word().as_deref() {
        Some("read") => r.set("isWrite", "false"),
        Some("write") => r.set("isWrite", "true"),
        _ => Err(r.expected("`read` or `write` before")),
    },
    print: |p| {
        let word = if is_bool(p, "isWrite", true) { "write" } else { "read" };
        p.text(word);
    },
};

/// `data` or `instr`.
pub(super) const CACHE: OdsHook = OdsHook {
    name: "Cache",
    read: |r| match r.word().as_deref() {
        Some("data") => r.set("isDataCache", "true"),
        Some("instr") => r.set("isDataCache", "false"),
        _ => Err(r.expected("`data` or `instr` before")),
    },
    print: |p| {
        let word = if is_bool(p, "isDataCache", true) {
            "data"
        } else {
            "instr"
        };
        p.text(word);
    },
};

/// `(i, j) -> (j, i)`: a map without its name.
pub(super) const PERMUTATION: OdsHook = OdsHook {
    name: "Permutation",
    read: |r| {
        let inputs = r.bracketed('(')?;
        r.expect("->")?;
        let outputs = r.bracketed('(')?;
        let names: Vec<&str> = inputs.trim_matches(['(', ')']).split(',').map(str::trim).collect();
        let outs: Option<Vec<String>> = outputs
            .trim_matches(['(', ')'])
            .split(',')
            .map(|out| Some(format!("d{}", names.iter().position(|name| *name == out.trim())?)))
            .collect();
        let Some(outs) = outs else {
            return Err(r.expected("a permutation before"));
        };
        let dims: Vec<String> = (0..names.len()).map(|at| format!("d{at}")).collect();
        r.set(
            "permutation",
            &format!("affine_map<({}) -> ({})>", dims.join(", "), outs.join(", ")),
        )
    },
    print: |p| {
        if let Some(AttrData::Opaque(text)) = p.get_attr("permutation").map(|map| p.ctx().attr_data(map)) {
            let text = text.trim_start_matches("affine_map<").trim_end_matches('>');
            p.text(text);
        }
    },
};
