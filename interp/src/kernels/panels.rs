//! Blocks of matrices as panels, in the order in which a product reads them.

use super::gemm::{AT_ONCE, Product, Real, registers};
use super::tile::WIDE;
use crate::simd::{self, Task};
use crate::tensor::buffer::{Derived, stale};
use crate::tensor::{Buffer, Element, Storage};

/// The extents of blocks: what is added up, and the columns of the right matrix.
const DEPTH: usize = 256;
const COLUMNS: usize = 480;
/// The number of rows that one matrix is multiplied with from which on copying it takes little of the time.
const OFTEN: usize = 256;
/// The number of elements from which on it matters.
const WORTH: usize = 1 << 12;

/// How the matrices of a product are cut into blocks, and these into panels.
pub(super) struct Cut {
    /// The rows of a panel of the left matrix.
    pub(super) height: usize,
    /// The vectors in a row of a panel of the right matrix, and their elements.
    pub(super) vectors: usize,
    pub(super) width: usize,
    /// The terms and the columns of a block.
    pub(super) depth: usize,
    pub(super) count: usize,
}

impl Cut {
    pub(super) fn of<T: Real>(p: Product) -> Cut {
        let [height, lanes] = registers::<T>();
        // A narrower tile where a wider one would have more columns that are not there.
        let columns = |vectors: usize| p.n.next_multiple_of(vectors * lanes);
        let vectors = match () {
            () if columns(1) <= lanes => 1,
            () if columns(2) * 20 < columns(3) * 19 => 2,
            () => WIDE,
        };
        let width = vectors * lanes;
        // Blocks of about the same size, so that no last one is small.
        let blocks = |extent: usize, size: usize| extent.div_ceil(((extent + size / 2) / size).max(1));
        Cut {
            height,
            vectors,
            width,
            depth: blocks(p.k, DEPTH),
            count: blocks(p.n, COLUMNS).next_multiple_of(width),
        }
    }
}

/// An operand of a product.
#[derive(Clone, Copy)]
pub(super) struct Operand<'v, T: Element> {
    pub(super) values: &'v [T],
    /// Where the panels may be kept.
    kept: Option<&'v Buffer<T>>,
}

impl<'v, T: Element> From<&'v [T]> for Operand<'v, T> {
    fn from(values: &'v [T]) -> Self {
        Operand { values, kept: None }
    }
}

/// The panels of a whole matrix.
struct Panels<T> {
    /// Its rows and columns in the product, and those of a panel: all that their order depends on.
    extents: [usize; 3],
    panels: Storage<T>,
}

impl<'v, T: Real> Operand<'v, T> {
    /// All elements of a buffer. With `keep`, it will be multiplied again, so that its panels are kept.
    pub(super) fn keep(buffer: &'v Buffer<T>, keep: bool) -> Self {
        Operand {
            values: buffer,
            kept: keep.then_some(buffer),
        }
    }

    /// Whether nothing is kept.
    pub(super) fn is_alone(self) -> bool {
        self.kept.is_none()
    }

    /// Whether its panels are kept.
    pub(super) fn has_panels(self) -> bool {
        self.kept.is_some_and(|kept| kept.len() >= WORTH)
    }

