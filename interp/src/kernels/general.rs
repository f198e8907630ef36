//! Eigenvalues and eigenvectors of general matrices, in double precision.
//!
//! A real matrix is reduced to Hessenberg form by reflections, and to quasi-triangular form, with blocks of two rows,
//! by Francis's steps (Golub and Van Loan, *Matrix Computations*, 7.5). So complex eigenvalues come in exact pairs.
//! Complex rotations make the blocks triangular; the eigenvectors are solutions of triangular systems. A complex matrix is
//! reduced to triangular form by steps with one shift.

use super::lapack::{Batch, integers, lead};
use super::number::Number;
use super::{Inputs, Outputs, take};
use crate::tensor::{Complex, DType, Shape, Tensor};

type C = Complex<f64>;

const ZERO: C = C::new(0.0, 0.0);
const ONE: C = C::new(1.0, 0.0);

/// After how many steps for one eigenvalue the search is given up; three are usual.
const STEPS: usize = 90;

/// The eigenvalues (of a real matrix their real and imaginary parts), the left and right eigenvectors in columns, and whether they
/// were found. Vectors have length one, and their largest element is real and positive; LAPACK leaves the sign open.
pub(super) fn geev(left: bool, right: bool, inputs: Inputs) -> Result<Outputs, String> {
    let [a] = take(inputs)?;
    let batch = Batch::of(&a)?;
    let n = batch.square()?;
    let is_real = !matches!(a.dtype(), DType::C64 | DType::C128);
    let complex = match a.dtype() {
        DType::F32 | DType::C64 => DType::C64,
        _ => DType::C128,
    };
    let all = C::elements(&a)?;
    let (mut values, mut info) = (Vec::new(), vec![0; batch.count]);
    let mut vectors = [left, right].map(|_| vec![ZERO; all.len()]);
    let matrices = all.chunks(batch.size()).take(if n == 0 { 0 } else { batch.count });
    for (at, matrix) in matrices.enumerate() {
        let Some(schur) = Schur::of(matrix, n, is_real) else {
            info[at] = 1;
            values.extend(vec![C::new(f64::NAN, f64::NAN); n]);
            continue;
        };
        values.extend((0..n).map(|k| schur.t[k * n + k]));
        let own = at * n * n..(at + 1) * n * n;
        if left {
            schur.vectors(&mut vectors[0][own.clone()], Schur::left);
        }
        if right {
            schur.vectors(&mut vectors[1][own], Schur::right);
        }
    }
    let shape: Shape = lead(&a).iter().copied().chain([n]).collect();
    let mut out = Outputs::new();
    match is_real {
        true => {
            for part in [|x: &C| x.re, |x: &C| x.im] {
                out.push(Tensor::new(&shape, values.iter().map(part).collect::<Vec<_>>())?.cast(a.dtype())?);
            }
        }
        false => out.push(Tensor::new(&shape, values)?.cast(complex)?),
    }
    for vectors in vectors {
        out.push(Tensor::new(a.shape(), vectors)?.cast(complex)?);
    }
    out.push(integers(lead(&a), None, info)?);
    Ok(out)
}

/// A unitary matrix and an upper triangular one: `a = z t zᴴ`.
struct Schur {
    n: usize,
    t: Vec<C>,
    z: Vec<C>,
    /// Whether it is of a real matrix, whose complex eigenvalues are in pairs.
    is_real: bool,
}

impl Schur {
    fn of(matrix: &[C], n: usize, is_real: bool) -> Option<Self> {
        if !matrix.iter().all(|x| x.is_finite()) {
            return None;
        }
        if !is_real {
            return Self::of_complex(matrix, n);
        }
        let mut real = Real {
            n,
            h: matrix.iter().map(|x| x.re).collect(),
            z: (0..n * n).map(|p| f64::from(u8::from(p / n == p % n))).collect(),
        };
        real.hessenberg();
        let pairs = real.triangular()?;
        let wide = |list: Vec<f64>| list.into_iter().map(|x| C::new(x, 0.0)).collect();
        let (t, z) = (wide(real.h), wide(real.z));
        let mut schur = Schur { n, t, z, is_real };
        pairs.into_iter().for_each(|k| schur.split(k));
        Some(schur)
    }

