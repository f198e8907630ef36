//! Values in the syntax of the command line: `0.5`, `[[1, 2], [3, 4]]`, `rand`, `ones`, `zeros`.

use std::fmt;

use half::{bf16, f16};
use pir_interp::tensor::Complex;
use pir_interp::{DType, Tensor};

/// Lists nested more deeply are rejected.
const MAX_RANK: usize = 64;

/// A number.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Number {
    /// `true`, `false`.
    Bool(bool),
    /// `3`.
    Int(i64),
    /// `0.5`, `1e-3`, `inf`, `nan`.
    Float(f64),
    /// `1.5-2j`, as Python writes it.
    Complex(Complex<f64>),
}

impl Number {
    /// The number as a float; booleans are 0 and 1. Of a complex one it is the real part.
    pub fn as_f64(self) -> f64 {
        match self {
            Number::Bool(value) => f64::from(u8::from(value)),
            Number::Int(value) => value as f64,
            Number::Float(value) => value,
            Number::Complex(value) => value.re,
        }
    }

    fn as_complex(self) -> Complex<f64> {
        match self {
            Number::Complex(value) => value,
            real => Complex::new(real.as_f64(), 0.0),
        }
    }

    /// The number as an integer, if it is integral.
    pub fn as_i64(self) -> Option<i64> {
        match self {
            Number::Bool(value) => Some(i64::from(value)),
            Number::Int(value) => Some(value),
            Number::Float(value) => {
                // The bounds are powers of two, so exact; the upper one is just outside of the range.
                let fits = value.fract() == 0.0 && (-(2f64.powi(63))..2f64.powi(63)).contains(&value);
                fits.then_some(value as i64)
            }
            Number::Complex(_) => None,
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Bool(value) => write!(f, "{value}"),
            Number::Int(value) => write!(f, "{value}"),
            Number::Float(value) => write!(f, "{value:?}"),
            Number::Complex(value) => write!(f, "{:?}{:+?}j", value.re, value.im),
        }
    }
}

/// A tensor of a shape with the numbers of `next`.
///
/// # Errors
/// The number that the element type cannot represent, or insufficient memory.
fn tensor_of(dtype: DType, shape: &[usize], mut next: impl FnMut() -> Number) -> Result<Tensor, String> {
    let none = |number: Number| format!("{} has no element {number}", dtype.name());
    let real = |number: Number| match number {
        Number::Complex(_) => Err(none(number)),
        real => Ok(real.as_f64()),
    };
    macro_rules! integers {
        ($ty:ty) => {
            Tensor::generated(shape, || {
                let number = next();
                let whole = number.as_i64().and_then(|value| <$ty>::try_from(value).ok());
                whole.ok_or_else(|| none(number))
            })
        };
    }
    match dtype {
        DType::I1 => Tensor::generated(shape, || {
            let number = next();
            match number.as_i64() {
                Some(0) => Ok(false),
                Some(1) => Ok(true),
                _ => Err(none(number)),
            }
        }),
        DType::I8 => integers!(i8),
        DType::I16 => integers!(i16),
        DType::I32 => integers!(i32),
        DType::I64 => integers!(i64),
        DType::UI8 => integers!(u8),
        DType::UI16 => integers!(u16),
        DType::UI32 => integers!(u32),
        DType::UI64 => integers!(u64),
        DType::F16 => Tensor::generated(shape, || real(next()).map(f16::from_f64)),
        DType::BF16 => Tensor::generated(shape, || real(next()).map(bf16::from_f64)),
        DType::F32 => Tensor::generated(shape, || real(next()).map(|number| number as f32)),
        DType::F64 => Tensor::generated(shape, || real(next())),
        DType::C64 => Tensor::generated(shape, || Ok(Complex::<f32>::narrow(next().as_complex()))),
        DType::C128 => Tensor::generated(shape, || Ok(next().as_complex())),
    }
}

/// A value in the syntax of the command line.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// Pseudo-random numbers, determined by the seed and the name: floats from [-1, 1), integers from 0 to 9, booleans.
    Rand,
    /// One number for all elements.
    Fill(Number),
    /// Nested lists of numbers.
    List {
        /// The lengths of the lists, outer ones first.
        shape: Vec<usize>,
        /// The numbers, in row-major order.
        numbers: Vec<Number>,
    },
}

