// A broker whose messages go to functions, as a server of control puts them together: who may, what is acknowledged when, and what is answered.

import test, {type ExecutionContext} from 'ava';
import {AppError} from '../../api/errors.js';
import {objectKey} from '../../api/keys.js';
import type {FunctionObject} from '../../api/kinds/function.js';
import {isMetered, mayRetain, type Identity} from '../../api/roles.js';
import type {CallWhole, Delivery} from '../../server/functions/delivery.js';
import {createFunctionMessages} from '../../server/functions/function-messages.js';
import {eachIts} from '../../server/message-taker.js';
import {createTopicMessages} from '../../server/triggers/topic-messages.js';
import {createTopicTriggers} from '../../server/triggers/topic-triggers.js';
import {functionTakers} from './_takers.js';
import {event, hearing, loggedIn, passwordOf, settled, startBroker} from '../system/broker/broker-rig.js';

const logins: readonly Identity[] = [
	{name: 'ann', role: 'edit'},
	{name: 'bob', role: 'edit'},
	{name: 'gw', role: 'tool', topics: {publish: ['sensors/#']}},
];

const sum: CallWhole = (_, {body}) => {
	const {x, y} = JSON.parse(body.toString()) as {x: number; y: number};
	return Promise.resolve({status: 200, contentType: 'application/json', body: Buffer.from(JSON.stringify({sum: x + y}))});
};

/** `accept` is what the engine does with a delivery. */
async function openDoor(t: ExecutionContext, accept: (delivery: Delivery) => Promise<string>) {
	const triggers = createTopicTriggers();
	const spec = {triggers: [{name: 'any', topic: 'sensors/#'}]};
	triggers.note(objectKey('functions', 'default', 'f'), {metadata: {name: 'f'}, spec} as unknown as FunctionObject);
	const onRefused = (): void => undefined;
	const messages = eachIts(
		createTopicMessages({triggers, takers: functionTakers(accept), onRefused}),
		createFunctionMessages({
			deliveries: {accept},
			call: sum,
			publish: (topic, payload) => broker.publish(topic, payload, {retain: false}),
			onRefused,
		}),
	);
	const {broker, port} = await startBroker(t, {
		authenticate: (name, password) => (password === passwordOf(name ?? '') ? logins.find(each => each.name === name) : undefined),
		mayRetain,
		metered: isMetered,
		accept: messages.accept,
	});
	return {broker, port};
}

const invoke = 'troupe/v1/functions/default/sum/invoke';

test('a message that triggers is acknowledged when it is committed, and its connection ends where it is not', async t => {
	const commits: (() => void)[] = [];
	let isFull = false;
	const {broker, port} = await openDoor(t, () =>
		isFull ? Promise.reject(new AppError('ERR_BUSY', {message: 'full'})) : new Promise(resolve => commits.push(() => resolve('id'))),
	);
	const client = await loggedIn(t, port, 'gw');
	let isAcknowledged = false;
	const published = client.publishAsync('sensors/a', '1', {qos: 1}).then(() => (isAcknowledged = true));
	while (commits.length === 0) await new Promise(resolve => setImmediate(resolve));
	t.false(isAcknowledged);
	commits[0]?.();
	await published;
	isFull = true;
	client.publish('sensors/a', '2', {qos: 1});
	await event(client, 'close');
	t.is(broker.counters().cutNotTaken, 1);
	t.is(broker.counters().publishesRefused, 0);
});

test('a call at QoS 0 is answered to its login alone; a login without the right, and a call that would stay, call nothing', async t => {
	const made: Delivery[] = [];
	const {broker, port} = await openDoor(t, delivery => {
		made.push(delivery);
		return Promise.resolve('id');
	});
	const [ann, bob, gw] = await Promise.all(['ann', 'bob', 'gw'].map(async name => loggedIn(t, port, name)));
	if (ann === undefined || bob === undefined || gw === undefined) return t.fail();
	const [forAnn, forBob] = [hearing(ann), hearing(bob)];
	await Promise.all([ann, bob].map(each => each.subscribeAsync('#')));
	await ann.publishAsync(invoke, '{"id": "1", "params": {"x": 1, "y": 2}}', {qos: 0});
	await forAnn.until(heard => heard.length === 1);
	t.deepEqual(forAnn.heard, [{topic: 'troupe/v1/replies/ann/1', text: '{"id":"1","status":200,"answer":{"sum":3}}', retain: false}]);
	await gw.publishAsync(invoke, '{"id": "1"}', {qos: 1});
	await ann.publishAsync(invoke, '{"id": "2"}', {qos: 1, retain: true});
	t.is(broker.counters().publishesRefused, 2);
	t.is(made.length, 0);
	await ann.publishAsync(invoke, '{"id": "3"}', {qos: 1});
	t.deepEqual(made[0]?.reply, {type: 'topic', topic: 'troupe/v1/replies/ann/3', id: '3'});
	await settled(bob);
	t.deepEqual(forBob.heard, []);
});
