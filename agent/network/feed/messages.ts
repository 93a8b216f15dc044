// What an agent and what serves traffic say to each other over the feed.
//
// The agent dials. It is greeted with who serves and what was started with which settings; then it says all there is, in portions, and after that
// what changes. All that comes is looked at before it is taken: on the other side may be a process of another version.

import {isObject, type JsonObject} from '../../../api/object.js';
import type {NetworkChange} from '../../../actors/node/runtime/network-port.js';

export const feedProtocol = 1;

export type FeedMessage =
	/** A portion of changes, or of all there is; taken together with the portions before it at the last one. */
	| {
			readonly type: 'feed';
			readonly id: number;
			readonly isWhole: boolean;
			readonly isLast: boolean;
			readonly changes: readonly FedChange[];
	  }
	| {readonly type: 'ping'; readonly id: number}
	/** Starts this program in its place and hands over to it. */
	| {readonly type: 'handOver'; readonly id: number; readonly program: Program};

/** JSON has no undefined: null is one that is gone. */
export type FedChange = {readonly key: string; readonly object: NetworkChange['object'] | null};

/** How a data plane is started: Node, its flags, the module and its settings. */
export type Program = {readonly node: string; readonly flags: readonly string[]; readonly main: string; readonly settings: string};

export type FeedAnswer =
	/** `identity` is of the program and its settings: another one is to be replaced. */
	| {readonly type: 'hello'; readonly protocol: number; readonly identity: string; readonly pid: number}
	| {readonly type: 'taken'; readonly id: number; readonly problem?: string | undefined}
	| {readonly type: 'pong'; readonly id: number; readonly memoryBytes: number; readonly connections: number}
	| {readonly type: 'problems'; readonly problems: readonly string[]};

export const fedChange = ({key, object}: NetworkChange): FedChange => ({key, object: object ?? null});
export const networkChange = ({key, object}: FedChange): NetworkChange => ({key, object: object ?? undefined});

/** Undefined: it is none. */
export function feedMessageOf(message: JsonObject): FeedMessage | undefined {
	if (!isCount(message['id'])) return undefined;
	switch (message['type']) {
		case 'feed':
			return isListOf(message['changes'], isFedChange) && areFlags(message, ['isWhole', 'isLast'])
				? (message as unknown as FeedMessage)
				: undefined;
		case 'ping':
			return message as unknown as FeedMessage;
		case 'handOver':
			return isProgram(message['program']) ? (message as unknown as FeedMessage) : undefined;
		default:
			return undefined;
	}
}

/** Undefined: it is none. */
export function feedAnswerOf(message: JsonObject): FeedAnswer | undefined {
	return isFeedAnswer(message) ? (message as unknown as FeedAnswer) : undefined;
}

function isFeedAnswer(message: JsonObject): boolean {
	switch (message['type']) {
		case 'hello':
			return isCount(message['protocol']) && isCount(message['pid']) && typeof message['identity'] === 'string';
		case 'taken':
			return isCount(message['id']) && (message['problem'] === undefined || typeof message['problem'] === 'string');
		case 'pong':
			return ['id', 'memoryBytes', 'connections'].every(member => isCount(message[member]));
		case 'problems':
			return isListOf(message['problems'], isText);
		default:
			return false;
	}
}

const isText = (value: unknown): boolean => typeof value === 'string';
const isCount = (value: unknown): boolean => typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
const isListOf = (value: unknown, isItem: (item: unknown) => boolean): boolean => Array.isArray(value) && value.every(isItem);
const areFlags = (message: JsonObject, names: readonly string[]): boolean => names.every(name => typeof message[name] === 'boolean');

/** Of a type that this version does not know it is passed over where it is taken. */
const isFedChange = (change: unknown): boolean =>
	isObject(change) &&
	isText(change['key']) &&
	(change['object'] === null || (isObject(change['object']) && isText(change['object']['type']) && isText(change['object']['name'])));

const isProgram = (program: unknown): boolean =>
	isObject(program) && ['node', 'main', 'settings'].every(member => isText(program[member])) && isListOf(program['flags'], isText);
