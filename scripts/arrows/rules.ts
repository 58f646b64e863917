import { posix } from 'node:path';
import { type Area, areaOf, MODULE_AREAS, mayImport } from './areas.ts';
import { circlesIn } from './circles.ts';
import { longCommentsOf, packingOf } from './layout.ts';
import { openingsOf } from './openings.ts';
import { participlesOf } from './participles.ts';
import { impatienceOf } from './patience.ts';
import { sizeProblemsOf } from './sizes.ts';
import { archaicOf } from './words.ts';

/** A file of the project: its path from the root, with slashes, and its text. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

type Rule = (file: SourceFile) => readonly string[];

/** Such names say nothing, and so collect everything. */
const EMPTY_NAMES = new Set(['types', 'interfaces', 'utils', 'util', 'helpers', 'common', 'misc', 'index']);

const isProduct = ({ path }: SourceFile) => path.startsWith('src/') || path.startsWith('machines/');

/** Comments may mention code that is forbidden. A `//` inside a text follows its colon without a space. */
const codeOf = ({ text }: SourceFile) =>
  text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1');

/** The imports of a file, types included: a type couples two files as firmly as a function. */
export function importsOf(file: SourceFile): string[] {
  const forms =
    /(?:^|\n)\s*(?:import|export)\b[^;'"]*?\bfrom\s*['"]([^'"]+)['"]|\bimport\s*\(?\s*['"]([^'"]+)['"]/g;
  return [...codeOf(file).matchAll(forms)].map((match) => match[1] ?? match[2] ?? '');
}

const hasName: Rule = ({ path }) => {
  const name = posix.basename(path).replace(/\..*$/, '');
  return EMPTY_NAMES.has(name) ? [`is called "${name}": name it after the one thing it holds`] : [];
};

const hasSize: Rule = ({ path, text }) => sizeProblemsOf(path, text.split('\n').length - 1);

/** A page that a reader of the repository cannot open says nothing to them. */
const OUTSIDE_PAGE =
  /\b(?:choices|durable|hazards|house|faults|interface|ha)\.md\b|\((?:the )?interface(?:[,:][^)]*)?\)/;

const citesItsOwn: Rule = ({ path, text }) => {
  if (path === 'tests/unit/arrows.test.ts') return [];
  const [cited] = OUTSIDE_PAGE.exec(text) ?? [];
  return cited === undefined
    ? []
    : [`cites "${cited}", which is not in the repository: state the rule itself`];
};

const isPlaced: Rule = (file) =>
  isProduct(file) && areaOf(file.path) === null
    ? ['lies in no known area: scripts/arrows/areas.ts lists them']
    : [];

/** The package for developers. */
const CLIENT = 'src/web/client/';

/** Files of the root that the executable carries. */
const FILES = new Set(['package.json', 'THIRD-PARTY-LICENSES.txt']);

const followsArrows: Rule = (file) => {
  const area = areaOf(file.path);
  if (area === null) return [];
  return importsOf(file).flatMap((specifier) => {
    if (!specifier.startsWith('.')) return foreignImport(area, specifier);
    const target = posix.normalize(posix.join(posix.dirname(file.path), specifier));
    if (target.startsWith('node_modules/') || target.startsWith('drizzle/') || FILES.has(target)) return [];
    const other = areaOf(target);
    if (other === null) return [`imports ${target}, which is no part of the product`];
    if (!mayImport(area, other))
      return [`imports ${target}: ${other} lies above ${area}, and an area imports only areas beneath it`];
    if (file.path.startsWith(CLIENT) && !target.startsWith(CLIENT))
      return [`imports ${target}: the client is published, and imports no other part`];
    return acrossModules(file.path, target);
  });
};

const foreignImport = (area: Area, specifier: string): string[] =>
  area === 'machines' && specifier !== 'xstate'
    ? [`imports ${specifier}: a machine knows xstate and nothing else`]
    : [];

/**
 * A module gives others its commands, its queries, the acceptance of emails, and the functions of its api.
 */
const OFFERED = new Set(['commands.ts', 'queries.ts', 'accept.ts', 'api.ts']);

