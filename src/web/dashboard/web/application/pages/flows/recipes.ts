import type { CreateFlow } from '../../../../../client/operations.ts';

/** A starting point for a new flow. */
interface Recipe {
  readonly title: string;
  readonly about: string;
  readonly content: Omit<CreateFlow, 'name'>;
}

/** A step that sends is added once there is a template, so these have none; the drawing tells where. */
export const RECIPES = {
  empty: { title: 'Empty', about: 'Draw it from scratch', content: {} },
  welcome: {
    title: 'Welcome',
    about: 'Two days, then a choice by whether they came back',
    content: {
      trigger: { type: 'contactCreated' },
      entry: 'firstDays',
      steps: [
        { key: 'firstDays', type: 'delay', config: { amount: 2, unit: 'days' } },
        {
          key: 'isActive',
          type: 'condition',
          config: {
            filter: {
              and: [{ field: 'lastActivityAt', operator: 'withinLast', value: { amount: 2, unit: 'days' } }],
            },
          },
        },
        { key: 'mark', type: 'updateContact', config: { properties: { isActive: true } } },
        { key: 'monday', type: 'delayUntil', config: { time: '09:00', weekdays: ['mon'] } },
      ],
      edges: [
        { from: 'firstDays', to: 'isActive', when: 'default' },
        { from: 'isActive', to: 'mark', when: 'met' },
        { from: 'isActive', to: 'monday', when: 'notMet' },
      ],
    },
  },
  basket: {
    title: 'Abandoned cart',
    about: 'Waits for the order, and reminds the contact when none comes',
    content: {
      trigger: { type: 'event', name: 'basket.filled' },
      reentry: 'afterExit',
      entry: 'order',
      steps: [
        {
          key: 'order',
          type: 'waitForEvent',
          config: { name: 'order.placed', timeout: { amount: 4, unit: 'hours' } },
        },
        { key: 'bought', type: 'exit', config: { reason: 'ordered' } },
        { key: 'morning', type: 'delayUntil', config: { time: '10:00' } },
      ],
      edges: [
        { from: 'order', to: 'bought', when: 'event' },
        { from: 'order', to: 'morning', when: 'timeout' },
      ],
    },
  },
  birthday: {
    title: 'Birthday',
    about: 'Every year at 09:00',
    content: {
      trigger: { type: 'dateProperty', property: 'birthday', offsetDays: 0, time: '09:00', repeat: 'yearly' },
      reentry: 'afterExit',
    },
  },
} as const satisfies Record<string, Recipe>;
