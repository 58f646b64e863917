/**
 * The areas of the product, from the ground up. A file may import files of the same area and of the areas
 * beneath it, and nothing else. `service` is the four files beside `main.ts` that put the areas together.
 */
export const AREAS = [
  'platform',
  'machines',
  'mail',
  'engine',
  'http',
  'accounts',
  'sending',
  'audience',
  'automation',
  'web',
  'service',
  'ops',
  'main',
] as const;

export type Area = (typeof AREAS)[number];

/** Each area in a few words, for the drawing in docs/architecture.md. */
export const AREA_SUBJECTS: Readonly<Record<Area, string>> = {
  platform: 'settings, database, clocks, zones, queues, files: nothing about email',
  machines: 'lifecycles, pure XState',
  mail: 'messages, transports, DNS, reading of replies and of list files',
  engine: 'runs machines, stores each decision, background jobs',
  http: 'server, admission, idempotency, keys and sessions',
  accounts: 'workspaces, members, API keys, billing, audit log',
  sending: 'emails, domains, suppressions, webhooks, tracking, events',
  audience: 'contacts, imports, audiences, preference page',
  automation: 'templates, campaigns, flows',
  web: 'dashboard, live view, documentation, client, MCP',
  service: 'connects all modules',
  ops: 'command line, backup, doctor, audit, torture',
  main: 'the entry point',
};

/** The areas whose folders are modules: each is reached through the files that `OFFERED` names. */
export const MODULE_AREAS: ReadonlySet<Area> = new Set([
  'accounts',
  'sending',
  'audience',
  'automation',
  'web',
]);

const SERVICE = new Set(['service.ts', 'service-parts.ts', 'modules.ts', 'connect-modules.ts']);

const isArea = (name: string): name is Area => (AREAS as readonly string[]).includes(name);

/** The area of a file; null for a file that is in none (tests, scripts, or a new folder of src). */
export function areaOf(path: string): Area | null {
  const [top = '', part = '', ...deeper] = path.split('/');
  if (top === 'machines') return 'machines';
  if (top !== 'src') return null;
  if (deeper.length > 0) return isArea(part) && part !== 'service' && part !== 'main' ? part : null;
  if (part === 'main.ts') return 'main';
  return SERVICE.has(part) ? 'service' : null;
}

/** True when an arrow may run from one area to the other. */
export const mayImport = (from: Area, to: Area): boolean => AREAS.indexOf(to) <= AREAS.indexOf(from);
