#![no_main]
pir_fuzz::fuzz!("graphdef");
