use crate::testing::{nest, run};

#[test]
fn deep_nests() {
    let out = run(
        "sccp",
        &nest(
            20_000,
            "%k = t.const {value = 1} : i64\n%l = t.add (%k, %k) : i64\nt.print (%l)\n",
        ),
    );
    assert!(out.contains("%l = t.const {value = 2}"));
}
