// Who may do what, over MQTT and over HTTP: one table of roles for both doors.
//
// A subscription is granted when its filter can match anything that may be read; what is forwarded is checked topic by topic,
// so `#` shows each client what it may see and no more. Inboxes are read by their owner alone, canaries by control.
// Below troupe/v1/ only nodes publish, and logins that may write objects: to the topics of their own actor systems, to functions and to runs of workflows.
// The users' own topics are for admins, and for tokens that say which; what such a token says changes nothing over HTTP.

import {isChange, type ToolRequest} from './inspect.js';
import {controlSystem} from './keys.js';
import {filtersOverlap, isFilter} from './mqtt-filter.js';
import {matchesAny, type TopicRights} from './topic-rights.js';
import {bulkFilter, inboxFilter, isLevel, isUserTopic, parseTopic, topicPrefix, type Topic} from './topics.js';

export type Role =
	| 'admin'
	| 'edit'
	| 'view'
	| 'node'
	| 'tool'
	/** Reads `/metrics`, and nothing else. */
	| 'metrics'
	/** May be traded for a node's own credential, and nothing else. */
	| 'join';

export type Identity = {
	/** The login: unique over nodes and tokens, never `control`. */
	readonly name: string;
	readonly role: Role;
	/** The node whose agent this is. */
	readonly node?: string | undefined;
	/** Of the token that was shown: another one of the same name is another login. Nothing can be learned from it. */
	readonly credential?: string | undefined;
	/** What its token says of the users' own topics. */
	readonly topics?: TopicRights | undefined;
};

export type MqttVerb = 'connect' | 'publish' | 'subscribe' | 'forward';

/** Whether a client may do this on the bus; for `connect` the topic means nothing. */
export function may(identity: Identity, verb: MqttVerb, topic: string): boolean {
	if (!isSound(identity) || identity.role === 'join' || identity.role === 'metrics') return false;
	switch (verb) {
		case 'connect':
			return true;
		case 'publish':
			return isUserTopic(topic) ? mayUse(identity, 'publish', topic) : mayPublish(identity, parseTopic(topic));
		case 'subscribe':
			return isFilter(topic) && (mayAskForAll(identity, topic) || readableFilters(identity).some(filter => filtersOverlap(filter, topic)));
		case 'forward':
			return isUserTopic(topic) ? mayUse(identity, 'subscribe', topic) : mayRead(identity, parseTopic(topic));
	}
}

/** No client is `control`, and a node is the node it says. */
const isSound = ({name, role, node}: Identity): boolean =>
	isLevel(name) && name !== controlSystem && (role === 'node' ? node === name : node === undefined);

/** A topic of the users' own. */
function mayUse({role, topics}: Identity, verb: 'publish' | 'subscribe', topic: string): boolean {
	switch (role) {
		case 'admin':
			return true;
		case 'edit':
		case 'view':
		case 'tool':
			return matchesAny(topics?.[verb], topic);
		case 'metrics':
		case 'node':
		case 'join':
			return false;
	}
}

