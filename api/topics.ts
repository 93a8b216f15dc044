// Every topic on the bus: one builder and one parser. `docs/architecture.md` says who writes which.

import {clusterScope} from './keys.js';

export const topicPrefix = 'troupe/v1/';

export type Topic =
	/** Retained; the object as the API serves it, for outside tools. */
	| {readonly type: 'object'; readonly plural: string; readonly namespace: string; readonly name: string}
	| {readonly type: 'events'; readonly namespace: string; readonly plural: string; readonly name: string}
	/** What happens in an object that has a history, record by record. */
	| {readonly type: 'history'; readonly plural: string; readonly namespace: string; readonly name: string}
	/** Retained; online, restarting or offline, by the agent and its last will. */
	| {readonly type: 'presence'; readonly node: string}
	| {readonly type: 'beat'; readonly node: string}
	/** What a node uses, and all containers of a pod together, while somebody listens. */
	| {readonly type: 'nodeUsage'; readonly node: string}
	| {readonly type: 'podUsage'; readonly namespace: string; readonly name: string}
	/** Tell, ask, reply and node sync between systems. */
	| {readonly type: 'inbox'; readonly to: string; readonly from: string}
	/** The same for what is large: logs. A connection of its own, so that it never holds up the inbox. */
	| {readonly type: 'bulk'; readonly to: string; readonly from: string}
	/** Control to itself, through the broker: a leader that hears it in time can trust what it hears of nodes. */
	| {readonly type: 'canary'; readonly server: string}
	/** What happens to the actors of a system; the path has slashes. */
	| {readonly type: 'lifecycle'; readonly system: string; readonly path: string}
	/** Retained; that a system of a user's own runs, by itself; empty as its last will. */
	| {readonly type: 'userPresence'; readonly login: string; readonly name: string}
	/** Between systems of one login. */
	| {readonly type: 'userInbox'; readonly login: string; readonly to: string; readonly from: string}
	/** Between control and a user's system: what control asks of it, and what it answers. */
	| {readonly type: 'userControl'; readonly login: string; readonly name: string; readonly way: 'from-control' | 'to-control'}
	/** What a tool asks of running actors, and what it is answered; the id is the tool's own. */
	| {readonly type: 'inspectRequest' | 'inspectReply'; readonly login: string; readonly id: string}
	/** A call of a function. */
	| {readonly type: 'invoke'; readonly namespace: string; readonly name: string}
	/** An answer to a task of a run. */
	| {readonly type: 'answer'; readonly namespace: string; readonly name: string}
	/** What a call of a function by a login is answered; the id is the caller's own. */
	| {readonly type: 'reply'; readonly login: string; readonly id: string};

/** The topic's text. A name that is empty or has a wildcard, a NUL or a slash is a bug of the caller. */
export function formatTopic(topic: Topic): string {
	return topicPrefix + levelsOf(topic).map(checkedLevel).join('/');
}

function levelsOf(topic: Topic): readonly string[] {
	switch (topic.type) {
		case 'object':
			return ['objects', topic.plural, topic.namespace, topic.name];
		case 'events':
			return ['events', topic.namespace, topic.plural, topic.name];
		case 'history':
			return ['history', topic.plural, topic.namespace, topic.name];
		case 'presence':
			return ['nodes', topic.node, 'presence'];
		case 'beat':
			return ['nodes', topic.node, 'beat'];
		case 'nodeUsage':
			return ['metrics', 'nodes', topic.node];
		case 'podUsage':
			return ['metrics', 'pods', topic.namespace, topic.name];
		case 'inbox':
		case 'bulk':
			return ['actors', topic.to, topic.type, topic.from];
		case 'canary':
			return ['canary', topic.server];
		case 'lifecycle':
			return ['actors', topic.system, 'lifecycle', ...topic.path.split('/')];
		case 'userPresence':
			return ['users', topic.login, topic.name, 'presence'];
		case 'userInbox':
			return ['users', topic.login, topic.to, 'inbox', topic.from];
		case 'userControl':
			return ['users', topic.login, topic.name, topic.way];
		case 'inspectRequest':
			return ['inspect', 'requests', topic.login, topic.id];
		case 'inspectReply':
			return ['inspect', 'replies', topic.login, topic.id];
		case 'invoke':
			return ['functions', topic.namespace, topic.name, 'invoke'];
		case 'answer':
			return ['runs', topic.namespace, topic.name, 'answer'];
		case 'reply':
			return ['replies', topic.login, topic.id];
	}
}

