/**
 * A receiver of webhooks that takes everything at once; a GET answers how many POSTs it has had. Prints its
 * port.
 */
let taken = 0;
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    if (request.method === 'GET') return new Response(String(taken));
    await request.arrayBuffer();
    taken += 1;
    return new Response('ok');
  },
});
process.stdout.write(`${server.port}\n`);
