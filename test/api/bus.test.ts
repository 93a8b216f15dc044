// Topics, filters and who may use them.

import test from 'ava';
import {limits} from '../../api/limits.js';
import {filtersOverlap, isFilter, topicMatches} from '../../api/mqtt-filter.js';
import {may, mayRequest, mayRetain, type Identity, type MqttVerb} from '../../api/roles.js';
import {readTopicRights} from '../../api/topic-rights.js';
import {formatTopic, inboxFilter, objectTopic, parseTopic, type Topic} from '../../api/topics.js';

const topics: readonly [topic: Topic, text: string][] = [
	[{type: 'object', plural: 'pods', namespace: 'default', name: 'web-1'}, 'objects/pods/default/web-1'],
	[{type: 'events', namespace: '_', plural: 'nodes', name: 'a'}, 'events/_/nodes/a'],
	[{type: 'history', plural: 'runs', namespace: 'default', name: 'one'}, 'history/runs/default/one'],
	[{type: 'presence', node: 'a'}, 'nodes/a/presence'],
	[{type: 'beat', node: 'a'}, 'nodes/a/beat'],
	[{type: 'nodeUsage', node: 'a'}, 'metrics/nodes/a'],
	[{type: 'podUsage', namespace: 'default', name: 'web-1'}, 'metrics/pods/default/web-1'],
	[{type: 'inbox', to: 'control', from: 'a'}, 'actors/control/inbox/a'],
	[{type: 'userPresence', login: 'ann', name: 'ping'}, 'users/ann/ping/presence'],
	[{type: 'userInbox', login: 'ann', to: 'ping', from: 'pong'}, 'users/ann/ping/inbox/pong'],
	[{type: 'userControl', login: 'ann', name: 'ping', way: 'from-control'}, 'users/ann/ping/from-control'],
	[{type: 'userControl', login: 'ann', name: 'ping', way: 'to-control'}, 'users/ann/ping/to-control'],
	[{type: 'inspectRequest', login: 'ann', id: 'r-1'}, 'inspect/requests/ann/r-1'],
	[{type: 'inspectReply', login: 'ann', id: 'r-1'}, 'inspect/replies/ann/r-1'],
	[{type: 'invoke', namespace: 'default', name: 'resize'}, 'functions/default/resize/invoke'],
	[{type: 'answer', namespace: 'default', name: 'one'}, 'runs/default/one/answer'],
	[{type: 'reply', login: 'ann', id: 'r-1'}, 'replies/ann/r-1'],
	[{type: 'lifecycle', system: 'a', path: 'pods/default.web-1/main'}, 'actors/a/lifecycle/pods/default.web-1/main'],
];

for (const [topic, text] of topics) {
	test(`the topic ${text} is read back as it was built`, t => {
		t.is(formatTopic(topic), `troupe/v1/${text}`);
		t.deepEqual(parseTopic(`troupe/v1/${text}`), topic);
	});
}

test('a name that would be more than a name is refused', t => {
	for (const name of ['', 'a/b', 'a+', '#', 'a\0']) t.throws(() => formatTopic({type: 'beat', node: name}), {message: /cannot be a level/});
	for (const text of [
		'troupe/v1/nodes/+/beat',
		'troupe/v1/objects/pods/#',
		'troupe/v1/nodes//beat',
		'troupe/v2/nodes/a/beat',
		'troupe/v1/nodes/a/beat/b',
		'',
	]) {
		t.is(parseTopic(text), undefined, text);
	}
	t.is(objectTopic('nodes', undefined, 'a'), 'troupe/v1/objects/nodes/_/a');
});

