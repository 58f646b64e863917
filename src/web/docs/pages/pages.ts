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

/** Each page with its name, group after group, in the order in which a newcomer would read them. */
const NAMES = {
  Begin: { '/docs/guides': 'Guides' },
  'Send from': {
    '/docs/guides/curl': 'curl',
    '/docs/guides/typescript': 'TypeScript',
    '/docs/guides/client': 'TypeScript client',
    '/docs/guides/react-email': 'React Email',
    '/docs/guides/nodemailer': 'Nodemailer',
    '/docs/guides/resend': 'Resend package',
    '/docs/guides/python': 'Python',
    '/docs/guides/django': 'Django',
    '/docs/guides/laravel': 'Laravel',
    '/docs/guides/wordpress': 'WordPress',
    '/docs/guides/rails': 'Ruby on Rails',
    '/docs/guides/spring': 'Spring Boot',
    '/docs/guides/go': 'Go',
  },
  Understand: {
    '/docs/set-up-sending': 'Set up sending',
    '/docs/receive-mail': 'Receive mail',
    '/docs/domain-reports': 'Read DMARC and TLS reports',
    '/docs/templates': 'Templates',
    '/docs/check-messages': 'Check messages',
    '/docs/languages': 'Languages',
    '/docs/webhooks': 'Receiving webhooks',
    '/docs/errors': 'Errors',
    '/docs/life-of-an-email': 'The life of an email',
    '/docs/what-happens-when': 'What happens when …',
  },
  'Look up': { '/docs': 'API reference', '/openapi.json': 'OpenAPI document' },
} as const;

type Names = (typeof NAMES)[keyof typeof NAMES];

/** The path of a page of the documentation. */
export type PagePath = Names extends infer Each ? (Each extends unknown ? keyof Each : never) : never;

/** Every page. */
export const PAGE_GROUPS: readonly (PageGroup & {
  readonly pages: readonly { readonly path: PagePath }[];
})[] = Object.entries(NAMES).map(([title, pages]) => ({
  title,
  pages: Object.entries(pages).map(([path, label]) => ({ path: path as PagePath, label })),
}));
