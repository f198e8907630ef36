//! Saved programs: PIR JSON.

use pir_dialects::pd;
use smallvec::SmallVec;

use pir_ir::{Attr, AttrSpec, Diagnostic, RegionId, Sym};

use super::attributes::{AttrReader, read_type};
use super::build::{Builder, SourceId, SourceOp};
use super::keys;
use super::versions;
use crate::json::{Json, JsonKind, Value};

fn error(node: Value<'_>, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error("paddle-json", message)
        .label(node.span(), "")
        .help(super::SAVED)
}

/// The newest known version of saved programs: that of PaddlePaddle 3.3.
const NEWEST: i64 = 4;

/// Stop after this many errors.
const MAX_ERRORS: usize = 200;

/// The attributes of results. Here, the operation implies whether a result is persistable.
const RESULT_ATTRIBUTES: &[&str] = &["stop_gradient", "persistable"];

/// The remaining operations of a block.
struct Open<'j> {
    ops: Box<dyn Iterator<Item = Value<'j>> + 'j>,
    /// Remaining regions of the last operation, the next one on top.
    regions: Vec<(RegionId, Value<'j>)>,
}

/// Reads the program in `source`; errors go to the builder.
pub(super) fn read(builder: &mut Builder<'_>, source: &[u8]) {
    let json = match Json::parse(source) {
        Ok(json) => json,
        Err(error) => return builder.errors.push(error),
    };
    let root = json.root();
    let version = match check_head(root) {
        Ok(version) => version,
        Err(error) => return builder.errors.push(error),
    };
    builder.errors = keys::check(&json);
    let regions = root.get("program").and_then(|p| p.get("regions"));
    let mut more: Vec<Value<'_>> = regions
        .into_iter()
        .flat_map(Value::items)
        .skip(1)
        .take(MAX_ERRORS)
        .collect();
    more.extend(
        regions
            .and_then(|r| r.items().next())
            .and_then(|r| r.get("blocks"))
            .into_iter()
            .flat_map(Value::items)
            .skip(1)
            .take(MAX_ERRORS),
    );
    for node in more {
        let message = "a program has one region with one block: this block would never run";
        builder.errors.push(error(node, message));
    }
    let Some(block) = root
        .get("program")
        .and_then(|p| p.get("regions"))
        .and_then(|r| r.items().next())
        .and_then(|r| r.get("blocks"))
        .and_then(|b| b.items().next())
        .filter(|b| b.get("ops").is_some_and(|ops| ops.kind() == JsonKind::Array))
    else {
        return builder
            .errors
            .push(error(root, "the program has no block of operations"));
    };
    let mut open = vec![Open {
        ops: Box::new(block.get("ops").into_iter().flat_map(Value::items)),
        regions: Vec::new(),
    }];
    while let Some(level) = open.last_mut()
        && builder.errors.len() < MAX_ERRORS
    {
        if let Some((region, node)) = level.regions.pop() {
            builder.enter(region);
            let ops = enter_block(builder, node);
            open.push(Open {
                ops,
                regions: Vec::new(),
            });
            continue;
        }
        let Some(node) = level.ops.next() else {
            open.pop();
            if !open.is_empty() {
                builder.leave();
            }
            continue;
        };
        match read_op(builder, node, version) {
            Ok(source) => {
                let regions = builder.op(source);
                let nodes = node.get("regions").into_iter().flat_map(Value::items);
                level.regions = regions.into_iter().zip(nodes).collect();
                level.regions.reverse();
            }
            Err(error) => {
                builder.errors.push(error);
                for result in node.get("O").into_iter().flat_map(Value::items) {
                    if let Ok(id) = read_id(result) {
                        builder.poison(id);
                    }
                }
            }
        }
    }
}

fn check_head(root: Value<'_>) -> Result<i64, Diagnostic> {
    let head = root
        .get("base_code")
        .ok_or_else(|| error(root, "this is not a saved program: `base_code` is missing"))?;
    let magic = head.get("magic").and_then(Value::str);
    if magic.as_deref() != Some("pir") {
        return Err(error(head, "this is not a saved program: `magic` is not \"pir\"")
            .help("only PIR programs, which PaddlePaddle 3 saves, are supported"));
    }
    match head.get("version").and_then(Value::int) {
        Some(version @ 1..=NEWEST) => Ok(version),
        Some(version @ 1..) => Err(error(
            head,
            format!("the saved program has version {version}, but {NEWEST} is the newest supported version"),
        )
        .help("save it with PaddlePaddle 3.3, or pass `pir_version = 4` to `serialize_pir_program`")),
        _ => Err(error(
            head,
            "the version of the saved program is missing or not positive",
        )),
    }
}

