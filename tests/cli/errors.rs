//! Errors of invalid programs must suggest what to do.

use crate::run_tool::{command, with_input};

const OPT: &str = env!("CARGO_BIN_EXE_pir-opt");

fn said(program: &str) -> String {
    with_input(command(OPT, &["--diagnostics=fancy", "-"]), program).fails(1)
}

#[test]
fn a_syntax_error() {
    insta::assert_snapshot!(said(
        "%x = pd.full {shape = [2], value = 1, dtype = f32 : tensor<2xf32>\n\
         %y = pd.add (%x %x) : tensor<2xf32>\n\
         %z = pd.tanh %x)\n\
         pd.fetch (%x) {name = \"x\"}\n"
    ));
}

#[test]
fn an_unknown_operation() {
    insta::assert_snapshot!(said(
        "%x = pd.data {name = \"x\", shape = [4], dtype = f32} : tensor<4xf32>\n\
         %y = pd.sigmiod (%x) : tensor<4xf32>\n\
         %z = my.op (%y) : tensor<4xf32>\n"
    ));
}

#[test]
fn a_wrong_yield() {
    insta::assert_snapshot!(said(
        "%zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>\n\
         %ten = pd.full {shape = [1], value = 10, dtype = i64} : tensor<1xi64>\n\
         %n = pd.while (%zero) cond (%i: tensor<1xi64>) {\n  \
           %go = pd.less_than (%i, %ten) : tensor<1xi1>\n  \
           cf.cond_yield (%go, %i)\n\
         } body (%j: tensor<1xi64>) {\n  \
           %k = pd.cast (%j) {dtype = f32} : tensor<1xf32>\n  \
           cf.yield (%k)\n\
         } : tensor<1xi64>\n"
    ));
}

#[test]
fn a_yield_of_too_much() {
    insta::assert_snapshot!(said(
        "%c = pd.full {shape = [], value = true, dtype = i1} : tensor<i1>\n\
         %r = pd.if (%c) then {\n  \
           cf.yield (%c)\n\
         } else {\n  \
           cf.yield (%c, %c)\n\
         } : tensor<i1>\n"
    ));
}

#[test]
fn a_value_out_of_scope() {
    insta::assert_snapshot!(said(
        "%c = pd.full {shape = [], value = true, dtype = i1} : tensor<i1>\n\
         pd.if (%c) then {\n  \
           %inside = pd.logical_not (%c) : tensor<i1>\n\
         }\n\
         pd.fetch (%inside) {name = \"c\"}\n\
         pd.fetch (%insid) {name = \"d\"}\n\
         pd.fetch (%d) {name = \"d\"}\n"
    ));
}

#[test]
fn wrong_types() {
    insta::assert_snapshot!(said(
        "%a = pd.full {shape = [2, 3], value = 1, dtype = f32} : tensor<2x3xf32>\n\
         %b = pd.full {shape = [4], value = 1, dtype = f32} : tensor<4xf32>\n\
         %c = pd.add (%a, %b) : tensor<2x3xf32>\n\
         %d = pd.tanh (%a) : tensor<3x2xf32>\n\
         %e = pd.full {shape = [2], value = 1, dtype = f32} : tensor<2xf33>\n"
    ));
}
