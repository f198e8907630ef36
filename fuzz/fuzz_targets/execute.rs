#![no_main]
pir_fuzz::fuzz!("execute");
