//! Names of values.

use super::same;

#[test]
fn names_of_all_kinds() {
    let names = [
        "0",
        "00",
        "7",
        "x",
        "x1",
        "x01",
        "x-1",
        "v0_1",
        "v0_01",
        "16777214",
        "16777215",
        "x16777214",
        "x16777215",
        "99999999",
        "123456789",
        "seven_l1",
        "eight_le1",
        "x.1$2",
        "-1",
        "4000000000",
        "18446744073709551616",
    ];
    let define = |name: &str| format!("%{name} = pd.full {{shape = [1], value = 1, dtype = i64}} : tensor<1xi64>\n");
    let add = |name: &str| format!("%n.{name} = pd.add (%{name}, %{name}) : tensor<1xi64>\n");
    let all: String = names.map(|name| define(name) + &add(name)).concat();
    same(&all);
    let indented: String = all.lines().map(|line| format!("  {line}\n")).collect();
    let function = |name| format!("func.func @{name}() {{\n{indented}  func.return ()\n}}\n");
    same(&(function("f") + &function("g")));
}
