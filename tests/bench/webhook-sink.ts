/** A receiver of webhooks that takes everything at once. Prints its port. */
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    await request.arrayBuffer();
    return new Response('ok');
  },
});
process.stdout.write(`${server.port}\n`);
