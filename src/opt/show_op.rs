//! Describes an operation.

use std::fmt::Write;
use std::sync::Arc;

use pir_dialects::pd;
use pir_interp::kernels::Kernels;
use pir_ir::text::{ParseOptions, PrintOptions, parse, print, print_op};
use pir_ir::{
    Arity, Body, Context, Derivative, EffectKind, EffectTarget, FlowPoint, MemoryEffects, OpDef, OpId, OpName, OpSpec,
    Presence, Rewriter, Speculatability, Text, Traits, Type, nearest,
};
use pir_ir::{Diagnostic, OpView};

use crate::driver::print_scope::find_op;
use crate::reference;

/// Programs from which examples are taken.
const EXAMPLES: &[&str] = &[
    include_str!("../../docs/examples/loop.pir"),
    include_str!("../../docs/examples/choice.pir"),
    include_str!("../../docs/examples/linear.pir"),
    include_str!("../../docs/examples/power.pir"),
    include_str!("../../docs/examples/cube.pir"),
    include_str!("../../docs/examples/rnn.pir"),
];

/// Describes the operation called `name`.
///
/// # Errors
/// If there is none.
pub(super) fn describe(ctx: &Arc<Context>, name: &str) -> Result<String, Diagnostic> {
    let Some(op) = ctx.registered_op(name) else {
        let names = || ctx.registered_ops();
        // The dialect is optional.
        let plain = |full: &&str| full.split_once('.').is_some_and(|(_, plain)| plain == name);
        let error = Diagnostic::error("unknown-op", format!("there is no operation `{name}`"));
        return Err(
            error.help(match names().find(plain).or_else(|| nearest(name, names())) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "`--list-ops` lists all operations".to_owned(),
            }),
        );
    };
    Ok(ctx.op_def(op).map(|def| page(ctx, op, def)).unwrap_or_default())
}

fn page(ctx: &Arc<Context>, name: OpName, def: &OpDef) -> String {
    let mut text = format!("{}: {}\n\n  {}\n", def.name, def.summary, reference::signature(def));
    if !def.description.is_empty() {
        let _ = write!(text, "\n{}\n", def.description.trim_end());
    }
    values(&mut text, "operands", &def.operands, &def.no_need_buffer);
    if !def.attrs.is_empty() {
        text.push_str("\nattributes\n");
        for attr in def.attrs.iter() {
            let default = match attr.default.as_deref() {
                None => String::new(),
                Some(default) => match reference::as_written(default) {
                    Some(default) => format!(" = {default}"),
                    None => ", optional".to_owned(),
                },
            };
            let _ = writeln!(text, "  {}: {}{default}", attr.name, attr.ty);
        }
    }
    values(&mut text, "results", &def.results, &[]);
    if !def.regions.is_empty() {
        text.push_str("\nregions\n");
        for (at, region) in def.regions.iter().enumerate() {
            let presence = match region.presence {
                Presence::Required => "",
                Presence::Repeated => ", variadic",
                Presence::MayBeEmpty | Presence::MayBeAbsent => ", optional",
            };
            let _ = writeln!(text, "  {}{presence}", region_name(def, at));
        }
    }
    let mut facts = Vec::new();
    let traits: Vec<String> = def
        .traits
        .iter_names()
        .map(|(name, _)| name.to_lowercase().replace('_', " "))
        .collect();
    facts.push((
        "traits",
        if traits.is_empty() {
            "none".to_owned()
        } else {
            traits.join(", ")
        },
    ));
    // Effects and interfaces are queried on an operation, so one is created: where the definition states what it computes, one with
    // operands for which that is valid.
    const SHAPES: &[&[i64]] = &[&[4], &[], &[2, 2], &[2, 2, 2], &[1, 1, 2, 2]];
    let [float, int] = [Type::F32, Type::I64].map(|elem| {
        let dummy = |shape| Dummy::new(ctx, name, def, ctx.tensor(shape, elem));
        let fitting = SHAPES.iter().copied().map(dummy).find(|dummy| dummy.has_meaning(ctx));
        fitting.unwrap_or_else(|| dummy(SHAPES[0]))
    });
    let (effects, early) = facts_of(ctx, def, &float, &int);
    facts.push(("effects", effects));
    facts.push(("speculatable", early));
    if let Some(flow) = def.flow {
        facts.push(("control", control(flow.edges(float.view(ctx)).as_slice(), def)));
    }
    let inference = match (
        &def.infer,
        def.results.is_empty(),
        def.traits.contains(Traits::FUNCTION),
    ) {
        (Some(_), ..) => "inferred from operands, attributes and regions; optional in the text",
        (None, true, _) => "no results",
        (None, false, _) => "not inferred: they must be written",
    };
    facts.push(("result types", inference.to_owned()));
    match reference::execution(&Kernels::standard(), def) {
        Some(how) => facts.push(("execution", how.to_owned())),
        None if pd::is_foreign(&def.name) => facts.push(("execution", "only by PaddlePaddle's executor".to_owned())),
        None => {}
    }
    let derivative = match &def.derivative {
        Derivative::Undeclared => "not declared: differentiating through it is an error".to_owned(),
        Derivative::None => "none".to_owned(),
        Derivative::Operands(names) => {
            let names: Vec<String> = names.iter().map(|name| format!("%{name}")).collect();
            format!("in {}", names.join(", "))
        }
    };
    if def.flow.is_none() && !def.operands.is_empty() && !def.results.is_empty() {
        facts.push(("derivative", derivative));
    }
    let twin = || Some(Text::from(format!("{}_grad", def.name))).filter(|name| ctx.registered_op(name).is_some());
    let gradient = def.backward.clone().or_else(twin);
    facts.push((
        "gradient",
        gradient.map_or_else(|| "no gradient operation".to_owned(), Text::into_owned),
    ));
    if def.fold.is_some() || def.has(Traits::CONSTANT) {
        facts.push(("folds", "on constants".to_owned()));
    }
    for (format, names) in reference::names(def) {
        facts.push((format, names.join(", ")));
    }
    text.push('\n');
    for (what, fact) in facts {
        let _ = writeln!(text, "{:18}{fact}", format!("{what}:"));
    }
    let programs = def.semantics.iter().flat_map(|semantics| semantics.programs());
    for (what, program) in programs {
        let _ = writeln!(text, "\n{what}");
        for line in program.trim_end().lines() {
            let _ = writeln!(text, "  {line}");
        }
    }
    if let Some(example) = reference::example(ctx, def)
        .ok()
        .flatten()
        .or_else(|| example(ctx, def))
        .or_else(|| float.example(ctx, def))
    {
        text.push_str("\nexample\n");
        for line in example.lines() {
            let _ = writeln!(text, "  {line}");
        }
    }
    text
}

