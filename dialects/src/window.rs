//! The geometry of windows that slide over an image, shared by shape inference and kernels of convolutions and
//! poolings.

/// The windows along one axis.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Axis {
    /// The size of the image.
    pub size: i64,
    /// The size of a window.
    pub kernel: i64,
    /// The distance between windows.
    pub stride: i64,
    /// The distance between elements of a window.
    pub dilation: i64,
    /// Padding before the image.
    pub before: i64,
    /// Padding after the image.
    pub after: i64,
}

/// The maximal size of an image, a window, a stride or a padding.
const LIMIT: i64 = 1 << 31;

/// The window attributes, for both axes.
#[derive(Clone, Debug)]
pub struct Attributes {
    /// The strides.
    pub strides: Vec<i64>,
    /// Paddings: one or two numbers per axis.
    pub paddings: Vec<i64>,
    /// The dilations.
    pub dilations: Vec<i64>,
    /// `EXPLICIT`, `SAME` or `VALID`.
    pub algorithm: String,
}

impl Attributes {
    /// The parameters of an operation, by name; absent ones have their defaults.
    pub fn of(list: impl Fn(&str) -> Option<Vec<i64>>, algorithm: Option<String>) -> Self {
        let list = |name: &str, default: i64| list(name).unwrap_or_else(|| vec![default; 2]);
        Attributes {
            strides: list("strides", 1),
            paddings: list("paddings", 0),
            dilations: list("dilations", 1),
            algorithm: algorithm.unwrap_or_else(|| "EXPLICIT".to_owned()),
        }
    }

    /// The windows over an image of static size.
    ///
    /// # Errors
    /// If the attributes are inconsistent.
    pub fn axes(&self, size: [i64; 2], kernel: [i64; 2]) -> Result<[Axis; 2], String> {
        let pair = |name: &str, list: &[i64], least: i64| match *list {
            [both] if (least..LIMIT).contains(&both) => Ok([both, both]),
            [y, x] if (least..LIMIT).contains(&y) && (least..LIMIT).contains(&x) => Ok([y, x]),
            _ => Err(format!(
                "`{name}` must be two numbers of at least {least}, not {list:?}"
            )),
        };
        let kernel = pair("kernel_size", &kernel, 1)?;
        let strides = pair("strides", &self.strides, 1)?;
        let mut dilations = pair("dilations", &self.dilations, 1)?;
        let borders = match (&*self.algorithm, &self.paddings[..]) {
            ("VALID", _) => [[0, 0]; 2],
            ("SAME", _) => {
                dilations = [1, 1];
                std::array::from_fn(|i| same(size[i], kernel[i], strides[i]))
            }
            ("EXPLICIT", &[top, bottom, left, right]) => {
                let both = [
                    pair("paddings", &[top, bottom], 0)?,
                    pair("paddings", &[left, right], 0)?,
                ];
                [both[0], both[1]]
            }
            ("EXPLICIT", list) => pair("paddings", list, 0)?.map(|p| [p, p]),
            (other, _) => return Err(format!("`padding_algorithm` is EXPLICIT, SAME or VALID, not {other}")),
        };
        if size.iter().any(|&n| !(0..LIMIT).contains(&n)) {
            return Err(format!("an image of {} by {}", size[0], size[1]));
        }
        Ok(std::array::from_fn(|i| Axis {
            size: size[i],
            kernel: kernel[i],
            stride: strides[i],
            dilation: dilations[i],
            before: borders[i][0],
            after: borders[i][1],
        }))
    }
}

/// The padding before and after an axis under `SAME`: there are as many windows as there are strides in the size. Windows are not dilated
/// then.
pub fn same(size: i64, kernel: i64, stride: i64) -> [i64; 2] {
    let (size, stride) = (size.clamp(0, LIMIT), stride.clamp(1, LIMIT));
    let windows = (size + stride - 1) / stride;
    let all = ((windows - 1) * stride + kernel.clamp(0, LIMIT) - size).max(0);
    [all / 2, all - all / 2]
}

impl Axis {
    /// The extent of a dilated window.
    pub fn reach(&self) -> i64 {
        self.dilation * (self.kernel - 1) + 1
    }

    /// The number of windows. With `ceil`, a window that extends beyond the end counts as well.
    ///
    /// # Errors
    /// If no window fits.
    pub fn windows(&self, ceil: bool) -> Result<i64, String> {
        let room = self.size + self.before + self.after - self.reach();
        if room < 0 {
            return Err(format!(
                "a window that reaches over {} elements does not fit {} with borders of {} and {}",
                self.reach(),
                self.size,
                self.before,
                self.after
            ));
        }
        let more = if ceil { self.stride - 1 } else { 0 };
        Ok((room + more) / self.stride + 1)
    }