/** Whether a filter can match any topic that is a user's own, and the identity reads them all. */
const mayAskForAll = ({role}: Identity, filter: string): boolean => role === 'admin' && (isUserTopic(filter) || /^[+#]/.test(filter));

function mayPublish(identity: Identity, topic: Topic | undefined): boolean {
	if (topic === undefined) return false;
	const {name, role} = identity;
	switch (topic.type) {
		case 'object':
		case 'events':
		case 'history':
		case 'lifecycle':
		case 'canary':
		case 'nodeUsage':
		case 'podUsage':
			return false;
		case 'presence':
		case 'beat':
			return role === 'node' && topic.node === name;
		case 'inbox':
		case 'bulk':
			// The sender is who it says; nodes talk to the control plane only.
			return role === 'node' && topic.from === name && topic.to === controlSystem;
		case 'userPresence':
		case 'userInbox':
			return runsActors(role) && topic.login === name;
		case 'userControl':
			return runsActors(role) && topic.login === name && topic.way === 'to-control';
		case 'inspectRequest':
			// Who may ask what is judged by the request itself.
			return role !== 'node' && topic.login === name;
		case 'invoke':
			return mayRequest(identity, 'create', invokeResource);
		case 'answer':
			return mayRequest(identity, 'update', 'runs');
		case 'inspectReply':
		case 'reply':
			return false;
	}
}

/** Who may have actor systems of their own. Logins that only read write nothing anywhere: a token that is handed to a dashboard stays harmless. */
const runsActors = (role: Role): boolean => role === 'admin' || role === 'edit';

function mayRead(identity: Identity, topic: Topic | undefined): boolean {
	if (topic === undefined) return false;
	const {name, role} = identity;
	switch (topic.type) {
		case 'object':
		case 'events':
		case 'history':
		case 'lifecycle':
		case 'nodeUsage':
		case 'podUsage':
			return role !== 'node';
		case 'presence':
		case 'beat':
			return role !== 'node' || topic.node === name;
		case 'inbox':
		case 'bulk':
			return topic.to === name;
		case 'canary':
			return false;
		case 'userPresence':
		case 'userInbox':
			return runsActors(role) && topic.login === name;
		case 'userControl':
			return runsActors(role) && topic.login === name && topic.way === 'from-control';
		case 'inspectRequest':
		case 'invoke':
		case 'answer':
			return false;
		case 'inspectReply':
			return role !== 'node' && topic.login === name;
		case 'reply':
			return mayRequest(identity, 'create', invokeResource) && topic.login === name;
	}
}

/** Filters that together match all that the identity may read, and possibly more: forwarding decides. */
function readableFilters({name, role, topics}: Identity): readonly string[] {
	const own = [inboxFilter(name), bulkFilter(name)];
	if (role === 'node') return [...own, `${topicPrefix}nodes/${name}/#`];
	const ofUser = runsActors(role) ? [`users/${name}/#`, `replies/${name}/+`] : [];
	return [
		...own,
		...(topics?.subscribe ?? []),
		...[
			'objects/+/+/+',
			'events/+/+/+',
			'history/+/+/+',
			'nodes/#',
			'metrics/nodes/+',
			'metrics/pods/+/+',
			'actors/+/lifecycle/#',
			`inspect/replies/${name}/+`,
			...ofUser,
		].map(filter => topicPrefix + filter),
	];
}

/** Whether a client's message may stay at the broker: a request that is carried out whenever another server begins to lead may not. */
export function mayRetain(topic: string): boolean {
	const type = parseTopic(topic)?.type;
	return type !== 'inspectRequest' && type !== 'invoke' && type !== 'answer';
}

/** Whether publishes to the topic count against the rate of their login. */
export function isMetered(topic: string): boolean {
	const type = parseTopic(topic)?.type;
	return isUserTopic(topic) || type === 'invoke' || type === 'answer';
}

/** Whether the identity may ask this of the actors of the cluster: looks are for every reader, changes for admins. */
export function mayInspect(identity: Identity, verb: ToolRequest['verb']): boolean {
	if (!isSound(identity)) return false;
	switch (identity.role) {
		case 'admin':
			return true;
		case 'edit':
		case 'view':
		case 'tool':
			return !isChange(verb);
		case 'metrics':
		case 'node':
		case 'join':
			return false;
	}
}

/** Whether the identity may change what a kind keeps to admins, of objects that it may write. */
export const mayChangeGuarded = ({role}: Identity): boolean => role === 'admin';

const readVerbs = ['get', 'list', 'watch'];

/** Resources of our own that are not for everyone who may write objects. */
export const tokensResource = 'troupe/tokens';
export const joinResource = 'troupe/join';
export const backupResource = 'troupe/backup';
export const brokerConfigResource = 'troupe/broker-config';
/** Images of nodes: who may write objects brings some. */
export const imagesResource = 'troupe/images';
/** The uploaded code of functions. */
export const artifactsResource = 'troupe/artifacts';
/** To call functions. */
export const invokeResource = 'functions/invoke';
/** To try ways from a node itself; from a pod it takes what port-forward takes. */
export const nodeWaysResource = 'troupe/node-ways';
/** To look at actors; what changes them is judged by `mayInspect`. */
export const actorsResource = 'troupe/actors';

/** Figures of servers and nodes, and what is to be scraped: for the role `metrics`, and who reads objects learns nothing new there. */
export const metricsResource = 'troupe/metrics';

const adminResources = [tokensResource, backupResource, brokerConfigResource, nodeWaysResource];

/** Whether the identity may do this to a resource (`pods`, `pods/log`, `clusterconfigs`) over HTTP; nodes have nothing to ask there yet. */
export function mayRequest(identity: Identity, verb: string, resource: string): boolean {
	if (!isSound(identity)) return false;
	if (adminResources.includes(resource)) return identity.role === 'admin';
	if (resource === joinResource) return identity.role === 'join';
	switch (identity.role) {
		case 'admin':
		case 'edit':
			return true;
		case 'view':
		case 'tool':
			// As Kubernetes' own role of that name: a reader of Secrets can do what their values allow.
			return readVerbs.includes(verb) && resource.split('/')[0] !== 'secrets';
		case 'metrics':
			return verb === 'get' && resource === metricsResource;
		case 'node':
		case 'join':
			return false;
	}
}
