import { useRead } from '../api/queries.ts';
import { useMember } from '../api/viewer.tsx';
import { liveSentence, reachesPeople, warmUpSentence, waysOutOf } from './ways-out.ts';

/** The fate of this workspace's live email. */
interface LiveEmail {
  /** True where some of it reaches real people. */
  readonly isDelivered: boolean;
  readonly sentence: string;
}

/** The fate of this workspace's live email: where it goes, and today's limit. */
export function useLiveEmail(): LiveEmail {
  const { session, may } = useMember();
  const { data = [] } = useRead('GET /domains', {}, { enabled: may('domains:read') });
  const ways = waysOutOf(session.transports, data);
  const isDelivered = reachesPeople(ways);
  return { isDelivered, sentence: `${liveSentence(ways)} ${isDelivered ? warmUpSentence(data) : ''}`.trim() };
}

/** The link to the steps with which an operator enables delivery. */
export const SetUpSending = () => (
  <a href="/docs/set-up-sending" className="link whitespace-nowrap">
    Set up sending
  </a>
);
