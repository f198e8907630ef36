//! Affine maps and sets as what they compute: `(d0, d1)[s0] -> (d0 + s0, d1 floordiv 2)`, `(d0) : (d0 - 1 >= 0, d0 == 4)`.

use pir_ir::{Attr, AttrData, Context, Rewriter, Type, ValueId};

use crate::mlir::values::{SLT, compare};
use crate::mlir::{arith, index_constant};

/// How many parts a map may have; none that anybody writes has more.
const MAX_PARTS: usize = 250;

/// An expression of an affine map.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Expr {
    /// A dimension, or after the dimensions a symbol.
    Input(usize),
    Number(i128),
    Of(Op, Box<[Expr; 2]>),
}

/// An operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Op {
    Add,
    Sub,
    Mul,
    Mod,
    FloorDiv,
    CeilDiv,
}

/// A relation to zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Relation {
    Equal,
    AtLeast,
}

/// A map, or the left sides of a set.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Map {
    pub(crate) dims: usize,
    /// Dimensions and symbols.
    pub(crate) inputs: usize,
    pub(crate) results: Vec<Expr>,
    /// For a set: the relation of each expression.
    pub(crate) relations: Vec<Relation>,
}

/// The words and signs of a text.
fn tokens(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '.');
        let len = if is_word(first) {
            rest.find(|c| !is_word(c)).unwrap_or(rest.len())
        } else if ["->", ">=", "<=", "=="].iter().any(|sign| rest.starts_with(sign)) {
            2
        } else {
            first.len_utf8()
        };
        let (token, behind) = rest.split_at(len);
        out.push(token);
        rest = behind.trim_start();
    }
    out
}

struct Reader<'a> {
    tokens: Vec<&'a str>,
    at: usize,
    names: Vec<&'a str>,
    parts: usize,
}

type Read<T> = Result<T, String>;

impl<'a> Reader<'a> {
    fn peek(&self) -> &'a str {
        self.tokens.get(self.at).copied().unwrap_or_default()
    }

    fn eat(&mut self, token: &str) -> bool {
        let is_next = self.peek() == token;
        self.at += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, token: &str) -> Read<()> {
        match self.eat(token) {
            true => Ok(()),
            false => Err(format!("expected `{token}` in a map, found `{}`", self.peek())),
        }
    }

    fn next(&mut self) -> &'a str {
        let token = self.peek();
        self.at += 1;
        token
    }

    fn list<T>(&mut self, close: &str, mut item: impl FnMut(&mut Self) -> Read<T>) -> Read<Vec<T>> {
        let mut out = Vec::new();
        if self.eat(close) {
            return Ok(out);
        }
        loop {
            out.push(item(self)?);
            if self.eat(close) {
                return Ok(out);
            }
            self.expect(",")?;
        }
    }

    /// Counts what is nested or in a row, on which reading and emitting recurse.
    fn part(&mut self) -> Read<()> {
        self.parts += 1;
        match self.parts <= MAX_PARTS {
            true => Ok(()),
            false => Err(format!("a map has more than {MAX_PARTS} parts")),
        }
    }

    fn of(&mut self, op: Op, a: Expr, b: Expr) -> Read<Expr> {
        self.part()?;
        Ok(Expr::Of(op, Box::new([a, b])))
    }

    fn sum(&mut self) -> Read<Expr> {
        let mut left = self.product()?;
        loop {
            let op = match self.peek() {
                "+" => Op::Add,
                "-" => Op::Sub,
                _ => return Ok(left),
            };
            self.at += 1;
            let right = self.product()?;
            left = self.of(op, left, right)?;
        }
    }

    fn product(&mut self) -> Read<Expr> {
        let mut left = self.factor()?;
        loop {
            let op = match self.peek() {
                "*" => Op::Mul,
                "mod" => Op::Mod,
                "floordiv" => Op::FloorDiv,
                "ceildiv" => Op::CeilDiv,
                _ => return Ok(left),
            };
            self.at += 1;
            let right = self.factor()?;
            left = self.of(op, left, right)?;
        }
    }

    fn factor(&mut self) -> Read<Expr> {
        self.part()?;
        if self.eat("(") {
            let inside = self.sum()?;
            self.expect(")")?;
            return Ok(inside);
        }
        if self.eat("-") {
            return match self.factor()? {
                Expr::Number(number) => Ok(Expr::Number(-number)),
                other => self.of(Op::Sub, Expr::Number(0), other),
            };
        }
        let token = self.next();
        if let Some(at) = self.names.iter().position(|name| *name == token) {
            return Ok(Expr::Input(at));
        }
        // A larger number is not an index.
        let number = token.parse::<i64>();
        number
            .map(|number| Expr::Number(number.into()))
            .map_err(|_| format!("a map has `{token}`, which is neither a number nor one of its inputs"))
    }

    fn constraint(&mut self) -> Read<(Expr, Relation)> {
        let left = self.sum()?;
        let sign = self.next();
        let right = self.sum()?;
        let (left, right, relation) = match sign {
            "==" => (left, right, Relation::Equal),
            ">=" => (left, right, Relation::AtLeast),
            "<=" => (right, left, Relation::AtLeast),
            _ => return Err(format!("expected a relation in a set, found `{sign}`")),
        };
        match right {
            Expr::Number(0) => Ok((left, relation)),
            right => Ok((self.of(Op::Sub, left, right)?, relation)),
        }
    }
}

