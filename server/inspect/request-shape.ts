// What a tool asks, read strictly: a stranger's JSON becomes a request of the protocol, or a failure that says what to write instead.

import {failed, succeeded, type Outcome} from '../../api/errors.js';
import {changeVerbs, lookVerbs, parsePlace, streamVerbs, verbsOfAll, type ToolRequest} from '../../api/inspect.js';
import {limits} from '../../api/limits.js';
import {isObject, type JsonObject} from '../../api/object.js';
import {shown} from '../../api/shown.js';
import {didYouMean} from '../../api/suggest.js';

/** What is wrong with a value; undefined: nothing. */
type Check = (value: unknown) => string | undefined;

type Field = {readonly check: Check; readonly isNeeded: boolean};

type ToolVerb = ToolRequest['verb'];

export const toolVerbs: readonly ToolVerb[] = ['systems', ...lookVerbs, ...streamVerbs, ...changeVerbs];

const needed = (check: Check): Field => ({check, isNeeded: true});
const optional = (check: Check): Field => ({check, isNeeded: false});

const text =
	(most: number): Check =>
	value =>
		typeof value === 'string' && value !== '' && value.length <= most ? undefined : `must be a text of 1 to ${most} characters`;

const count =
	(least: number, most: number): Check =>
	value =>
		Number.isInteger(value) && Number(value) >= least && Number(value) <= most
			? undefined
			: `must be a whole number from ${least} to ${most}, got ${shown(value)}`;

const oneOf =
	(...words: readonly string[]): Check =>
	value =>
		words.some(word => word === value) ? undefined : `must be ${words.join(', ')}; got ${shown(value)}`;

const listOf =
	(check: Check, most: number): Check =>
	value => {
		if (!Array.isArray(value) || value.length > most) return `must be a list of at most ${most} items, got ${shown(value)}`;
		const wrong = (value as readonly unknown[]).findIndex(item => check(item) !== undefined);
		return wrong < 0 ? undefined : `${check(value[wrong]) ?? ''} (item ${wrong})`;
	};

const flag: Check = value => (typeof value === 'boolean' ? undefined : `must be true or false, got ${shown(value)}`);

// eslint-disable-next-line no-control-regex -- those are what no name has
const isPlain = (value: string): boolean => value.length <= limits.inspectPlaceCharacters && !/[\u0000-\u001f\u007f]/.test(value);

const place: Check = value =>
	typeof value === 'string' && isPlain(value) && parsePlace(value) !== undefined
		? undefined
		: `must be a system, or an actor of one: control, control/pods/default.web-1; got ${shown(value)}`;

const placeOrAll: Check = value => (value === '' ? undefined : place(value));

/** A pattern of places: `*` stands for any part of a name. */
const pattern: Check = value =>
	typeof value === 'string' && value !== '' && isPlain(value) ? undefined : 'must be a place, such as control/pods/default.*';

const message: Check = value =>
	isObject(value) && typeof value['type'] === 'string' ? undefined : `must be an object with a type, got ${shown(value)}`;

const members =
	(fields: Fields): Check =>
	value =>
		isObject(value) ? problemOf('', fields, value) : `must be an object, got ${shown(value)}`;

type Fields = {readonly [member: string]: Field};

const filterFields: Fields = {
	places: needed(listOf(pattern, limits.inspectFilterItems)),
	behaviors: optional(listOf(text(limits.inspectPlaceCharacters), limits.inspectFilterItems)),
};

const faultFields: {readonly [type: string]: Fields} = {
	crash: {},
	pause: {},
	partition: {},
	slow: {ms: needed(count(1, limits.faultSlowMs))},
	drop: {
		share: needed(value =>
			typeof value === 'number' && value > 0 && value <= 1 ? undefined : `must be above 0 and at most 1, got ${shown(value)}`,
		),
	},
};

const fault: Check = value => {
	if (!isObject(value)) return `must be an object with a type, got ${shown(value)}`;
	const {type} = value;
	const fields = typeof type === 'string' && Object.hasOwn(faultFields, type) ? faultFields[type] : undefined;
	if (fields === undefined) return `.type must be ${Object.keys(faultFields).join(', ')}; got ${shown(type)}`;
	return problemOf('', {type: needed(() => undefined), ...fields}, value);
};

const path = needed(place);
const deep = optional(count(0, limits.objectDepth));
const at = optional(listOf(value => (typeof value === 'string' ? undefined : 'must be a text'), limits.objectDepth));
const forMs = optional(count(1, limits.inspectForMs));
const entries = optional(count(1, limits.inspectEntries));

