// The parts of the book, found from the addresses of its pages: pure functions.

/** The parts in the order of the book: `{key, name, url}`; none where there are fewer than two. */
export function partsOf(documents) {
  const pages = documents.map(({ url, title }) => ({ steps: stepsOf(url), title })).filter((page) => page.steps);
  const shared = sharedSteps(pages.map((page) => page.steps));
  const cases = wordsAsWritten(documents.map((one) => one.title));
  const parts = new Map();
  for (const { steps } of pages) {
    // A page that lies beside the parts is no part itself.
    if (steps.length <= shared.length + 1) continue;
    const key = steps[shared.length];
    const url = steps.slice(0, shared.length + 1).join("/");
    if (!parts.has(key)) parts.set(key, { key, name: nameOf(key, cases), url });
  }
  return parts.size > 1 ? [...parts.values()] : [];
}

/** A few titles to try, from all over the book. */
export function examples(documents, count = 3) {
  const titles = [...new Set(documents.map((one) => one.title.trim()))];
  const handy = titles.filter((title) => title.length > 3 && title.length <= 44);
  const from = handy.length < count ? titles : handy;
  const stride = Math.max(1, from.length / count);
  const places = Array.from({ length: Math.min(count, from.length) }, (_, n) => Math.floor((n + 0.5) * stride));
  return places.map((place) => from[Math.min(place, from.length - 1)]);
}

function stepsOf(url) {
  const parsed = URL.parse ? URL.parse(url) : parse(url);
  if (!parsed) return null;
  const origin = url.slice(0, url.length - `${parsed.pathname}${parsed.search}${parsed.hash}`.length);
  return [origin || `${parsed.protocol}//${parsed.host}`, ...parsed.pathname.split("/").filter(Boolean)];
}

function parse(url) {
  try {
    return new URL(url);
  } catch {
    return null;
  }
}

function sharedSteps(all) {
  if (!all.length) return [];
  // A page's own last step is its name, not a folder that it shares; a page that is a folder shares it.
  const folders = all.length > 1 ? all : all.map((steps) => steps.slice(0, -1));
  let shared = folders[0];
  for (const steps of folders) {
    let same = 0;
    while (same < shared.length && same < steps.length && shared[same] === steps[same]) same += 1;
    shared = shared.slice(0, same);
  }
  return shared;
}

function wordsAsWritten(titles) {
  const words = titles.flatMap((title) => title.match(/[\p{L}\p{N}]+/gu) ?? []);
  return new Map(words.filter((word) => word !== word.toLowerCase()).map((word) => [word.toLowerCase(), word]));
}

// `robot-description` reads "Robot description", `urdf` as the titles write it, `ros2` "ROS2".
function nameOf(key, cases) {
  const words = decoded(key).split(/[-_.\s]+/).filter(Boolean);
  const named = words.map((word) => {
    const written = cases.get(word.toLowerCase());
    if (written && written.slice(1) !== written.slice(1).toLowerCase()) return written;
    if (/^[a-z]{2,4}\d{1,2}$/.test(word)) return written ?? word.toUpperCase();
    return word;
  });
  const name = named.join(" ") || key;
  return name[0].toUpperCase() + name.slice(1);
}

function decoded(step) {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}