test('filters match as MQTT says', t => {
	const cases: readonly [string, string, boolean][] = [
		['a/b', 'a/b', true],
		['a/b', 'a/b/c', false],
		['a/+', 'a/b', true],
		['a/+', 'a', false],
		['a/+', 'a/', true],
		['a/#', 'a', true],
		['a/#', 'a/b/c', true],
		['#', 'a', true],
		['+', 'a', true],
		['+', '/a', false],
		['+/+', '/a', true],
		['#', '$SYS/x', false],
		['+/x', '$SYS/x', false],
		['$SYS/#', '$SYS/x', true],
	];
	for (const [filter, topic, expected] of cases) t.is(topicMatches(filter, topic), expected, `${filter} ${topic}`);
	for (const filter of ['a/+/b', '#', 'a/#', '+']) t.true(isFilter(filter), filter);
	for (const filter of ['', 'a/#/b', 'a+', 'a/b#', 'a\0']) t.false(isFilter(filter), filter);
});

test('filters overlap when one topic could match both', t => {
	const cases: readonly [string, string, boolean][] = [
		['a/b', 'a/b', true],
		['a/+', '+/b', true],
		['a/+', 'b/+', false],
		['a/#', 'a', true],
		['a/#', '+/b/c', true],
		['a/b', 'a/b/c', false],
		['#', 'x/y', true],
		['a/+/c', 'a/#', true],
		['a/+/c', 'a/b/d', false],
		['#', '$SYS/x', false],
	];
	for (const [a, b, expected] of cases) {
		t.is(filtersOverlap(a, b), expected, `${a} ${b}`);
		t.is(filtersOverlap(b, a), expected, `${b} ${a}`);
	}
});

const admin: Identity = {name: 'admin', role: 'admin'};
const view: Identity = {name: 'eve', role: 'view'};
const tool: Identity = {name: 'probe', role: 'tool'};
const edit: Identity = {name: 'ann', role: 'edit'};
const scraper: Identity = {name: 'prometheus', role: 'metrics', topics: {publish: ['#'], subscribe: ['#']}};
const node: Identity = {name: 'node-a', role: 'node', node: 'node-a'};

