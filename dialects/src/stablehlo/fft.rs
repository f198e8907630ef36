//! Fourier transforms.

use pir_ir::{Context, OpView, Type, TypeData};

use super::attrs::{Attrs, List};

/// Between what a transform goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FftKind {
    /// Complex numbers to as many.
    Fft,
    /// The inverse.
    Ifft,
    /// Real numbers to the first half of what the others mirror.
    Rfft,
    /// The inverse.
    Irfft,
}

/// A `stablehlo.fft`: a transform of the last dimensions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fft {
    /// Between what it goes.
    pub kind: FftKind,
    /// The sizes of the last dimensions, of real numbers where there are such.
    pub lengths: Vec<usize>,
}

impl Fft {
    /// The parameters in the attributes of an operation.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn of(op: OpView<'_>) -> Result<Self, String> {
        Self::read(Attrs {
            ctx: op.ctx,
            dict: op.body.attrs(op.op),
        })
    }

    pub(super) fn read(attrs: Attrs<'_>) -> Result<Self, String> {
        let kind = match attrs.word("fft_type") {
            Some("FFT") => FftKind::Fft,
            Some("IFFT") => FftKind::Ifft,
            Some("RFFT") => FftKind::Rfft,
            Some("IRFFT") => FftKind::Irfft,
            _ => return Err("`fft_type` must be `#stablehlo<fft_type …>` with FFT, IFFT, RFFT or IRFFT".to_owned()),
        };
        let lengths = attrs.list("fft_length")?;
        let lengths: Option<Vec<usize>> = lengths.iter().map(|&n| usize::try_from(n).ok()).collect();
        let lengths = lengths.filter(|lengths| (1..=3).contains(&lengths.len()));
        let lengths = lengths.ok_or("`fft_length` must be one to three sizes")?;
        Ok(Fft { kind, lengths })
    }

    /// The dimensions and elements of the result.
    pub(super) fn result(&self, ctx: &Context, dims: &[i64], elem: Type) -> Result<(List, Type), String> {
        let part = match (self.kind, ctx.type_data(elem)) {
            (FftKind::Rfft, TypeData::Float(_)) => elem,
            (FftKind::Fft | FftKind::Ifft | FftKind::Irfft, &TypeData::Complex(part)) => part,
            (FftKind::Rfft, _) => return Err("a transform of real numbers needs float elements".to_owned()),
            _ => return Err("the transform needs complex elements".to_owned()),
        };
        let first = dims.len().checked_sub(self.lengths.len());
        let first = first.ok_or("`fft_length` has more sizes than the operand has dimensions")?;
        let mut out: List = dims.iter().copied().collect();
        let last = self.lengths.len() - 1;
        for (at, &length) in self.lengths.iter().enumerate() {
            let (full, half) = (length as i64, length as i64 / 2 + 1);
            let (from, to) = match self.kind {
                FftKind::Rfft if at == last => (full, if full == 0 { 0 } else { half }),
                FftKind::Irfft if at == last => (if full == 0 { 0 } else { half }, full),
                _ => (full, full),
            };
            if dims[first + at] != from {
                let dim = dims[first + at];
                return Err(format!(
                    "`fft_length` requires {from} elements in dimension {}, which has {dim}",
                    first + at
                ));
            }
            out[first + at] = to;
        }
        let elem = match self.kind {
            FftKind::Irfft => part,
            _ => ctx.complex_type(part),
        };
        Ok((out, elem))
    }
}
