// Words as places of a running cluster: what is there decides what a word means, and what is near when nothing is.

import {AppError} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import {suggest} from '../../api/suggest.js';
import {systemClock} from '../../system/time/clock.js';
import {nearestNames} from '../cluster/nearest.js';
import {usageError} from '../command.js';
import {handWord, meaningsOf, nameOf, parentOf, root, shownPlace, type Meaning, type Place} from './places.js';
import type {Shell} from './verb.js';
import {isShell} from './verb-words.js';

/** The names of all systems; those that were asked for a moment ago. */
export async function systemNames({session, memory}: Shell): Promise<readonly string[]> {
	const nowMs = systemClock.monotonicMs();
	if (memory.systems !== undefined && nowMs - memory.systems.atMs < limits.inspectSystemsMs) return memory.systems.names;
	const {systems} = await session.ask({verb: 'systems'});
	const names = systems.map(({name}) => name);
	memory.systems = {names, atMs: nowMs};
	return names;
}

export type Resolved = {
	readonly place: Place;
	/** Of a pod's record: the name its hand has, too. */
	readonly hand: Meaning['hand'];
};

/** The place that a word means; without a word where the shell stands. Throws ERR_NO_SUCH_ACTOR with what is near. */
export async function resolve(word: string | undefined, shell: Shell): Promise<Resolved> {
	if (word === undefined) return {place: shell.memory.here, hand: undefined};
	const hand = handWord(word, shell.namespace);
	if (hand !== undefined) return {place: await handPlace(word, hand, shell), hand: undefined};
	const systems = await systemNames(shell);
	const meanings = meaningsOf(word, shell.memory.here, systems, shell.namespace);
	for (const {place, hand} of meanings) {
		if (place === root) return {place, hand: undefined};
		if (systems.includes(systemOf(place)) && (await isThere(place, shell))) return {place, hand};
	}
	throw await noSuchPlace(word, meanings, systems, shell);
}

/** The same for what needs an actor: the root, above all systems, is none. */
export async function resolveActor(word: string | undefined, shell: Shell): Promise<Place> {
	const {place, hand} = await resolve(word, shell);
	if (place === root) throw usageError(`this needs an actor, such as control/scheduler${isShell(shell.verbs) ? '; cd goes to one' : ''}`);
	if (hand !== undefined && word !== undefined) await noteHand(word, hand, shell);
	return place;
}

/** Of a pod there are two actors: says which is shown, and how to get at the other. Once: who knows it does not want to read it again. */
export async function noteHand(word: string, {record, name}: NonNullable<Meaning['hand']>, shell: Shell): Promise<void> {
	if (!isShell(shell.verbs) || !shell.terminal.interactive || shell.memory.isHandTold) return;
	shell.memory.isHandTold = true;
	const node = await nodeOf(record, shell);
	const other = node === undefined ? 'it is on no node yet' : `its hand is ${node}/pods/${name} (hand/${word.split('/')[1] ?? ''})`;
	shell.terminal.note(`${word} is its record, ${record}; ${other}`);
}

/** Also the hand of a pod that is on a node. */
export async function handOf({record, name}: NonNullable<Meaning['hand']>, shell: Shell): Promise<Place | undefined> {
	const node = await nodeOf(record, shell);
	return node === undefined ? undefined : `${node}/pods/${name}`;
}

async function handPlace(word: string, {record, below}: {readonly record: Place; readonly below: string}, shell: Shell): Promise<Place> {
	const node = await nodeOf(record, shell);
	if (node === undefined) throw new AppError('ERR_NO_SUCH_ACTOR', {address: `${word}; ${record} is on no node`});
	return `${node}/${below}`;
}

/** The node that a pod is bound to, as its record has it. */
async function nodeOf(record: Place, {session}: Shell): Promise<string | undefined> {
	try {
		const {state} = await session.ask({verb: 'state', place: record, at: ['object', 'spec', 'nodeName']});
		return typeof state === 'string' ? state : undefined;
	} catch (error) {
		if (isAbsence(error)) return undefined;
		throw error;
	}
}

const systemOf = (place: Place): string => place.split('/', 1)[0] ?? '';

const isAbsence = (error: unknown): boolean =>
	error instanceof AppError && (error.code === 'ERR_NO_SUCH_ACTOR' || error.code === 'ERR_NOT_FOUND');

async function isThere(place: Place, {session}: Shell): Promise<boolean> {
	try {
		await session.ask({verb: 'tree', place, depth: 0});
		return true;
	} catch (error) {
		if (isAbsence(error)) return false;
		throw error;
	}
}

async function noSuchPlace(word: string, meanings: readonly Meaning[], systems: readonly string[], shell: Shell): Promise<AppError> {
	const [first] = meanings;
	const error = new AppError('ERR_NO_SUCH_ACTOR', {address: shownPlace(first?.place ?? word)});
	for (const {place} of meanings) {
		const near = await nearestTo(place, systems, shell);
		if (near !== undefined) {
			error.message += `; did you mean ${near}?`;
			break;
		}
	}
	return error;
}

/** The sibling that was meant, or the one further up where a name went wrong. */
async function nearestTo(place: Place, systems: readonly string[], shell: Shell): Promise<Place | undefined> {
	const parent = parentOf(place);
	if (parent !== root && !systems.includes(systemOf(place))) return nearestTo(systemOf(place), systems, shell);
	const names = parent === root ? systems : await childNames(parent, shell).catch(() => undefined);
	if (names === undefined) return parent === root ? undefined : nearestTo(parent, systems, shell);
	const name = nameOf(place);
	const near = nearestNames(name, names)[0] ?? suggest(name, names) ?? names.find(one => one.endsWith(`.${name}`));
	return near === undefined ? undefined : parent === root ? near : `${parent}/${near}`;
}

/** The names below a place, as many as are told. Throws where there is no such place. */
async function childNames(place: Place, shell: Shell): Promise<readonly string[]> {
	return (await childrenAt(place, shell)).map(({name}) => name);
}

/** What is below a place, and whether there is more below that. Throws where there is no such place. */
export async function childrenAt(place: Place, shell: Shell): Promise<readonly {readonly name: string; readonly hasChildren: boolean}[]> {
	if (place === root) return (await systemNames(shell)).map(name => ({name, hasChildren: true}));
	const {children} = await shell.session.ask({verb: 'tree', place, depth: 1, children: limits.inspectNames});
	return children.map(({name, childCount}) => ({name, hasChildren: childCount > 0}));
}
