/**
 * A site whose pages and pictures answer as those of a message may. It notes each request, as `HEAD /gone`.
 */
export function startSite(asked: string[]): Bun.Server<undefined> {
  return Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      const { pathname } = new URL(request.url);
      asked.push(`${request.method} ${pathname}`);
      if (pathname === '/gone') return new Response('', { status: 404 });
      if (pathname === '/only-get' && request.method === 'HEAD') return new Response('', { status: 405 });
      if (pathname === '/moved') return Response.redirect('/good', 302);
      if (pathname === '/round') return Response.redirect('/round', 302);
      if (pathname === '/broken') return new Response('', { status: 502 });
      if (pathname === '/page.png') return new Response('<p>', { headers: { 'content-type': 'text/html' } });
      if (pathname === '/heavy.png')
        return new Response(new Uint8Array(1_200_000), { headers: { 'content-type': 'image/png' } });
      return new Response('good');
    },
  });
}
