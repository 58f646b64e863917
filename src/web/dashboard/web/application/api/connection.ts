import type { PageMessage, ServiceMessage } from '../../../../live/model.ts';

/** The state of a connection: `over` when the session has ended, after which it does not reconnect. */
export type ConnectionState = 'connecting' | 'live' | 'lost' | 'over';

/** The close code of an ended session. */
const SESSION_OVER = 4_401;
/** The service speaks at least every five seconds. */
const SILENCE_MS = 12_000;
const FIRST_WAIT_MS = 400;
const LONGEST_WAIT_MS = 10_000;

type MessageListener = (message: ServiceMessage) => void;

/**
 * The one WebSocket of a page. It reconnects at growing intervals; parts of the page listen to the messages
 * that they need.
 */
export class Connection {
  state: ConnectionState = 'connecting';
  readonly #listeners = new Set<() => void>();
  readonly #messages = new Set<MessageListener>();
  readonly #openings = new Set<() => void>();
  #socket: WebSocket | null = null;
  #tries = 0;
  #retry = 0;
  #silence = 0;
  #ended = false;

  /** @param path the path and query of the WebSocket */
  constructor(private readonly path: string) {}

  /** Connects, and stays connected until `end`. */
  start(): void {
    this.#ended = false;
    this.#connect();
  }

  end(): void {
    this.#ended = true;
    window.clearTimeout(this.#retry);
    window.clearTimeout(this.#silence);
    this.#socket?.close();
  }

  /** Calls the listener when the state has changed. */
  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  onMessage(listener: MessageListener): () => void {
    this.#messages.add(listener);
    return () => this.#messages.delete(listener);
  }

  /** Calls the listener each time that the connection opens, and now if it is open. */
  onOpen(listener: () => void): () => void {
    this.#openings.add(listener);
    if (this.isOpen) listener();
    return () => this.#openings.delete(listener);
  }

  get isOpen(): boolean {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  /**
   * Sends a message; one that no open connection takes is lost, and `onOpen` is the time to send it again.
   */
  send(message: PageMessage): void {
    if (this.isOpen) this.#socket?.send(JSON.stringify(message));
  }

  #connect(): void {
    const socket = new WebSocket(location.origin.replace(/^http/, 'ws') + this.path);
    this.#socket = socket;
    socket.onopen = () => {
      this.#tries = 0;
      this.#expectMore();
      for (const opened of this.#openings) opened();
      this.#turn('live');
    };
    socket.onmessage = ({ data }) => {
      this.#expectMore();
      const message = JSON.parse(String(data)) as ServiceMessage;
      for (const hear of this.#messages) hear(message);
    };
    socket.onclose = ({ code }) => {
      if (this.#ended || socket !== this.#socket) return;
      window.clearTimeout(this.#silence);
      this.#turn(code === SESSION_OVER ? 'over' : 'lost');
      if (this.state === 'over') return;
      const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** this.#tries++) * (0.75 + Math.random() / 2);
      this.#retry = window.setTimeout(() => this.#connect(), wait);
    };
  }

  /** A connection that is silent for too long is dead, whatever the browser reports. */
  #expectMore(): void {
    window.clearTimeout(this.#silence);
    this.#silence = window.setTimeout(() => this.#socket?.close(), SILENCE_MS);
  }

  #turn(state: ConnectionState): void {
    this.state = state;
    for (const listener of this.#listeners) listener();
  }
}
