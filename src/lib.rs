//! The shared driver of the tools: reading, diagnosing, running passes, writing. No logic of the IR lives here.

#![forbid(unsafe_code)]

pub mod arrays;
pub mod cli;
mod codes;
pub mod driver;
pub mod evaluate;
pub mod formats;
mod interrupt;
pub mod memory;
pub mod opt;
pub mod output;
pub mod progress;
pub mod reference;
pub mod render;
pub mod run;
pub mod source;
mod tool;
pub mod translate;

pub use tool::Tool;
