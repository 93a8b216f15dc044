// The functions that the Tasks of a run name, in the versions with which it began: it goes on with these when they have others.

import type {FunctionObject} from '../../../api/kinds/function.js';
import type {ReplicaSet} from '../../../api/kinds/replicaset.js';
import type {Run} from '../../../api/kinds/run.js';
import {revisionFor} from '../../../api/function-traffic.js';
import {objectKey} from '../../../api/keys.js';
import {limits} from '../../../api/limits.js';
import {statesIn, type Definition} from '../../../api/states-language/definition.js';
import {parseTaskResource} from '../../../api/task-resource.js';
import type {Known} from '../../../system/index/object-index.js';
import type {Context} from '../../../system/kernel/behavior.js';
import {versionOf, versionOfSet} from '../functions/function-version.js';
import type {Pin} from '../functions/run-pins.js';
import {isDeleting} from '../objects/garbage.js';
import {revisionOf} from '../workloads/revisions.js';

type Named = {readonly namespace: string | undefined; readonly name: string};

/** By the states of a definition, which stay as they are. */
const read = new WeakMap<Definition['States'], readonly Named[]>();

/** Each once, as far as a run writes them down. */
function functionsIn(definition: Definition): readonly Named[] {
	const before = read.get(definition.States);
	if (before !== undefined) return before;
	const found = new Map<string, Named>();
	for (const {state} of statesIn(definition)) {
		const named = state.Type === 'Task' ? functionOf(state.Resource) : undefined;
		if (named !== undefined && found.size < limits.runFunctions) found.set(`${named.namespace ?? ''}/${named.name}`, named);
	}
	const all = [...found.values()];
	read.set(definition.States, all);
	return all;
}

function functionOf(resource: string): Named | undefined {
	const parsed = parseTaskResource(resource);
	return parsed.ok && parsed.value.type === 'function' ? parsed.value : undefined;
}

const nameIn = (run: Run, {namespace = run.metadata.namespace, name}: Named): string => `${namespace ?? ''}/${name}`;

/** The run with the versions that the functions of its Tasks have now; one that has no code has none. */
export function withFunctions(run: Run, definition: Definition, {known, random}: Pick<Context, 'known' | 'random'>): Run {
	const pins = new Map<string, Pin>();
	for (const named of functionsIn(definition)) {
		const {namespace = run.metadata.namespace, name} = named;
		const fn = known.get(objectKey('functions', namespace, name)) as FunctionObject | undefined;
		const version = fn === undefined || isDeleting(fn) ? undefined : versionNow(fn, known, random.next);
		const place = nameIn(run, named);
		if (version !== undefined) pins.set(place, {function: place, version});
	}
	return pins.size === 0 ? run : {...run, status: {...run.status, functions: [...pins.values()]}};
}

/** Where versions share the calls, one of them takes all calls of the run: which one, their weights and chance say. */
function versionNow(fn: FunctionObject, known: Pick<Known, 'byOwner'>, chance: () => number): string | undefined {
	const newest = versionOf(fn);
	const revision = newest === undefined || fn.spec?.traffic === undefined ? undefined : revisionFor(fn.spec.traffic, {}, chance());
	if (revision === undefined) return newest;
	for (const set of known.byOwner(fn.metadata.uid))
		if (set.kind === 'ReplicaSet' && revisionOf(set) === revision && !isDeleting(set)) return versionOfSet(set as ReplicaSet);
	return newest;
}

/** The version of what a Task calls with which the run began. Undefined: it is no function, or one that had no code then. */
export function versionCalled(run: Run | undefined, resource: string): string | undefined {
	const pins = run?.status?.functions ?? [];
	const named = run === undefined || pins.length === 0 ? undefined : functionOf(resource);
	if (run === undefined || named === undefined) return undefined;
	const place = nameIn(run, named);
	return pins.find(each => each.function === place)?.version;
}
