import type { FlowDefinition, FlowStep, StepType } from '../../../../machines/flow-run/definition.ts';
import { COMMON_STATES } from '../../../../machines/flow-run/machine.ts';
import type { Detail } from '../../../platform/errors/failure.ts';
import { NO_ZONE, zones } from '../../../platform/zones/zones.ts';
import type { DefinitionBody } from './model.ts';
import { configProblems } from './step-configs.ts';

/** The most characters that a flow has as JSON: definitions of flows with open runs are kept in memory. */
export const LARGEST_DEFINITION = 262_144;

const TOO_LARGE = `A flow may have at most ${LARGEST_DEFINITION} characters as JSON.`;

const RESERVED: ReadonlySet<string> = new Set(COMMON_STATES);

/** The definition of a new flow. */
const NOTHING: FlowDefinition = {
  trigger: { type: 'manual' },
  entry: null,
  reentry: 'never',
  exitWhen: null,
  quietHours: null,
  steps: [],
  edges: [],
};

/** The settings of each type of trigger, besides its filter. */
const TRIGGER_SETTINGS: Readonly<Record<FlowDefinition['trigger']['type'], readonly string[]>> = {
  contactCreated: [],
  audienceJoined: ['audienceId'],
  audienceLeft: ['audienceId'],
  event: ['name'],
  replied: [],
  dateProperty: ['property', 'offsetDays', 'time', 'repeat'],
  manual: [],
};

/** Reads the body of a request over the previous definition, and lists every problem in it. */
export function readDefinition(
  body: DefinitionBody,
  before: FlowDefinition = NOTHING,
): { readonly definition: FlowDefinition; readonly problems: readonly Detail[] } {
  const { trigger, entry, reentry, exitWhen, quietHours, steps, edges } = body;
  const problems: Detail[] = [];
  if (trigger)
    problems.push(...triggerProblems(trigger), ...filterProblems(trigger.filter, 'trigger/filter'));
  if (exitWhen !== null) problems.push(...filterProblems(exitWhen, 'exitWhen'));
  if (quietHours) problems.push(...quietProblems(quietHours));
  if (steps) problems.push(...stepProblems(steps));
  const written = (steps?.map(({ config = {}, ...step }) => ({ ...step, config })) ??
    before.steps) as readonly FlowStep[];
  const kept = before.entry !== null && written.some(({ key }) => key === before.entry) ? before.entry : null;
  const definition: FlowDefinition = {
    trigger: (trigger as FlowDefinition['trigger'] | undefined) ?? before.trigger,
    entry: entry ?? kept ?? written[0]?.key ?? null,
    reentry: reentry ?? before.reentry,
    exitWhen: exitWhen === undefined ? before.exitWhen : exitWhen,
    quietHours:
      quietHours === undefined
        ? before.quietHours
        : quietHours && { ...quietHours, timeZone: quietHours.timeZone ?? null },
    steps: written,
    edges: edges?.map(({ from, to, when = 'default' }) => ({ from, to, when })) ?? before.edges,
  };
  if (JSON.stringify(definition).length > LARGEST_DEFINITION)
    problems.push({ path: '/body', message: TOO_LARGE });
  return { problems, definition };
}

/** A draft may hold an unfinished filter, but nothing else in its place. `validate` checks its content. */
const filterProblems = (filter: unknown, at: string): readonly Detail[] =>
  filter === undefined || (typeof filter === 'object' && filter !== null && !Array.isArray(filter))
    ? []
    : [{ path: `/body/${at}`, message: 'Must be an object: a condition, or a group of them.' }];

function triggerProblems(trigger: NonNullable<DefinitionBody['trigger']>): readonly Detail[] {
  const wanted = TRIGGER_SETTINGS[trigger.type];
  const problems: Detail[] = [];
  for (const name of wanted)
    if (!Object.hasOwn(trigger, name))
      problems.push({ path: `/body/trigger/${name}`, message: 'This is required.' });
  for (const name of Object.keys(trigger))
    if (name !== 'type' && name !== 'filter' && !wanted.includes(name))
      problems.push({
        path: `/body/trigger/${name}`,
        message: `A trigger of the type ${trigger.type} does not have this setting.`,
      });
  return problems;
}

function quietProblems({ from, to, timeZone }: NonNullable<DefinitionBody['quietHours']>): readonly Detail[] {
  const problems: Detail[] = [];
  if (from === to) problems.push({ path: '/body/quietHours/to', message: 'Must differ from `from`.' });
  if (timeZone != null && zones.nameOf(timeZone) === null)
    problems.push({ path: '/body/quietHours/timeZone', message: NO_ZONE });
  return problems;
}

function stepProblems(steps: NonNullable<DefinitionBody['steps']>): readonly Detail[] {
  const known = new Set<string>();
  return steps.flatMap(({ key, type, config = {} }, index) => {
    const at = `/body/steps/${index}`;
    const problems = [...configProblems(type as StepType, config, `${at}/config`)];
    if (known.has(key)) problems.push({ path: `${at}/key`, message: 'Another step has this key.' });
    if (RESERVED.has(key))
      problems.push({ path: `${at}/key`, message: `Must not be one of ${COMMON_STATES.join(', ')}.` });
    known.add(key);
    return problems;
  });
}