const rights: readonly [who: Identity, verb: MqttVerb, topic: string, allowed: boolean][] = [
	[node, 'publish', 'actors/control/inbox/node-a', true],
	[node, 'publish', 'actors/control/inbox/node-b', false],
	[node, 'publish', 'actors/node-b/inbox/node-a', false],
	[node, 'publish', 'nodes/node-a/presence', true],
	[node, 'publish', 'nodes/node-b/presence', false],
	[node, 'publish', 'nodes/node-a/beat', true],
	[node, 'publish', 'actors/node-a/lifecycle/pods/x', false],
	[node, 'publish', 'nodes/node-a/metrics/cpu', false],
	[node, 'publish', 'actors/control/lifecycle/pods/x', false],
	[node, 'publish', 'objects/pods/default/a', false],
	[node, 'forward', 'actors/node-a/inbox/control', true],
	[node, 'forward', 'actors/node-b/inbox/control', false],
	[node, 'forward', 'objects/pods/default/a', false],
	[node, 'subscribe', 'actors/node-a/inbox/+', true],
	[node, 'subscribe', 'actors/node-b/inbox/+', false],
	[node, 'subscribe', 'objects/#', false],
	[tool, 'subscribe', 'objects/#', true],
	[tool, 'forward', 'objects/pods/default/a', true],
	[tool, 'forward', 'events/default/pods/a', true],
	[tool, 'forward', 'actors/node-a/inbox/control', false],
	[tool, 'subscribe', 'actors/node-a/inbox/+', false],
	[tool, 'publish', 'functions/default/f/invoke', false],
	[tool, 'publish', 'objects/pods/default/a', false],
	[tool, 'forward', 'replies/probe/1', false],
	[scraper, 'connect', '', false],
	[scraper, 'subscribe', 'objects/#', false],
	[scraper, 'forward', 'nodes/node-a/presence', false],
	[scraper, 'publish', 'inspect/requests/prometheus/1', false],
	[view, 'forward', 'metrics/pods/default/a', true],
	[view, 'subscribe', 'metrics/#', true],
	[node, 'forward', 'metrics/nodes/node-a', false],
	[admin, 'publish', 'metrics/nodes/node-a', false],
	[view, 'forward', 'actors/control/lifecycle/pods/x', true],
	[view, 'forward', 'nodes/node-a/presence', true],
	[view, 'publish', 'streams/eve~eve~x/up', false],
	[view, 'publish', 'actors/control/inbox/eve', false],
	[admin, 'publish', 'actors/control/inbox/admin', false],
	[admin, 'publish', 'actors/control/inbox/eve', false],
	[admin, 'forward', 'actors/node-a/inbox/control', false],
	[admin, 'publish', 'nodes/node-a/presence', false],
	[admin, 'publish', 'streams/admin~node-a~x/up', false],
	[node, 'publish', 'streams/admin~node-a~x/up', false],
	[edit, 'publish', 'users/ann/ping/presence', true],
	[edit, 'publish', 'users/ann/ping/inbox/pong', true],
	[edit, 'publish', 'users/ann/ping/to-control', true],
	[edit, 'publish', 'users/ann/ping/from-control', false],
	[edit, 'publish', 'users/ann/ping/other', false],
	[edit, 'publish', 'users/bob/ping/presence', false],
	[edit, 'publish', 'users/bob/ping/inbox/ping', false],
	[edit, 'publish', 'users/bob/ping/to-control', false],
	[edit, 'forward', 'users/ann/ping/presence', true],
	[edit, 'forward', 'users/ann/ping/inbox/pong', true],
	[edit, 'forward', 'users/ann/ping/from-control', true],
	[edit, 'forward', 'users/ann/ping/to-control', false],
	[edit, 'forward', 'users/bob/ping/presence', false],
	[edit, 'forward', 'users/bob/ping/inbox/pong', false],
	[edit, 'subscribe', 'users/ann/+/presence', true],
	[edit, 'subscribe', 'users/bob/+/presence', false],
	[admin, 'publish', 'users/admin/ping/inbox/pong', true],
	[admin, 'publish', 'users/ann/ping/inbox/pong', false],
	[admin, 'forward', 'users/ann/ping/inbox/pong', false],
	[view, 'publish', 'users/eve/ping/presence', false],
	[view, 'forward', 'users/eve/ping/inbox/pong', false],
	[tool, 'publish', 'users/probe/ping/inbox/pong', false],
	[node, 'publish', 'users/node-a/ping/presence', false],
	[node, 'forward', 'users/node-a/ping/inbox/pong', false],
	[view, 'publish', 'inspect/requests/eve/1', true],
	[view, 'publish', 'inspect/requests/ann/1', false],
	[view, 'publish', 'inspect/replies/eve/1', false],
	[view, 'forward', 'inspect/replies/eve/1', true],
	[view, 'forward', 'inspect/replies/ann/1', false],
	[view, 'forward', 'inspect/requests/eve/1', false],
	[view, 'subscribe', 'inspect/replies/eve/+', true],
	[view, 'subscribe', 'inspect/replies/ann/+', false],
	[admin, 'forward', 'inspect/replies/ann/1', false],
	[admin, 'publish', 'functions/default/f/invoke', true],
	[edit, 'publish', 'functions/default/f/invoke', true],
	[view, 'publish', 'functions/default/f/invoke', false],
	[node, 'publish', 'functions/default/f/invoke', false],
	[admin, 'forward', 'functions/default/f/invoke', false],
	[admin, 'publish', 'runs/default/one/answer', true],
	[edit, 'publish', 'runs/default/one/answer', true],
	[view, 'publish', 'runs/default/one/answer', false],
	[tool, 'publish', 'runs/default/one/answer', false],
	[node, 'publish', 'runs/default/one/answer', false],
	[admin, 'forward', 'runs/default/one/answer', false],
	[view, 'forward', 'history/runs/default/one', true],
	[tool, 'subscribe', 'history/runs/default/+', true],
	[admin, 'publish', 'history/runs/default/one', false],
	[node, 'forward', 'history/runs/default/one', false],
	[edit, 'forward', 'replies/ann/1', true],
	[edit, 'forward', 'replies/bob/1', false],
	[edit, 'publish', 'replies/ann/1', false],
	[edit, 'subscribe', 'replies/ann/+', true],
	[edit, 'subscribe', 'replies/bob/+', false],
	[node, 'forward', 'replies/node-a/1', false],
	[node, 'publish', 'inspect/requests/node-a/1', false],
	[node, 'forward', 'inspect/replies/node-a/1', false],
];