const shapes: {readonly [Verb in ToolVerb]: Fields} = {
	systems: {},
	tree: {place: optional(placeOrAll), depth: deep, children: optional(count(1, limits.inspectListed))},
	state: {place: path, at, depth: deep},
	mailbox: {place: path},
	links: {place: path},
	supervise: {place: path},
	journal: {place: path},
	top: {
		place: optional(placeOrAll),
		by: needed(oneOf('mailbox', 'rate', 'time', 'restarts', 'memory')),
		limit: optional(count(1, limits.inspectListed)),
	},
	stats: {place: optional(placeOrAll)},
	deadletters: {place: optional(placeOrAll)},
	faults: {place: optional(placeOrAll)},
	watch: {place: path, at, forMs, count: entries},
	trace: {filter: needed(members(filterFields)), forMs, count: entries, record: optional(flag)},
	tell: {place: path, message: needed(message)},
	ask: {place: path, message: needed(message), deadlineMs: optional(count(1, limits.inspectAskMs))},
	pause: {place: path, forMs},
	step: {place: path, count: optional(count(1, limits.inspectListed))},
	resume: {place: path},
	kill: {place: path},
	restart: {place: path},
	fault: {place: path, fault: needed(fault), forMs},
	heal: {place: path},
};

const isVerb = (word: unknown): word is ToolVerb => toolVerbs.some(verb => verb === word);

/** The request in a value; what is not needed of it may be left out, and nothing else may be in it. */
export function parseRequest(value: unknown): Outcome<ToolRequest> {
	if (!isObject(value)) return refused(`a request must be an object such as {"verb": "systems"}, got ${shown(value)}`);
	const {verb} = value;
	if (!isVerb(verb)) return refused(`verb must be ${toolVerbs.join(', ')}; got ${shown(verb)}${hint(verb, toolVerbs)}`);
	const problem = problemOf(`"${verb}"`, {verb: needed(() => undefined), ...shapes[verb]}, value);
	if (problem !== undefined) return refused(problem);
	const whole = isVerbOfAll(verb) ? {place: '', ...value} : value;
	return succeeded(whole as unknown as ToolRequest);
}

const isVerbOfAll = (verb: ToolVerb): boolean => verbsOfAll.some(each => each === verb);

/** `what`: the request; '' within one of its members, whose name then stands before what is said: `fault.share must be above 0`. */
function problemOf(what: string, fields: Fields, value: JsonObject): string | undefined {
	const names = Object.keys(fields);
	for (const member of Object.keys(value))
		if (!Object.hasOwn(fields, member))
			return `${what} has no member ${shown(member)}, but ${names.join(', ')}${hint(member, names)}`.trimStart();
	for (const [name, {check, isNeeded}] of Object.entries(fields)) {
		const given = value[name];
		if (given === undefined && !isNeeded) continue;
		const problem = given === undefined ? 'is missing' : check(given);
		if (problem === undefined) continue;
		if (what === '') return `.${name} ${problem}`;
		return problem.startsWith('.') ? `${name}${problem}` : `${name} of ${what} ${problem}`;
	}
	return undefined;
}

const hint = (word: unknown, words: readonly string[]): string => (typeof word === 'string' ? didYouMean(word, words) : '');

/** The request in a text, which may be of any login. */
export function parseRequestText(source: string): Outcome<unknown> {
	if (Buffer.byteLength(source) > limits.inspectRequestBytes)
		return failed('ERR_TOO_LARGE', {message: `a request has at most ${limits.inspectRequestBytes} bytes`});
	try {
		const value: unknown = JSON.parse(source);
		return isSound(value) ? succeeded(value) : refused(`a request is nested at most ${limits.objectDepth} levels, and has no "__proto__"`);
	} catch {
		return refused('a request must be JSON such as {"verb": "systems"}');
	}
}

/** Bounded in depth, and without a key that would change a prototype. */
function isSound(document: unknown): boolean {
	const open: [unknown, number][] = [[document, 1]];
	for (let next = open.pop(); next !== undefined; next = open.pop()) {
		const [value, depth] = next;
		if (typeof value !== 'object' || value === null) continue;
		if (depth > limits.objectDepth || Object.hasOwn(value, '__proto__')) return false;
		for (const child of Object.values(value) as unknown[]) open.push([child, depth + 1]);
	}
	return true;
}

const refused = (problem: string) => failed('ERR_BAD_REQUEST', {message: problem});
