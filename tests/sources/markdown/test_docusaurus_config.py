from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pertinent.sources.markdown.docusaurus_config import DocsPlugin, SiteConfig, parse_config, read_config

CLASSIC = """
// url: 'https://commented.example',
/* baseUrl: '/commented/' */
import {themes as prismThemes} from 'prism-react-renderer';
import type {Config} from '@docusaurus/types';

const config: Config = {
  title: 'Handbook', // it's a title
  tagline: "Robots {are} cool",
  url: 'https://handbook.example/',
  baseUrl: `/book/`,
  onBrokenLinks: 'throw',
  i18n: {defaultLocale: 'en', locales: ['en']},
  presets: [
    [
      'classic',
      {
        docs: {
          path: 'content',
          routeBasePath: '/read',
          sidebarPath: './sidebars.ts',
          remarkPlugins: [[npm2yarn, {sync: true}]],
          editUrl: ({docPath}) => `https://x.example/${docPath}`,
        },
        blog: {routeBasePath: 'news', path: 'blog'},
        theme: {customCss: './src/css/custom.css'},
      } satisfies Preset.Options,
    ],
  ],
  themeConfig: {
    navbar: {title: 'N', items: [{url: 'https://wrong.example', baseUrl: '/wrong/'}]},
  } satisfies Preset.ThemeConfig,
};

export default config;
"""


def parse(text: str) -> SiteConfig:
    return parse_config(text, Path("site"))


def test_config_of_the_classic_preset_is_read() -> None:
    site = parse(CLASSIC)
    assert site.address == "https://handbook.example/book"
    assert site.docs == (DocsPlugin("content", "/read"),)
    assert site.markdown_format == "mdx"


@pytest.mark.parametrize(
    "line",
    [
        "url: process.env.URL",
        "url: `https://${host}`",
        "url: 'https://' + host",
        "url: dev ? 'http://localhost' : 'https://x.example'",
        "url: getUrl('https://x.example')",
        "",
    ],
)
def test_config_with_a_computed_url_has_no_address(line: str) -> None:
    assert parse(f"module.exports = {{title: 'T', {line}, baseUrl: '/'}}").address is None


def test_config_with_a_computed_base_or_route_has_no_address() -> None:
    assert parse("module.exports = {title: 'T', url: 'https://x.example', baseUrl: BASE}").address is None
    text = "x = {url: 'https://x.example', baseUrl: '/', plugins: [['content-docs', {routeBasePath: R}]]}"
    assert parse(text).docs == (DocsPlugin("docs", None),)


SITE = "title: 'T', url: 'https://x.example', baseUrl: '/'"


@pytest.mark.parametrize(
    "code",
    [
        "const baseUrl = '/p/';\nexport default {title: 'T', url: 'https://x.example', baseUrl}",
        "const base: string = '/p/'\nconst config: Config = {url: 'https://x.example', baseUrl: base}\n"
        "export default config",
        "const links = [{title: 'Code', url: 'https://code.example'}];\n"
        "export default {title: 'T', url: 'https://x.example', baseUrl: '/p/'};",
        "const paths = {baseUrl: '/wrong/'};\nmodule.exports = async () => {\n"
        "  return {title: 'T', url: 'https://x.example', baseUrl: '/p/'};\n};",
        "const common = {url: 'https://wrong.example', baseUrl: '/'};\n"
        "export default {...common, url: 'https://x.example', baseUrl: '/p/'};",
    ],
)
def test_config_gives_the_address_of_the_exported_object(code: str) -> None:
    assert parse(code).address == "https://x.example/p"


@pytest.mark.parametrize(
    "code",
    [
        "export default {title: 'T', url: 'https://x.example', baseUrl};",
        "import common from './common';\nexport default {url: 'https://x.example', ...common};",
        "export default {title: 'T', url: 'https://x.example', baseUrl: '/', ...common};",
        "export default {title: 'T', url: 'https://x.example', get baseUrl() { return base; }};",
        "let baseUrl = '/';\nexport default {title: 'T', url: 'https://x.example', baseUrl};",
        "const baseUrl = '/' + name;\nexport default {title: 'T', url: 'https://x.example', baseUrl};",
        "const config = {title: 'T', url: 'https://x.example', baseUrl: '/'};\n"
        "if (isPreview) config.baseUrl = '/preview/';\nexport default config;",
        "const config = {title: 'T', url: 'https://x.example', baseUrl: '/'};\n"
        "config['baseUrl'] = '/preview/';\nexport default config;",
        "const a = b, b = a;\nexport default {title: 'T', url: 'https://x.example', baseUrl: a};",
        "export default {...common, presets: []};\nconst link = {title: 'A', url: 'https://a.example'};",
    ],
)
def test_config_that_computes_its_address_has_none(code: str) -> None:
    assert parse(code).address is None


