// An Engine has containers of several owners: of others nothing is listed, and nothing goes.

import test from 'ava';
import {create, listOurs, removeNamed} from '../../../agent/docker/engine/calls.js';
import {EngineError, type Docker, type Engine} from '../../../agent/docker/engine/engine.js';
import {labels} from '../../../agent/docker/engine/names.js';

/** An Engine with one container, called `taken`, of that owner. */
function engineWith(owner: string) {
	const removed: string[] = [];
	const filters: unknown[] = [];
	let isThere = true;
	const docker = {
		getContainer: (id: string) => ({
			inspect: () =>
				isThere && id === 'taken'
					? Promise.resolve({Id: 'id-1', Config: {Labels: {[labels.owner]: owner}}})
					: Promise.reject(new EngineError('notFound', 'no such container')),
			remove() {
				removed.push(id);
				isThere = false;
				return Promise.resolve();
			},
		}),
		createContainer: () => (isThere ? Promise.reject(new EngineError('conflict', 'the name is in use')) : Promise.resolve({id: 'id-2'})),
		listContainers(options: {readonly filters: unknown}) {
			filters.push(options.filters);
			return Promise.resolve([]);
		},
	} as unknown as Docker;
	const call: Engine['call'] = (_what, _ms, ask) => ask(docker, new AbortController().signal);
	return {engine: {call} as Engine, removed, filters};
}

test('a container is removed by its name only where it is of this owner, and then by its id', async t => {
	const others = engineWith('b');
	t.is(await removeNamed(others.engine, 'taken', 'a'), 'another owner');
	t.deepEqual(others.removed, []);
	const ours = engineWith('a');
	t.is(await removeNamed(ours.engine, 'free', 'a'), 'none');
	t.is(await removeNamed(ours.engine, 'taken', 'a'), 'removed');
	t.deepEqual(ours.removed, ['id-1']);
});

test('a name that another owner has is refused; what a call of ours left with it makes room', async t => {
	const options = {name: 'taken', Labels: {[labels.owner]: 'a'}};
	await t.throwsAsync(create(engineWith('b').engine, options), {message: /one called "taken" that is not of this node/});
	const {engine, removed} = engineWith('a');
	t.is(await create(engine, options), 'id-2');
	t.deepEqual(removed, ['id-1']);
});

test('containers are asked for by their owner', async t => {
	const {engine, filters} = engineWith('a');
	await listOurs(engine, 'a');
	await listOurs(engine, 'a', 'u-1');
	t.deepEqual(filters, [{label: [`${labels.owner}=a`]}, {label: [`${labels.owner}=a`, `${labels.podUid}=u-1`]}]);
});
