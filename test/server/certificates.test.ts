import {X509Certificate} from 'node:crypto';
import https from 'node:https';
import type {AddressInfo} from 'node:net';
import {hostname} from 'node:os';
import test from 'ava';
import {ensureCertificates} from '../../server/certificates.js';
import {ask, vaults} from './support.js';

const nowMs = Date.now();
const dayMs = 86_400_000;

test('a client that knows the authority trusts the server by each of its names', async t => {
	const {ca, cert, key} = await ensureCertificates(vaults(), {names: ['troupe.example', '192.0.2.7'], nowMs});
	const server = https.createServer({cert, key}, (_request, response) => response.end('hello'));
	await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
	t.teardown(() => server.close());
	const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
	t.is((await ask(url, {ca})).text, 'hello');
	await t.throwsAsync(ask(url), {message: /self-signed|unable to verify|unable to get/});
	const parsed = new X509Certificate(cert);
	for (const name of ['localhost', 'troupe.example', hostname()]) t.truthy(parsed.checkHost(name), name);
	for (const address of ['127.0.0.1', '::1', '192.0.2.7']) t.truthy(parsed.checkIP(address), address);
	t.falsy(parsed.checkHost('other.example'));
	t.false(parsed.ca);
	t.true(new X509Certificate(ca).ca);
});

test('a good certificate is kept over restarts', async t => {
	const kept = vaults();
	const first = await ensureCertificates(kept, {names: ['a.example'], nowMs});
	t.deepEqual(await ensureCertificates(kept, {names: ['a.example'], nowMs: nowMs + 300 * dayMs}), first);
	t.deepEqual(await ensureCertificates(kept, {names: [], nowMs}), first);
});

test('a certificate with under 30 days left, or without a wanted name, is renewed by the same authority', async t => {
	const kept = vaults();
	const first = await ensureCertificates(kept, {names: [], nowMs});
	const later = await ensureCertificates(kept, {names: [], nowMs: nowMs + 340 * dayMs});
	t.is(later.ca, first.ca);
	t.not(later.cert, first.cert);
	t.true(new X509Certificate(later.cert).verify(new X509Certificate(first.ca).publicKey));
	const renamed = await ensureCertificates(kept, {names: ['new.example'], nowMs});
	t.is(renamed.ca, first.ca);
	t.truthy(new X509Certificate(renamed.cert).checkHost('new.example'));
});

test('an authority that is about to end is replaced, and the server certificate with it', async t => {
	const kept = vaults();
	const first = await ensureCertificates(kept, {names: [], nowMs});
	const tenYears = await ensureCertificates(kept, {names: [], nowMs: nowMs + 3640 * dayMs});
	t.not(tenYears.ca, first.ca);
	t.true(new X509Certificate(tenYears.cert).verify(new X509Certificate(tenYears.ca).publicKey));
});
