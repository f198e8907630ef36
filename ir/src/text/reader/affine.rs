//! Checks affine maps and sets: `(d0, d1)[s0] -> (d0 + s0, d1 floordiv 2)`, `(d0) : (d0 - 1 >= 0, d0 == 4)`.
//!
//! An expression is affine in the dimensions: of the factors of a product, one has no dimension, and neither has a divisor. The reader keeps
//! what is open in parentheses on a stack of its own, since nesting is not limited.

use crate::text::cursor;

/// A multiplicative operator.
#[derive(Clone, Copy)]
enum Product {
    Multiply,
    /// `floordiv`, `ceildiv` or `mod`, by the name.
    Divide(&'static str),
}

/// What has been read of an expression, in parentheses or not: whether there are dimensions in it.
#[derive(Default)]
struct Open {
    sum: bool,
    product: bool,
    operator: Option<Product>,
}

impl Open {
    /// Adds an operand, which has dimensions or not.
    fn operand(&mut self, has_dims: bool) -> Result<(), String> {
        self.product = match self.operator.take() {
            None => has_dims,
            Some(Product::Multiply) if self.product && has_dims => {
                return Err("one of the factors of a product must be a constant or a symbol".to_owned());
            }
            Some(Product::Divide(name)) if has_dims => {
                return Err(format!("the right operand of `{name}` must be a constant or a symbol"));
            }
            Some(_) => self.product || has_dims,
        };
        Ok(())
    }

    fn value(&self) -> bool {
        self.sum || self.product
    }
}

/// Checks the text between the angle brackets of a map or a set.
///
/// # Errors
/// What is wrong with it.
pub(super) fn check(text: &[u8], is_map: bool) -> Result<(), String> {
    let mut names: Vec<&[u8]> = Vec::new();
    let mut num_dims = 0;
    let mut rest = text.trim_ascii();
    for (open, optional) in [(b'(', false), (b'[', true)] {
        if rest.first() != Some(&open) {
            if optional {
                continue;
            }
            return Err("the dimensions are written in parentheses".to_owned());
        }
        let end = cursor::balanced_end(rest, 0).ok_or("a bracket is not closed")?;
        let inside = rest[1..end - 1].trim_ascii();
        for name in inside
            .split(|&b| b == b',')
            .map(<[u8]>::trim_ascii)
            .filter(|_| !inside.is_empty())
        {
            if cursor::name(name).map_or(0, |(_, word)| word.len()) != name.len() || name.is_empty() {
                return Err(format!("`{}` is not a dimension name", String::from_utf8_lossy(name)));
            }
            names.push(name);
        }
        num_dims = if optional { num_dims } else { names.len() };
        rest = rest[end..].trim_ascii_start();
    }
    let mut sorted = names.clone();
    sorted.sort_unstable();
    if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(format!("`{}` is defined twice", String::from_utf8_lossy(twice[0])));
    }
    let arrow: &[u8] = if is_map { b"->" } else { b":" };
    rest = rest
        .strip_prefix(arrow)
        .ok_or_else(|| format!("expected `{}` after the dimensions", String::from_utf8_lossy(arrow)))?
        .trim_ascii();
    if rest.first() != Some(&b'(') || cursor::balanced_end(rest, 0) != Some(rest.len()) {
        return Err("the expressions are written in parentheses".to_owned());
    }
    let inside = rest[1..rest.len() - 1].trim_ascii();
    match inside.is_empty() {
        true => Ok(()),
        false => expressions(inside, &names, num_dims, is_map),
    }
}