/** The module of a file, such as `sending/emails`; null for a file that belongs to none. */
function moduleOf(path: string): readonly [module: string, inside: string] | null {
  const [, area, name, inside] = /^src\/([^/]+)\/([^/]+)\/(.+)$/.exec(path) ?? [];
  if (area === undefined || name === undefined || inside === undefined) return null;
  // The browser's programs and the client are no modules of the service.
  if (name === 'dashboard' || name === 'client') return null;
  return MODULE_AREAS.has(area as Area) ? [`${area}/${name}`, inside] : null;
}

function acrossModules(path: string, target: string): string[] {
  const [from, to] = [moduleOf(path), moduleOf(target)];
  if (!from || !to || from[0] === to[0] || OFFERED.has(to[1])) return [];
  return [
    `imports ${target}: another module is reached through its commands.ts, queries.ts, accept.ts or api.ts`,
  ];
}

/** Each of these is done in exactly one file. */
const ONLY_IN: readonly { readonly path: string; readonly what: RegExp; readonly says: string }[] = [
  {
    path: 'src/platform/config/environment.ts',
    what: /\b(?:process|Bun|import\.meta)\.env\b/,
    says: 'reads the environment: only src/platform/config/environment.ts does',
  },
  {
    path: 'src/main.ts',
    what: /\bprocess\.(?:exit|abort|reallyExit)\b|\bprocess\.exitCode\s*=/,
    says: 'ends the process: only src/main.ts does',
  },
];

/** XState's own interpreter, which would decide beside the table that the engine has compiled. */
const INTERPRETS =
  /\b(?:createActor|initialTransition|getNextSnapshot|getInitialSnapshot)\b|\bmachine\.transition\(|\{[^}]*\btransition\b[^}]*\} from 'xstate'/;

const decidesByTable: Rule = (file) =>
  isProduct(file) && INTERPRETS.test(codeOf(file))
    ? ['lets XState decide: src/engine/machine/decide.ts does, from the compiled machine']
    : [];

/** Time that does not come from the injected clock, and so may be another one than the database's. */
const OWN_TIME = /\bDate\.now\b|\bnew Date\(\s*\)|[^\w.]Date\(\)/;
/**
 * The clock itself; what makes clocks wrong and judges from outside; what runs in a browser; and what runs in
 * other programs.
 */
const MAY_READ_TIME = [
  'src/platform/time/clock.ts',
  'src/ops/torture/',
  'src/web/dashboard/web/',
  'src/web/client/',
];

const asksTheClock: Rule = (file) =>
  isProduct(file) &&
  !MAY_READ_TIME.some((place) => file.path.startsWith(place)) &&
  OWN_TIME.test(codeOf(file))
    ? ["reads the machine's clock: take the time from the injected Clock"]
    : [];

/**
 * Time zones by another table than that of src/platform/zones: the runtime's, the browser's, the database's
 * or the one that the machine is set to.
 */
