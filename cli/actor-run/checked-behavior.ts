// A behaviour that somebody else wrote, looked at on every step: what it returns is checked before the runtime does anything of it, so a
// mistake is that actor's crash, with a sentence that says what is wrong, and never the runtime's. Pure.
//
// What it may ask for is a closed list: there are no objects of a cluster here, and the one thing done outside is to print a line.

import {isObject} from '../../api/object.js';
import {parseAddress} from '../../api/keys.js';
import {shown} from '../../api/shown.js';
import {valueOr} from '../../api/value-or.js';
import {next, type AnyBehavior, type Context, type Effect, type Message, type Next} from '../../system/kernel/behavior.js';

/** What is asked of the edge of such a system. */
export type PrintCommand = {readonly type: 'print'; readonly text: string};

/** What a step of a user's own may ask for beyond the effects of the runtime: a line on the terminal of the run. */
export type PrintEffect = {readonly type: 'print'; readonly text: string};

/** The behaviour with its steps checked. `names`: the behaviours that it may spawn. */
export function checkedBehavior(behavior: AnyBehavior, names: readonly string[]): AnyBehavior {
	const checked = (step: string, returned: unknown, context: Context): Next<unknown> => checkedNext({step, names}, returned, context);
	return {
		kind: behavior.kind,
		...(behavior.strategy === undefined ? {} : {strategy: behavior.strategy}),
		...(behavior.pastIntensity === undefined ? {} : {pastIntensity: behavior.pastIntensity}),
		init: (input: unknown, context) => checked('init', behavior.init(input, context), context),
		receive(state: unknown, message: Message, context) {
			if (message.type === printed) return next(state);
			const returned: unknown = behavior.receive(state, message, context);
			return returned === undefined ? undefined : checked('receive', returned, context);
		},
		...(behavior.resume === undefined
			? {}
			: {resume: (state: unknown, context) => checked('resume', behavior.resume?.(state, context), context)}),
		...(behavior.signal === undefined
			? {}
			: {signal: (state: unknown, told, context) => checked('signal', behavior.signal?.(state, told, context), context)}),
		// These are asked outside of its steps, where a crash would be somebody else's.
		...(behavior.describe === undefined
			? {}
			: {describe: (state: unknown) => lineOf(valueOr('(describe threw)', () => behavior.describe?.(state)))}),
		...(behavior.trouble === undefined
			? {}
			: {trouble: (state: unknown) => keyOf(valueOr(undefined, () => behavior.trouble?.(state)))?.slice(0, describedCharacters)}),
		...(behavior.coalesce === undefined
			? {}
			: {coalesce: (message: Message) => keyOf(valueOr(undefined, () => behavior.coalesce?.(message)))}),
	};
}

/** The answer to a perform that prints: a behaviour that prints in each step must not hear of it, or it would never end. */
const printed = '_printed';

const describedCharacters = 200;

const lineOf = (value: unknown): string => (typeof value === 'string' ? value.slice(0, describedCharacters) : '');
const keyOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

type Checking = {readonly step: string; readonly names: readonly string[]};

/** @throws Error that says what is wrong with it. */
function checkedNext({step, names}: Checking, returned: unknown, context: Context): Next<unknown> {
	if (returned instanceof Promise) {
		returned.catch(() => undefined);
		throw new Error(`${step} returned a promise: a step awaits nothing; what takes time is an effect, whose outcome comes as a message`);
	}
	if (!isObject(returned)) throw new Error(`${step} must return {state, effects}, got ${shown(returned)}`);
	const {state, effects = [], stop} = returned as {readonly [member: string]: unknown};
	if (state === undefined)
		throw new Error(`${step} returned no state: it must return {state, effects}, and a state is anything but undefined`);
	if (!Array.isArray(effects)) throw new Error(`${step} must return a list of effects beside the state, got ${shown(effects)}`);
	if (stop !== undefined && stop !== true) throw new Error(`stop must be true or left out, got ${shown(stop)} (${step})`);
	for (const [at, effect] of effects.entries()) {
		const problem = problemOf(effect) ?? noBehavior(effect as Fields, names);
		if (problem !== undefined) throw new Error(`${problem} (effect ${at} of ${step})`);
	}
	const done = performed(effects as readonly (Effect | PrintEffect)[], context);
	return stop === true ? {state, effects: done, stop} : {state, effects: done};
}

/** The runtime would find it only after the step. */
const noBehavior = ({type, behavior}: Fields, names: readonly string[]): string | undefined =>
	type !== 'spawn' || names.includes(behavior as string)
		? undefined
		: `there is no behaviour ${shown(behavior)} to spawn; the module has ${names.join(', ')}, and others go into its behaviors`;