/// A syntax error in a value.
#[derive(Clone, PartialEq, Debug)]
pub struct ValueError {
    /// The byte offset.
    pub at: usize,
    /// The expected value.
    pub message: String,
}

impl fmt::Display for ValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Value {
    /// Reads a value.
    ///
    /// # Errors
    /// Where it is wrong.
    pub fn parse(text: &str) -> Result<Value, ValueError> {
        match text.trim() {
            "rand" => Ok(Value::Rand),
            "ones" => Ok(Value::Fill(Number::Int(1))),
            "zeros" => Ok(Value::Fill(Number::Int(0))),
            list if list.starts_with('[') => parse_list(text),
            word => match parse_number(word) {
                Some(number) => Ok(Value::Fill(number)),
                None => Err(ValueError {
                    at: 0,
                    message: "expected a number, a list like `[1, 2]`, `rand`, `ones` or `zeros`".to_owned(),
                }),
            },
        }
    }

    /// Converts the value to a tensor. `shape` is the declared one, and is not used for a list, which has its own;
    /// `stream` is the seed of random numbers.
    ///
    /// # Errors
    /// Why it cannot be converted.
    pub fn tensor(&self, dtype: DType, shape: &[usize], stream: u64) -> Result<Tensor, String> {
        match self {
            Value::Fill(number) => tensor_of(dtype, shape, || *number),
            Value::List { shape, numbers } => {
                // There is one number per element, since the shape is that of the list.
                let mut numbers = numbers.iter();
                tensor_of(dtype, shape, || numbers.next().copied().unwrap_or(Number::Int(0)))
            }
            Value::Rand => {
                let mut random = SplitMix(stream);
                tensor_of(dtype, shape, || random.number(dtype))
            }
        }
    }
}

/// The seed for an input, from that of the run and the input's name.
pub fn stream_of(seed: u64, name: &str) -> u64 {
    // FNV-1a: results must not depend on the version of a library.
    name.bytes().fold(0xCBF2_9CE4_8422_2325 ^ seed, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    })
}

/// The splitmix64 generator.
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn number(&mut self, dtype: DType) -> Number {
        let bits = self.next();
        // 53 bits: every value is exact and less than 1.
        let float = |bits: u64| (bits >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
        match dtype {
            _ if dtype.is_float() => Number::Float(float(bits)),
            _ if dtype.is_complex() => Number::Complex(Complex::new(float(bits), float(self.next()))),
            DType::I1 => Number::Bool(bits >> 63 == 1),
            _ => Number::Int((bits % 10) as i64),
        }
    }
}

fn parse_number(word: &str) -> Option<Number> {
    match word {
        "true" => return Some(Number::Bool(true)),
        "false" => return Some(Number::Bool(false)),
        _ => {}
    }
    if let Ok(value) = word.parse() {
        return Some(Number::Int(value));
    }
    if let Some(parts) = word.strip_suffix('j') {
        return parse_complex(parts).map(Number::Complex);
    }
    word.parse().ok().map(Number::Float)
}

/// `1.5-2` of `1.5-2j`, or `2` of `2j`. The sign of an exponent separates nothing.
fn parse_complex(parts: &str) -> Option<Complex<f64>> {
    let is_sign = |&(at, byte): &(usize, u8)| {
        at > 0 && matches!(byte, b'+' | b'-') && !matches!(parts.as_bytes()[at - 1], b'e' | b'E')
    };
    let split = parts.bytes().enumerate().rfind(is_sign);
    let (re, im) = parts.split_at_checked(split.map_or(0, |(at, _)| at))?;
    let re = if re.is_empty() { 0.0 } else { re.parse().ok()? };
    Some(Complex::new(re, im.parse().ok()?))
}

