#!/usr/bin/env bash
# Compiles the bundled circuits for both curves with circom2 and makes their inputs; `make examples` calls it.
set -euo pipefail
cd "$(dirname "$0")"
circom2=${CIRCOM2:-../node_modules/.bin/circom2}
python=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for curve in bn254:bn128 bls12381:bls12381; do
  folder=${curve%:*} prime=${curve#*:}
  for circuit in multiplier merkle; do
    "$circom2" "$circuit/$circuit.circom" --r1cs --wasm --prime "$prime" --output "$work" > "$work/log" ||
      { cat "$work/log" >&2; exit 1; }
    mkdir -p "$circuit/$folder"
    mv "$work/$circuit.r1cs" "$work/${circuit}_js/$circuit.wasm" "$circuit/$folder/"
  done
  "$python" merkle/make_input.py "$folder" > "$work/input.json"
  mv "$work/input.json" "merkle/$folder/input.json"
  printf '{"a": "6", "b": "7"}\n' > "multiplier/$folder/input.json"
done