impl Map {
    /// The map or set of an attribute.
    pub(crate) fn of(ctx: &Context, attr: Attr) -> Read<Map> {
        let AttrData::Opaque(text) = ctx.attr_data(attr) else {
            return Err("expected a map".to_owned());
        };
        let text = text.trim();
        let inside = ["affine_map<", "affine_set<"]
            .iter()
            .find_map(|start| text.strip_prefix(start))
            .and_then(|text| text.strip_suffix('>'));
        Map::read(inside.ok_or_else(|| format!("expected a map, found `{text}`"))?)
    }

    pub(crate) fn read(text: &str) -> Read<Map> {
        let mut reader = Reader {
            tokens: tokens(text),
            at: 0,
            names: Vec::new(),
            parts: 0,
        };
        reader.expect("(")?;
        let mut names = reader.list(")", |r| Ok(r.next()))?;
        let dims = names.len();
        if reader.eat("[") {
            names.extend(reader.list("]", |r| Ok(r.next()))?);
        }
        let inputs = names.len();
        reader.names = names;
        let (results, relations) = if reader.eat("->") {
            reader.expect("(")?;
            (reader.list(")", Reader::sum)?, Vec::new())
        } else {
            reader.expect(":")?;
            reader.expect("(")?;
            reader.list(")", Reader::constraint)?.into_iter().unzip()
        };
        match reader.at == reader.tokens.len() {
            true => Ok(Map {
                dims,
                inputs,
                results,
                relations,
            }),
            false => Err(format!("unexpected `{}` after a map", reader.peek())),
        }
    }

    /// Emits the results, of values of type index.
    pub(crate) fn emit(&self, r: &mut Rewriter<'_>, inputs: &[ValueId]) -> Read<Vec<ValueId>> {
        if inputs.len() != self.inputs {
            return Err(format!("its map takes {} values, not {}", self.inputs, inputs.len()));
        }
        self.results.iter().map(|result| result.emit(r, inputs)).collect()
    }
}

fn int(r: &mut Rewriter<'_>, name: &str, operands: [ValueId; 2]) -> ValueId {
    r.op(name).operands(operands).result(Type::INDEX).value()
}

impl Expr {
    pub(crate) fn emit(&self, r: &mut Rewriter<'_>, inputs: &[ValueId]) -> Read<ValueId> {
        let (op, [left, right]) = match self {
            Expr::Input(at) => {
                return inputs
                    .get(*at)
                    .copied()
                    .ok_or_else(|| "a map has too few values".to_owned());
            }
            Expr::Number(number) => return Ok(index_constant(r, *number)),
            Expr::Of(op, sides) => (*op, &**sides),
        };
        let is_positive = matches!(right, Expr::Number(number) if *number > 0);
        if matches!(op, Op::Mod | Op::FloorDiv | Op::CeilDiv) && !is_positive {
            return Err("a map divides by a value that is not positive".to_owned());
        }
        let (left, right) = (left.emit(r, inputs)?, right.emit(r, inputs)?);
        let name = match op {
            Op::Add => arith::Addi::NAME,
            Op::Sub => arith::Subi::NAME,
            Op::Mul => arith::Muli::NAME,
            Op::FloorDiv => arith::Floordivsi::NAME,
            Op::CeilDiv => arith::Ceildivsi::NAME,
            Op::Mod => {
                // The result has the sign of the divisor.
                let rest = int(r, arith::Remsi::NAME, [left, right]);
                let zero = index_constant(r, 0);
                let is_negative = compare(r, SLT, rest, zero);
                let other = int(r, arith::Addi::NAME, [rest, right]);
                let select = r.op(arith::Select::NAME).operands([is_negative, other, rest]);
                return Ok(select.result(Type::INDEX).value());
            }
        };
        Ok(int(r, name, [left, right]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_are_read_as_they_are_computed() {
        let map = Map::read("(i, j)[n] -> (i + 2 * j - n, -(i mod 3) floordiv 2)").unwrap();
        assert_eq!((map.dims, map.inputs, map.results.len()), (2, 3, 2));
        let set = Map::read("(d0) : (d0 - 1 >= 0, d0 <= 4, d0 == 2)").unwrap();
        assert_eq!(set.relations, [Relation::AtLeast, Relation::AtLeast, Relation::Equal]);
        for wrong in [
            "",
            "(d0",
            "(d0) -> (d1)",
            "(d0) -> (d0) x",
            "(d0) : (d0 > 1)",
            "() -> (99999999999999999999)",
        ] {
            assert!(Map::read(wrong).is_err(), "{wrong}");
        }
        let deep = format!("(d0) -> ({}d0{})", "(".repeat(5000), ")".repeat(5000));
        assert!(Map::read(&deep).is_err());
    }
}