for (const [who, verb, topic, allowed] of rights) {
	test(`${who.role} ${who.name} ${allowed ? 'may' : 'may not'} ${verb} ${topic}`, t => t.is(may(who, verb, `troupe/v1/${topic}`), allowed));
}

const gateway: Identity = {name: 'gw', role: 'tool', topics: {publish: ['sensors/#'], subscribe: ['alerts/+']}};
const plain: Identity = {name: 'ed', role: 'edit'};

const ofUsers: readonly [who: Identity, verb: MqttVerb, topic: string, allowed: boolean][] = [
	[gateway, 'publish', 'sensors/kitchen/temperature', true],
	[gateway, 'publish', 'sensors', true],
	[gateway, 'publish', 'alerts/fire', false],
	[gateway, 'publish', 'sensor/kitchen', false],
	[gateway, 'forward', 'alerts/fire', true],
	[gateway, 'forward', 'alerts/fire/now', false],
	[gateway, 'forward', 'sensors/kitchen', false],
	[gateway, 'subscribe', 'alerts/#', true],
	[gateway, 'subscribe', 'sensors/#', false],
	[gateway, 'publish', 'troupe/v1/objects/pods/default/a', false],
	[gateway, 'publish', 'troupe/v1/functions/default/f/invoke', false],
	[plain, 'publish', 'sensors/a', false],
	[plain, 'forward', 'sensors/a', false],
	[plain, 'subscribe', 'sensors/#', false],
	[admin, 'publish', 'anything/at/all', true],
	[admin, 'forward', 'anything/at/all', true],
	[admin, 'subscribe', 'anything/#', true],
	[admin, 'subscribe', '+/x', true],
	[admin, 'publish', '/a', false],
	[admin, 'publish', 'troupe/other', false],
	[admin, 'publish', 'troupe', false],
	[admin, 'publish', '$SYS/a', false],
	[{...node, topics: {publish: ['sensors/#'], subscribe: ['sensors/#']}}, 'publish', 'sensors/a', false],
	[{...node, topics: {publish: ['sensors/#'], subscribe: ['sensors/#']}}, 'forward', 'sensors/a', false],
];

for (const [who, verb, topic, allowed] of ofUsers) {
	test(`of users' topics ${who.role} ${who.name} ${allowed ? 'may' : 'may not'} ${verb} ${topic}`, t =>
		t.is(may(who, verb, topic), allowed));
}

test('what a token says of topics changes nothing over HTTP', t => {
	for (const verb of ['get', 'create', 'delete'])
		for (const resource of ['pods', 'secrets', 'functions/invoke', 'troupe/tokens'])
			t.is(mayRequest(gateway, verb, resource), mayRequest(tool, verb, resource), `${verb} ${resource}`);
});

test('a call of a function, and an answer to a task, is no message that stays', t => {
	t.false(mayRetain('troupe/v1/functions/default/f/invoke'));
	t.false(mayRetain('troupe/v1/runs/default/one/answer'));
	t.true(mayRetain('sensors/kitchen'));
});

