// The handbook with the theme, with an old version and in two languages, so that the search has something to leave out.

const handbook = require('./handbook.config.js');

const docs = ['@docusaurus/plugin-content-docs', {
  routeBasePath: 'docs',
  lastVersion: 'current',
  versions: {current: {label: '2.0'}},
}];

module.exports = {
  ...handbook,
  url: 'http://handbook.example',
  trailingSlash: true,
  // The German pages are shorter, and the logo links to the English ones.
  onBrokenLinks: 'ignore',
  onBrokenAnchors: 'ignore',
  i18n: {defaultLocale: 'en', locales: ['en', 'de']},
  plugins: [docs, '@docusaurus/plugin-sitemap'],
  themes: [...handbook.themes, 'docusaurus-theme-pertinent'],
  themeConfig: {
    ...handbook.themeConfig,
    pertinent: {
      url: 'http://search.example',
      apiKey: 'a-public-key',
      contextual: true,
      placeholder: 'Search the handbook',
      translations: {keyClose: 'to leave'},
    },
  },
};
