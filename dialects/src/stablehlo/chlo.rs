//! The operations of `chlo`.

use pir_ir::Context;

use crate::typed::*;

include!(concat!(env!("OUT_DIR"), "/chlo_typed.rs"));