const OTHER_ZONES =
  /\bIntl\.DateTimeFormat\b|'timeZone'\)|\btoLocale(?:Date|Time)String\b|\btoZonedDateTime(?:ISO)?\((?!'UTC'\))|\bTemporal\.(?:ZonedDateTime|Now)\b|\.(?:get|set)(?:TimezoneOffset|Hours|Minutes|Date|Day|Month|FullYear)\(|\bat time zone (?!'utc')/i;

const asksTheZones: Rule = (file) =>
  isProduct(file) &&
  file.path !== 'src/web/dashboard/web/application/ui/display/clock.ts' &&
  OTHER_ZONES.test(codeOf(file))
    ? [
        "computes with another table of zones: src/platform/zones/zones.ts knows the rules, and the dashboard's clock.ts has them from there",
      ]
    : [];

const keepsToItsOffice: Rule = (file) =>
  isProduct(file)
    ? ONLY_IN.filter(({ path, what }) => path !== file.path && what.test(codeOf(file))).map(
        ({ says }) => says,
      )
    : [];

/** Modules that only show data, and may read it from a replica. */
const SHOWING = new Set([
  'src/sending/analytics/queries.ts',
  'src/audience/audiences/queries.ts',
  'src/accounts/audit-log/routes.ts',
  'src/accounts/request-log/queries.ts',
  'src/automation/assets/queries.ts',
  'src/automation/assets/store.ts',
  'src/automation/campaigns/queries.ts',
  'src/sending/captured/queries.ts',
  'src/sending/received/queries.ts',
  'src/audience/contacts/activity/activity.ts',
  'src/audience/contacts/lists/export.ts',
  'src/audience/contacts/lists/known-properties.ts',
  'src/audience/contacts/lists/list-statements.ts',
  'src/audience/contacts/lists/list.ts',
  'src/sending/emails/queries.ts',
  'src/sending/emails/read/lists.ts',
  'src/sending/emails/read/page.ts',
  'src/automation/flows/runs/runs.ts',
  'src/sending/suppressions/csv.ts',
  'src/sending/suppressions/queries.ts',
  'src/sending/webhooks/queries.ts',
  'src/http/lists/count.ts',
]);
/** The files that hand the reader to them. */
const HANDING = new Set(['src/http/module.ts', 'src/automation/campaigns/deps.ts', 'src/service-parts.ts']);

const decidesOnTheLeader: Rule = (file) =>
  isProduct(file) &&
  !file.path.startsWith('src/platform/db/') &&
  !SHOWING.has(file.path) &&
  !HANDING.has(file.path) &&
  importsOf(file).some((specifier) => specifier.endsWith('/db/reads.ts'))
    ? [
        'reads what a replica may answer: only lists, figures and exports do (scripts/arrows/rules.ts names them)',
      ]
    : [];

const isWrittenOut: Rule = (file) => [
  ...(file.path === 'tests/unit/arrows.test.ts' ? [] : packingOf(codeOf(file))),
  ...longCommentsOf(file.text),
];

const isPatient: Rule = (file) => impatienceOf(file.path, codeOf(file));

/** Tests and scripts still have such names. */
const namesTypes: Rule = (file) => (isProduct(file) ? participlesOf(codeOf(file)) : []);

/** The rooms of the engine: each knows those before it, and none after it. */
const ROOMS = ['machine', 'store', 'runtime'];

const staysInItsRoom: Rule = (file) => {
  const room = roomOf(file.path);
  if (room < 0) return [];
  return importsOf(file).flatMap((specifier) => {
    const target = posix.join(posix.dirname(file.path), specifier);
    return specifier.startsWith('.') && roomOf(target) > room
      ? [`imports ${target}: in the engine ${ROOMS.join(', then ')} know one another in this order`]
      : [];
  });
};

const roomOf = (path: string): number => ROOMS.indexOf(/^src\/engine\/([^/]+)\//.exec(path)?.[1] ?? '');

const beginsWithSubject: Rule = ({ path, text }) => openingsOf(path, text);

const saysItPlainly: Rule = ({ path, text }) => archaicOf(path, text);

const RULES: readonly Rule[] = [
  saysItPlainly,
  beginsWithSubject,
  hasName,
  hasSize,
  citesItsOwn,
  isPlaced,
  followsArrows,
  keepsToItsOffice,
  decidesByTable,
  asksTheClock,
  asksTheZones,
  decidesOnTheLeader,
  isPatient,
  isWrittenOut,
  namesTypes,
  staysInItsRoom,
];

/** Files that import one another can only be read, tested and moved together. */
function circleProblemsIn(files: readonly SourceFile[]): string[] {
  const imports = new Map(
    files.map((file) => [
      file.path,
      importsOf(file)
        .filter((specifier) => specifier.startsWith('.'))
        .map((specifier) => posix.join(posix.dirname(file.path), specifier)),
    ]),
  );
  return circlesIn(imports).map(
    (circle) =>
      `${circle.join(', ')} import one another in a circle: move what they share into a file below.`,
  );
}

/** All problems of these files, a sentence each. */
export const problemsIn = (files: readonly SourceFile[]): string[] => [
  ...files.flatMap((file) =>
    RULES.flatMap((rule) => rule(file).map((problem) => `${file.path} ${problem}.`)),
  ),
  ...circleProblemsIn(files),
];
