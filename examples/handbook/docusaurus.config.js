// @ts-check

/** @type {import('@docusaurus/types').Config} */
const config = {
  title: 'The Physical AI Handbook',
  tagline: 'From the first ROS 2 node to a walking, seeing, listening humanoid',
  url: 'https://handbook.example',
  baseUrl: '/',
  onBrokenLinks: 'throw',
  onBrokenAnchors: 'throw',
  i18n: {
    defaultLocale: 'en',
    locales: ['en'],
  },
  plugins: [
    ['@docusaurus/plugin-content-docs', {routeBasePath: 'docs'}],
    '@docusaurus/plugin-sitemap',
  ],
  themes: ['@docusaurus/theme-classic'],
  themeConfig: {
    navbar: {
      title: 'The Physical AI Handbook',
      logo: {
        alt: '',
        href: '/docs/',
        src: 'data:image/svg+xml,%3Csvg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"%3E%3Ccircle cx="8" cy="4" r="3"/%3E%3Cpath d="M3 15V9h10v6z"/%3E%3C/svg%3E',
      },
    },
    prism: {
      additionalLanguages: ['bash'],
    },
  },
};

module.exports = config;
