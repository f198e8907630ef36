//! `pir-run`: runs a program on inputs from files and the command line.

pub mod value;
