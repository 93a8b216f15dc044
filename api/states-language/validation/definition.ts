// Reads a definition in the States Language: all that is wrong with it is told at once, before anything runs.

import {cleanJson} from '../../clean-json.js';
import {limits} from '../../limits.js';
import {isObject, type Json, type JsonObject} from '../../object.js';
import {joinPath} from '../../path.js';
import type {Problem} from '../../problem.js';
import {refuse} from '../../rules/report.js';
import {shown, shownName} from '../../shown.js';
import {withinBytes} from '../data-bounds.js';
import type {Definition} from '../definition.js';
import {checkGraph} from './graph.js';
import {checkMembers, checkNumber, type Found} from './report.js';
import {checkState, type ResourceProblem} from './states.js';

export type ReadDefinition =
	{readonly ok: true; readonly definition: Definition} | {readonly ok: false; readonly problems: readonly Problem[]};

/** What is found on the way through all machines of a definition. */
type Walk = {readonly found: Found; readonly names: Map<string, string>; states: number; readonly resourceProblem: ResourceProblem};

const anyResource: ResourceProblem = () => undefined;

/**
 * A definition that can be run, or what is wrong with it; paths of fields begin with `base`, as in `spec.definition`. What a Task calls may be
 * anything where nobody says what is wrong with it.
 */
export function readDefinition(value: unknown, base = '', resourceProblem = anyResource): ReadDefinition {
	const cleaned = cleanJson(value, true);
	if (cleaned.problems.length > 0)
		return {ok: false, problems: cleaned.problems.map(problem => ({...problem, path: below(base, problem.path)}))};
	const found: Found = [];
	if (!withinBytes(cleaned.value, limits.statesDefinitionBytes))
		refuse(found, base, `has more than ${limits.statesDefinitionBytes} bytes; parts of it can be workflows of their own`);
	else {
		const walk: Walk = {found, names: new Map(), states: 0, resourceProblem};
		checkMachine(walk, base, cleaned.value, {further: ['Version', 'TimeoutSeconds'], depth: 0});
		if (isObject(cleaned.value)) checkOutermost(found, base, cleaned.value);
	}
	if (found.length > 0) return {ok: false, problems: found.slice(0, limits.problemsShown)};
	return {ok: true, definition: cleaned.value as unknown as Definition};
}

const below = (base: string, path: string): string =>
	base === '' || path === '' ? base + path : path.startsWith('[') ? base + path : `${base}.${path}`;

function checkOutermost(found: Found, path: string, {Version, TimeoutSeconds}: JsonObject): void {
	if (Version !== undefined && Version !== '1.0') refuse(found, joinPath(path, 'Version'), `must be "1.0", got ${shown(Version)}`);
	checkNumber(found, joinPath(path, 'TimeoutSeconds'), TimeoutSeconds, {least: 1, most: limits.statesTaskSeconds});
}

type Place = {readonly further: readonly string[]; readonly depth: number};

function checkMachine(walk: Walk, path: string, machine: Json | undefined, {further, depth}: Place): void {
	const {found} = walk;
	if (!isObject(machine)) return refuse(found, path, `must be an object with StartAt and States, got ${shown(machine)}`);
	if (depth > limits.statesNesting) return refuse(found, path, `machines are nested deeper than ${limits.statesNesting} levels`);
	checkMembers(found, path, machine, ['Comment', 'StartAt', 'States', ...further], 'a machine');
	const {StartAt, States} = machine;
	if (typeof StartAt !== 'string')
		refuse(found, joinPath(path, 'StartAt'), `must be the name of a state, got ${shown(StartAt)}`, 'FieldValueRequired');
	if (!isObject(States) || Object.keys(States).length === 0)
		return refuse(
			found,
			joinPath(path, 'States'),
			`must be an object of at least one state, got ${isObject(States) ? 'an empty one' : shown(States)}`,
			'FieldValueRequired',
		);
	const before = walk.states;
	walk.states += Object.keys(States).length;
	if (walk.states > limits.statesDefinitionStates) {
		// Of one definition it is said once.
		if (before <= limits.statesDefinitionStates)
			refuse(found, joinPath(path, 'States'), `the definition has more than ${limits.statesDefinitionStates} states`);
		return;
	}
	for (const [name, state] of Object.entries(States)) {
		const at = joinPath(joinPath(path, 'States'), name);
		checkName(walk, at, name);
		checkState(found, at, state ?? null, {
			checkMachine: (inner, each, more) => checkMachine(walk, inner, each, {further: more, depth: depth + 1}),
			resourceProblem: walk.resourceProblem,
		});
	}
	checkGraph(found, path, machine);
}

function checkName({found, names}: Walk, path: string, name: string): void {
	const first = names.get(name);
	if (first !== undefined)
		return refuse(
			found,
			path,
			`there is a state ${shown(shownName(name))} at ${first} already; names are of one state in a whole definition`,
			'FieldValueDuplicate',
		);
	names.set(name, path);
	const characters = [...name].length;
	if (characters === 0 || characters > limits.statesNameCharacters)
		refuse(found, path, `the name of a state has 1 to ${limits.statesNameCharacters} characters, got ${characters}`);
	else if (/[\p{Cc}\p{Cs}]/u.test(name)) refuse(found, path, 'the name of a state must be text without control characters');
}
