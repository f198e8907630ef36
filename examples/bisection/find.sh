#!/usr/bin/env bash
# Finds the pass, and in it the rewrite, that changes what model.pir computes.
set -euo pipefail
cd "$(dirname "$0")"
input='x=[-0.5, 0.1, -1.0, 2.0]'
expected=$(pir-run model.pir --input "$input")
echo "right: $expected"
echo "wrong: $(pir-opt --load-dialect rules.yaml -O2 model.pir | pir-run - --input "$input")"

# Whether the program computes something else after these passes.
is_wrong() {
  [ "$(pir-opt --load-dialect rules.yaml "$@" model.pir 2>/dev/null | pir-run - --input "$input")" != "$expected" ]
}

# first LOW HIGH OPTION…: the least number in the place of N for which the program is wrong. It is right for LOW.
first() {
  local low=$1 high=$2 middle
  shift 2
  while ((high - low > 1)); do
    middle=$(((low + high) / 2))
    if is_wrong "${@//N/$middle}"; then high=$middle; else low=$middle; fi
  done
  echo "$high"
}

pass=$(first 0 64 -O2 --opt-bisect-limit=N)
name=$(pir-opt --load-dialect rules.yaml -O2 model.pir --opt-bisect-limit="$pass" -o /dev/null 2>&1 |
  sed -n "s/^bisect: running pass $pass: //p")
echo "pass $pass of -O2 is wrong: $name"

rewrite=$(first 0 64 "--pass=$name{max-steps=N}")
echo "its rewrite $rewrite is wrong:"
diff <(pir-opt --load-dialect rules.yaml "--pass=$name{max-steps=$((rewrite - 1))}" model.pir) \
  <(pir-opt --load-dialect rules.yaml "--pass=$name{max-steps=$rewrite}" model.pir) || true
