import { type ReactNode, useEffect, useRef } from "react";
import Head from "@docusaurus/Head";
import { useHistory, useLocation } from "@docusaurus/router";
import { useColorMode } from "@docusaurus/theme-common";
import Layout from "@theme/Layout";
import { SearchResultsPage, usePertinentOptions, usePertinentTexts } from "docusaurus-theme-pertinent/client";

/** The page with all results, at /search?q=. */
export default function SearchPage(): ReactNode {
  const title = usePertinentTexts().dialog;
  return (
    <Layout title={title}>
      <Head>
        <meta name="robots" content="noindex, follow" />
      </Head>
      <main className="container margin-vert--lg">
        <h1>{title}</h1>
        <SearchResults />
      </main>
    </Layout>
  );
}

function SearchResults(): ReactNode {
  const options = usePertinentOptions();
  const { colorMode } = useColorMode();
  const { search } = useLocation();
  const history = useHistory();
  const parent = useRef<HTMLDivElement>(null);
  const page = useRef<SearchResultsPage | null>(null);

  useEffect(() => {
    const updateAddress = (query: string) => {
      // The other parameter is the reader's version.
      const parameters = new URLSearchParams(history.location.search);
      if (query) parameters.set("q", query);
      else parameters.delete("q");
      const address = parameters.size ? `?${parameters}` : "";
      if (address !== history.location.search) history.replace({ search: address });
    };
    const created = new SearchResultsPage(parent.current!, options, updateAddress);
    page.current = created;
    created.focus();
    return () => created.remove();
  }, [options, history]);

  useEffect(() => page.current?.setTheme(colorMode), [colorMode]);
  // While one types, `search` is older than the address, which has what was typed last.
  useEffect(() => page.current?.setQuery(new URLSearchParams(history.location.search).get("q") ?? ""), [search, history]);

  return <div ref={parent} />;
}
