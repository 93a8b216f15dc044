// Claims when processes die: what is written is never lost while its claim is there or its volume is retained, and nothing is left of volumes that
// are to go, whoever was killed meanwhile.

import {existsSync, readFileSync, readdirSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import type {ApiObject} from '../../../api/object.js';
import type {PersistentVolume} from '../../../api/kinds/persistentvolume.js';
import {isReady, pidOf} from '../../../bench/rigs/cluster/pods.js';
import {lives} from '../../../bench/rigs/cluster/processes.js';
import {eventually, until} from '../../../bench/rigs/cluster/waiting.js';
import {openAgent, openServer} from '../_hosts.js';
import {openHome, type Home} from '../_rig.js';

const claimOf = (name: string) => ({
	apiVersion: 'v1',
	kind: 'PersistentVolumeClaim',
	metadata: {name},
	spec: {accessModes: ['ReadWriteOnce'], resources: {requests: {storage: '1Mi'}}},
});

/** Of one controller, and so of one user, whatever it runs. */
const podWith = (name: string, claims: readonly string[], script: string) => ({
	apiVersion: 'v1',
	kind: 'Pod',
	metadata: {name},
	spec: {
		terminationGracePeriodSeconds: 1,
		containers: [
			{
				name: 'main',
				image: 'any',
				command: ['sh', '-c', script],
				volumeMounts: claims.map(claim => ({name: claim, mountPath: `/srv/claims/${claim}`})),
			},
		],
		volumes: claims.map(claim => ({name: claim, persistentVolumeClaim: {claimName: claim}})),
	},
});

const foldersOf = ({home}: Home): string => path.join(home, 'data', 'volumes');

/** Of a file in a volume of which there is one; empty: there is none. */
function textIn(home: Home, volume: string, file: string): string {
	const place = path.join(foldersOf(home), volume, file);
	return existsSync(place) ? readFileSync(place, 'utf8') : '';
}

const onlyVolume = (home: Home): string => readdirSync(foldersOf(home)).join();

const ready = async (home: Home, name: string): Promise<number> => {
	const pid = await until(await home.client(), 'pods', `${name} to be ready`, pods => {
		const pod = pods.get(name);
		return pod !== undefined && isReady(pod) ? pidOf(pod) : undefined;
	});
	return pid ?? 0;
};

test('what a pod has written is there after "down --pods" and after everything was killed, and its claim has the same volume', async t => {
	t.timeout(120_000);
	const cluster = openHome(t);
	const starts = 'echo started >>/srv/claims/data/starts; exec sleep 1d';
	await cluster.up();
	await cluster.apply(claimOf('data'), podWith('writer', ['data'], starts));
	const first = await ready(cluster, 'writer');
	const volume = onlyVolume(cluster);
	const startsOf = (count: number): Promise<void> =>
		eventually(`it has started ${count} times`, () => textIn(cluster, volume, 'starts') === 'started\n'.repeat(count));
	await startsOf(1);

	await cluster.fine('down', '--pods');
	t.false(lives(first));
	await startsOf(1);
	await cluster.up();
	await startsOf(2);
	await ready(cluster, 'writer');

	await cluster.killEverything();
	await cluster.up();
	await startsOf(3);
	t.is(onlyVolume(cluster), volume);
	t.regex(await cluster.fine('get', 'pvc'), new RegExp(`^data +Bound +${volume} `, 'm'));
});

/** Names of the volumes that these claims have. */
const boundTo = (claims: readonly string[], volumes: Iterable<ApiObject>): readonly string[] =>
	([...volumes] as PersistentVolume[])
		.filter(({spec, status}) => status?.phase === 'Bound' && claims.includes(spec?.claimRef?.name ?? ''))
		.map(({metadata}) => metadata.name);

const gone = ['gone-0', 'gone-1', 'gone-2'];
const kept = ['kept-0', 'kept-1', 'kept-2'];

/** Enough that it takes the agent a moment to remove. */
const fills = `for claim in ${[...gone, ...kept].join(' ')}; do
cd /srv/claims/$claim && mkdir -p a/b/c && echo $claim >name
i=0; while [ $i -lt 400 ]; do : >a/b/c/$i; i=$((i+1)); done
done; touch /srv/claims/kept-2/ready; exec sleep 1d`;

test('volumes of deleted claims go or are retained as they say, whoever is killed meanwhile, and a pod beside them runs on', async t => {
	t.timeout(300_000);
	const server = await openServer(t);
	const agent = await openAgent(t, [server.api()], await server.joinToken(), 'host-1');
	await server.apply(claimOf('own'), podWith('beside', ['own'], 'while echo line >>/srv/claims/own/lines; do sleep 1; done'));
	const beside = await ready(server, 'beside');
	const own = onlyVolume(agent);
	const linesOf = (): number => textIn(agent, own, 'lines').length;
	const crashes: readonly (() => Promise<void>)[] = [
		async () => {
			await server.killIt();
			await server.restart();
		},
		async () => {
			await agent.killIt();
			await agent.restart();
		},
		async () => {
			await Promise.all([server.killIt(), agent.killIt()]);
			await server.restart();
			await agent.restart();
		},
	];
	for (const [round, crash] of crashes.entries()) {
		await server.apply(...[...gone, ...kept].map(claimOf), podWith('writer', [...gone, ...kept], fills));
		await ready(server, 'writer');
		const volumesOf = async (claims: readonly string[]): Promise<readonly string[]> =>
			boundTo(claims, (await until(await server.client(), 'persistentvolumes', 'all', all => (all.size >= 7 ? all : undefined))).values());
		const retained = await volumesOf(kept);
		const removed = await volumesOf(gone);
		t.is(retained.length + removed.length, 6);
		await eventually('all is written', () => retained.some(volume => existsSync(path.join(foldersOf(agent), volume, 'ready'))));
		for (const volume of retained) await server.fine('patch', 'pv', volume, '-p', '{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}');

		await server.fine('delete', 'pod', 'writer', '--wait=false');
		await server.fine('delete', 'pvc', ...gone, ...kept, '--wait=false');
		const before = linesOf();
		await crash();
		await eventually(`of those of round ${round} nothing is left, and the others are released`, async () => {
			const said = await server.fine('get', 'pv');
			return (
				removed.every(volume => !said.includes(volume)) && retained.every(volume => new RegExp(`^${volume} .* Released `, 'm').test(said))
			);
		});
		const there = readdirSync(foldersOf(agent));
		t.deepEqual(
			removed.filter(volume => there.includes(volume)),
			[],
		);
		t.deepEqual(
			retained.map(volume => textIn(agent, volume, 'name')).sort(),
			kept.map(claim => `${claim}\n`),
		);
		for (const volume of retained) t.is(readdirSync(path.join(foldersOf(agent), volume, 'a/b/c')).length, 400);
		t.regex(await server.fine('get', 'pvc'), /^NAME[^\n]*\nown +Bound [^\n]*\n$/);
		await eventually('the pod beside them writes on', () => linesOf() > before);
		t.is(await ready(server, 'beside'), beside);
		// Their records may go; what is in them is nobody's to remove.
		await server.fine('delete', 'pv', ...retained);
		for (const volume of retained) t.is(readdirSync(path.join(foldersOf(agent), volume, 'a/b/c')).length, 400);
	}
});
