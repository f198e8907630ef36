//! Tensors as text: nested lists, elided if they are long, and floats with the fewest digits that round-trip.

use std::fmt;

use half::{bf16, f16};

use super::{Complex, Data, Element, Part, Tensor};

/// The number of elements beyond which output is elided.
const SHOWN: usize = 1000;

impl fmt::Display for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("tensor<")?;
        for d in &self.shape {
            write!(f, "{d}x")?;
        }
        write!(f, "{}> ", self.dtype().name())?;
        // An empty tensor may have very many empty rows.
        let mut rows = self.shape.iter().scan(1usize, |count, &d| {
            *count = count.saturating_mul(d);
            Some(*count)
        });
        let edge = if rows.any(|count| count > SHOWN) { 3 } else { usize::MAX };
        self.write_elements(f, edge)
    }
}

impl Tensor {
    /// Nested lists; of a list with more than twice `edge` items, `edge` at both ends. Not recursive, since the program
    /// determines the rank.
    fn write_elements(&self, f: &mut fmt::Formatter<'_>, edge: usize) -> fmt::Result {
        if self.shape.is_empty() {
            return self.write_element(f, 0);
        }
        let mut steps = vec![1usize; self.shape.len()];
        for dim in (1..steps.len()).rev() {
            // Too large only if another dimension is zero.
            steps[dim - 1] = steps[dim].saturating_mul(self.shape[dim]);
        }
        // For each open list: the index of the next item, and the offset of the list.
        let mut open = vec![(0, 0)];
        f.write_str("[")?;
        while let Some((at, first)) = open.last().copied() {
            let dim = open.len() - 1;
            let n = self.shape[dim];
            let mut item = at;
            if item < n {
                if item > 0 {
                    f.write_str(", ")?;
                }
                if n / 2 > edge && item == edge {
                    f.write_str("…, ")?;
                    item = n - edge;
                }
                open[dim].0 = item + 1;
                if dim + 1 < self.shape.len() {
                    f.write_str("[")?;
                    open.push((0, first + item * steps[dim]));
                } else {
                    self.write_element(f, first + item)?;
                }
            } else {
                f.write_str("]")?;
                open.pop();
            }
        }
        Ok(())
    }

    fn write_element(&self, f: &mut fmt::Formatter<'_>, at: usize) -> fmt::Result {
        match &self.data {
            Data::I1(v) => write!(f, "{}", v[at]),
            Data::F16(v) => write_half(f, v[at].to_f32(), |s| f16::from_f32(s) == v[at]),
            Data::BF16(v) => write_half(f, v[at].to_f32(), |s| bf16::from_f32(s) == v[at]),
            Data::F32(v) => write_float(f, v[at]),
            Data::F64(v) => write_float(f, v[at]),
            Data::C64(v) => write_complex(f, v[at]),
            Data::C128(v) => write_complex(f, v[at]),
            other => crate::each_type!(other, v => write!(f, "{}", v[at].to_i64())),
        }
    }
}

fn write_float<T: Part + fmt::Display + fmt::LowerExp>(f: &mut fmt::Formatter<'_>, value: T) -> fmt::Result {
    match is_long(value.wide()) {
        true => write!(f, "{value:e}"),
        false => write!(f, "{value}"),
    }
}

fn write_complex<T: Part + fmt::Display + fmt::LowerExp>(f: &mut fmt::Formatter<'_>, value: Complex<T>) -> fmt::Result {
    f.write_str("(")?;
    write_float(f, value.re)?;
    f.write_str(", ")?;
    write_float(f, value.im)?;
    f.write_str(")")
}

/// Whether a number has so many digits that scientific notation is more readable.
fn is_long(value: f64) -> bool {
    value.is_finite() && value != 0.0 && !(1e-5..1e16).contains(&value.abs())
}

/// The fewest digits that round-trip; Rust prints the small float types as `f32`.
fn write_half(f: &mut fmt::Formatter<'_>, value: f32, reads_back: impl Fn(f32) -> bool) -> fmt::Result {
    let shortest = (0..8)
        .filter_map(|digits| format!("{value:.digits$e}").parse::<f32>().ok())
        .find(|&short| reads_back(short));
    match shortest {
        Some(short) if is_long(short.into()) => write!(f, "{short:e}"),
        Some(short) => write!(f, "{short}"),
        None => write!(f, "{value}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(shape: &[usize], values: Vec<f64>) -> String {
        Tensor::new(shape, values).map_or_else(|e| e, |t| t.to_string())
    }

    #[test]
    fn tensors_are_written_as_lists() {
        assert_eq!(text(&[], vec![0.5]), "tensor<f64> 0.5");
        assert_eq!(
            text(&[2, 2], vec![1.0, -0.0, 1e300, f64::NAN]),
            "tensor<2x2xf64> [[1, -0], [1e300, NaN]]"
        );
        assert_eq!(
            text(&[2, 1, 2], vec![1.0, 2.0, 3.0, 1e-9]),
            "tensor<2x1x2xf64> [[[1, 2]], [[3, 1e-9]]]"
        );
        assert_eq!(text(&[2, 0], vec![]), "tensor<2x0xf64> [[], []]");
        assert_eq!(text(&[0, 2], vec![]), "tensor<0x2xf64> []");
    }

    #[test]
    fn long_ones_are_cut() {
        let row = "0, 0, 0, …, 0, 0, 0";
        assert_eq!(text(&[1001], vec![0.0; 1001]), format!("tensor<1001xf64> [{row}]"));
        let rows = format!("[{row}], [{row}], [{row}]");
        assert_eq!(
            text(&[100, 20], vec![0.0; 2000]),
            format!("tensor<100x20xf64> [{rows}, …, {rows}]")
        );
        assert_eq!(
            text(&[1 << 30, 0], vec![]),
            "tensor<1073741824x0xf64> [[], [], [], …, [], [], []]"
        );
        assert_eq!(text(&[1; 200_000], vec![0.0]).matches('[').count(), 200_000);
    }

    #[test]
    fn small_floats_are_short() {
        assert_eq!(Tensor::scalar(f16::from_f32(0.1)).to_string(), "tensor<f16> 0.1");
        assert_eq!(
            Tensor::scalar(bf16::from_f32(3.3e38)).to_string(),
            "tensor<bf16> 3.3e38"
        );
        assert_eq!(Tensor::scalar(f16::NAN).to_string(), "tensor<f16> NaN");
        assert_eq!(Tensor::scalar(-f16::INFINITY).to_string(), "tensor<f16> -inf");
        for bits in 0..=u16::MAX {
            let value = f16::from_bits(bits);
            let text = Tensor::scalar(value).to_string();
            let read = f16::from_f64(text["tensor<f16> ".len()..].parse().unwrap());
            assert!(value.is_nan() && read.is_nan() || read.to_bits() == bits, "{text}");
        }
    }
}
