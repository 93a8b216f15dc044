// A Mosquitto (Debian: mosquitto) with exactly what `troupe broker config` wrote, a server that was there before it, and an agent.

import {spawn, spawnSync} from 'node:child_process';
import {chownSync, mkdirSync, readFileSync, readdirSync, statSync} from 'node:fs';
import path from 'node:path';
import {createInterface} from 'node:readline';
import test, {type ExecutionContext} from 'ava';
import {openEar} from '../../e2e/_ear.js';
import {openAgent, openServer} from '../../e2e/_hosts.js';
import {isReady} from '../../../bench/rigs/cluster/pods.js';
import {setOf} from '../../../bench/rigs/cluster/manifests.js';
import {until, within} from '../../../bench/rigs/cluster/waiting.js';
import {controlSecret} from '../_mosquitto.js';
import {folder, freePort} from '../../../bench/rigs/servers/server.js';

/** Who it becomes when root starts it. */
const ownUser = (): number => Number(spawnSync('id', ['-u', 'mosquitto'], {encoding: 'utf8'}).stdout);

/** A folder for it, as its operator makes one. */
function brokerFolder(t: ExecutionContext): string {
	const made = path.join(folder(t, 'broker'), 'troupe');
	mkdirSync(made, {mode: 0o700});
	if (process.getuid?.() !== 0) return made;
	chownSync(path.dirname(made), ownUser(), -1);
	chownSync(made, ownUser(), -1);
	return made;
}

/** Runs it with these settings and no others; calling it lets it read its files anew. */
async function startWith(t: ExecutionContext, conf: string): Promise<() => Promise<void>> {
	const child = spawn('mosquitto', ['-c', conf], {stdio: ['ignore', 'ignore', 'pipe']});
	t.teardown(() => child.kill('SIGKILL'));
	const lines: string[] = [];
	const listeners = new Set<() => void>();
	createInterface(child.stderr).on('line', line => {
		lines.push(line);
		for (const listener of listeners) listener();
	});
	const says = (pattern: RegExp): Promise<void> =>
		new Promise((resolve, reject) => {
			const look = (): void => {
				if (lines.some(line => pattern.test(line))) resolve();
			};
			listeners.add(look);
			look();
			child.once('exit', () => reject(new Error(`mosquitto ended: ${lines.join('\n')}`)));
		});
	await within('mosquitto to run', says(/mosquitto version .* running/), () => lines.join('\n'));
	return async () => {
		child.kill('SIGHUP');
		await within('mosquitto to read its files', says(/Reloading config/), () => lines.join('\n'));
	};
}

test('a Mosquitto started with what the command wrote is where server, agent and tools meet', async t => {
	t.timeout(90_000);
	const port = await freePort();
	const server = await openServer(t, `--broker=mqtt://control:${encodeURIComponent(controlSecret)}@127.0.0.1:${port}`);
	const files = brokerFolder(t);
	const written = await server.troupe('broker', 'config', files);
	t.is(written.code, 0, written.err);
	t.deepEqual(readdirSync(files).toSorted(), ['acl', 'mosquitto.conf', 'passwords']);
	for (const name of readdirSync(files)) {
		const {mode, uid} = statSync(path.join(files, name));
		t.deepEqual([mode & 0o777, uid], [0o600, statSync(files).uid], name);
		t.false(readFileSync(path.join(files, name), 'utf8').includes(controlSecret));
	}
	const reload = await startWith(t, path.join(files, 'mosquitto.conf'));

	await openAgent(t, [server.api()], await server.joinToken(), 'host-1');
	await server.fine('broker', 'config', files);
	t.true(readFileSync(path.join(files, 'acl'), 'utf8').includes('\nuser host-1\n'));
	await reload();
	const client = await server.client();
	await until(client, 'nodes', 'host-1 to be ready', found => JSON.stringify(found.get('host-1')?.status ?? {}).includes('"AgentReady"'));
	await server.apply(setOf('web', 1));
	await until(client, 'pods', 'it to run', pods => [...pods.values()].some(isReady));
	const ear = await openEar(t, server);
	await ear.listen('troupe/v1/objects/replicasets/#');
	await ear.until('the set', heard => heard.find(({topic, retained}) => topic.endsWith('/web') && retained));
});
