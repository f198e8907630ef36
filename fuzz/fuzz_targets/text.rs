#![no_main]
pir_fuzz::fuzz!("text");
