//! Readers and writers of other formats.
//!
//! [`detect`] recognizes a format by the content of a file; each format has a module with its reader.

#![forbid(unsafe_code)]

pub mod checkpoint;
pub mod graphdef;
mod json;
pub mod paddle;
mod schemas;
mod wire;

pub use wire::Cursor;

use std::sync::Arc;

use pir_ir::{Context, Diagnostic, Module};

/// How files are read.
#[derive(Clone, Default, Debug)]
pub struct Options {
    /// PaddlePaddle's formats.
    pub paddle: paddle::Options,
    /// TensorFlow's graphs.
    pub graph: graphdef::Options,
}

/// A format that a file may be in, other than the text format of the IR.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// PaddlePaddle's saved programs: PIR JSON.
    PaddleJson,
    /// PaddlePaddle's programs as it prints them.
    PaddleText,
    /// Programs from before PaddlePaddle 3: a protobuf message.
    PaddleProgram,
    /// Programs from before PaddlePaddle 3 as it printed them.
    PaddleProgramText,
    /// TensorFlow's graphs: a `GraphDef` message.
    GraphDef,
    /// TensorFlow's graphs as text.
    GraphDefText,
    /// TensorFlow's models with variables: the message in `saved_model.pb`.
    SavedModel,
}

impl Format {
    /// Whether it is one of TensorFlow's.
    pub fn is_graph(self) -> bool {
        matches!(self, Format::GraphDef | Format::GraphDefText | Format::SavedModel)
    }

    /// The name of the format in the tools' options.
    pub fn name(self) -> &'static str {
        match self {
            Format::PaddleJson => "paddle-json",
            Format::PaddleText => "paddle-text",
            Format::PaddleProgram => "paddle-program",
            Format::PaddleProgramText => "paddle-program-text",
            Format::GraphDef => "graphdef",
            Format::GraphDefText => "graphdef-text",
            Format::SavedModel => "saved-model",
        }
    }

    /// Reads a program in this format.
    ///
    /// # Errors
    /// Everything wrong with the source.
    pub fn read(self, ctx: &Arc<Context>, source: &[u8], options: &Options) -> Result<Module, Vec<Diagnostic>> {
        let graph = &options.graph;
        let options = options.paddle;
        // Blanks in place of the byte-order mark, so that offsets stay the same.
        let unmarked = source.strip_prefix(MARK).map(|text| [b"   ", text].concat());
        let source = match self {
            Format::PaddleJson | Format::PaddleText | Format::PaddleProgramText | Format::GraphDefText => {
                unmarked.as_deref().unwrap_or(source)
            }
            Format::PaddleProgram | Format::GraphDef | Format::SavedModel => source,
        };
        match self {
            Format::PaddleJson => paddle::read_with(ctx, source, options),
            Format::PaddleText => paddle::read_printed(ctx, source, options),
            Format::PaddleProgram => paddle::read_program(ctx, source, options),
            Format::PaddleProgramText => paddle::read_program_text(ctx, source, options),
            Format::GraphDef => graphdef::read(ctx, source, graph),
            Format::GraphDefText => graphdef::read_text(ctx, source, graph),
            Format::SavedModel => graphdef::read_saved(ctx, source, graph),
        }
    }

    /// All formats.
    pub const ALL: &'static [Format] = &[
        Format::PaddleJson,
        Format::PaddleText,
        Format::PaddleProgram,
        Format::PaddleProgramText,
        Format::GraphDef,
        Format::GraphDefText,
        Format::SavedModel,
    ];

    /// The format of this name.
    pub fn from_name(name: &str) -> Option<Format> {
        Self::ALL.iter().copied().find(|f| f.name() == name)
    }
}

/// The byte-order mark that some editors write at the start of a text.
const MARK: &[u8] = b"\xEF\xBB\xBF";

/// Whether a file is text: UTF-8 without control characters other than line breaks and tabs. Protobuf messages contain
/// lengths and small numbers as bytes.
fn is_text(source: &[u8]) -> bool {
    let is_control = |&b: &u8| b < 0x20 && !matches!(b, b'\t' | b'\n' | b'\r' | 0x0b | 0x0c) || b == 0x7f;
    !source.iter().any(is_control) && std::str::from_utf8(source).is_ok()
}

