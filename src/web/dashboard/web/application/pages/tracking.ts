import type { Domain } from '../../../../client/operations.ts';

/** The actions of recipients that are counted only where tracking is on. */
export type TrackedAction = 'opened' | 'clicked';

/** The tracking that is on; null while it is unknown, or for a viewer who may not read the domains. */
export type Tracking = Readonly<Record<TrackedAction, boolean>> | null;

type Switches = Pick<Domain, 'openTracking' | 'clickTracking'>;

/** The domain of a sender such as `Acme <news@acme.example>`, in lower case. */
export const domainOf = (sender: string): string =>
  /@([^@>\s]+)>?\s*$/.exec(sender)?.[1]?.toLowerCase() ?? '';

/** The tracking of the email of these domains: an action that one of them tracks is counted. */
export const trackingOf = (domains: readonly Switches[]): Tracking =>
  domains.length === 0
    ? null
    : {
        opened: domains.some(({ openTracking }) => openTracking),
        clicked: domains.some(({ clickTracking }) => clickTracking),
      };

/** The tracking of one campaign: its own setting, and else that of the domain of its sender. */
export function trackingOfCampaign(
  campaign: Readonly<Record<'trackOpens' | 'trackClicks', boolean | null>> & { readonly from: string | null },
  domains: readonly (Switches & Pick<Domain, 'name'>)[],
): Tracking {
  const { from, trackOpens, trackClicks } = campaign;
  const sending = from === null ? domains : domains.filter(({ name }) => name === domainOf(from));
  const byDomain = trackingOf(sending);
  const opened = trackOpens ?? byDomain?.opened;
  const clicked = trackClicks ?? byDomain?.clicked;
  return opened === undefined || clicked === undefined ? null : { opened, clicked };
}

/**
 * False where nothing counted the action: a 0 would say that no one did it. What was counted once is shown.
 */
export const isCounted = (tracking: Tracking, action: TrackedAction, counted: number): boolean =>
  counted > 0 || tracking === null || tracking[action];
