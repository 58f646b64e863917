import { EMAIL_EVENT_TYPES, type EmailEventType } from './recipient.ts';

/** The decisions of the service's parts by the type of an event. */
export interface EventTraits {
  /**
   * True for opens and clicks: a recipient may have several, and programs that fetch or scan cause them as
   * well.
   */
  readonly isVisit: boolean;
  /** True where a recipient has to have the message first. */
  readonly isByRecipient: boolean;
  /** True where a recipient may have several, so that recipients are counted beside events. */
  readonly isRepeated: boolean;
  /** True where a campaign keeps the first one with its recipient. */
  readonly isKeptWithRecipient: boolean;
  /** True where the activity of a contact keeps the data of the event. */
  readonly hasActivityData: boolean;
  /** True where filters of dynamic audiences may ask for it. */
  readonly isFilter: boolean;
}

const NO_TRAITS: EventTraits = {
  isVisit: false,
  isByRecipient: false,
  isRepeated: false,
  isKeptWithRecipient: false,
  hasActivityData: false,
  isFilter: false,
};

/** The traits of each type of event. A new type does not compile until it has some. */
export const EVENT_TRAITS: Readonly<Record<EmailEventType, EventTraits>> = {
  sent: NO_TRAITS,
  delivered: { ...NO_TRAITS, isRepeated: true, isFilter: true },
  opened: {
    ...NO_TRAITS,
    isVisit: true,
    isByRecipient: true,
    isRepeated: true,
    isKeptWithRecipient: true,
    isFilter: true,
  },
  clicked: {
    isVisit: true,
    isByRecipient: true,
    isRepeated: true,
    isKeptWithRecipient: true,
    hasActivityData: true,
    isFilter: true,
  },
  bounced: { ...NO_TRAITS, isRepeated: true, isKeptWithRecipient: true, hasActivityData: true },
  complained: { ...NO_TRAITS, isByRecipient: true, isKeptWithRecipient: true, hasActivityData: true },
  unsubscribed: { ...NO_TRAITS, isByRecipient: true, isKeptWithRecipient: true, hasActivityData: true },
};

export const eventTypesWith = (trait: keyof EventTraits): readonly EmailEventType[] =>
  EMAIL_EVENT_TYPES.filter((type) => EVENT_TRAITS[type][trait]);

const quoted = (types: readonly EmailEventType[]): string => types.map((type) => `'${type}'`).join(', ');

/** SQL: whether a column of event types has one with a trait. */
export const hasTraitSql = (column: string, trait: keyof EventTraits): string =>
  `${column} in (${quoted(eventTypesWith(trait))})`;
