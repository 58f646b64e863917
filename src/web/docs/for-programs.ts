import { PAGE_GROUPS } from './pages/pages.ts';

/**
 * The part that crawlers may read: the documentation. All other pages need a sign-in or belong to one
 * recipient (RFC 9309).
 */
export const ROBOTS = `User-agent: *
Allow: /docs
Allow: /openapi.json
Allow: /llms.txt
Disallow: /
`;

/**
 * The documentation as a list of links, for programs that read pages for people, in the form of llmstxt.org.
 */
export const llmsText = (baseUrl: string): string =>
  [
    '# Posthorn',
    '',
    '> An HTTP API that sends transactional email, campaigns and flows, and reports the outcome of each email.',
    '',
    `Requests go to ${baseUrl}/v1 with \`Authorization: Bearer <API key>\`. A test key can do everything except send real email.`,
    ...PAGE_GROUPS.flatMap(({ title, pages }) => [
      '',
      `## ${title}`,
      '',
      ...pages.map(({ path, label }) => `- [${label}](${baseUrl}${path})`),
    ]),
    '',
  ].join('\n');
