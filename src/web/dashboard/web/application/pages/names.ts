import type { Domain, KnownProperty } from '../../../../client/operations.ts';
import { useList, useRead } from '../api/queries.ts';
import { useViewer } from '../api/viewer.tsx';

/** The most items of a choice; further ones can be found on their pages. */
const MOST = 100;

/** The names of the audiences by id, newest first, for choices and for texts: all, or those of a type. */
export function useAudienceNames(type?: 'static'): Readonly<Record<string, string>> {
  const { may } = useViewer();
  const { items = [] } = useList(
    'GET /audiences',
    { query: { limit: MOST } },
    { enabled: may('contacts:read') },
  );
  const named = items.filter((each) => type === undefined || each.type === type);
  return Object.fromEntries(named.map(({ id, name }) => [id, name]));
}

/** The names of the templates that can be sent by id, newest first. */
export function useTemplateNames(): Readonly<Record<string, string>> {
  const { may } = useViewer();
  const { items = [] } = useList(
    'GET /templates',
    { query: { limit: MOST, kind: 'template' } },
    { enabled: may('templates:read') },
  );
  return Object.fromEntries(items.map(({ id, name }) => [id, name]));
}

/** The names of the live domains by id. */
export function useDomainNames(): Readonly<Record<string, string>> {
  const { environment, may } = useViewer();
  const { items = [] } = useList(
    'GET /domains',
    { query: { limit: MOST } },
    { enabled: environment === 'live' && may('domains:read') },
  );
  return Object.fromEntries(items.map(({ id, name }) => [id, name]));
}

/** The domains with what they track, newest first; empty while unknown. */
export function useTrackedDomains(): readonly Domain[] {
  const { may } = useViewer();
  const { items = [] } = useList(
    'GET /domains',
    { query: { limit: MOST } },
    { enabled: may('domains:read') },
  );
  return items;
}

/**
 * The properties that contacts have, the most frequent first; empty for a viewer who may not read contacts.
 */
export function useKnownProperties(): readonly KnownProperty[] {
  const { may } = useViewer();
  return (
    useRead('GET /contacts/properties', {}, { enabled: may('contacts:read'), every: 60_000 }).data ?? NONE
  );
}

const NONE: readonly KnownProperty[] = [];

/** A property in a readable form. */
export const propertyText = (value: string | number | boolean): string =>
  typeof value === 'boolean' ? (value ? 'Yes' : 'No') : String(value);
