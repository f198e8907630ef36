//! The shared driver of the tools: reading, diagnosing, running passes, writing. No logic of the IR lives here.

pub mod output;
pub mod render;
pub mod source;
