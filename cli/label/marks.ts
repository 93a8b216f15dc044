// `label` and `annotate`: words `key=value` and `key-` become a change of one map of an object's metadata.

import {AppError} from '../../api/errors.js';
import type {ApiObject, JsonObject} from '../../api/object.js';
import {lastAppliedAnnotation} from '../../api/sealed.js';
import {shown} from '../../api/shown.js';
import {dryRunOf, reportOf, tellOfOne} from '../apply/written.js';
import {changeObject} from '../cluster/changes.js';
import {type Flags, type Invocation, usageError} from '../command.js';
import {chosenObjects, type NamedObject} from '../objects/chosen.js';
import {readAssignments, type Assignments} from '../objects/assignments.js';
import {displayName} from '../cluster/resources.js';
import {withClient} from '../cluster/session.js';

export type Marks = {
	readonly command: 'label' | 'annotate';
	readonly field: 'labels' | 'annotations';
	/** What was done: something set, only removed, nothing. */
	readonly words: readonly [set: string, removed: string, nothing: string];
};

/** Runs one of the two commands. */
export async function mark(invocation: Invocation, marks: Marks): Promise<number> {
	const {flags, inputs, terminal} = invocation;
	const {words, wanted} = readAssignments(inputs);
	const {command} = marks;
	if (Object.keys(wanted).length === 0)
		throw usageError(`${command} what? as in: troupe ${command} pod web KEY=VALUE, or KEY- to remove it`);
	const isDryRun = dryRunOf(flags) !== undefined;
	return withClient(invocation, async client => {
		const {objects, isOne} = await chosenObjects(invocation, client, words, `${marks.command} which`);
		if (objects.length === 0) terminal.note('No resources found');
		const report = reportOf(terminal, flags, isOne);
		let exitCode = 0;
		for (const one of objects) {
			try {
				const {object, isChanged} = await changeObject(client, one, live => patchOf(live, wanted, marks, flags, one), isDryRun);
				const [set, removed, nothing] = marks.words;
				const onlyRemoves = Object.values(wanted).every(value => value === null);
				report.say(one.resource, object, !isChanged ? nothing : onlyRemoves ? removed : set);
			} catch (error) {
				exitCode = Math.max(exitCode, await tellOfOne(client, error, terminal));
			}
		}
		await report.end();
		return exitCode;
	});
}

/** What has another value already is changed only with --overwrite. */
function patchOf(
	live: ApiObject,
	wanted: Assignments,
	{field}: Marks,
	flags: Flags,
	{resource, name}: NamedObject,
): JsonObject | undefined {
	const now = new Map(Object.entries(live.metadata[field] ?? {}));
	const changes = Object.entries(wanted).filter(([key, value]) => (now.get(key) ?? null) !== value);
	const taken = changes.filter(([key, value]) => value !== null && now.has(key));
	if (taken.length > 0 && !flags.on('overwrite')) {
		// What `apply` remembers of a Secret are its values.
		const message = taken.map(([key]) => `${key} is ${key === lastAppliedAnnotation ? 'there' : shown(now.get(key))}`).join(', ');
		const error = new AppError('ERR_CONFLICT', {message});
		error.message = `${displayName(resource, name)}: ${message} already; --overwrite changes it`;
		throw error;
	}
	return changes.length === 0 ? undefined : {metadata: {[field]: Object.fromEntries(changes)}};
}
