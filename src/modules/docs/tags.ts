/** A group of endpoints in the documentation. */
export interface Tag {
  readonly name: string;
  readonly description: string;
}

const TAGS: readonly (Tag & { readonly segment: string })[] = [
  { segment: 'emails', name: 'Emails', description: 'Send, schedule and follow transactional email.' },
  { segment: 'captured', name: 'Captured', description: 'Live email that stayed here instead of leaving.' },
  { segment: 'domains', name: 'Domains', description: 'Register the domains that live email is sent from.' },
  { segment: 'webhooks', name: 'Webhooks', description: 'Have events posted to your own server, signed.' },
  { segment: 'events', name: 'Events', description: 'Everything that happened, in order and without gaps.' },
  {
    segment: 'templates',
    name: 'Templates',
    description: 'Keep subjects and bodies apart from the code that sends them.',
  },
  {
    segment: 'contacts',
    name: 'Contacts',
    description: 'People, their properties and what they subscribed to.',
  },
  { segment: 'audiences', name: 'Audiences', description: 'Groups of contacts, listed or by a rule.' },
  { segment: 'suppressions', name: 'Suppressions', description: 'Addresses that get no mail.' },
  { segment: 'campaigns', name: 'Campaigns', description: 'One email to an audience.' },
  { segment: 'flows', name: 'Flows', description: 'Steps that contacts go through by themselves.' },
  { segment: 'analytics', name: 'Analytics', description: 'What became of the email, counted.' },
  { segment: 'api-keys', name: 'API keys', description: 'Who may call, and what they may do.' },
  { segment: 'workspace', name: 'Workspace', description: 'The plan, its limits and the settings.' },
  { segment: 'members', name: 'Members', description: 'The people of the workspace.' },
  { segment: 'billing', name: 'Billing', description: 'The plan and what it costs.' },
  { segment: 'health', name: 'System', description: 'How the service itself is doing.' },
];

/** The group of a path, by its first segment after the version. */
export function tagOf(path: string): Tag {
  const segment =
    path
      .replace(/^\/v1\//, '')
      .replace(/^\//, '')
      .split('/')[0] ?? '';
  const tag = TAGS.find((each) => each.segment === segment);
  if (!tag) throw new Error(`${path} belongs to no group of the documentation; add its tag to tags.ts`);
  return { name: tag.name, description: tag.description };
}

/** The groups that these paths belong to, in the order of the documentation. */
export function tagsOf(paths: readonly string[]): readonly Tag[] {
  const names = new Set(paths.map((path) => tagOf(path).name));
  return TAGS.filter(({ name }) => names.has(name)).map(({ name, description }) => ({ name, description }));
}