/// Why a file that Keras saved is not read, if it is one: it holds Python objects, an archive or HDF5.
pub fn keras_archive(name: &str, source: &[u8]) -> Option<Diagnostic> {
    let holds = |text: &[u8]| source.windows(text.len()).any(|w| w == text);
    let archive = source.starts_with(b"PK\x03\x04") && (name.ends_with(".keras") || holds(b"model.weights.h5"));
    let is_weights = source.starts_with(b"\x89HDF\r\n");
    if !archive && !is_weights {
        return None;
    }
    let folder = name.rsplit_once('.').map_or("model", |(stem, _)| stem);
    let error = Diagnostic::error("saved-model", "this is a Keras model, which only Python can load");
    Some(error.help(format!(
        "export it as a SavedModel:\n    model = keras.models.load_model(\"{name}\")\n    model.export(\"{folder}\")"
    )))
}

/// Detects the format of a file by its content; `None` if it is none of them, like the text format of the IR.
pub fn detect(source: &[u8]) -> Option<Format> {
    if graphdef::is_saved_model(source) {
        return Some(Format::SavedModel);
    }
    if paddle::legacy::is_proto(source) && !is_text(source) {
        return Some(Format::PaddleProgram);
    }
    let source = source.strip_prefix(MARK).unwrap_or(source);
    if paddle::legacy::is_dump(source) {
        return Some(Format::PaddleProgramText);
    }
    if graphdef::is_graph(source) && !is_text(source) {
        return Some(Format::GraphDef);
    }
    if graphdef::is_text_graph(source) {
        return Some(Format::GraphDefText);
    }
    let source = source.trim_ascii_start();
    let inside = source.strip_prefix(b"{")?.trim_ascii_start();
    if let Some(first) = inside.strip_prefix(b"(") {
        let first = first.trim_ascii_start();
        let printed = first.starts_with(b"%") || first.starts_with(b")");
        return printed.then_some(Format::PaddleText);
    }
    // An attribute dictionary or a region cannot begin with a quoted key and a colon; a JSON object does.
    let key = inside.strip_prefix(b"\"")?;
    let end = key.iter().position(|&c| c == b'"')?;
    let behind = key.get(end + 1..)?.trim_ascii_start();
    behind.starts_with(b":").then_some(Format::PaddleJson)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_by_content() {
        assert_eq!(detect(b" {\"base_code\": {}}"), Some(Format::PaddleJson));
        assert_eq!(detect(b"\xEF\xBB\xBF{\"base_code\": {}}"), Some(Format::PaddleJson));
        assert_eq!(detect(b"%0 = pd.full {shape = [1]}"), None);
        assert_eq!(detect(b"{\n  \"pd.full\"() : () -> ()\n}"), None);
        assert_eq!(detect(b"{\n    (%0) = \"pd_op.full\" ()"), Some(Format::PaddleText));
        assert_eq!(detect(b""), None);
        assert_eq!(detect(b"{ // block 0\n    var x"), Some(Format::PaddleProgramText));
        assert_eq!(detect(b"\x0a\xb7\x2d\x08\x00\x10\xff\xff"), Some(Format::PaddleProgram));
        assert_eq!(detect(b"\n\n%0 = pd.full"), None);
        // As protobuf, a `GraphDef` whose versions field covers the first line.
        let comment = "x".repeat(80);
        assert_eq!(detect(format!("\"a.b\"() : () -> ()\n//{comment}").as_bytes()), None);
        assert_eq!(Format::from_name("paddle-json"), Some(Format::PaddleJson));
    }

    #[test]
    fn archives_of_keras_are_refused_with_what_to_do() {
        let error = keras_archive("net.keras", b"PK\x03\x04 metadata.json").unwrap();
        let help = error.help.unwrap();
        assert!(help.contains("load_model(\"net.keras\")"), "{help}");
        assert!(help.contains("model.export(\"net\")"), "{help}");
        assert!(keras_archive("net.h5", b"\x89HDF\r\n\x1a\n").is_some());
        assert!(keras_archive("a.npz", b"PK\x03\x04x.npy").is_none());
        assert!(keras_archive("a.pir", b"%x = pd.full").is_none());
    }

    #[test]
    fn a_byte_order_mark_is_no_matter() {
        let ctx = pir_dialects::context();
        let read = |text: &str| Format::PaddleJson.read(&ctx, text.as_bytes(), &Options::default());
        let program = r##"{"base_code": {"magic": "pir", "version": 1}, "program": {"regions": [
            {"#": "region_0", "blocks": [{"#": "block_0", "args": [], "ops": []}]}]}}"##;
        assert!(read(&format!("\u{feff}{program}")).is_ok());
        let errors = read("\u{feff}{\"base_code\": 1 1}").unwrap_err();
        assert_eq!(errors[0].labels[0].span.start, 19, "{errors:?}");
    }
}
