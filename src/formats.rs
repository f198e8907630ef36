//! The formats of programs, as command lines name them.

use clap::ValueEnum;

use crate::source::Source;

/// An input format.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum From {
    /// Detect the format from the content
    Auto,
    /// The text format of pir-opt, or MLIR's generic form
    Text,
    /// A program that PaddlePaddle saved: PIR JSON
    PaddleJson,
    /// A program as PaddlePaddle prints it: `print(program)`
    PaddleText,
    /// A program of PaddlePaddle 2: `.pdmodel`, `__model__`
    PaddleProgram,
    /// A program as PaddlePaddle 2 prints it
    PaddleProgramText,
    /// A TensorFlow graph: GraphDef, `graph.pb`
    Graphdef,
    /// A TensorFlow graph as text: `graph.pbtxt`
    GraphdefText,
    /// A TensorFlow model: the folder of a SavedModel
    SavedModel,
}

impl From {
    /// The format of a source: as requested, or detected; `None` for text.
    pub(crate) fn format(self, source: &Source) -> Option<pir_translate::Format> {
        match self {
            From::Auto => pir_translate::detect(source.bytes()),
            From::Text => None,
            From::PaddleJson => Some(pir_translate::Format::PaddleJson),
            From::PaddleText => Some(pir_translate::Format::PaddleText),
            From::PaddleProgram => Some(pir_translate::Format::PaddleProgram),
            From::PaddleProgramText => Some(pir_translate::Format::PaddleProgramText),
            From::Graphdef => Some(pir_translate::Format::GraphDef),
            From::GraphdefText => Some(pir_translate::Format::GraphDefText),
            From::SavedModel => Some(pir_translate::Format::SavedModel),
        }
    }
}

/// An output format.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum To {
    /// The text format of pir-opt
    Text,
    /// MLIR's generic form
    Generic,
    /// StableHLO for XLA: the generic form, after the pass `pd-to-stablehlo`
    Stablehlo,
    /// A program that PaddlePaddle loads and runs: PIR JSON
    PaddleJson,
    /// A program as PaddlePaddle prints it: `print(program)`
    PaddleText,
    /// A graph that TensorFlow loads and runs: GraphDef, from a program lowered to dataflow
    Graphdef,
    /// A TensorFlow graph as text: `graph.pbtxt`
    GraphdefText,
    /// A model that TensorFlow loads: the folder of a SavedModel, with a signature for gradients
    SavedModel,
}
