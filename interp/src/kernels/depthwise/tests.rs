//! Depthwise convolutions and their gradients beside sums over all places.

use pir_dialects::window::Axis;

use super::*;

pub(crate) fn axis([size, kernel, stride, dilation, before, after]: [i64; 6]) -> Axis {
    Axis {
        size,
        kernel,
        stride,
        dilation,
        before,
        after,
    }
}

/// Numbers whose products and sums are exact.
pub(crate) fn numbers(count: usize, factor: usize) -> Vec<f32> {
    (0..count).map(|at| (at * factor % 15) as f32 - 7.0).collect()
}

#[test]
fn they_are_what_their_sums_say() {
    for (high, wide, filters) in [
        ([5, 3, 1, 1, 1, 1], [5, 3, 1, 1, 1, 1], 1),
        ([7, 3, 2, 1, 1, 1], [40, 3, 2, 1, 1, 1], 2),
        ([9, 5, 2, 1, 2, 2], [33, 4, 3, 2, 5, 1], 1),
        ([4, 1, 1, 1, 0, 0], [70, 1, 2, 1, 0, 0], 3),
        ([6, 2, 1, 3, 4, 0], [17, 5, 1, 2, 9, 8], 1),
        ([3, 2, 3, 1, 0, 0], [50, 2, 4, 1, 0, 0], 2),
        ([8, 2, 1, 1, -1, 0], [20, 3, 2, 1, -2, 0], 1),
    ] {
        let s = Sizes::new(1, 1, 1, filters, [axis(high), axis(wide)]).unwrap();
        let [ay, ax] = &s.axes;
        let (area, places) = ((ay.size * ax.size) as usize, (ay.kernel * ax.kernel) as usize);
        let count = s.windows[0] * s.windows[1];
        let (image, weights, g) = (
            numbers(area, 7),
            numbers(filters * places, 11),
            numbers(filters * count, 4),
        );
        let mut wanted = [vec![0.0; filters * count], vec![0.0; area], vec![0.0; filters * places]];
        for filter in 0..filters {
            for at in 0..count {
                for place in 0..places {
                    let (oy, ox) = ((at / s.windows[1]) as i64, (at % s.windows[1]) as i64);
                    let (ky, kx) = (place as i64 / ax.kernel, place as i64 % ax.kernel);
                    let y = oy * ay.stride + ky * ay.dilation - ay.before;
                    let x = ox * ax.stride + kx * ax.dilation - ax.before;
                    if y < 0 || x < 0 || y >= ay.size || x >= ax.size {
                        continue;
                    }
                    let (pixel, out, weight) =
                        ((y * ax.size + x) as usize, filter * count + at, filter * places + place);
                    wanted[0][out] += weights[weight] * image[pixel];
                    wanted[1][pixel] += weights[weight] * g[out];
                    wanted[2][weight] += g[out] * image[pixel];
                }
            }
        }
        let layout = Layout::new(&s);
        let mut rooms = [(); 3].map(|()| Room::default());
        let mut found = wanted.clone().map(|values| vec![0.0; values.len()]);
        let (image, filters, g) = (&image[..], &weights[..], &g[..]);
        // Twice, since the copies of the first time are used again.
        for _ in 0..2 {
            found[2].fill(0.0);
            channel(&layout, Job::Out { image, filters }, &mut rooms[0], &mut found[0]).unwrap();
            channel(
                &Layout::of_images(&s),
                Job::Image { filters, g },
                &mut rooms[1],
                &mut found[1],
            )
            .unwrap();
            channel(&layout, Job::Filter { image, g }, &mut rooms[2], &mut found[2]).unwrap();
        }
        assert_eq!(found, wanted, "{high:?} {wide:?}");
    }
}

/// The last column and the last row are in no window.
#[test]
fn what_no_window_contains_counts_for_nothing() {
    let s = Sizes::new(1, 1, 1, 1, [axis([4, 2, 3, 1, 0, 0]), axis([6, 2, 2, 1, 0, -1])]).unwrap();
    assert_eq!(s.windows, [1, 2]);
    let mut image = numbers(24, 7);
    for (at, v) in image.iter_mut().enumerate() {
        if at % 6 > 3 || at / 6 > 1 {
            *v = f32::INFINITY;
        }
    }
    let mut found = [0.0; 4];
    let (image, g) = (&image[..], &[1.0, 2.0][..]);
    channel(
        &Layout::new(&s),
        Job::Filter { image, g },
        &mut Room::default(),
        &mut found,
    )
    .unwrap();
    let wanted = [0, 1, 6, 7].map(|at| image[at] + 2.0 * image[at + 2]);
    assert_eq!(found, wanted);
}