    fn kept_panels(
        self,
        kind: Derived,
        extents: [usize; 3],
        make: impl FnOnce(&[T]) -> Result<Storage<T>, String>,
    ) -> Option<&'v [T]> {
        let buffer = self.kept.filter(|kept| kept.len() >= WORTH)?;
        // Without memory for them, there are none.
        let panels = buffer.derived(kind, |values| {
            let panels = make(values).ok()?;
            Some(Panels { extents, panels })
        })?;
        (panels.extents == extents).then_some(&panels.panels)
    }

    /// Of a right matrix: its blocks, one after the other.
    pub(super) fn panels(self, p: Product) -> Option<&'v [T]> {
        if p.m > OFTEN {
            return None;
        }
        let kind = if p.ty { Derived::RightAcross } else { Derived::Right };
        let cut = Cut::of::<T>(p);
        self.kept_panels(kind, [p.k, p.n, cut.width], |y| Right::Matrix(y).panels(p))
    }

    /// Of a right matrix that few rows are multiplied with: some columns after the other, as [`thin`] copies them.
    pub(super) fn thin_panels(self, p: Product) -> Option<&'v [T]> {
        let [_, lanes] = registers::<T>();
        // Panels of whole rows have other widths.
        let width = AT_ONCE * lanes;
        self.kept_panels(Derived::Right, [p.k, p.n, width], |y| thin(p, lanes, y))
    }

    /// Of a left matrix: the panels of its rows for some terms, and those for the next.
    pub(super) fn left_panels(self, p: Product) -> Option<&'v [T]> {
        if p.n > OFTEN {
            return None;
        }
        let kind = if p.tx { Derived::LeftAcross } else { Derived::Left };
        let Cut { height, depth, .. } = Cut::of::<T>(p);
        self.kept_panels(kind, [p.m, p.k, height], |x| {
            let [rx, cx, ..] = p.steps();
            let padded = p.m.next_multiple_of(height);
            let mut all = stale(padded * p.k)?;
            for from in (0..p.k).step_by(depth) {
                let terms = depth.min(p.k - from);
                let block = &mut all[from * padded..][..terms * padded];
                pack_all(block, height, [terms, p.m], &x[from * cx..], [cx, rx]);
            }
            Ok(all)
        })
    }
}

/// Copies some vectors of each row, then the next ones: [`AT_ONCE`] where there are as many, and then single ones. The
/// numbers that do not fill a vector are left out.
fn thin<T: Real>(p: Product, lanes: usize, y: &[T]) -> Result<Storage<T>, String> {
    let vectors = p.n / lanes;
    let mut all = stale(vectors * lanes * p.k)?;
    let mut column = 0;
    let mut rest = &mut all[..];
    while !rest.is_empty() {
        let width = if vectors * lanes - column >= AT_ONCE * lanes {
            AT_ONCE * lanes
        } else {
            lanes
        };
        let (panel, behind) = rest.split_at_mut(width * p.k);
        pack(panel, width, [p.k, width], &y[column..], [p.n, 1]);
        (rest, column) = (behind, column + width);
    }
    Ok(all)
}

/// A right matrix.
pub(super) enum Right<'v, T> {
    /// A matrix with the layout of the [`Product`].
    Matrix(&'v [T]),
    /// Rows that begin at these places, and may overlap.
    Rows { values: &'v [T], starts: &'v [usize] },
    /// Columns that begin at these places, and may overlap.
    Columns { values: &'v [T], starts: &'v [usize] },
    /// The panels of all blocks.
    Kept(&'v [T]),
}

impl<T: Real> Right<'_, T> {
    /// The panels of all blocks, which [`Right::Kept`] is: they do not depend on the rows of the left matrix.
    ///
    /// # Errors
    /// If there is no memory for them.
    pub(super) fn panels(&self, p: Product) -> Result<Storage<T>, String> {
        let cut = Cut::of::<T>(p);
        let mut all = stale(p.k * p.n.next_multiple_of(cut.width))?;
        for column in (0..p.n).step_by(cut.count) {
            let columns = cut.count.min(p.n - column);
            let padded = columns.next_multiple_of(cut.width);
            for from in (0..p.k).step_by(cut.depth) {
                let terms = cut.depth.min(p.k - from);
                let block = &mut all[column * p.k + from * padded..][..terms * padded];
                for (at, panel) in block.chunks_exact_mut(terms * cut.width).enumerate() {
                    let first = at * cut.width;
                    let there = cut.width.min(columns - first);
                    self.pack(p, panel, cut.width, [from, terms], [column + first, there]);
                }
            }
        }
        Ok(all)
    }

    /// Copies a block of rows, beginning at `from`, into a panel of `width` columns, beginning at `column`; `there` of
    /// them exist.
    pub(super) fn pack(
        &self,
        p: Product,
        panel: &mut [T],
        width: usize,
        [from, terms]: [usize; 2],
        [column, there]: [usize; 2],
    ) {
        match *self {
            Right::Matrix(y) => {
                let [_, _, ry, cy] = p.steps();
                pack(panel, width, [terms, there], &y[from * ry + column * cy..], [ry, cy]);
            }
            Right::Kept(_) => {}
            Right::Rows { values, starts } => {
                let starts = &starts[from..from + terms];
                copy_rows(panel, width, [terms, there], |l| &values[starts[l] + column..][..there]);
            }
            Right::Columns { values, starts } => {
                let starts = &starts[column..column + there];
                let column = |at: usize, first: usize, count: usize| &values[starts[at] + from + first..][..count];
                turn(panel, width, [terms, there], column);
            }
        }
    }
}

