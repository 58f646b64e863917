import type { FlowDefinition } from './definition.ts';

/** Welcomes new members of an audience, with a step of every type. */
export const EXAMPLE_FLOW: FlowDefinition = {
  trigger: { type: 'audienceJoined', audienceId: 'aud_01m7xj1rwzprnwr10308attx' },
  entry: 'welcome',
  reentry: 'never',
  exitWhen: { field: 'properties.plan', operator: 'eq', value: 'pro' },
  quietHours: { from: '22:00', to: '07:00', timeZone: null },
  steps: [
    { key: 'welcome', type: 'sendEmail', config: { templateId: 'welcome' } },
    { key: 'twoDays', type: 'delay', config: { amount: 2, unit: 'days' } },
    {
      key: 'hasOpened',
      type: 'condition',
      config: {
        filter: { field: 'activity.opened', operator: 'withinLast', value: { amount: 2, unit: 'days' } },
      },
    },
    { key: 'mondayMorning', type: 'delayUntil', config: { time: '09:00', weekdays: ['mon'] } },
    { key: 'tips', type: 'sendEmail', config: { templateId: 'tips' } },
    {
      key: 'untilOrder',
      type: 'waitForEvent',
      config: { name: 'order.placed', timeout: { amount: 1, unit: 'weeks' } },
    },
    {
      key: 'byCountry',
      type: 'branch',
      config: {
        branches: [{ key: 'german', filter: { field: 'properties.country', operator: 'eq', value: 'DE' } }],
      },
    },
    { key: 'mark', type: 'updateContact', config: { properties: { isCustomer: true } } },
    { key: 'join', type: 'addToAudience', config: { audienceId: 'aud_01m7xj1rwzprnwr10308atty' } },
    { key: 'quit', type: 'removeFromAudience', config: { audienceId: 'aud_01m7xj1rwzprnwr10308attx' } },
    { key: 'tell', type: 'webhook', config: { url: 'https://example.com/customers' } },
    { key: 'leave', type: 'exit', config: { reason: 'not interested' } },
  ],
  edges: [
    { from: 'welcome', to: 'twoDays', when: 'default' },
    { from: 'twoDays', to: 'hasOpened', when: 'default' },
    { from: 'hasOpened', to: 'mondayMorning', when: 'met' },
    { from: 'hasOpened', to: 'leave', when: 'notMet' },
    { from: 'mondayMorning', to: 'tips', when: 'default' },
    { from: 'tips', to: 'untilOrder', when: 'default' },
    { from: 'untilOrder', to: 'byCountry', when: 'event' },
    { from: 'untilOrder', to: 'leave', when: 'timeout' },
    { from: 'byCountry', to: 'tell', when: 'german' },
    { from: 'byCountry', to: 'quit', when: 'default' },
    { from: 'tell', to: 'mark', when: 'default' },
    { from: 'mark', to: 'join', when: 'default' },
    { from: 'join', to: 'quit', when: 'default' },
  ],
};
