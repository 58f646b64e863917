import type {
  FlowDefinition,
  FlowStep,
  StepType,
  Wait,
} from '../../../../../../../machines/flow-run/definition.ts';
import { CONTACT_FIELDS, isContactField } from '../../../../../../platform/text/contact-fields.ts';
import { ownOf } from '../../../../../../platform/text/own-member.ts';
import type { Flow, FlowRunItem } from '../../../../../client/operations.ts';
import { momentText } from '../../ui/display/format.ts';
import type { icons } from '../../ui/icons.tsx';
import { filterText } from '../audiences/filter-words.ts';
import { useAudienceNames, useTemplateNames } from '../names.ts';
import { named } from './forms/dictionary.ts';
import type { StepProblem } from './forms/problems.ts';

/** The states of a flow in words. */
export const STATUSES = {
  draft: 'Draft',
  active: 'Active',
  paused: 'Paused',
} as const satisfies Record<Flow['status'], string>;

/** The states of a run in words. */
export const RUN_STATUSES = {
  running: 'Running',
  waiting: 'Waiting',
  completed: 'Completed',
  exited: 'Exited',
  failed: 'Failed',
  cancelled: 'Cancelled',
} as const satisfies Record<FlowRunItem['status'], string>;

/** The words by which people choose a step. */
interface StepWords {
  readonly title: string;
  readonly about: string;
  readonly icon: keyof typeof icons;
  /** The key of the first step of its type; later ones have a number. */
  readonly key: string;
}

/** Every type of step, in the order of the menu. */
export const STEPS = {
  sendEmail: { title: 'Send an email', about: 'From a template', icon: 'Mail', key: 'email' },
  delay: { title: 'Wait', about: 'Minutes, hours, days or weeks', icon: 'Clock', key: 'wait' },
  delayUntil: {
    title: 'Wait until',
    about: 'A time of day, or a fixed date',
    icon: 'Calendar',
    key: 'until',
  },
  waitForEvent: {
    title: 'Wait for an event',
    about: 'Or until a timeout',
    icon: 'Inbox',
    key: 'event',
  },
  condition: { title: 'Condition', about: 'Two paths: yes or no', icon: 'Split', key: 'condition' },
  branch: { title: 'Branches', about: 'One path per group of contacts', icon: 'Flow', key: 'branch' },
  updateContact: {
    title: 'Change the contact',
    about: 'Name and properties',
    icon: 'Person',
    key: 'change',
  },
  addToAudience: { title: 'Add to an audience', about: 'A static audience', icon: 'People', key: 'join' },
  removeFromAudience: {
    title: 'Remove from an audience',
    about: 'A static audience',
    icon: 'Block',
    key: 'leave',
  },
  webhook: { title: 'Call a webhook', about: 'A signed request', icon: 'Hook', key: 'webhook' },
  exit: { title: 'Exit the flow', about: 'The run ends here', icon: 'Out', key: 'exit' },
} as const satisfies Record<StepType, StepWords>;

/** The triggers, in words. */
export const TRIGGERS = {
  contactCreated: 'A contact is added',
  audienceJoined: 'A contact joins an audience',
  audienceLeft: 'A contact leaves an audience',
  event: 'A custom event occurs',
  replied: 'A contact replies to an email',
  dateProperty: 'A date of the contact arrives',
  manual: 'Manual, or by the API',
} as const satisfies Record<FlowDefinition['trigger']['type'], string>;

/** Names by id, for texts about steps. */
export interface Names {
  readonly audiences: Readonly<Record<string, string>>;
  readonly templates: Readonly<Record<string, string>>;
}

/** The names of what steps name. */
export function useNames(): Names {
  return { audiences: useAudienceNames(), templates: useTemplateNames() };
}

const DAYS = { mon: 'Mon', tue: 'Tue', wed: 'Wed', thu: 'Thu', fri: 'Fri', sat: 'Sat', sun: 'Sun' } as const;