/// Copies a block into a panel: for each of `terms`, a row of `width` numbers, padded with zeros.
pub(super) fn pack<T: Real>(
    panel: &mut [T],
    width: usize,
    [terms, there]: [usize; 2],
    from: &[T],
    [step, across]: [usize; 2],
) {
    if across == 1 {
        copy_rows(panel, width, [terms, there], |l| &from[l * step..][..there]);
        return;
    }
    if step == 1 {
        turn(panel, width, [terms, there], |column, first, count| {
            &from[column * across + first..][..count]
        });
        return;
    }
    if there < width {
        panel.fill(T::default());
    }
    for column in 0..there {
        let places = panel[column..].iter_mut().step_by(width);
        let from = from[column * across..].iter().step_by(step);
        places.zip(from).take(terms).for_each(|(to, &v)| *to = v);
    }
}

/// Copies a row of `there` numbers for each of `terms`, padded with zeros.
fn copy_rows<'v, T: Real>(panel: &mut [T], width: usize, [terms, there]: [usize; 2], row: impl Fn(usize) -> &'v [T]) {
    if there < width {
        panel.fill(T::default());
        for (l, to) in panel.chunks_exact_mut(width).enumerate().take(terms) {
            to[..there].copy_from_slice(row(l));
        }
        return;
    }
    simd::run(Whole { panel, width, row });
}

/// Rows without padding: those of usual widths take a few instructions, and no call.
struct Whole<'p, T, F> {
    panel: &'p mut [T],
    width: usize,
    row: F,
}

impl<'v, T: Real, F: Fn(usize) -> &'v [T]> Task for Whole<'_, T, F> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        match self.width {
            8 => self.of::<8>(),
            16 => self.of::<16>(),
            24 => self.of::<24>(),
            32 => self.of::<32>(),
            48 => self.of::<48>(),
            width => {
                let rows = self.panel.chunks_exact_mut(width).enumerate();
                rows.for_each(|(l, to)| to.copy_from_slice((self.row)(l)));
            }
        }
    }
}

impl<'v, T: Real, F: Fn(usize) -> &'v [T]> Whole<'_, T, F> {
    #[inline(always)]
    fn of<const W: usize>(self) {
        for (l, to) in self.panel.as_chunks_mut::<W>().0.iter_mut().enumerate() {
            if let Some(from) = (self.row)(l).first_chunk::<W>() {
                *to = *from;
            }
        }
    }
}

/// The rows and columns that are turned in one go.
const SIDE: usize = 16;

/// Copies rows of [`SIDE`] numbers into as many columns of a panel.
#[inline(always)]
fn turn_square<'v, T: Real>(panel: &mut [T], width: usize, column: usize, row: impl Fn(usize) -> &'v [T]) {
    let mut square = [[T::default(); SIDE]; SIDE];
    for (at, to) in square.iter_mut().enumerate() {
        if let Some(from) = row(at).first_chunk() {
            *to = *from;
        }
    }
    for (l, to) in panel.chunks_exact_mut(width).enumerate() {
        if let Some(to) = to[column..].first_chunk_mut::<SIDE>() {
            to.iter_mut().zip(&square).for_each(|(to, from)| *to = from[l]);
        }
    }
}

