//! Operations in other formats, as far as names and order differ. `dialects/build/names.rs` generates these tables from
//! the fields `paddle`, `program_desc`, `tensorflow` and `inplace` of the op tables, and, as far as PaddlePaddle's results differ, the fields
//! `overwritten`, `wrong_in_paddle` and `paddle_gradient`.

use pir_ir::{OpView, Type};

/// An operand of a PaddlePaddle operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PaddleOperand {
    /// The row's operand of this name, if it is present.
    Value(&'static str),
    /// The row's operand of this name, if only its shape is used. If it is absent, the attribute is its shape.
    Shaped(&'static str, &'static str),
    /// An integer list attribute of the row, or the operand that replaces it.
    Ints(&'static str),
    /// A number attribute of the row, or the operand that replaces it; and its type in PaddlePaddle, if the number does
    /// not imply it.
    Number(&'static str, Option<Type>),
}

/// An attribute of a PaddlePaddle operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PaddleAttribute {
    /// Its name, and the name in the row, if it is there.
    pub name: &'static str,
    /// Its type in a saved program: `i32`, `i64s`, `dtype`.
    pub kind: &'static str,
    /// Its value if the row has none.
    pub default: &'static str,
}

/// An operation in PaddlePaddle.
#[derive(Clone, Copy, Debug)]
pub struct PaddleForm {
    /// The row's name, without the dialect.
    pub op: &'static str,
    /// PaddlePaddle's name, without the dialect.
    pub name: &'static str,
    /// Its operands in PaddlePaddle's order.
    pub operands: &'static [PaddleOperand],
    /// Its attributes.
    pub attributes: &'static [PaddleAttribute],
    /// The operands that its in-place variant changes, as indices, each with the index of the result.
    pub inplace: &'static [(usize, usize)],
}

impl PaddleForm {
    /// Whether an attribute of the row is expressed by an attribute or an operand.
    pub fn has(&self, name: &str) -> bool {
        self.attributes.iter().any(|a| a.name == name)
            || self.operands.iter().any(|operand| match *operand {
                PaddleOperand::Ints(n) | PaddleOperand::Number(n, _) | PaddleOperand::Shaped(_, n) => n == name,
                PaddleOperand::Value(_) => false,
            })
    }
}

/// What is known of how PaddlePaddle computes an operation.
#[derive(Clone, Copy, Debug)]
pub struct PaddleFacts {
    op: &'static str,
    /// The operand, by index, that its executor overwrites before it has read the others.
    pub overwritten: Option<usize>,
    /// The operand, by index, for batches of which it computes something else: if it has more than two dimensions.
    wrong_batch: Option<usize>,
    /// Its gradient operation.
    pub gradient: PaddleGradient,
}

/// A gradient operation of PaddlePaddle, compared with the rule or the composition here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PaddleGradient {
    /// Nothing is known.
    AsExpected,
    /// It does at once what the rule takes several operations for.
    Fused,
    /// It adds up what a place that is given twice was set to, or reads places that are counted from the end as others.
    WrongIfRepeated,
    /// It differs from finite differences.
    Wrong,
    /// It differs from finite differences if the attribute is infinite.
    WrongIfInfinite(&'static str),
}

/// What is known of how PaddlePaddle computes the operation `pd.NAME`.
pub fn paddle_facts(name: &str) -> Option<&'static PaddleFacts> {
    let name = name.strip_prefix("pd.")?;
    let at = PADDLE_FACTS.binary_search_by_key(&name, |facts| facts.op).ok()?;
    PADDLE_FACTS.get(at)
}

/// What is known of PaddlePaddle's gradient operation of the operation `pd.NAME`.
pub fn paddle_gradient(name: &str) -> PaddleGradient {
    paddle_facts(name).map_or(PaddleGradient::AsExpected, |facts| facts.gradient)
}

/// Whether PaddlePaddle's gradient operation of this operation is known to differ from finite differences.
pub fn is_gradient_wrong(op: OpView<'_>) -> bool {
    match paddle_gradient(op.name()) {
        PaddleGradient::Wrong => true,
        PaddleGradient::WrongIfInfinite(attr) => op.f64(attr).is_some_and(f64::is_infinite),
        PaddleGradient::AsExpected | PaddleGradient::Fused | PaddleGradient::WrongIfRepeated => false,
    }
}

/// Whether PaddlePaddle's operation is known to compute something else than its composition here.
pub fn differs_in_paddle(op: OpView<'_>) -> bool {
    let operand = paddle_facts(op.name()).and_then(|facts| facts.wrong_batch);
    let dims = operand.and_then(|at| op.ctx.as_tensor(op.operand_type(at)?));
    dims.is_some_and(|(dims, _)| dims.len() > 2)
}

/// An operation of a ProgramDesc.
#[derive(Clone, Copy, Debug)]
pub struct ProgramDescForm {
    /// Its name in the ProgramDesc.
    pub kind: &'static str,
    /// The row's name.
    pub op: &'static str,
    /// The parameters of the operands, in the row's order; `X*` takes any number, `X?` may be absent.
    pub inputs: &'static [&'static str],
    /// The parameters of the results.
    pub outputs: &'static [&'static str],
    /// The attributes with semantics: their names in the ProgramDesc and in the row.
    pub attributes: &'static [(&'static str, &'static str)],
}

