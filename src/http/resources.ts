import type { IdPrefix } from '../db/ids.ts';

/** What each kind of id names, as a client is told when there is no such thing. */
export const RESOURCE_OF: Readonly<Record<IdPrefix, string>> = {
  em: 'email',
  evt: 'event',
  key: 'API key',
  wh: 'webhook endpoint',
  dlv: 'webhook delivery',
  dom: 'domain',
  tpl: 'template',
  con: 'contact',
  aud: 'audience',
  imp: 'contact import',
  cmp: 'campaign',
  flw: 'flow',
  run: 'flow run',
  mem: 'member',
  inv: 'invitation',
  ws: 'workspace',
  mail: 'mail',
  cap: 'captured message',
  req: 'request',
};
