import { PAGE_GROUPS } from './pages/pages.ts';

/** What crawlers may read: the documentation. The rest is answered to those who sign in, or shown to one recipient (RFC 9309). */
export const ROBOTS = `User-agent: *
Allow: /docs
Allow: /openapi.json
Allow: /llms.txt
Disallow: /
`;

/** The documentation as one list of links, for programs that read pages for people: the form is that of llmstxt.org. */
export const llmsText = (baseUrl: string): string =>
  [
    '# Posthorn',
    '',
    '> An HTTP API that sends transactional email, campaigns and flows, and tells what became of each email.',
    '',
    `Requests go to ${baseUrl}/v1 with \`Authorization: Bearer <API key>\`. A test key runs everything and sends nothing.`,
    ...PAGE_GROUPS.flatMap(({ title, pages }) => [
      '',
      `## ${title}`,
      '',
      ...pages.map(({ path, label }) => `- [${label}](${baseUrl}${path})`),
    ]),
    '',
  ].join('\n');
