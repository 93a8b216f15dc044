// `troupe replace`: manifests take the place of objects that are there; with --force these are deleted and made anew.

import type {ApiObject} from '../../api/object.js';
import {carryOut} from '../apply/carry-out.js';
import {filesOf} from '../apply/check.js';
import {uploadCode, withCode} from '../apply/code.js';
import {renewing, replacing, type Planned} from '../apply/plan.js';
import type {Client} from '../client.js';
import type {Invocation} from '../command.js';
import {withInstaller} from '../function/install.js';
import {withProgress} from '../screen/progress.js';
import {displayName, pathOf} from '../cluster/resources.js';
import {isStatus} from '../cluster/status-error.js';
import {deadlineOf, waitUntil, type Deadline, type Wanted} from '../objects/wait.js';

export function run(invocation: Invocation): Promise<number> {
	const {flags} = invocation;
	const deadline = deadlineOf(flags.text('timeout'));
	return withInstaller(invocation, install =>
		carryOut(invocation, {
			command: 'replace',
			read: async asked => withCode(await filesOf(asked), install),
			before: uploadCode,
			planner: flags.on('force') ? renewing : replacing,
			mayGenerate: false,
			unasked: 'checked',
			async write(client, planned) {
				if (flags.on('force')) await remove(client, planned, deadline, invocation);
				return planned.write === undefined ? undefined : ((await client.json(planned.write)) as ApiObject);
			},
			became: () => 'replaced',
		}),
	);
}

/** Deletes what is there, the very object that was looked at, and waits until it is gone. */
async function remove(client: Client, {prepared, live}: Planned, deadline: Deadline, {terminal}: Invocation): Promise<void> {
	if (live === undefined) return;
	const {resource, namespace, name, object} = prepared;
	const {uid} = live.metadata;
	const {resourceVersion} = (object['metadata'] ?? {}) as {readonly resourceVersion?: string};
	const preconditions = {uid, ...(resourceVersion === undefined ? {} : {resourceVersion})};
	const answer = await client.json({method: 'DELETE', path: pathOf(resource, namespace, name), body: {preconditions}});
	if (isStatus(answer)) return;
	const what = `${displayName(resource, name)} to be gone`;
	const query = {fieldSelector: `metadata.name=${name}`};
	const wanted: Wanted = {resource, namespace, query, isDone: objects => !objects.has(uid), what};
	await withProgress(terminal, `waiting for ${what}`, () => waitUntil(client, wanted, deadline));
}
