//! Programs run by TensorFlow, on one device and on two, against the structured interpreter.
//!
//! TensorFlow is installed by `tools/tensorflow/setup`, which takes a while; where it cannot be, nothing is tested. So the
//! tests are run by name: `cargo test --test tensorflow -- --ignored`.

#![allow(clippy::unwrap_used, reason = "in tests a panic is a failure")]

#[path = "common/batch.rs"]
mod batch;
#[path = "common/mod.rs"]
mod common;
#[path = "equivalence/generate.rs"]
#[allow(dead_code, reason = "only programs without effects are wanted")]
mod generate;

use std::path::Path;

use batch::Batch;
use common::Inputs;
use generate::Random;
use pir_interp::Tensor;
use pir_ir::Module;
use pir_ir::text::print;
use pir_ir::verify::verify;
use pir_passes::{PassManager, Pipeline};
use pir_tools::arrays::read_arrays;
use pir_tools::driver::{LoadOptions, load};
use pir_tools::source::Source;
use pir_translate::graphdef;

/// How many random programs there are.
const PROGRAMS: u64 = 250;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Lowers programs, and adds what they become.
struct Graphs(Batch);

impl Graphs {
    /// A program and what it gives, on one device and on two. Nothing if it cannot be lowered.
    fn add(&mut self, name: &str, module: &Module, inputs: &Inputs, random: &mut Random) -> Option<()> {
        let mut lowered = module.clone();
        let pipeline = Pipeline::parse("lower-to-dataflow").unwrap();
        if let Err(errors) = PassManager::new().run(&mut lowered, &pipeline) {
            assert_eq!(errors[0].code, "dataflow-stack", "{errors:#?}");
            return None;
        }
        let (given, wanted) = (format!("{name}.in.npz"), format!("{name}.out.npz"));
        self.0.tensors(&given, inputs);
        self.0.tensors(&wanted, &common::run(module, inputs).fetched);
        let mut placed = lowered.clone();
        place(&mut placed, random);
        let mut parts = lowered.clone();
        common::passes(&mut parts, "partition{devices=2}");
        for (kind, devices, module) in [("one", 1, lowered), ("two", 2, placed), ("parts", 2, parts)] {
            let text = || print(&module, &Default::default());
            let graph = graphdef::write(&module, None).unwrap_or_else(|e| panic!("{e:#?}\n{}", text()));
            self.graph(&format!("{name}.{kind}"), devices, &graph, &given, &wanted);
            // What was written is read as a graph that can be written, and does the same.
            let ctx = pir_dialects::context();
            let back = graphdef::read(&ctx, &graph, &graphdef::Options::default())
                .unwrap_or_else(|e| panic!("{e:#?}\n{}", text()));
            assert_eq!(verify(&back), [], "{}", text());
            if random.below(4) == 0 {
                let again = graphdef::write(&back, None).unwrap_or_else(|e| panic!("{e:#?}\n{}", text()));
                self.graph(&format!("{name}.{kind}.again"), devices, &again, &given, &wanted);
            }
        }
        Some(())
    }

    fn graph(&mut self, name: &str, devices: usize, graph: &[u8], given: &str, wanted: &str) {
        self.0
            .program(&format!("{name}.pb"), graph, &format!("{devices} {given} {wanted}"));
    }
}

/// Places nodes on two devices at random. What must be elsewhere is moved when it is written.
fn place(module: &mut Module, random: &mut Random) {
    let ctx = module.ctx.clone();
    let top: Vec<_> = module.body.block_ops_vec(module.top());
    for graph in top {
        let Some(graph) = module.body.isolated_mut(graph) else {
            continue;
        };
        let ops: Vec<_> = graph
            .region_blocks(graph.root())
            .iter()
            .flat_map(|&b| graph.block_ops_vec(b))
            .collect();
        for op in ops {
            let name = ctx.op_str(graph.op_name(op));
            if name.starts_with("pd.") || name == "df.merge" || name == "df.stack" {
                let device = ctx.int_attr(random.below(2) as i64);
                let attrs = ctx.dict_with(graph.attrs(op), "device", device);
                graph.set_attrs(op, attrs);
            }
        }
    }
}

#[test]
#[ignore = "needs TensorFlow"]
fn random_programs() {
    let Some(python) = batch::python("tensorflow") else {
        return;
    };
    let ctx = pir_dialects::context();
    let mut graphs = Graphs(Batch::new());
    let mut lowered = 0;
    for seed in 0..PROGRAMS {
        let mut random = Random::new(seed);
        let mut module = common::read(&ctx, &generate::program(&mut random, false));
        if seed % 3 == 0 {
            common::passes(&mut module, "licm,cse,canonicalize,dce");
        }
        let inputs = batch::inputs(seed);
        graphs.add(&format!("p{seed}"), &module, &inputs, &mut random).unwrap();
        common::passes(&mut module, "backward{wrt=[x,y]}");
        let grad = graphs.add(&format!("p{seed}.grad"), &module, &inputs, &mut random);
        lowered += u64::from(grad.is_some());
    }
    // Conditions that record are not lowered, and rare.
    assert!(lowered > PROGRAMS * 9 / 10, "{lowered}");
    graphs.0.run(&python, "tools/tensorflow/test");
}

