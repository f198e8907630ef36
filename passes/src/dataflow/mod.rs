//! Between structured control flow and graphs of dataflow.

mod lower;

pub use lower::LowerToDataflow;
