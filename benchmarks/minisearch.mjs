// Search sections with MiniSearch as VitePress sets it up; print the pages found for each query as JSON.
import { readFileSync } from "node:fs";
import MiniSearch from "minisearch";

const { sections, queries } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const index = new MiniSearch({
  fields: ["title", "titles", "text"],
  storeFields: ["page"],
  searchOptions: { fuzzy: 0.2, prefix: true, boost: { title: 4, text: 2, titles: 1 } },
});
index.addAll(sections.map((section, id) => ({ id, ...section })));
const pages = queries.map((query) => [...new Set(index.search(query).map((hit) => hit.page))]);
process.stdout.write(JSON.stringify(pages));
