// Tenants of one node against each other, through the whole of it: the CLI, the control plane, a node that is root.

import {readdirSync, statSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {openHome} from '../e2e/_rig.js';
import {eventually} from '../../bench/rigs/cluster/waiting.js';

const aPod = (name: string, script: string, securityContext: object = {}): object => ({
	apiVersion: 'v1',
	kind: 'Pod',
	metadata: {name},
	spec: {securityContext, restartPolicy: 'Never', containers: [{name: 'main', image: 'any', command: ['/bin/sh', '-c', script]}]},
});

const processesOf = (uid: number): number =>
	readdirSync('/proc').filter(name => {
		try {
			return /^\d+$/.test(name) && statSync(`/proc/${name}`).uid === uid;
		} catch {
			return false;
		}
	}).length;

const bombs = {
	'its children': "trap '' TERM; while :; do sleep 1000 & done",
	'children of children that are gone': 'b() { b | b & }; while :; do b; sleep 0.01; done',
	'sessions of their own': "exec perl -e 'use POSIX; while (1) { setsid() if !fork() }'",
} as const;

/** Enough for a bomb to show, and few enough that two processors do not spend their time on what the kernel refuses. */
const most = 64;

for (const [what, script] of Object.entries(bombs))
	for (const user of [undefined, 71_234])
		test.serial(
			`a pod that begins ${what} without end, ${user === undefined ? 'as its own user' : 'as one it asks for'}, leaves others alone`,
			async t => {
				const cluster = openHome(t);
				await cluster.up(`--max-processes=${most}`);
				const apply = async (pod: object): Promise<void> => {
					const file = path.join(cluster.folder, 'pod.json');
					writeFileSync(file, JSON.stringify(pod));
					await cluster.fine('apply', '-f', file);
				};
				await apply(aPod('other', 'while :; do echo line; sleep 0.1; done'));
				await eventually('the other one runs', async () => (await cluster.troupe('logs', 'other')).out.includes('line'));
				const lines = async (): Promise<number> => (await cluster.fine('logs', 'other')).split('\n').length;
				// A shell that cannot begin another process ends, and its pod with it: not before its user was seen.
				await apply(aPod('bomb', `sleep 2; (${script}) 2>/dev/null; sleep 1000`, user === undefined ? {} : {runAsUser: user}));
				let uid = 0;
				await eventually('the bomb runs', async () => {
					const {status} = JSON.parse(await cluster.fine('get', 'pod', 'bomb', '-o', 'json')) as {
						status: {containerStatuses?: readonly {user?: {linux: {uid: number}}}[]};
					};
					uid = status.containerStatuses?.[0]?.user?.linux.uid ?? 0;
					return uid !== 0;
				});
				let seen = 0;
				for (let look = 0; look < 10; look++) {
					const before = await lines();
					await eventually('the other one goes on', async () => (await lines()) > before);
					seen = Math.max(seen, processesOf(uid));
				}
				t.true(seen > 0 && seen <= most, `${seen} processes`);
				await cluster.fine('delete', 'pod', 'bomb', '--grace-period', '0', '--force');
				await eventually('nothing of it is left', () => Promise.resolve(processesOf(uid) === 0));
			},
		);
