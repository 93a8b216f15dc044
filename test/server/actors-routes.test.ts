// `/apis/troupe.dev/v1/actors`: what the inspector tells, for those who only look.

import test from 'ava';
import {failure, succeeded} from '../../api/errors.js';
import type {SystemRequest} from '../../api/inspect.js';
import {limits} from '../../api/limits.js';
import {openDoor, type StatusBody} from './door.js';

const actors = '/apis/troupe.dev/v1/actors';

test('the list has the tree of every system, also of those that cannot be reached', async t => {
	const {json, cluster} = await openDoor(t);
	cluster.trees.push(
		{system: 'node-a', tree: undefined, problem: undefined},
		{system: 'node-b', tree: undefined, problem: 'it did not answer'},
	);
	cluster.onInspect((system, request) => succeeded({system, request}));
	const list = await json<{kind: string; items: unknown[]}>(200, 'GET', `${actors}?depth=1`);
	t.is(list.kind, 'ActorTreeList');
	const item = (name: string) => ({metadata: {name}, tree: {system: name, request: {verb: 'tree', place: name, depth: 1}}});
	t.deepEqual(list.items, ['control', 'node-a', 'node-b'].map(item));
	t.deepEqual((await json<{items: unknown[]}>(200, 'GET', `${actors}?place=node-a&depth=1`)).items, [item('node-a')]);
});

test('one actor is looked at by its path, with what the verb may have', async t => {
	const {json, cluster} = await openDoor(t);
	const asked: SystemRequest[] = [];
	cluster.onInspect((_system, request) => {
		asked.push(request);
		return succeeded({verb: request.verb});
	});
	const place = 'control/pods/default.web';
	t.deepEqual(await json(200, 'GET', `${actors}/${place}`), {verb: 'state'});
	await json(200, 'GET', `${actors}/${place}?verb=state&at=a%2Fb&at=&depth=3`);
	await json(200, 'GET', `${actors}/control?verb=top&by=rate&limit=3`);
	await json(200, 'GET', `${actors}/control/a%25b%2Fc?verb=links`);
	t.deepEqual(asked, [
		{verb: 'state', place},
		{verb: 'state', place, at: ['a/b', ''], depth: 3},
		{verb: 'top', place: 'control', by: 'rate', limit: 3},
		{verb: 'links', place: 'control/a%b/c'},
	]);
});

test('what changes, streams or is wrong is refused over HTTP, and nodes see nothing', async t => {
	const {json, cluster, bugs} = await openDoor(t);
	const refused: readonly [number, string, RegExp][] = [
		[400, `${actors}/control?verb=kill`, /"kill" is asked over MQTT/],
		[400, `${actors}/control?verb=trace`, /"trace" is asked over MQTT/],
		[400, `${actors}/control?verb=top`, /^by of "top" is missing$/],
		[400, `${actors}/control?depth=x`, /^depth must be a whole number/],
		[400, `${actors}/control?__proto__=x`, /no parameter/],
		[400, `${actors}/control?colour=x`, /no member "colour"/],
		[400, `${actors}/nowhere`, /^there is no system "nowhere"/],
		[404, `${actors}/control/nobody`, /could not find|no actor at/],
	];
	for (const [status, path, words] of refused) t.regex((await json<StatusBody>(status, 'GET', path)).message, words, path);
	await json(405, 'POST', `${actors}/control`, {});
	for (const path of [actors, `${actors}/control`]) await json(403, 'GET', path, undefined, {authorization: 'Bearer node-a'});
	await json(200, 'GET', actors, undefined, {authorization: 'Bearer tool'});
	t.deepEqual(bugs, []);
	t.deepEqual(cluster.audit, []);
});

test('over HTTP each request has an answer, also of a login that asks far too much', async t => {
	const {call, cluster} = await openDoor(t);
	const tooMany = limits.inspectRefusalsPerSecond * 3;
	let release = (): void => undefined;
	const released = new Promise<void>(resolve => (release = resolve));
	cluster.onInspect(() => released.then(() => succeeded(null)));
	let refused = 0;
	const statuses = await Promise.all(
		Array.from({length: limits.inspectsOpen + tooMany}, async () => {
			const {status} = await call('GET', `${actors}/control?verb=stats`);
			if (status === 429 && ++refused === tooMany) release();
			return status;
		}),
	);
	t.is(statuses.filter(status => status === 200).length, limits.inspectsOpen);
});

test('a list that is larger than one may be says what to ask for', async t => {
	const {call, json, cluster} = await openDoor(t);
	const large = 'x'.repeat(1_000_000);
	for (let at = 0; at * large.length <= limits.inspectListBytes; at++)
		cluster.trees.push({system: `node-${at}`, tree: undefined, problem: undefined});
	cluster.onInspect(() => succeeded(large));
	const {status, text} = await call('GET', actors);
	t.is(status, 413);
	t.regex(text.slice(0, 1_000), /the answer is larger than 33554432 bytes; ask for less with \?depth/);
	t.is(await json(200, 'GET', `${actors}/node-0`), large as never);
});

test('a failure that a system made up is answered as one', async t => {
	const {json, cluster, bugs} = await openDoor(t);
	const error = {...failure('ERR_INVALID'), details: {problems: [null, {path: 'spec', message: 'is missing'}]}};
	cluster.onInspect(() => ({ok: false, error}));
	t.regex((await json<StatusBody>(422, 'GET', `${actors}/control`)).message, /spec: is missing$/);
	t.deepEqual(bugs, []);
});
