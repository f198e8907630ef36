"""Python's side of pir-opt: `pir_opt.jax` differentiates JAX functions whose loops have no known length."""
