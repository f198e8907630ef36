//! Programs that PaddlePaddle saved, run by us, against what its eager engine computed for the same inputs.

#![allow(clippy::unwrap_used)]

use std::path::Path;

use pir_interp::{DType, Tensor, eager};
use pir_ir::Module;
use pir_ir::text::{ParseOptions, parse, print};
use pir_passes::Pipeline;
use pir_tools::arrays::read_arrays;
use pir_tools::driver::{LoadOptions, RunOptions, load, run_passes};
use pir_tools::source::Source;

/// How far from the expected values: rounding of float32, of the largest element.
const TOLERANCE: f64 = 2e-6;

struct Program {
    source: Source,
    /// `in:x`, `param:w`, `out:0`, `grad:x`, …
    expected: Vec<(String, Tensor)>,
}

impl Program {
    fn new(name: &str) -> Self {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("test-files/paddle/{name}.json"));
        Program {
            source: Source::read(file.to_str().unwrap()).unwrap(),
            expected: read_arrays(file.with_extension("npz").to_str().unwrap()).unwrap(),
        }
    }

    /// The values of one kind by name: `out` gives `0`, `1`, …
    fn expected(&self, kind: &str) -> impl Iterator<Item = (&str, &Tensor)> {
        let prefix = format!("{kind}:");
        self.expected
            .iter()
            .filter_map(move |(key, value)| Some((key.strip_prefix(&prefix)?, value)))
    }

    /// The last output that is one number; its gradients are those in the file.
    fn differentiated(&self) -> Option<String> {
        let scalar = |value: &Tensor| value.len() == 1 && value.dtype() == DType::F32;
        let last = self.expected("out").filter(|(_, value)| scalar(value)).last();
        last.filter(|_| self.expected("grad").next().is_some())
            .map(|(name, _)| format!("out:{name}"))
    }

    /// The program after some passes, each followed by verification.
    fn after(&self, passes: &str) -> Module {
        let (mut module, _) = load(&pir_dialects::context(), &self.source, LoadOptions::default()).unwrap();
        let options = RunOptions {
            verify: Some(Default::default()),
            observers: Vec::new(),
        };
        run_passes(&mut module, &Pipeline::parse(passes).unwrap(), options)
            .unwrap_or_else(|e| panic!("{passes}: {e:#?}"));
        // What is run is what one reads.
        let text = print(&module, &Default::default());
        let again = parse(&module.ctx, text.as_bytes(), &ParseOptions::default());
        assert_eq!(again.diagnostics, [], "{passes}: {text}");
        again.module
    }

    fn check(&self, passes: &str) {
        let module = self.after(passes);
        self.compare(passes, &module);
        // What has been to PaddlePaddle's form and back means the same.
        let saved = pir_translate::paddle::write(&module).unwrap_or_else(|e| panic!("{passes}: {e:#?}"));
        let source = Source::new("saved.json", saved);
        let (back, _) = load(&module.ctx, &source, LoadOptions::default())
            .unwrap_or_else(|e| panic!("{passes}: {e:#?} in the program written"));
        self.compare(&format!("{passes}, written"), &back);
    }

    fn compare(&self, passes: &str, module: &Module) {
        let outcome = pir_interp::run(module, &self.options(), &mut Vec::new())
            .unwrap_or_else(|e| panic!("{passes}: {e:?} in\n{}", print(module, &Default::default())));
        let compare = |name: String, want: &Tensor| {
            let Some((_, got)) = outcome.fetched.iter().find(|(n, _)| *n == name) else {
                panic!("{passes}: `{name}` is not fetched");
            };
            assert_same(passes, &name, got, want);
        };
        for (name, want) in self.expected("out") {
            compare(format!("out:{name}"), want);
        }
        if passes.contains("backward") {
            for (name, want) in self.expected("grad") {
                compare(format!("{name}_grad"), want);
            }
        }
    }

    /// The gradients that our eager engine computes.
    fn check_eagerly(&self, passes: &str, output: &str) {
        let module = self.after(passes);
        let trace = eager::trace(&module, &self.options(), &mut Vec::new()).unwrap_or_else(|e| panic!("{e:?}"));
        let targets = eager::Targets {
            of: vec![output.to_owned()],
            wrt: self.expected("grad").map(|(name, _)| name.to_owned()).collect(),
            ..Default::default()
        };
        let grads = trace.gradients(&targets, false).unwrap_or_else(|e| panic!("{e}"));
        for ((name, got), (_, want)) in grads.iter().zip(self.expected("grad")) {
            assert_same("eagerly", &format!("{name}_grad"), &got.data(), want);
        }
    }

    fn options(&self) -> pir_interp::Options {
        let inputs = self.expected("in").chain(self.expected("param"));
        pir_interp::Options {
            inputs: inputs
                .map(|(name, value)| (name.to_owned(), value.clone()))
                .chain(["", "gru_0."].map(|layer| (format!("{layer}dropout_state__non_persistable"), nothing())))
                .collect(),
            ..Default::default()
        }
    }
}