test('what is said of topics is looked at whole', t => {
	const wrong: readonly [unknown, RegExp][] = [
		['sensors/#', /topics must be an object, got "sensors/],
		[{publsh: []}, /topics has no member "publsh"; it has publish, subscribe/],
		[{publish: 'sensors/#'}, /publish must be a list of filters/],
		[{publish: ['#']}, /publish must be filters such as .* got "#"/],
		[{subscribe: ['troupe/v1/#']}, /subscribe must be filters .* got "troupe/],
		[{subscribe: ['a\ntopic readwrite #']}, /subscribe must be filters/],
		[{subscribe: [' a']}, /subscribe must be filters/],
		[{subscribe: ['a/'.repeat(limits.brokerTopicLevels)]}, /subscribe must be filters/],
		[{subscribe: ['a'.repeat(limits.tokenTopicCharacters + 1)]}, /subscribe must be filters/],
		[{publish: Array.from({length: limits.tokenTopics + 1}, (_, at) => `a/${at}`)}, /publish must be at most 32 filters, got 33/],
		[{messagesPerSecond: 0}, /messagesPerSecond must be a whole number from 1/],
		[{bytesPerSecond: 1.5}, /bytesPerSecond must be a whole number from 16384/],
	];
	for (const [value, message] of wrong) {
		const read = readTopicRights(value);
		t.regex(read.ok ? 'taken' : read.message, message);
	}
	const right = {publish: ['sensors/#', 'a/+/b c'], subscribe: [], messagesPerSecond: 5, bytesPerSecond: 20_000};
	t.deepEqual(readTopicRights(right), {ok: true, value: right});
	t.deepEqual(readTopicRights(undefined), {ok: true, value: undefined});
});

test('everyone may subscribe to everything, and is forwarded what they may read', t => {
	for (const who of [admin, view, tool, node]) t.true(may(who, 'subscribe', '#'));
	t.false(may(admin, 'subscribe', 'a/#/b'));
	t.false(may(admin, 'forward', '$SYS/broker'));
});

test('no client is control, and a node is the one it says', t => {
	t.false(may({name: 'control', role: 'admin'}, 'connect', ''));
	t.false(may({name: 'node-a', role: 'node', node: 'node-b'}, 'connect', ''));
	t.false(may({name: 'node-a', role: 'node'}, 'connect', ''));
	t.false(may({name: 'a/#', role: 'admin'}, 'subscribe', '#'));
	t.true(may(node, 'connect', ''));
});

test('over HTTP, viewers and tools read, editors write, nodes ask nothing', t => {
	t.true(mayRequest(view, 'list', 'pods'));
	t.false(mayRequest(view, 'delete', 'pods'));
	t.false(mayRequest(tool, 'create', 'pods'));
	t.true(mayRequest({name: 'ed', role: 'edit'}, 'patch', 'replicasets'));
	t.true(mayRequest(admin, 'delete', 'nodes'));
	t.false(mayRequest(node, 'get', 'pods'));
	for (const who of [view, tool])
		for (const verb of ['get', 'list', 'watch']) {
			t.false(mayRequest(who, verb, 'secrets'));
			t.false(mayRequest(who, verb, 'secrets/status'));
		}
	t.true(mayRequest({name: 'ed', role: 'edit'}, 'get', 'secrets'));
});

test('below troupe/v1/ who is not a node publishes nothing, but for what it asks of actors and functions, answers to tasks, and what systems of its own say', t => {
	const everyTopic = topics.map(([topic]) => formatTopic(topic));
	for (const who of [view, tool])
		t.deepEqual(
			everyTopic.filter(topic => may(who, 'publish', topic)),
			[],
		);
	t.deepEqual(
		everyTopic.filter(topic => may(edit, 'publish', topic)),
		[
			...['presence', 'inbox/pong', 'to-control'].map(what => `troupe/v1/users/ann/ping/${what}`),
			'troupe/v1/inspect/requests/ann/r-1',
			'troupe/v1/functions/default/resize/invoke',
			'troupe/v1/runs/default/one/answer',
		],
	);
	t.deepEqual(
		everyTopic.filter(topic => may(admin, 'publish', topic)),
		['troupe/v1/functions/default/resize/invoke', 'troupe/v1/runs/default/one/answer'],
	);
	t.is(inboxFilter('node-a'), 'troupe/v1/actors/node-a/inbox/+');
});
