//! The operations of `sdy`.

use pir_ir::Attr;

use crate::typed::*;

include!(concat!(env!("OUT_DIR"), "/sdy_typed.rs"));
