import test from 'ava';
import {AppError} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import type {JsonObject} from '../../api/object.js';
import {changeObject} from '../../cli/cluster/changes.js';
import type {Client, Request} from '../../cli/client.js';
import {resourceOf} from '../../cli/cluster/resources.js';

/** A server whose object is changed by somebody else between so many reads and the writes that follow them. */
function serverOf(othersChange: number) {
	let version = 1;
	let reads = 0;
	const written: JsonObject[] = [];
	const json = ({method, body}: Request): Promise<unknown> => {
		const live = {metadata: {name: 'web', resourceVersion: String(version)}, spec: {replicas: version}};
		if (method !== 'PATCH') {
			reads++;
			if (reads <= othersChange) version++;
			return Promise.resolve(live);
		}
		const {metadata} = body as {readonly metadata: {readonly resourceVersion?: string}};
		const isConflict = metadata.resourceVersion !== undefined && metadata.resourceVersion !== String(version);
		if (isConflict) return Promise.reject(new AppError('ERR_CONFLICT', {resource: 'replicasets', name: 'web'}));
		written.push(body as JsonObject);
		return Promise.resolve(live);
	};
	return {client: {json} as unknown as Client, written, reads: () => reads};
}

const one = {resource: resourceOf('replicasets'), namespace: 'default', name: 'web'};
const oneMore = ({spec}: {readonly spec?: unknown}): JsonObject => ({spec: {replicas: (spec as {replicas: number}).replicas + 1}});

test('what others change meanwhile is read again, and not written over', async t => {
	const {client, written} = serverOf(2);
	t.true((await changeObject(client, one, oneMore, false)).isChanged);
	t.deepEqual(written, [{metadata: {resourceVersion: '3'}, spec: {replicas: 4}}]);
});

test('who is always too late gives up and says so', async t => {
	const {client, written, reads} = serverOf(Infinity);
	await t.throwsAsync(changeObject(client, one, oneMore, false), {code: 'ERR_CONFLICT'});
	t.deepEqual([written, reads()], [[], limits.changeTries]);
});

test('where nothing is to be changed nothing is written', async t => {
	const {client, written} = serverOf(0);
	t.false((await changeObject(client, one, () => undefined, false)).isChanged);
	t.deepEqual(written, []);
});
