//! The shared driver of the tools.
