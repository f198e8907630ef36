//! How much the long tests do.

/// The percentage of its full size that a long test has: `PIR_TEST_SIZE`, by default 10. `.ci/run --all` sets 30.
pub fn percent() -> u64 {
    let given = std::env::var("PIR_TEST_SIZE").ok().and_then(|size| size.parse().ok());
    given.unwrap_or(10)
}

/// How many generated programs a test looks at that has `full` of them at full size. `PIR_PROGRAMS` sets the number itself.
#[allow(dead_code, reason = "some tests have no generated programs")]
pub fn programs(full: u64) -> u64 {
    let given = std::env::var("PIR_PROGRAMS").ok().and_then(|count| count.parse().ok());
    given.unwrap_or_else(|| (full * percent()).div_ceil(100).max(full.min(12)))
}

/// The number of programs that must exercise a test, of `full` at full size. Small samples vary more: below the full
/// size, half of the proportional number suffices.
#[allow(dead_code, reason = "some tests have no generated programs")]
pub fn at_least(full: u64) -> u64 {
    if percent() < 100 { full * percent() / 200 } else { full }
}
