//! The optimizer driver.
fn main() {}