    fn of_complex(matrix: &[C], n: usize) -> Option<Self> {
        let mut schur = Schur {
            n,
            t: matrix.to_vec(),
            z: (0..n * n).map(|p| if p / n == p % n { ONE } else { ZERO }).collect(),
            is_real: false,
        };
        // Rotations of neighbouring rows take what is below the second diagonal to zero, from the last row on.
        for k in 0..n.saturating_sub(2) {
            for i in (k + 2..n).rev() {
                schur.rotate(i - 1, schur.t[(i - 1) * n + k], schur.t[i * n + k]);
                schur.t[i * n + k] = ZERO;
            }
        }
        let (mut end, mut steps) = (n, 0);
        while end > 1 {
            let last = end - 1;
            let t = |i: usize, j: usize| schur.t[i * n + j];
            let small = |k: usize| {
                let beside = t(k, k).abs() + t(k - 1, k - 1).abs();
                t(k, k - 1).abs() <= f64::EPSILON * if beside == 0.0 { 1.0 } else { beside }
            };
            let first = (1..=last).rev().find(|&k| small(k)).unwrap_or(0);
            if first > 0 {
                schur.t[first * n + first - 1] = ZERO;
            }
            if first == last {
                (end, steps) = (last, 0);
                continue;
            }
            if steps >= STEPS {
                return None;
            }
            steps += 1;
            schur.step(first, last, steps % 10 == 0);
        }
        Some(schur)
    }

    /// Rotates two neighbouring rows, and the columns of the same numbers, by the rotation that takes `(x, y)` to `(r, 0)`.
    fn rotate(&mut self, k: usize, x: C, y: C) {
        let n = self.n;
        let size = length(&[x, y]);
        if y == ZERO || size == 0.0 {
            return;
        }
        let (c, s) = (x * (1.0 / size), y * (1.0 / size));
        for column in 0..n {
            let (p, q) = (self.t[k * n + column], self.t[(k + 1) * n + column]);
            self.t[k * n + column] = C::conj(c) * p + C::conj(s) * q;
            self.t[(k + 1) * n + column] = c * q - s * p;
        }
        for m in [&mut self.t, &mut self.z] {
            for row in m.chunks_mut(n) {
                let (p, q) = (row[k], row[k + 1]);
                row[k] = p * c + q * s;
                row[k + 1] = q * C::conj(c) - p * C::conj(s);
            }
        }
    }

    /// A step with one shift (Wilkinson's), from the first to the last row of what is not yet triangular.
    fn step(&mut self, first: usize, last: usize, is_unusual: bool) {
        let n = self.n;
        let t = |i: usize, j: usize| self.t[i * n + j];
        let (a, d, product) = (
            t(last - 1, last - 1),
            t(last, last),
            t(last - 1, last) * t(last, last - 1),
        );
        let half = (a - d) * 0.5;
        let root = (half * half + product).sqrt();
        // The eigenvalue of the last block that is nearer to its last element.
        let far = if (half + root).abs() >= (half - root).abs() {
            half + root
        } else {
            half - root
        };
        let shift = match is_unusual {
            // Where the usual shifts go in a circle.
            true => d + C::new(t(last, last - 1).abs(), 0.0),
            false if far == ZERO => d,
            false => d - product / far,
        };
        let (mut x, mut y) = (t(first, first) - shift, t(first + 1, first));
        for k in first..last {
            if k > first {
                (x, y) = (self.t[k * n + k - 1], self.t[(k + 1) * n + k - 1]);
            }
            self.rotate(k, x, y);
            if k > first {
                self.t[(k + 1) * n + k - 1] = ZERO;
            }
        }
    }

    /// Makes a block of two rows with complex eigenvalues triangular; the first gets the positive imaginary part.
    fn split(&mut self, k: usize) {
        let n = self.n;
        let at = |i: usize, j: usize| (k + i) * n + k + j;
        let [a, b, c, d] = [at(0, 0), at(0, 1), at(1, 0), at(1, 1)].map(|p| self.t[p].re);
        let half = (a - d) / 2.0;
        let value = C::new((a + d) / 2.0, (-b * c - half * half).max(0.0).sqrt());
        // The eigenvector of the block, and the vector orthogonal to it.
        let (x, y) = (C::new(b, 0.0), value - C::new(a, 0.0));
        let size = length(&[x, y]);
        let (x, y) = (x * (1.0 / size), y * (1.0 / size));
        for row in 0..n {
            for m in [&mut self.t, &mut self.z] {
                let (p, q) = (m[row * n + k], m[row * n + k + 1]);
                m[row * n + k] = p * x + q * y;
                m[row * n + k + 1] = q * C::conj(x) - p * C::conj(y);
            }
        }
        for column in 0..n {
            let (p, q) = (self.t[k * n + column], self.t[(k + 1) * n + column]);
            self.t[k * n + column] = C::conj(x) * p + C::conj(y) * q;
            self.t[(k + 1) * n + column] = x * q - y * p;
        }
        self.t[at(0, 0)] = value;
        self.t[at(1, 0)] = ZERO;
        self.t[at(1, 1)] = C::conj(value);
    }

