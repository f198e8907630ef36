#!/usr/bin/env bash
# Trains the rounded weights: a gradient through `quant.round`, and a step, again and again.
set -euo pipefail
cd "$(dirname "$0")"
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
data=(--input x=rand --input 'goal=[[0.5, -0.25, 0.75], [0.0, 1.0, -0.5]]')
pir-opt --load-dialect quantized.yaml --pass='backward{of=loss wrt=w}' train.pir >"$folder/gradient.pir"
weights=(--input w=zeros)
for step in $(seq 0 12); do
  pir-run --load-dialect quantized.yaml "$folder/gradient.pir" "${data[@]}" "${weights[@]}" --output "$folder/out.npz"
  if ((step % 3 == 0)); then
    printf 'step %2d  ' "$step"
    pir-run --load-dialect quantized.yaml train.pir "${data[@]}" "${weights[@]}"
  fi
  pir-run update.pir "${weights[@]}" --inputs "$folder/out.npz" --output "$folder/w.npz"
  weights=(--inputs "$folder/w.npz")
done
