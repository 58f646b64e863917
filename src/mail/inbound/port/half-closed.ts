import { type Connection, followParsers } from '../connection.ts';

/**
 * Answers what a client has said before it closed its side (RFC 9293 3.6, a half-closed connection), as
 * Postfix and Exim do: without the reply it would bring a stored message again. The library writes to a
 * socket only while both sides are open. Needs `allowHalfOpen`, with which the socket does not close by
 * itself: the connection ends when all has been answered.
 */
export function answerHalfClosed(connection: Connection): void {
  const send = connection.send.bind(connection);
  connection.send = (...reply) => {
    const { _socket: socket } = connection;
    if (socket.readyState !== 'writeOnly') return send(...reply);
    Object.defineProperty(socket, 'readyState', { value: 'open', configurable: true });
    send(...reply);
    Reflect.deleteProperty(socket, 'readyState');
  };
  // The parser finishes when the last command has its answer.
  followParsers(connection, (parser) =>
    parser.once('finish', () => connection._parser === parser && connection.close()),
  );
}
