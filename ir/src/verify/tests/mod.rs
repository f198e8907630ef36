mod blocks;
mod memory;

use std::sync::Arc;

use super::*;
use crate::{
    Arity, AttrData, AttrSpec, BlockId, ContextBuilder, DialectDef, InsertPoint, List, Mark, OpId, OpSpec, Presence,
    RegionId, RegionSpec, Rewriter, Successor, Text, Type, ValueId, ValueSpec,
};

fn values(specs: &[(&'static str, Arity)]) -> List<ValueSpec> {
    specs
        .iter()
        .map(|&(name, arity)| ValueSpec {
            name: name.into(),
            arity,
            ty: "Tensor".into(),
        })
        .collect()
}

const REQUIRED: RegionSpec = RegionSpec {
    keywords: &["then"],
    presence: Presence::Required,
    bare: false,
};

fn context() -> Arc<Context> {
    let op =
        |name: &'static str, operands: &[(&'static str, Arity)], results: &[(&'static str, Arity)], traits: Traits| {
            let mut def = OpDef::new(name, "a test");
            def.operands = values(operands);
            def.results = values(results);
            def.traits = traits;
            def
        };
    use Arity::{One, Optional, Variadic};
    let many = [("xs", Variadic)];
    let mut add = op("t.add", &[("x", One), ("y", One)], &[("out", One)], Traits::empty());
    add.infer = Some(|args| match (args.operand_type(0), args.operand_type(1)) {
        (Some(x), Some(y)) if x == y => Ok([x].into_iter().collect()),
        _ => Err("x and y differ".into()),
    });
    let mut konst = op("t.const", &[], &[("out", One)], Traits::CONSTANT);
    konst.attrs = vec![AttrSpec {
        name: "value".into(),
        ty: "int".into(),
        default: None,
    }]
    .into();
    konst.verify = Some(|view, out| {
        if view.int("value") == Some(13) {
            out.push(
                Diagnostic::error("unlucky", "13")
                    .label(view.body.op_span(view.op), "")
                    .help("12"),
            );
        }
    });
    let mut branch = op("t.if", &[("cond", One)], &[("out", Variadic)], Traits::empty());
    branch.regions = vec![
        REQUIRED,
        RegionSpec {
            keywords: &["else"],
            presence: Presence::MayBeEmpty,
            bare: false,
        },
    ];
    let mut jump = op("t.br", &[], &[], Traits::TERMINATOR);
    jump.successors = 1;
    let mut fork = op("t.fork", &[("cond", One)], &[], Traits::TERMINATOR);
    fork.successors = 2;
    let mut func = op(
        "t.func",
        &[],
        &[],
        Traits::ISOLATED | Traits::SYMBOL | Traits::SYMBOL_TABLE | Traits::FUNCTION,
    );
    func.regions = vec![REQUIRED];
    let mut graph = op("t.graph", &[], &[], Traits::GRAPH_REGION | Traits::NO_TERMINATOR);
    graph.regions = vec![REQUIRED];
    let mut builder = ContextBuilder::new();
    let some = |name: &'static str| Mark::anywhere(name, "any", "");
    builder.register_marks(["sym_name", "function_type", "callee"].map(some));
    builder.register_marks([Mark::on("place", "int", &[Text::Borrowed("t.use")], "")]);
    builder.register(
        DialectDef {
            name: "t".into(),
            summary: "tests".into(),
            types: vec![],
            other_types: false,
        },
        vec![
            op("t.def", &many, &many, Traits::empty()),
            op("t.use", &[("x", One), ("y", Optional)], &[], Traits::empty()),
            op("t.end", &many, &[], Traits::TERMINATOR),
            op("t.call", &many, &many, Traits::empty()),
            op("t.mark", &[], &[], Traits::SYMBOL),
            add,
            konst,
            branch,
            jump,
            fork,
            func,
            graph,
        ],
    );
    builder.build()
}

/// Builds operations at an insertion point; each has a distinct span, in the order of creation.
struct Build<'a> {
    rw: Rewriter<'a>,
    clock: usize,
}

fn at_top<'a>(ctx: &'a Context, body: &'a mut Body) -> Build<'a> {
    let top = body.region_blocks(body.root())[0];
    let mut rw = Rewriter::new(ctx, body);
    rw.at_end(top);
    Build { rw, clock: 0 }
}

