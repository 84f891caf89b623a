// snarkjs and its ffjavascript as a contestant (see serve.py): the same files, the same bytes.
"use strict";
require("./threads.cjs");
const crypto = require("node:crypto");
const fs = require("node:fs");
const readline = require("node:readline");
const snarkjs = require("snarkjs");
const { getCurveFromName, BigBuffer } = require("ffjavascript");

const version = JSON.parse(fs.readFileSync(`${__dirname}/../../node_modules/snarkjs/package.json`)).version;
const NAMES = { bn254: "bn128", bls12381: "bls12381" };

function bigFile(path) {
  const bytes = fs.readFileSync(path);
  const big = new BigBuffer(bytes.length);
  big.set(bytes, 0);
  return big;
}

function coordinates(group, point) {
  const affine = group.toObject(group.toAffine(point));
  if (group.isZero(point)) return "";
  return affine.slice(0, 2).flat().map((part) => part.toString(16)).join(",");
}

const tasks = {
  async msm({ curve, group, points, scalars }) {
    const own = (await getCurveFromName(NAMES[curve]))[group === "g1" ? "G1" : "G2"];
    const bases = bigFile(points), numbers = bigFile(scalars);
    return { run: () => own.multiExpAffine(bases, numbers), answer: (sum) => coordinates(own, sum) };
  },
  async ntt({ curve, values, check }) {
    const own = await getCurveFromName(NAMES[curve]);
    const given = bigFile(values);
    const answer = (out) => {
      if (!check) return "";
      const hash = crypto.createHash("sha256");
      for (const page of out.buffers ?? [out]) hash.update(page);
      return hash.digest("hex");
    };
    return { run: () => own.Fr.fft(given), answer };
  },
  async pairing({ curve, pairs }) {
    const own = await getCurveFromName(NAMES[curve]);
    const points = [];
    for (let i = 0; i < pairs; i++) points.push(i % 2 ? own.G1.neg(own.G1.g) : own.G1.g, own.G2.g);
    return { run: () => own.pairingEq(...points), answer: (one) => (one ? "True" : "False") };
  },
  async prove({ zkey, wtns, proof, public: signals }) {
    const run = async () => {
      const made = await snarkjs.groth16.prove(zkey, wtns);
      fs.writeFileSync(proof, JSON.stringify(made.proof));
      fs.writeFileSync(signals, JSON.stringify(made.publicSignals));
    };
    return { run, answer: () => fs.readFileSync(signals, "utf8") };
  },
  async setup({ r1cs, zkey, ptau }) {
    return { run: () => snarkjs.zKey.newZKey(r1cs, ptau, zkey), answer: () => "" };
  },
};

async function main() {
  const say = (message) => fs.writeSync(1, JSON.stringify(message) + "\n");
  say({ version: version, tasks: Object.keys(tasks) });
  let line, job;
  for await (const next of readline.createInterface({ input: process.stdin })) {
    try {
      if (next !== line) {
        const request = JSON.parse(next);
        job = undefined;
        job = await tasks[request.task](request);
        line = next;
      }
      const started = process.hrtime.bigint(), before = process.cpuUsage();
      const result = await job.run();
      const used = process.cpuUsage(before), wall = process.hrtime.bigint() - started;
      const answer = job.answer(result);
      say({ wall_s: Number(wall) / 1e9, cpu_s: (used.user + used.system) / 1e6, answer, details: {} });
    } catch (error) {
      line = undefined;
      say({ error: String(error.message ?? error) });
    }
  }
  process.exit(0); // its workers would keep it alive
}

main();
