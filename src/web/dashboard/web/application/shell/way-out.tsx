import { useRead } from '../api/queries.ts';
import { useMember } from '../api/viewer.tsx';
import { type WayOut, waysOutOf } from './ways-out.ts';

/** The destinations of this workspace's live email. */
export function useWaysOut(): readonly WayOut[] {
  const { session, may } = useMember();
  const { data } = useRead('GET /domains', {}, { enabled: may('domains:read') });
  return waysOutOf(session.transports, data ?? []);
}

/** The link to the steps with which an operator enables delivery. */
export const SetUpSending = () => (
  <a href="/docs/set-up-sending" className="link whitespace-nowrap">
    Set up sending
  </a>
);
