// snarkjs takes a worker for every processor of the machine; this makes it as many as the run may use.
"use strict";
const os = require("node:os");
const threads = Number(process.env.CONTESTANT_THREADS ?? 1);
const all = os.cpus();
os.cpus = () => all.slice(0, threads);
if (typeof navigator === "object") {
  Object.defineProperty(globalThis, "navigator", { value: { hardwareConcurrency: threads }, configurable: true });
}
