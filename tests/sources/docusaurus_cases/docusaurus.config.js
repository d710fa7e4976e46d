/** A small site with every case of headings, admonitions, tabs and front matter that Pertinent must read as it is built. */
module.exports = {
  title: 'Cases',
  url: 'https://cases.example',
  baseUrl: '/',
  onBrokenLinks: 'ignore',
  onBrokenAnchors: 'ignore',
  plugins: [['@docusaurus/plugin-content-docs', {routeBasePath: 'docs'}]],
  themes: ['@docusaurus/theme-classic'],
  themeConfig: {navbar: {title: 'Cases'}},
};
