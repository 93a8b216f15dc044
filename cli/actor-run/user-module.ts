// A module of a user's own, as `troupe actor run` takes one: loaded, and looked at before anything of it runs.

import {spawnSync} from 'node:child_process';
import {statSync} from 'node:fs';
import path from 'node:path';
import {pathToFileURL} from 'node:url';
import {AppError} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import {shown} from '../../api/shown.js';
import type {AnyBehavior} from '../../system/kernel/behavior.js';
import {usageError} from '../command.js';
import {checkedBehavior} from './checked-behavior.js';
import {ownLines} from './own-lines.js';
import {ownKinds} from './run-root.js';

export type UserModule = {
	/** Those that there are, by the name that `spawn` uses. */
	readonly behaviors: {readonly [name: string]: AnyBehavior};
	/** The name of the first. */
	readonly root: string;
};

/** What a module's file may end in. */
const endings = ['.js', '.mjs', '.cjs'];

/** Loads a file. Throws AppErrors that say what is wrong with it, and what to do. */
export async function loadUserModule(file: string): Promise<UserModule> {
	checkFile(file);
	let exported: unknown;
	try {
		exported = await import(pathToFileURL(path.resolve(file)).href);
	} catch (error) {
		throw problem(file, `it cannot be loaded: ${whyNot(error, file)}`);
	}
	try {
		return userModuleOf(exported as {readonly [name: string]: unknown}, file);
	} catch (error) {
		// Members may be getters.
		throw error instanceof AppError ? error : problem(file, `what it exports cannot be read: ${whyNot(error, file)}`);
	}
}

const problem = (file: string, message: string): AppError => usageError(`${file}: ${message}`);

/** Throws an AppError where a module cannot be there. */
export function checkFile(file: string): void {
	const found = statSync(file, {throwIfNoEntry: false});
	if (found === undefined) throw problem(file, 'there is no such file; name a JavaScript module that exports a behaviour');
	if (!found.isFile()) throw problem(file, 'it is no file; name a JavaScript module that exports a behaviour');
	const ending = path.extname(file);
	if (['.ts', '.mts', '.cts'].includes(ending)) checkTypeScript(file);
	else if (!endings.includes(ending)) throw problem(file, `a module's name ends in ${endings.join(', ')}; got ${shown(ending)}`);
}

/** Node 22.18 and newer read types away by themselves. */
function checkTypeScript(file: string): void {
	if ((process.features as {readonly typescript?: unknown}).typescript) return;
	throw problem(file, `Node ${process.versions.node} reads no TypeScript: compile it to JavaScript, or use Node 22.18 or newer`);
}

/** What was thrown, and where. */
function whyNot(error: unknown, file: string): string {
	if (!(error instanceof Error)) return `it throws ${error === null ? 'null' : shown(error)}, which is no Error`;
	const [at] = ownLines(error.stack ?? '').filter(each => each.includes('file:'));
	const place = error.name === 'SyntaxError' ? placeOfSyntax(file) : (at?.trim() ?? '');
	return `${error.name}: ${error.message}${place === '' ? '' : ` (${place})`}`;
}

/** Node keeps the place of an error of syntax to itself, but for this. */
function placeOfSyntax(file: string): string {
	const {stderr} = spawnSync(process.execPath, ['--check', file], {encoding: 'utf8', timeout: limits.shutdownMs});
	const [place = ''] = stderr.split('\n');
	return /:\d+$/.test(place) ? `at ${place}` : '';
}

/**
 * What a module exports: a behaviour as `default`, by its kind, perhaps with `behaviors` that it spawns; or `behaviors`, and `root` where there are
 * several. Throws AppErrors.
 */
export function userModuleOf(exported: {readonly [name: string]: unknown}, file: string): UserModule {
	const {default: main, behaviors = {}, root} = unwrapped(exported);
	if (!isRecord(behaviors)) throw problem(file, `behaviors must be an object of behaviours by name, got ${shown(behaviors)}`);
	if (main === undefined && Object.keys(behaviors).length === 0)
		throw problem(file, 'it exports no behaviour: export one as default, or several as behaviors, with the name of the first as root');
	for (const [name, behavior] of Object.entries(behaviors)) check(file, `behaviors.${name}`, behavior);
	if (main === undefined) return {behaviors: checked(behaviors, file), root: rootOf(root, Object.keys(behaviors), file)};
	check(file, 'the default export', main);
	const {kind} = main as AnyBehavior;
	if (behaviors[kind] !== undefined && behaviors[kind] !== main)
		throw problem(file, `the default export and behaviors.${kind} are both called "${kind}"; give one another name`);
	return {behaviors: checked({...behaviors, [kind]: main}, file), root: kind};
}

function checked(behaviors: {readonly [name: string]: unknown}, file: string): UserModule['behaviors'] {
	const taken = Object.keys(behaviors).find(name => ownKinds.includes(name));
	if (taken !== undefined) throw problem(file, `a behaviour cannot be called "${taken}": each system has one of that name`);
	const names = Object.keys(behaviors);
	return Object.fromEntries(Object.entries(behaviors).map(([name, behavior]) => [name, checkedBehavior(behavior as AnyBehavior, names)]));
}

function check(file: string, what: string, behavior: unknown): void {
	const found = problemOfBehavior(behavior);
	if (found !== undefined) throw problem(file, `${what} ${found}`);
}

/** What `module.exports = {behaviors}` comes as. */
function unwrapped(exported: {readonly [name: string]: unknown}): {readonly [name: string]: unknown} {
	const inner = exported['default'];
	return isRecord(inner) && inner['receive'] === undefined && isRecord(inner['behaviors']) ? inner : exported;
}

function rootOf(root: unknown, names: readonly string[], file: string): string {
	if (root === undefined && names.length === 1 && names[0] !== undefined) return names[0];
	if (typeof root === 'string' && names.includes(root)) return root;
	throw problem(file, `root must name the first of its behaviours (${names.join(', ')}), got ${shown(root)}`);
}

const isRecord = (value: unknown): value is {readonly [member: string]: unknown} =>
	typeof value === 'object' && value !== null && !Array.isArray(value);

const optionalFunctions = ['resume', 'signal', 'coalesce', 'describe', 'trouble'];

const strategies: readonly unknown[] = [undefined, 'oneForOne', 'oneForAll', 'restForOne'];
const pastIntensities: readonly unknown[] = [undefined, 'escalate', 'backOff'];

function problemOfBehavior(behavior: unknown): string | undefined {
	if (!isRecord(behavior)) return `must be a behaviour, {kind, init, receive}, got ${shown(behavior)}`;
	const {kind, strategy, pastIntensity} = behavior;
	if (typeof kind !== 'string' || kind === '') return `must have a kind, a text that says what it is, got ${shown(kind)}`;
	for (const name of ['init', 'receive'])
		if (typeof behavior[name] !== 'function') return `must have a function "${name}", got ${shown(behavior[name])}`;
	for (const name of optionalFunctions)
		if (behavior[name] !== undefined && typeof behavior[name] !== 'function')
			return `has "${name}", which must be a function, got ${shown(behavior[name])}`;
	for (const name of ['persistence', 'parking'])
		if (behavior[name] !== undefined)
			return `has "${name}", which is of actors that keep objects in the cluster; actors of your own keep none`;
	if (!strategies.includes(strategy)) return `has the strategy ${shown(strategy)}; there are oneForOne, oneForAll and restForOne`;
	if (!pastIntensities.includes(pastIntensity)) return `has pastIntensity ${shown(pastIntensity)}; there are escalate and backOff`;
	return undefined;
}
