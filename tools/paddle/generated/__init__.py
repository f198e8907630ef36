"""Random programs, what they mean, and what pir-opt makes of them. See `tools/paddle/generate`."""