/// Copies a block whose columns lie each in a row: `terms` numbers of `there` columns, in parts that `part` gives by the column, the
/// first number and how many. Some terms at a time, so that the panel stays in the cache.
fn turn<'v, T: Real>(
    panel: &mut [T],
    width: usize,
    [terms, there]: [usize; 2],
    part: impl Fn(usize, usize, usize) -> &'v [T],
) {
    /// Some lines of the cache, which are read one after the other.
    const TERMS: usize = 4 * SIDE;
    if there < width {
        panel.fill(T::default());
    }
    for (at, panel) in panel.chunks_mut(TERMS * width).enumerate() {
        let first = at * TERMS;
        let count = TERMS.min(terms - first);
        // Squares are turned in one go.
        let (squares, whole) = (count / SIDE * SIDE, there / SIDE * SIDE);
        for column in (0..whole).step_by(SIDE) {
            for (at, panel) in panel[..squares * width].chunks_exact_mut(SIDE * width).enumerate() {
                turn_square(panel, width, column, |row| part(column + row, first + at * SIDE, SIDE));
            }
        }
        for column in (if squares == count { whole } else { 0 })..there {
            let turned = if column < whole { squares } else { 0 };
            let places = panel[turned * width..].iter_mut().skip(column).step_by(width);
            let from = part(column, first + turned, count - turned);
            places.zip(from).for_each(|(to, &v)| *to = v);
        }
    }
}

/// Copies a block of the left matrix into panels of `height` rows, of which `there` exist.
pub(super) fn pack_all<T: Real>(
    panels: &mut [T],
    height: usize,
    [terms, there]: [usize; 2],
    from: &[T],
    [step, across]: [usize; 2],
) {
    let size = (height * terms).max(1);
    let rows = |at: usize| height.min(there - at * height);
    if across != 1 || terms == 0 {
        for (at, panel) in panels.chunks_exact_mut(size).enumerate() {
            pack(
                panel,
                height,
                [terms, rows(at)],
                &from[at * height * across..],
                [step, across],
            );
        }
        return;
    }
    simd::run(Turned {
        panels,
        height,
        there,
        terms,
        from,
        step,
    });
}

/// Panels of a transposed matrix. Some of its rows are read at a time, and whole: what is far apart may share few places of the cache,
/// both where it is read and in the panels.
struct Turned<'v, T> {
    panels: &'v mut [T],
    height: usize,
    there: usize,
    terms: usize,
    from: &'v [T],
    step: usize,
}