/** `2 days`, `1 hour` */
export const waitText = ({ amount, unit }: Wait): string =>
  `${amount} ${amount === 1 ? unit.slice(0, -1) : unit}`;

/** The summary of a step, in one line. */
export function stepText(step: FlowStep, { audiences, templates }: Names): string {
  switch (step.type) {
    case 'sendEmail':
      return named(templates, step.config.templateId, 'No template selected');
    case 'delay':
      return waitText(step.config);
    case 'delayUntil': {
      if ('at' in step.config) return momentText(step.config.at);
      const { time, weekdays = [] } = step.config;
      const days = weekdays.length === 0 ? '' : ` on ${weekdays.map((day) => DAYS[day]).join(', ')}`;
      return `${time}${days}, ${step.config.timeZone ?? 'time of the contact'}`;
    }
    case 'waitForEvent':
      return step.config.name || 'No event named';
    case 'condition':
      return filterText(step.config.filter, audiences) || 'No condition yet';
    case 'branch':
      return step.config.branches.map(({ key }) => key).join(', ');
    case 'updateContact':
      return changesText(step.config);
    case 'addToAudience':
    case 'removeFromAudience':
      return named(audiences, step.config.audienceId, 'No audience selected');
    case 'webhook':
      return step.config.url.replace(/^https?:\/\//, '') || 'No URL yet';
    case 'exit':
      return step.config.reason ?? 'The run ends';
  }
}

function changesText({ properties = {}, ...texts }: Extract<FlowStep, { type: 'updateContact' }>['config']) {
  const changed = [...Object.keys(texts).map(fieldText), ...Object.keys(properties)];
  return changed.length === 0 ? 'No changes yet' : changed.join(', ');
}
const fieldText = (name: string): string =>
  isContactField(name) ? CONTACT_FIELDS[name].label.toLowerCase() : name;

/** The summary of a trigger, in one line. */
export function triggerText({ trigger }: Pick<FlowDefinition, 'trigger'>, { audiences }: Names): string {
  switch (trigger.type) {
    case 'audienceJoined':
    case 'audienceLeft':
      return named(audiences, trigger.audienceId, 'No audience selected');
    case 'event':
      return trigger.name || 'No event named';
    case 'dateProperty':
      return `${trigger.property || 'No property named'}, ${trigger.time}`;
    case 'replied':
      return 'Automatic answers do not count';
    case 'contactCreated':
      return 'Imports with “start flows” included';
    case 'manual':
      return 'Starts manually or by the API';
  }
}

/** The labels of paths, by the outcome of a step. */
const WAYS: Readonly<Record<string, string>> = { met: 'Yes', notMet: 'No', event: 'Event occurred' };

/** The labels of the settings in their forms. */
const FIELDS: Readonly<Record<string, string>> = {
  templateId: 'Template',
  audienceId: 'Audience',
  url: 'URL',
  name: 'Event name',
  amount: 'Duration',
  properties: 'Properties',
};

/** A problem with the name of the field that it is about. */
export const problemText = ({ field, message }: StepProblem): string =>
  ownOf(FIELDS, field) === undefined
    ? message
    : `${ownOf(FIELDS, field)}: ${message.charAt(0).toLowerCase()}${message.slice(1)}`;

/** A way out of a step, in words. */
export function wayText(step: FlowStep | null, when: string): string {
  if (!step) return '';
  if (step.type === 'waitForEvent' && when === 'timeout') return `After ${waitText(step.config.timeout)}`;
  if (step.type === 'branch') return when === 'default' ? 'All others' : when;
  return WAYS[when] ?? '';
}

/** An outcome in a log, in words: the reasons of the service are words already. */
export const outcomeText = (outcome: string): string =>
  ({
    met: 'Yes',
    notMet: 'No',
    waited: 'Waited',
    event: 'Event occurred',
    timeout: 'Timed out',
    exited: 'Exited',
  })[outcome] ?? outcome.charAt(0).toUpperCase() + outcome.slice(1);
