// The parts of the book, derived from the URLs of its pages. Pure functions.

/** Return the parts in the order of the book: `{key, name, url}`; none if there are fewer than two. */
export function findParts(documents) {
  const pages = documents.map(({ url }) => splitUrl(url)).filter(Boolean);
  const shared = findSharedSegments(pages);
  const spellings = collectSpellings(documents.map(({ title }) => title));
  const parts = new Map();
  for (const segments of pages) {
    // A page directly in the shared folder belongs to no part.
    if (segments.length <= shared.length + 1) continue;
    const key = segments[shared.length];
    const url = segments.slice(0, shared.length + 1).join("/");
    if (!parts.has(key)) parts.set(key, { key, name: formatPartName(key, spellings), url });
  }
  return parts.size > 1 ? [...parts.values()] : [];
}

/** Return the titles of the most prominent pages as example queries: long pages near the root, of different parts. */
export function pickExamples(documents, count = 3) {
  const pages = documents.map(({ title, url, chunks }) => ({ title: title.trim(), chunks, segments: splitUrl(url) ?? [] }));
  const shared = findSharedSegments(pages.map(({ segments }) => segments));
  const candidates = pages.filter(({ title }) => title).map(({ title, chunks, segments }) => {
    const path = segments.slice(shared.length);
    const prominence = chunks / Math.max(path.length, 1);
    return { title, prominence, part: path.length > 1 ? path[0] : "", isSuitable: title.length > 3 && title.length <= 44 };
  });
  candidates.sort((a, b) => b.isSuitable - a.isSuitable || b.prominence - a.prominence);
  const parts = new Set();
  const isFirstOfPart = ({ part }) => !parts.has(part) && parts.add(part);
  const firsts = candidates.filter((candidate) => candidate.isSuitable && isFirstOfPart(candidate));
  return [...new Set([...firsts, ...candidates].map(({ title }) => title))].slice(0, count);
}

/** Split a URL into its origin and the segments of its path. */
function splitUrl(url) {
  const parsed = parseUrl(url);
  if (!parsed) return null;
  const origin = url.slice(0, url.length - `${parsed.pathname}${parsed.search}${parsed.hash}`.length);
  return [origin || `${parsed.protocol}//${parsed.host}`, ...parsed.pathname.split("/").filter(Boolean)];
}

function parseUrl(url) {
  try {
    return new URL(url);
  } catch {
    return null;
  }
}

function findSharedSegments(pages) {
  if (!pages.length) return [];
  // The last segment of a single page is its name, not a shared folder.
  const folders = pages.length > 1 ? pages : pages.map((segments) => segments.slice(0, -1));
  let shared = folders[0];
  for (const segments of folders) {
    let length = 0;
    while (length < shared.length && length < segments.length && shared[length] === segments[length]) length += 1;
    shared = shared.slice(0, length);
  }
  return shared;
}

/** Map lower-case words to their spelling in the titles, such as `urdf` to `URDF`. */
function collectSpellings(titles) {
  const words = titles.flatMap((title) => title.match(/[\p{L}\p{N}]+/gu) ?? []);
  return new Map(words.filter((word) => word !== word.toLowerCase()).map((word) => [word.toLowerCase(), word]));
}

/** `robot-description` becomes "Robot description", `urdf` is spelled as in the titles, `ros2` becomes "ROS2". */
function formatPartName(key, spellings) {
  const words = decodeSegment(key).split(/[-_.\s]+/).filter(Boolean).map((word) => {
    const spelling = spellings.get(word.toLowerCase());
    if (spelling && spelling.slice(1) !== spelling.slice(1).toLowerCase()) return spelling;
    if (/^[a-z]{2,4}\d{1,2}$/.test(word)) return spelling ?? word.toUpperCase();
    return word;
  });
  const name = words.join(" ") || key;
  return name[0].toUpperCase() + name.slice(1);
}

function decodeSegment(segment) {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