/** Whether a text can be one level of a topic. */
export const isLevel = (text: string): boolean => text !== '' && !/[+#\0/]/.test(text);

function checkedLevel(level: string): string {
	if (!isLevel(level)) throw new Error(`${JSON.stringify(level)} cannot be a level of a topic`);
	return level;
}

/** What a topic means; undefined when it is none of ours. */
export function parseTopic(text: string): Topic | undefined {
	if (!text.startsWith(topicPrefix)) return undefined;
	const levels = text.slice(topicPrefix.length).split('/');
	return levels.every(isLevel) ? topicOf(levels) : undefined;
}

function topicOf(levels: readonly string[]): Topic | undefined {
	const [family, a = '', b = '', c = '', ...rest] = levels;
	const is = (count: number, first: string): boolean => levels.length === count && family === first;
	if (is(4, 'objects')) return {type: 'object', plural: a, namespace: b, name: c};
	if (is(4, 'events')) return {type: 'events', namespace: a, plural: b, name: c};
	if (is(4, 'history')) return {type: 'history', plural: a, namespace: b, name: c};
	if (is(3, 'nodes') && (b === 'presence' || b === 'beat')) return {type: b, node: a};
	if (is(3, 'metrics') && a === 'nodes') return {type: 'nodeUsage', node: b};
	if (is(4, 'metrics') && a === 'pods') return {type: 'podUsage', namespace: b, name: c};
	if (is(4, 'actors') && (b === 'inbox' || b === 'bulk')) return {type: b, to: a, from: c};
	if (is(2, 'canary')) return {type: 'canary', server: a};
	if (is(4, 'users') && c === 'presence') return {type: 'userPresence', login: a, name: b};
	if (is(4, 'users') && (c === 'from-control' || c === 'to-control')) return {type: 'userControl', login: a, name: b, way: c};
	if (is(5, 'users') && c === 'inbox') return {type: 'userInbox', login: a, to: b, from: rest[0] ?? ''};
	if (is(4, 'inspect') && (a === 'requests' || a === 'replies'))
		return {type: a === 'requests' ? 'inspectRequest' : 'inspectReply', login: b, id: c};
	if (is(4, 'functions') && c === 'invoke') return {type: 'invoke', namespace: a, name: b};
	if (is(4, 'runs') && c === 'answer') return {type: 'answer', namespace: a, name: b};
	if (is(3, 'replies')) return {type: 'reply', login: a, id: b};
	if (family === 'actors' && b === 'lifecycle' && c !== '') return {type: 'lifecycle', system: a, path: [c, ...rest].join('/')};
	return undefined;
}

/** Whether a topic, or all topics that a filter matches, are the users' own: they begin with a word that is neither ours nor the broker's. */
export const isUserTopic = (text: string): boolean => /^[^+#\0/$][^+#\0/]*(\/|$)/.test(text) && !/^troupe(\/|$)/.test(text);

/** The topic of an object. */
export const objectTopic = (plural: string, namespace: string | undefined, name: string): string =>
	formatTopic({type: 'object', plural, namespace: namespace ?? clusterScope, name});

/** All objects, and whatever else lies under their topics. */
export const objectsFilter = `${topicPrefix}objects/#`;

/** All that is sent to a system, what is large aside. */
export const inboxFilter = (system: string): string => `${topicPrefix}actors/${checkedLevel(system)}/inbox/+`;

/** What is large. */
export const bulkFilter = (system: string): string => `${topicPrefix}actors/${checkedLevel(system)}/bulk/+`;

/** Presence or beats of all nodes. */
export const nodesFilter = (what: 'presence' | 'beat'): string => `${topicPrefix}nodes/+/${what}`;

/** What all nodes use, and all pods. */
export const usageFilters = {nodes: `${topicPrefix}metrics/nodes/+`, pods: `${topicPrefix}metrics/pods/+/+`} as const;

/** All that is sent to a user's system: by others of its login, and by control. */
export const userFilters = (login: string, name: string): readonly string[] => [
	`${topicPrefix}users/${checkedLevel(login)}/${checkedLevel(name)}/inbox/+`,
	formatTopic({type: 'userControl', login, name, way: 'from-control'}),
];

/** What users' systems answer control. */
export const userAnswersFilter = `${topicPrefix}users/+/+/to-control`;

/** Presences of all users' systems. */
export const userPresenceFilter = `${topicPrefix}users/+/+/presence`;

/** Whatever tools ask of running actors. */
export const inspectRequestsFilter = `${topicPrefix}inspect/requests/+/+`;

/** All that the tools of a login are answered. */
export const inspectRepliesFilter = (login: string): string => `${topicPrefix}inspect/replies/${checkedLevel(login)}/+`;

/** All answers to tasks of runs. */
export const runAnswersFilter = `${topicPrefix}runs/+/+/answer`;
