//! The operations of the tables.

use pir_ir::{Attr, Context};

use crate::typed::*;

include!(concat!(env!("OUT_DIR"), "/stablehlo_typed.rs"));