impl<T: Real> Task for Turned<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        const TERMS: usize = 8;
        const HEIGHT: usize = 8;
        let (height, size) = (self.height, self.height * self.terms);
        for first in (0..self.terms).step_by(TERMS) {
            let terms = TERMS.min(self.terms - first);
            for (at, panel) in self.panels.chunks_exact_mut(size).enumerate() {
                let rows = height.min(self.there - at * height);
                for l in first..first + terms {
                    let to = &mut panel[l * height..][..height];
                    let from = &self.from[l * self.step + at * height..];
                    match (to.first_chunk_mut::<HEIGHT>(), from.first_chunk::<HEIGHT>()) {
                        (Some(to), Some(from)) if rows == HEIGHT => *to = *from,
                        _ => {
                            to[..rows].copy_from_slice(&from[..rows]);
                            to[rows..].fill(T::default());
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::tensor::buffer::gathered;

    fn buffer(count: usize, seed: usize) -> Buffer<f32> {
        let number = |at: usize| ((at * 7 + seed) % 23) as f32 / 7.0 - 1.5;
        Buffer::from(gathered((0..count).map(number)).unwrap())
    }

    /// Panels that are kept change no bit of the result, in both uses of them, but where they replace dot products.
    #[test]
    fn kept_panels_change_nothing() {
        let check = |z: &[f32], expected: &[f32], p: Product, kept: bool| {
            if kept && !p.tx && p.ty && (7..=32).contains(&p.m) && p.k >= 64 {
                let bound = p.k as f32 * 4.0 * f32::EPSILON;
                assert!(
                    z.iter().zip(expected).all(|(z, e)| (z - e).abs() <= bound * 3.0),
                    "{p:?}"
                );
            } else {
                assert_eq!(z, expected, "{p:?} {kept}");
            }
        };
        let sizes = [
            (1, 70, 300),
            (2, 64, 77),
            (5, 90, 100),
            (32, 300, 600),
            (9, 300, 200),
            (60, 257, 33),
            (130, 90, 9),
        ];
        for (m, k, n) in sizes {
            for (tx, ty) in [(false, false), (false, true), (true, false), (true, true)] {
                let p = Product { m, k, n, tx, ty };
                let (x, y) = (buffer(m * k, 3), buffer(k * n, 11));
                let mut expected = vec![f32::NAN; m * n];
                f32::gemm(p, &x, &y, &mut expected).unwrap();
                for (left, right) in [(true, false), (false, true), (true, true), (true, true)] {
                    let mut z = vec![f32::NAN; m * n];
                    f32::product(p, Operand::keep(&x, left), Operand::keep(&y, right), &mut z, false).unwrap();
                    check(&z, &expected, p, right);
                }
                // Panels of a matrix of another layout are not taken for those of this one.
                let other = Product {
                    m,
                    k: n,
                    n: k,
                    tx: false,
                    ty,
                };
                if !tx {
                    let long = buffer(m * n, 5);
                    let (mut z, mut expected) = (vec![f32::NAN; m * k], vec![f32::NAN; m * k]);
                    f32::gemm(other, &long, &y, &mut expected).unwrap();
                    f32::product(other, (&*long).into(), Operand::keep(&y, true), &mut z, false).unwrap();
                    check(&z, &expected, other, true);
                }
            }
        }
    }

    /// How many times as fast a product is with kept panels: `cargo test --release -p pir-interp -- --ignored --nocapture kept_panels_pay`.
    #[test]
    #[ignore = "it measures time"]
    fn kept_panels_pay() {
        let sizes = [
            (1, 256, 256),
            (1, 256, 1024),
            (1, 1024, 1024),
            (4, 256, 256),
            (8, 1024, 1024),
            (32, 256, 256),
            (32, 1024, 1024),
            (32, 1024, 4096),
            (1024, 1024, 32),
        ];
        println!("| product | µs | µs, panels kept | ratio |\n|---|---|---|---|");
        for (m, k, n) in sizes {
            let p = Product {
                m,
                k,
                n,
                tx: false,
                ty: false,
            };
            let (x, y, mut z) = (buffer(m * k, 3), buffer(k * n, 11), vec![0.0; m * n]);
            let mut best = [f64::INFINITY; 2];
            let repeats = 10_000_000 / (m * k * n) + 1;
            for round in 0..200 {
                let keep = round % 2 == 1;
                let (left, right) = (keep && n < m, keep && n >= m);
                let start = Instant::now();
                for _ in 0..repeats {
                    f32::product(p, Operand::keep(&x, left), Operand::keep(&y, right), &mut z, false).unwrap();
                }
                let time = start.elapsed().as_secs_f64() * 1e6 / repeats as f64;
                // The first round of each makes the panels.
                if round > 1 {
                    best[usize::from(keep)] = best[usize::from(keep)].min(time);
                }
            }
            let [without, with] = best;
            println!(
                "| {m} x {k} times {k} x {n} | {without:.1} | {with:.1} | {:.2} |",
                without / with
            );
        }
    }
}
