import { Link } from 'wouter';

/** In place of a number that nothing counts. */
export const NotCounted = () => (
  <Link href="/domains" title="Turn on tracking for the domain" className="text-heading text-dim underline">
    Not counted
  </Link>
);
