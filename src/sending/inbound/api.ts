import type { InboundTopic } from '../../platform/config/settings/ses-inbound-settings.ts';

/** The end of a message that SES has received. `refused`: its notification names what it may not. */
export type SesEnd = 'taken' | 'skipped' | 'spam' | 'loop' | 'refused';

/** The functions that received mail gives to other modules. */
export interface InboundApi {
  /**
   * Takes the message in a notification of a receipt rule, whose signature holds. @throws UnavailableError
   * when it should be sent again
   */
  takeSes(message: string, topic: InboundTopic): Promise<SesEnd>;
}
