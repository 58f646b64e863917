import type { ReactNode } from 'react';

/** A picture of one path, 16 by 16. */
export const drawn = (path: string) => (
  <svg
    viewBox="0 0 16 16"
    className="size-4 shrink-0"
    fill="none"
    stroke="currentColor"
    strokeWidth="1.4"
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden="true"
  >
    <path d={path} />
  </svg>
);

/**
 * The pictures of the navigation and of pages, each a single path. One of another size takes it from its
 * parent: `[&>svg]:size-3`.
 */
export const icons = {
  Home: drawn('M2.5 7.2 8 2.5l5.5 4.7v6.3h-4v-4h-3v4h-4V7.2Z'),
  Mail: drawn('M2 3.5h12v9H2v-9Zm0 1L8 9l6-4.5'),
  Inbox: drawn('M2 9 4 3h8l2 6v4.5H2V9Zm0 0h3.5l1 2h3l1-2H14'),
  Box: drawn('M2.5 4.5h11v9h-11v-9Zm0 0 2-2.500h7l2 2.500M6.500 7.500h3'),
  Chart: drawn('M2.5 13.5h11M4.5 11V8m3.5 3V3.5m3.5 7.5V6'),
  Person: drawn('M8 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5Zm-5 6c.4-2.6 2.3-4 5-4s4.6 1.4 5 4'),
  People: drawn(
    'M6 7.5a2.3 2.3 0 1 0 0-4.600 2.300 2.300 0 0 0 0 4.600Zm-4.500 6c.3-2.500 2-3.900 4.500-3.900s4.200 1.400 4.500 3.900M10.500 3.200a2.200 2.200 0 0 1 0 4.100m1.200 2.500c1.600.4 2.600 1.600 2.800 3.700',
  ),
  Shield: drawn(
    'M8 1.800 13 3.600v4c0 3.200-2 5.400-5 6.600-3-1.200-5-3.400-5-6.600v-4L8 1.800ZM5.800 8l1.600 1.600L10.400 6.500',
  ),
  Block: drawn('M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM3.800 3.800l8.400 8.400'),
  Page: drawn('M3.500 1.800h6l3 3v9.400h-9V1.800Zm5.700 0v3.300h3.300M5.700 8h4.600M5.700 10.800h4.600'),
  Picture: drawn('M2 3h12v10H2V3Zm0 8 3.5-3.5 3 3 2-2L14 12M10.500 6.500h.1'),
  Megaphone: drawn(
    'M2.500 6.500v3h2.300l6.200 3v-9l-6.200 3H2.500Zm2.800 3 .9 3.800h1.700L7 10.300M13 6.500v3',
  ),
  Flow: drawn('M2.500 2.500h4v3h-4v-3Zm7 8h4v3h-4v-3Zm-5-5v4a2.500 2.500 0 0 0 2.500 2.500h2.500'),
  Globe: drawn(
    'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM2 8h12M8 2c2 1.700 2.700 3.600 2.700 6s-.7 4.300-2.700 6c-2-1.700-2.700-3.600-2.700-6S6 3.700 8 2Z',
  ),
  Hook: drawn(
    'M5.500 11.500a2.500 2.500 0 1 1-2-4m3-1 2 3.500h4M8 2.500a2.500 2.500 0 0 1 2.200 3.700M9.500 12a2.500 2.500 0 1 0 2.500-4',
  ),
  Key: drawn(
    'M10 9.500a3.700 3.700 0 1 0-3.500-2.500L2 11.500v2.500h2.500v-1.700h1.700v-1.700h1.200l.8-.8c.500.100 1.300-.300 1.800-.300Zm.800-4.300h.1',
  ),
  Machine: drawn('M2 3h4v3.500H2V3Zm8 0h4v3.500h-4V3ZM6 10h4v3.500H6V10ZM4 6.500V8h8V6.500M8 8v2'),
  Card: drawn('M1.800 3.500h12.400v9H1.800v-9Zm0 2.800h12.400M4.300 10h2.500'),
  List: drawn('M5.500 4h8m-8 4h8m-8 4h8M2.500 4h.1m-.1 4h.1m-.1 4h.1'),
  Gear: drawn(
    'M8 10.200a2.200 2.200 0 1 0 0-4.400 2.200 2.200 0 0 0 0 4.400Zm0-8.400v1.700m0 9v1.700M1.800 8h1.700m9 0h1.700M3.600 3.600l1.200 1.200m6.400 6.400 1.200 1.200m0-8.800-1.200 1.200m-6.400 6.400-1.200 1.200',
  ),
  Eye: drawn(
    'M1.500 8S4 3.500 8 3.500 14.500 8 14.500 8 12 12.500 8 12.500 1.500 8 1.500 8Zm6.500 2a2 2 0 1 0 0-4 2 2 0 0 0 0 4Z',
  ),
  Hidden: drawn('M1.500 8S4 3.500 8 3.500 14.500 8 14.500 8 12 12.500 8 12.500 1.500 8 1.500 8ZM3 13 13 3'),
  Lock: drawn('M3.500 7h9v6.500h-9V7Zm2-.2V5a2.500 2.500 0 0 1 5 0v1.800M8 9.500v1.500'),
  Plus: drawn('M8 3v10M3 8h10'),
  Minus: drawn('M3 8h10'),
  Whole: drawn('M2.500 6V2.500H6m4 0h3.500V6m0 4v3.500H10m-4 0H2.500V10'),
  More: drawn('M3.500 8h.1m4.400 0h.1m4.400 0h.1'),
  Menu: drawn('M2.500 4.500h11m-11 3.500h11m-11 3.500h11'),
  Up: drawn('m4.500 9.500 3.500-3.500 3.500 3.500'),
  Down: drawn('m4.500 6.500 3.500 3.500 3.500-3.500'),
  Book: drawn(
    'M8 4c-1.500-1-3.500-1.300-5.500-1v9.500c2-.3 4 0 5.500 1 1.500-1 3.500-1.300 5.500-1V3c-2-.3-4 0-5.500 1Zm0 0v9.500',
  ),
  Clock: drawn('M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 4.800V8l2.200 1.500'),
  Calendar: drawn('M2.500 3.500h11v10h-11v-10Zm0 3.300h11M5.300 1.800v3m5.400-3v3'),
  Split: drawn('M8 2v3.500L4 9v5M8 5.500 12 9v5M2.300 12.300 4 14l1.700-1.700m4.600 0L12 14l1.700-1.700'),
  Play: drawn('M5 3.200v9.600L12.500 8 5 3.200Z'),
  Stop: drawn('M5.300 3.500v9m5.400-9v9'),
  Out: drawn('M6.500 3h-3.500v10h10V9.500M9 2.500h4.500V7M13 3 7.500 8.500'),
  Search: drawn('m13.5 13.5-3-3M12 7A5 5 0 1 1 2 7a5 5 0 0 1 10 0Z'),
  Close: drawn('m4 4 8 8m0-8-8 8'),
  Check: drawn('m3 8.5 3.2 3.2L13 4.8'),
  Copy: drawn('M5.5 5.5v-3h8v8h-3m-8-5h8v8h-8v-8Z'),
  Back: drawn('M9.8 3.5 5.3 8l4.5 4.5'),
  Forward: drawn('M6.2 3.5 10.7 8l-4.5 4.5'),
  Pause: drawn('M5.5 3.5v9m5-9v9'),
  Again: drawn('M13 8a5 5 0 1 1-1.6-3.7M13 2.5V5h-2.5'),
  Stay: drawn('M3 8h7M8 5.5 10.5 8 8 10.5M13.5 3v10'),
  Sun: drawn(
    'M8 10.8a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6ZM8 1.5v1.2m0 10.6v1.2M1.5 8h1.2m10.6 0h1.2M3.4 3.4l.9.9m7.4 7.4.9.9m0-9.2-.9.9m-7.4 7.4-.9.9',
  ),
  Moon: drawn('M13.5 9.6A6 6 0 0 1 6.4 2.5a6 6 0 1 0 7.1 7.1Z'),
  System: drawn('M2 3h12v8H2V3Zm4 10.5h4M8 11v2.5'),
  Braces: drawn(
    'M6 2.500H5a1.500 1.500 0 0 0-1.500 1.500v2.300L2.300 8l1.200 1.700V12A1.500 1.500 0 0 0 5 13.500h1m4-11h1a1.500 1.500 0 0 1 1.500 1.500v2.300L13.700 8l-1.200 1.700V12a1.500 1.500 0 0 1-1.500 1.500h-1',
  ),
  Leave: drawn('M6.5 13.5h-4v-11h4M10 11l3-3-3-3m3 3H6'),
} as const satisfies Record<string, ReactNode>;

/** The post horn. */
export const Mark = ({ className = 'size-6' }: { readonly className?: string }) => (
  <svg viewBox="0 0 32 32" className={className} aria-hidden="true">
    <rect width="32" height="32" rx="8" fill="#0f766e" />
    <g fill="none" stroke="#fff" strokeWidth="2.4" strokeLinecap="round">
      <circle cx="13.5" cy="16.5" r="5.4" />
      <path d="M13.5 11.1H23c2 0 3.2-1.4 4-3.1v9.4c-.8-1.7-2-3-4-3h-4.2M8.1 16.5H5" />
    </g>
  </svg>
);
