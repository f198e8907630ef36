use crate::testing::expect_same;

#[test]
fn a_value_of_the_region_itself_cannot_be_used_outside() {
    expect_same(
        "forward-args",
        r#"
        %c = t.in {name = "c"} : i1
        %x = t.in {name = "x"} : f32
        %r = t.while (%x) cond (%a: f32) {
          %d = t.add (%x, %x) : f32
          t.test (%c, %d)
        } body (%b: f32) {
          t.print (%b)
          t.yield (%b)
        } : f32
        t.print (%r)
        "#
        .replace("(%x) cond (%a: f32)", "cond")
        .replace("t.yield (%b)", "t.yield ()")
        .as_str(),
    );
}

#[test]
fn long_chains_of_loops() {
    use std::fmt::Write;
    let mut source = String::from("%c = t.in {name = \"c\"} : i1\n%v0 = t.in {name = \"x\"} : f32\n");
    for i in 0..2000 {
        let _ = writeln!(
            source,
            "%v{} = t.while (%v{i}) cond (%a{i}: f32) {{\nt.test (%c, %a{i})\n}} body (%b{i}: f32) {{\n\
             t.yield (%b{i})\n}} : f32",
            i + 1
        );
    }
    source.push_str("t.print (%v2000)\n");
    let out = crate::testing::run("forward-args", &source);
    assert!(out.trim_end().ends_with("t.print (%v0)"), "{}", &out[out.len() - 200..]);
}
