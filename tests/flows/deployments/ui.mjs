// A user of Prefect's UI: starts a batch from the form, looks at its DAG and artifacts, and cancels another.
// Arguments: the UI's address, the deployment's name, the folder for screenshots.
// Prints what was read, as JSON.
import { chromium } from "playwright-core";

const [address, deployment, folder] = process.argv.slice(2);
const PATIENCE_MS = 120_000;
const DRAWN_MS = 2_000; // the graph tells nobody when it is
const ARGUMENTS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];

const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ARGUMENTS });
const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
page.setDefaultTimeout(PATIENCE_MS);
const picture = (name) => page.screenshot({ path: `${folder}/${name}.png` });

/** Fill in the deployment's form, and come to the page of the run that it starts. */
async function start(proofs, name) {
  await page.goto(`${address}/deployments`);
  await page.getByText(deployment).first().click();
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByText("Custom run").click();
  await page.getByText("How many proofs to make").waitFor();
  const numbers = page.locator("input[type=number]");
  await numbers.nth(0).fill(String(proofs));
  const form = await page.locator("form").last().innerText();
  if (name) await picture(name);
  const id = await submit();
  await page.goto(`${address}/runs/flow-run/${id}`);
  return form;
}

/** Submit the form; returns the run's id. */
async function submit() {
  const answered = page.waitForResponse((response) => response.url().endsWith("/create_flow_run"));
  await page.getByRole("button", { name: "Submit" }).click();
  return (await (await answered).json()).id;
}

/** Wait until the run's page says that it is in this state. */
const inState = (state) => page.getByText(state, { exact: true }).first().waitFor();

const form = await start(3, "form");
await inState("Completed");
await page.reload(); // the whole of it in the picture, and not what was there at first
await page.locator("canvas").first().waitFor();
await page.waitForTimeout(DRAWN_MS);
await picture("dag");
await page.getByText("Task Runs", { exact: true }).first().click();
await page.getByText("verify", { exact: false }).first().waitFor();
const tasks = await page.locator("body").innerText();
await page.getByRole("tab", { name: "Artifacts" }).or(page.getByText("Artifacts", { exact: true })).first().click();
await page.getByText(/proved/).first().waitFor();
await picture("artifacts");
const artifacts = await page.locator("body").innerText();

await start(5000);
await inState("Running");
const cancelled = page.url();
await page.getByRole("button", { name: "Cancel" }).click();
await page.getByRole("button", { name: "Confirm" }).click();
await inState("Cancelled");
await picture("cancelled");

console.log(JSON.stringify({ form, tasks, artifacts, cancelled: cancelled.split("/").pop().split("?")[0] }));
await browser.close();
