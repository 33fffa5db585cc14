// Two identity providers on this machine, by oidc-provider: the one that the service trusts, and another.
//
// They print their addresses. Lines on standard input change the keys of the first, and are answered by a line:
//   add KID    makes a key, publishes it beside the others and signs with it
//   drop KID   publishes a key no more
import { createServer } from 'node:http';
import { generateKeyPairSync } from 'node:crypto';
import { createInterface } from 'node:readline';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';

const require = createRequire(join(process.argv[2], 'package.json'));
const { Provider } = await import(pathToFileURL(require.resolve('oidc-provider')));

const CLIENTS = {
  desk: { gainsay_tenant: 'default', gainsay_roles: ['requester'] },
  risk: { gainsay_tenant: 'default', gainsay_roles: 'auditor validator' },
  stray: { gainsay_tenant: 'default', gainsay_roles: ['cook'] },
  lost: { gainsay_tenant: 'no-such-tenant', gainsay_roles: ['auditor'] },
};

function key(kid, alg = 'RS256') {
  const pair = alg === 'RS256' ? generateKeyPairSync('rsa', { modulusLength: 2048 }) : generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { ...pair.privateKey.export({ format: 'jwk' }), kid, alg, use: 'sig' };
}

function resource(audience, alg) {
  return { audience, scope: '', accessTokenFormat: 'jwt', accessTokenTTL: 300, jwt: { sign: { alg } } };
}

function provider(issuer, keys) {
  const alg = keys[0].alg;
  const made = new Provider(issuer, {
    clients: Object.keys(CLIENTS).map((client_id) => ({
      client_id, client_secret: 'a secret of a test, and no other', redirect_uris: [], response_types: [],
      grant_types: ['client_credentials', 'password'], id_token_signed_response_alg: alg,
    })),
    jwks: { keys },
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      resourceIndicators: { enabled: true, getResourceServerInfo: (_, name) => resource(name.replace('urn:', ''), alg) },
    },
    extraTokenClaims: (_, token) => CLIENTS[token.clientId],
    findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
    ttl: { ClientCredentials: 300, AccessToken: 300, IdToken: 300 },
  });
  made.registerGrantType('password', async (ctx) => {
    const { client, params } = ctx.oidc;
    const token = new made.AccessToken({ accountId: params.username, client, scope: 'openid', gty: 'password' });
    token.resourceServer = new made.ResourceServer(params.audience, resource(params.audience, alg));
    const id = new made.IdToken({ sub: params.username }, { ctx, client });
    id.scope = 'openid';
    const access = await token.save();
    id.set('at_hash', access);
    ctx.body = { access_token: access, id_token: await id.issue({ use: 'idtoken' }), token_type: 'Bearer' };
  }, ['username', 'audience']);
  return made.callback();
}

async function listen(keys) {
  const place = { keys, answers: undefined };
  const server = createServer((request, response) => place.answers(request, response));
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  place.issuer = `http://127.0.0.1:${server.address().port}`;
  place.answers = provider(place.issuer, keys);
  return place;
}

const trusted = await listen([key('first')]);
const other = await listen([key('first')]);
process.stdout.write(`listening on ${trusted.issuer} ${other.issuer}\n`);

createInterface({ input: process.stdin }).on('line', (line) => {
  const [what, kid] = line.split(' ');
  trusted.keys = what === 'add' ? [key(kid, 'ES256'), ...trusted.keys] : trusted.keys.filter((one) => one.kid !== kid);
  trusted.answers = provider(trusted.issuer, trusted.keys);
  process.stdout.write(`done ${line}\n`);
}).on('close', () => process.exit(0));
