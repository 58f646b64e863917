import type {
  FlowDefinition,
  FlowStep,
  StepType,
  Wait,
} from '../../../../../../../machines/flow-run/definition.ts';
import { ownOf } from '../../../../../../platform/text/own-member.ts';
import type { Flow, FlowRunItem } from '../../api/operations.ts';
import type { icons } from '../../ui/icons.tsx';
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
  exited: 'Left the flow',
  failed: 'Failed',
  cancelled: 'Cancelled',
} as const satisfies Record<FlowRunItem['status'], string>;

/** What people choose a step by. */
interface StepWords {
  readonly title: string;
  readonly about: string;
  readonly icon: keyof typeof icons;
  /** What the key of the first one of its type is; those that follow have a number. */
  readonly key: string;
}

/** Every type of step, in the order of the menu. */
export const STEPS = {
  sendEmail: { title: 'Send an email', about: 'Of a template', icon: 'Mail', key: 'email' },
  delay: { title: 'Wait a while', about: 'Minutes, hours, days or weeks', icon: 'Clock', key: 'wait' },
  delayUntil: {
    title: 'Wait until',
    about: 'A time of the day, or a moment',
    icon: 'Calendar',
    key: 'until',
  },
  waitForEvent: {
    title: 'Wait for an event',
    about: 'Or until the time is over',
    icon: 'Inbox',
    key: 'event',
  },
  condition: { title: 'Condition', about: 'Two ways on', icon: 'Split', key: 'condition' },
  branch: { title: 'Branches', about: 'A way for each kind of people', icon: 'Flow', key: 'branch' },
  updateContact: {
    title: 'Change the contact',
    about: 'Its name and properties',
    icon: 'Person',
    key: 'change',
  },
  addToAudience: { title: 'Add to an audience', about: 'A list', icon: 'People', key: 'join' },
  removeFromAudience: { title: 'Remove from an audience', about: 'A list', icon: 'Block', key: 'leave' },
  webhook: { title: 'Call a webhook', about: 'A signed request', icon: 'Hook', key: 'webhook' },
  exit: { title: 'Leave the flow', about: 'The run ends here', icon: 'Out', key: 'exit' },
} as const satisfies Record<StepType, StepWords>;

/** What begins a run, in words. */
export const TRIGGERS = {
  contactCreated: 'A contact is added',
  audienceJoined: 'Somebody joins an audience',
  audienceLeft: 'Somebody leaves an audience',
  event: 'An event of your program',
  dateProperty: 'A date of the contact',
  manual: 'By hand, or by the API',
} as const satisfies Record<FlowDefinition['trigger']['type'], string>;

/** Names by ids, for texts about things that steps name. */
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

/** What a step does, in one line. */
export function stepText(step: FlowStep, { audiences, templates }: Names): string {
  switch (step.type) {
    case 'sendEmail':
      return named(templates, step.config.templateId, 'No template chosen yet');
    case 'delay':
      return waitText(step.config);
    case 'delayUntil': {
      if ('at' in step.config) return step.config.at.slice(0, 16).replace('T', ', ');
      const { time, weekdays = [] } = step.config;
      return `${time}${weekdays.length === 0 ? '' : ` on ${weekdays.map((day) => DAYS[day]).join(', ')}`}`;
    }
    case 'waitForEvent':
      return step.config.name || 'No event named yet';
    case 'condition':
      return step.config.filter ? 'Asks whether the contact is like that' : 'No condition yet';
    case 'branch':
      return step.config.branches.map(({ key }) => key).join(', ');
    case 'updateContact':
      return changesText(step.config);
    case 'addToAudience':
    case 'removeFromAudience':
      return named(audiences, step.config.audienceId, 'No audience chosen yet');
    case 'webhook':
      return step.config.url.replace(/^https?:\/\//, '') || 'No address yet';
    case 'exit':
      return step.config.reason ?? 'The run ends';
  }
}

function changesText({ properties = {}, ...name }: Extract<FlowStep, { type: 'updateContact' }>['config']) {
  const changed = [...Object.keys(name).map((key) => NAME_PARTS[key] ?? key), ...Object.keys(properties)];
  return changed.length === 0 ? 'Nothing yet' : changed.join(', ');
}
const NAME_PARTS: Readonly<Record<string, string>> = { firstName: 'first name', lastName: 'last name' };

/** What begins a run, in one line. */
export function triggerText({ trigger }: Pick<FlowDefinition, 'trigger'>, { audiences }: Names): string {
  switch (trigger.type) {
    case 'audienceJoined':
    case 'audienceLeft':
      return named(audiences, trigger.audienceId, 'No audience chosen yet');
    case 'event':
      return trigger.name || 'No event named yet';
    case 'dateProperty':
      return `${trigger.property || 'No property named yet'}, ${trigger.time}`;
    case 'contactCreated':
      return 'Also by an import that starts flows';
    case 'manual':
      return 'Nobody comes by themselves';
  }
}

/** What a step came to, as its way is called. */
const WAYS: Readonly<Record<string, string>> = { met: 'Yes', notMet: 'No', event: 'It came' };

/** What the places of settings are called in their forms. */
const FIELDS: Readonly<Record<string, string>> = {
  templateId: 'Template',
  audienceId: 'Audience',
  url: 'Address',
  name: 'Name of the event',
  amount: 'Length',
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
  if (step.type === 'branch') return when === 'default' ? 'Everybody else' : when;
  return WAYS[when] ?? '';
}

/** An outcome in a log, in words: the reasons of the service are words already. */
export const outcomeText = (outcome: string): string =>
  ({
    met: 'Yes',
    notMet: 'No',
    waited: 'Waited',
    event: 'The event came',
    timeout: 'The time was over',
    exited: 'Left',
  })[outcome] ?? outcome.charAt(0).toUpperCase() + outcome.slice(1);
