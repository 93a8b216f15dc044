// `troupe apply`: objects become what files say; what the files say nothing of stays as it is.

import {deepEqual} from '../../api/equal.js';
import {AppError} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import type {ApiObject} from '../../api/object.js';
import {buildImages, withContexts} from '../apply/builds.js';
import {uploadCode, withCode} from '../apply/code.js';
import {carryOut} from '../apply/carry-out.js';
import {filesOf} from '../apply/check.js';
import {tellLeftovers} from '../apply/leftovers.js';
import {applying, isVersioned, liveOf, type Planned} from '../apply/plan.js';
import type {Client} from '../client.js';
import type {Invocation} from '../command.js';
import {withInstaller} from '../function/install.js';
import {placeText} from '../manifests/faults.js';
import {displayName} from '../cluster/resources.js';
import type {Terminal} from '../screen/terminal.js';
import {isRemembered} from '../manifests/three-way.js';

export const run = (invocation: Invocation): Promise<number> =>
	withInstaller(invocation, install =>
		carryOut(invocation, {
			command: 'apply',
			planner: applying,
			// What is not built must not be told of pods: what builds it later would change nothing of them.
			read: async ({flags}) =>
				withCode(await (flags.on('no-build') ? filesOf(invocation) : withContexts(await filesOf(invocation))), install),
			before: async (client, asked, manifests) =>
				(await buildImages(client, asked, manifests)) || (await uploadCode(client, asked, manifests)),
			mayGenerate: false,
			unasked: 'checked',
			write,
			became,
			remark,
			after: tellLeftovers,
		}),
	);

function became({live, write}: Planned, written: ApiObject, isDryRun: boolean): string {
	if (live === undefined) return 'created';
	return write === undefined || (!isDryRun && isSameButStatus(live, written)) ? 'unchanged' : 'configured';
}

/** What became of an object meanwhile by itself is no change that was asked for. */
function isSameButStatus(
	{status: _before, metadata: before, ...live}: ApiObject,
	{status: _after, metadata: after, ...written}: ApiObject,
): boolean {
	if (before.resourceVersion === after.resourceVersion) return true;
	return deepEqual([live, {...before, resourceVersion: ''}], [written, {...after, resourceVersion: ''}]);
}

const tooLarge = 'too large for apply to remember: what a later version of it leaves out is not removed, only what it names is changed';

function remark({prepared: {document, object, resource, name}, live}: Planned, terminal: Terminal): void {
	if (!isRemembered(object)) terminal.note(`note: ${placeText(document.locate(''))}: ${tooLarge}`);
	if (live?.metadata.deletionTimestamp !== undefined)
		terminal.note(`warning: ${displayName(resource, name)} is being deleted; apply again when it is gone`);
}

/** Writes until no other writer comes between: what others changed meanwhile is looked at again. */
async function write(client: Client, planned: Planned): Promise<ApiObject | undefined> {
	const {prepared} = planned;
	let {write, live} = planned;
	for (let left = limits.changeTries; write !== undefined; left--) {
		try {
			return (await client.json(write)) as ApiObject;
		} catch (error) {
			if (left <= 1 || !isOvertaken(error) || isVersioned(prepared)) throw error;
			live = await liveOf(client, prepared);
			write = applying.writeOf(prepared, live);
		}
	}
	return live;
}

const isOvertaken = (error: unknown): boolean =>
	error instanceof AppError && (error.code === 'ERR_CONFLICT' || error.code === 'ERR_ALREADY_EXISTS');
