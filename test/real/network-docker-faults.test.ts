// Two nodes, each a host of its own with an Engine of its own, and a web app of containers that is asked all the time: an Engine hangs, dies with
// its containers left running, and is stopped with all of them.
//
// What holds in all of them: through the router no request is lost, and no container of the other host is touched.

import path from 'node:path';
import {setTimeout as pause} from 'node:timers/promises';
import test from 'ava';
import {eventually} from '../../bench/rigs/cluster/waiting.js';
import {lossesOf, summaryOf} from '../../bench/rigs/fleet/load.js';
import {startDockerd, type Dockerd} from '../../bench/rigs/servers/dockerd.js';
import {lossText, nothingLost, nothingMoved, nowMs, replaceAll, sharedWebApp} from './_web-app.js';

const names = ['n1', 'n2'];
const victim = 'n2';
const engines = new Map<string, Dockerd>();
const engineOf = (node: string): Dockerd => {
	const engine = engines.get(node);
	if (engine === undefined) throw new Error(`there is no Engine on ${node}`);
	return engine;
};

const serving = {
	runtimeClassName: 'docker',
	container: {
		image: 'busybox',
		imagePullPolicy: 'IfNotPresent',
		command: [
			'sh',
			'-c',
			'mkdir /tmp/w; printf "$HOSTNAME" >/tmp/w/index.html; httpd -p 8000 -h /tmp/w; trap "exit 0" TERM; sleep infinity & wait',
		],
	},
};

const stage = sharedWebApp(
	test,
	owner => ({
		nodes: names,
		grace: '2m',
		async store(network) {
			for (const name of names) {
				const namespace = path.basename(network.on(name)[1] ?? '');
				// The containers of the first outlive their Engine.
				engines.set(name, await startDockerd(owner, {host: namespace, bip: '172.30.0.1/24', liveRestore: name !== victim}));
			}
			return [];
		},
		runtimeOf: name => [`--docker=${engineOf(name).url}`],
	}),
	serving,
);

/** Longer than any look at an Engine is waited for before it counts as gone. */
const hangMs = 20_000;

test.serial('an Engine that hangs loses nothing, and what was asked of it meanwhile is done afterwards', async t => {
	t.timeout(280_000);
	const {app} = stage();
	const before = await app.standing();
	const seen = await app.under(async () => {
		await engineOf(victim).pause();
		await pause(hangMs);
		engineOf(victim).wake();
		await app.settled();
	});
	nothingLost(t, seen);
	nothingMoved(t, before, await app.standing());
	await replaceAll(stage());
});

test.serial('an Engine that is killed and started again, whose containers outlive it, loses nothing', async t => {
	t.timeout(280_000);
	const {app} = stage();
	const before = await app.standing();
	const seen = await app.under(async () => {
		await engineOf('n1').kill();
		await engineOf('n1').start();
		await app.settled();
	});
	nothingLost(t, seen);
	nothingMoved(t, before, await app.standing());
});

test.serial(
	'an Engine that is stopped with its containers and started again: the router loses nothing, others are not touched',
	async t => {
		t.timeout(280_000);
		const {app} = stage();
		const before = await app.standing();
		const on = (node: string, standing: typeof before): number => [...standing.values()].filter(each => each.node === node).length;
		t.true(on(victim, before) > 0);
		let outAtMs = 0;
		const seen = await app.under(async () => {
			await engineOf(victim).stop();
			await eventually('no endpoint is there', async () => {
				const {web, endpoints} = await app.view();
				return !web.some(({spec, status}) => spec?.nodeName === victim && endpoints.includes(status?.podIP ?? ''));
			});
			outAtMs = nowMs();
			await engineOf(victim).start();
			await app.settled();
		}, victim);
		t.log(summaryOf(seen));
		const lost = lossesOf(seen);
		t.deepEqual(lost.filter(({way}) => way.startsWith('route')).map(lossText), []);
		t.deepEqual(lost.filter(({atMs}) => atMs > outAtMs + 1_000).map(lossText), [], 'lost later');
		nothingMoved(t, before, await app.standing(), node => node === victim);
	},
);