fn values(text: &mut String, title: &str, specs: &[pir_ir::ValueSpec], shapes: &[Text]) {
    if specs.is_empty() {
        return;
    }
    let _ = write!(text, "\n{title}\n");
    for spec in specs {
        let arity = match spec.arity {
            Arity::One => "",
            Arity::Optional => ", optional",
            Arity::Variadic => ", variadic",
        };
        let shape = if shapes.contains(&spec.name) {
            ", only the shape is read"
        } else {
            ""
        };
        let _ = writeln!(text, "  %{}: {}{arity}{shape}", spec.name, spec.ty);
    }
}

fn region_name(def: &OpDef, at: usize) -> String {
    let keyword = def.regions.get(at).and_then(|region| region.keywords.first());
    keyword.map_or_else(|| format!("region {at}"), |keyword| format!("`{keyword}`"))
}

/// The effects, and whether it may be speculated.
fn facts_of(ctx: &Context, def: &OpDef, float: &Dummy, int: &Dummy) -> (String, String) {
    if matches!(def.effects, MemoryEffects::Undeclared) {
        let effects = "not declared: assumed to read and write everything".to_owned();
        return (effects, speculation([Speculatability::Never; 2]).to_owned());
    }
    let speculated = [float, int].map(|dummy| dummy.view(ctx).speculatability());
    if !def.is_composite() {
        return (float.effects(ctx, def), speculation(speculated).to_owned());
    }
    match [float, int].map(|dummy| dummy.has_meaning(ctx)) {
        [true, true] if speculated[0] != speculated[1] => {
            let early = "if its composition is, which depends on the types";
            (float.effects(ctx, def), early.to_owned())
        }
        [true, _] => (float.effects(ctx, def), speculation([speculated[0]; 2]).to_owned()),
        [false, true] => (int.effects(ctx, def), speculation([speculated[1]; 2]).to_owned()),
        [false, false] => {
            let effects = float.effects(ctx, def);
            let early = match speculated[0] {
                Speculatability::Never => "if its composition is".to_owned(),
                always => speculation([always; 2]).to_owned(),
            };
            (
                if effects == "none" {
                    effects
                } else {
                    "those of its composition".to_owned()
                },
                early,
            )
        }
    }
}

fn speculation(kinds: [Speculatability; 2]) -> &'static str {
    match kinds {
        [a, b] if a != b => "depends on the types and the divisor",
        [Speculatability::Always, _] => "always: it cannot fail",
        [Speculatability::Recursive, _] => "if all operations in its regions are",
        [Speculatability::Never, _] => "never",
    }
}

fn control(edges: &[pir_ir::FlowEdge], def: &OpDef) -> String {
    let point = |point: FlowPoint, other: &str| match point {
        FlowPoint::Parent => other.to_owned(),
        FlowPoint::Region(at) => region_name(def, at),
    };
    let ways: Vec<String> = edges
        .iter()
        .map(|edge| format!("{} -> {}", point(edge.from, "operands"), point(edge.to, "results")))
        .collect();
    ways.join(", ")
}

