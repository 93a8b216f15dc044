// What a broker does for its clients, as far as anybody here relies on it; run against the real one and the one of the virtual world, so
// that the simulation cannot promise what does not hold.

import type {ExecutionContext, TestFn} from 'ava';

export type ContractClient = {
	readonly publish: (topic: string, payload: string, retain?: boolean) => void;
	/** Resolves when the broker has it; what was retained may come later. */
	readonly subscribe: (filter: string) => Promise<void>;
	/** All that was heard, oldest first: `topic=payload`, with a `!` before what was retained. */
	readonly heard: readonly string[];
	readonly isOpen: () => boolean;
	/** Ends in good order. */
	readonly end: () => Promise<void>;
	/** The socket breaks. */
	readonly cut: () => Promise<void>;
};

export type ContractWill = {readonly topic: string; readonly payload: string; readonly retain: boolean};

export type ContractRig = {
	readonly connect: (clientId: string, will?: ContractWill) => Promise<ContractClient>;
	/** Goes on until this holds. */
	readonly until: (holds: () => boolean) => Promise<void>;
};

const will: ContractWill = {topic: 'status/a', payload: 'gone', retain: true};

export function brokerContract(test: TestFn, name: string, open: (t: ExecutionContext) => Promise<ContractRig>): void {
	test(`${name}: what one client publishes arrives at all that subscribed, in order`, async t => {
		const {connect, until} = await open(t);
		const [a, b, c] = [await connect('a'), await connect('b'), await connect('c')];
		await b.subscribe('numbers/+');
		await c.subscribe('numbers/#');
		const sent = Array.from({length: 100}, (_, at) => `numbers/${at % 3}=${at}`);
		for (const each of sent) a.publish(...split(each));
		await until(() => b.heard.length >= sent.length && c.heard.length >= sent.length);
		t.deepEqual(b.heard, sent);
		t.deepEqual(c.heard, sent);
	});

	test(`${name}: filters that overlap bring a message once to each`, async t => {
		const {connect, until} = await open(t);
		const [a, b] = [await connect('a'), await connect('b')];
		await b.subscribe('x/#');
		await b.subscribe('x/+');
		a.publish('x/1', 'one');
		a.publish('x/1', 'two');
		await until(() => b.heard.length >= 2);
		t.deepEqual([...new Set(b.heard)], ['x/1=one', 'x/1=two']);
	});

	test(`${name}: the newest retained message comes to who subscribes later, and an empty one clears it`, async t => {
		const {connect, until} = await open(t);
		const [a, b] = [await connect('a'), await connect('b')];
		a.publish('state/1', 'old', true);
		a.publish('state/1', 'new', true);
		a.publish('state/2', 'other', true);
		a.publish('state/2', '', true);
		await b.subscribe('other');
		a.publish('other', 'after');
		await until(() => b.heard.includes('other=after'));
		await b.subscribe('state/+');
		await until(() => b.heard.length >= 2);
		t.deepEqual(b.heard, ['other=after', '!state/1=new']);
		a.publish('state/1', 'live', true);
		await until(() => b.heard.length >= 3);
		t.is(b.heard.at(-1), 'state/1=live', 'to who has subscribed already it is a message like any other');
	});

	test(`${name}: a will is published when the connection breaks, and not when it ends in good order`, async t => {
		const {connect, until} = await open(t);
		const watcher = await connect('watcher');
		await watcher.subscribe('status/+');
		const polite = await connect('polite', {...will, topic: 'status/polite'});
		const broken = await connect('broken', will);
		await polite.end();
		await broken.cut();
		await until(() => watcher.heard.length >= 1);
		t.deepEqual(watcher.heard, ['status/a=gone']);
		const late = await connect('late');
		await late.subscribe('status/+');
		await until(() => late.heard.length >= 1);
		t.deepEqual(late.heard, ['!status/a=gone'], 'a retained will is kept');
	});

	test(`${name}: what was sent before the connection broke comes before its will`, async t => {
		const {connect, until} = await open(t);
		const watcher = await connect('watcher');
		await watcher.subscribe('status/+');
		const a = await connect('a', will);
		a.publish('status/a', 'here', true);
		await until(() => watcher.heard.length >= 1);
		await a.cut();
		await until(() => watcher.heard.length >= 2);
		t.deepEqual(watcher.heard, ['status/a=here', 'status/a=gone']);
	});

	test(`${name}: a second connection of a client ends the first, whose will is published`, async t => {
		const {connect, until} = await open(t);
		const watcher = await connect('watcher');
		await watcher.subscribe('#');
		const first = await connect('a', will);
		const second = await connect('a', {...will, payload: 'gone again'});
		await until(() => !first.isOpen() && watcher.heard.length >= 1);
		second.publish('word', 'of the second');
		await until(() => watcher.heard.length >= 2);
		t.deepEqual(watcher.heard, ['status/a=gone', 'word=of the second']);
		t.true(second.isOpen());
	});

	test(`${name}: one connection that is cut leaves the others alone`, async t => {
		const {connect, until} = await open(t);
		const [a, b, c] = [await connect('a'), await connect('b'), await connect('c')];
		await b.subscribe('x');
		await c.subscribe('x');
		await b.cut();
		a.publish('x', 'after');
		await until(() => c.heard.length >= 1);
		t.deepEqual([b.heard, c.heard], [[], ['x=after']]);
	});
}

function split(sent: string): [topic: string, payload: string] {
	const [topic = '', payload = ''] = sent.split('=');
	return [topic, payload];
}
