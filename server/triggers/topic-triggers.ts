// All triggers that name MQTT topics, by the levels of their filters: what a message matches is found without looking at the others. They follow
// every change of a Function or a Workflow.

import type {ObjectKey} from '../../api/keys.js';
import {targetOf, type Occasion, type Triggered} from './occasion.js';

export type TopicTrigger = Pick<Occasion, 'target' | 'trigger'> & {readonly filter: string};

export type TopicTriggers = {
	/** The object as it is from now on; undefined: there is none any more. */
	readonly note: (key: ObjectKey, object: Triggered | undefined) => void;
	/** Those that the topic matches, as far as so many. */
	readonly match: (topic: string, most: number) => readonly TopicTrigger[];
	/** The first levels of all filters: words. Whoever hears all below them hears what is needed. */
	readonly firstLevels: () => readonly string[];
	/** Called when a first level came, or went. */
	readonly onFirstLevels: (listener: () => void) => void;
};

/** `below` are those whose filter goes on with `#`. */
type Node = {children: Map<string, Node> | undefined; here: Set<TopicTrigger> | undefined; below: Set<TopicTrigger> | undefined};

const newNode = (): Node => ({children: undefined, here: undefined, below: undefined});
const isEmpty = ({children, here, below}: Node): boolean => children === undefined && here === undefined && below === undefined;

export function createTopicTriggers(): TopicTriggers {
	const root = newNode();
	const ofObjects = new Map<ObjectKey, readonly TopicTrigger[]>();
	let tell = (): void => undefined;
	return {
		note(key, object) {
			const before = root.children?.size ?? 0;
			const [old, own] = [ofObjects.get(key) ?? [], object === undefined ? [] : topicTriggersOf(key, object)];
			const first = new Set(old.map(levelOf));
			for (const trigger of old) remove(root, trigger);
			for (const trigger of own) add(root, trigger);
			if (own.length === 0) ofObjects.delete(key);
			else ofObjects.set(key, own);
			if (before !== (root.children?.size ?? 0) || own.some(trigger => !first.has(levelOf(trigger)))) tell();
		},
		match(topic, most) {
			const found: TopicTrigger[] = [];
			collect(root, topic.split('/'), 0, found, most);
			return found;
		},
		firstLevels: () => [...(root.children?.keys() ?? [])],
		onFirstLevels: listener => void (tell = listener),
	};
}

const levelOf = ({filter}: TopicTrigger): string => filter.split('/', 1)[0] ?? '';

function topicTriggersOf(key: ObjectKey, {spec}: Triggered): readonly TopicTrigger[] {
	const target = targetOf(key);
	if (target === undefined) return [];
	return (spec?.triggers ?? []).flatMap(trigger => (trigger.topic === undefined ? [] : [{target, trigger, filter: trigger.topic}]));
}

/** The levels of a filter but for the `#` at its end, and whether there is one. */
function pathOf({filter}: TopicTrigger): {readonly levels: readonly string[]; readonly set: 'here' | 'below'} {
	const levels = filter.split('/');
	return levels.at(-1) === '#' ? {levels: levels.slice(0, -1), set: 'below'} : {levels, set: 'here'};
}

function add(root: Node, trigger: TopicTrigger): void {
	const {levels, set} = pathOf(trigger);
	let node = root;
	for (const level of levels) {
		node.children ??= new Map<string, Node>();
		let child = node.children.get(level);
		if (child === undefined) node.children.set(level, (child = newNode()));
		node = child;
	}
	(node[set] ??= new Set()).add(trigger);
}

/** What is empty after it goes as well. */
function remove(root: Node, trigger: TopicTrigger): void {
	const {levels, set} = pathOf(trigger);
	const path = [root];
	for (const level of levels) {
		const child = path.at(-1)?.children?.get(level);
		if (child === undefined) return;
		path.push(child);
	}
	const last = path.at(-1);
	last?.[set]?.delete(trigger);
	if (last?.[set]?.size === 0) last[set] = undefined;
	for (let depth = levels.length; depth > 0; depth -= 1) {
		const [parent, node, level] = [path[depth - 1], path[depth], levels[depth - 1]];
		if (parent?.children === undefined || node === undefined || level === undefined || !isEmpty(node)) return;
		parent.children.delete(level);
		if (parent.children.size === 0) parent.children = undefined;
	}
}

/** The first level of every filter is a word, so the wildcards of others never meet a topic that begins with `$`. */
function collect(node: Node, topic: readonly string[], depth: number, found: TopicTrigger[], most: number): void {
	take(node.below, found, most);
	const level = topic[depth];
	if (level === undefined) return take(node.here, found, most);
	for (const name of [level, '+']) {
		const child = node.children?.get(name);
		if (child !== undefined && found.length < most) collect(child, topic, depth + 1, found, most);
	}
}

function take(triggers: Iterable<TopicTrigger> | undefined, found: TopicTrigger[], most: number): void {
	for (const trigger of triggers ?? []) {
		if (found.length >= most) return;
		found.push(trigger);
	}
}