/// Checks expressions with commas between them, or in a set relations of expressions.
fn expressions(text: &[u8], names: &[&[u8]], num_dims: usize, is_map: bool) -> Result<(), String> {
    let mut open = vec![Open::default()];
    let (mut wants_operand, mut has_relation) = (true, is_map);
    let mut at = 0;
    while at < text.len() {
        if text[at].is_ascii_whitespace() {
            at += 1;
            continue;
        }
        let word = cursor::name(&text[at..]).map_or(&b""[..], |(_, word)| word);
        let digits = text[at..].iter().take_while(|b| b.is_ascii_digit()).count();
        let depth = open.len();
        let Some(top) = open.last_mut() else { break };
        let unexpected = |len: usize| {
            let found = String::from_utf8_lossy(&text[at..(at + len).min(text.len())]);
            format!("`{found}` is not expected there")
        };
        if wants_operand {
            match text[at] {
                b'(' => open.push(Open::default()),
                b'-' => {}
                _ if digits > 0 => {
                    top.operand(false)?;
                    wants_operand = false;
                }
                _ if !word.is_empty() => {
                    let place = names.iter().position(|name| *name == word).ok_or_else(|| {
                        format!(
                            "`{}` is not one of its dimensions or symbols",
                            String::from_utf8_lossy(word)
                        )
                    })?;
                    top.operand(place < num_dims)?;
                    wants_operand = false;
                }
                _ => return Err(unexpected(1)),
            }
            at += digits.max(word.len()).max(1);
            continue;
        }
        let relation = [&b">="[..], b"<=", b"=="]
            .into_iter()
            .any(|sign| text[at..].starts_with(sign));
        wants_operand = true;
        at += match (text[at], word) {
            (b'+' | b'-', _) => {
                top.sum = top.value();
                top.product = false;
                1
            }
            (b'*', _) => {
                top.operator = Some(Product::Multiply);
                1
            }
            (_, b"floordiv") => {
                top.operator = Some(Product::Divide("floordiv"));
                word.len()
            }
            (_, b"ceildiv") => {
                top.operator = Some(Product::Divide("ceildiv"));
                word.len()
            }
            (_, b"mod") => {
                top.operator = Some(Product::Divide("mod"));
                word.len()
            }
            (b')', _) if depth > 1 => {
                let value = top.value();
                open.pop();
                if let Some(outer) = open.last_mut() {
                    outer.operand(value)?;
                }
                wants_operand = false;
                1
            }
            (b',', _) if depth == 1 && has_relation => {
                *top = Open::default();
                has_relation = is_map;
                1
            }
            _ if relation && depth == 1 && !has_relation => {
                *top = Open::default();
                has_relation = true;
                2
            }
            _ => return Err(unexpected(word.len().max(1))),
        };
    }
    match (wants_operand, has_relation) {
        (true, _) => Err("an operand is missing at the end".to_owned()),
        (false, false) => Err("a constraint needs `>=`, `<=` or `==`".to_owned()),
        (false, true) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn maps_and_sets() {
        for map in [
            "() -> ()",
            "(d0, d1)[s0] -> (d0 floordiv 2, d1 + s0)",
            "(d0)[s0, s1] -> (-d0 * (s0 + 1) - 3 mod s1, s0 * s1, d0 ceildiv s0)",
            "(i, j) -> (((i + j)) - -1, i-1,j*2+i)",
        ] {
            assert_eq!(check(map.as_bytes(), true), Ok(()), "{map}");
        }
        for set in ["(i) : (i - 1 >= 0, i == 3)", "(d0)[s0] : (d0 <= s0)", "() : ()"] {
            assert_eq!(check(set.as_bytes(), false), Ok(()), "{set}");
        }
    }

    #[test]
    fn what_is_not_affine_or_not_an_expression() {
        for (map, part) in [
            ("hello", "parentheses"),
            ("(d0) -> (d1)", "`d1` is not one of"),
            ("(d0, d0) -> (d0)", "defined twice"),
            ("(d0, d1) -> (d0 * d1)", "factors"),
            ("(d0, d1) -> ((d0 + 1) * (2 - d1))", "factors"),
            ("(d0)[s0] -> (s0 mod d0)", "right operand of `mod`"),
            ("(d0) -> (4 floordiv (d0 + 1))", "right operand of `floordiv`"),
            ("(d0) -> (d0 +)", "missing at the end"),
            ("(d0) -> (d0 d0)", "`d0` is not expected"),
            ("(d0) -> (d0,)", "missing at the end"),
            ("(d0) -> (d0 >= 0)", "`>` is not expected"),
            ("(d0) -> (* d0)", "`*` is not expected"),
        ] {
            let why = check(map.as_bytes(), true).unwrap_err();
            assert!(why.contains(part), "{map}: {why}");
        }
        for set in ["(d0) : (d0)", "(d0) : (d0 >= 0 >= 1)", "(d0) : (0 >= 1, d0)"] {
            assert!(check(set.as_bytes(), false).is_err(), "{set}");
        }
    }

    #[test]
    fn nested_at_will() {
        let text = format!("(d0) -> ({}d0{})", "(".repeat(100_000), ")".repeat(100_000));
        assert_eq!(check(text.as_bytes(), true), Ok(()));
    }
}