/// An input of a TensorFlow operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TensorFlowInput {
    /// The row's operand with this index.
    Operand(usize),
    /// All operands of the row.
    Operands,
    /// A constant for an integer list attribute.
    List(&'static str),
    /// A constant for an integer attribute.
    Number(&'static str),
}

/// An operation of TensorFlow.
#[derive(Clone, Copy, Debug)]
pub struct TensorFlowForm {
    /// TensorFlow's name.
    pub name: &'static str,
    /// The row's name.
    pub op: &'static str,
    /// Whether it is also written, not only read.
    pub written: bool,
    /// Its inputs.
    pub inputs: &'static [TensorFlowInput],
    /// The types of the inputs, separated by blanks: `bool`, `i32`, or the attribute that names the type; with `*` any
    /// number.
    pub types: &'static str,
    /// Its other attributes, separated by blanks, with their defaults after `=`.
    pub attrs: &'static str,
    /// The attributes with semantics: TensorFlow's name, the row's name, and the value if it is absent in the row.
    pub attributes: &'static [(&'static str, &'static str, &'static str)],
}

include!(concat!(env!("OUT_DIR"), "/pd_names.rs"));

/// The PaddlePaddle form of the operation `pd.NAME`; `None` if there is none or a function translates it.
pub fn paddle(name: &str) -> Option<&'static PaddleForm> {
    let at = PADDLE.binary_search_by_key(&name, |form| form.op).ok()?;
    PADDLE.get(at)
}

/// The form of a ProgramDesc operation.
pub fn program_desc(kind: &str) -> Option<&'static ProgramDescForm> {
    let at = PROGRAM_DESC.binary_search_by_key(&kind, |form| form.kind).ok()?;
    PROGRAM_DESC.get(at)
}

/// The names of an operation, `pd.add`, in a ProgramDesc.
pub fn program_desc_names(op: &str) -> impl Iterator<Item = &'static str> {
    PROGRAM_DESC
        .iter()
        .filter(move |form| form.op == op)
        .map(|form| form.kind)
}

/// The form of a TensorFlow operation.
pub fn from_tensorflow(name: &str) -> Option<&'static TensorFlowForm> {
    let at = TENSORFLOW.binary_search_by_key(&name, |form| form.name).ok()?;
    TENSORFLOW.get(at)
}

/// The TensorFlow form in which an operation, `pd.add`, is written.
pub fn tensorflow(op: &str) -> Option<&'static TensorFlowForm> {
    TENSORFLOW.iter().find(|form| form.written && form.op == op)
}

/// The names of an operation, `pd.add`, in TensorFlow.
pub fn tensorflow_names(op: &str) -> impl Iterator<Item = &'static str> {
    TENSORFLOW
        .iter()
        .filter(move |form| form.op == op)
        .map(|form| form.name)
}

#[cfg(test)]
mod tests {
    use pir_ir::text;

    use super::*;

    fn facts_of(line: &str) -> (bool, bool) {
        let program = format!(
            "%w = pd.data {{name = \"w\", shape = [2, 3], dtype = f32}} : tensor<2x3xf32>\n\
             %v = pd.data {{name = \"v\", shape = [2, 3, 3], dtype = f32}} : tensor<2x3x3xf32>\n{line}\n"
        );
        let parsed = text::parse(&crate::context(), program.as_bytes(), &Default::default());
        assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
        let (ctx, body) = (&*parsed.module.ctx, &parsed.module.body);
        let last = body.walk_all().last().unwrap();
        let view = body.view(ctx, last);
        (is_gradient_wrong(view), differs_in_paddle(view))
    }

    #[test]
    fn rows_state_what_paddlepaddle_computes_otherwise() {
        let distance = |p: &str| facts_of(&format!("%d = pd.dist (%w, %w) {{p = {p}}} : tensor<f32>")).0;
        assert!(distance("inf") && !distance("2.0"));
        let gradient = |values: &str| {
            let line = format!("%g = pd.eigvalsh_grad ({values}) : tensor<2x3x3xf32>");
            facts_of(&line).1
        };
        assert!(gradient("%v, %w") && !gradient("%w, %v"));
        assert!(!facts_of("%s = pd.add (%w, %w) : tensor<2x3xf32>").1);
        assert_eq!(paddle_gradient("pd.gelu"), PaddleGradient::Fused);
        assert_eq!(paddle_gradient("pd.group_norm"), PaddleGradient::Wrong);
        assert_eq!(paddle_gradient("pd.index_put"), PaddleGradient::WrongIfRepeated);
        assert_eq!(paddle_gradient("pd.tanh"), PaddleGradient::AsExpected);
        let overwritten = |name| paddle_facts(name).and_then(|facts| facts.overwritten);
        assert_eq!((overwritten("pd.addmm"), overwritten("pd.gelu")), (Some(0), None));
    }
}