    /// The vectors that are found of the triangular matrix, in the columns of `out`.
    fn vectors(&self, out: &mut [C], solve: fn(&Self, usize) -> Vec<C>) {
        let n = self.n;
        for k in 0..n {
            let is_second = self.is_real && k > 0 && self.t[k * n + k].im < 0.0;
            let vector = if is_second {
                // The vectors of a pair are conjugates as its values are.
                (0..n).map(|i| C::conj(out[i * n + k - 1])).collect()
            } else {
                let inner = solve(self, k);
                let row = |i: usize| &self.z[i * n..(i + 1) * n];
                let vector: Vec<C> = (0..n).map(|i| product(row(i), &inner)).collect();
                unit(vector, self.is_real && self.t[k * n + k].im == 0.0)
            };
            vector.into_iter().enumerate().for_each(|(i, x)| out[i * n + k] = x);
        }
    }

    /// Equal eigenvalues are kept apart by a rounding.
    fn gap(&self, i: usize, k: usize) -> C {
        let n = self.n;
        let least = f64::EPSILON * (self.t[k * n + k].abs() + self.t[i * n + i].abs()).max(f64::MIN_POSITIVE);
        let gap = self.t[k * n + k] - self.t[i * n + i];
        if gap.abs() < least { C::new(least, 0.0) } else { gap }
    }

    fn right(&self, k: usize) -> Vec<C> {
        let n = self.n;
        let mut x = vec![ZERO; n];
        x[k] = ONE;
        for i in (0..k).rev() {
            let sum = product(&self.t[i * n + i + 1..=i * n + k], &x[i + 1..=k]);
            x[i] = sum / self.gap(i, k);
        }
        x
    }

    fn left(&self, k: usize) -> Vec<C> {
        let n = self.n;
        let mut x = vec![ZERO; n];
        x[k] = ONE;
        for i in k + 1..n {
            let sum = (k..i).fold(ZERO, |sum, j| sum + C::conj(self.t[j * n + i]) * x[j]);
            x[i] = sum / C::conj(self.gap(i, k));
        }
        x
    }
}

fn product(a: &[C], b: &[C]) -> C {
    a.iter().zip(b).fold(ZERO, |sum, (&x, &y)| sum + x * y)
}

fn length(x: &[C]) -> f64 {
    let largest = x.iter().map(|x| x.re.abs().max(x.im.abs())).fold(0.0, f64::max);
    let scaled = |x: &C| (x.re / largest).powi(2) + (x.im / largest).powi(2);
    if largest == 0.0 {
        1.0
    } else {
        largest * x.iter().map(scaled).sum::<f64>().sqrt()
    }
}

/// Scales a vector to length one, with its largest element positive.
fn unit(mut x: Vec<C>, is_real: bool) -> Vec<C> {
    let size = length(&x);
    let largest = (0..x.len()).fold(0, |best, i| if x[i].abs() > x[best].abs() { i } else { best });
    let turn = C::conj(x[largest]) * (1.0 / (x[largest].abs() * size));
    x.iter_mut().for_each(|x| *x = *x * turn);
    x[largest].im = 0.0;
    if is_real {
        x.iter_mut().for_each(|x| x.im = 0.0);
    }
    x
}

/// A real matrix, and the product of the reflections and rotations that were made.
struct Real {
    n: usize,
    h: Vec<f64>,
    z: Vec<f64>,
}

impl Real {
    /// Applies a Householder reflection to the rows and columns from `first` on.
    fn reflect(&mut self, first: usize, v: &[f64]) {
        let (n, square) = (self.n, v.iter().map(|x| x * x).sum::<f64>());
        if square == 0.0 {
            return;
        }
        for j in 0..n {
            let sum: f64 = v.iter().enumerate().map(|(i, x)| x * self.h[(first + i) * n + j]).sum();
            let scale = 2.0 * sum / square;
            v.iter()
                .enumerate()
                .for_each(|(i, x)| self.h[(first + i) * n + j] -= scale * x);
        }
        for m in [&mut self.h, &mut self.z] {
            for row in m.chunks_mut(n) {
                let part = &mut row[first..first + v.len()];
                let sum: f64 = v.iter().zip(&*part).map(|(x, y)| x * y).sum();
                let scale = 2.0 * sum / square;
                part.iter_mut().zip(v).for_each(|(y, x)| *y -= scale * x);
            }
        }
    }

