// The handbook with the theme, and with an old version, so that the search has something to leave out.

const handbook = require('./handbook.config.js');

const docs = ['@docusaurus/plugin-content-docs', {
  routeBasePath: 'docs',
  lastVersion: 'current',
  versions: {current: {label: '2.0'}},
}];

module.exports = {
  ...handbook,
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
