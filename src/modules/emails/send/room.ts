import type { Transport } from '../../../transport/transport.ts';
import type { Sender } from './message.ts';
import type { LiveMessage } from './reader.ts';
import type { Lane, WarmUps } from './warm-ups.ts';

type Mail = Pick<LiveMessage, 'domain_id' | 'campaign_id'>;

/** The mail that a message is among, where it is warmed up on that transport. */
export function laneOf(
  { domain_id: domainId, campaign_id: campaignId = null }: Mail,
  { warmUps }: Pick<Sender, 'warmUps'>,
  transport: Transport['name'],
): Lane | null {
  if (warmUps.length === 0 || domainId === null) return null;
  const warmUp = warmUps.find(({ provider }) => provider === transport);
  return warmUp ? { domainId, warmUp, isBulk: campaignId !== null } : null;
}

/** Why a warm-up gives no room. */
export const usedUp = ({ perDay }: { readonly perDay: number }): string =>
  `its warm-up allows ${perDay} recipients on this day, which are used up`;

/** Takes room for a copy that is about to be given on to a transport that takes over. Answers why it may not be; null where it may. */
export async function refusalOf(
  allowances: WarmUps,
  message: Mail,
  sender: Pick<Sender, 'warmUps'>,
  transport: Transport['name'],
): Promise<string | null> {
  const lane = laneOf(message, sender, transport);
  if (!lane) return null;
  const room = await allowances.take(lane, 1).catch(() => null);
  if (room === null) return 'nobody can say whether its warm-up has room';
  return room.until === null ? null : usedUp(room);
}
