#!/usr/bin/env bash
# Makes the files of this folder anew with circom2 and snarkjs, for both curves. They are kept so that the tests of
# our readers need not wait for snarkjs.
set -euo pipefail
cd "$(dirname "$0")"
bin=$PWD/../../../node_modules/.bin
printf '{"factors": [["2", "6"], ["1", "0x4"]], "limit": "-4", "unused": 5,
 "pairs": [{"left": 7, "right": 8}, {"left": 9, "right": 10}]}\n' > input.json

for curve in bn254:bn128 bls12381:bls12381; do
  folder=$PWD/${curve%:*} prime=${curve#*:}
  rm -rf "$folder" && mkdir "$folder" && cd "$folder"
  work=$(mktemp -d)
  "$bin/circom2" ../sample.circom --r1cs --wasm --prime "$prime" --output "$work"
  cp "$work/sample.r1cs" "$work/sample_js/sample.wasm" .
  node "$work/sample_js/generate_witness.js" sample.wasm ../input.json sample.wtns
  "$bin/snarkjs" powersoftau new "$prime" 5 "$work/0.ptau"
  "$bin/snarkjs" powersoftau beacon "$work/0.ptau" "$work/1.ptau" 0102030405060708090a0b0c0d0e0f10 10
  "$bin/snarkjs" powersoftau prepare phase2 "$work/1.ptau" "$work/2.ptau"
  "$bin/snarkjs" groth16 setup sample.r1cs "$work/2.ptau" "$work/0.zkey"
  "$bin/snarkjs" zkey beacon "$work/0.zkey" sample.zkey 100f0e0d0c0b0a090807060504030201 10
  "$bin/snarkjs" zkey export verificationkey sample.zkey verification_key.json
  "$bin/snarkjs" groth16 prove sample.zkey sample.wtns proof.json public.json
  rm -r "$work"
  cd ..
done
