/** The parts of the service that arrows run between. */
export type Layer =
  | 'machines'
  | 'drawing'
  | 'engine'
  | 'async'
  | 'bodies'
  | 'time'
  | 'crypto'
  | 'errors'
  | 'mail'
  | 'db'
  | 'http'
  | 'auth'
  | 'transport'
  | 'telemetry'
  | 'threads'
  | 'filters'
  | 'csv'
  | 'zones'
  | 'modules'
  | 'duties'
  | 'dashboard'
  | 'audit'
  | 'backup'
  | 'control'
  | 'doctor'
  | 'rotation'
  | 'chaos'
  | 'config'
  | 'app'
  | 'client'
  | 'commands'
  | 'main';

const LEAVES: readonly Layer[] = [
  'async',
  'bodies',
  'time',
  'crypto',
  'errors',
  'mail',
  'auth',
  'db',
  'http',
  'transport',
  'telemetry',
  'threads',
  'filters',
  'csv',
  'zones',
];
const BELOW_MODULES: readonly Layer[] = [...LEAVES, 'machines', 'drawing', 'engine', 'duties', 'config'];
const BELOW_AUDIT: readonly Layer[] = [...BELOW_MODULES, 'modules'];
const BELOW_APP: readonly Layer[] = [
  ...BELOW_AUDIT,
  'dashboard',
  'audit',
  'backup',
  'control',
  'rotation',
  'doctor',
  'chaos',
];

/** The layers that each layer may import, besides itself. Nobody imports main. */
export const MAY_IMPORT = {
  // A time of the day is a moment only by the rules of its zone.
  machines: ['zones'],
  drawing: ['machines'],
  async: LEAVES,
  bodies: LEAVES,
  time: LEAVES,
  crypto: LEAVES,
  errors: LEAVES,
  mail: LEAVES,
  db: LEAVES,
  http: LEAVES,
  auth: LEAVES,
  // The names of transports and the relays are settings.
  transport: [...LEAVES, 'config'],
  telemetry: LEAVES,
  threads: LEAVES,
  filters: LEAVES,
  csv: LEAVES,
  zones: [],
  // The roles of a process decide which actors it wakes.
  engine: [...LEAVES, 'machines', 'config'],
  // A module states what audits it, and the application is one of them: types alone run back.
  // Assistants have everything done by the client.
  modules: [...BELOW_MODULES, 'audit', 'dashboard', 'client'],
  duties: [...LEAVES, 'engine'],
  dashboard: [...BELOW_MODULES, 'modules'],
  audit: [...BELOW_AUDIT, 'control'],
  backup: [...BELOW_AUDIT, 'audit', 'control'],
  control: [...LEAVES, 'config'],
  rotation: [...LEAVES, 'config', 'control'],
  doctor: [...BELOW_AUDIT, 'control', 'rotation'],
  chaos: [...BELOW_AUDIT, 'audit', 'config'],
  config: LEAVES,
  app: BELOW_APP,
  // What is published stands alone.
  client: [],
  commands: [...BELOW_APP, 'app', 'client'],
  main: [...BELOW_APP, 'app', 'commands'],
} as const satisfies Record<Layer, readonly Layer[]>;

const isLayer = (name: string): name is Layer => name in MAY_IMPORT;

/** The layer of a file; null for a file that is in none (tests, scripts, or a new folder of src). */
export function layerOf(path: string): Layer | null {
  const [top = '', part = '', ...deeper] = path.split('/');
  if (top === 'machines') return 'machines';
  if (top !== 'src') return null;
  if (deeper.length > 0) return isLayer(part) ? part : null;
  if (part === 'main.ts') return 'main';
  // The list of the modules is theirs; the service is put together of them.
  if (part === 'modules.ts') return 'modules';
  return ['service.ts', 'service-parts.ts', 'connect-modules.ts'].includes(part) ? 'app' : null;
}
