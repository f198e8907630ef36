#!/usr/bin/env bash
# What model.pir computes after the first rewrites of `canonicalize`.
set -euo pipefail
cd "$(dirname "$0")"
for limit in $(seq 0 8); do
  printf 'rewrites %d  ' "$limit"
  pir-opt --load-dialect rules.yaml --pass="canonicalize{max-steps=$limit}" model.pir | pir-run - --input 'x=[-0.5, 0.1, -1.0, 2.0]'
done
