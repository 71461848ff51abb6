// The page of a results folder as a reader has it: `node test.mjs RESULTS SCREENSHOTS`.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [results, screenshots] = process.argv.slice(2).map((path) => resolve(path));
const address = pathToFileURL(`${results}/report.html`).href;
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const executablePath = ["/usr/bin/chromium", "/usr/bin/google-chrome"].find(existsSync);
mkdirSync(screenshots, { recursive: true });

// No field of the main scenario holds a comma.
const [head, ...rows] = readFileSync(`${results}/timeline.csv`, "utf8").trim().split("\n").map((row) => row.split(","));
const field = (row, name) => Number(row[head.indexOf(name)]);
const policies = [...new Set(rows.map((row) => row[0]))];

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });

async function open(options, check) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, offline: true, ...options });
  const page = await context.newPage();
  const complaints = [];
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => request.url() === address || complaints.push(`asks for ${request.url()}`));
  await page.goto(address);
  await check(page);
  assert.deepEqual(complaints, []);
  await context.close();
}

const tests = {
  "the first screen says which policy to ship, and shows every policy": () =>
    open({}, async (page) => {
      assert.equal(await page.locator("#board > li").count(), policies.length);
      const last = await page.locator("#board > li").last().boundingBox();
      assert.ok(last.y + last.height <= 800, `the board ends at ${last.y + last.height}`);
      assert.match(await page.locator(".answer").innerText(), /^Ship \S+\.$/);
    }),

  "every picture has as many series as there are policies": () =>
    open({}, async (page) => {
      for (const figure of await page.locator("figure").all()) {
        const cases = await figure.locator("g[data-case]").evaluateAll((all) => new Set(all.map((g) => g.dataset.case)).size);
        assert.equal(cases, policies.length);
      }
    }),

  "the readout shows what timeline.csv has, with mouse and with keyboard": () =>
    open({}, async (page) => {
      const shown = async () => {
        const reads = await page.locator(".read").allInnerTexts();
        return reads.map((read) => Number(read.match(/^([\d .]+) active/)[1].replaceAll(" ", "")));
      };
      const wanted = (bucket) =>
        policies.map((policy) => {
          const row = rows.filter((candidate) => candidate[0] === policy)[bucket];
          return Math.round(10 * field(row, "sv_active_mean")) / 10;
        });
      const strip = await page.locator(".strip").first().boundingBox();
      await page.mouse.move(strip.x + strip.width / 2, strip.y + 10);
      const bucket = Number(await page.locator("#time").inputValue());
      assert.ok(Math.abs(bucket - rows.length / policies.length / 2) < 10, `half way is bucket ${bucket}`);
      assert.deepEqual(await shown(), wanted(bucket));
      await page.locator("#time").focus();
      await page.keyboard.press("ArrowRight");
      assert.deepEqual(await shown(), wanted(bucket + 1));
    }),

  "dragging zooms, and a button shows the whole run again": () =>
    open({}, async (page) => {
      const box = () => page.locator(".strip svg").first().getAttribute("viewBox");
      const whole = await box();
      const strip = await page.locator(".strip").nth(2).boundingBox();
      await page.mouse.move(strip.x + 40, strip.y + 20);
      await page.mouse.down();
      await page.mouse.move(strip.x + 140, strip.y + 20, { steps: 4 });
      await page.mouse.up();
      assert.notEqual(await box(), whole);
      await page.screenshot({ path: `${screenshots}/zoom.png` });
      await page.getByRole("button", { name: "Whole run" }).click();
      assert.equal(await box(), whole);
    }),

  "a policy is switched off and on with the keyboard, in every picture": () =>
    open({}, async (page) => {
      await page.getByRole("checkbox", { name: policies[1], exact: true }).focus();
      await page.keyboard.press("Space");
      assert.ok((await page.locator('[data-case="1"].off').count()) >= 5);
      assert.equal(await page.locator('[data-case="1"]:not(.off):not(#board *)').count(), 0);
      assert.equal(await page.locator('[data-case="0"].off').count(), 0);
      await page.keyboard.press("Space");
      assert.equal(await page.locator(".off").count(), 0);
    }),

  "without script nothing is missing but the controls": () =>
    open({ javaScriptEnabled: false }, async (page) => {
      assert.equal(await page.locator("#board > li svg").count(), policies.length);
      assert.equal(await page.locator("button, input").count(), 0);
      assert.ok(await page.locator("#hint").isHidden());
    }),

  "nothing is cut off on paper": () =>
    open({ colorScheme: "dark" }, async (page) => {
      await page.emulateMedia({ media: "print", colorScheme: "dark" });
      // The width between the margins of a sheet of A4.
      await page.setViewportSize({ width: Math.floor(((210 - 28) / 25.4) * 96), height: 1000 });
      const cut = await page.evaluate(() => {
        const width = document.documentElement.clientWidth;
        const parts = [...document.querySelectorAll("table, svg, pre, p, h1, h2, li")];
        return parts.filter((part) => part.getBoundingClientRect().right > width + 1).map((part) => part.outerHTML.slice(0, 80));
      });
      assert.deepEqual(cut, []);
      assert.equal(await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor), "rgb(255, 255, 255)");
      assert.ok(await page.getByText("time_to_drain_s").first().isVisible(), "what is folded on screen is open");
      await page.pdf({ path: `${screenshots}/page.pdf`, preferCSSPageSize: true, printBackground: true });
    }),
};

for (const width of [1280, 390]) {
  for (const colorScheme of ["light", "dark"]) {
    tests[`${width} px, ${colorScheme}: fits, and is accessible`] = () =>
      open({ viewport: { width, height: 800 }, colorScheme }, async (page) => {
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
        await page.screenshot({ path: `${screenshots}/${width}-${colorScheme}.png` });
        await page.locator("details").evaluateAll((all) => all.forEach((details) => (details.open = true)));
        await page.screenshot({ path: `${screenshots}/${width}-${colorScheme}-full.png`, fullPage: true });
        await page.evaluate(axe);
        const { violations } = await page.evaluate(() => window.axe.run());
        assert.deepEqual(violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`), []);
      });
  }
}

let failures = 0;
for (const [claim, test] of Object.entries(tests)) {
  try {
    await test();
    console.log(`ok      ${claim}`);
  } catch (error) {
    failures += 1;
    console.log(`FAILED  ${claim}\n${error.message}`);
  }
}
await browser.close();
process.exit(failures > 0 ? 1 : 0);
