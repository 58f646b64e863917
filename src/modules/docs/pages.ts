/** A page of the documentation, as lists of pages name it. */
export interface PageLink {
  readonly path: string;
  readonly label: string;
}

/** Pages under one heading. */
export interface PageGroup {
  readonly title: string;
  readonly pages: readonly PageLink[];
}

/** Every page, in the order in which a newcomer would read them. */
export const PAGE_GROUPS = [
  { title: 'Begin', pages: [{ path: '/docs/guides', label: 'Guides' }] },
  {
    title: 'Send from',
    pages: [
      { path: '/docs/guides/curl', label: 'curl' },
      { path: '/docs/guides/typescript', label: 'TypeScript' },
      { path: '/docs/guides/client', label: 'TypeScript client' },
      { path: '/docs/guides/nodemailer', label: 'Nodemailer' },
      { path: '/docs/guides/resend', label: 'Package of Resend' },
      { path: '/docs/guides/python', label: 'Python' },
      { path: '/docs/guides/django', label: 'Django' },
      { path: '/docs/guides/laravel', label: 'Laravel' },
      { path: '/docs/guides/wordpress', label: 'WordPress' },
      { path: '/docs/guides/rails', label: 'Ruby on Rails' },
      { path: '/docs/guides/spring', label: 'Spring Boot' },
      { path: '/docs/guides/go', label: 'Go' },
    ],
  },
  {
    title: 'Understand',
    pages: [
      { path: '/docs/templates', label: 'Templates' },
      { path: '/docs/webhooks', label: 'Receiving webhooks' },
      { path: '/docs/errors', label: 'Errors' },
      { path: '/docs/life-of-an-email', label: 'The life of an email' },
      { path: '/docs/what-happens-when', label: 'What happens when …' },
    ],
  },
  {
    title: 'Look up',
    pages: [
      { path: '/docs', label: 'API reference' },
      { path: '/openapi.json', label: 'OpenAPI document' },
    ],
  },
] as const satisfies readonly PageGroup[];

/** The path of a page of the documentation. */
export type PagePath = (typeof PAGE_GROUPS)[number]['pages'][number]['path'];