/// The operation as it occurs in the documentation.
fn example(ctx: &Arc<Context>, def: &OpDef) -> Option<String> {
    EXAMPLES
        .iter()
        .filter(|text| text.contains(&*def.name))
        .find_map(|text| {
            let module = parse(ctx, text.as_bytes(), &ParseOptions::default()).module;
            find_op(&print(&module, &PrintOptions::default()), &def.name)
        })
}

/// An operation whose operands have no definitions.
struct Dummy {
    body: Body,
    op: OpId,
    typed: bool,
}

impl Dummy {
    fn new(ctx: &Context, name: OpName, def: &OpDef, ty: Type) -> Self {
        let mut body = Body::new();
        let root = body.root();
        let block = body.create_block(root);
        let mut operands = Vec::new();
        for spec in def.operands.iter().filter(|spec| spec.arity != Arity::Optional) {
            let value = body.create_placeholder(ty);
            Rewriter::new(ctx, &mut body).name(value, &spec.name);
            operands.push(value);
        }
        let regions: Vec<_> = def
            .regions
            .iter()
            .map(|_| {
                let region = body.create_region();
                body.create_block(region);
                region
            })
            .collect();
        let results: Vec<Type> = def.results.iter().map(|_| ty).collect();
        let op = body.create_op(OpSpec {
            operands: &operands,
            results: &results,
            regions: &regions,
            ..OpSpec::new(name)
        });
        body.append_op(block, op);
        for (at, spec) in def.results.iter().enumerate() {
            let result = body.result(op, at);
            Rewriter::new(ctx, &mut body).name(result, &spec.name);
        }
        let mut typed = def.results.is_empty();
        if let Some(Ok(types)) = def.infer.and_then(|infer| body.view(ctx, op).with_infer_args(infer))
            && types.len() == results.len()
        {
            typed = true;
            for (at, ty) in types.into_iter().enumerate() {
                let result = body.result(op, at);
                body.set_value_type(result, ty);
            }
        }
        Dummy { body, op, typed }
    }

    fn view<'a>(&'a self, ctx: &'a Context) -> OpView<'a> {
        self.body.view(ctx, self.op)
    }

    /// Whether the semantics of the operation, if it declares them, apply to its types and attributes.
    fn has_meaning(&self, ctx: &Context) -> bool {
        let view = self.view(ctx);
        let semantics = view.semantics().filter(|semantics| semantics.has_expansion());
        semantics.is_none_or(|semantics| semantics.is_pure(view).is_some())
    }

    fn effects(&self, ctx: &Context, def: &OpDef) -> String {
        let mut words: Vec<String> = self
            .view(ctx)
            .own_effects()
            .iter()
            .map(|effect| {
                let kind = match effect.kind {
                    EffectKind::Alloc => "makes",
                    EffectKind::Read => "reads",
                    EffectKind::Write => "writes",
                };
                match effect.target {
                    EffectTarget::Operand(at) => format!("{kind} {}", named(&def.operands, at)),
                    EffectTarget::Result(at) => format!("{kind} {}", named(&def.results, at)),
                    EffectTarget::World => format!("{kind} global state"),
                    EffectTarget::Memory => format!("{kind} buffers"),
                }
            })
            .collect();
        if def.has(Traits::RECURSIVE_EFFECTS) {
            words.push("those of the operations in it".to_owned());
        }
        if words.is_empty() {
            "none".to_owned()
        } else {
            words.join(", ")
        }
    }

    /// The line of the operation in the text, if it has no regions and needs no attributes.
    fn example(&self, ctx: &Context, def: &OpDef) -> Option<String> {
        let plain = def.regions.is_empty()
            && def.successors == 0
            && def.attrs.iter().all(|attr| attr.default.is_some())
            && !def.has(Traits::SYMBOL);
        (plain && self.typed).then(|| print_op(ctx, &self.body, self.op))
    }
}

fn named(specs: &[pir_ir::ValueSpec], at: usize) -> String {
    specs
        .get(at)
        .or(specs.last())
        .map_or_else(|| format!("#{at}"), |spec| format!("%{}", spec.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_can_be_described() {
        let ctx = pir_dialects::context();
        for op in ctx.ops() {
            let text = describe(&ctx, &op.name).unwrap();
            assert!(text.starts_with(&format!("{}: {}\n", op.name, op.summary)), "{text}");
            for part in ["effects:", "traits:", "gradient:", "speculatable:"] {
                assert!(text.contains(part), "{text}");
            }
        }
    }

    #[test]
    fn names_are_guessed() {
        let ctx = pir_dialects::context();
        let help = |name: &str| describe(&ctx, name).unwrap_err().help.unwrap();
        assert_eq!(help("pd.tahn"), "did you mean `pd.tanh`?");
        assert_eq!(help("while"), "did you mean `pd.while`?");
        assert_eq!(help("zzzzzzzz"), "`--list-ops` lists all operations");
    }
}