    fn hessenberg(&mut self) {
        let n = self.n;
        for k in 0..n.saturating_sub(2) {
            let column: Vec<f64> = (k + 1..n).map(|i| self.h[i * n + k]).collect();
            if column[1..].iter().any(|&x| x != 0.0) {
                self.reflect(k + 1, &mirror(&column));
                (k + 2..n).for_each(|i| self.h[i * n + k] = 0.0);
            }
        }
    }

    /// Reduces to quasi-triangular form, and returns the first rows of the blocks with complex eigenvalues; `None` if
    /// the iteration does not converge.
    fn triangular(&mut self) -> Option<Vec<usize>> {
        let (n, mut pairs) = (self.n, Vec::new());
        let (mut end, mut steps) = (n, 0);
        while end > 0 {
            let last = end - 1;
            let small = |h: &[f64], k: usize| {
                let beside = h[k * n + k].abs() + h[(k - 1) * n + k - 1].abs();
                h[k * n + k - 1].abs() <= f64::EPSILON * if beside == 0.0 { 1.0 } else { beside }
            };
            let first = (1..=last).rev().find(|&k| small(&self.h, k)).unwrap_or(0);
            if first > 0 {
                self.h[first * n + first - 1] = 0.0;
            }
            match last - first {
                0 => end -= 1,
                1 => {
                    if !self.diagonalized(first) {
                        pairs.push(first);
                    }
                    end -= 2;
                }
                _ if steps >= STEPS => return None,
                _ => {
                    steps += 1;
                    self.step(first, last, steps % 10 == 0);
                    continue;
                }
            }
            steps = 0;
        }
        Some(pairs)
    }

    /// Makes a block of two rows triangular, if its eigenvalues are real.
    fn diagonalized(&mut self, k: usize) -> bool {
        let n = self.n;
        let [a, b, c, d] = [0, 1, n, n + 1].map(|p| self.h[k * n + k + p]);
        let half = (a - d) / 2.0;
        let square = half * half + b * c;
        if square < 0.0 {
            return false;
        }
        // The eigenvector of the value that is farther from `d` loses no digits.
        let far = half + half.signum() * square.sqrt();
        let (x, y) = (far, c);
        let size = x.hypot(y);
        if size > 0.0 {
            // A reflection that takes the vector to the first axis.
            self.reflect(k, &mirror(&[x, y]));
        }
        self.h[(k + 1) * n + k] = 0.0;
        true
    }

    /// A step with two shifts, from the first to the last row of what is not yet triangular.
    fn step(&mut self, first: usize, last: usize, is_unusual: bool) {
        let n = self.n;
        let h = |i: usize, j: usize| self.h[i * n + j];
        let (mut sum, mut det) = (
            h(last - 1, last - 1) + h(last, last),
            h(last - 1, last - 1) * h(last, last) - h(last - 1, last) * h(last, last - 1),
        );
        if is_unusual {
            // Where the usual shifts go in a circle.
            let size = h(last, last - 1).abs() + h(last - 1, last - 2).abs();
            (sum, det) = (1.5 * size, size * size);
        }
        let (p, q) = (h(first, first), h(first + 1, first));
        let mut column = vec![
            p * p + h(first, first + 1) * q - sum * p + det,
            q * (p + h(first + 1, first + 1) - sum),
            q * h(first + 2, first + 1),
        ];
        for k in first..last {
            if k > first {
                column = (k..=(k + 2).min(last)).map(|i| self.h[i * n + k - 1]).collect();
            }
            self.reflect(k, &mirror(&column[..column.len().min(last - k + 1)]));
            if k > first {
                (k + 1..=(k + 2).min(last)).for_each(|i| self.h[i * n + k - 1] = 0.0);
            }
        }
    }
}

/// The vector that reflects another one to the first axis.
fn mirror(x: &[f64]) -> Vec<f64> {
    let size = x.iter().map(|x| x * x).sum::<f64>().sqrt();
    let mut v = x.to_vec();
    if let Some(head) = v.first_mut() {
        *head += if *head < 0.0 { -size } else { size };
    }
    v
}
