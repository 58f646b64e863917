import type { KnownProperty } from '../../../../client/operations.ts';
import { useRead } from '../api/queries.ts';
import { useViewer } from '../api/viewer.tsx';

/** The properties that contacts have, the most frequent first; empty for a viewer who may not read contacts. */
export function useKnownProperties(): readonly KnownProperty[] {
  const { may } = useViewer();
  return useRead('GET /contacts/properties', {}, { enabled: may('contacts:read'), every: 60_000 }).data ?? [];
}
