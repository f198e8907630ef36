#![no_main]
pir_fuzz::fuzz!("arrays");
