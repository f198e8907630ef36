//! The dialect of the tests.

use std::sync::Arc;

use smallvec::smallvec;

use crate::text::parse_type;
use crate::{
    Arity, Context, ContextBuilder, DialectDef, Mark, OpDef, Presence, RegionSpec, Traits, Type, TypeDef, ValueSpec,
};

fn value(name: &'static str) -> ValueSpec {
    ValueSpec {
        name: name.into(),
        arity: Arity::Variadic,
        ty: "any".into(),
    }
}

fn region(keywords: &'static [&'static str], presence: Presence, bare: bool) -> RegionSpec {
    RegionSpec {
        keywords,
        presence,
        bare,
    }
}

#[rustfmt::skip]
const ATTRIBUTES: &[&str] = &[
    "value", "shape", "dtype", "name", "sym_name", "function_type", "sym_visibility", "arg_attrs", "res_attrs", "callee",
    "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s", "t", "u", "x",
];

fn op(name: &'static str, results: bool) -> OpDef {
    let mut def = OpDef::new(name, "");
    def.operands = vec![value("x")].into();
    if results {
        def.results = vec![value("out")].into();
        def.infer = Some(|args| Ok(smallvec![args.operand_type(0).unwrap_or(Type::F32)]));
    }
    def
}

/// Branches and loops.
fn control_flow() -> [OpDef; 2] {
    let mut if_op = op("pd.if", true);
    if_op.infer = Some(|_| Ok(smallvec![]));
    if_op.implicit_terminator = Some("cf.yield");
    if_op.regions = vec![
        region(&["init"], Presence::MayBeAbsent, false),
        region(&["then"], Presence::Required, true),
        region(&["else"], Presence::MayBeEmpty, false),
    ];
    let mut while_op = op("pd.while", true);
    while_op.infer = Some(|args| {
        let body = args.body;
        let end = args
            .regions
            .get(args.regions.len().wrapping_sub(2))
            .and_then(|&r| body.region_terminator(r));
        let end = end.ok_or("no cond region")?;
        Ok(body.operands(end).skip(1).map(|v| body.value_type(v)).collect())
    });
    while_op.region_args = Some(|args, index| {
        let types = args.operands.iter().map(|&v| args.body.value_type(v));
        match args
            .regions
            .get(index.wrapping_sub(1))
            .and_then(|&r| args.body.region_terminator(r))
        {
            None => Some(types.collect()),
            Some(end) => {
                let cond = args.ctx.op_str(args.body.op_name(end)) == "cf.cond_yield";
                Some(
                    args.body
                        .operands(end)
                        .skip(usize::from(cond))
                        .map(|v| args.body.value_type(v))
                        .collect(),
                )
            }
        }
    });
    while_op.regions = vec![
        region(&["init"], Presence::MayBeAbsent, false),
        region(&["cond"], Presence::Required, true),
        region(&["body", "do"], Presence::Required, false),
    ];
    [if_op, while_op]
}

pub(super) fn context() -> Arc<Context> {
    let mut constant = op("pd.const", true);
    constant.traits = Traits::CONSTANT;
    let mut stack = op("cf.create_stack", true);
    stack.infer = Some(|args| {
        Ok(smallvec![
            parse_type(&args.ctx.shared().ok_or("no context")?, "cf.stack").map_err(|e| e.message)?
        ])
    });
    let mut yields = op("cf.yield", false);
    yields.traits = Traits::TERMINATOR;
    let mut cond_yield = op("cf.cond_yield", false);
    cond_yield.traits = Traits::TERMINATOR;
    let mut branch = op("pd.condition_branch", false);
    branch.traits = Traits::TERMINATOR;
    branch.successors = 2;
    let mut func = op("func.func", false);
    func.traits = Traits::FUNCTION | Traits::ISOLATED | Traits::SYMBOL;
    func.regions = vec![region(&[], Presence::Required, true)];
    let mut ret = op("func.return", false);
    ret.traits = Traits::TERMINATOR;
    let mut module = op("builtin.module", false);
    module.traits = Traits::ISOLATED | Traits::SYMBOL | Traits::SYMBOL_TABLE | Traits::NO_TERMINATOR;
    module.regions = vec![region(&[], Presence::Required, true)];
    let mut builder = ContextBuilder::new();
    // What these operations have as attributes is not what is tested here.
    let anything = |&name: &&'static str| Mark::anywhere(name, "any", "");
    builder.register_marks(ATTRIBUTES.iter().map(anything));
    let dialect = |name: &'static str, types: &[&'static str]| DialectDef {
        name: name.into(),
        summary: "".into(),
        types: types.iter().map(|&t| TypeDef::new(format!("{name}.{t}"), "")).collect(),
        other_types: false,
    };
    builder.register(
        dialect("pd", &[]),
        vec![
            op("pd.add", true),
            op("pd.full", true),
            op("pd.fetch", false),
            constant,
            branch,
        ]
        .into_iter()
        .chain(control_flow())
        .collect::<Vec<_>>(),
    );
    builder.register(
        dialect("cf", &["stack"]),
        vec![
            stack,
            yields,
            cond_yield,
            op("cf.push_back", false),
            op("cf.pop_back", true),
        ],
    );
    builder.register(dialect("func", &[]), vec![func, ret, op("func.call", true)]);
    builder.register(dialect("builtin", &[]), vec![module]);
    builder
        .register_alias("module", "builtin.module")
        .register_alias("pd.yield", "cf.yield");
    builder.build()
}