/// Reads the arguments of the only block of a region, and returns its operations.
fn enter_block<'j>(builder: &mut Builder<'_>, region: Value<'j>) -> Box<dyn Iterator<Item = Value<'j>> + 'j> {
    let mut blocks = region.get("blocks").into_iter().flat_map(Value::items);
    let (Some(block), more) = (blocks.next(), blocks.next()) else {
        return Box::new(std::iter::empty());
    };
    if let Some(more) = more {
        builder.errors.push(error(more, "a region with several blocks"));
    }
    for key in ["args", "kwargs"] {
        for arg in block.get(key).into_iter().flat_map(Value::items) {
            let ty = arg.get("TT").ok_or_else(|| error(arg, "an argument without its type"));
            match (
                arg.get("#").and_then(Value::int),
                ty.and_then(|ty| read_type(builder.ctx, ty)),
            ) {
                (Some(id), Ok(Some(ty))) => builder.block_arg(id, ty),
                (_, Err(error)) => builder.errors.push(error),
                _ => builder
                    .errors
                    .push(error(arg, "an argument without its number or type")),
            }
        }
    }
    Box::new(block.get("ops").into_iter().flat_map(Value::items))
}

/// `1.add` is `pd.add`.
fn op_name(name: &str) -> Option<String> {
    let (dialect, op) = name.split_once('.')?;
    let dialect = match dialect {
        "0" => "builtin",
        "1" | "pd_op" => "pd",
        "2" | "cf" => "cf",
        "3" | "custom_op" => "custom_op",
        "4" | "dist" | "pd_dist" => "dist",
        other if other.starts_with(|c: char| c.is_ascii_alphabetic()) => other,
        _ => return None,
    };
    Some(format!("{dialect}.{op}"))
}

fn read_op(builder: &Builder<'_>, node: Value<'_>, version: i64) -> Result<SourceOp, Diagnostic> {
    for key in ["A", "I", "O", "OA", "regions"] {
        // The result of a parameter is not in a list.
        let alone = key == "O" && node.get("#").and_then(Value::str).as_deref() == Some("p");
        if let Some(list) = node.get(key).filter(|list| list.kind() != JsonKind::Array && !alone) {
            return Err(error(list, format!("expected a list after `\"{key}\"`")));
        }
    }
    let name = node.get("#").and_then(Value::str);
    let name = name.ok_or_else(|| error(node, "an operation without its name, `\"#\"`"))?;
    if name == "p" {
        return read_parameter(builder, node);
    }
    let name =
        op_name(&name).ok_or_else(|| error(node, format!("the dialect of the operation `{name}` is unknown")))?;
    let attr_reader = AttrReader {
        ctx: builder.ctx,
        typed: !builder.is_known(&name),
    };
    let mut attrs = Vec::new();
    if let Some(list) = node.get("A") {
        attr_reader.list(list, &mut attrs)?;
    }
    attrs.extend(undefined_place(builder, &name, &attrs));
    versions::update(builder.ctx, version, &name, &mut attrs);
    for entry in node.get("OA").into_iter().flat_map(Value::items) {
        if let Some(said) = entry
            .get("N")
            .filter(|n| n.str().is_none_or(|n| !RESULT_ATTRIBUTES.contains(&&*n)))
        {
            let message = format!("unknown property {} of the results of an operation", said.raw());
            return Err(error(said, message));
        }
    }
    let stops = flags(node, "stop_gradient");
    if name == pd::Data::NAME && flags(node, "persistable").first() == Some(&true) {
        attrs.push((builder.ctx.sym("persistable"), builder.ctx.bool_attr(true)));
    }
    if matches!(name.as_str(), pd::Data::NAME | pd::Feed::NAME) && stops.first() == Some(&true) {
        attrs.push((builder.ctx.sym("stop_gradient"), builder.ctx.bool_attr(true)));
    }
    let mut operands: SmallVec<[SourceId; 4]> = SmallVec::new();
    for operand in node.get("I").into_iter().flat_map(Value::items) {
        operands.push(read_id(operand)?);
    }
    let mut results = SmallVec::new();
    for result in node.get("O").into_iter().flat_map(Value::items) {
        results.push(read_result(builder, result)?);
    }
    Ok(SourceOp {
        name,
        operands,
        results,
        attrs,
        stops,
        regions: node.get("regions").map_or(0, |r| r.items().count()),
        span: node.span(),
    })
}