    /// The size of the image whose convolution with these windows has `size` elements: that of a transposed
    /// convolution.
    ///
    /// # Errors
    /// If it is negative.
    pub fn transposed(&self, output_padding: i64) -> Result<i64, String> {
        let size = (self.size - 1) * self.stride - self.before - self.after + self.reach() + output_padding;
        if size < 0 {
            return Err(format!("a transposed convolution of size {size}"));
        }
        Ok(size)
    }

    /// The elements of window `at` of `windows`, if the windows partition the image (adaptive pooling).
    pub fn share(size: i64, windows: i64, at: i64) -> (i64, i64) {
        let start = at * size / windows;
        let end = ((at + 1) * size + windows - 1) / windows;
        (start, end)
    }
}

/// The first of every `stride`-th element of `start..end` of a dimension, and their number. Bounds are clamped, and
/// negative ones count from the end; a negative stride goes backwards.
///
/// # Errors
/// If the stride is zero.
pub fn stretch(size: i64, start: i64, end: i64, stride: i64) -> Result<(i64, i64), String> {
    if stride == 0 {
        return Err("a stride cannot be 0".to_owned());
    }
    let (low, high) = if stride > 0 { (0, size) } else { (-1, size - 1) };
    let clamp = |v: i64| {
        let at = if v < 0 { v.saturating_add(size) } else { v };
        at.clamp(low.min(high), high)
    };
    let (start, end) = (clamp(start), clamp(end));
    let room = if stride > 0 { end - start } else { start - end };
    let step = stride.saturating_abs();
    Ok((start, if room <= 0 { 0 } else { (room - 1) / step + 1 }))
}

/// The axes of the values assigned to a slice of a tensor, in order: those of the tensor without `lost`, and new ones
/// of extent 1, each before the axis of the tensor given by `new`, or after all.
pub fn set_axes(rank: usize, lost: &[i64], new: &[i64]) -> Vec<Option<usize>> {
    let is_lost = |at: i64| lost.iter().any(|&a| a == at || a + rank as i64 == at);
    let mut axes = Vec::new();
    for at in 0..rank {
        axes.extend(std::iter::repeat_n(
            None,
            new.iter().filter(|&&a| a == at as i64).count(),
        ));
        axes.extend((!is_lost(at as i64)).then_some(Some(at)));
    }
    let behind = new.iter().filter(|&&a| a >= rank as i64).count();
    axes.extend(std::iter::repeat_n(None, behind));
    axes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(size: i64, kernel: i64, stride: i64, border: i64, dilation: i64) -> Axis {
        Axis {
            size,
            kernel,
            stride,
            dilation,
            before: border,
            after: border,
        }
    }

    #[test]
    fn windows_are_counted() {
        assert_eq!(axis(5, 3, 1, 0, 1).windows(false), Ok(3));
        assert_eq!(axis(5, 3, 2, 1, 1).windows(false), Ok(3));
        assert_eq!(axis(6, 3, 2, 0, 1).windows(false), Ok(2));
        assert_eq!(axis(6, 3, 2, 0, 1).windows(true), Ok(3));
        assert_eq!(axis(7, 3, 1, 0, 3).windows(false), Ok(1));
        assert!(axis(6, 3, 1, 0, 3).windows(false).is_err());
        // A transposed convolution restores the size.
        for n in 3..9 {
            let one = axis(n, 3, 1, 1, 1);
            let there = one.windows(false).unwrap_or_default();
            assert_eq!(axis(there, 3, 1, 1, 1).transposed(0), Ok(n));
        }
    }

    #[test]
    fn borders_of_the_same_size() {
        let attributes = Attributes {
            strides: vec![2, 1],
            paddings: vec![7, 7],
            dilations: vec![1, 1],
            algorithm: "SAME".to_owned(),
        };
        let axes = attributes.axes([5, 4], [3, 2]).unwrap_or_default();
        assert_eq!(axes.map(|a| a.windows(false)), [Ok(3), Ok(4)]);
        assert_eq!((axes[1].before, axes[1].after), (0, 1));
        assert!(attributes.axes([5, 4], [0, 2]).is_err());
    }

    #[test]
    fn stretches_with_strides() {
        assert_eq!(stretch(7, 1, 6, 2), Ok((1, 3)));
        assert_eq!(stretch(7, -1, -100, -3), Ok((6, 3)));
        assert_eq!(stretch(7, 5, 2, 1), Ok((5, 0)));
        assert_eq!(stretch(0, 0, 5, 1), Ok((0, 0)));
        assert!(stretch(7, 0, 5, 0).is_err());
    }

    #[test]
    fn shares_cover_the_image() {
        assert_eq!([0, 1, 2].map(|at| Axis::share(7, 3, at)), [(0, 3), (2, 5), (4, 7)]);
    }
}
