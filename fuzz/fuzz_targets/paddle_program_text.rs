#![no_main]
pir_fuzz::fuzz!("paddle_program_text");
