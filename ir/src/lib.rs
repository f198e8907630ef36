//! Entities, text format, verifier and registries of the pir-opt IR.
