//! Linear algebra: `stablehlo.cholesky` and `stablehlo.triangular_solve`, and the functions of LAPACK that there are kernels and
//! derivatives of, as JAX 0.10 calls them.

use pir_ir::{AttrData, OpView};

use super::ops;

/// Which half of a matrix counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Triangle {
    /// The diagonal and what is below.
    Lower,
    /// The diagonal and what is above.
    Upper,
}

impl Triangle {
    /// Whether an element of a row and a column is in the other half.
    pub fn has_not(self, row: usize, column: usize) -> bool {
        match self {
            Triangle::Lower => column > row,
            Triangle::Upper => column < row,
        }
    }

    fn of(is_lower: bool) -> Self {
        if is_lower { Triangle::Lower } else { Triangle::Upper }
    }
}

/// A triangular system: `op(a) x = b`, or `x op(a) = b`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Triangular {
    /// Whether the coefficients are on the left.
    pub left: bool,
    /// The half of the coefficients that is read.
    pub triangle: Triangle,
    /// Whether the diagonal is taken for ones.
    pub unit: bool,
    /// Whether the coefficients are transposed.
    pub transposed: bool,
    /// Whether they are conjugated.
    pub conjugated: bool,
}

impl Triangular {
    /// The parameters of a `stablehlo.triangular_solve`.
    fn of(op: OpView<'_>) -> Result<Self, String> {
        let flag = |name: &str| op.bool(name).ok_or_else(|| format!("it needs the attribute `{name}`"));
        let transpose = op.attr("transpose_a").map(|attr| op.ctx.attr_data(attr));
        let [transposed, conjugated] = match transpose {
            Some(AttrData::Opaque(text)) if text.ends_with(" NO_TRANSPOSE>") => [false, false],
            Some(AttrData::Opaque(text)) if text.ends_with(" TRANSPOSE>") => [true, false],
            Some(AttrData::Opaque(text)) if text.ends_with(" ADJOINT>") => [true, true],
            _ => {
                return Err(
                    "`transpose_a` must be `#stablehlo<transpose …>` with NO_TRANSPOSE, TRANSPOSE or ADJOINT".into(),
                );
            }
        };
        Ok(Triangular {
            left: flag("left_side")?,
            triangle: Triangle::of(flag("lower")?),
            unit: flag("unit_diagonal")?,
            transposed,
            conjugated,
        })
    }
}

/// A linear-algebra function: an operation of StableHLO, or a LAPACK function that is called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Call {
    /// The triangular factor in its half, over zeros.
    Cholesky(Triangle),
    /// `potrf`: the triangular factor in its half, over the operand; and whether there is one.
    Potrf(Triangle),
    /// `trsm`: the solution of a triangular system.
    Solve(Triangular),
    /// `getrf`: both triangular factors in one matrix, exchanged rows, whether a pivot is zero.
    Lu,
    /// `geqrf`: the triangular factor over reflections, and the factors of these.
    Qr,
    /// `orgqr`, or `ungqr` of complex numbers: the product of reflections.
    Reflections,
    /// `syevd`, or `heevd` of complex numbers: the eigenvectors of a symmetric or Hermitian matrix, the eigenvalues, and whether they were found.
    Eigen {
        /// The half of the matrix that is read.
        triangle: Triangle,
        /// Whether the vectors are asked for.
        vectors: bool,
    },
    /// `geev`: the eigenvalues of a general matrix, of a real one as real and imaginary parts, the left and the right eigenvectors in columns, and
    /// whether they were found.
    General {
        /// Whether the left vectors are asked for.
        left: bool,
        /// Whether the right ones are.
        right: bool,
    },
    /// `gesdd`: what is left of the operand, the singular values, the vectors in columns and in rows, and whether they were found.
    Singular {
        /// Whether there are as many vectors as rows and columns.
        full: bool,
        /// Whether the vectors are asked for.
        vectors: bool,
    },
}

impl Call {
    /// The call of an operation.
    ///
    /// # Errors
    /// A function that is not known, by its name, or an unknown option.
    pub fn of(op: OpView<'_>) -> Result<Self, String> {
        match op.name() {
            ops::Cholesky::NAME => Ok(Call::Cholesky(Triangle::of(op.bool("lower") == Some(true)))),
            ops::TriangularSolve::NAME => Triangular::of(op).map(Call::Solve),
            _ => Call::of_lapack(op),
        }
    }

    /// Whether it is differentiated through its composition.
    pub fn is_made_of_others(self) -> bool {
        matches!(self, Call::Qr | Call::Reflections)
    }

    fn of_lapack(op: OpView<'_>) -> Result<Self, String> {
        let target = op.str("call_target_name").unwrap_or_default();
        let unknown = || format!("`{}` of `@{target}` is not supported", ops::CustomCall::NAME);
        let name = target
            .strip_prefix("lapack_")
            .and_then(|name| name.strip_suffix("_ffi"));
        let name = name.and_then(|name| name.split_at_checked(1)).ok_or_else(unknown)?;
        let name = match name {
            ("s" | "d", "orgqr") | ("c" | "z", "ungqr") => "orgqr",
            ("s" | "d", "syevd") | ("c" | "z", "heevd") => "syevd",
            (_, "orgqr" | "syevd") => return Err(unknown()),
            ("s" | "d" | "c" | "z", name) => name,
            _ => return Err(unknown()),
        };
        let config = op.attr("mhlo.backend_config").map(|attr| op.ctx.attr_data(attr));
        let option = |key: &str, [no, yes]: [u8; 2]| -> Result<bool, String> {
            let value = match config {
                Some(&AttrData::Dict(dict)) => op.ctx.dict_get(dict, key).and_then(|attr| op.ctx.attr_int(attr)),
                _ => None,
            };
            match value {
                Some(value) if value == i64::from(yes) => Ok(true),
                Some(value) if value == i64::from(no) => Ok(false),
                _ => Err(format!("{}: `{key}` is missing or unknown", unknown())),
            }
        };
        let triangle = || option("uplo", *b"UL").map(Triangle::of);
        Ok(match name {
            "potrf" => Call::Potrf(triangle()?),
            "trsm" => Call::Solve(Triangular {
                left: option("side", *b"RL")?,
                triangle: triangle()?,
                unit: option("diag", *b"NU")?,
                transposed: option("trans_x", *b"NT").or_else(|_| option("trans_x", *b"NC"))?,
                conjugated: option("trans_x", *b"NC").unwrap_or(false),
            }),
            "getrf" => Call::Lu,
            "geqrf" => Call::Qr,
            "orgqr" => Call::Reflections,
            "syevd" => Call::Eigen {
                triangle: triangle()?,
                vectors: option("mode", *b"NV")?,
            },
            "geev" => Call::General {
                left: option("compute_left", *b"NV")?,
                right: option("compute_right", *b"NV")?,
            },
            "gesdd" => match option("mode", *b"SA") {
                Ok(full) => Call::Singular { full, vectors: true },
                // There is room for all of them.
                Err(_) => Call::Singular {
                    full: option("mode", *b"NN")?,
                    vectors: false,
                },
            },
            _ => return Err(unknown()),
        })
    }
}