@pytest.mark.parametrize(
    "code",
    [
        f"x = {{{SITE}, presets: [[require.resolve('@docusaurus/preset-classic'), "
        "{docs: {routeBasePath: '/'}}]]}",
        f"const options = {{docs: {{routeBasePath: '/'}}}};\nx = {{{SITE}, presets: [['classic', options]]}}",
        f"const presets = [['classic', {{docs: {{routeBasePath: '/'}}}}]];\nx = {{{SITE}, presets}}",
        f"const routeBasePath = '/';\nx = {{{SITE}, presets: [['classic', {{docs: {{routeBasePath}}}}]]}}",
        f"x = {{{SITE}, plugins: [[require.resolve('@docusaurus/plugin-content-docs'), "
        "{routeBasePath: '/'}]]}",
    ],
)
def test_config_gives_the_route_in_names_and_resolved_packages(code: str) -> None:
    assert parse(code).docs == (DocsPlugin("docs", "/"),)


@pytest.mark.parametrize(
    "field",
    [
        "presets",
        "presets: getPresets()",
        "presets: [['classic', options]]",
        "presets: [['classic', {...options}]]",
        "presets: [['classic', {docs}]]",
        "presets: [['classic', {docs: {...docs}}]]",
        "presets: [isDocs && ['classic', {docs: {}}]]",
        "presets: [['openapi', {docs: {routeBasePath: '/'}}]]",
        "presets: [['classic', {docs: {lastVersion: VERSION}}]]",
        "presets: [['classic', {docs: {includeCurrentVersion: isDev}}]]",
        "presets: [['classic', {docs: {onlyIncludeVersions: VERSIONS}}]]",
        "presets: [['classic', {docs: {onlyIncludeVersions: ['1.0', VERSION]}}]]",
        "presets: [['classic', {docs: {onlyIncludeVersions: [...VERSIONS]}}]]",
        "presets: [['classic', {docs: {onlyIncludeVersions: isDev ? ['1.0'] : undefined}}]]",
        "presets: [['classic', {docs: {versions}}]]",
        "presets: [['classic', {docs: {versions: {current: {path: VERSION}}}}]]",
        "plugins: [['content-docs', options]]",
    ],
)
def test_config_that_computes_the_options_of_its_docs_gives_no_route(field: str) -> None:
    assert [plugin.route for plugin in parse(f"export default {{{SITE}, {field}}}").docs] == [None]


def test_config_with_options_that_are_assigned_later_gives_no_route() -> None:
    code = f"const config = {{{SITE}, presets: [['classic', {{docs: {{}}}}]]}};\n"
    code += "config.presets[0][1].docs.routeBasePath = '/';\nexport default config;"
    assert [plugin.route for plugin in parse(code).docs] == [None]


def test_config_gives_the_paths_of_versions() -> None:
    versions = (
        "{current: {label: 'Next', path: 'next'}, '1.0': {label: computeLabel()}, '0.9': {path: 'old'}}"
    )
    (docs,) = parse(f"x = {{{SITE}, presets: [['classic', {{docs: {{versions: {versions}}}}}]]}}").docs
    assert docs == DocsPlugin(version_paths={"current": "next", "0.9": "old"})


def test_config_with_a_computed_blog_folder_names_no_blog() -> None:
    assert parse(f"x = {{{SITE}, presets: [['classic', {{blog: {{path: BLOG}}}}]]}}").blogs == ()


def test_config_returned_by_a_function_is_found() -> None:
    text = "module.exports = async () => { return { title: 'T', url: 'https://x.example', baseUrl: '/' }; };"
    assert parse(text).address == "https://x.example"


def test_config_with_docs_at_the_root_of_the_site() -> None:
    presets = "[['classic', {docs: {routeBasePath: '/'}}]]"
    text = f"export default {{url: 'https://x.example', baseUrl: '/', presets: {presets}}}"
    assert parse(text).docs == (DocsPlugin("docs", "/"),)