fn parse_list(text: &str) -> Result<Value, ValueError> {
    let error = |at: usize, message: &str| {
        Err(ValueError {
            at,
            message: message.to_owned(),
        })
    };
    let bytes = text.as_bytes();
    let mut numbers = Vec::new();
    // For each open list its number of items so far, and for each depth the length of the first completed list.
    let mut open: Vec<usize> = Vec::new();
    let mut lengths: Vec<Option<usize>> = Vec::new();
    let mut leaf_depth = None;
    let mut expect_item = true;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b if b.is_ascii_whitespace() => at += 1,
            b'[' if expect_item => {
                if open.len() == MAX_RANK {
                    return error(at, "lists are nested too deeply for a tensor");
                }
                if leaf_depth.is_some_and(|depth| open.len() >= depth) {
                    return error(at, "expected a number like those before it, not a list");
                }
                open.push(0);
                if lengths.len() < open.len() {
                    lengths.push(None);
                }
                at += 1;
            }
            b']' if !expect_item || open.last() == Some(&0) => {
                let Some(count) = open.pop() else {
                    return error(at, "unmatched `]`");
                };
                let depth = open.len();
                if count == 0 && leaf_depth.is_none() {
                    leaf_depth = Some(depth + 1);
                }
                match lengths[depth] {
                    None => lengths[depth] = Some(count),
                    Some(length) if length != count => {
                        return error(
                            at,
                            &format!("this list has {count} items, but the previous one has {length}"),
                        );
                    }
                    Some(_) => {}
                }
                at += 1;
                if let Some(outer) = open.last_mut() {
                    *outer += 1;
                    expect_item = false;
                } else if text[at..].trim().is_empty() {
                    let shape = lengths.into_iter().map(|l| l.unwrap_or(0)).collect();
                    return Ok(Value::List { shape, numbers });
                } else {
                    return error(at, "expected nothing after the list");
                }
            }
            b',' if !expect_item => {
                expect_item = true;
                at += 1;
                // Trailing commas are not accepted, as in the rest of the tool.
                if text[at..].trim_start().starts_with(']') {
                    return error(at, "expected an item after the comma");
                }
            }
            _ if expect_item => {
                let end = at
                    + bytes[at..]
                        .iter()
                        .take_while(|b| !matches!(b, b',' | b']' | b'[') && !b.is_ascii_whitespace())
                        .count();
                let Some(number) = text.get(at..end).and_then(parse_number) else {
                    return error(at, "expected a number or a list");
                };
                if *leaf_depth.get_or_insert(open.len()) != open.len() {
                    return error(at, "expected a list like those before it, not a number");
                }
                numbers.push(number);
                if let Some(count) = open.last_mut() {
                    *count += 1;
                }
                expect_item = false;
                at = end;
            }
            _ => return error(at, "expected `,` or `]`"),
        }
    }
    error(text.len(), "expected `]`")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> Result<(Vec<usize>, Vec<f64>), String> {
        match Value::parse(text) {
            Ok(Value::List { shape, numbers }) => Ok((shape, numbers.into_iter().map(Number::as_f64).collect())),
            Ok(other) => panic!("{other:?}"),
            Err(error) => Err(format!("{}: {}", error.at, error.message)),
        }
    }

    #[test]
    fn words_and_numbers() {
        assert_eq!(Value::parse("rand"), Ok(Value::Rand));
        assert_eq!(Value::parse(" ones "), Ok(Value::Fill(Number::Int(1))));
        assert_eq!(Value::parse("-1e-3"), Ok(Value::Fill(Number::Float(-1e-3))));
        assert_eq!(
            Value::parse("9007199254740993"),
            Ok(Value::Fill(Number::Int(9007199254740993)))
        );
        assert_eq!(Value::parse("true"), Ok(Value::Fill(Number::Bool(true))));
        assert_eq!(Value::parse("inf"), Ok(Value::Fill(Number::Float(f64::INFINITY))));
        let complex = |re, im| Ok(Value::Fill(Number::Complex(Complex::new(re, im))));
        assert_eq!(Value::parse("1.5-2j"), complex(1.5, -2.0));
        assert_eq!(Value::parse("-1e-3+2e-1j"), complex(-1e-3, 0.2));
        assert_eq!(Value::parse("3j"), complex(0.0, 3.0));
        assert!(Value::parse("1+j").is_err() && Value::parse("j").is_err());
        assert!(
            Value::Fill(Number::Complex(Complex::new(1.0, 2.0)))
                .tensor(DType::F64, &[], 0)
                .is_err()
        );
        assert!(Value::parse("one").is_err());
        assert!(Value::parse("").is_err());
    }

    #[test]
    fn lists_have_shapes() {
        assert_eq!(list("[1, 2,3]"), Ok((vec![3], vec![1.0, 2.0, 3.0])));
        assert_eq!(list("[[1,2],[3,4],[5,6]]").unwrap().0, [3, 2]);
        assert_eq!(list("[]"), Ok((vec![0], vec![])));
        assert_eq!(list("[[],[]]"), Ok((vec![2, 0], vec![])));
        assert_eq!(list("[[[0.5]]]"), Ok((vec![1, 1, 1], vec![0.5])));
    }

    #[test]
    fn lists_that_are_no_tensors_are_refused() {
        for (text, error) in [
            ("[1, 2", "5: expected `]`"),
            ("[1 2]", "3: expected `,` or `]`"),
            ("[1,]", "3: expected an item after the comma"),
            ("[[1,2],[3]]", "9: this list has 1 items, but the previous one has 2"),
            ("[[1],2]", "5: expected a list like those before it, not a number"),
            ("[1,[2]]", "3: expected a number like those before it, not a list"),
            ("[[],[1]]", "6: this list has 1 items, but the previous one has 0"),
            ("[1] x", "3: expected nothing after the list"),
            ("[x]", "1: expected a number or a list"),
            ("[,1]", "1: expected a number or a list"),
            ("[ü]", "1: expected a number or a list"),
        ] {
            assert_eq!(list(text), Err(error.to_owned()), "{text}");
        }
        assert!(list(&"[".repeat(1_000_000)).is_err());
    }

    #[test]
    fn random_numbers_depend_on_seed_and_name_only() {
        let numbers = |seed, name: &str| {
            Value::Rand
                .tensor(DType::F64, &[1000], stream_of(seed, name))
                .unwrap()
                .to_f64()
        };
        assert_eq!(numbers(1, "x"), numbers(1, "x"));
        assert_ne!(numbers(1, "x"), numbers(2, "x"));
        assert_ne!(numbers(1, "x"), numbers(1, "y"));
        let all = numbers(0, "x");
        assert!(all.iter().all(|n| (-1.0..1.0).contains(n)));
        let mean = all.iter().sum::<f64>() / 1000.0;
        assert!(mean.abs() < 0.1, "{mean}");
        let integers = Value::Rand.tensor(DType::I8, &[1000], 7).unwrap().to_i64();
        assert!(integers.iter().all(|i| (0..10).contains(i)));
        let truths = Value::Rand.tensor(DType::I1, &[1000], 7).unwrap().to_i64();
        assert!((400..600).contains(&truths.iter().sum::<i64>()));
    }

    #[test]
    fn numbers_that_a_type_does_not_have_are_refused() {
        let one = |dtype, number| {
            let tensor = Value::Fill(number).tensor(dtype, &[], 0);
            tensor.map(|t| {
                if dtype.is_float() {
                    t.to_f64()[0]
                } else {
                    t.to_i64()[0] as f64
                }
            })
        };
        assert_eq!(one(DType::I8, Number::Int(-128)), Ok(-128.0));
        assert_eq!(
            one(DType::I8, Number::Int(128)),
            Err("i8 has no element 128".to_owned())
        );
        assert_eq!(
            one(DType::UI8, Number::Int(-1)),
            Err("ui8 has no element -1".to_owned())
        );
        assert_eq!(
            one(DType::I64, Number::Float(0.5)),
            Err("i64 has no element 0.5".to_owned())
        );
        assert_eq!(one(DType::I64, Number::Float(3.0)), Ok(3.0));
        assert!(one(DType::I64, Number::Float(9.3e18)).is_err());
        assert!(one(DType::I64, Number::Float(f64::NAN)).is_err());
        assert!(one(DType::I1, Number::Int(2)).is_err());
        assert_eq!(one(DType::F32, Number::Bool(true)), Ok(1.0));
        assert_eq!(one(DType::F16, Number::Float(0.5)), Ok(0.5));
        assert!(
            Value::Fill(Number::Int(1))
                .tensor(DType::F32, &[1 << 40, 4], 0)
                .is_err()
        );
    }
}
