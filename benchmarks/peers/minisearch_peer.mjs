// MiniSearch as VitePress sets it up: words only, with typos and prefixes. Reads and writes what
// protocol.py describes; chunks are joined to sections, which is what VitePress indexes.
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import MiniSearch from "minisearch";

const WARM_UP = 5;
const [taskFolder, resultFile] = process.argv.slice(2);
const readLines = (name) =>
  readFileSync(join(taskFolder, name), "utf8").trimEnd().split("\n").map((line) => JSON.parse(line));
const { limit } = JSON.parse(readFileSync(join(taskFolder, "task.json"), "utf8"));
const documents = readLines("documents.jsonl");
const queries = readLines("queries.jsonl");

const listSections = () => {
  const sections = new Map();
  for (const { id, page, title, section, body } of documents) {
    const path = section ? section.split(" › ") : [];
    const key = JSON.stringify([page, section]);
    if (!sections.has(key))
      sections.set(key, { id, page, title: path.at(-1) ?? title, titles: [title, ...path.slice(0, -1)].join(" "), text: "" });
    sections.get(key).text += `${body}\n`;
  }
  return [...sections.values()];
};
const build = () => {
  const index = new MiniSearch({
    fields: ["title", "titles", "text"],
    storeFields: ["page"],
    searchOptions: { fuzzy: 0.2, prefix: true, boost: { title: 4, text: 2, titles: 1 } },
  });
  index.addAll(listSections());
  return index;
};
const time = (action) => {
  const start = process.hrtime.bigint();
  const cpuStart = process.cpuUsage();
  const result = action();
  const cpu = process.cpuUsage(cpuStart);
  return { result, ms: Number(process.hrtime.bigint() - start) / 1e6, cpuMs: (cpu.user + cpu.system) / 1e3 };
};

const first = time(build);
const second = time(build); // the site's build makes the index anew
const index = second.result;
for (const { text } of queries.slice(0, WARM_UP)) index.search(text);
const rankings = {};
const wall = [];
const cpu = [];
for (const { id, text } of queries) {
  const { result, ms, cpuMs } = time(() => index.search(text));
  const bestOfPage = new Map();
  for (const hit of result) if (!bestOfPage.has(hit.page)) bestOfPage.set(hit.page, hit.id);
  rankings[id] = [...bestOfPage.values()].slice(0, limit);
  wall.push(ms);
  cpu.push(cpuMs);
}
const require = createRequire(import.meta.url);
const { version } = JSON.parse(
  readFileSync(join(require.resolve("minisearch"), "../../../package.json"), "utf8"),
);
const result = {
  versions: { minisearch: version, node: process.versions.node },
  build_s: first.ms / 1000,
  unchanged_s: second.ms / 1000,
  search_ms: wall,
  search_cpu_ms: cpu,
  rankings,
};
writeFileSync(resultFile, JSON.stringify(result));