/** With what it prints as one perform, where the first of it was. */
function performed(effects: readonly (Effect | PrintEffect)[], {random}: Context): readonly Effect[] {
	const lines = effects.filter(effect => effect.type === 'print').map(({text}) => text);
	if (lines.length === 0) return effects as readonly Effect[];
	const command: PrintCommand = {type: 'print', text: lines.join('\n')};
	let print: Effect | undefined = {type: 'perform', command, key: random.uuid(), as: printed};
	return effects.flatMap(effect => {
		if (effect.type !== 'print') return [effect];
		const all = print === undefined ? [] : [print];
		print = undefined;
		return all;
	});
}

type Fields = {readonly [field: string]: unknown};
/** What is wrong with a field; undefined: nothing. */
type Check = (value: unknown) => string | undefined;

const text: Check = value => (typeof value === 'string' && value !== '' ? undefined : 'must be a text');
const number: Check = value => (typeof value === 'number' && Number.isFinite(value) ? undefined : 'must be a number');
const line: Check = value => (typeof value === 'string' ? undefined : 'must be a text');
const anything: Check = () => undefined;
const optional =
	(check: Check): Check =>
	value =>
		value === undefined ? undefined : check(value);
const oneOf =
	(...words: readonly string[]): Check =>
	value =>
		typeof value === 'string' && words.includes(value) ? undefined : `must be one of ${words.join(', ')}`;

const address: Check = value =>
	typeof value === 'string' && parseAddress(value) !== undefined ? undefined : 'must be an address, such as troupe://ping@ann/main';

const message: Check = value =>
	isObject(value) && typeof value['type'] === 'string' ? undefined : 'must be an object with a type, such as {"type": "add"}';

const childName: Check = value =>
	typeof value === 'string' && /^[^/\s]{1,253}$/.test(value) ? undefined : 'must be 1 to 253 characters without "/" and space';

const replyTo: Check = value =>
	isObject(value) && address(value['to']) === undefined && text(value['as']) === undefined && typeof value['id'] === 'string'
		? undefined
		: 'must be the replyTo of a message; leave the effect away where a message has none';

const outcome: Check = value =>
	isObject(value) &&
	(value['ok'] === true || (value['ok'] === false && isObject(value['error']) && typeof value['error']['code'] === 'string'))
		? undefined
		: 'must be {ok: true, value} or {ok: false, error: {code, message, details}}';

const shutdown: Check = value =>
	value === 'brutalKill' || value === 'infinity' || number(value) === undefined
		? undefined
		: 'must be milliseconds, brutalKill or infinity';

/** The fields of each effect that there is here. */
const effects: {readonly [type: string]: {readonly [field: string]: Check}} = {
	tell: {to: address, message, cause: optional(text)},
	ask: {to: address, message, as: text, id: text, deadlineMs: optional(number), cause: optional(text)},
	reply: {to: replyTo, outcome},
	spawn: {
		name: childName,
		behavior: text,
		input: anything,
		restart: optional(oneOf('permanent', 'transient', 'temporary')),
		shutdownMs: optional(shutdown),
	},
	stopChild: {name: text},
	watch: {address},
	unwatch: {address},
	print: {text: line},
	wakeAt: {name: text, atMs: number, message, atMostMs: optional(number), cause: optional(text)},
	cancelWake: {name: text},
};

const ofObjects: readonly string[] = ['create', 'update', 'delete', 'event', 'replySelf'];

/** What is wrong with an effect; undefined: nothing. */
function problemOf(effect: unknown): string | undefined {
	if (!isObject(effect) || typeof effect['type'] !== 'string') return `an effect must be an object with a type, got ${shown(effect)}`;
	const {type, ...fields} = effect as Fields & {readonly type: string};
	if (ofObjects.includes(type)) return `"${type}" is about objects of the cluster, and actors of your own have none; use the API for them`;
	const checks = Object.hasOwn(effects, type) ? effects[type] : undefined;
	if (checks === undefined) return `there is no effect "${type}"; there are ${Object.keys(effects).join(', ')}`;
	const unknown = Object.keys(fields).find(field => !Object.hasOwn(checks, field));
	if (unknown !== undefined) return `"${type}" has no field "${unknown}"; it has ${Object.keys(checks).join(', ')}`;
	for (const [field, check] of Object.entries(checks)) {
		const problem = check(fields[field]);
		if (problem !== undefined) return `${field} of "${type}" ${problem}, got ${shown(fields[field])}`;
	}
	return undefined;
}