impl Build<'_> {
    fn op(&mut self, name: &str, operands: &[ValueId], results: &[Type]) -> OpId {
        self.full(name, operands, results, &[], &[])
    }

    fn full(
        &mut self,
        name: &str,
        operands: &[ValueId],
        results: &[Type],
        regions: &[RegionId],
        successors: &[Successor],
    ) -> OpId {
        self.clock += 10;
        let mut spec = OpSpec::new(self.rw.ctx.op_name(name));
        spec.operands = operands;
        spec.results = results;
        spec.regions = regions;
        spec.successors = successors;
        spec.span = crate::Span::new(self.clock, self.clock + 5);
        self.rw.create(spec)
    }

    fn def(&mut self) -> ValueId {
        let op = self.op("t.def", &[], &[Type::F32]);
        self.rw.body.result(op, 0)
    }

    fn attr(&mut self, op: OpId, name: &str, value: crate::Attr) -> OpId {
        let dict = self.rw.ctx.dict_with(self.rw.body.attrs(op), name, value);
        self.rw.body.set_attrs(op, dict);
        op
    }

    fn region(&mut self) -> (RegionId, BlockId) {
        let region = self.rw.body.create_region();
        (region, self.rw.body.create_block(region))
    }

    fn inside<R>(&mut self, block: BlockId, f: impl FnOnce(&mut Self) -> R) -> R {
        let point = self.rw.point();
        self.rw.set_point(InsertPoint::End(block));
        let result = f(self);
        self.rw.set_point(point);
        result
    }

    fn func(&mut self, name: &str, ty: Type, body: Body) -> OpId {
        let op = self.op("t.func", &[], &[]);
        self.attr(op, "sym_name", self.rw.ctx.str_attr(name));
        self.attr(op, "function_type", self.rw.ctx.type_attr(ty));
        self.rw.body.set_isolated(op, body);
        op
    }
}

