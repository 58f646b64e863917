/**
 * Milliseconds from an arbitrary point that never run backwards: what intervals are measured with. Injected, as all
 * time is.
 */
export type Monotonic = () => number;
