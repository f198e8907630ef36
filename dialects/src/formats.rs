//! What operations are in other formats, as far as it is a matter of names and order. The rows of the op tables say it:
//! `dialects/build/names.rs` makes these tables from their fields `paddle`, `program_desc`, `tensorflow` and `inplace`.

use pir_ir::Type;

/// An operand of an operation of PaddlePaddle's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PaddleOperand {
    /// Our operand of this name; absent where it is.
    Value(&'static str),
    /// Our operand of this name, of which the shape alone is read. Where it is absent, the attribute is its shape.
    Shaped(&'static str, &'static str),
    /// An attribute of ours that is a vector of integers, or the operand in its place.
    Ints(&'static str),
    /// An attribute of ours that is a number, or the operand in its place; and the type that PaddlePaddle gives it, where
    /// that does not follow from the number.
    Number(&'static str, Option<Type>),
}

/// An attribute of an operation of PaddlePaddle's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PaddleAttribute {
    /// Its name, and that of ours, if there is one.
    pub name: &'static str,
    /// Its kind in a saved program: `i32`, `i64s`, `dtype`.
    pub kind: &'static str,
    /// What it is where ours has none.
    pub default: &'static str,
}

/// What an operation is in PaddlePaddle.
#[derive(Clone, Copy, Debug)]
pub struct PaddleForm {
    /// Our name, without the dialect.
    pub op: &'static str,
    /// Its name there, without the dialect.
    pub name: &'static str,
    /// Its operands in the order there.
    pub operands: &'static [PaddleOperand],
    /// Its attributes.
    pub attributes: &'static [PaddleAttribute],
    /// What its twin that works in place changes: places of operands, each with that of the result.
    pub inplace: &'static [(usize, usize)],
}

impl PaddleForm {
    /// Whether an attribute of ours is said there, by an attribute or an operand.
    pub fn has(&self, name: &str) -> bool {
        self.attributes.iter().any(|a| a.name == name)
            || self.operands.iter().any(|operand| match *operand {
                PaddleOperand::Ints(n) | PaddleOperand::Number(n, _) | PaddleOperand::Shaped(_, n) => n == name,
                PaddleOperand::Value(_) => false,
            })
    }
}

/// What an operation of a ProgramDesc is here.
#[derive(Clone, Copy, Debug)]
pub struct ProgramDescForm {
    /// Its name there.
    pub kind: &'static str,
    /// Our operation.
    pub op: &'static str,
    /// The parameters of the operands, in our order; `X*` takes any number, `X?` may be absent.
    pub inputs: &'static [&'static str],
    /// The parameters of the results.
    pub outputs: &'static [&'static str],
    /// The attributes that mean something: their names there and here.
    pub attributes: &'static [(&'static str, &'static str)],
}

/// An input of an operation of TensorFlow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TensorFlowInput {
    /// Our operand in this place.
    Operand(usize),
    /// All our operands.
    Operands,
    /// A constant, which is an attribute here: a list of integers.
    List(&'static str),
    /// The same of one integer.
    Number(&'static str),
}

/// What an operation of TensorFlow is here.
#[derive(Clone, Copy, Debug)]
pub struct TensorFlowForm {
    /// Its name there.
    pub name: &'static str,
    /// Our operation.
    pub op: &'static str,
    /// Whether it is written too, and not only read.
    pub written: bool,
    /// Its inputs.
    pub inputs: &'static [TensorFlowInput],
    /// The types of the inputs, one behind the other: `bool`, `i32`, or the attribute that names the type; with `*` any number.
    pub types: &'static str,
    /// Its other attributes, one behind the other, with what they are when they are not given behind `=`.
    pub attrs: &'static str,
    /// Those that mean something here: the names there and here, and what it is here when it is not given.
    pub attributes: &'static [(&'static str, &'static str, &'static str)],
}

include!(concat!(env!("OUT_DIR"), "/pd_names.rs"));

/// What the operation `pd.NAME` is in PaddlePaddle. Nothing for one that it does not have or that a function translates.
pub fn paddle(name: &str) -> Option<&'static PaddleForm> {
    let at = PADDLE.binary_search_by_key(&name, |form| form.op).ok()?;
    PADDLE.get(at)
}

/// What an operation of a ProgramDesc is here.
pub fn program_desc(kind: &str) -> Option<&'static ProgramDescForm> {
    let at = PROGRAM_DESC.binary_search_by_key(&kind, |form| form.kind).ok()?;
    PROGRAM_DESC.get(at)
}

/// The names that an operation, `pd.add`, has in a ProgramDesc.
pub fn program_desc_names(op: &str) -> impl Iterator<Item = &'static str> {
    PROGRAM_DESC
        .iter()
        .filter(move |form| form.op == op)
        .map(|form| form.kind)
}

/// What an operation of TensorFlow is here.
pub fn from_tensorflow(name: &str) -> Option<&'static TensorFlowForm> {
    let at = TENSORFLOW.binary_search_by_key(&name, |form| form.name).ok()?;
    TENSORFLOW.get(at)
}

/// What an operation, `pd.add`, is written as for TensorFlow.
pub fn tensorflow(op: &str) -> Option<&'static TensorFlowForm> {
    TENSORFLOW.iter().find(|form| form.written && form.op == op)
}

/// The names that an operation, `pd.add`, has in TensorFlow.
pub fn tensorflow_names(op: &str) -> impl Iterator<Item = &'static str> {
    TENSORFLOW
        .iter()
        .filter(move |form| form.op == op)
        .map(|form| form.name)
}