/// Attributes beyond what is usual.
#[test]
#[ignore = "needs TensorFlow"]
fn edges() {
    const PROGRAM: &str = r#"
        %x = pd.data {name = "x", shape = [2, 3], dtype = f64} : tensor<2x3xf64>
        %y = pd.data {name = "y", shape = [3], dtype = f64} : tensor<3xf64>
        %hardtanh = pd.hardtanh (%x) {t_min = 1.0, t_max = 0.0} : tensor<2x3xf64>
        %logsumexp = pd.logsumexp (%x) {keepdim = true} : tensor<1x3xf64>
        %lower = pd.tril (%x) {diagonal = 5} : tensor<2x3xf64>
        %none = pd.tril (%x) {diagonal = -4} : tensor<2x3xf64>
        %upper = pd.triu (%x) {diagonal = -5} : tensor<2x3xf64>
        %corner = pd.triu (%x) {diagonal = 4} : tensor<2x3xf64>
        %angle = pd.atan2 (%x, %y) : tensor<2x3xf64>
        %i = pd.assign_value {shape = [3], values = [-3, 3, 1], dtype = i32} : tensor<3xi32>
        %round = pd.round (%i) : tensor<3xi32>
        %scale = pd.scale (%i) {scale = 2.5, bias = 0.5} : tensor<3xi32>
        %pow = pd.pow (%i) {y = 2.7} : tensor<3xi32>
    "#;
    let Some(python) = batch::python("tensorflow") else {
        return;
    };
    let names = PROGRAM
        .lines()
        .filter_map(|line| line.trim().strip_prefix('%')?.split_once(" = pd."));
    let fetched = names.map(|(name, _)| format!("pd.fetch (%{name}) {{name = \"{name}\"}}\n"));
    let text = format!("{PROGRAM}\n{}", fetched.collect::<String>());
    let mut graphs = Graphs(Batch::new());
    let module = common::read(&pir_dialects::context(), &text);
    let tensor = |shape: &[usize], values: &[f64]| Tensor::new(shape, values.to_vec()).unwrap();
    let inputs = vec![
        ("x".to_owned(), tensor(&[2, 3], &[0.7, -1.5, 2.0, 0.25, -0.125, 3.5])),
        ("y".to_owned(), tensor(&[3], &[0.5, -2.0, 1.25])),
    ];
    graphs.add("edges", &module, &inputs, &mut Random::new(1)).unwrap();
    graphs.0.run(&python, "tools/tensorflow/test");
}

/// Programs that PaddlePaddle saved, with the inputs that they were saved with.
#[test]
#[ignore = "needs TensorFlow"]
fn saved_programs() {
    const NAMES: &[&str] = &[
        "cond_basic",
        "dead_loop_var",
        "gru_cell_loop",
        "mlp_sgd_step",
        "nested_while",
        "power_iteration",
        "rk4_ode_loop",
        "rnn_cell_loop",
        "tanh_loop",
        "transformer_encoder",
        "while_in_if",
    ];
    let Some(python) = batch::python("tensorflow") else {
        return;
    };
    let mut graphs = Graphs(Batch::new());
    let mut random = Random::new(1);
    for name in NAMES {
        let file = root().join(format!("test-files/paddle/{name}.json"));
        let source = Source::read(file.to_str().unwrap()).unwrap();
        let (mut module, _) = load(&pir_dialects::context(), &source, LoadOptions::default()).unwrap();
        let values = read_arrays(file.with_extension("npz").to_str().unwrap()).unwrap();
        let mut inputs: Inputs = values
            .iter()
            .filter_map(|(key, value)| Some((key.split_once(':')?, value)))
            .filter(|((kind, _), _)| matches!(*kind, "in" | "param"))
            .map(|((_, name), value)| (name.to_owned(), value.clone()))
            .collect();
        // The state of a generator that draws no numbers.
        let state = Tensor::new(&[0], Vec::<u8>::new()).unwrap();
        inputs.push(("dropout_state__non_persistable".to_owned(), state));
        graphs.add(name, &module, &inputs, &mut random).unwrap();
        // The last output that is one number; a gradient states that there is one.
        let one =
            |(key, value): &&(String, Tensor)| key.starts_with("out:") && value.len() == 1 && value.dtype().is_float();
        if let Some((of, _)) = values.iter().rfind(one)
            && values.iter().any(|(key, _)| key.starts_with("grad:"))
        {
            common::passes(&mut module, &format!("backward{{of=\"{of}\"}},dce"));
            graphs
                .add(&format!("{name}.grad"), &module, &inputs, &mut random)
                .unwrap();
        }
    }
    graphs.0.run(&python, "tools/tensorflow/test");
}
