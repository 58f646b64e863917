/** The targets of actions and what happens to them, as the log names them. */
const ACTIONS = {
  account: [
    'changed',
    'passkeyAdded',
    'passkeyRemoved',
    'passwordChanged',
    'signedOutElsewhere',
    'totpAdded',
    'totpRemoved',
  ],
  apiKey: ['changed', 'created', 'revoked'],
  asset: ['created', 'deleted'],
  audience: ['changed', 'created', 'deleted'],
  billing: ['checkoutOpened', 'portalOpened'],
  campaign: ['cancelled', 'changed', 'created', 'deleted', 'paused', 'sent', 'unscheduled'],
  contact: ['deleted'],
  contacts: ['exported', 'imported'],
  domain: ['changed', 'created', 'deleted', 'keysRotated'],
  emails: ['exported'],
  events: ['exported'],
  flow: ['activated', 'changed', 'created', 'deleted', 'paused', 'secretRotated'],
  inboundRoute: ['changed', 'created', 'deleted'],
  invitation: ['created', 'deleted'],
  mailbox: ['changed', 'created', 'deleted'],
  member: ['changed', 'removed'],
  received: ['deleted', 'redelivered'],
  recipients: ['exported'],
  session: ['opened'],
  suppression: ['created', 'deleted'],
  suppressions: ['exported', 'imported'],
  template: ['changed', 'created', 'deleted', 'published', 'restored', 'usersUpdated'],
  webhook: ['changed', 'created', 'deleted', 'replayed', 'secretRotated'],
  workspace: ['changed', 'created', 'deleted', 'logoChanged', 'logoRemoved'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** The names of all actions: `apiKey.created`. */
export const actionNames = (): readonly string[] =>
  Object.entries(ACTIONS).flatMap(([target, acts]) => acts.map((act) => `${target}.${act}`));
