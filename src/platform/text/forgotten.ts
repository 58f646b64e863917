/**
 * The domain of the addresses that take the place of those of forgotten people. No mail ever reaches it (RFC
 * 2606 2).
 */
export const FORGOTTEN_DOMAIN = 'forgotten.invalid';

/** True for the address that takes the place of a forgotten person's. */
export const isForgotten = (address: string): boolean => address.endsWith(`@${FORGOTTEN_DOMAIN}`);
