// Outside tools against the broker: mosquitto_sub and mosquitto_pub (Debian: mosquitto-clients).

import {execFile, spawn} from 'node:child_process';
import {once} from 'node:events';
import {createInterface} from 'node:readline';
import {promisify} from 'node:util';
import test, {type ExecutionContext} from 'ava';
import {objectKey} from '../../../api/keys.js';
import type {ApiObject} from '../../../api/object.js';
import {createTopics, retainedObjects} from '../../../server/topics.js';
import {ObjectIndex} from '../../../system/index/object-index.js';
import {passwordOf, startBroker, type Rig} from '../../system/broker/broker-rig.js';
import {within} from '../../../bench/rigs/cluster/waiting.js';

const run = promisify(execFile);
const web = 'troupe/v1/objects/pods/default/web';

/** What a tool ended with. */
async function ended(command: string, args: readonly string[]): Promise<{readonly code: number; readonly output: string}> {
	try {
		const {stdout, stderr} = await run(command, args, {timeout: 60_000});
		return {code: 0, output: stdout + stderr};
	} catch (error) {
		const {code, stdout, stderr} = error as {code: number; stdout: string; stderr: string};
		return {code, output: stdout + stderr};
	}
}

const door = ({port}: Rig, name?: string, password = passwordOf(name ?? '')): string[] => [
	...['-h', '127.0.0.1', '-p', String(port)],
	...(name === undefined ? [] : ['-u', name, '-P', password]),
];

/** `mosquitto_sub -v` with its retain flags, line by line. */
function subscribe(t: ExecutionContext, args: readonly string[]) {
	const child = spawn('mosquitto_sub', ['-F', '%r %t %p', ...args], {stdio: ['ignore', 'pipe', 'inherit']});
	t.teardown(() => child.kill());
	const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
	return {
		async next(): Promise<string> {
			const line = await within('a line of mosquitto_sub', lines.next() as Promise<IteratorResult<string, undefined>>);
			return line.value ?? 'the tool ended';
		},
		async end(): Promise<void> {
			const exited = once(child, 'exit');
			child.kill();
			await within('the end of mosquitto_sub', exited);
		},
	};
}

const aPod = (version: number): ApiObject => ({
	apiVersion: 'v1',
	kind: 'Pod',
	metadata: {
		name: 'web',
		namespace: 'default',
		uid: 'u',
		resourceVersion: String(version),
		generation: 1,
		creationTimestamp: '2026-01-01T00:00:00Z',
	},
});

async function aCluster(t: ExecutionContext) {
	const index = new ObjectIndex();
	const rig = await startBroker(t, {retainedSource: retainedObjects(index, () => 1)});
	const topics = createTopics({broker: rig.broker, epoch: () => 1});
	const commit = (version: number, object: ApiObject | undefined): void =>
		topics.onChange(index.apply(objectKey('pods', 'default', 'web'), version, object, () => JSON.stringify(object)));
	return {...rig, commit};
}

test('with a login the retained object comes first, then each change, the deletion and the clearing message', async t => {
	const cluster = await aCluster(t);
	cluster.commit(1, aPod(1));
	const tool = subscribe(t, [...door(cluster, 'watcher'), '-t', 'troupe/v1/objects/#']);
	t.is(await tool.next(), `1 ${web} {"epoch":1,"rv":1,"prev":0,"object":${JSON.stringify(aPod(1))}}`);
	cluster.commit(2, aPod(2));
	t.is(await tool.next(), `0 ${web} {"epoch":1,"rv":2,"prev":1,"object":${JSON.stringify(aPod(2))}}`);
	cluster.commit(3, undefined);
	t.is(await tool.next(), `0 ${web} {"epoch":1,"rv":3,"prev":2,"deleted":true}`);
	t.is(await tool.next(), `0 ${web} `);
	await tool.end();
});

test('a stranger gets nothing: no password, a wrong one, an unknown name', async t => {
	const cluster = await aCluster(t);
	cluster.commit(1, aPod(1));
	const ask = ['-t', '#', '-W', '5', '-C', '1'];
	const [none, wrong, unknown] = await Promise.all([
		ended('mosquitto_sub', [...door(cluster), ...ask]),
		ended('mosquitto_sub', [...door(cluster, 'admin', 'guess'), ...ask]),
		ended('mosquitto_sub', [...door(cluster, 'mallory'), ...ask]),
	]);
	// It exits with the code of the broker's refusal.
	t.deepEqual([none.code, wrong.code, unknown.code], [5, 4, 4]);
	t.regex(none.output, /not authori[sz]ed/i);
	t.regex(wrong.output, /bad user name or password/i);
	t.regex(unknown.output, /bad user name or password/i);
	for (const {output} of [none, wrong, unknown]) t.notRegex(output, /troupe\/v1/);
	t.is(cluster.broker.counters().loginsRefused, 3);
});

test('what a tool publishes to objects is dropped, at every QoS, and its link is not cut', async t => {
	const cluster = await aCluster(t);
	cluster.commit(1, aPod(1));
	const tool = subscribe(t, [...door(cluster, 'watcher'), '-t', 'troupe/v1/objects/#']);
	t.regex(await tool.next(), /^1 /);
	for (const qos of ['0', '1', '2']) {
		const {code, output} = await ended('mosquitto_pub', [...door(cluster, 'admin'), '-t', web, '-m', 'forged', '-r', '-q', qos]);
		t.is(code, 0, output);
	}
	t.is(cluster.broker.counters().publishesRefused, 3);
	cluster.commit(2, aPod(2));
	t.regex(await tool.next(), /^0 .*"rv":2/);
	const {output} = await ended('mosquitto_sub', [...door(cluster, 'admin'), '-t', web, '-C', '1', '-W', '5']);
	t.regex(output, /"rv":2/);
});

test('a filter that a node may not read is refused at the subscription', async t => {
	const cluster = await aCluster(t);
	const {output} = await ended('mosquitto_sub', [...door(cluster, 'node-a'), '-t', 'troupe/v1/objects/#', '-W', '5', '-d']);
	t.regex(output, /all subscription requests were denied/i);
});