/// An undefined device is omitted, except where it is required.
fn undefined_place(builder: &Builder<'_>, name: &str, attrs: &[(Sym, Attr)]) -> Option<(Sym, Attr)> {
    let ctx = builder.ctx;
    let def = ctx.registered_op(name).and_then(|name| ctx.op_def(name))?;
    let required = |spec: &&AttrSpec| spec.ty == "Place" && spec.default.is_none();
    let place = ctx.sym(&def.attrs.iter().find(required)?.name);
    (attrs.iter().all(|&(name, _)| name != place)).then(|| (place, ctx.str_attr("undefined")))
}

fn read_id(node: Value<'_>) -> Result<SourceId, Diagnostic> {
    node.get("%")
        .and_then(Value::int)
        .ok_or_else(|| error(node, "expected a value, `{\"%\": number}`"))
}

fn read_result(builder: &Builder<'_>, node: Value<'_>) -> Result<(SourceId, Option<pir_ir::Type>), Diagnostic> {
    let ty = node.get("TT").map(|ty| read_type(builder.ctx, ty)).transpose()?;
    Ok((read_id(node)?, ty.flatten()))
}

/// The values of a result attribute, one per result.
fn flags(node: Value<'_>, name: &str) -> SmallVec<[bool; 2]> {
    let entry = node
        .get("OA")
        .into_iter()
        .flat_map(Value::items)
        .find(|e| e.get("N").and_then(Value::str).as_deref() == Some(name));
    let list = entry.and_then(|e| e.get("AT")?.get("D"));
    let flags = list.into_iter().flat_map(Value::items);
    flags
        .map(|flag| flag.get("D").and_then(Value::bool).unwrap_or(false))
        .collect()
}

/// The flags of a saved parameter in the order of its lists, with their usual values.
const PARAMETER: [&[(&str, bool)]; 2] = [
    &[("is_distributed", false), ("is_parameter", true), ("need_clip", true)],
    &[("persistable", true), ("stop_gradient", false), ("trainable", true)],
];

/// `{"#": "p", "A": [is_distributed, is_parameter, need_clip, name], "O": {…}, "OA": [persistable, stop_gradient, trainable]}`.
fn read_parameter(builder: &Builder<'_>, node: Value<'_>) -> Result<SourceOp, Diagnostic> {
    let name = node
        .get("A")
        .into_iter()
        .flat_map(Value::items)
        .find(|v| v.kind() == JsonKind::Str);
    let name = name.and_then(Value::str);
    let name = name.ok_or_else(|| error(node, "a parameter without its name"))?;
    let result = node
        .get("O")
        .ok_or_else(|| error(node, "a parameter without its value, `\"O\"`"))?;
    let mut attrs = vec![(builder.ctx.sym("name"), builder.ctx.str_attr(&name))];
    let mut stops = SmallVec::new();
    for (key, names) in ["A", "OA"].into_iter().zip(PARAMETER) {
        let flags = node.get(key).into_iter().flat_map(Value::items);
        for (&(name, usual), flag) in names.iter().zip(flags) {
            let flag = flag.bool().or(flag.int().map(|int| int != 0)).unwrap_or(usual);
            if name == "stop_gradient" {
                stops.push(flag);
            }
            // A parameter that is not trainable has no gradient either.
            let usual = usual && !(name == "trainable" && stops.first() == Some(&true));
            if flag != usual {
                attrs.push((builder.ctx.sym(name), builder.ctx.bool_attr(flag)));
            }
        }
    }
    Ok(SourceOp {
        name: pd::Parameter::NAME.to_owned(),
        operands: SmallVec::new(),
        results: std::iter::once(read_result(builder, result)?).collect(),
        attrs,
        stops,
        regions: 0,
        span: node.span(),
    })
}