def test_config_with_several_docs_plugins() -> None:
    text = """module.exports = {title: 'T', url: 'https://x.example', baseUrl: '/',
      presets: [['@docusaurus/preset-classic', {docs: false}]],
      plugins: ['other', ['@docusaurus/plugin-content-docs', {id: 'a', path: 'a-docs', routeBasePath: 'a'}],
        [require.resolve('x'), {path: 'no'}],
        ['@docusaurus/plugin-content-docs', {id: 'b', path: '../b', numberPrefixParser: false}]],
    }"""
    assert parse(text).docs == (
        DocsPlugin("a-docs", "a", instance="a"),
        DocsPlugin("../b", "docs", number_prefixes=False, instance="b"),
    )


def test_config_options_may_be_cast_to_their_type() -> None:
    text = """module.exports = {url: 'https://a.example', baseUrl: '/', presets: [[
      'classic', /** @type {import('@docusaurus/preset-classic').Options} */
      ({docs: {routeBasePath: '/'}, blog: ({path: 'news'} satisfies Blog)}),
    ]]}"""
    site = parse_config(text, Path("site"))
    assert [(docs.path, docs.route) for docs in site.docs] == [("docs", "/")]
    assert site.blogs == ("news",)


@pytest.mark.parametrize(
    ("translations", "locale"),
    [
        ("", "en"),
        ("i18n: {defaultLocale: 'pt-BR', locales: ['pt-BR', 'en']},", "pt-BR"),
        ("i18n: {locales: ['fr']},", "en"),
        ("i18n: {defaultLocale: process.env.LOCALE},", ""),
        ("i18n: translations,", ""),
    ],
)
def test_config_gives_the_default_locale(translations: str, locale: str) -> None:
    config = parse_config(f"module.exports = {{title: 'B', baseUrl: '/', {translations}}}", Path("/site"))
    assert config.locale == locale


def test_config_with_a_locale_that_is_assigned_later_has_none() -> None:
    code = "const c = {baseUrl: '/', i18n: {defaultLocale: 'en'}};\n"
    code += "c.i18n.defaultLocale = 'fr';\nexport default c;"
    assert parse(code).locale == ""


def test_config_gives_the_markdown_format() -> None:
    assert parse("export default {baseUrl: '/', markdown: {format: 'detect'}}").markdown_format == "detect"


@given(st.text(alphabet="{}[](),:'\"`/*\\ \nabc$=>", max_size=80))
def test_config_of_any_text_is_read_without_an_error(text: str) -> None:
    assert parse("x = {baseUrl: '/', title: 'a', " + text).docs


@pytest.mark.parametrize(
    "repeated",
    ["f({ ", "{a: f(", "[{ ", "const a:{", "const a=[a,", "{...a,", "{a,b:", r"\"", r"\'", r"\`", "'\\"],
)
def test_hostile_config_is_read_in_bounded_time(repeated: str) -> None:
    begun = time.process_time()
    parse_config("module.exports = {" + repeated * 50_000, Path("site"))
    assert time.process_time() - begun < 10


@pytest.mark.parametrize("nested", ["{a:", "[", "({a:", "{a:[", "x={a:"])
def test_nested_config_is_read_in_bounded_time(nested: str) -> None:
    begun = time.process_time()
    parse_config(nested * 150 + "b: 1, " * 40_000, Path("site"))
    assert time.process_time() - begun < 5


@pytest.mark.parametrize("pattern", ["/'/g", '/[`"]/', r"/\//", "/[(]/", "/[/]{/i", "/}/", r"/^https?:\/\//"])
def test_config_may_contain_regular_expressions(pattern: str) -> None:
    text = f"""
module.exports = {{
  url: 'https://a.example', baseUrl: '/',
  markdown: {{preprocessor: ({{fileContent}}) => fileContent.replace({pattern}, 'x')}},
  customFields: {{pattern: {pattern}, half: 1 / 2, path: `a/${{b}}/c`, f() {{ return {pattern}; }}}},
  presets: [['classic', {{docs: {{routeBasePath: 'read', editUrl: ({{path}}) => `https://x/${{path}}`}}}}]],
}};
"""
    site = parse(text)
    assert (site.address, site.docs[0].route) == ("https://a.example", "read")


def test_config_that_is_not_utf_8_is_read(tmp_path: Path) -> None:
    config = tmp_path / "docusaurus.config.js"
    config.write_bytes(b"module.exports = {url: 'https://a.example', baseUrl: '/', tagline: '\xa9'};")
    assert read_config(config).address == "https://a.example"
