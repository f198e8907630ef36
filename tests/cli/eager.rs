//! `pir-run --eager-grad`.

use std::process::Command;

use crate::run_tool::{command, with_input};

const OPT: &str = env!("CARGO_BIN_EXE_pir-opt");
const CUBE: &str = include_str!("../../docs/examples/cube.pir");

fn pir_run(arguments: &[&str]) -> Command {
    command(env!("CARGO_BIN_EXE_pir-run"), arguments)
}

#[test]
fn the_eager_engine_gives_the_same_gradients() {
    for (program, inputs) in [
        (CUBE, &["--input", "x=[2, 3]"][..]),
        (
            include_str!("../../docs/examples/rnn.pir"),
            &["--input=x=rand", "--input=w=rand"],
        ),
    ] {
        let differentiated = with_input(command(OPT, &["--pass=backward", "-"]), program).ok();
        let pass = with_input(pir_run(inputs), &differentiated).ok();
        let eager = with_input(pir_run(&[&["--eager-grad"], inputs].concat()), program).ok();
        assert_eq!(pass.lines().count(), eager.lines().count());
        for (pass, eager) in pass.lines().zip(eager.lines()) {
            let numbers = |line: &str| -> Vec<f64> {
                let values = line
                    .split('[')
                    .nth(1)
                    .unwrap_or_default()
                    .split(|c: char| !"+-.e0123456789".contains(c));
                values.filter_map(|v| v.parse().ok()).collect()
            };
            assert_eq!(pass.split('[').next(), eager.split('[').next());
            for (p, e) in numbers(pass).iter().zip(numbers(eager)) {
                assert!((p - e).abs() < 1e-5, "{pass} {eager}");
            }
        }
    }
    assert_eq!(
        with_input(pir_run(&["--eager-grad", "--input", "x=[2, 3]"]), CUBE).ok(),
        "y = tensor<2xf64> [8, 27]\nx_grad = tensor<2xf64> [12, 27]\n"
    );
    let function = "func.func @f(%a: tensor<2xf32>, %b: tensor<2xf32>) -> tensor<2xf32> {\n  \
                      %c = pd.multiply (%a, %b)\n  func.return (%c)\n}\n";
    assert_eq!(
        with_input(
            pir_run(&["--eager-grad", "--input", "a=[2, 3]", "--input", "b=5"]),
            function
        )
        .ok(),
        "out:0 = tensor<2xf32> [10, 15]\na_grad = tensor<2xf32> [5, 5]\nb_grad = tensor<2xf32> [2, 3]\n"
    );
    let nothing = CUBE.replacen("dtype = f64", "dtype = f64, stop_gradient = true", 1);
    let said = with_input(pir_run(&["--eager-grad", "--input", "x=[2, 3]"]), &nothing).fails(1);
    assert!(said.contains("nothing to differentiate"), "{said}");
    let said = with_input(pir_run(&["--eager-grad", "--check-grad", "--input", "x=1"]), CUBE).fails(2);
    assert!(said.contains("cannot be used with"), "{said}");
}
