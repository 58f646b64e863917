import type { Postponement } from '../../../../machines/email/context.ts';
import type { Transport } from '../../../mail/transport/transport.ts';
import type { Sender } from '../send/message.ts';
import type { LiveMessage } from '../send/reader.ts';
import type { Lane, Room, WarmUps } from './warm-ups.ts';

type Mail = Pick<LiveMessage, 'campaign_id'>;
type WarmedUp = Pick<Sender, 'domainId' | 'warmUps'>;

/**
 * The mail that a message is among, where it is warmed up on that transport: of the domain that it leaves by.
 */
export function laneOf(
  { campaign_id: campaignId = null }: Mail,
  { domainId, warmUps }: WarmedUp,
  transport: Transport['name'],
): Lane | null {
  const warmUp = warmUps.find(({ provider }) => provider === transport);
  return warmUp ? { domainId, warmUp, isBulk: campaignId !== null } : null;
}

/** The room of one attempt in the day of a warm-up. */
export interface WarmUpShare {
  /** The transport whose day it took a part of; null where nothing was taken. */
  readonly taken: Transport['name'] | null;
  /** The limit that it has to wait for; null where it may leave. */
  readonly full: Postponement | null;
  giveBack(): void;
}

/** No day is shared: the mail is not warmed up, or was counted before. */
export const NOTHING_COUNTS: WarmUpShare = { taken: null, full: null, giveBack() {} };

/** The room of a day as an attempt sees it. */
export function shareOf({ warmUp: { provider } }: Lane, room: Room): WarmUpShare {
  if (room.until === null) return { taken: provider, full: null, giveBack: () => room.giveBack() };
  return { ...NOTHING_COUNTS, full: { ...room, transport: provider } };
}

/** Why a warm-up gives no room. */
export const usedUp = ({ perDay }: { readonly perDay: number }): string =>
  `its warm-up allows ${perDay} recipients on this day, which are used up`;

/**
 * Takes room for a copy that is about to be given on to a transport that takes over. Answers why it may not
 * be; null where it may.
 */
export async function refusalOf(
  allowances: WarmUps,
  message: Mail,
  sender: WarmedUp,
  transport: Transport['name'],
): Promise<string | null> {
  const lane = laneOf(message, sender, transport);
  if (!lane) return null;
  const room = await allowances.take(lane, 1).catch(() => null);
  if (room === null) return 'it is not known whether its warm-up has room';
  return room.until === null ? null : usedUp(room);
}