#[track_caller]
fn assert_same(how: &str, name: &str, got: &Tensor, want: &Tensor) {
    assert_eq!(got.shape(), want.shape(), "{how}: the shape of `{name}`");
    assert_eq!(got.dtype(), want.dtype(), "{how}: the elements of `{name}`");
    let (got, want) = (got.to_f64(), want.to_f64());
    let scale = want.iter().fold(1.0f64, |m, x| m.max(x.abs()));
    for (at, (g, w)) in got.iter().zip(&want).enumerate() {
        let same = (g - w).abs() <= TOLERANCE * scale;
        assert!(same, "{how}: element {at} of `{name}` is {g}, not {w}");
    }
}

/// The state of a generator that draws no numbers.
fn nothing() -> Tensor {
    Tensor::new(&[0], Vec::<u8>::new()).unwrap()
}

fn check(name: &str) {
    let program = Program::new(name);
    program.check("dce");
    program.check("licm,cse,canonicalize,dce");
    if let Some(output) = program.differentiated() {
        let backward = format!("backward{{of=\"{output}\"}}");
        program.check_eagerly("dce", &output);
        program.check(&backward);
        program.check(&format!("licm,cse,canonicalize,{backward},dce"));
        program.check(&format!("{backward},canonicalize,licm,cse,forward-args,dce"));
    }
}

macro_rules! programs {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                check(stringify!($name));
            }
        )*
    };
}

programs! {
    attention_decoder
    cond_basic
    custom_rnn
    dead_loop_var
    fixed_point
    greedy_search
    gru_cell_loop
    left_early
    lenet
    licm_candidates
    list_of_steps
    lstm_layer
    mlp_sgd_step
    nested_loops
    nested_while
    power_iteration
    python_loop
    residual_block
    rk4_ode_loop
    rnn_cell_loop
    seed_cond
    seed_while_count
    tanh_loop
    transformer_encoder
    unknown_batch
    while_in_if
}

#[test]
fn a_carried_condition_means_the_same() {
    // The condition at the end of the body reads the counter before the increment: one more round.
    let text = r#"{
    (%0) = "pd_op.full" () {dtype:int64,shape:[1],value:0} : () -> tensor<1xi64>
    (%1) = "pd_op.full" () {dtype:int64,shape:[1],value:3} : () -> tensor<1xi64>
    (%2) = "pd_op.less_than" (%0, %1) {} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xb>
    (%3) = "pd_op.while" (cond=%2, inputs=%0) {
    ^%arg_0 {}
        (%4) = "pd_op.scale" (%arg_0) {scale:1,bias:1,bias_after_scale:true} : (tensor<1xi64>) -> tensor<1xi64>
        (%5) = "pd_op.less_than" (READ, %1) {} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xb>
        () = "cf.yield" (%5, %4) {} : (tensor<1xb>, tensor<1xi64>) ->
    }
    (%6) = "pd_op.fetch" (%3) {name:"n",col:0} : (tensor<1xi64>) -> tensor<1xi64>
}"#;
    for (read, carried, count) in [("%4", false, 3), ("%arg_0", true, 4)] {
        let source = Source::new("loop", text.replace("READ", read));
        let (module, _) = load(&pir_dialects::context(), &source, LoadOptions::default()).unwrap();
        assert_eq!(print(&module, &Default::default()).contains("%go"), carried);
        let outcome = pir_interp::run(&module, &Default::default(), &mut Vec::new()).unwrap();
        assert_eq!(outcome.fetched[0].1.to_i64(), [count]);
    }
}