fn check_with(build: impl FnOnce(&mut Build<'_>), options: VerifyOptions) -> Vec<Diagnostic> {
    let ctx = context();
    let mut module = Module::new(ctx.clone());
    build(&mut at_top(&ctx, &mut module.body));
    let errors = verify_with(&module, options);
    for error in &errors {
        assert!(error.help.is_some(), "no help: {}", error.message);
        assert!(!error.labels.is_empty(), "no label: {}", error.message);
    }
    errors
}

fn check(build: impl FnOnce(&mut Build<'_>)) -> Vec<Diagnostic> {
    check_with(build, VerifyOptions::default())
}

fn codes(build: impl FnOnce(&mut Build<'_>)) -> Vec<&'static str> {
    check(build).into_iter().map(|e| e.code).collect()
}

fn only(build: impl FnOnce(&mut Build<'_>)) -> Diagnostic {
    let mut errors = check(build);
    assert_eq!(errors.len(), 1, "{errors:#?}");
    errors.remove(0)
}

/// A function body with one block, ended by `t.end`.
fn function(ctx: &Context, inside: impl FnOnce(&mut Build<'_>)) -> Body {
    let mut body = Body::new();
    let root = body.root();
    body.create_block(root);
    let mut b = at_top(ctx, &mut body);
    inside(&mut b);
    b.op("t.end", &[], &[]);
    body
}

#[test]
fn a_good_program_has_no_errors() {
    let errors = check(|b| {
        let x = b.def();
        b.op("t.use", &[x], &[]);
        b.op("t.add", &[x, x], &[Type::F32]);
        let (then, block) = b.region();
        let other = b.rw.body.create_region();
        b.inside(block, |b| {
            let y = b.def();
            b.op("t.end", &[x, y], &[]);
        });
        b.full("t.if", &[x], &[Type::F32], &[then, other], &[]);
        let ctx = b.rw.ctx;
        let f = function(ctx, |b| {
            let call = b.op("t.call", &[], &[]);
            b.attr(
                call,
                "callee",
                b.rw.ctx.attr(AttrData::Symbol([b.rw.ctx.sym("f")].into())),
            );
        });
        b.func("f", ctx.function_type(&[], &[]), f);
    });
    assert_eq!(errors, []);
}

#[test]
fn unregistered_operations() {
    let e = only(|b| {
        b.op("t.ad", &[], &[]);
    });
    assert_eq!(
        (e.code, e.help.as_deref()),
        ("unregistered-op", Some("did you mean `t.add`?"))
    );
    let allowed = VerifyOptions {
        allow_unregistered: true,
    };
    let errors = check_with(
        |b| {
            b.op("u.x", &[], &[]);
        },
        allowed,
    );
    assert_eq!(errors, []);
}

#[test]
fn counts_are_told_with_the_declared_names() {
    let e = only(|b| {
        let x = b.def();
        b.op("t.add", &[x], &[Type::F32]);
    });
    assert_eq!(e.message, "`t.add` takes 2 operands (x, y), not 1");
    assert_eq!(e.code, "operand-count");
    let e = only(|b| {
        b.op("t.use", &[], &[]);
    });
    assert_eq!(e.message, "`t.use` takes 1 to 2 operands (x, [y]), not 0");
    let e = only(|b| {
        let x = b.def();
        b.op("t.add", &[x, x], &[]);
    });
    assert_eq!(
        (e.code, &*e.message),
        ("result-count", "`t.add` has 1 result (out), not 0")
    );
    let e = only(|b| {
        let x = b.def();
        b.op("t.if", &[x], &[]);
    });
    assert_eq!(
        (e.code, &*e.message),
        ("region-count", "`t.if` has 2 regions (then, else), not 0")
    );
    let e = only(|b| {
        b.op("t.br", &[], &[]);
    });
    assert_eq!(
        (e.code, &*e.message),
        ("successor-count", "`t.br` needs 1 successor, found 0")
    );
}

#[test]
fn attributes_are_there_and_of_their_type() {
    let e = only(|b| {
        b.op("t.const", &[], &[Type::F32]);
    });
    assert_eq!(
        (e.code, &*e.message),
        ("missing-attribute", "`t.const` needs the attribute `value`")
    );
    let e = only(|b| {
        let op = b.op("t.const", &[], &[Type::F32]);
        b.attr(op, "value", b.rw.ctx.str_attr("1"));
    });
    assert_eq!(e.code, "attribute-type");
}

#[test]
fn attributes_are_declared() {
    let with = |op: &'static str, name: &'static str| {
        move |b: &mut Build<'_>| {
            let arg = b.op("t.const", &[], &[Type::F32]);
            let one = b.rw.ctx.int_attr(1);
            b.attr(arg, "value", one);
            let value = b.rw.body.results(arg).next().unwrap();
            let operands: &[ValueId] = if op == "t.use" { &[value] } else { &[] };
            let op = b.op(op, operands, &[]);
            b.attr(op, name, one);
        }
    };
    let e = only(with("t.use", "plcae"));
    assert_eq!(
        (e.code, &*e.message, e.help.as_deref()),
        (
            "unknown-attribute",
            "`t.use` has no attribute `plcae`",
            Some("did you mean `place`?")
        )
    );
    // A mark sits on the operations that it was declared for.
    let e = only(with("t.def", "place"));
    assert_eq!(
        (e.code, &*e.message),
        ("unknown-attribute", "the mark `t.def` is not permitted on `place`")
    );
    assert!(codes(with("t.use", "place")).is_empty());
    assert!(codes(with("t.use", "my.note")).is_empty());
}

#[test]
fn the_hook_of_the_definition_runs_last() {
    let e = only(|b| {
        let op = b.op("t.const", &[], &[Type::F32]);
        b.attr(op, "value", b.rw.ctx.int_attr(13));
    });
    assert_eq!(e.code, "unlucky");
    let e = only(|b| {
        let op = b.op("t.const", &[], &[]);
        b.attr(op, "value", b.rw.ctx.int_attr(13));
    });
    assert_eq!(e.code, "result-count");
}

#[test]
fn blocks_end_in_a_terminator_and_only_there() {
    let with = |inside: fn(&mut Build<'_>)| {
        move |b: &mut Build<'_>| {
            let x = b.def();
            let (then, block) = b.region();
            let other = b.rw.body.create_region();
            b.inside(block, inside);
            b.full("t.if", &[x], &[], &[then, other], &[]);
        }
    };
    assert_eq!(codes(with(|_| {})), ["empty-block"]);
    assert_eq!(
        codes(with(|b| {
            b.def();
        })),
        ["missing-terminator"]
    );
    assert_eq!(
        codes(with(|b| {
            b.op("t.end", &[], &[]);
            b.op("t.end", &[], &[]);
        })),
        ["terminator-not-last"]
    );
    let e = only(|b| {
        let x = b.def();
        let regions = [b.rw.body.create_region(), b.rw.body.create_region()];
        b.full("t.if", &[x], &[], &regions, &[]);
    });
    assert_eq!(
        (e.code, &*e.message),
        ("empty-region", "the then region of `t.if` has no block")
    );
    let e = only(|b| {
        let mut body = Body::new();
        let root = body.root();
        body.create_block(root);
        let ty = b.rw.ctx.function_type(&[], &[]);
        b.func("f", ty, body);
    });
    assert_eq!(e.code, "empty-block");
}

#[test]
fn uses_stand_behind_definitions() {
    let e = only(|b| {
        let x = b.def();
        let user = b.op("t.use", &[x], &[]);
        let def = b.rw.body.defining_op(x).unwrap();
        b.rw.name(x, "x");
        b.rw.body.unlink_op(user);
        b.rw.body.insert_before(def, user);
    });
    assert_eq!(
        (e.code, &*e.message),
        ("use-before-definition", "%x is used before it is defined")
    );
    assert_eq!(e.labels.len(), 2);
    // An operation cannot use its own result, neither as an operand nor inside.
    assert_eq!(
        codes(|b| {
            let x = b.def();
            let op = b.op("t.def", &[x], &[Type::F32]);
            let own = b.rw.body.result(op, 0);
            b.rw.body.set_operand(op, 0, own);
        }),
        ["use-before-definition"]
    );
    let e = only(|b| {
        let x = b.def();
        let (then, block) = b.region();
        let other = b.rw.body.create_region();
        let op = b.full("t.if", &[x], &[Type::F32], &[then, other], &[]);
        let own = b.rw.body.result(op, 0);
        b.inside(block, |b| b.op("t.end", &[own], &[]));
    });
    assert_eq!(
        e.help.as_deref(),
        Some("the results of an operation are not visible in its own regions")
    );
}

#[test]
fn a_value_is_not_visible_outside_its_region() {
    let e = only(|b| {
        let x = b.def();
        let (then, block) = b.region();
        let other = b.rw.body.create_region();
        let y = b.inside(block, |b| {
            let y = b.def();
            b.op("t.end", &[], &[]);
            y
        });
        b.rw.name(y, "y");
        b.full("t.if", &[x], &[], &[then, other], &[]);
        b.op("t.use", &[y], &[]);
        b.op("t.use", &[y], &[]);
    });
    assert_eq!(e.code, "not-visible");
    assert_eq!(
        e.message,
        "%y is not visible here: a value defined in a region is not visible outside it"
    );
}

#[test]
fn sibling_regions_do_not_see_each_other() {
    assert_eq!(
        codes(|b| {
            let x = b.def();
            let ((then, a), (other, c)) = (b.region(), b.region());
            let y = b.inside(a, |b| {
                let y = b.def();
                b.op("t.end", &[], &[]);
                y
            });
            b.inside(c, |b| b.op("t.end", &[y], &[]));
            b.full("t.if", &[x], &[], &[then, other], &[]);
        }),
        ["not-visible"]
    );
}

#[test]
fn removed_definitions_are_found() {
    assert_eq!(
        codes(|b| {
            let x = b.def();
            b.op("t.use", &[x], &[]);
            let def = b.rw.body.defining_op(x).unwrap();
            b.rw.body.unlink_op(def);
        }),
        ["undefined-value"]
    );
}

#[test]
fn graph_regions_have_no_order() {
    assert_eq!(
        codes(|b| {
            let (region, block) = b.region();
            b.inside(block, |b| {
                let x = b.def();
                let user = b.op("t.use", &[x], &[]);
                let def = b.rw.body.defining_op(x).unwrap();
                b.rw.body.unlink_op(user);
                b.rw.body.insert_before(def, user);
            });
            b.full("t.graph", &[], &[], &[region], &[]);
        }),
        [""; 0]
    );
}

#[test]
fn isolated_operations_own_a_body() {
    assert_eq!(
        codes(|b| {
            let op = b.op("t.func", &[], &[]);
            b.attr(op, "sym_name", b.rw.ctx.str_attr("f"));
        }),
        ["isolation"]
    );
    assert_eq!(
        codes(|b| {
            let op = b.op("t.def", &[], &[]);
            let body = function(b.rw.ctx, |_| {});
            b.rw.body.set_isolated(op, body);
        }),
        ["isolation"]
    );
}

#[test]
fn symbols_are_unique() {
    let mark = |b: &mut Build<'_>, name: &str| {
        let op = b.op("t.mark", &[], &[]);
        b.attr(op, "sym_name", b.rw.ctx.str_attr(name));
    };
    let e = only(|b| {
        mark(b, "a");
        mark(b, "b");
        mark(b, "a");
        let f = function(b.rw.ctx, |b| mark(b, "a"));
        let ty = b.rw.ctx.function_type(&[], &[]);
        b.func("c", ty, f);
    });
    assert_eq!(
        (e.code, &*e.message),
        ("duplicate-symbol", "the symbol `@a` is defined twice")
    );
    assert_eq!(
        codes(|b| {
            b.op("t.mark", &[], &[]);
        }),
        ["missing-symbol-name"]
    );
}

#[test]
fn calls_fit_what_they_call() {
    let call = |path: &'static [&'static str], operands: usize, results: &'static [Type]| {
        codes(move |b| {
            let ctx = b.rw.ctx;
            let x = b.def();
            let f = function(ctx, |b| {
                let inner = function(b.rw.ctx, |_| {});
                let ty = b.rw.ctx.function_type(&[], &[]);
                b.func("inner", ty, inner);
            });
            b.func("f", ctx.function_type(&[Type::F32], &[Type::F32]), f);
            let mark = b.op("t.mark", &[], &[]);
            b.attr(mark, "sym_name", ctx.str_attr("m"));
            let op = b.op("t.call", &vec![x; operands], results);
            let path = path.iter().map(|s| ctx.sym(s)).collect();
            b.attr(op, "callee", ctx.attr(AttrData::Symbol(path)));
        })
    };
    assert_eq!(call(&["f"], 1, &[Type::F32]), [""; 0]);
    assert_eq!(call(&["f", "inner"], 0, &[]), [""; 0]);
    assert_eq!(call(&["g"], 1, &[Type::F32]), ["unknown-symbol"]);
    assert_eq!(call(&["m"], 1, &[Type::F32]), ["not-callable"]);
    assert_eq!(call(&["f"], 2, &[Type::F32]), ["call-operands"]);
    assert_eq!(call(&["f"], 1, &[Type::F64]), ["call-results"]);
}

#[test]
fn result_types_are_what_is_inferred() {
    let add = |a: &'static [i64], b_: &'static [i64], out: &'static [i64]| {
        check(move |b| {
            let [a, c, out] = [a, b_, out].map(|s| b.rw.ctx.tensor(s, Type::F32));
            let op = b.op("t.def", &[], &[a, c]);
            let (x, y) = (b.rw.body.result(op, 0), b.rw.body.result(op, 1));
            b.op("t.add", &[x, y], &[out]);
        })
    };
    assert_eq!(add(&[4], &[4], &[4]), []);
    assert_eq!(add(&[4], &[4], &[crate::DYNAMIC]), []);
    let errors = add(&[4, 2], &[4, 2], &[4, 3]);
    assert_eq!(errors[0].code, "result-type");
    assert_eq!(
        errors[0].message,
        "the result `out` of `t.add` is written as tensor<4x3xf32>, but is tensor<4x2xf32>"
    );
    let errors = add(&[4], &[5], &[4]);
    assert_eq!(
        (errors[0].code, &*errors[0].message),
        ("inference", "`t.add`: x and y differ")
    );
}

#[test]
fn types_nested_beyond_reading_are_cut() {
    let ctx = context();
    let mut ty = Type::F32;
    for _ in 0..100_000 {
        ty = ctx.function_type(&[ty], &[]);
    }
    assert!(describe_type(&ctx, ty).contains('…'));
}

#[test]
fn deep_nesting_is_walked_without_recursion() {
    let errors = check(|b| {
        let x = b.def();
        let mut inner: Option<OpId> = None;
        for _ in 0..100_000 {
            let (then, block) = b.region();
            let other = b.rw.body.create_region();
            if let Some(op) = inner {
                b.rw.set_point(InsertPoint::End(block)).move_here(op);
            }
            b.inside(block, |b| b.op("t.end", &[x], &[]));
            b.rw.set_point(InsertPoint::Detached);
            inner = Some(b.full("t.if", &[x], &[], &[then, other], &[]));
        }
        let top = b.rw.body.region_blocks(b.rw.body.root())[0];
        b.rw.at_end(top).move_here(inner.unwrap());
    });
    assert_eq!(errors, []);
}
