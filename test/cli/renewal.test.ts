// Certificates are looked at each day, and what is found is shown by the doors that are open.

import {once} from 'node:events';
import tls from 'node:tls';
import {setImmediate as turn} from 'node:timers/promises';
import test, {type ExecutionContext} from 'ava';
import {limits} from '../../api/limits.js';
import {renewDaily} from '../../cli/serving/control/renewal.js';
import {ensureCertificates, findCertificates} from '../../server/certificates.js';
import {createGateway, type Certificate} from '../../server/gateway.js';
import {createWeb} from '../../server/web.js';
import {systemClock} from '../../system/time/clock.js';
import {createNewcomers} from '../../system/broker/newcomers.js';
import {ManualClock} from '../../system/time/manual-clock.js';
import {vaults} from '../server/support.js';

const dayMs = 86_400_000;

test('each day the certificate is looked for; one that ends soon is made anew and shown, a failure is told and tried again', async t => {
	const clock = new ManualClock(Date.now());
	const kept = vaults();
	const first = await ensureCertificates(kept, {names: [], nowMs: clock.nowMs()});
	const shown: Certificate[] = [];
	const problems: unknown[] = [];
	let isBroken = false;
	const stop = renewDaily({
		clock,
		find: () => (isBroken ? Promise.reject(new Error('no store')) : findCertificates(kept, {names: [], nowMs: clock.nowMs()})),
		show: certificate => Promise.resolve(shown.push(certificate)),
		onProblem: problem => problems.push(problem),
	});
	t.is(clock.nextAtMs(), clock.nowMs() + limits.certificateLookMs);
	const pass = async (days: number): Promise<void> => {
		clock.advance(days * dayMs);
		while (clock.nextAtMs() === undefined) await turn();
	};
	await pass(1);
	t.deepEqual(shown, [first]);
	isBroken = true;
	await pass(1);
	t.deepEqual([shown.length, problems.length], [1, 1]);
	isBroken = false;
	await pass(340);
	await pass(1);
	t.deepEqual(shown[1], first);
	t.is(shown[2]?.ca, first.ca);
	t.not(shown[2]?.cert, first.cert);
	await pass(3_300);
	await pass(1);
	t.deepEqual([shown.length, problems.length], [4, 2]);
	stop();
	t.is(clock.nextAtMs(), undefined);
});

async function shakes(t: ExecutionContext, port: number, ca: string): Promise<void> {
	const socket = tls.connect({port, host: '127.0.0.1', ca});
	t.teardown(() => socket.destroy());
	await once(socket, 'secureConnect');
}

test('the doors of the API and of browsers show another certificate from the next handshake on', async t => {
	const make = () => ensureCertificates(vaults(), {names: [], nowMs: Date.now()});
	const [before, after] = await Promise.all([make(), make()]);
	const gateway = createGateway({upstream: () => ({type: 'standby', leader: undefined}), tls: before, version: '0', clock: systemClock});
	const web = createWeb({
		about: () => ({version: '0', api: '', mqtt: ''}),
		onRequest: (_request, response) => void response.end(),
		onMqttUpgrade: (_request, socket) => socket.destroy(),
		tls: before,
		serves: () => true,
		newcomers: createNewcomers({clock: systemClock}),
		clock: systemClock,
	});
	for (const door of [gateway, web]) {
		const {port} = await door.listen('127.0.0.1', 0);
		t.teardown(() => door.close());
		await shakes(t, port, before.ca);
		door.useCertificate(after);
		await shakes(t, port, after.ca);
		await t.throwsAsync(shakes(t, port, before.ca));
	}
});
